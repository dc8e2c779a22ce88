"""How long a page takes: to read, to follow with a pencil, and to do its exercises as well.

Counted are words (130 a minute with a pencil, 200 without), displayed formulas (4 minutes to
follow, 1 to read) and the code cells that a page shows (1 minute each), up to the warm-ups, which
add ten minutes. Exercises take the minutes of `tools/exercises.toml`. The rates are a judgement;
tests hold the numbers on the pages to the sums, within 15 per cent.
`python -m tools.times` prints the sums of each chapter, in minutes.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools import exercises

WORDS = {"read": 200, "follow": 130}  # a minute
DISPLAY = {"read": 1.0, "follow": 4.0}  # minutes
CELL = 1.0
SHOWN = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"hide-input|remove-(?:input|cell)")


def lecture(text: str) -> str:
    """Return the text of a page up to its warm-ups or exercises, without what stands before it."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    return re.split(r"^## (?:Warm-ups|Exercises)$", text, maxsplit=1, flags=re.MULTILINE)[0]


def counted(text: str) -> tuple[int, int, int]:
    """Return the words, displayed formulas and shown code cells of a lecture's text."""
    cells = sum(not HIDDEN.search(cell) for cell in SHOWN.findall(text))
    text = SHOWN.sub("", text)
    words, displays = re.subn(r"^\s*\$\$\n.*?\n\s*\$\$.*?$", "", text, flags=re.M | re.S)
    words = re.sub(r"\$[^$]+\$", "x", words)
    return len(words.split()), displays, cells


def minutes(page: Path, pace: str) -> float:
    """Return the minutes of a page at a pace: "read", "follow" or "redo"."""
    if pace == "redo":
        known = exercises.estimates()
        mine = sum(known[one.label]["minutes"] for one in exercises.of_chapter(page))
        return minutes(page, "follow") + mine
    words, displays, cells = counted(lecture(page.read_text()))
    return words / WORDS[pace] + DISPLAY[pace] * displays + CELL * cells


def chapter(pages: list[Path], pace: str) -> float:
    """Return the minutes of a chapter; its page of exercises counts in "redo" alone."""
    last = pages[-1].stem.endswith("_exercises") and pace != "redo"
    return sum(minutes(page, pace) for page in (pages[:-1] if last else pages))


if __name__ == "__main__":
    for one in exercises.pages():
        sums = (f"{pace} {chapter(one, pace):.0f}" for pace in ("read", "follow", "redo"))
        print(one[0].stem, *sums)
