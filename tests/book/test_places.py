"""What the search looks in: formulas as text, and the places of the book with their text."""

from __future__ import annotations

import json

import pytest
from docutils import nodes
from sphinx import addnodes

from tools import places as extension
from wfmlib.book import claims


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\alpha_c = 0.833", "α_c = 0.833"),
        (r"\hat q_1", "q_1"),
        (r"N\to\infty", "N→∞"),
        (r"\frac{\alpha_c}2", "α_c/2"),
        (r"\mathbf w\cdot\boldsymbol\xi^\mu", "w⋅ ξ^μ"),
        (r"\tanh^2 x", "tanh^2 x"),
    ],
)
def test_a_formula_as_text(tex, text):
    assert extension.plain(tex) == text


@pytest.fixture(scope="module")
def places(html):
    text = (html / "_static" / "places.js").read_text("utf-8")
    return json.loads(text.removeprefix("window.wfmPlaces = ").removesuffix(";\n"))


def test_nothing_that_is_found_shows_raw_formulas(places):
    assert len(places) > 500
    for _, address, title, text, _ in places:
        assert not {"\\", "$", "�"} & set(title + text), address


def test_every_place_is_there_once(places, html):
    """A place of each kind, and every claim; each address is that of an element of its page."""
    pages: dict[str, str] = {}
    for _, address, *_ in places:
        page, _, anchor = address.partition("#")
        text = pages.setdefault(page, (html / page).read_text("utf-8"))
        assert not anchor or f'id="{anchor}"' in text, address
    addresses = [address for _, address, *_ in places]
    assert len(set(addresses)) == len(addresses)
    assert {kind for kind, *_ in places} == {
        *("section", "exercise", "term", "api", "claim", "number", "paper")
    }
    assert sum(kind == "claim" for kind, *_ in places) == len(claims.load())


def test_a_section_has_its_own_text_alone():
    document = nodes.document(None, None)
    outer = nodes.section("", nodes.title("", "Outer"), ids=["outer"])
    paragraph = nodes.paragraph("", "", nodes.Text("The load "), nodes.math("", r"\alpha"))
    outer += [paragraph, nodes.literal_block("", "code()"), nodes.raw("", "<b>", format="html")]
    inner = nodes.section("", nodes.title("", "", nodes.math("", "q_1")), ids=["inner"])
    inner += nodes.paragraph("", "Inside.")
    outer += inner
    item = nodes.definition_list_item("", nodes.term("", "load", ids=["term-load"]))
    item += nodes.definition("", nodes.paragraph("", "Patterns per weight."))
    inner += addnodes.glossary("", nodes.definition_list("", item))
    document += outer
    assert list(extension.places(document)) == [
        ["section", "", "Outer", "The load α"],
        ["section", "inner", "q_1", "Inside."],
        ["term", "term-load", "load", "Patterns per weight."],
    ]
