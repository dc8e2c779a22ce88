"""Slides for courses: a deck for each session, from `slides/*.md` with figures of the book.

A deck begins with what its front matter says. Each heading of second level begins a slide; what
follows a line `Note:` is for the speaker. A line `@FIGURE label page@` becomes a figure of an
executed page, and a slider moves as it does there. Formulas, citations and numbers are written as
in the chapters. reveal.js shows the decks, from files as well: S opens the speaker's view.
"""

from __future__ import annotations

import argparse
import re
import shutil
from html import escape
from importlib.resources import as_file, files
from pathlib import Path
from string import Template

import yaml

from tools import bibliography, numbering
from tools.notebooks import BUILD, ROOT
from tools.rendered import MARKDOWN, figure

SOURCES = ROOT / "slides"
OUTPUT = BUILD / "slides"
# With all that it would load by itself, such as \boldsymbol.
MATHJAX = ("sphinx-mathjax-offline", "static", "mathjax", "tex-svg-full.js")
FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
FIGURE = re.compile(r"<p>@FIGURE (\S+) (\S+)@</p>")
LICENCE = "Text and figures CC BY 4.0"


def decks() -> list[Path]:
    """Return the sources of all decks, in the order of the courses."""
    return sorted(SOURCES.glob("*_*.md"))


def about(source: Path) -> dict[str, str]:
    """Return what stands in front of a deck: title, course, minutes, what to read before."""
    return yaml.safe_load(FRONT.match(source.read_text("utf-8"))[1])


def slides(source: Path) -> list[tuple[str, str, str]]:
    """Return title, text and note of each slide of a deck."""
    found, text = [], FRONT.sub("", source.read_text("utf-8"))
    for slide in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, text = slide.partition("\n")
        text, _, note = text.partition("\nNote:")
        found.append((title.strip(), text.strip(), note.strip()))
    return found


def html(text: str, known: dict[str, numbering.Number]) -> str:
    """Return the text of a slide as HTML."""
    text = MARKDOWN.render(bibliography.cited(numbering.referred(text, known)))
    return FIGURE.sub(lambda one: f'<div class="figure">{figure(one[1], one[2])[0]}</div>', text)


def deck(source: Path, known: dict[str, numbering.Number]) -> str:
    """Return a deck as a page."""
    front = about(source)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    small = (
        f"{front['minutes']} minutes. Before: {front['before']}",
        f"From <i>{cited['title']}</i>, version {cited['version']}. {LICENCE}",
    )
    first = f"<section><h1>{front['title']}</h1><p>{front['course']}</p>"
    first += "".join(f"<p><small>{line}</small></p>" for line in small) + "</section>"
    sections = [
        f"<section><h2>{MARKDOWN.renderInline(title)}</h2>{html(text, known)}"
        f'<aside class="notes">{html(note, known)}</aside></section>'
        for title, text, note in slides(source)
    ]
    page = Template((SOURCES / "deck.html").read_text("utf-8"))
    return page.substitute(title=escape(front["title"]), slides="\n".join([first, *sections]))


def write(folder: Path = OUTPUT) -> list[Path]:
    """Write every deck, a list of them and what they need; return the decks."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCES / "reveal", folder / "reveal")
    with as_file(files(MATHJAX[0]).joinpath(*MATHJAX[1:])) as mathjax:
        shutil.copyfile(mathjax, folder / "mathjax.js")
    known, written, links = numbering.numbers(), [], []
    for source in decks():
        front, file = about(source), folder / f"{source.stem}.html"
        name = f"{front['course']}: {front['title']}"
        file.write_text(deck(source, known), "utf-8")
        written.append(file)
        count = len(slides(source)) + 1
        links.append(f'<li><a href="{file.name}">{name}</a> ({count} slides)</li>')
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Slides</title>'
        f"<h1>Slides</h1><ul>{''.join(links)}</ul><p>{LICENCE}.</p></html>\n",
        "utf-8",
    )
    return written


def main() -> None:
    """Write the slides; the book must have been built."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print(f"{len(write())} decks: {(OUTPUT / 'index.html').as_uri()}")


if __name__ == "__main__":
    main()
