"""What the built site carries so that it can be run from its own address."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import venv
import zipfile

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook

from tests.conftest import ROOT
from tools import attach, crate, exercises, first_cell, launch_buttons, notebooks
from wfmlib.book import experiments

RESULTS = ROOT / "book" / "results"
WHEEL_LIMIT = 1_000_000  # bytes
LOADED = re.compile(r"experiments\.load\(\s*\"([a-z0-9-]+)\"")


@pytest.fixture(scope="module")
def files(html):
    return html / "files"


@pytest.fixture(scope="module")
def published(html):
    """Return the notebooks beside the pages, by their names."""
    folder = html / "_sources" / "book"
    return {
        one.stem: nbformat.read(folder / f"{one.stem}.ipynb", 4) for one in notebooks.chapters()
    }


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_small_wheel_that_knows_the_archives(html, files):
    (wheel,) = files.glob("*.whl")
    assert wheel == html / first_cell.WHEEL
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < WHEEL_LIMIT
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        registry = opened.read("wfmlib/book/experiments/registry.txt").decode()
        metadata = opened.read(next(one for one in names if one.endswith("/METADATA"))).decode()
    assert "wfmlib/book/claims.toml" in names
    assert not [name for name in names if name.endswith((".pyc", ".nc", ".nbi"))]
    there = {path.name: sha256(path) for path in (files / "archives").iterdir()}
    told = dict(line.split() for line in registry.splitlines())
    assert told == {k: v for k, v in there.items() if k != "SHA256SUMS"}
    assert re.search(r"Requires-Dist: jupyterlab>=\S+; extra == 'book'", metadata)
    assert re.search(r"Requires-Dist: matplotlib>=\S+; extra == 'notebook'", metadata)


def test_site_has_every_archive_as_it_is(files):
    stored = [RESULTS / f"{name}.nc" for name in experiments.names()]
    stored = [path for path in stored if path.exists()]
    assert len(stored) > 15
    for path in stored:
        assert (files / "archives" / path.name).read_bytes() == path.read_bytes()
    lines = (files / "archives" / "SHA256SUMS").read_text().splitlines()
    assert len(lines) == len(stored)
    for line in lines:
        digest, name = line.split("  ")
        assert sha256(files / "archives" / name) == digest


def test_downloaded_notebooks_begin_with_the_cell(published):
    for name, notebook in published.items():
        nbformat.validate(notebook)
        first = notebook.cells[0]
        assert (first.id, first.cell_type) == (first_cell.ID, "code")
        assert first.metadata.jupyter.source_hidden
        assert "hide-input" in first.metadata.tags
        assert max(map(len, first.source.splitlines())) <= 88
        code = "\n".join(cell.source for cell in notebook.cells[1:])
        fetched = first.source.partition("experiments.fetch(")[2]
        for archive in LOADED.findall(code):
            assert f'"{archive}",' in fetched, name


def test_archives_of_a_notebook_are_those_it_names_and_those_of_its_claims():
    def found(*sources, stem="04_toy"):
        cells = [new_code_cell(source) for source in sources]
        return first_cell.archives(new_notebook(cells=cells), stem)

    assert found("1 + 1") == []
    assert found('experiments.load("bp-entropy")', "name = 'fbp-reach'") == [
        "bp-entropy",
        "fbp-reach",
    ]
    assert found("claims.scorecard(here)") == [], "no claim of chapter 4 needs one"
    assert "bp-entropy" in found("claims.scorecard(here)", stem="07_toy")
    assert len(found("claims.scorecard()", stem="scorecard")) > 10


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Return a Python that has nothing but itself, and so not even pip."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)

    def run(site, asked=""):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "WFMLIB"))}
        source = first_cell.SOURCE.format(site=site, wheel=first_cell.WHEEL)
        return subprocess.run(
            [folder / "bin" / "python", "-c", source],
            env=kept | {"WFMLIB_SITE": asked},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_cell_says_what_is_missing(empty):
    done = empty(site="")
    assert done.returncode == 1
    assert (
        "ModuleNotFoundError: not installed here: wfmlib, matplotlib, sklearn, ipywidgets. Say "
        "where the book's site is, at an address or in a folder, in a cell above: "
        "%env WFMLIB_SITE=https://..." in done.stderr
    )
    done = empty(site="https://build/", asked="http://127.0.0.1:1")
    wheel = f"wfmlib[notebook] @ http://127.0.0.1:1/{first_cell.WHEEL}"
    assert done.stdout == f"Installing {wheel}\n", "the environment comes first"
    assert "pip could not get it (see above); it needs the book's site, http://127.0.0." in (
        done.stderr
    )
    assert f"@ file:///somewhere/{first_cell.WHEEL}" in empty(site="/somewhere").stdout
    assert f"@ https://build/{first_cell.WHEEL}" in empty(site="https://build/").stdout


def test_packages_of_notebooks(files, published):
    chapters = [one.stem for one in notebooks.chapters() if exercises.of_chapter(one)]
    with zipfile.ZipFile(files / "notebooks.zip") as opened:
        assert sorted(opened.namelist()) == sorted(f"notebooks/{name}.ipynb" for name in published)
        for name, notebook in published.items():
            assert nbformat.reads(opened.read(f"notebooks/{name}.ipynb"), 4) == notebook
    with zipfile.ZipFile(files / "notebooks-for-students.zip") as opened:
        names = [f"notebooks-for-students/{name}.ipynb" for name in chapters]
        assert sorted(opened.namelist()) == names
        for name in names:
            text = opened.read(name).decode()
            assert nbformat.reads(text, 4).cells[0].id == first_cell.ID
            assert "{solution" not in text
            assert '"answer"' in text


def test_every_download_is_there(html):
    page = BeautifulSoup((html / "book" / "downloads.html").read_text(), "html.parser")
    links = [link["href"] for link in page.select("article a[download]")]
    assert len(links) > 20
    for link in links:
        assert (html / "book" / link).resolve().is_file(), link
    said = page.find("article").get_text()
    assert "not in this build: make pdf makes it" in said
    assert "not in this build: make epub makes it" in said
    assert "not in this build: make slides makes it" in said


def test_run_page_has_the_lines(html):
    page = BeautifulSoup((html / "book" / "run.html").read_text(), "html.parser")
    blocks = [one.get_text() for one in page.select("article pre")]
    assert len(blocks) >= 2
    for text in blocks[:2]:
        lines = text.strip().splitlines()
        assert len(lines) == 3
        assert f'pip install "wfmlib[book] @ ADDRESS/{first_cell.WHEEL}"' == lines[1]
    text = page.find("article").get_text()
    assert not re.search(r"@[A-Z_]+@", text), "a word was not replaced"
    for where in ("Linux", "macOS", "Windows", "Colab", "JupyterHub"):
        assert where in text


def test_search_for_install_finds_the_page(html):
    index = (html / "searchindex.js").read_text()
    index = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    found = index["titleterms"]["instal"]
    found = found if isinstance(found, list) else [found]
    assert "book/run" in [index["docnames"][one] for one in found]


@pytest.fixture
def made(tmp_path):
    """Return folders as after a build, with the page of downloads."""
    (tmp_path / "html" / "book").mkdir(parents=True)
    (tmp_path / "html" / "files").mkdir()
    (tmp_path / "html" / "index.html").touch()
    page = tmp_path / "html" / attach.PAGE
    page.write_text("".join(f"<td>{attach.absent(name)}</td>" for name in attach.FILES))
    return tmp_path


def test_attached_files_are_linked(made):
    assert attach.attach(made, made / "html") == []
    (made / "wide-flat-minima.pdf").write_bytes(b"%PDF" + bytes(2_000_000))
    (made / "wide-flat-minima.epub").write_bytes(b"PK" + bytes(1_000_000))
    (made / "slides").mkdir()
    (made / "slides" / "one.html").write_text("<p>")
    every = ["wide-flat-minima.pdf", "wide-flat-minima.epub", "slides.zip"]
    for _ in range(2):  # again: with newer ones
        assert attach.attach(made, made / "html") == every
    page = BeautifulSoup((made / "html" / attach.PAGE).read_text(), "html.parser")
    assert [link["href"] for link in page.select("a[download]")] == [
        f"../files/{f}" for f in every
    ]
    assert "not in this build" not in page.get_text()
    assert "(2 MB)" in page.get_text()
    described = (made / "html" / crate.NAME).read_text()
    assert all(f'"@id": "files/{name}"' in described for name in every)
    with zipfile.ZipFile(made / "html" / "files" / "slides.zip") as opened:
        assert "slides/one.html" in opened.namelist()


def test_files_older_than_the_pages_are_not_attached(made):
    (made / "wide-flat-minima.pdf").write_bytes(b"%PDF")
    os.utime(made / "wide-flat-minima.pdf", (0, 0))
    assert attach.attach(made, made / "html") == []


def test_command_fails_where_something_is_missing(made, monkeypatch):
    monkeypatch.setattr(attach.attach, "__defaults__", (made, made / "html"))
    monkeypatch.setattr(sys, "argv", ["attach"])
    with pytest.raises(
        SystemExit, match=r"minima\.pdf \(make pdf\), .*minima\.epub \(make epub\), slides"
    ):
        attach.main()


@pytest.mark.parametrize(
    ("site", "repository"),
    [
        ("", ""),
        ("https://example.org/book/", ""),
        ("https://github.io/book/", ""),
        ("https://someone.github.io/book/", "https://github.com/someone/book"),
        ("https://someone.github.io/book/deeper/", "https://github.com/someone/book"),
        ("https://someone.github.io/", "https://github.com/someone/someone.github.io"),
    ],
)
def test_the_address_of_the_site_names_the_repository(site, repository):
    assert launch_buttons.repository(site) == repository
