"""The validation of the chapters can fail: proved on a toy chapter and a toy package.

The toy lives in a folder of its own and goes the way of a real chapter: text notebook, stored
references, nbval with the bridge, jupyter-cache.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools import failures, notebooks

CHAPTER = """\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A toy

```{code-cell} ipython3
import toy
```

```{code-cell} ipython3
:tags: [nbval-check-output]
print(f"{2 * toy.number:.3f}")
```
"""


class Toy:
    def __init__(self, folder: Path):
        self.folder = folder
        self.chapter = folder / "toy.md"
        self.chapter.write_text(CHAPTER)
        self.cache = folder / "cache"
        self.set_number(21.0)

    def set_number(self, number: float) -> None:
        (self.folder / "toy.py").write_text(f"number = {number}\n")

    def run(self, references: list[dict] | None) -> subprocess.CompletedProcess:
        notebook = notebooks.read(self.chapter)
        if references is not None:
            notebooks.insert_references(notebook, references, "toy.md")
        nbformat.write(notebook, self.folder / "toy.ipynb")
        command = [sys.executable, "-B", "-m", "pytest", "-p", "tools.nbval_bridge"]
        command += ["-p", "tools.failures", "--failures", self.folder / "failures.json"]
        command += ["--nbval-lax", "--jupyter-cache", self.cache, self.folder / "toy.ipynb"]
        return subprocess.run(
            command,
            cwd=notebooks.ROOT,
            env=os.environ | {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    def compared(self) -> int:
        return int(notebooks.compared_file(self.folder / "toy.ipynb").read_text())

    def executed(self):
        return notebooks.executed(self.chapter, self.cache)


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Toy:
    return Toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def references(toy) -> list[dict]:
    """What `make references` would store after a first execution."""
    done = toy.run(references=None)
    assert done.returncode == 0, done.stdout
    return notebooks.references_of(toy.executed())


def test_unchanged_number_passes_and_reaches_the_cache(toy, references):
    assert references[0]["outputs"][0]["text"] == "42.000\n"
    assert toy.compared() == 0, "without references there is nothing to compare"
    done = toy.run(references)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    counts = [cell.execution_count for cell in toy.executed().cells if "execution_count" in cell]
    assert counts == [1, 2]
    assert toy.compared() == 1


def test_edit_of_a_number_turns_the_run_red(toy, references):
    toy.set_number(21.1)
    try:
        done = toy.run(references)
    finally:
        toy.set_number(21.0)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "42.000" in done.stdout
    assert "42.200" in done.stdout
    assert failures.lines(failures.read(toy.folder / "failures.json")) == [
        'toy, cell 1: print(f"{2 * toy.number:.3f}")',
        "    - 42.000",
        "    + 42.200",
    ]
    assert toy.compared() == 1, "a cell that differs was compared, too"
    printed = toy.executed().cells[-1].outputs[0].text
    assert printed == "42.200\n", "what ran to its end is what the pages show"


def test_a_cell_that_raises_is_told_and_its_page_is_not_kept(toy, references):
    toy.set_number("None")
    shutil.rmtree(toy.cache)
    try:
        done = toy.run(references)
    finally:
        toy.set_number(21.0)
    assert done.returncode == 1
    (_, told) = failures.lines(failures.read(toy.folder / "failures.json"))
    assert told.startswith("    TypeError: unsupported operand")
    with pytest.raises(KeyError):
        toy.executed()


def test_cell_without_reference_is_refused(toy):
    with pytest.raises(SystemExit, match=r"toy\.md: the checked cells \(1\).*make references"):
        notebooks.insert_references(notebooks.read(toy.chapter), [], "toy.md")


def test_edited_cell_is_refused(toy, references):
    stale = json.loads(json.dumps(references))
    stale[0]["source"] = "print(42)"
    with pytest.raises(SystemExit, match=r"make references"):
        notebooks.insert_references(notebooks.read(toy.chapter), stale, "toy.md")


def test_only_sources_make_an_execution_stale(tmp_path):
    """What numba and Python leave behind in the package changes nothing; a source does."""
    package = tmp_path / "wfmlib" / "theory"
    package.mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text("numpy==2\n")
    (package / "one.py").write_text("x = 1\n")
    (package / "claims.toml").write_text("[a]\n")
    before = notebooks.sources_digest(tmp_path)
    (package / "__pycache__").mkdir()
    for name in ("one.cpython-311.pyc", "one.f-3.py311.nbi", "one.f-3.py311.1.nbc"):
        (package / "__pycache__" / name).write_bytes(b"left behind")
    assert notebooks.sources_digest(tmp_path) == before
    seen = {before}
    for name, text in (("one.py", "x = 2\n"), ("claims.toml", "[b]\n"), ("two.py", "")):
        (package / name).write_text(text)
        seen.add(notebooks.sources_digest(tmp_path))
    (tmp_path / "requirements.txt").write_text("numpy==3\n")
    assert len(seen | {notebooks.sources_digest(tmp_path)}) == 5
