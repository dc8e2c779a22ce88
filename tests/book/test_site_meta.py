"""What the pages say of themselves to other machines, once the book has an address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.conftest import PAGE, ROOT
from tools import site_meta


def build(folder: Path, site: str) -> Path:
    """Build a book of one page at an address; return the folder of its pages."""
    (folder / "page.md").write_text(
        "---\nmyst:\n  html_meta: {description: 'What \"it\" is < that.'}\n"
        + (PAGE % "1 + 1").removeprefix("---\n")
    )
    (folder / "_toc.yml").write_text("{format: jb-book, root: page}\n")
    (folder / "_config.yml").write_text(
        "title: A book\nexecute: {execute_notebooks: 'off'}\nsphinx:\n"
        f"  local_extensions: {{assets: '{ROOT / 'tools'}', site_meta: '{ROOT / 'tools'}'}}\n"
        f"  config: {{templates_path: ['{ROOT / 'book' / '_templates'}']}}\n"
    )
    command = [Path(sys.executable).with_name("jupyter-book"), "build", folder, "-q"]
    env = os.environ | {"WFMLIB_SITE": site}
    subprocess.run(command, check=True, capture_output=True, env=env)
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return build(tmp_path_factory.mktemp("published"), "https://org.example/book")


def test_a_page_with_an_address(published):
    page = (published / "page.html").read_text()
    assert '<link rel="canonical" href="https://org.example/book/page.html" />' in page
    graph = dict(re.findall(r'<meta property="(og:\w+)" content="([^"]*)">', page))
    assert graph["og:title"] == "A page"
    assert graph["og:url"] == "https://org.example/book/page.html"
    assert graph["og:image"] == "https://org.example/book/_static/card.png"
    assert graph["og:description"] == "What &quot;it&quot; is &lt; that."


def test_the_sitemap_lists_the_pages(published):
    text = (published / "sitemap.xml").read_text()
    assert re.findall("<loc>(.*?)</loc>", text) == ["https://org.example/book/page.html"]


def test_a_missing_page_finds_its_style_at_any_depth(published):
    page = (published / "404.html").read_text()
    base = page.index('<base href="https://org.example/book/404.html">')
    assert base < page.index("_static/joined.css")
    assert "canonical" not in page
    assert 'content="noindex"' in page


@pytest.mark.parametrize("given", ["", "  ", "/a/folder", "file:///a/folder"])
def test_only_an_address_of_the_web_counts(monkeypatch, given):
    monkeypatch.setenv("WFMLIB_SITE", given)
    assert site_meta.address() == ""


def test_a_local_build_names_no_address(html, pages):
    if site_meta.address():
        pytest.skip("this build has an address")
    for name in [*pages, "../404.html"]:
        page = (html / "book" / "index.html").parent.joinpath("..", name.removeprefix("../"))
        text = page.read_text()
        assert "canonical" not in text
        assert "og:" not in text
    assert not (html / "sitemap.xml").exists()


def test_the_picture_of_a_link_has_the_size_that_is_shown_whole(html):
    with Image.open(html / site_meta.CARD) as card:
        assert card.size == (1200, 630)
    assert (html / site_meta.CARD).stat().st_size < 300_000
