"""What the built site carries so that it can be read, run and cited from its own address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook

from tests.conftest import PAGE, ROOT
from tools import exercises, first_cell, notebooks, numbering
from wfmlib.book import claims, experiments

WHEEL_LIMIT = 1_000_000  # bytes
PAGE_LIMIT = 2 * 1024**2  # of a page, with what it shows
LOADED = re.compile(r"experiments\.load\(\s*\"([a-z0-9-]+)\"")


@pytest.fixture(scope="module")
def published(html):
    """Return the notebooks beside the pages, by their names."""
    folder = html / "_sources" / "book"
    return {
        one.stem: nbformat.read(folder / f"{one.stem}.ipynb", 4) for one in notebooks.chapters()
    }


def article(html, name: str):
    return BeautifulSoup((html / "book" / f"{name}.html").read_text(), "html.parser").article


def test_one_small_wheel(html):
    (wheel,) = (html / "files").glob("*.whl")
    assert wheel == html / first_cell.WHEEL
    assert wheel.stat().st_size < WHEEL_LIMIT
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        metadata = opened.read(next(one for one in names if one.endswith("/METADATA"))).decode()
    assert "wfmlib/book/claims.toml" in names
    assert not [name for name in names if name.endswith((".pyc", ".nc", ".nbi"))]
    assert re.search(r"Requires-Dist: jupyterlab>=\S+; extra == 'book'", metadata)
    assert re.search(r"Requires-Dist: matplotlib>=\S+; extra == 'notebook'", metadata)


def test_site_has_every_archive_as_it_is(html):
    stored = [ROOT / "book" / "results" / f"{name}.nc" for name in experiments.names()]
    stored = [path for path in stored if path.exists()]
    assert len(stored) > 15
    for path in stored:
        assert (html / "files" / "archives" / path.name).read_bytes() == path.read_bytes()


def test_downloaded_notebooks_begin_with_the_cell(published):
    known = numbering.numbers()
    for name, notebook in published.items():
        nbformat.validate(notebook)
        first, title = notebook.cells[:2]
        assert (first.id, first.cell_type) == (first_cell.ID, "code")
        assert first.metadata.jupyter.source_hidden
        assert max(map(len, first.source.splitlines())) <= 88
        number = known.get(f"book/{name}")
        assert number is None or title.source.startswith(f"# {number}. ")
        code = "\n".join(cell.source for cell in notebook.cells[1:])
        assert ("wfmlib[notebook,sklearn]" in first.source) == ("sklearn" in code)
        fetched = first.source.partition("experiments.fetch(")[2]
        for archive in LOADED.findall(code):
            assert f'"{archive}",' in fetched, name
        text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
        assert not re.search(r"\{(?:term|cite|numref|exercise|solution)|\[\]\(", text)
        assert not re.search(r"\]\([^):]*(?:\.md|(?:ex|sec|fig)-)", text), "a page beside it"


def test_archives_of_a_notebook_are_those_it_names_and_those_of_its_claims():
    def found(*sources, stem="04_toy"):
        cells = [new_code_cell(source) for source in sources]
        return first_cell.archives(new_notebook(cells=cells), stem)

    assert found("1 + 1") == []
    named = found('experiments.load("bp-entropy")', "name = 'fbp-reach'")
    assert named == ["bp-entropy", "fbp-reach"]
    assert found("claims.scorecard(here)") == [], "no claim of chapter 4 needs one"
    assert "bp-entropy" in found("claims.scorecard(here)", stem="07_toy")
    assert len(found("claims.scorecard()", stem="scorecard")) > 10


def test_the_cell_says_what_is_missing(tmp_path, monkeypatch):
    """In a Python that has nothing but itself, and so not even pip."""
    venv.create(tmp_path, with_pip=False)

    def run(site, asked=""):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "WFMLIB"))}
        monkeypatch.setenv("WFMLIB_SITE", site)  # of the build
        source = first_cell.cell(new_notebook(), "04_toy").source
        command = [tmp_path / "bin" / "python", "-c", source]
        environment = kept | {"WFMLIB_SITE": asked}
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    done = run(site="")
    assert done.returncode == 1
    assert "not installed here: wfmlib, matplotlib, ipywidgets. Say" in done.stderr
    assert "no pip here: run" in run(site="https://build/").stderr
    (packages,) = tmp_path.glob("lib/*/site-packages")
    packages.joinpath("pip.py").write_text("raise SystemExit(1)")
    done = run(site="https://build/", asked="http://127.0.0.1:1")
    wheel = f"wfmlib[notebook] @ http://127.0.0.1:1/{first_cell.WHEEL}"
    assert done.stdout == f"Installing {wheel}\n", "the environment comes first"
    assert "pip could not get it (see above)" in done.stderr
    assert f"@ file:///somewhere/{first_cell.WHEEL}" in run(site="/somewhere").stdout


def test_packages_of_notebooks(html, published):
    chapters = [one.stem for one in notebooks.chapters() if exercises.of_chapter(one)]
    with zipfile.ZipFile(html / "files" / "notebooks.zip") as opened:
        assert sorted(opened.namelist()) == sorted(f"notebooks/{name}.ipynb" for name in published)
    with zipfile.ZipFile(html / "files" / "notebooks-for-students.zip") as opened:
        names = [f"notebooks-for-students/{name}.ipynb" for name in chapters]
        assert sorted(opened.namelist()) == names
        for name in names:
            text = opened.read(name).decode()
            assert nbformat.reads(text, 4).cells[0].id == first_cell.ID
            assert "{solution" not in text
            assert '"answer"' in text


def test_every_download_is_there(html):
    links = [link["href"] for link in article(html, "downloads").select("a[download]")]
    assert len(links) > 20
    for link in links:
        assert (html / "book" / link).resolve().is_file(), link


def test_run_page_has_the_lines(html):
    blocks = [one.get_text() for one in article(html, "run").select("pre")]
    for text in blocks[:2]:
        lines = text.strip().splitlines()
        assert lines[1].endswith(f'-m pip install "wfmlib[book] @ ADDRESS/{first_cell.WHEEL}"')
    for name in ("run", "downloads"):
        text = article(html, name).get_text()
        assert not re.search(r"@[A-Z_]+@", text), "a word was not replaced"


def test_lines_name_the_address_of_the_page(browser, html, server):
    page = browser.new_page()
    for site in (server, html.as_uri()):
        page.goto(f"{site}/book/run.html")
        blocks = page.locator("article pre").all_inner_texts()
        for text in blocks[:2]:
            assert f'pip install "wfmlib[book] @ {site}/{first_cell.WHEEL}"\n' in text
    page.close()


def test_pages_are_small_and_describe_themselves(html, pages):
    """No two look the same in a list of results; formulas would show as raw TeX there."""
    said, titles = set(), set()
    for name in pages:
        text = (html / name).read_text()
        shown = set(re.findall(r'<img[^>]+src="\.\./(_images/[^"]+)"', text))
        weight = len(text.encode()) + sum((html / one).stat().st_size for one in shown)
        assert name == "book/gallery.html" or weight < PAGE_LIMIT, name
        (told,) = re.findall(r'<meta content="([^"]*)" name="description" ?/>', text)
        assert 25 < len(told) < 200
        assert not set("\\$") & set(told)
        said.add(told)
        titles.add(re.search("<title>(.*?)</title>", text)[1])
        assert "mybinder" not in text, "a button without a repository"
    assert len(said) == len(titles) == len(pages)


def test_claims_and_scorecard_are_linked_both_ways(html):
    """Each link of a claim leads to a row of its name on the other page."""
    scorecard = (html / "book" / "scorecard.html").read_text()
    for claim in claims.load():
        (page,) = re.findall(rf'<a href="([\w]+)\.html#{claim.id}"', scorecard)
        assert page.startswith(f"{claim.chapter:02}_")
        there = (html / "book" / f"{page}.html").read_text()
        assert f'<a href="scorecard.html#{claim.id}"' in there
        for text in (there, scorecard):
            assert text.count(f'<tr data-chapter="{claim.chapter}"') > 0
            assert len(re.findall(rf'<tr [^>]*id="{claim.id}"', text)) == 1


def test_a_site_with_an_address_says_so(tmp_path):
    """A book of one page on GitHub: buttons open it on Binder and Colab, and it can be found.

    Binder opens the text in JupyterLab; Colab needs the notebook, from a branch of its own.
    """
    (tmp_path / "page.md").write_text((PAGE % "1 + 1") + "\nA page that says something.\n")
    (tmp_path / "_toc.yml").write_text("{format: jb-book, root: page}\n")
    (tmp_path / "_config.yml").write_text(
        "repository: {url: '', branch: main}\n"
        "launch_buttons: {notebook_interface: jupyterlab}\n"
        "execute: {execute_notebooks: 'off'}\n"
        f"sphinx: {{local_extensions: {{downloads: '{ROOT / 'tools'}'}}}}\n"
    )
    command = [Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "-q"]
    environment = os.environ | {"WFMLIB_SITE": "https://org.github.io/name"}
    # The packages of notebooks are those of the whole book, which is not there.
    subprocess.run(command, check=False, capture_output=True, env=environment)
    page = (tmp_path / "_build" / "html" / "page.html").read_text()
    assert "https://mybinder.org/v2/gh/org/name/main?urlpath=lab/tree/page.md" in page
    assert "https://colab.research.google.com/github/org/name/blob/notebooks/page.ipynb" in page
    assert "https://github.com/org/name/blob/main/page.md" in page
    site = "https://org.github.io/name/"
    assert re.search(rf"<link (?=[^>]*canonical)[^>]*{site}page\.html", page)
    assert re.search(rf"<meta (?=[^>]*og:url)[^>]*{site}", page)
    assert re.search(rf'<meta (?=[^>]*og:image")[^>]*{site}_static/card.png', page)
    assert f"<loc>{site}page.html</loc>" in (tmp_path / "_build/html/sitemap.xml").read_text()
