"""What holds of the package, its pages and its files as a whole."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jupytext
import pytest
import yaml
from jupyter_client.kernelspec import get_kernel_spec

import wfmlib
from tools import api_reference, notebooks, release

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "wfmlib").rglob("*.py"))
PAGES = sorted((ROOT / "book").glob("*.md"))


def tool(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def test_imports_go_down_only():
    done = subprocess.run(
        [tool("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_cited_equation_exists():
    labels = set()
    for page in PAGES:
        labels |= set(re.findall(r"^\$\$ *\((eq-[a-z0-9-]+)\)", page.read_text(), re.MULTILINE))
    assert labels
    cited = {
        (label, path.relative_to(ROOT).as_posix())
        for path in SOURCES
        for label in re.findall(r"\[(eq-[a-z0-9-]+)\]", path.read_text())
    }
    assert cited, "no docstring cites an equation of the book"
    assert not {pair for pair in cited if pair[0] not in labels}


def test_importing_the_library_needs_no_extra():
    code = (
        "import sys, wfmlib\n"
        "from wfmlib import book, learning, networks, numerics, patterns, theory\n"
        "from wfmlib.book import claims, cli\n"
        "from wfmlib.numerics import gaussian, solvers\n"
        "extras = {'matplotlib', 'IPython', 'ipywidgets', 'pytest', 'sphinx'} & set(sys.modules)\n"
        "assert not extras, extras"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.github-workflows", ".github/workflows/book.yml"),
        ("vendor.dependabot", ".github/dependabot.yml"),
        ("vendor.citation-file-format", "CITATION.cff"),
    ],
)
def test_file_of_a_service_follows_its_schema(schema, path):
    done = subprocess.run(
        [tool("check-jsonschema"), "--builtin-schema", schema, path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_version_stands_in_one_place():
    """The package has it; the metadata are made of it, and what is cited agrees."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "wfmlib/__init__.py"
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == wfmlib.__version__
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == wfmlib.__version__


def test_a_release_waits_for_people():
    """No name and no address is invented: what is not known is left out, and asked for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    person = {"name": "A. Person", "email": "person@example.org"}
    urls = dict.fromkeys(release.ADDRESSES, "https://example.org/code")
    whole = project | {"maintainers": [person], "urls": urls}
    known = {"authors": [{"family-names": "Person"}], "repository-code": urls["Source"]}
    assert release.missing(whole, cited | known) == []
    assert len(release.missing(project | {"maintainers": []}, {"authors": [{}]})) == 5
    assert cited.get("repository-code") == project.get("urls", {}).get("Source")


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_cells_are_short(chapter):
    for cell in notebooks.read(chapter).cells:
        if cell.cell_type == "code":
            tags = cell.metadata.get("tags", [])
            folded = "hide-input" in tags or "remove-input" in tags  # what draws a figure
            assert len(cell.source.splitlines()) <= (25 if folded else 15), cell.source


def test_readme_example_prints_what_it_says():
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    said = re.findall(r"(?<![\w*.])\d+(?:\.\d+)?(?!\*)", " ".join(re.findall(r"# (.*)", code)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    printed = done.stdout.split()
    assert len(said) == len(printed) == 5
    for quoted, found in zip(said, printed, strict=True):
        digits = len(quoted.partition(".")[2])
        assert round(float(found), digits) == float(quoted)


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_saving_in_jupyterlab_changes_nothing(chapter):
    notebook = notebooks.read(chapter)
    kernel = get_kernel_spec("python3")  # JupyterLab writes its names anew, in this order
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": kernel.display_name,
        "language": kernel.language,
    }
    assert jupytext.writes(notebook, "md:myst") == chapter.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_line_vanishes(page):
    """MyST takes a line that begins with a per cent sign for a comment."""
    assert not re.search(r"^\s*%", page.read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", api_reference.modules())
def test_a_public_module_lists_its_public_names(name):
    """Tab completion shows what is meant to be used, and nothing that a file imports."""
    module = importlib.import_module(name)
    assert {one for one in dir(module) if not one.startswith("__")} == set(module.__all__)
