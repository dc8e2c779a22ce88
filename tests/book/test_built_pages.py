"""What can be held of the built pages without a browser: their foot, their size, their buttons."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import PAGE, ROOT
from tools import launch_buttons, notebooks, numbering, page_facts
from wfmlib import __version__
from wfmlib.book import claims

PAGE_LIMIT = 2 * 1024**2  # bytes of one page, with what it shows
BOOK_LIMIT = 70 * 1024**2


def foot(page):
    return re.search(r'<div class="extra_footer">\s*<p>(.*?)</p>', page.read_text(), re.DOTALL)[1]


def test_every_page_says_version_and_execution(html, pages):
    with_code = {f"book/{chapter.stem}.html" for chapter in notebooks.chapters()}
    for name in pages:
        said = foot(html / name)
        assert said.startswith(f"Version {__version__}. ")
        timed = re.search(
            r"Executed on \d+ \w+ 20\d\d; the cells took (\d+ seconds|a second)", said
        )
        assert bool(timed) == (name in with_code), f"{name}: {said}"


def test_the_foot_of_a_page_in_words():
    assert page_facts.sentence(None).endswith("This page holds no code.")
    noon = 1_800_000_000.0
    assert page_facts.sentence({"mtime": noon, "runtime": None}).endswith("15 January 2027.")
    assert page_facts.sentence({"mtime": noon, "runtime": 0.2}).endswith("took a second.")
    assert page_facts.sentence({"mtime": noon, "runtime": 61.6}).endswith("took 62 seconds.")


def test_pages_are_small(html, pages):
    """A page and the pictures in it; the whole book with its notebooks and its search index."""
    heavy = {}
    for name in pages:
        text = (html / name).read_text()
        shown = set(re.findall(r'<img[^>]+src="\.\./(_images/[^"]+)"', text))
        if name != "book/gallery.html":  # it loads each picture when it is scrolled to
            heavy[name] = len(text.encode()) + sum((html / one).stat().st_size for one in shown)
    assert {name: size for name, size in heavy.items() if size > PAGE_LIMIT} == {}
    whole = sum(path.stat().st_size for path in html.rglob("*") if path.is_file())
    assert whole < BOOK_LIMIT


def test_every_chapter_has_two_sliders(html, pages):
    chapters = [one for one in numbering.chapters().values() if re.match(r"book/\d\d_", one[0])]
    assert len(chapters) == 12
    for chapter in chapters:
        texts = [(html / f"{page}.html").read_text() for page in chapter]
        assert sum(text.count('<figure class="wfm-slider">') for text in texts) >= 2, chapter[0]


def test_no_launch_button_without_a_repository(html, pages):
    for name in pages:
        text = (html / name).read_text()
        assert "mybinder" not in text
        assert "colab.research" not in text


@pytest.mark.parametrize(
    ("repository", "hub", "button"),
    [
        ("", "", ""),
        ("https://host/org/book", "", launch_buttons.BINDER),
        ("https://host/org/book", "https://own.hub", "https://own.hub"),
    ],
)
def test_one_setting_brings_the_launch_buttons(repository, hub, button, monkeypatch):
    monkeypatch.delenv("WFMLIB_SITE", raising=False)
    options = {"repository_url": repository, "launch_buttons": {"binderhub_url": hub}}
    launch_buttons.configure(None, SimpleNamespace(html_theme_options=options))
    assert options["launch_buttons"]["binderhub_url"] == button


def test_a_page_opens_on_binder_and_on_colab(tmp_path):
    """A book of one page that knows its address: buttons lead to the notebook, and to the source.

    Binder opens the text in JupyterLab; Colab needs the notebook, from a branch of its own.
    """
    (tmp_path / "page.md").write_text(PAGE % "1 + 1")
    (tmp_path / "_toc.yml").write_text("{format: jb-book, root: page}\n")
    (tmp_path / "_config.yml").write_text(
        "repository: {url: '', branch: main}\n"
        "launch_buttons: {notebook_interface: jupyterlab}\n"
        "execute: {execute_notebooks: 'off'}\n"
        f"sphinx: {{local_extensions: {{launch_buttons: '{ROOT / 'tools'}'}}}}\n"
    )
    command = [Path(sys.executable).with_name("jupyter-book"), "build", tmp_path, "-q"]
    environment = os.environ | {"WFMLIB_SITE": "https://org.github.io/name/"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    page = (tmp_path / "_build" / "html" / "page.html").read_text()
    assert f"{launch_buttons.BINDER}/v2/gh/org/name/main?urlpath=lab/tree/page.md" in page
    assert f"{launch_buttons.COLAB}/github/org/name/blob/notebooks/page.ipynb" in page
    assert 'href="https://github.com/org/name"' in page
    assert "https://github.com/org/name/blob/main/page.md" in page


def test_claims_and_scorecard_are_linked_both_ways(html):
    """Each link of a claim leads to a row of its name on the other page."""
    scorecard = (html / "book" / "scorecard.html").read_text()
    for claim in claims.load():
        pages = (html / "book").glob(f"{claim.chapter:02}_*.html")
        (chapter,) = (page for page in pages if f'<tr id="{claim.id}"' in page.read_text())
        there = chapter.read_text()
        assert f'<a href="scorecard.html#{claim.id}"' in there
        assert f'<a href="{chapter.name}#{claim.id}"' in scorecard
        for text in (there, scorecard):
            assert text.count(f'<tr id="{claim.id}"') == 1


def test_pages_describe_themselves(html, pages):
    """No two pages look the same in a list of results; formulas would show as raw TeX there."""
    found = {}
    for name in pages:
        page = (html / name).read_text()
        (found[name],) = re.findall(r'<meta content="([^"]*)" name="description" ?/>', page)
        assert 25 < len(found[name]) < 200
        assert not set("\\$") & set(found[name])
    titles = [re.search("<title>(.*?)</title>", (html / name).read_text())[1] for name in pages]
    assert len(set(found.values())) == len(set(titles)) == len(pages)
