"""An archive gets the settings that its experiment states now; its values stay."""

import shutil

import pytest

from tests import toy_experiment as toy
from tools import resettle
from wfmlib.book import experiments
from wfmlib.runs import archive

MORE = {"N": 31, "units": 3, "recipe": {"eta": 0.1}}


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setitem(experiments.MODULES, "toy", "tests.toy_experiment")
    return experiments.run("toy", "paper", output=tmp_path / "results").path


def stating_more(**changes):
    scales = {"quick": toy.scale(2), "paper": toy.scale(5, settings=MORE)}
    return toy.experiment(**{"scales": scales} | changes)


def test_settings_are_stated_anew(path, monkeypatch, tmp_path):
    before, old = archive.read(path), toy.EXPERIMENT.definition("paper")
    experiments.verify("toy", samples=1, progress=False)
    one = stating_more()
    monkeypatch.setattr(toy, "EXPERIMENT", one)
    assert experiments.state("toy") == ""
    assert resettle.main(["toy"]) == 0
    after, told = archive.read(path), archive.read_provenance(path)
    assert after.equals(before)
    assert experiments.is_current(after, one, "paper")
    assert told["resettled"][0]["definition_before"] == old
    assert told["resettled"][0]["settings_before"] == {"N": 31, "units": 3}
    assert "verified" not in told
    assert experiments.state("toy") == "unverified"  # nothing is taken on trust
    assert resettle.resettle("toy") == "nothing to do"
    assert experiments.run("toy", "paper").computed == 0  # finished samples came along
    assert experiments.verify("toy", samples=2, progress=False).agrees
    assert experiments.state("toy") == "verified"
    shutil.rmtree(tmp_path / "cache")


@pytest.mark.parametrize("changes", [{"seed": 8}, {"paired": True}, {"version": 2}])
def test_other_changes_are_refused(path, monkeypatch, changes):
    content = path.read_bytes()
    monkeypatch.setattr(toy, "EXPERIMENT", stating_more(**changes))
    with pytest.raises(ValueError, match="toy: not only the settings differ"):
        resettle.resettle("toy")
    assert path.read_bytes() == content
