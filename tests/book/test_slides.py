"""The slides of the courses: each asks for figures, formulas and works that are there."""

from __future__ import annotations

import re

import pytest

from tools import bibliography, slides
from tools.notebooks import BOOK

FIGURE = re.compile(r"^@FIGURE (\S+) (\S+)(?: \d)?@$", re.MULTILINE)


@pytest.mark.parametrize("source", slides.decks(), ids=lambda source: source.stem)
def test_deck(source):
    front, shown = slides.about(source), slides.slides(source)
    assert set(front) == {"title", "course", "minutes", "before"}
    assert 19 <= len(shown) <= 30
    assert all(note for _, _, note in shown), "each slide has a note for the speaker"
    minutes = sum(int(re.match(r"(\d+) min", note)[1]) for _, _, note in shown)
    assert minutes == front["minutes"]
    text = source.read_text("utf-8")
    figures = FIGURE.findall(text)
    assert len(figures) >= 3
    for label, page in figures:
        assert f"name: {label}\n" in (BOOK / f"{page}.md").read_text("utf-8")
    assert set(bibliography.keys(text)) <= set(bibliography.works())
