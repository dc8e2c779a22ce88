"""A reader meets a formula before it is used: equations that a page refers to stand before it.

A summary may point ahead. So may a sentence that links a later page or a section of it, which says
that it does; a number in brackets says that the reader has seen the formula. The appendix stands
behind the chapters, and its formulas have its letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools import exercises, numbering

REFERENCE = re.compile(r"\[[^\]]*\]\((eq-[^)\s]+)\)|\{(?:eq|numref)\}`(?:[^`<]*<)?(eq-[^`>]+)>?`")
SUMMARIES = {"What we learned", "What carries over"}


def prose(text: str) -> str:
    """Return the text of a page without code, and without what sums up."""
    parts = re.split(r"^## (.*)$", exercises.without_code(text), flags=re.MULTILINE)
    sections = zip(parts[1::2], parts[2::2], strict=True)
    return parts[0] + "".join(body for title, body in sections if title not in SUMMARIES)


def ahead(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the page and the label of every equation that a page before its own refers to."""
    pages = dict(numbering.pages(root))
    texts = {page: (root / f"{page}.md").read_text("utf-8") for page in pages}
    place = {  # what stands in an appendix has a letter in its number
        label: 0 if pages[page].isalpha() else count
        for count, (page, text) in enumerate(texts.items())
        for label in re.findall(r"^\$\$ \((eq-[^)\s]+)\)$", text, re.MULTILINE)
    }
    for count, (page, text) in enumerate(texts.items()):
        for found in REFERENCE.finditer(prose(text)):
            label = found[1] or found[2]
            if place[label] > count:
                yield page, label


def test_no_formula_is_used_before_its_page():
    assert list(ahead(numbering.ROOT)) == []


def test_references_are_found_in_all_their_forms(tmp_path):
    pages = {
        "index": "# Front\n",
        "one": "# 1. One\n\n[](eq-y) [so](eq-z) {eq}`eq-w` {numref}`by <eq-v>` [](eq-x)\n\n"
        "$$\nx\n$$ (eq-x)\n\n```{code-cell} ipython3\n# [](eq-u)\n```\n\n"
        "## What we learned\n\n[](eq-u)\n",
        "two": "# 2. Two\n\n[](eq-x)\n"
        + "".join(f"\n$$\n{one}\n$$ (eq-{one})\n" for one in ("y", "z", "w", "v", "u")),
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.md").write_text(text)
    toc = "root: index\nparts:\n  - chapters: [{file: one}, {file: two}]\n"
    (tmp_path / "_toc.yml").write_text(toc)
    assert list(ahead(tmp_path)) == [("one", f"eq-{one}") for one in ("y", "z", "w", "v")]
