"""The step of `make book` that executes what changed."""

import pytest

from tests.conftest import PAGE
from tools import execute, notebooks


def test_what_changed_is_executed_once(tmp_path):
    pages, folder = [tmp_path / "one.md", tmp_path / "scorecard.md"], tmp_path / "cache"
    for page, code in zip(pages, ("6 * 7", "import os; os.getcwd()"), strict=True):
        page.write_text(PAGE % code)
    assert execute.execute(pages, folder, jobs=2, timeout=60) == ["scorecard", "one"]
    (cell,) = [c for c in notebooks.executed(pages[0], folder).cells if c.cell_type == "code"]
    assert cell.outputs[0].data["text/plain"] == "42"
    (cell,) = [c for c in notebooks.executed(pages[1], folder).cells if c.cell_type == "code"]
    assert cell.outputs[0].data["text/plain"] == repr(str(tmp_path)), (
        "archives are found from here"
    )
    assert execute.execute(pages, folder, jobs=2, timeout=60) == []
    pages[0].write_text(PAGE % "6 * 8")
    assert execute.execute(pages, folder, jobs=1, timeout=60) == ["one"]


def test_a_cell_that_fails_is_named(tmp_path):
    page = tmp_path / "broken.md"
    page.write_text(PAGE % "1 / 0")
    with pytest.raises(SystemExit, match=r"(?s)broken\.md: .*ZeroDivisionError"):
        execute.execute([page], tmp_path / "cache", jobs=1, timeout=60)
    assert execute.changed([page], tmp_path / "cache") == [page]
