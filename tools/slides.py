"""Slides for courses: a deck for each session, from `slides/*.md` with figures of the book.

A deck begins with what its front matter says. Each heading of second level begins a slide; what
follows a line `Note:` is for the speaker. A line `@FIGURE label page@` becomes a figure of an
executed page, and a slider moves as it does there. `@FIGURE label page 2@` shows the second row of
panels alone, which fills a slide better. Formulas, citations and numbers are written as in the
chapters. reveal.js shows the decks, from files as well: S opens the speaker's view.
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
FIGURE = re.compile(r"<p>@FIGURE (\S+) (\S+)(?: (\d))?@</p>")
LICENCE = "Text and figures CC BY 4.0"
AXES = re.compile(r'^  <g id="axes_\d+">\n.*?^  </g>', re.MULTILINE | re.DOTALL)
FRAME = re.compile(  # its bottom, its top
    r'  <g id="axes_\d+">\n   <g id="patch_\d+">\n    <path d="'
    r"M \S+ (\S+) \nL \S+ \S+ \nL \S+ (\S+) "
)
LINE = re.compile(r"translate\(\S+ (\S+)\) scale\(\S+ -")  # the height of a text that lies flat
BESIDE = re.compile(  # a label of all rows, upright
    r'(^  <g id="text_\d+">\n(?:(?!^  </g>).*\n)*?.*translate\(\S+ )(\S+)(?=\) rotate\(-90\))',
    re.MULTILINE,
)
IDENTIFIER = re.compile(r'(id="|href="#|url\(#)([\w.]+)')


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


def panel(svg: str, row: int, name: str) -> str:
    """Return one row of the panels of a figure, with the legend and the axis that rows share."""
    width, high = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
    rows: dict[int, tuple[float, float, list[float], str]] = {}
    for axes in AXES.findall(svg):
        lines = [float(y) for y in LINE.findall(axes)]
        frame = FRAME.match(axes)  # none around a drawing, which its title and names enclose
        bottom, top = map(float, frame.groups()) if frame else (max(lines) + 2.5, min(lines) - 9)
        rows[round(top)] = (min([top, *(y - 9 for y in lines)]), bottom, lines, axes)
    shown = [rows[top] for top in sorted(rows)]
    above, bottom, lines, axes = shown[row - 1]
    last = shown[-1]

    def below(bottom: float, lines: list[float]) -> list[float]:
        heights = sorted(y for y in lines if y > bottom + 6)
        return [y for i, y in enumerate(heights) if not i or y > heights[i - 1] + 4]

    own, all_ = below(bottom, lines), below(last[1], last[2])
    header = re.search(r'^  <g id="legend_', svg, re.MULTILINE) and "legend_" not in axes
    parts = [(0.0, shown[0][0] - 2)] if row > 1 and header else []
    if row == len(shown):
        parts.append((above - 2, high))
    else:
        end = max([bottom + 1.5, *(y + 3.5 for y in own)])
        if not FRAME.search(svg):
            end = max(end, shown[row][0] - 2)
        parts.append((above - 2 if row > 1 else 0.0, end))
        if len(own) < len(all_):  # the rows share an axis, or its label
            parts.append((all_[len(own) - 1] + 3.5 if own else last[1] + 1.5, high))
    inside = svg[svg.index("<defs>") : svg.rindex("</svg>")]
    middle = (shown[0][0] + last[1] - above - bottom) / 2
    inside = BESIDE.sub(lambda one: f"{one[1]}{float(one[2]) - middle:.3f}", inside)
    inside = IDENTIFIER.sub(rf"\1{name}-\2", inside)
    placed, y = [], 0.0
    for number, (start, end) in enumerate(parts):
        what = f'<use href="#{name}"/>' if number else f'<g id="{name}">{inside}</g>'
        view = f'viewBox="0 {start:.1f} {width:g} {end - start:.1f}"'
        placed.append(f'<svg y="{y:.1f}" width="{width:g}" height="{end - start:.1f}" {view}>')
        placed.append(f"{what}</svg>")
        y += end - start
    return f'<svg viewBox="0 0 {width:g} {y:.1f}">{"".join(placed)}</svg>'


def drawn(label: str, page: str, row: str | None) -> str:
    """Return a figure of a slide, or one row of its panels."""
    svg = figure(label, page)[0]
    svg = panel(svg, int(row), f"{label}-{row}") if row else svg
    return f'<div class="figure">{svg}</div>'


def html(text: str, known: dict[str, numbering.Number]) -> str:
    """Return the text of a slide as HTML."""
    text = MARKDOWN.render(bibliography.cited(numbering.referred(text, known)))
    return FIGURE.sub(lambda one: drawn(*one.groups()), text)


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
    cite = f"<p><small>Cite: {cited['authors'][0]['name']}, {small[1].removeprefix('From ')}, "
    cite += "together with the papers that it reproduces.</small></p>"
    found = slides(source)
    sections = [
        f"<section><h2>{MARKDOWN.renderInline(title)}</h2>{html(text, known)}"
        f"{cite if number == len(found) else ''}"
        f'<aside class="notes">{html(note, known)}</aside></section>'
        for number, (title, text, note) in enumerate(found, start=1)
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
