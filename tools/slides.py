"""Slides: one for every figure of the book, and one for every numbered formula.

One HTML file a page: a lecture is a deck. A figure comes with the question before it, what came of
it and the formulas that the text refers to; the sliders move. A formula comes with the words that
lead to it: these are the steps of a derivation. Opened in any browser, without a server or a
network: the arrow keys turn the pages, and printing gives a PDF of a slide a page.
"""

from __future__ import annotations

import argparse
import base64
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import as_file, files
from pathlib import Path
from string import Template

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tools import bibliography, exercises, numbering
from tools.notebooks import BOOK, BUILD, chapters, executed, without_terms

OUTPUT = BUILD / "slides"
TEMPLATE = Path(__file__).with_name("slides.html")
# With all that it would load by itself, such as \boldsymbol.
MATHJAX = (
    "sphinx-mathjax-offline",
    "static",
    "mathjax",
    "tex-svg-full.js",
)  # \boldsymbol is in it
ASK = "**Predict first.**"
KEYS = "<p>Arrow keys, space and a click on the numbers below turn the pages of a deck.</p>"
ROOM = 400  # characters of text beside a figure: sentences beyond it stay in the book
RUNS_ON = re.compile(r"(?:,? and)?[:,;]*$")  # "the reference, and" a formula

FORMULA = re.compile(r"^\$\$\n(.*?)\n\$\$(?: \((eq-[^)]+)\))?$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(`{3,}|:{3,}|\$\$).*?^\1.*?$", re.MULTILINE | re.DOTALL)
MATH = re.compile(r"\$[^$]+\$")
SENTENCE_END = re.compile(r"(?<=[.!?:)*])(?<!\b(?:App|Fig|Sec)\.)\s+(?=[\"'(*$A-Z])")


@dataclass(frozen=True)
class Slide:
    """A figure, its number and what the chapter says about it; `ask` is the question before it."""

    number: str
    section: str
    ask: str
    figure: str
    alt: str
    comment: str


@dataclass(frozen=True)
class Step:
    """A numbered formula, the sentences that lead to it, and one that goes on from it."""

    label: str
    section: str
    before: str
    after: str


def formulas(book: Path = BOOK) -> dict[str, str]:
    """Return the TeX of every numbered formula, by its label."""
    texts = (chapter.read_text() for chapter in chapters(book))
    return {label: tex for text in texts for tex, label in FORMULA.findall(text) if label}


def paragraphs(source: str) -> Iterator[str]:
    """Yield headings, paragraphs and the labels of formulas of a text cell.

    What else is fenced, listed or a table is left out.
    """
    source = FORMULA.sub(lambda match: f"\n{match[2]}\n" if match[2] else "", source)
    for block in re.split(r"\n{2,}", FENCED.sub("", without_terms(source))):
        lines = [line for line in block.strip().splitlines() if not line.startswith("(sec-")]
        text = " ".join(lines)
        if text and not re.match(r"[-|>]|\d+\. |<!--", text):
            yield text


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph; what stands in one parenthesis is not divided."""
    hidden = MATH.sub(lambda match: "\0" * len(match[0]), text)
    cuts = [
        match.span()
        for match in SENTENCE_END.finditer(hidden)
        if hidden[: match.start()].count("(") == hidden[: match.start()].count(")")
    ]
    begins, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(text)]
    return [text[begin:end] for begin, end in zip(begins, ends, strict=True)]


def lead(text: str, room: int = ROOM) -> str:
    """Return the first sentences of a paragraph, as many as there is room for.

    At least one is told, not counting remarks in parentheses; one that runs on into a formula or
    a list is not.
    """
    every = sentences(text)
    chosen = [text for text in every if text[-1] in ".!?)*"] or [finished(every[0])]
    count = next((k for k, text in enumerate(chosen, start=1) if text[0] != "("), len(chosen))
    while count < len(chosen) and len(" ".join(chosen[: count + 1])) <= room:
        count += 1
    return " ".join(chosen[:count])


def closing(text: str, room: int = ROOM // 2, end: str = ".") -> str:
    """Return the last sentences of a paragraph, at least one: they announce what follows.

    What ran on ends in `end`: in a colon where what it runs on into stands below.
    """
    every = sentences(text)
    count = 1
    while count < len(every) and len(" ".join(every[-count - 1 :])) <= room:
        count += 1
    if count == len(every) > 1 and every[0][0].islower():  # it goes on from a formula
        count -= 1
    return finished(" ".join(every[-count:]), end)


def finished(text: str, end: str = ".") -> str:
    """Return a text that ends in `end` where it led on to something."""
    return text if text[-1] in ".!?)*" else RUNS_ON.sub("", text) + end


def figure_of(cell) -> tuple[str, str]:
    """Return the figure that a code cell shows, as HTML, and its text in words; or two ''.

    Raises
    ------
    ValueError
        If a picture has no alternative text.
    """
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/svg+xml" in data:
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "").strip()
            if not alt:
                raise ValueError(f"a figure without alternative text: {cell.source[-200:]}")
            picture = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
            alt = " ".join(alt.split())
            source = f"data:image/svg+xml;base64,{picture}"
            return f'<img src="{source}" alt="{escape(alt)}">', alt
        html = "".join(data.get("text/html", ""))
        if 'class="wfm-slider"' in html:
            return html, ""  # it says itself what it shows
    return "", ""


def events(notebook) -> Iterator[tuple]:
    """Yield what a chapter holds outside of solutions, by kind and in order.

    Any other output is an event, too: it may be what a question was about.
    """
    for cell, source, label in exercises.parts(notebook):
        if label is None and cell.cell_type == "markdown":
            for text in paragraphs(source):
                if heading := re.fullmatch(r"#{1,6} (.+)", text):
                    yield "heading", heading[1]
                    continue
                if re.fullmatch(r"eq-\S+", text):
                    yield "formula", text
                    continue
                before, _, question = text.partition(ASK)
                if before:
                    yield "text", before.strip()
                if question:
                    yield "ask", question.strip()
        elif label is None and cell.cell_type == "code":
            figure, alt = figure_of(cell)
            if figure:
                name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
                number = numbers().get(name)
                yield "figure", figure, alt, number.spoken if number else ""
            elif cell.get("outputs"):
                yield "output", ""


def slides(notebook) -> list[Slide]:
    """Return a slide for each figure of an executed chapter; those of solutions are left out."""
    return [step for step in story(notebook) if isinstance(step, Slide)]


def story(notebook) -> list[Slide | Step]:
    """Return a slide for each figure and each numbered formula of an executed chapter, in order.

    What a figure shows is told by the paragraph after it or, where another subject begins there,
    by the one before. A question belongs to the next figure, unless the text goes on after
    another output has answered it.
    """
    steps, section, ask, before, answered = [], "", "", "", False
    every = [*events(notebook), ("end", "")]
    for place, (kind, content, *rest) in enumerate(every):
        if kind == "heading":
            section, ask, before, answered = content, "", "", False
        elif kind == "ask":
            ask, answered = content, False
        elif kind == "output":
            answered = True
        elif kind == "text":
            before, ask = content, "" if answered else ask
        elif kind == "formula":
            led = every[place - 1][0] == "text"
            goes = every[place + 1]
            goes = goes[1] if goes[0] == "text" and goes[1][:1].islower() else ""
            introduction = closing(before, end=":") if led else ""
            steps.append(
                Step(content, section, introduction, lead(goes, ROOM // 2) if goes else "")
            )
        elif kind == "figure":
            passed = ("output", "formula")
            after = next(event for event in every[place + 1 :] if event[0] not in passed)
            follows = after[0] == "text" and not after[1].startswith("**")
            comment = lead(after[1]) if follows else closing(before) if before else ""
            alt, number = rest
            steps.append(Slide(number, section, ask, content, alt, comment))
            ask, answered = "", False
    return steps


def admonition(source: str, title: str) -> str:
    """Return the text of an admonition, '' if there is none."""
    match = re.search(rf"^:::\{{admonition\}} {title}\n:class: \w+(.*?)^:::", source, re.M | re.S)
    return " ".join(match[1].split()) if match else ""


def in_html(text: str, known: dict[str, str], below: bool = True) -> str:
    """Return a text of the book as HTML, with the formulas that it refers to below it."""
    named: list[str] = []

    def mark(match: re.Match) -> str:
        if match[1] not in known:
            return "the text"
        if match[1] not in named:
            named.append(match[1])
        return numbers()[match[1]].spoken

    text = re.sub(r"\s*\{cite\}`[^`]*`", "", text)
    text = re.sub(r"\{cite:t\}`([^`]*)`", lambda match: bibliography.in_text(match[1]), text)
    text = re.sub(r"\[\]\(([^)]*)\)", mark, text)
    text = numbering.referred(text, numbers())
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    written = markdown().render(text)
    return written + "".join(displayed(label, known[label]) for label in named if below)


def displayed(label: str, tex: str) -> str:
    """Return a formula with its number as HTML."""
    tex = rf"{tex} \tag{{{numbers()[label]}}}"
    return rf'<div class="formula">\[{escape(tex)}\]</div>'


@cache
def numbers() -> dict[str, numbering.Number]:
    """Return the numbers of the book."""
    return numbering.numbers()


@cache
def markdown() -> MarkdownIt:
    """Return a parser that leaves formulas to MathJax."""
    parser = MarkdownIt("commonmark", {"html": False})
    written = {"allow_labels": False, "renderer": lambda tex, _: rf"\({escape(tex)}\)"}
    return parser.use(dollarmath_plugin, **written)


def page(*blocks: str, kind: str = "") -> str:
    """Return one slide as HTML."""
    return f'<section class="{kind}">\n{"".join(blocks)}\n</section>\n'


def deck(chapter: Path, notebook, known: dict[str, str]) -> tuple[str, str]:
    """Return the slides of an executed page as an HTML page, and what they show, counted.

    The first slide holds the question and answer of the page, the last one what was learned. A
    page without figures and without numbered formulas shows nothing.
    """
    text = without_terms(chapter.read_text())
    title = title_of(chapter, text)
    heading = f"<h1>{inline(title)}</h1>"
    question = admonition(text, "Question and answer") or admonition(text, "Question")
    sections = [page(heading, in_html(question, known), kind="title")]
    every = story(notebook)
    for step in every:
        if isinstance(step, Step) and step.label not in known:
            continue  # not of the book
        if isinstance(step, Step):
            before, after = (
                in_html(text, known, below=False) for text in (step.before, step.after)
            )
            block = before + displayed(step.label, known[step.label]) + after
            sections.append(page(f"<h2>{inline(step.section or title)}</h2>", block, kind="step"))
            continue
        number = f" <small>{step.number}</small>" if step.number else ""
        head = f"<h2>{inline(step.section or title)}{number}</h2>"
        if step.ask:
            ask = in_html(step.ask, known)
            sections.append(page(head, "<p><b>Predict first.</b></p>", ask, kind="ask"))
        words = f"<details><summary>In words</summary><p>{escape(step.alt)}</p></details>"
        comment = in_html(step.comment, known) + (words if step.alt else "")
        block = f'<div class="figure">{step.figure}</div><div class="tell">{comment}</div>'
        sections.append(page(head, block, kind="shown"))
    learned = re.search(
        r"^## (What we learned|What carries over)\n+((?:- .*\n(?:  .*\n)*)+)", text, re.M
    )
    if learned:
        sections.append(page(f"<h2>{learned[1]}</h2>", in_html(learned[2], known), kind="learned"))
    return filled(title=plain(title), body="".join(sections)), counted(every, known)


def counted(every: list[Slide | Step], known: dict[str, str]) -> str:
    """Return how many figures there are or, without any, how many formulas of the book."""
    kinds = {
        "figure": sum(isinstance(step, Slide) for step in every),
        "formula": sum(isinstance(step, Step) and step.label in known for step in every),
    }
    counts = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in kinds.items() if count]
    return counts[0] if counts else ""


def title_of(chapter: Path, text: str) -> str:
    """Return the title of a page with its number."""
    title = re.search(r"^# .+$", text, re.MULTILINE)[0]
    return numbering.titled(title, f"book/{chapter.stem}", numbers()).removeprefix("# ")


def inline(text: str) -> str:
    """Return a heading as HTML."""
    return markdown().renderInline(text)


def plain(text: str) -> str:
    """Return a heading without marks, for the title of a window."""
    return escape(re.sub(r"[*$`]", "", text))


def filled(title: str, body: str) -> str:
    """Return the template with a title and slides."""
    return Template(TEMPLATE.read_text()).substitute(title=title, body=body)


def contents(decks: list[tuple[str, str, str]]) -> str:
    """Return the page that lists the decks: name and title of each, and what it shows."""
    rows = "".join(
        f'<li><a href="{name}.html">{inline(title)}</a>, {count}</li>\n'
        for name, title, count in decks
    )
    body = page("<h1>Wide Flat Minima: the figures</h1>", f"<ul>\n{rows}</ul>", KEYS, kind="title")
    return filled(title="Wide Flat Minima: slides", body=body)


def write(notebooks: dict[Path, nbformat.NotebookNode], output: Path) -> list[Path]:
    """Write a deck for every executed page that shows something, and the page that lists them."""
    output.mkdir(parents=True, exist_ok=True)
    with as_file(files(MATHJAX[0]).joinpath(*MATHJAX[1:])) as script:
        shutil.copyfile(script, output / "mathjax.js")
    known, decks = formulas(), []
    for chapter, notebook in notebooks.items():
        html, count = deck(chapter, notebook, known)
        if count:
            name = "front" if chapter.stem == "index" else chapter.stem
            (output / f"{name}.html").write_text(html)
            decks.append((name, title_of(chapter, chapter.read_text()), count))
    (output / "index.html").write_text(contents(decks))
    return [output / "index.html", *(output / f"{name}.html" for name, _, _ in decks)]


def gathered(selected: list[Path], folder: Path | None) -> dict[Path, nbformat.NotebookNode]:
    """Return executed chapters, from a folder of notebooks or from the last build of the book."""
    notebooks = {}
    for chapter in selected:
        if folder is not None:
            notebook = folder / f"{chapter.stem}.ipynb"
            if notebook.exists():
                notebooks[chapter] = nbformat.read(notebook, as_version=4)
            continue
        try:
            notebooks[chapter] = executed(chapter)
        except KeyError:
            raise SystemExit(
                f"{chapter.name} was not executed since it changed: run `make book`."
            ) from None
    if not notebooks:
        raise SystemExit(f"no executed chapter in {folder}")
    return notebooks


def main() -> None:
    """Write the slides of all chapters that were executed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--notebooks",
        type=Path,
        metavar="FOLDER",
        help="executed chapters (.ipynb) to take the figures from; by default those of the last "
        "build of the book; chapters without a notebook there are left out",
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, help="by default _build/slides")
    arguments = parser.parse_args()
    written = write(gathered(chapters(), arguments.notebooks), arguments.output)
    print(f"{len(written) - 1} decks of slides: {written[0].resolve().as_uri()}")


if __name__ == "__main__":
    main()
