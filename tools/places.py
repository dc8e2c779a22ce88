"""A Sphinx extension: what pages know of each other, for the search and for the tips of links.

A page that is opened as a file may fetch nothing, so both stand in scripts.

- `_static/places.js` has every place to which a link can lead, with its text: a section, an
  exercise, a term of the glossary, an entry of the API reference, a claim, a work that is cited,
  and what has a number: formulas, figures with their captions, tables. Code and solutions are left
  out. `book/_static/search.js` looks through it.
- `_static/tips.js` has the numbered formulas and the definitions of the glossary as HTML, by
  address. `book/_static/tooltips.js` shows them on hover and on keyboard focus.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from docutils.utils.math import tex2unichar
from sphinx import addnodes

from wfmlib.book import claims

SCORECARD = "book/scorecard"
SKIPPED = (
    nodes.raw,
    nodes.comment,
    nodes.image,
    nodes.literal_block,
    nodes.doctest_block,
    nodes.system_message,
    addnodes.toctree,
    addnodes.index,
    addnodes.desc_signature,
    nodes.citation,
)
SOLUTION, EXERCISE = "solution", "exercise"  # how the names of sphinx-exercise's nodes begin
SECTION, TERM, API, CLAIM = "section", "term", "api", "claim"  # and EXERCISE
NUMBER, PAPER = "number", "paper"
NUMBERED = {"displaymath": "Equation (%s)", "figure": "Figure %s", "table": "Table %s"}
SYMBOLS = {
    name: sign
    for kind in ("alpha", "bin", "close", "fence", "op", "open", "ord", "punct", "rel")
    for name, sign in getattr(tex2unichar, f"math{kind}").items()
}
NAMES = {"ln", "log", "exp", "tanh", "max", "min", "arcsin", "arccos", "erf", "lim"}


# ------------------------------------------------------------------------------------------------
# Places
# ------------------------------------------------------------------------------------------------


def plain(tex: str) -> str:
    r"""Return a formula in a line of text, as one looks for it: `\frac{\alpha_c}2` as "α_c/2"."""

    def sign(match: re.Match) -> str:
        name = match[1]
        return SYMBOLS.get(name, f" {name} " if name in NAMES else " ")

    tex = re.sub(r"\\(?:begin|end)\{\w+\}|\\(?:text|math\w*|bold\w*|operatorname)\b", " ", tex)
    tex = re.sub(r"\\[dt]?frac\s*(\{[^{}]*\}|\d)\s*(\{[^{}]*\}|\w)", r" \1/\2 ", tex)
    tex = re.sub(r"\\([A-Za-z]+|.)", sign, tex)
    return re.sub(r"\s+", " ", re.sub(r"[{}&~$]|\s(?=[_^])", "", tex)).strip()


def title_of(node: nodes.Element) -> nodes.title | None:
    """Return the title of a section or of an exercise."""
    return next((child for child in node.children if isinstance(child, nodes.title)), None)


def is_place(node: nodes.Node) -> bool:
    """Say whether a link can lead to a node, which then has its own text."""
    if isinstance(node, nodes.section) or type(node).__name__.startswith(EXERCISE):
        return title_of(node) is not None and bool(node["ids"])
    return isinstance(node, (addnodes.desc, addnodes.glossary))


def words(node: nodes.Node) -> str:
    """Return the text of a node, without code, figures, and what is a place of its own."""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, (nodes.math, nodes.math_block)):
        return f" {plain(node.astext())} "
    if isinstance(node, SKIPPED) or is_place(node) or type(node).__name__.startswith(SOLUTION):
        return " "
    inside = "".join(words(child) for child in node.children)
    return inside if isinstance(node, nodes.Inline) else f" {inside} "


def squeezed(text: str) -> str:
    """Return a text without superfluous space."""
    return re.sub(r" (?=[,.;:)])", "", re.sub(r"\s+", " ", text).strip())


def content(node: nodes.Element) -> str:
    """Return the text below a heading."""
    return squeezed(" ".join(words(child) for child in node if not isinstance(child, nodes.title)))


def places(doctree: nodes.document) -> Iterator[list[str]]:
    """Yield kind, anchor, title and text of every place of a page."""
    for node in doctree.findall(is_place):
        if title_of(node) is not None:
            anchor = "" if isinstance(node.parent, nodes.document) else node["ids"][0]
            kind = SECTION if isinstance(node, nodes.section) else EXERCISE
            yield [kind, anchor, squeezed(words(title_of(node))), content(node)]
        elif isinstance(node, addnodes.desc):
            signature = node.next_node(addnodes.desc_signature)
            if signature is not None and signature["ids"]:
                yield [API, signature["ids"][0], signature["ids"][0], content(node)]
        else:
            for item in node.findall(nodes.definition_list_item):
                terms = list(item.findall(nodes.term))
                title = ", ".join(squeezed(words(term)) for term in terms)
                yield [TERM, terms[0]["ids"][0], title, content(item.children[-1])]


def numbered(app, docname: str, doctree: nodes.document) -> Iterator[list[str]]:
    """Yield formulas, figures and tables that have a number, with their texts."""
    elements = list(doctree.findall(nodes.Element))
    for kind, numbers in app.env.toc_fignumbers.get(docname, {}).items():
        for name, parts in numbers.items() if kind in NUMBERED else ():
            node = next((one for one in elements if name in one["ids"]), None)
            if isinstance(node, nodes.math_block):
                text = plain(node.astext())
            else:
                names = (nodes.caption, nodes.title)
                headings = [one for one in node or () if isinstance(one, names)]
                text = squeezed(" ".join(map(words, headings)))
            if text:
                yield [NUMBER, name, NUMBERED[kind] % ".".join(map(str, parts)), text]


def works(doctree: nodes.document) -> Iterator[list[str]]:
    """Yield the works of the bibliography."""
    for work in doctree.findall(nodes.citation):
        label, *text = work.children
        yield [PAPER, work["ids"][0], label.astext(), squeezed(" ".join(map(words, text)))]


def note(app, doctree: nodes.document, docname: str) -> None:
    """Note the places of a page when all that it refers to is known."""
    app.wfm_places[docname] = [
        *places(doctree),
        *numbered(app, docname, doctree),
        *works(doctree),
    ]


def all_places(app) -> Iterator[list[str]]:
    """Yield kind, address, title, text and page of every place of the book."""
    for docname in sorted(app.env.found_docs):
        if docname not in app.wfm_places:  # this build did not write the page
            app.env.get_and_resolve_doctree(docname, app.builder)
        page = app.builder.get_target_uri(docname)
        of_page = squeezed(words(app.env.titles[docname]))
        for kind, anchor, name, text in app.wfm_places[docname]:
            yield [kind, f"{page}#{anchor}" if anchor else page, name, text, of_page]
        if docname == SCORECARD:
            for claim in claims.load():
                address, text = f"{page}#{claim.id}", f"{claim.source}. {claim.why}"
                yield [CLAIM, address, claim.statement, text, of_page]


# ------------------------------------------------------------------------------------------------
# Tips
# ------------------------------------------------------------------------------------------------


def tips(app) -> Iterator[tuple[str, str]]:
    """Yield the address of every numbered formula and of every term, and its tip."""
    for docname in sorted(app.env.found_docs):
        page, doctree = app.builder.get_target_uri(docname), app.env.get_doctree(docname)
        for node in doctree.findall(nodes.math_block):
            if node.get("label") and node["ids"]:
                formula = node.deepcopy()
                formula["ids"], formula["number"] = [], None
                yield f"{page}#{node['ids'][0]}", html(app, formula)
        if any(doctree.findall(addnodes.glossary)):
            resolved = app.env.get_and_resolve_doctree(docname, app.builder)
            for item in resolved.findall(nodes.definition_list_item):
                definition = nodes.container("", *item.children[-1].deepcopy().children)
                for link in list(definition.findall(nodes.reference)):
                    link.replace_self(link.children)
                for term in item.findall(nodes.term):
                    tip = f"<strong>{term.astext()}</strong>{html(app, definition)}"
                    yield f"{page}#{term['ids'][0]}", tip


def html(app, node: nodes.Node) -> str:
    """Return a node as the builder writes it."""
    return app.builder.render_partial(node)["fragment"].strip()


def write(app, error) -> None:
    """Write both scripts, when all pages stand."""
    if error is None and app.builder.name == "html":
        static = Path(app.outdir, "_static")
        for name, value in ("Places", list(all_places(app))), ("Tips", dict(tips(app))):
            text = json.dumps(value, ensure_ascii=False, indent=0)
            (static / f"{name.lower()}.js").write_text(f"window.wfm{name} = {text};\n", "utf-8")


def setup(app):
    """Write at the end; every page loads the tips, and the search alone the places."""
    app.wfm_places = {}
    app.connect("doctree-resolved", note, priority=900)  # after all others changed it
    app.connect("build-finished", write)
    for script in ("tips.js", "tooltips.js"):
        app.add_js_file(script, loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
