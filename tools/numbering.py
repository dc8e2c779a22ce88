"""The numbers of the pages in plain Markdown: for notebooks, slides and the tables of exercises.

Sphinx numbers chapters, lectures, equations, figures, tables and exercises; the build notes what
came of it (`tools/chapters.py`). A reader of notebooks resolves no reference and would count each
notebook from one, so the numbers are written into their text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from nbformat.v4 import new_markdown_cell

ROOT = Path(__file__).resolve().parent.parent
NOTED = ROOT / "_build" / "numbers.json"

LETTER = re.compile(r"^# (?:Appendix )?([A-Z])\. ", re.MULTILINE)
EQUATION = re.compile(r"^\$\$\n(.*?)\n\$\$(?: \(([^)\s]+)\))?$", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"^(`{3,})\{exercise-start\} ([^\n]+)\n:label: (\S+)\n\1$", re.MULTILINE)
EXERCISE_LABEL = re.compile(r"^:label: (ex-\S+)$", re.MULTILINE)
SOLUTION = re.compile(r"^(`{3,})\{solution-start\} (\S+)\n(?::.*\n)*\1$", re.MULTILINE)
TABLE = re.compile(
    r"^(`{3,})\{table\} ([^\n]+)\n:name: (\S+)\n\n(.*?)\n\1$", re.MULTILINE | re.DOTALL
)
ADMONITION = re.compile(
    r"^(:{3,}|`{3,})\{(?:admonition|note|tip|warning|important)\} ?([^\n]*)\n"
    r"((?::[^\n:]*:[^\n]*\n)*)(.*?)^\1$",
    re.MULTILINE | re.DOTALL,
)
END = re.compile(r"^(`{3,})\{(?:exercise|solution)-end\}\n\1\n*", re.MULTILINE)
REFERENCE = re.compile(r"\{numref\}`([^`]+)`|\[\]\(((?:eq|ex|fig|tab)-[^)]+)\)")


@dataclass(frozen=True)
class Number:
    """The number of something, and its kind."""

    kind: str
    number: str

    def __str__(self) -> str:
        return self.number

    @property
    def spoken(self) -> str:
        """What a reference in running text says: "Figure 2.3", or "(2.3)" of an equation."""
        return f"({self})" if self.kind == "equation" else f"{self.kind.capitalize()} {self}"


def numbers(noted: Path = NOTED) -> dict[str, Number]:
    """Return the numbers of the book by label; those of chapters and lectures by page."""
    if not noted.exists():
        raise SystemExit("The numbers of the book are those of its pages: run `make book`.")
    return {name: Number(*parts) for name, parts in json.loads(noted.read_text("utf-8")).items()}


def pages(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield the pages in the order of the contents, and the chapter of each.

    Chapters of a numbered part are counted through the parts. Another page may have a letter in
    its title, ``# Appendix A. What the papers print``, which pages below it share. The chapter is
    "" where there is neither.
    """
    contents = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    yield contents["root"], ""
    count = 0
    for part in contents["parts"]:
        for entry in part["chapters"]:
            count += bool(part.get("numbered"))
            letter = LETTER.search((root / f"{entry['file']}.md").read_text("utf-8"))
            chapter = str(count) if part.get("numbered") else letter[1] if letter else ""
            for page in (entry, *entry.get("sections", ())):
                yield page["file"], chapter


def chapters(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the pages of every chapter in their order, by its number or letter.

    The first one is the chapter in short; the others are lectures.
    """
    by_chapter: dict[str, list[str]] = {}
    for page, chapter in pages(root):
        if chapter:
            by_chapter.setdefault(chapter, []).append(page)
    return by_chapter


def referred(text: str, known: dict[str, Number]) -> str:
    """Return a text with its references in words: "Figure 2.3", or "(2.3)" of an equation."""
    return REFERENCE.sub(lambda match: known[match[1] or match[2]].spoken, text)


def titled(text: str, page: str, known: dict[str, Number]) -> str:
    """Return the text of a page, or of its first cell, with the page's number in its title."""
    return re.sub(r"^# ", f"# {known[page]}. ", text, count=1) if page in known else text


def plain(text: str, known: dict[str, Number]) -> str:
    """Return a text in Markdown that any reader of notebooks shows, with the book's numbers."""

    def equation(match: re.Match) -> str:
        tag = f"\\tag{{{known[match[2]]}}}\n" if match[2] else ""
        return f"$$\n{match[1]}\n{tag}$$"

    def quote(match: re.Match) -> str:
        title, text = match[2].rstrip("."), match[4].strip()
        if "dropdown" in match[3]:
            return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
        text = f"**{title}.**\n\n{text}"
        return "\n".join(f"> {line}".rstrip() for line in text.splitlines())

    text = ADMONITION.sub(quote, EQUATION.sub(equation, text))
    text = EXERCISE.sub(lambda match: f"**{known[match[3]].spoken}. {match[2]}**\n", text)
    text = TABLE.sub(lambda m: f"**{known[m[3]].spoken}.** {m[2]}\n\n{m[4]}", text)
    text = SOLUTION.sub(lambda match: f"**Solution of {known[match[2]].spoken}**\n", text)
    return referred(END.sub("\n", text), known).strip("\n")


def captioned(cells: list, known: dict[str, Number]) -> Iterator:
    """Yield the cells of a notebook, and after each that shows a figure one with its caption."""
    for cell in cells:
        yield cell
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            number = known.get(figure["name"])
            caption = " ".join(figure["caption"].split())
            if number:  # a page without a number has figures without one
                caption = f"**{number.spoken}.** {caption}"
            yield new_markdown_cell(caption, id=figure["name"], metadata={"tags": ["caption"]})
