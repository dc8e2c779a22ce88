"""Experiments with other settings: by name, checked, in archives of their own."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tests import toy_experiment as toy
from wfmlib.book import cli, experiments
from wfmlib.book.experiments import registry

NESTED = {
    "N": 31,
    "recipe": {"eta": 0.5, "moves": "auto", "fast": {"beta": [1.0, 2.0], "stop": True}},
    "limit": None,
}


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """List the toy alone, keep samples and archives in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))
    monkeypatch.setattr(registry, "MODULES", {"toy": "tests.toy_experiment"})
    monkeypatch.setattr(experiments, "MODULES", registry.MODULES)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results"


def nested():
    one = toy.scale(settings=NESTED)
    return toy.experiment(scales={"quick": one, "paper": one})


def run(capsys, *arguments):
    try:
        status = cli.main(arguments)
    except SystemExit as stop:
        status = stop.code
    return status, *capsys.readouterr()


# --- in Python -------------------------------------------------------------------------------


def test_what_can_be_set():
    found = experiments.settable(nested(), "paper")
    assert list(found) == [
        *("alpha", "form", "N", "recipe.eta", "recipe.moves", "recipe.fast.beta"),
        *("recipe.fast.stop", "limit", "step", "samples", "seed"),
    ]
    assert found["recipe.fast.beta"] == [1.0, 2.0]
    assert (found["samples"], found["seed"]) == (2, 7)


def test_a_change_is_where_it_belongs_and_the_rest_stays():
    told = {
        "loads": 1,
        "N": np.int64(51),
        "recipe.eta": 2,
        "recipe.fast.beta": np.array([3, 4]),
        "limit": 5,
        "step": (1, 3),
        "samples": 4,
        "seed": 8,
    }
    old, new = nested(), experiments.changed(nested(), told, "quick")
    quick = new.scale("quick")
    assert quick.grid == {"alpha": [1.0], "form": ["exact", "expanded"]}
    assert quick.settings == {
        "N": 51,
        "recipe": {"eta": 2.0, "moves": "auto", "fast": {"beta": [3.0, 4.0], "stop": True}},
        "limit": 5,
    }
    assert (quick.coordinates, quick.samples, new.seed) == ({"step": [1, 3]}, 4, 8)
    assert new.scale("paper") == old.scale("paper")
    assert old.scale("quick").settings == NESTED
    assert new.definition("quick") != old.definition("quick")


def test_a_shared_point_has_the_same_sample():
    """Another grid and other numbers of samples change no sample: they are taken over."""
    experiments.run("toy")
    more = experiments.run("toy", settings={"loads": [0.5, 0.9], "samples": 3})
    assert (more.done, more.computed) == (12, 12 - 4)
    old, new = experiments.run("toy").dataset, more.dataset
    found, kept = (one["mean"].sel(alpha=0.5).values for one in (new, old))
    assert np.array_equal(found[:, :2], kept)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"M": 3}, r"of toy at the quick scale must be one of alpha, form, N, .*; got 'M'"),
        ({"recipe.etta": 3}, r"did you mean recipe\.eta"),
        ({"recipe": {"eta": 1.0}}, "got 'recipe'"),
        ({"N": 0.5}, r"N must be a whole number \(it is 31 by default\), got 0\.5"),
        ({"N": True}, "N must be a whole number"),
        ({"N": [31, 51]}, "N must be a whole number"),
        ({"recipe.eta": "much"}, "recipe.eta must be a number"),
        ({"recipe.moves": 1}, "recipe.moves must be a text"),
        ({"recipe.fast.stop": 1}, "recipe.fast.stop must be true or false"),
        ({"loads": []}, "alpha must hold at least one value"),
        ({"loads": 0.5, "alpha": 0.6}, "alpha is set twice"),
        ({"loads": [0.5, 0.5]}, "must hold values that differ"),
        ({"samples": 0}, "samples must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        experiments.changed(nested(), settings)


def test_settings_must_be_named():
    with pytest.raises(TypeError, match="settings must be a dict"):
        experiments.run("toy", settings=["N=3"])


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["loads=0.25, 1/2"], {"alpha": [0.25, 0.5]}),
        (["N=51", "recipe.moves=all"], {"N": 51, "recipe.moves": "all"}),
        (
            ["recipe.fast.stop=False", "recipe.eta=1e-3"],
            {"recipe.fast.stop": False, "recipe.eta": 1e-3},
        ),
        (["limit=12"], {"limit": 12}),
        (['form=["exact, twice"]'], {"form": ["exact, twice"]}),
        (["step=1,2,5"], {"step": [1, 2, 5]}),
    ],
)
def test_texts_are_read_by_the_kind_of_the_setting(texts, values):
    found = experiments.parsed(nested(), texts)
    assert found == values
    assert {name: type(one) for name, one in found.items()} == {
        name: type(one) for name, one in values.items()
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("N", "must be NAME=VALUE"),
        ("=3", "must be NAME=VALUE"),
        ("N=many", "N must be a whole number"),
        ("N=5.0", "N must be a whole number"),
        ("loads=0.5,x", "alpha must be a number"),
        ("loads=1/0", "alpha must be a number"),
        ("recipe.fast.stop=yes", "must be true or false"),
        ("limit=never", "limit must be JSON"),
        ("step=[1,", "step must be a whole number, or several"),
        ("M=3", "got 'M'"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        experiments.parsed(nested(), [text])
    with pytest.raises(ValueError, match="N is set twice"):
        experiments.parsed(nested(), ["N=3", "N=5"])


# --- names of archives -----------------------------------------------------------------------


def test_an_archive_is_called_after_what_was_changed():
    name = experiments.changed(toy.EXPERIMENT, {"N": 51, "loads": [0.5, 1 / 3]}).archive_name
    assert name == "toy--alpha=0.5,0.3333333333333333--N=51"
    again = experiments.changed(toy.EXPERIMENT, {"alpha": [0.5, 1 / 3], "N": 51}).archive_name
    assert again == name
    assert toy.EXPERIMENT.archive_name == "toy"
    # A value that is the one by default is noted too: the archive must not be the book's.
    assert experiments.changed(toy.EXPERIMENT, {"N": 31}).archive_name == "toy--N=31"


@pytest.mark.parametrize(
    "settings",
    [{"loads": [k / 97 for k in range(1, 40)]}, {"form": ["a/b"]}, {"form": ["one two"]}],
)
def test_long_names_and_odd_letters_become_a_hash(settings):
    name = experiments.changed(toy.EXPERIMENT, settings).archive_name
    assert re.fullmatch(r"toy--[0-9a-f]{12}", name)
    other = experiments.changed(toy.EXPERIMENT, settings | {"N": 33}).archive_name
    assert other != name


def test_it_is_loaded_by_its_settings_and_by_its_name(places):
    settings = {"N": 11, "loads": [0.5]}
    done = experiments.run("toy", "paper", settings=settings, output=places)
    assert done.path.name == "toy--alpha=0.5--N=11.nc"
    by_settings = experiments.load("toy", settings={"loads": [0.5], "N": 11})
    by_name = experiments.load("toy--alpha=0.5--N=11")
    assert by_settings.identical(by_name)
    assert by_name.identical(done.dataset)
    assert json.loads(by_name.attrs["changes"]) == {"alpha": [0.5], "N": 11}
    assert "changes" not in experiments.run("toy").dataset.attrs
    assert experiments.own() == [("toy--alpha=0.5--N=11", "paper")]
    assert experiments.state("toy--alpha=0.5--N=11") == "made"
    with pytest.raises(
        FileNotFoundError, match=r"`wfm run toy --set NAME=VALUE [.]{3} --scale paper`"
    ):
        experiments.load("toy", settings={"N": 13})


# --- on the command line ---------------------------------------------------------------------


def test_set_run_list_and_show(capsys, places):
    run(capsys, "run", "toy")
    book = (places / "toy.quick.nc").read_bytes()
    status, out, err = run(capsys, "run", "toy", "--set", "N=51", "--set", "loads=0.25,0.5")
    assert status == 0, err
    name = "toy--alpha=0.25,0.5--N=51"
    assert out.startswith(f"{name}: 8 of 8 samples, 8 of them computed now")
    assert (places / "toy.quick.nc").read_bytes() == book
    assert (places / f"{name}.quick.provenance.json").is_file()
    _, out, _ = run(capsys, "list")
    assert re.search(rf"^{re.escape(name)} +quick +complete +made$", out, re.M)
    assert re.search(r"^toy .* none$", out, re.M)
    status, out, _ = run(capsys, "show", name, "--scale", "quick")
    assert status == 0
    assert "changed   alpha = [0.25, 0.5], N = 51" in out
    assert "has changed since" not in out
    _, out, _ = run(capsys, "list", "--chapter", "7")
    assert name in out


def test_an_own_archive_whose_setting_is_gone(capsys, places, monkeypatch):
    run(capsys, "run", "toy", "--set", "units=5")
    fewer = toy.scale(settings={"N": 31})
    changed = toy.experiment(scales={"quick": fewer, "paper": fewer})
    monkeypatch.setattr(toy, "EXPERIMENT", changed)
    _, out, _ = run(capsys, "list")
    assert re.search(r"^toy--units=5 +quick +of another definition$", out, re.M)


@pytest.mark.parametrize("text", ["M=3", "N=x", "N"])
def test_a_wrong_setting_is_a_plain_error_before_anything_runs(capsys, places, text):
    status, out, err = run(capsys, "run", "toy", "--set", text)
    assert (status, out) == (2, "")
    assert err.startswith("wfm run: ")
    assert not places.exists()


def test_help_shows_what_can_be_set(capsys):
    status, out, _ = run(capsys, "run", "toy", "--help")
    assert status == 0
    assert re.search(r"^alpha +0\.25,0\.5,0\.75 +0\.25,0\.5,0\.75$", out, re.M)
    assert re.search(r"^samples +2 +5$", out, re.M)
    assert max(map(len, out.splitlines())) <= cli.WIDTH
    assert run(capsys, "run", "tyo", "--help")[0] == 2
    status, out, _ = run(capsys, "run", "--help")
    assert (status, "\nsamples" in out) == (0, False)
