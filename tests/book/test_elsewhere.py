"""`make elsewhere` sees a number that depends on the processor: shown on a toy page."""

from __future__ import annotations

import json

import pytest

from tests.conftest import PAGE
from tools import elsewhere, notebooks, processors

CODE = """\
from tools.processors import facts
found = facts()
print(found["numba"] if {exact} else len(found["bits"]))"""


@pytest.fixture(scope="module")
def native():
    return elsewhere.facts()


def test_every_setting_takes_effect_or_is_refused_with_a_word(native):
    """A setting that is not heard would compare this processor with itself."""
    taken = []
    for setting in processors.SETTINGS:
        if processors.architecture() not in setting.processors:
            continue
        try:
            found = elsewhere.facts(**processors.environment(setting, native))
        except elsewhere.Impossible:
            continue
        assert processors.ineffective(setting, found) == []
        taken.append(found)
    if processors.architecture() in ("x86_64", "aarch64"):
        assert taken, "the oldest processor of an architecture is always possible"
    if native["libm"]:  # an x86-64 with more than the oldest one has
        assert all(taken[0]["bits"][one] != bits for one, bits in native["bits"].items())


def test_what_takes_no_effect_is_told(native):
    setting = processors.SETTINGS[0]
    if processors.architecture() not in setting.processors:
        pytest.skip(f"no settings for {processors.architecture()}")
    deaf = native | {"numba": "other", "blas": ["other x3"], "numpy": ["X"], "libm": ["FMA"]}
    assert len(processors.ineffective(setting, deaf)) == 4


def test_settings_are_asked_for_by_name():
    assert processors.chosen([]) == list(processors.SETTINGS)
    assert [one.name for one in processors.chosen(["older"])] == ["older"]
    with pytest.raises(SystemExit, match="no setting 'newest'; there are oldest, older, common"):
        processors.chosen(["newest"])


@pytest.mark.skipif(
    processors.architecture() not in processors.SETTINGS[0].processors, reason="no settings here"
)
def test_a_page_that_depends_on_the_processor_is_told(tmp_path, native, monkeypatch):
    pages = []
    for name, exact in (("exact", True), ("rough", False)):
        code = CODE.format(exact=exact)
        tagged = PAGE.replace("ipython3\n", "ipython3\n:tags: [nbval-check-output]\n")
        pages.append(tmp_path / f"{name}.md")
        pages[-1].write_text(tagged % code)
        output = f"{'another one' if exact else len(native['bits'])}\n"
        stored = {"output_type": "stream", "name": "stdout", "text": output}
        entry = {"source": code, "outputs": [stored]}
        (tmp_path / f"{name}.json").write_text(json.dumps([entry]))
    monkeypatch.setenv("PYTHONPATH", str(notebooks.ROOT))
    outcome = elsewhere.execute(
        processors.SETTINGS[0], pages, jobs=1, folder=tmp_path / "built", references=tmp_path
    )
    assert outcome.word.startswith("1 cells differ")
    first, *lines = outcome.said
    assert first == "exact, cell 0: from tools.processors import facts"
    numba = processors.SETTINGS[0].processors[processors.architecture()][0]
    assert [line.strip() for line in lines] == ["- another one", f"+ {numba}"]


def test_a_setting_of_another_architecture_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(processors, "architecture", lambda: "riscv64")
    outcome = elsewhere.execute(processors.SETTINGS[0], [], jobs=1, folder=tmp_path)
    assert outcome.word == "skipped: not one of riscv64"
    assert outcome.said == []
