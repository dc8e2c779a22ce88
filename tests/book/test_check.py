"""`make test` runs all of its parts, and its closing lines say what failed: shown on toys."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import PAGE, share
from tools import check, failures, notebooks, validate


def broken(jobs):
    """Break."""
    raise OSError("no space left")


def test_every_part_runs_and_the_failed_ones_are_named():
    ran = []

    def passing(jobs):
        """Pass."""
        ran.append(jobs)
        return []

    parts = {"first": broken, "second": lambda jobs: ["a.py::test_b"], "third": passing}
    outcomes = check.check(parts, jobs=3)
    assert ran == [3], "a part behind a failed one runs"
    assert [outcome.passed for outcome in outcomes] == [False, False, True]
    closing = check.summary(outcomes).splitlines()
    assert closing[0].startswith("first      FAILED")
    assert closing[1] == "    OSError: no space left"
    assert closing[3] == "    a.py::test_b"
    assert closing[-1] == "failed: first, second"
    assert check.summary(outcomes[2:]).endswith("all parts passed")


def test_a_command_that_fails_without_a_list_is_told_by_its_status(tmp_path, monkeypatch):
    monkeypatch.setattr(check, "LISTS", tmp_path)
    assert check.run([sys.executable, "-c", "pass"], "fine") == []
    (told,) = check.run([sys.executable, "-c", "import sys; sys.exit(7)"], "odd")
    assert "exits with 7" in told


def test_the_exit_status_is_that_of_the_whole(monkeypatch, capsys):
    monkeypatch.setattr(check, "PARTS", {"good": lambda jobs: [], "bad": lambda jobs: ["x"]})
    for arguments, status in ((["good"], 0), (["good", "bad"], 1), ([], 1)):
        monkeypatch.setattr(sys, "argv", ["check", *arguments])
        with pytest.raises(SystemExit) as ended:
            check.main()
        assert int(ended.value.code) == status
    assert capsys.readouterr().out.endswith("failed: bad\n")
    monkeypatch.setattr(sys, "argv", ["check", "ugly"])
    with pytest.raises(SystemExit):
        check.main()
    assert "no part 'ugly'; there are good, bad" in capsys.readouterr().err


def test_the_list_holds_failures_errors_and_files_that_break(tmp_path):
    """What fails in a worker reaches the one process that writes the list."""
    (tmp_path / "test_toy.py").write_text(
        "import pytest\n"
        "@pytest.fixture\n"
        "def nothing():\n    raise OSError\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 1 == 2\n"
        "def test_needs(nothing): pass\n"
    )
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    file = tmp_path / "failures.json"
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "xdist.plugin"]
    command += ["-p", "tools.failures", "--failures", file, "--rootdir", tmp_path, tmp_path]
    done = subprocess.run(
        command,
        cwd=notebooks.ROOT,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-o addopts="},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    found = [name.rpartition("/")[2] for name in failures.lines(failures.read(file))]
    assert found == ["test_broken.py", "test_toy.py::test_bad", "test_toy.py::test_needs"]


def test_processes_have_one_thread_of_blas_each_unless_a_setting_asks_for_more(monkeypatch):
    """Where processes share the processors, threads that wait for each other spin."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    said = (
        "import numpy, threadpoolctl\n"
        "print({pool['num_threads'] for pool in threadpoolctl.threadpool_info()})"
    )
    for more, threads in (({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)):
        command, env = [sys.executable, "-c", said], validate.environment(**more)
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        assert done.stdout == f"{{{min(threads, os.cpu_count())}}}\n"


def test_files_are_shared_whole_and_pages_one_by_one():
    """Those that share what a page or a file holds run in one process, in their order."""
    pages = "tests/browser/test_pages.py"
    for first, second, together in (
        (f"{pages}::test_page[index]", f"{pages}::test_what_is_cut_says_so[index]", True),
        (f"{pages}::test_page[index]", f"{pages}::test_page[api/index]", False),
        (f"{pages}::test_page[index]", f"{pages}::test_chapter_1_has_a_slider", False),
        ("tests/unit/test_a.py::test_b[1]", "tests/unit/test_a.py::test_b[2]", True),
        ("tests/unit/test_a.py::test_b[1]", "tests/unit/test_b.py::test_b[1]", False),
        ("tests/book/test_lines.py::test_a", "tests/book/test_numbers.py::test_b", True),
        (
            "wfmlib/a.py::wfmlib.a.main",
            "wfmlib/a.py::wfmlib.a.run",
            True,
        ),
    ):
        assert (share(first) == share(second)) is together, (first, second)


def test_a_run_that_broke_off_leaves_no_list(tmp_path):
    assert failures.read(tmp_path / "none.json") == []


def test_a_cell_is_told_by_its_page_its_number_and_its_lines():
    stored, found = "a\n0.999972\nz", "a\n0.999971\nz"
    cell = {"page": "06_margins", "number": 30, "source": "print(x)"}
    cell["differs"] = failures.differing_lines(stored, found)
    assert failures.lines([{"name": "n", "cell": cell}]) == [
        "06_margins, cell 30: print(x)",
        "    - 0.999972",
        "    + 0.999971",
    ]
    cell["differs"] = ["- x"] * 9
    assert failures.lines([{"name": "n", "cell": cell}])[-1] == "    (and 3 more lines)"


def test_text_of_outputs_leaves_pictures_out():
    outputs = [
        {"output_type": "stream", "text": "one\n"},
        {"output_type": "display_data", "data": {"text/plain": "two", "image/png": "x"}},
        {"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}},
    ]
    assert failures.text(outputs) == "one\ntwo"


def test_chapters_whose_references_are_stale_do_not_keep_others_back(tmp_path):
    (tmp_path / "one.md").write_text(
        (PAGE % "1").replace("ipython3\n", "ipython3\n:tags: [nbval-check-output]\n")
    )
    (tmp_path / "two.md").write_text(PAGE % "1")
    written = tmp_path / "written"
    with pytest.raises(SystemExit, match=r"^one\.md: the checked cells \(1\)"):
        notebooks.write_notebooks(
            [tmp_path / "one.md", tmp_path / "two.md"], written, references=tmp_path
        )
    assert sorted(path.name for path in written.iterdir()) == ["one.ipynb", "two.ipynb"]
