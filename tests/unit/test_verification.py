"""Verifying archives: what agrees, what differs, what is noted, and when it no longer counts."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from tests import toy_experiment as toy
from wfmlib.book import cli, experiments
from wfmlib.book.experiments import Agreement
from wfmlib.runs import archive, digest, statistical, verification
from wfmlib.runs.statistical import Ranks


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Keep samples and archives in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))
    monkeypatch.setitem(experiments.MODULES, "toy", "tests.toy_experiment")


@pytest.fixture
def made(tmp_path):
    """Return the path of the toy's archive, whose code is not known."""
    path = experiments.run("toy", "paper", output=tmp_path / "results").path
    forget_code(path)
    return path


def forget_code(path):
    told = archive.read_provenance(path)
    del told["computed_by_code"]  # as archives were before digests were kept
    archive.write_provenance(path, told)


def tamper(path, change):
    """Change the values of an archive, as other code might have made them."""
    data, told = archive.read(path), archive.read_provenance(path)
    change(data)
    archive.put(path, data, told)


def with_agreement(monkeypatch, **changes):
    one = toy.experiment(agreement=Agreement(**changes))
    monkeypatch.setattr(toy, "EXPERIMENT", one)
    return one


def test_archive_of_this_code_is_made_by_it(tmp_path):
    experiments.run("toy", "paper", output=tmp_path / "results")
    assert experiments.state("toy") == "made"
    found = experiments.verify("toy", samples=3, progress=False)  # it may be verified all the same
    assert (found.agrees, found.identical, len(found.compared)) == (True, 3, 3)
    assert experiments.state("toy") == "made"


def test_archive_of_unknown_code_is_verified(made):
    assert experiments.state("toy") == "unverified"
    before = made.read_bytes()
    found = experiments.verify("toy", samples=4, seed=1, progress=False)
    assert (found.agrees, found.identical, found.close) == (True, 4, 4)
    assert experiments.state("toy") == "verified"
    assert made.read_bytes() == before
    (note,) = archive.read_provenance(made)["verified"]
    assert note["code"] == digest.of(toy.EXPERIMENT, "paper")
    assert (note["agrees"], note["of"], note["identical"]) == (True, {"unknown": 30}, 4)
    assert note["samples"] == [str(one.task) for one in found.compared]
    assert note["versions"] == archive.versions()
    assert note["processor"] == archive.processor()


def test_drawing_is_by_the_seed_and_takes_the_numbers_of_samples_in_turn(made):
    def drawn(seed):
        found = experiments.verify("toy", samples=5, seed=seed, progress=False)
        return [one.task for one in found.compared]

    assert drawn(1) == drawn(1) != drawn(2)
    assert sorted(task.sample for task in drawn(3)) == [0, 1, 2, 3, 4]


def test_time_bounds_what_is_drawn(made):
    told = archive.read_provenance(made)
    told["seconds_per_sample"] = {
        name: 40.0 if name.endswith("sample 3") else 100.0 for name in told["seconds_per_sample"]
    }
    archive.write_provenance(made, told)
    found = experiments.verify("toy", minutes=1.5, progress=False)
    assert {one.task.sample for one in found.compared} == {3}
    assert len(found.compared) == 2
    found = experiments.verify("toy", minutes=0.5, progress=False)  # one is computed at least
    assert [one.task.sample for one in found.compared] == [3]


def test_other_code_makes_it_unverified(made, monkeypatch):
    experiments.verify("toy", samples=2, progress=False)
    assert experiments.state("toy") == "verified"
    monkeypatch.setattr(digest, "of", lambda *_: "fedcba9876543210")
    assert experiments.state("toy") == "unverified"


def test_samples_that_came_later_are_not_verified(made, tmp_path, monkeypatch):
    """A note counts for as many samples of that code as the archive had."""
    experiments.verify("toy", samples=2, progress=False)
    longer = toy.experiment(scales={"quick": toy.scale(2), "paper": toy.scale(6)})
    monkeypatch.setattr(toy, "EXPERIMENT", longer)
    shutil.rmtree(tmp_path / "cache")  # the archive's are taken, of unknown code
    experiments.run("toy", "paper", output=tmp_path / "results")
    told = archive.read_provenance(made)
    assert told["verified"]  # what was noted stays
    assert experiments.state("toy") == "verified"
    told["computed_by_code"] = {"unknown": 36}
    assert verification.state(told, longer) == "unverified"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda data: data["mean"].values.__iadd__(1e-6), "mean"),
        (lambda data: data["curve"].values.__imul__(1 + 1e-9), "curve"),
        (lambda data: data["positive"].values.__iadd__(1), "positive"),
        (lambda data: data["mean"].values.fill(np.nan), "mean"),
    ],
)
def test_archive_that_differs_is_told(made, change, where, capsys):
    tamper(made, change)
    assert cli.main(["verify", "toy", "--samples", "3", "--seed", "1"]) == 1
    out = capsys.readouterr().out
    assert "differs" in out
    assert f"{where} differs" in out
    assert experiments.state("toy") == "differs"
    assert archive.read_provenance(made)["verified"][-1]["agrees"] is False


def test_tolerance_is_that_of_the_experiment(made, monkeypatch):
    tamper(made, lambda data: data["mean"].values.__iadd__(1e-6))
    with_agreement(monkeypatch, atol=4e-6, why="sums are rounded")
    found = experiments.verify("toy", samples=3, progress=False)
    assert (found.agrees, found.identical, found.close) == (True, 0, 3)
    assert found.largest == pytest.approx(0.25, rel=1e-3)
    with_agreement(monkeypatch, atol=0.5e-6, why="sums are rounded")
    assert not experiments.verify("toy", samples=3, progress=False).agrees
    assert experiments.state("toy") == "differs"  # the last comparison decides


def test_sample_that_fails_is_a_difference(made, tmp_path, capsys):
    (tmp_path / "fail").touch()
    assert cli.main(["verify", "toy", "--samples", "30"]) == 1
    assert "RuntimeError: the toy broke" in capsys.readouterr().out
    assert experiments.state("toy") == "differs"


# ------------------------------------------------------------------------------------------------
# Chaotic paths
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def chaotic(tmp_path, monkeypatch):
    """Return the path of the archive of an experiment whose paths are chaotic."""
    one = toy.single(
        toy.chaotic,
        "mean",
        scales={"quick": toy.scale(2), "paper": toy.scale(10)},
        agreement=Agreement(chaotic=True, why="another order of sums leads elsewhere"),
    )
    monkeypatch.setattr(toy, "EXPERIMENT", one)
    path = experiments.run("toy", "paper", output=tmp_path / "results").path
    forget_code(path)
    return path


def test_chaotic_paths_agree_by_their_distribution(chaotic, tmp_path, capsys):
    found = experiments.verify("toy", samples=6, progress=False)
    assert (found.agrees, found.close, found.ranks) == (True, 6, None)  # the same path
    (tmp_path / "order").write_text("1")
    found = experiments.verify("toy", samples=6, seed=1, progress=False)
    assert (found.agrees, found.close) == (True, 0)
    note = archive.read_provenance(chaotic)["verified"][-1]
    assert note["distributions"]["new_samples"] == 6
    assert note["distributions"]["least_corrected_p"] > statistical.LEVEL
    assert note["distributions"]["detectable_shift_in_deviations"] == pytest.approx(1.57, abs=0.01)
    assert experiments.state("toy") == "verified"
    assert cli.main(["verify", "toy", "--samples", "6", "--seed", "1"]) == 0
    assert "a shift of 1.57 deviations would have shown" in capsys.readouterr().out


def test_chaotic_paths_of_another_law_differ(chaotic, tmp_path):
    (tmp_path / "order").write_text("1")
    (tmp_path / "shift").write_text("4.0")
    found = experiments.verify("toy", samples=6, progress=False)
    assert found.agrees is False
    assert found.ranks.least < 1e-3
    assert experiments.state("toy") == "differs"


def test_too_few_samples_tell_nothing(chaotic, tmp_path, capsys):
    (tmp_path / "order").write_text("1")
    assert cli.main(["verify", "toy", "--samples", "1"]) == 1
    assert "too few samples" in capsys.readouterr().out
    assert experiments.state("toy") == "unverified"


def test_only_samples_on_chaotic_paths_may_differ(made, monkeypatch, tmp_path):
    """The function of an experiment's agreement says which those are."""
    one = with_agreement(monkeypatch, chaotic=is_positive, why="positive ones are chaotic")
    tamper(made, lambda data: data["mean"].values.__iadd__(1e-6))
    found = experiments.verify(one, samples=30, progress=False)
    apart = {one.chaotic for one in found.compared}
    assert apart == {True, False}
    assert found.agrees is False  # those that settle are not close
    assert found.ranks.samples == sum(one.chaotic for one in found.compared)


def test_close_samples_do_where_the_test_cannot_fail(made, monkeypatch):
    """One of six samples is elsewhere, on a chaotic path: the five others have the same digits."""
    one = with_agreement(monkeypatch, chaotic=True, why="all are chaotic")
    found = experiments.verify(one, samples=6, seed=1, progress=False)
    place = found.compared[0].task

    def move(data):
        at = {name: data[name].values.tolist().index(value) for name, value in place.point.items()}
        data["mean"][at | {"sample": place.sample}] += 0.1

    tamper(made, move)
    found = experiments.verify(one, samples=6, seed=1, progress=False)
    assert (found.close, found.ranks.samples, found.ranks.agrees) == (5, 6, True)
    found = experiments.verify(one, samples=1, seed=1, progress=False)
    assert (found.close, found.ranks.agrees, found.agrees) == (0, None, None)
    alike = verification.Compared(place, {}, {}, 0.0, "", True)
    apart = verification.Compared(place, {}, {}, 9.0, "mean", True)
    assert verification._verdict([alike] * 3 + [apart], (), found.ranks) is True
    assert verification._verdict([alike] * 2 + [apart], (), found.ranks) is None


def is_positive(values):
    return bool(values["converged"])


def test_ranks_raise_few_false_alarms_and_see_what_they_say(monkeypatch):
    """Three variables, six new samples, ten archived at each point: 100 repetitions each."""
    monkeypatch.setattr(statistical, "DRAWS", 5_000)
    rng = np.random.default_rng(5)

    def samples(size, shift):
        values = rng.normal(size=(size, 3)) + np.array([shift, 0.0, 0.0])
        return [dict(zip("abc", one, strict=True)) for one in values]

    def alarms(shift):
        count = 0
        for _ in range(100):
            ranks = Ranks.of(samples(6, shift), [samples(10, 0.0) for _ in range(6)])
            count += not ranks.agrees
        return count, ranks.detectable

    none, detectable = alarms(0.0)
    assert none <= 5  # 1 expected; more than 5 has a probability of 5e-4
    # the normal law that `detectable` is computed with has no ties and no finite pools: a
    # quarter more is seen at least four times in five
    assert alarms(1.25 * detectable)[0] >= 80


def test_ranks_count_ties_and_missing_values():
    constant = [{"a": 1.0, "b": np.nan, "c": float(i)} for i in range(10)]
    found = Ranks.of([{"a": 1.0, "b": np.nan, "c": 4.5}] * 4, [constant] * 4)
    assert set(found.p) == {"c"}  # what never varies says nothing
    lost = Ranks.of([{"a": 1.0, "b": 2.0, "c": 4.5}] * 8, [constant] * 8)
    assert lost.p["b"] < 1e-3  # a value where none was before
    assert lost.where == "b"


# ------------------------------------------------------------------------------------------------
# The command
# ------------------------------------------------------------------------------------------------


def test_verify_all_takes_what_is_not_verified(made, capsys, monkeypatch):
    monkeypatch.setattr(experiments, "names", lambda: ("toy",))
    assert cli.main(["verify", "--all", "--samples", "2"]) == 0
    assert "agrees" in capsys.readouterr().out
    assert cli.main(["verify", "--all"]) == 0
    assert "nothing to verify" in capsys.readouterr().err
    assert cli.main(["verify"]) == 2
    assert "name an experiment, or give --all" in capsys.readouterr().err


def test_what_cannot_be_verified_is_told(made, capsys, monkeypatch):
    archive.provenance_path(made).unlink()
    assert cli.main(["verify", "toy"]) == 1
    assert "toy.provenance.json is missing" in capsys.readouterr().err
    made.unlink()
    assert cli.main(["verify", "toy"]) == 1
    assert "wfm verify toy" in capsys.readouterr().err
    assert experiments.state("toy") == ""
    assert cli.main(["verify", "toy", "--samples", "0"]) == 2
    monkeypatch.setattr(archive, "results_folder", lambda: None)
    with pytest.raises(FileNotFoundError, match="set WFMLIB_RESULTS"):
        experiments.verify("toy")


def test_archive_of_another_definition_is_refused(made, monkeypatch):
    monkeypatch.setattr(toy, "EXPERIMENT", toy.experiment(version=2))
    assert experiments.state("toy") == ""
    with pytest.raises(ValueError, match="no sample of the experiment as it is defined"):
        experiments.verify("toy")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rtol": 1}, "rtol must be a float >= 0"),
        ({"atol": -1.0}, "atol must be a float >= 0"),
        ({"why": ""}, "why must be a text"),
        ({"chaotic": "yes"}, "chaotic must be a function"),
        ({"chaotic": lambda values: True}, "chaotic must be a function of a module"),
    ],
)
def test_agreement_is_checked(changes, said):
    with pytest.raises(ValueError, match=said):
        Agreement(**changes)
    with pytest.raises(ValueError, match="agreement must be Agreement"):
        toy.experiment(agreement=1.0)


def test_claims_on_such_archives_say_so(made, monkeypatch):
    from wfmlib.book import claims

    claim = dataclasses.replace(claims.load()[0], archive="toy", kind="archive")
    answer = (True, float(claim.quoted) if claim.numeric else "yes")
    monkeypatch.setattr(claims, "get", lambda id: claim)
    monkeypatch.setattr(claims, "_answer", lambda claim: answer)
    verdict = claims.check(claim.id)
    assert verdict.unverified
    assert verdict.as_dict()["unverified"]
    card = claims.Scorecard((verdict,))
    assert "Archives that this code did not verify: toy" in repr(card)
    assert "archive not verified by this code" in card.to_markdown()
    assert "archive not verified by this code" in card._repr_html_()
    experiments.verify("toy", samples=2, progress=False)
    verdict = claims.check(claim.id)
    assert not verdict.unverified
    assert "verif" not in claims.Scorecard((verdict,)).to_markdown()
    assert not json.loads(json.dumps(verdict.as_dict()))["unverified"]
