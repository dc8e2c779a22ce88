"""The ledger: its file, its verdicts, and how they are shown."""

import html.parser
import inspect
import json
import math
import pathlib
import re
import sys
import types

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import erfcx

from wfmlib.book import claim_checks, claims, experiments, runs
from wfmlib.book.claim_checks import evidence
from wfmlib.numerics import solvers

LEDGER = claims.load()
CHECKED = [claim.id for claim in LEDGER if claim.compute]


def only(claim_id, **changes):
    """Return one claim of the ledger with some fields changed."""
    return claims.Claim(**(vars(claims.get(claim_id)) | changes))


def lacks_archive(claim):
    """Say whether a claim is read from an archive that the book does not hold, or not whole."""
    if claim.archive is None:
        return False
    folder = pathlib.Path(__file__).parents[2] / "book" / "results"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(experiments.RESULTS, str(folder))
        try:
            experiments.complete(claim.archive)
        except experiments.ArchiveError as error:
            return error.absent
    return False


# quick ones of every verdict; the page checks all, and its tests compare it with what is stored
QUICK = [claim.id for claim in LEDGER if claim.chapter == 1 or not claim.compute]
QUICK.append("sign-committee-spherical-instability-p1")


@pytest.fixture(scope="module")
def verdicts():
    """Quick claims, checked once."""
    return {verdict.id: verdict for verdict in claims.check_all(QUICK, progress=False)}


@pytest.fixture(scope="module")
def stored():
    """The verdict of each claim on the stored scorecard, as it reads."""
    path = pathlib.Path(__file__).parents[1] / "references" / "scorecard.json"
    page = re.search(r"<table.*</table>", json.dumps(json.loads(path.read_text())))[0]
    rows = re.findall(r'<tr id=\\"([^"]+)\\"[^>]*>(.*?)</tr>', page)
    return {name: re.findall(r"<td[^>]*>(.*?)</td>", row)[-1] for name, row in rows}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Return a function that stores an archive with these values, all samples done."""
    monkeypatch.setenv(experiments.RESULTS, str(tmp_path))

    def write(name, done=None, **values):
        made = runs.dataset(experiments.get(name), "paper", {})
        for variable, value in values.items():
            made[variable][:] = value
        made["done"][:] = True
        made.attrs["samples_done"] = made.attrs["samples_wanted"] if done is None else done
        runs.save(made, tmp_path / f"{name}.nc")
        return made

    return write


# --- the file ---------------------------------------------------------------------------------


def test_ids_are_unique_and_make_anchors():
    ids = [claim.id for claim in LEDGER]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", id) for id in ids)
    assert max(map(len, ids)) <= 40, "the table of `wfm claims` must fit 100 columns"


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_fields(claim):
    assert claim.chapter in range(1, 14)
    assert claim.source.paper in claims.PAPERS | claims.LATER
    assert re.search(r"(Eq\.|Figs?\.|Sec\.|App\.|section|introduction|abstract)", claim.source.at)
    assert (claim.source.paper == "P3") == bool(re.match(r"letter|v1|SM", claim.source.at))
    assert claim.kind in {"live", "archive"}
    assert re.fullmatch(r"[A-Z/0-9 αφκ].*[.]", claim.statement)
    assert "\n" not in claim.statement + claim.why + claim.reason
    # plain words only: no numbers of our own bookkeeping
    assert not re.search(r"#\d|\bissue\b|TODO", claim.statement + claim.why + claim.reason)


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_fields_that_go_together(claim):
    assert (
        claim.numeric == isinstance(claim.quoted, float) == bool(claim.printed) == bool(claim.why)
    )
    if claim.numeric:
        assert claim.tolerance > 0.0
    else:
        assert claim.quoted == claim.statement
    if claim.compute is None:
        assert claim.expected == claims.NOT_CHECKED
    else:
        agrees = claims.CALIBRATED if claim.calibrated else claims.HOLDS
        assert claim.expected in {agrees, claims.DIFFERS, claims.UNDECIDED}
    if claim.expected != claims.UNDECIDED:  # of which the check itself says why
        assert bool(claim.reason) == (claim.expected in {claims.DIFFERS, claims.NOT_CHECKED})
    if claim.calibrated:
        assert claim.compute, "only what is found can have been chosen"
    if claim.hedge:
        assert claim.expected == claims.UNDECIDED
    if claim.compute is not None:
        assert (claim.archive in experiments.names()) == (claim.kind == "archive")
    else:
        assert claim.archive is None


@pytest.mark.parametrize(
    "claim",
    [c for c in LEDGER if c.why == "half a unit of the last printed digit"],
    ids=lambda c: c.id,
)
def test_tolerance_follows_from_the_printed_digits(claim):
    decimals = len(claim.printed.partition(".")[2])
    assert math.isclose(claim.tolerance, 0.5 * 10.0**-decimals)


def test_every_check_is_used_and_says_how():
    public = {
        name: function
        for name, function in inspect.getmembers(claim_checks, inspect.isfunction)
        if function.__module__.startswith(claim_checks.__name__)
        and not function.__module__.endswith(("bounds", "evidence", "words"))
    }
    assert set(public) == {claim.compute for claim in LEDGER if claim.compute}
    for function in public.values():
        assert function.__doc__.splitlines()[0].endswith("."), function
        assert not inspect.signature(function).parameters, function


# --- the verdicts -----------------------------------------------------------------------------


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_verdict_is_the_expected_one(claim, stored):
    """The page that is executed and compared with what is stored says so.

    Of an archive that the book does not hold yet, the page says that it is not checked.
    """
    said = stored[claim.id].split(" ", 1)[1]
    assert said == (claims.NOT_CHECKED if lacks_archive(claim) else claim.expected)
    assert (claim.expected == claims.NOT_CHECKED) == (claim.compute is None)


def test_quick_verdicts_are_the_expected_ones(verdicts):
    for name, verdict in verdicts.items():
        assert verdict.verdict == claims.get(name).expected, verdict
        assert verdict.as_expected
        assert (verdict.found is None) == (claims.get(name).compute is None)


def test_numbers_are_compared_with_their_tolerance(answer):
    for found, verdict in ((0.4184, "holds"), (0.4186, "differs"), (math.nan, "differs")):
        answer("max_margin_half_load", found)
        assert claims.check("max-margin-half-load").verdict == verdict


def test_statements_are_taken_at_their_word(answer):
    for holds, verdict in ((True, "holds"), (np.bool_(False), "differs")):
        answer("closest_at_max_margin", (holds, "in words"))
        found = claims.check("closest-at-max-margin")
        assert (found.verdict, found.found) == (verdict, "in words")


def test_data_that_cannot_tell(answer):
    """The verdict says how many samples would, to two digits."""
    for needed, said in (
        (26, "about 26 instances would tell"),
        (1234, "about 1300 instances would tell"),
        (10**7, "more than a million instances would be needed to tell"),
    ):
        answer("closest_at_max_margin", evidence.Answer(None, "so so", needed, "instances"))
        found = claims.check("closest-at-max-margin")
        assert (found.verdict, found.needed) == ("undecided", said)
        assert found.as_dict()["needed"] == said
        assert not found.as_expected
        assert said in claims.Scorecard((found,))._repr_html_()
        assert "? undecided (expected: holds)" in claims.to_markdown([found])
    for number, verdict in ((0.5, "undecided"), (0.4181, "holds")):
        answer("max_margin_half_load", evidence.Answer(None, number, 12))
        assert claims.check("max-margin-half-load").verdict == verdict


def test_what_is_hedged_never_differs(monkeypatch, answer):
    hedged = only("max-margin-half-load", hedge="about.", expected=claims.UNDECIDED)
    monkeypatch.setattr(claims, "load", lambda: (hedged,))
    for found, verdict, needed in ((0.418, "holds", ""), (0.5, "undecided", "about.")):
        answer("max_margin_half_load", found)
        one = claims.check("max-margin-half-load")
        assert (one.verdict, one.needed) == (verdict, needed)
    answer("max_margin_half_load", evidence.Answer(None, 0.5))
    assert claims.check("max-margin-half-load").needed == "", "no number of samples would tell"


def test_what_was_chosen_is_calibrated(monkeypatch, answer):
    chosen = only("max-margin-half-load", calibrated="the load.", expected=claims.CALIBRATED)
    monkeypatch.setattr(claims, "load", lambda: (chosen,))
    for found, verdict, reason in ((0.418, "calibrated", "the load."), (0.5, "differs", "")):
        answer("max_margin_half_load", found)
        one = claims.check("max-margin-half-load")
        assert (one.verdict, one.reason) == (verdict, reason)
        assert one.as_expected == (verdict == "calibrated")
    assert claims.summary([one]).startswith(
        "1 claim: 0 hold, 1 differs, 0 undecided, 0 calibrated, 0 not checked here"
    )


def test_solver_that_gives_up_is_not_a_verdict_on_the_paper(monkeypatch):
    def fail():
        raise solvers.NotConverged(solvers.Report(False, 1.0, 7, "residual 1 after 7 iterations"))

    monkeypatch.setattr(claim_checks, "max_margin_half_load", fail)
    verdict = claims.check("max-margin-half-load")
    assert verdict.verdict == "not checked here"
    assert "residual 1 after 7" in verdict.reason
    assert not verdict.as_expected


def test_an_unexpected_verdict_does_not_borrow_the_reason(answer):
    answer("relu_committee_spherical_instability", 0.615)
    verdict = claims.check("relu-committee-spherical-instability")
    assert verdict.verdict == "holds"
    assert not verdict.as_expected
    assert verdict.reason == ""


def test_answers_are_kept_where_asked(answer, monkeypatch, tmp_path):
    """They are read back as they were, from that folder only."""
    names = {"max-margin-half-load": 0.1 + 0.2, "closest-at-max-margin": (np.bool_(True), "so")}
    checks = {name: claims.get(name).compute for name in names}

    def found(*changed):
        for name in names:
            answer(checks[name], changed or names[name])
        return [(one.found, one.verdict) for one in claims.check_all(names)]

    monkeypatch.setenv("WFMLIB_ANSWERS", str(tmp_path / "answers"))
    first = found()
    assert found(False, "not so") == first == [(0.1 + 0.2, "differs"), ("so", "holds")]
    monkeypatch.setenv("WFMLIB_ANSWERS", str(tmp_path / "others"))
    answer(checks["max-margin-half-load"], 0.418)
    assert claims.check("max-margin-half-load").verdict == "holds"
    monkeypatch.delenv("WFMLIB_ANSWERS")
    answer(checks["max-margin-half-load"], 0.5)
    assert claims.check("max-margin-half-load").found == 0.5


def test_unknown_id_names_the_close_ones():
    with pytest.raises(ValueError, match=r"did you mean .*binary-perceptron-capacity"):
        claims.check("binary-perceptron-capcity")
    with pytest.raises(ValueError, match=r"did you mean .*dashed-past-max-margin"):
        claims.check("dashed")
    with pytest.raises(ValueError, match=r"got 'xyzzy'$"):
        claims.check("xyzzy")
    with pytest.raises(TypeError, match="must be a string"):
        claims.check(7)


def test_check_all_refuses_before_it_computes(monkeypatch):
    monkeypatch.setattr(claim_checks, "max_margin_half_load", lambda: pytest.fail("computed"))
    with pytest.raises(ValueError, match="xyzzy"):
        claims.check_all(["max-margin-half-load", "xyzzy"])
    with pytest.raises(TypeError, match="several ids"):
        claims.check_all("max-margin-half-load")
    with pytest.raises(TypeError, match="ids must be several ids, got 5"):
        claims.check_all(5)
    with pytest.raises(ValueError, match="progress must be one of None, False, True, got 'yes'"):
        claims.check_all(["max-margin-half-load"], progress="yes")


def test_verdict_reads_like_the_ledger(verdicts):
    verdict = verdicts["max-margin-half-load"]
    assert (verdict.quoted, verdict.tolerance, verdict.kind) == (0.418, 0.0005, "live")
    assert repr(verdict) == (
        "max-margin-half-load: quoted 0.418 (P3, letter, Fig. 3), found 0.41806: holds"
    )
    assert json.loads(json.dumps(verdict.as_dict()))["found"] == verdict.found


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("exponentially_many_solutions", {"entropy": -0.1}),
        ("solution_count_fluctuates", {"entropy": 0.7}),
        ("replica_symmetry_stable", {"replicon": 1.1}),
        ("entropy_decreases_with_margin", {"entropy": 0.1}),
        ("distance_decreases_with_margin", {"distance": 0.3}),
        ("distance_decreases_with_load", {"distance": 0.3}),
        ("dashed_past_max_margin", {"entropy": 0.1}),
        ("closest_at_max_margin", {"distance": 0.3}),
        ("typical_solutions_far_apart", {"distance": 0.0}),
    ],
)
def test_statements_fail_on_another_theory(monkeypatch, name, state):
    """A saddle point that is the same everywhere contradicts each of these statements."""
    monkeypatch.setattr(
        claim_checks.binary_perceptron, "_solve", lambda *_: types.SimpleNamespace(**state)
    )
    holds, found = getattr(claim_checks, name)()
    assert not holds, found


@pytest.mark.parametrize(("with_load", "with_margin"), [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0)])
def test_falling_with_loads_is_not_falling_with_margins(with_load, with_margin, monkeypatch):
    """Two statements on one surface, each along its own axis."""

    def tilted(load, margin):
        return types.SimpleNamespace(distance=with_load * load + with_margin * margin)

    monkeypatch.setattr(claim_checks.binary_perceptron, "_solve", tilted)
    assert claim_checks.distance_decreases_with_load()[0] == (with_load < 0.0)
    assert claim_checks.distance_decreases_with_margin()[0] == (with_margin < 0.0)


def test_counts_fail_on_other_patterns(monkeypatch):
    """Patterns that contradict each other are never stored; lost labels change the counts."""
    drawn = claim_checks.patterns.random

    def contradicting(P, N, *, rng):
        xi, sigma = drawn(P, N, rng=rng)
        return np.concatenate([xi[:-1], xi[:1]]), np.concatenate([sigma[:-1], -sigma[:1]])

    monkeypatch.setattr(claim_checks.patterns, "random", contradicting)
    assert claim_checks.solvable_then_not().agrees is False

    count = claim_checks.learning.enumerate_solutions
    monkeypatch.setattr(claim_checks.patterns, "random", drawn)
    monkeypatch.setattr(
        claim_checks.learning,
        "enumerate_solutions",
        lambda device, xi, sigma, **options: count(device, xi, np.ones_like(sigma), **options),
    )
    assert not claim_checks.labels_gauged_away()[0]


# --- archives ---------------------------------------------------------------------------------

ARCHIVED = [claim for claim in LEDGER if claim.archive]


def test_without_archives_nothing_is_checked_and_nothing_is_wrong(store):
    verdicts = claims.check_all([claim.id for claim in ARCHIVED], progress=False)
    for claim, verdict in zip(ARCHIVED, verdicts, strict=True):
        assert (verdict.verdict, verdict.found) == ("not checked here", None)
        assert verdict.absent
        assert verdict.as_expected
        assert verdict.reason == (
            f"its archive {claim.archive}.nc is not here: "
            f"`wfm run {claim.archive} --scale paper` makes it"
        )
    count = claims.summary(verdicts)
    none = "0 hold, 0 differ, 0 undecided, 0 calibrated"
    assert count.startswith(f"{len(ARCHIVED)} claims: {none}, {len(ARCHIVED)} not")
    listed = ", ".join(sorted({claim.archive for claim in ARCHIVED}))
    assert count.endswith(f"Archives missing or incomplete: {listed}")
    page = claims.Scorecard(verdicts)._repr_html_()
    assert "– not checked here<" in page
    assert "(expected" not in page
    assert json.loads(json.dumps(verdicts[0].as_dict()))["absent"]


def test_incomplete_archive_is_not_checked(store):
    store("fbp-perceptron", done=7, errors=0)
    verdict = claims.check("focusing-bp-solves")
    assert (verdict.verdict, verdict.absent, verdict.as_expected) == (
        "not checked here",
        True,
        True,
    )
    assert "holds 7 of 10 samples" in verdict.reason


def test_damaged_archive_is_a_surprise(store, tmp_path):
    store("fbp-perceptron", errors=0)
    path = tmp_path / "fbp-perceptron.nc"
    path.write_bytes(path.read_bytes()[:1000])
    verdict = claims.check("focusing-bp-solves")
    assert (verdict.verdict, verdict.as_expected) == ("not checked here", False)
    assert "is damaged" in verdict.reason
    assert str(tmp_path) not in verdict.reason, "the reason is shown on a page of the book"


def test_archive_of_another_definition_is_a_surprise(store, tmp_path):
    made = store("fbp-perceptron", errors=0)
    made.attrs["definition"] = "0" * 16
    runs.save(made, tmp_path / "fbp-perceptron.nc")
    verdict = claims.check("focusing-bp-solves")
    assert (verdict.verdict, verdict.as_expected) == ("not checked here", False)
    assert "another definition" in verdict.reason


def test_kept_answers_do_not_outlive_an_archive(store, tmp_path, monkeypatch):
    monkeypatch.setenv("WFMLIB_ANSWERS", str(tmp_path / "answers"))
    for errors, verdict in ((0, "holds"), (1, "differs")):
        store("fbp-perceptron", errors=errors)
        assert claims.check("focusing-bp-solves").verdict == verdict


def test_entropies_that_agree_or_not(store):
    loads = np.array(experiments.get("bp-entropy").scale("paper").grid["alpha"])
    theory = np.array([claim_checks.message_passing._replica_entropy(load) for load in loads])
    noise = 0.01 * np.linspace(-1.0, 1.0, 10)
    settled = np.broadcast_to((loads < 1.76)[:, None], (len(loads), 10))
    names = [
        "bp-entropy-agrees-with-replicas",
        "bp-size-suffices",
        "bp-converges-up-to",
        "bp-never-converges-above",
    ]
    for scale, wrong in ((1.0, settled), (1.1, ~settled | settled)):
        store(
            "bp-entropy",
            entropy=scale * theory[:, None] * (1.0 + noise),
            converged=wrong,
            sweeps=99,
        )
        agree = [claims.check(name).verdict for name in names]
        assert agree == ["holds" if scale == 1.0 else "differs"] * 4


def test_reach_of_focusing(store):
    names = [
        "fbp-reach-exact",
        "fbp-reach-expanded",
        "fbp-exact-reaches-further",
    ]
    loads = np.array(experiments.get("fbp-committee").scale("paper").grid["alpha"])
    for exact, expanded, verdicts in (
        (2.75, 2.65, ["holds", "holds", "holds"]),
        (2.65, 2.75, ["differs", "undecided", "differs"]),
        (2.75, 2.75, ["holds", "undecided", "undecided"]),
        (2.75, 2.55, ["holds", "differs", "holds"]),
    ):
        solved = np.stack([loads < exact, loads < expanded], axis=-1)[..., None]
        store("fbp-committee", solved=np.broadcast_to(solved, (*solved.shape[:2], 10)))
        assert [claims.check(name).verdict for name in names] == verdicts


def test_binary_reach(store, monkeypatch):
    checks = sys.modules[claim_checks.dense_threshold_bounds.__module__]
    monkeypatch.setattr(checks, "_clipped", lambda seed: (None, None, None, 1 + seed))
    monkeypatch.setattr(checks.large_deviation, "dense_threshold", lambda _: 0.755)
    grid = experiments.get("fbp-perceptron-success").scale("paper").grid
    loads = np.array(grid["alpha"])
    shape = (len(grid["N"]), len(loads), 10)
    for last, verdicts in ((0.72, ["holds", "undecided"]), (0.65, ["differs", "undecided"]),
                           (0.9, ["holds", "differs"])):  # fmt: skip
        store("fbp-perceptron-success", solved=np.broadcast_to((loads <= last)[:, None], shape))
        names = ["binary-algorithms-succeed", "dense-threshold-bounds-algorithms"]
        assert [claims.check(name).verdict for name in names] == verdicts


@pytest.mark.parametrize(
    ("above", "falls", "verdicts"),
    [
        (0.004, False, ["holds", "holds", "holds"]),
        (-0.004, False, ["differs", "holds", "holds"]),
        (0.05, False, ["differs", "holds", "holds"]),
        (0.004, True, ["holds", "differs", "holds"]),
        (-0.5, False, ["differs", "holds", "differs"]),
    ],
    ids=["as told", "below", "far above", "overlap falls", "isolated"],
)
def test_curves_of_focusing(store, monkeypatch, above, falls, verdicts):
    """Around a made-up theory, which is a straight line."""
    checks = claim_checks.message_passing

    def line(device, load, distance, *, reference=None):
        return -0.1 if reference is None else 0.1 + distance

    monkeypatch.setattr(checks.franz_parisi, "local_entropy", line)
    monkeypatch.setattr(checks.typical, "max_margin", lambda *_: 0.4)
    monkeypatch.setattr(checks, "_clipped", lambda seed: (None, None, None, 1 + seed))
    around = {"distance": [0.03], "local_entropy": [0.1]}
    monkeypatch.setattr(checks.landscape, "local_entropy", lambda *_, **__: around)
    couplings = experiments.get("fbp-perceptron").scale("paper").coordinates["coupling"]
    noise = 0.001 * np.linspace(-1.0, 1.0, 10)[:, None]
    distance = np.linspace(0.28, 0.01, len(couplings))[:: -1 if falls else 1] + 0.0 * noise
    store(
        "fbp-perceptron",
        distance=distance,
        local_entropy=0.1 + distance + above + noise,
        converged=True,
        errors=0,
    )
    names = [
        "focusing-bp-above-max-margin",
        "bp-overlap-grows-with-field",
        "algorithms-find-dense-regions",
    ]
    assert [claims.check(name).verdict for name in names] == verdicts


@pytest.mark.parametrize(("height", "verdict"), [(1.0, "holds"), (4.0, "differs")])
def test_dense_regions_of_the_committee(store, height, verdict):
    couplings = experiments.get("fbp-local-entropy").scale("paper").coordinates["coupling"]
    distance = np.linspace(0.9, 0.002, len(couplings))
    noise = 0.001 * np.linspace(-1.0, 1.0, 10)[:, None]
    store(
        "fbp-local-entropy",
        distance=distance + 0.0 * noise,
        excess=-1.5 * height * distance + noise,
        converged=True,
    )
    assert claims.check("fbp-regions-like-theory").verdict == verdict


# --- two ways agree ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("units", "load"), [("sign", "2.988"), ("relu", "1.721")], ids=["sign", "relu"]
)
def test_spherical_instability_a_second_way(units, load):
    """The replicon on a plain grid, with c(q) typed in again: what P2's condition gives."""
    x = np.linspace(-10.0, 10.0, 2001)
    weight = np.exp(-(x**2) / 2.0)
    weight /= weight.sum()
    norm = 1.0 - 1.0 / np.pi

    def overlap(q):
        if units == "sign":
            sine = np.sqrt(1.0 - q * q)
            return 2 / np.pi * np.arcsin(q), 2 / np.pi / sine, 2 / np.pi * q / sine**3
        angle = np.arccos(q)
        c = (np.sin(angle) + (np.pi - angle) * q - 1.0) / np.pi / norm
        return c, (np.pi - angle) / np.pi / norm, 1.0 / (np.pi * norm * np.sin(angle))

    def load_and_replicon(q):
        c, slope, curvature = overlap(q)
        u = -np.sqrt(c / (1.0 - c)) * x
        h = np.sqrt(2.0 / np.pi) / erfcx(u / np.sqrt(2.0))
        force = weight @ h**2 / (1.0 - c)
        stiffness = weight @ (h * (h - u)) ** 2 / (1.0 - c) ** 2
        load = q / (1.0 - q) ** 2 / (slope * force)
        return load, load * (1.0 - q) ** 2 * (slope**2 * stiffness + curvature * force)

    q = brentq(lambda q: load_and_replicon(q)[1] - 1.0, 0.1, 0.95)
    again = load_and_replicon(q)[0]
    found = claims.check(f"{units}-committee-spherical-instability").found
    assert found == pytest.approx(again, abs=1e-6)
    assert f"{found:.3f}" == load


# --- how they are shown -----------------------------------------------------------------------


class _Page(html.parser.HTMLParser):
    """Collects what a table holds, and that its tags close."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.scopes, self.open, self.text = [], [], [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.scopes += [attributes["scope"]] if "scope" in attributes else []
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_scorecard_has_an_anchor_a_claim(verdicts):
    card = claims.Scorecard(tuple(verdicts.values()))
    page = _Page(card._repr_html_())
    assert sorted(page.ids) == sorted(verdicts)
    assert page.scopes.count("row") == len(verdicts)
    for name in verdicts:
        words = re.findall(r"[a-z]{2,}", claims.get(name).statement)
        assert all(word in page.text for word in words)
    for name in verdicts:
        claim = claims.get(name)
        data = f'id="{name}" data-chapter="{claim.chapter}" data-paper="{claim.source.paper}"'
        assert f'<tr {data} data-verdict="{verdicts[name].verdict}">' in card._repr_html_()
    for said in ("✓ holds", "✗ differs", "– not checked here"):  # the others: see above
        assert said in page.text, "a verdict must be readable without its colour"
    chapters = sorted({claims.get(name).chapter for name in verdicts})
    assert {int(number) for number in re.findall(r"Chapter (\d+)", page.text)} == set(chapters)
    assert page.text.index("What differs") < page.text.rindex("Chapter 1")


def test_markdown_table_has_a_row_a_claim(verdicts):
    text = claims.to_markdown(verdicts.values())
    rows = [line for line in text.splitlines() if line.startswith('| <span id="')]
    assert len(rows) == len(verdicts)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


def test_unexpected_verdict_shows(answer):
    answer("max_margin_half_load", 0.5)
    card = claims.scorecard(["max-margin-half-load"], progress=False)
    assert "✗ differs (expected: holds)" in card._repr_html_()
    assert "Not as expected: max-margin-half-load" in repr(card)


def test_text_is_escaped():
    claim = only("max-margin-half-load", statement="κ < 1 & κ > 0.", reason="a | b")
    card = claims.Scorecard((claims.Verdict(claim, 0.418, "holds", claim.reason, 0.0),))
    assert "<i>κ</i> &lt; 1 &amp; <i>κ</i> &gt; 0." in card._repr_html_()
    assert "a \\| b" in card.to_markdown()


@pytest.mark.parametrize(
    ("plain", "html"),
    [
        ("α_c = 0.833", "<i>α</i><sub>c</sub> = 0.833"),
        ("q1 → 1", "<i>q</i><sub>1</sub> → 1"),
        ("10^-3, (-1)^K", "10<sup>−3</sup>, (−1)<sup>K</sup>"),
        ("a unit's P3 of I-th", "a unit's P3 of I-th"),
        ("K < N", "<i>K</i> &lt; <i>N</i>"),
    ],
)
def test_letters_of_statements_are_set_as_mathematics(plain, html):
    statement = only("max-margin-half-load", statement=plain)
    card = claims.Scorecard((claims.Verdict(statement, 0.418, "holds", "", 0.0),))
    assert html in card._repr_html_()


def test_progress_goes_to_stderr_only_where_asked(capsys):
    claims.check_all(["capacity-proved"], progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert "claim" in told.err
    claims.check_all(["capacity-proved"])  # stderr is no terminal here
    assert capsys.readouterr().err == ""
