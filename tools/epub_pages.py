"""A Sphinx extension: pages as an EPUB reader shows them, without scripts, formulas in MathML.

The builder of Sphinx makes the package: contents, navigation and the list of files. This one makes
its pages XHTML. Sliders stand as they begin, solutions are folded, and the code that pages fold
away is left out, as it is in print. A link to what the book for readers does not have leads to the
site, where the site has an address.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.builders.epub3 import Epub3Builder
from sphinx.util.math import get_node_equation_number

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # Sphinx knows this folder only

from tools import site_meta  # noqa: E402
from tools.mathml import Converter  # noqa: E402

SVG = "http://www.w3.org/2000/svg"
LEFT_OUT = (
    "script, style, button, input, .headerlink, .wfm-asleep, .wfm-said, "
    "details.above-input, details.below-input, details > summary"
)
# HTML does not tell capitals apart and XHTML does; the parser writes all names small.
CAPITALS = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}
OUTDATED = ("align", "border", "frame", "rules", "valign")  # attributes that HTML 5 took back
ACCESS = {
    "accessMode": ("textual", "visual"),
    "accessModeSufficient": ("textual",),
    "accessibilityFeature": ("MathML", "alternativeText", "structuralNavigation"),
    "accessibilityHazard": ("none",),
    "accessibilitySummary": ("Figures have alternative texts, and formulas are MathML.",),
}
COLOUR = re.compile(r"--wfm-light:(#\w+);--wfm-dark:#\w+")
LINK = re.compile(r'(<a\b[^>]*?) href="([^"]*)"')
STYLE = re.compile(r'<link rel="stylesheet"[^>]* href="([^"]*)"[^>]*/>')


class Builder(Epub3Builder):
    """The EPUB builder of Sphinx, with pages of this book."""

    def init(self) -> None:
        """Add what writes formulas."""
        super().init()
        self.mathml = Converter()

    def prepare_writing(self, docnames) -> None:
        """Convert the formulas of all pages."""
        super().prepare_writing(docnames)
        trees = [self.env.get_doctree(name) for name in sorted(docnames)]
        for kind in (nodes.math, nodes.math_block):
            self.mathml.learn(formula(one) for tree in trees for one in tree.findall(kind))

    def handle_page(self, pagename, addctx, *args, **kwargs) -> None:
        """Write a page as XHTML."""
        if "body" in addctx:
            addctx["body"] = xhtml(addctx["body"])
        super().handle_page(pagename, addctx, *args, **kwargs)

    def build_content(self) -> None:
        """Say of each page what it holds, and of the book how it can be read."""
        super().build_content()
        path = Path(self.outdir, "content.opf")
        path.write_text(described(path.read_text("utf-8"), Path(self.outdir)), "utf-8")

    def toc_metadata(self, *args):
        """Name the book in the contents of EPUB 2 as in the list of files."""
        return super().toc_metadata(*args) | {"uid": self.config.epub_identifier}

    def handle_finish(self) -> None:
        """Mend the links when all pages are there, and pack them."""
        self.mathml.close()
        mend_links(Path(self.outdir), site_meta.address())
        super().handle_finish()


def xhtml(body: str) -> str:
    """Return the text of a page as XML."""
    soup = BeautifulSoup(body, "html.parser")
    for one in soup.select(LEFT_OUT):
        one.decompose()
    for title in soup.select(".solution.dropdown > .admonition-title"):
        fold(soup, title.parent, title)
    for value in soup.select(".wfm-control output"):
        value.insert_before(": ")
    for one in soup.find_all("svg"):
        one["xmlns"] = SVG
    for one in soup.select("[role=doc-biblioentry]"):  # taken back as well
        del one["role"]
    seen = set()
    for one in soup.find_all(True):
        for name in [name for name in one.attrs if name in OUTDATED]:
            del one[name]
        for small, name in CAPITALS.items():
            if small in one.attrs:
                one[name] = one.attrs.pop(small)
        if "style" in one.attrs:
            one["style"] = COLOUR.sub(r"stroke:\1", one["style"])
        one.attrs.pop("hidden", None)
        if one.get("id") in seen:
            del one["id"]
        seen.add(one.get("id"))
    for one in soup.select("[id='']"):
        del one["id"]
    return soup.decode(formatter="minimal")


def described(package: str, folder: Path) -> str:
    """Return the list of files, with what EPUB 3 wants said of each page, and of access to it."""

    def item(found: re.Match) -> str:
        text = (folder / found[1]).read_text("utf-8")
        held = [name for name in ("mathml", "svg") if f"<{name.removesuffix('ml')}" in text]
        return f'{found[0]} properties="{" ".join(held)}"' if held else found[0]

    package = re.sub(r'<item id="epub-\d+" href="([^"]+\.xhtml)"', item, package)
    lines = [
        f'<meta property="schema:{name}">{value}</meta>'
        for name, values in ACCESS.items()
        for value in values
    ]
    return package.replace("</metadata>", "\n".join([*lines, "</metadata>"]))


def fold(soup: BeautifulSoup, solution, title) -> None:
    """Fold a solution below its title, without a script."""
    details = soup.new_tag("details")
    details.extend(solution.contents[:])
    solution.append(details)
    title.name = "summary"
    details.insert(0, title.extract())


def mend_links(folder: Path, site: str) -> None:
    """Have every link lead to a place of the book, or to the site, or take it away.

    Extensions name style sheets that they copy only to a site: these go as well.

    Parameters
    ----------
    folder
        The pages, as they are packed.
    site
        The address of the site; empty where there is none.
    """
    texts = {path: path.read_text("utf-8") for path in sorted(folder.rglob("*.xhtml"))}
    places = {
        path.relative_to(folder).as_posix(): set(re.findall(r'\bid="([^"]+)"', text))
        for path, text in texts.items()
    }
    for path, text in texts.items():
        page = path.relative_to(folder)

        def mended(found: re.Match, page=page) -> str:
            before, address = found.groups()
            if re.match(r"[a-z]+:", address):
                return found[0]
            name, _, place = address.partition("#")
            there = normal(PurePosixPath(page).parent / name) if name else page.as_posix()
            if there in places and (not place or place in places[there]):
                return found[0]
            if site and there.endswith(".xhtml"):
                rest = f"#{place}" if place else ""
                return f'{before} href="{site}{there.removesuffix(".xhtml")}.html{rest}"'
            return before

        def loaded(found: re.Match, page=page) -> str:
            there = normal(PurePosixPath(page).parent / found[1])
            return found[0] if (folder / there).exists() else ""

        path.write_text(STYLE.sub(loaded, LINK.sub(mended, text)), "utf-8")


def normal(path: PurePosixPath) -> str:
    """Return a path without steps up."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return "/".join(parts)


def formula(node) -> tuple[str, bool]:
    """Return the TeX of a formula, and whether it stands on a line of its own."""
    tex = node.astext()
    if isinstance(node, nodes.math):
        return tex, False
    if not node.get("nowrap") and r"\\" in tex and not tex.lstrip().startswith(r"\begin"):
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    return tex, True


def inline(translator, node: nodes.math) -> None:
    """Write a formula of a line."""
    text = translator.builder.mathml(*formula(node))
    translator.body.append(f'<span class="math">{text}</span>')
    raise nodes.SkipNode


def display(translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number."""
    number = ""
    if node["number"]:
        number = f'<span class="eqno">({get_node_equation_number(translator, node)})</span>'
    start = translator.starttag(node, "div", CLASS="math")
    translator.body.append(f"{start}{number}{translator.builder.mathml(*formula(node))}</div>")
    raise nodes.SkipNode


def setup(app):
    """Replace the builder of Sphinx, and offer MathML for formulas."""
    app.add_builder(Builder, override=True)
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
