"""What holds of the repository as a whole."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jupytext
import pytest
import yaml
from jupyter_client.kernelspec import get_kernel_spec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import wfmlib
from tools import api_reference, notebooks

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


def test_requirements_are_pinned_and_name_no_address():
    text = (ROOT / "requirements.txt").read_text()
    entries = re.split(r"\n(?=\S)", text.split("\n", 2)[2])
    for entry in entries:
        assert re.match(r"[a-zA-Z0-9._-]+(\[[a-z0-9,-]+\])?==\S+", entry), entry
        assert "--hash=sha256:" in entry
    for path in (ROOT / "requirements.txt", *(ROOT / "tools").glob("requirements-*.txt")):
        assert not re.search(r"https?://|--(extra-)?index-url|--find-links", path.read_text())


def test_requirements_name_the_extras_that_others_ask_for():
    """Without them pip takes the newest ``name[extra]``, and refuses it: it has no hash."""
    text = (ROOT / "requirements.txt").read_text()
    locked = dict(re.findall(r"^([a-z0-9._-]+)(?:\[([a-z0-9,-]+)\])?==", text, re.MULTILINE))
    asked = set()
    for distribution in importlib.metadata.distributions():
        for line in distribution.requires or []:
            needed = Requirement(line)
            name = canonicalize_name(needed.name)
            if name in locked and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
                asked |= {(name, extra) for extra in needed.extras}
    assert ("coverage", "toml") in asked
    assert not {pair for pair in asked if pair[1] not in locked[pair[0]].split(",")}


def test_library_needs_little():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.match(r"[a-z-]+", one)[0] for one in project["dependencies"]]
    assert names == [
        "annotated-types",
        "joblib",
        "numba",
        "numpy",
        "pooch",
        "scipy",
        "threadpoolctl",
        "tqdm",
        "xarray",
    ]


def test_importing_the_library_needs_no_extra():
    code = (
        "import sys, wfmlib\n"
        "from wfmlib import book, learning, networks, numerics, patterns, runs, theory\n"
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


def test_hooks_run_what_is_installed():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    locked = (ROOT / "requirements.txt").read_text()
    for repository in hooks["repos"]:
        assert repository["repo"] == "local", "a version besides that of requirements.txt"
        for hook in repository["hooks"]:
            place, name = hook["entry"].split()[0].rsplit("/", 1)
            assert (place, hook["language"]) == (".venv/bin", "system")
            assert re.search(rf"^{name}==", locked, re.MULTILINE), name


def test_commands_of_the_workflow_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text())
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    called = {name for step in steps for name in re.findall(r"\bmake ([a-z-]+)", step)}
    assert {"test", "oldest", "coverage", "release"} <= called <= targets


def test_version_stands_in_one_place():
    """The package has it; the metadata are made of it, and what is cited agrees."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "wfmlib/__init__.py"
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == wfmlib.__version__
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest == wfmlib.__version__


def test_oldest_versions_are_those_that_are_allowed():
    """Where a lower bound is moved, `make lock` has to renew the file of the oldest versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked = (ROOT / "tools" / "requirements-oldest.txt").read_text()
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", locked, re.MULTILINE))
    for line in (*project["dependencies"], *project["optional-dependencies"]["notebook"]):
        name, bound = line.split(">=")
        assert Version(pinned[name]) == Version(bound), line


def test_workflow_trusts_little():
    """Actions are those of a commit; no job can both run our code and write anything."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", one) for one in used), name
        sources = [step for step in job["steps"] if "actions/checkout@" in step.get("uses", "")]
        assert all(step["with"] == {"persist-credentials": False} for step in sources), name
        writes = "write" in job.get("permissions", {}).values()
        assert not (writes and sources), f"{name} runs our code, and may write"


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
