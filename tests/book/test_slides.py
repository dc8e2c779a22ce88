"""The slides of the courses: each asks for figures, formulas and works that are there."""

from __future__ import annotations

import io
import re

import matplotlib.pyplot as plt
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


def test_a_row_of_panels_has_the_axis_that_rows_share():
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(4.8, 5.6))
    top.set_ylabel("entropy")
    bottom.set(xlabel="load", ylabel="overlap")
    with io.StringIO() as file:
        figure.savefig(file, format="svg")
        svg = file.getvalue()
    plt.close(figure)
    for row, shared in ((1, 1), (2, 0)):
        shown = slides.panel(svg[svg.index("<svg") :], row, f"figure-{row}")
        _, high = re.match(r'<svg viewBox="0 0 (\S+) (\S+)">', shown).groups()
        assert 0.35 * 5.6 * 72 < float(high) < 0.6 * 5.6 * 72
        assert shown.count(f'<use href="#figure-{row}"/>') == shared
        assert f'id="figure-{row}-axes_1"' in shown
