"""The API reference and the chapters link to each other: every name, every equation, every use."""

from __future__ import annotations

import inspect
import posixpath
import re
from functools import cache
from types import ModuleType
from urllib.parse import unquote

import pytest

from tests.conftest import parsed
from tools import api_reference, notebooks, numbering

API = notebooks.BOOK / "api"
MODULES = api_reference.modules()
CHAPTERS = sorted(notebooks.BOOK.glob("[01]*.md"))
MARKER = re.compile(r"\[(eq-[a-z0-9-]+)\]")


@pytest.fixture(scope="module")
def read(html):
    """Return a page of the book, parsed, by its path below ``book``."""
    return lambda name: parsed(html / "book" / name)


@pytest.fixture(scope="module")
def places(read):
    """Return what a link can lead to on a page, by its anchor."""
    return cache(lambda name: {node["id"]: node for node in read(name).find_all(id=True)})


@pytest.fixture(scope="module")
def entry(read):
    """Return, for each full name, the page and the entry."""
    found = {}
    for path in API.glob("*.md"):
        page = f"api/{path.stem}.html"
        for term in read(page).select("dt.sig[id]"):
            assert term["id"] not in found, "described twice"
            found[term["id"]] = page, term.parent
    return found


def public(module):
    scope = __import__(module, fromlist=["__all__"])
    return [name for name in scope.__all__ if not isinstance(getattr(scope, name), ModuleType)]


def documented():
    """Yield the full name and the docstring of public functions, classes and their methods."""
    members = dict(api_reference.results())
    for module in MODULES:
        scope = __import__(module, fromlist=["__all__"])
        members |= {f"{module}.{name}": getattr(scope, name) for name in public(module)}
    for full, value in members.items():
        if callable(value):
            yield full, inspect.getdoc(value) or ""
        if inspect.isclass(value):
            for name, member in vars(value).items():
                if not name.startswith("_") and (
                    inspect.isfunction(member) or isinstance(member, property)
                ):
                    yield f"{full}.{name}", inspect.getdoc(member) or ""


def words(node) -> str:
    return " ".join(node.get_text().split())


def target(places, page, link):
    """Return the page and the place that a link of a page leads to; it must be there."""
    path, _, anchor = link.partition("#")
    name = posixpath.normpath(posixpath.join("book", posixpath.dirname(page), path))
    name = name.removeprefix("book/") if path else page
    assert unquote(anchor) in places(name), f"{page}: {link} leads nowhere"
    return name, places(name)[unquote(anchor)]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_its_entry(module, entry):
    assert {f"{module}.{name}" for name in public(module)} <= set(entry)


def test_every_result_has_its_entry(entry):
    """The class of what a public function returns, where it is defined."""
    assert set(api_reference.results()) <= set(entry)


def test_entries_are_public_names_and_their_members(entry):
    """And the results."""
    tops = {f"{module}.{name}" for module in MODULES for name in public(module)}
    tops |= set(api_reference.results())
    assert {
        name for name in entry if name not in tops and name.rpartition(".")[0] not in tops
    } == set()


@pytest.mark.parametrize("page", sorted(path.stem for path in API.glob("*.md")))
def test_page_is_complete(page, html, read):
    """It opens with words, shows no raw markup, and is no larger than a page may be."""
    path = html / "book" / "api" / f"{page}.html"
    assert path.stat().st_size < 2e6
    article = read(f"api/{page}.html").find("article")
    assert len(words(article.find("p"))) > 60
    text = article.get_text()
    assert not re.search(
        r":(?:py|equation|obj|class|func)\b[:\w]*:?`|\[eq-|<factory>| at 0x", text
    )


def test_every_cited_equation_is_a_link(entry, places):
    """In the entry whose docstring cites it, to the place where the number stands."""
    cited, chapter_of = 0, dict(numbering.pages())
    for name, docstring in documented():
        page, node = entry[name]
        for label in MARKER.findall(docstring):
            links = node.select(f'.wfm-equation a[href$="#equation-{label}"]')
            assert links, f"{name}: {label}"
            number = re.fullmatch(r"eq\. \(([\dA-Z]+)\.\d+\)", words(links[0]))
            chapter, equation = target(places, page, links[0]["href"])
            assert number[0].removeprefix("eq. ") in words(equation.select_one(".eqno"))
            assert chapter_of[f"book/{chapter.removesuffix('.html')}"] == number[1]
            cited += 1
    assert cited > 50


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_code_of_a_chapter_links_to_the_reference(chapter, entry, places, read):
    """To the entry that is meant; and the entry links back."""
    page = f"{chapter.stem}.html"
    links = read(page).select("div.cell_input pre a")
    alone = len(list(chapter.parent.glob(f"{chapter.stem[:2]}_*.md"))) == 1
    assert len(links) > (20 if alone else 5)  # the code of a chapter in pages is shared out
    used = set()
    for link in links:
        there, place = target(places, page, link["href"])
        if place.name == "dt":  # a name; else a module
            assert place["id"].endswith("." + words(link).rpartition(".")[2])
            used.add(place["id"])
    assert len(used) > (5 if alone else 2)
    for name in used:
        there, node = entry[name]
        line = node.find("p", class_="wfm-used")
        back = [target(places, there, link["href"])[0] for link in line.find_all("a")]
        assert page in back, f"{name} does not say that {chapter.stem} uses it"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_links_change_no_code(chapter, read):
    """What the copy button takes is the cell as it stands in the chapter."""
    shown = [
        block.get_text().strip()
        for block in read(f"{chapter.stem}.html").select("div.cell_input pre")
    ]
    cells = notebooks.read(chapter).cells
    hidden = {"remove-cell", "remove-input"}
    written = [
        cell.source.strip()
        for cell in cells
        if cell.cell_type == "code" and not hidden & set(cell.metadata.get("tags", []))
    ]
    assert shown == written


def test_main_results_have_their_links(read):
    """Names as they are mostly written: of a module, imported, in a solution."""
    links = {words(link): link["href"] for link in read("01_4_exercises.html").select("pre a")}
    typical = "../book/api/theory_typical.html#wfmlib.theory.typical"
    assert links["theory.typical.solve"] == f"{typical}.solve"
    assert links["Perceptron"] == "../book/api/models.html#wfmlib.models.Perceptron"
    assert links["gaussian.H"] == "../book/api/gaussian.html#wfmlib.numerics.gaussian.H"
