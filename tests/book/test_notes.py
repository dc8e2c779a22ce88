"""The last lecture of a chapter has notes, and what they cite is in the bibliography."""

from __future__ import annotations

import re

import pytest

from tools import notebooks, numbering

LAST = {
    one[0]: one[-1] for one in numbering.chapters().values() if re.match(r"book/\d\d_", one[0])
}
ENTRIES = set(
    re.findall(r"^@\w+\{(.*),$", (notebooks.ROOT / "book/references.bib").read_text(), re.M)
)


@pytest.mark.parametrize("chapter", LAST)
def test_chapter_ends_with_notes_that_cite(chapter):
    text = (notebooks.ROOT / f"{LAST[chapter]}.md").read_text()
    notes = re.findall(r"^## Notes\n(.*?)(?=^## |\Z)", text, flags=re.M | re.S)
    assert len(notes) == 1
    cited = {
        key
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", notes[0])
        for key in keys.split(",")
    }
    assert cited
    assert cited <= ENTRIES
