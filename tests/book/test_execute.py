"""The step of `make book` that executes what changed."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from tests.conftest import PAGE, ROOT
from tools import execute, executions, notebooks

LIMIT = 120.0  # seconds for a page that is executed in a process of its own
KILLED = """
import sys
from pathlib import Path
from tools import execute
pages = [Path(page) for page in sys.argv[2:]]
execute.execute(pages, Path(sys.argv[1]), jobs=1, timeout=100)
"""


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


# ------------------------------------------------------------------------------------------------
# Faults: all without a kernel but the first
# ------------------------------------------------------------------------------------------------


def test_a_killed_build_keeps_the_pages_that_were_done(tmp_path):
    pages, folder = [tmp_path / "one.md", tmp_path / "two.md"], tmp_path / "cache"
    for page, code in zip(pages, ("6 * 7", f"open({str(tmp_path / 'seen')!r}, 'w').close(); "
                                  "import time; time.sleep(1000)"), strict=True):  # fmt: skip
        page.write_text(PAGE % code)
    build = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder), *map(str, pages)],
        cwd=ROOT,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + LIMIT
        while not (tmp_path / "seen").exists():
            assert build.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        os.killpg(build.pid, signal.SIGKILL)
        build.wait()
    assert execute.changed(pages, folder) == [pages[1]]


@pytest.fixture
def done(tmp_path):
    """Return a page and a cache that has it executed, with an output as a kernel would give it."""
    page, folder = tmp_path / "page.md", tmp_path / "cache"
    page.write_text(PAGE % "6 * 7")
    kept(page, folder)
    return page, folder


def kept(page, folder):
    notebook = notebooks.read(page)
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code"]
    cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "42"})]
    with notebooks.open_cache(folder) as cache:
        executions.keep(cache, notebook, str(page), 1.0, check_validity=False)


def test_what_is_whole_is_not_executed_again(done):
    page, folder = done
    assert execute.changed([page], folder) == []


def test_flipped_bits_of_an_execution_are_noticed(done):
    """Every fifth: in every byte, and at every place."""
    page, folder = done
    (path,) = folder.rglob("base.ipynb")
    content, notebook, unnoticed = path.read_bytes(), notebooks.read(page), 0
    with notebooks.open_cache(folder) as cache:
        for bit in range(0, 8 * len(content), 5):
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            unnoticed += executions.has(cache, notebook)
        path.write_bytes(content)
        assert executions.has(cache, notebook)
    assert unnoticed == 0


@pytest.mark.parametrize("left", ["half", "empty", "no file", "no folder"])
def test_what_a_fault_left_half_done_is_executed_again(done, left):
    page, folder = done
    (path,) = folder.rglob("base.ipynb")
    if left in ("half", "empty"):
        path.write_bytes(path.read_bytes()[: 100 if left == "half" else 0])
    else:
        path.unlink()
    if left == "no folder":
        path.parent.rmdir()
    assert execute.changed([page], folder) == [page]
    kept(page, folder)
    assert execute.changed([page], folder) == []


def test_a_full_disk_is_told_and_leaves_nothing_that_counts(done, monkeypatch):
    page, folder = done
    page.write_text(PAGE % "6 * 8")
    write = Path.write_text

    def full(path, text, *more, **named):
        write(path, text[: len(text) // 2], *more, **named)
        raise OSError(errno.ENOSPC, "No space left on device")

    executed = notebooks.read(page)
    result = execute.ExecutionResult(executed, "", 1.0)
    with monkeypatch.context() as patched:
        patched.setattr(execute, "Parallel", lambda *_, **__: lambda calls: [(page, result)])
        patched.setattr(Path, "write_text", full)
        with pytest.raises(
            SystemExit, match=r"page\.md was executed, and cannot be kept in .*No "
        ):
            execute.execute([page], folder, jobs=1, timeout=60)
    assert execute.changed([page], folder) == [page]
    kept(page, folder)
    assert execute.changed([page], folder) == []
