"""A reader meets a formula before it is used: equations that a page refers to stand before it.

A summary may point ahead. So may a sentence that links a later page or a section of it, which says
that it does; a number in brackets says that the reader has seen the formula.
"""

from __future__ import annotations

import re

from tools import exercises
from tools.notebooks import ROOT

REFERENCE = re.compile(r"\[[^\]]*\]\((eq-[^)\s]+)\)|\{(?:eq|numref)\}`(?:[^`<]*<)?(eq-[^`>]+)>?`")
LABEL = re.compile(r"^\$\$ *\((eq-[^)]+)\)", re.MULTILINE)
SUMMARIES = {"What we learned", "What carries over"}


def prose(text: str) -> str:
    """Return the text of a page without code, and without what sums up."""
    parts = re.split(r"^## (.*)$", exercises.without_code(text), flags=re.MULTILINE)
    sections = zip(parts[1::2], parts[2::2], strict=True)
    return parts[0] + "".join(body for title, body in sections if title not in SUMMARIES)


def test_no_formula_is_used_before_its_page():
    toc = re.findall(r"(?:root|file): *([\w/]+)", (ROOT / "_toc.yml").read_text())
    texts = [(ROOT / f"{page}.md").read_text() for page in toc if (ROOT / f"{page}.md").exists()]
    place = {label: k for k, text in enumerate(texts) for label in LABEL.findall(text)}
    assert len(place) > 100
    ahead = [
        (toc[k], found[1] or found[2])
        for k, text in enumerate(texts)
        for found in REFERENCE.finditer(prose(text))
        if place[found[1] or found[2]] > k
    ]
    assert ahead == []
