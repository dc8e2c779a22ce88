"""The exercises of the book, read from the chapters, and the tables of them for lecturers.

The chapters say what an exercise is called, its rating, and how it is done (*By hand*, *By code*,
*Small project*). What they do not say, the section after which it can be set and the minutes that
it takes, is in `tools/exercises.toml`. `python -m tools.exercises` writes both into the tables of
`book/lecturers.md`; a test holds them together.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools import numbering
from tools.notebooks import BOOK

PAGE = BOOK / "lecturers.md"
ESTIMATES = Path(__file__).with_suffix(".toml")

# Lines of a chapter between which a solution stands; the first one says of which exercise.
SOLUTION = re.compile(
    r"^(?P<fence>`{3,})\{solution-(?:start\} (?P<label>\S+)\n(?::.*\n)*|end\}\n)(?P=fence)[ \t]*$",
    re.MULTILINE,
)
EXERCISE = re.compile(
    r"^```\{exercise-start\} (?P<title>[^\n]+)\n:label: (?P<label>\S+)\n```\n"
    r"(?P<body>.*?)^```\{exercise-end\}\n```",
    re.MULTILINE | re.DOTALL,
)
FOLDED = re.compile(r"\s*Solutions are folded,[^.]*\.")  # said before the exercises
CALLED = re.compile(r"exercises\.check\((?:&quot;|\")(\d+\.\d+)")  # in a built page
CHECK = re.compile(r"`(exercises\.check\([^`]+\))`")
RATED = re.compile(r"(?P<first>▷ )?(?P<name>.+) \[(?P<hard>[1-5])\]")  # a title, see ways.md
LEVEL = re.compile(r"\s*\*(By hand and by code|By hand|By code|Small project)\.\*")
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Exercise:
    """One exercise: where it stands, what it is called, how it is done and checked.

    Its title is as the page writes it, with the rating.
    """

    chapter: str
    label: str
    title: str
    level: str
    check: str = ""

    @property
    def name(self) -> str:
        """The title without the rating."""
        return rated["name"] if (rated := RATED.fullmatch(self.title)) else self.title

    @property
    def rating(self) -> str:
        """The difficulty, behind a sign if the exercise is recommended, such as "▷ 2"."""
        rated = RATED.fullmatch(self.title)
        return f"{rated['first'] or ''}{rated['hard']}" if rated else ""

    @property
    def by_hand(self) -> bool:
        """Whether the answer is, at least in part, one of pencil and paper."""
        return self.level != "by code"

    @property
    def by_code(self) -> bool:
        """Whether the answer needs a cell that runs."""
        return self.level != "by hand"


def of_chapter(chapter: Path) -> list[Exercise]:
    """Return the exercises of a chapter, in their order.

    Raises
    ------
    ValueError
        If one does not begin with its level.
    """
    exercises = []
    for match in EXERCISE.finditer(chapter.read_text()):
        level = LEVEL.match(match["body"])
        if level is None:
            raise ValueError(
                f"{chapter.name}: {match['label']} must begin with *By hand.*, *By code.*, "
                "*By hand and by code.* or *Small project.*"
            )
        call = CHECK.search(match["body"])
        named = (chapter.stem, match["label"], match["title"], level[1].lower())
        exercises.append(Exercise(*named, call[1] if call else ""))
    return exercises


def everywhere(book: Path = BOOK) -> list[Exercise]:
    """Return all exercises of the book, in the order of its contents."""
    return [
        exercise for chapter in pages(book) for page in chapter for exercise in of_chapter(page)
    ]


def parts(notebook) -> Iterator[tuple]:
    """Yield (cell, text, label): pieces of cells, and of which exercise they are the solution.

    The label is None outside of solutions. Text cells are cut where a solution begins or ends;
    these lines themselves are left out.

    Raises
    ------
    ValueError
        If a solution does not end, or ends without having begun.
    """
    inside = None
    for cell in notebook.cells:
        begin = 0
        if cell.cell_type == "markdown":
            for turn in SOLUTION.finditer(cell.source):
                if (inside is None) == (turn["label"] is None):
                    raise ValueError(f"solutions must begin and end in turn, see {turn[0]!r}")
                yield cell, cell.source[begin : turn.start()].strip(), inside
                inside, begin = turn["label"], turn.end()
        yield cell, cell.source[begin:].strip() if begin else cell.source, inside
    if inside is not None:
        raise ValueError(f"the solution of {inside} does not end")


def unsolved(text: str) -> str:
    """Return the source of a page without its solutions."""
    marks = [*SOLUTION.finditer(text)]
    for begin, end in list(zip(marks[::2], marks[1::2], strict=True))[::-1]:
        text = text[: begin.start()].rstrip("\n") + "\n" + text[end.end() :]
    return FOLDED.sub("", text)


def without_code(text: str) -> str:
    """Return the text of a chapter without its code cells."""
    return re.sub(r"^```\{code-cell\}.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def headings(page: Path) -> list[str]:
    """Return the headings of a page, below its title."""
    titles = HEADING.findall(without_code(page.read_text()))
    return [title for level, title in titles if level != "#"]


def pages(book: Path = BOOK) -> list[list[Path]]:
    """Return the pages of each numbered chapter that has exercises."""
    root = book.parent
    every = [
        [root / f"{page}.md" for page in chapter] for chapter in numbering.chapters(root).values()
    ]
    return [chapter for chapter in every if any(of_chapter(page) for page in chapter)]


def anchor(heading: str) -> str:
    """Return what a link to a heading ends in, as MyST and GitHub make it."""
    from myst_parser.mdit_to_docutils.base import default_slugify

    return default_slugify(re.sub(r"[*`$]", "", heading))


def estimates(file: Path = ESTIMATES) -> dict[str, dict]:
    """Return, for each label, the section after which it can be set and the minutes it takes."""
    return tomllib.loads(file.read_text())


def table(chapter: list[Path], known: dict[str, dict]) -> str:
    """Return the exercises of the pages of one chapter as a table in Markdown."""
    numbers = numbering.numbers()
    rows = [
        "| no. | exercise | rating | level | after the section | minutes |",
        "| --- " * 6 + "|",
    ]
    for exercise in [exercise for page in chapter for exercise in of_chapter(page)]:
        if exercise.label not in known:
            raise SystemExit(
                f"{exercise.chapter}.md: say in {ESTIMATES.name} when to set {exercise.label}"
            )
        after = known[exercise.label]["after"]
        after_page = next((page for page in chapter if after in headings(page)), None)
        if after_page is None:
            raise SystemExit(
                f"{exercise.chapter}.md: {exercise.label} is set after no section {after!r}"
            )
        section = f"[{after}]({after_page.name}#{anchor(after)})"
        link = f"[{exercise.name}]({exercise.label})"
        minutes = known[exercise.label]["minutes"]
        row = (numbers[exercise.label], link, exercise.rating, exercise.level, section, minutes)
        rows.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(rows)


def filled(page: str, book: Path = BOOK, known: dict[str, dict] | None = None) -> str:
    """Return a page with the tables between its marks renewed."""
    known = estimates() if known is None else known
    for chapter in pages(book):
        name = chapter[0].stem
        begin, end = (f"<!-- exercises {name}: {word} -->" for word in ("begin", "end"))
        if begin in page:
            head, rest = page.split(begin)
            page = f"{head}{begin}\n\n{table(chapter, known)}\n\n{end}{rest.split(end)[1]}"
    return page


@cache
def key(number: str) -> dict:
    """Return what the form below an exercise compares an answer with: one number each.

    A function is asked for at the middle one of its points.
    """
    from wfmlib.book.exercises.answers import slips
    from wfmlib.book.exercises.table import QUESTIONS

    question = QUESTIONS[number]
    points = getattr(question, "points", (None,))
    middle = len(points) // 2
    right = question.at_points(question.right)
    return {
        "asked": question.asked,
        "point": points[middle],
        "right": right[middle],
        "tolerance": question.tolerance,
        "mistakes": [[question.at_points(f)[middle], hint] for f, hint in question.mistakes],
        "slips": [[slip[middle], hint] for slip, hint in slips(question, right)],
    }


def offer_forms(app, pagename, templatename, context, doctree) -> None:
    """Give a page with exercises their keys, lightly encoded, and the script that asks."""
    numbers = dict.fromkeys(CALLED.findall(context.get("body") or ""))
    if numbers:
        keys = json.dumps({number: key(number) for number in numbers})
        encoded = base64.b64encode(keys.encode()).decode()
        context["body"] += f'<script type="text/plain" id="wfm-keys">{encoded}</script>'
        app.add_js_file("exercises.js", loading_method="defer")


def main() -> None:
    """List the exercises, or renew the tables of the page for lecturers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print them, and write nothing")
    if parser.parse_args().list:
        for exercise in everywhere():
            print(f"{exercise.chapter}  {exercise.label:22} {exercise.level:20} {exercise.title}")
    else:
        PAGE.write_text(filled(PAGE.read_text()))


if __name__ == "__main__":
    main()
