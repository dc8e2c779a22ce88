"""Slides: every figure of a chapter, with its question, its section and what came of it."""

from __future__ import annotations

import re
import subprocess
import sys

import jupytext
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import exercises, notebooks, numbering, slides

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><path d="M0 0L2 1"/></svg>'
SLIDER = '<figure class="wfm-slider"><input type="range" min="0" max="3" value="0"></figure>'
pytestmark = pytest.mark.usefixtures("html")  # whose numbers they carry
CHAPTERS = [one for one in notebooks.chapters() if exercises.of_chapter(one)]
SHOWING = [
    page for pages in exercises.pages() for page in pages if "\n  figure:\n" in page.read_text()
]
TOY = """\
# A toy

:::{admonition} Question and answer
:class: tip
Is it a toy? It is, with $N=1$.
:::

## Counting

$$
Z=1 .
$$

Text between two formulas.

$$
\\phi=\\ln Z<1
$$ (eq-toy)

**Predict first.** Where does [](eq-toy) end, at $\\alpha<1$?

FIGURE

At one (Fig. 2 of A. Nother {cite}`krauth1989storage`; see {numref}`ex-reach` and
[chapter 2](02.md)). This is what
{cite:t}`krauth1989storage` find. The {term}`rest <remainder>` is where

$$
Z=0 .
$$

MOVE

## What we learned

- It is a toy.
- A toy
  it stays.

## Exercises

```{exercise-start} Draw
:label: ex-draw
```
*By code.* Draw it.
```{exercise-end}
```

````{solution-start} ex-draw
:class: dropdown
````
FIGURE
````{solution-end}
````
"""


def figure(alt: str = 'A line, rising to "two".'):
    shown = {"image": {"alt": alt}, "figure": {"name": "fig-toy", "caption": "A line."}}
    cell = new_code_cell("plt.show()", metadata={"mystnb": shown})
    cell.outputs = [new_output("display_data", {"image/svg+xml": SVG})]
    return cell


def slider():
    return new_code_cell(outputs=[new_output("display_data", {"text/html": SLIDER})])


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Return an executed notebook, and the chapter that it is made of."""
    known = {
        "eq-toy": numbering.Number("equation", "1.3"),
        "fig-toy": numbering.Number("figure", "1.1"),
        "book/01_toy": numbering.Number("page", "1"),
        "ex-reach": numbering.Number("exercise", "1.1"),
    }
    monkeypatch.setattr(slides, "numbers", lambda: known)
    chapter = tmp_path / "01_toy.md"
    chapter.write_text(TOY)
    made = {"FIGURE": figure, "MOVE": slider}
    pieces = re.split(r"^(FIGURE|MOVE)$", TOY, flags=re.MULTILINE)
    cells = [made[one]() if one in made else new_markdown_cell(one) for one in pieces]
    return chapter, new_notebook(cells=cells)


def deck(toy) -> str:
    chapter, notebook = toy
    return slides.deck(chapter, notebook, slides.formulas(chapter.parent) | FORMULAS)[0]


FORMULAS = {"eq-toy": r"\phi=\ln Z<1"}


def test_slides_of_a_toy(toy):
    first, second = slides.slides(toy[1])
    assert first.section == second.section == "Counting"
    assert (first.number, second.number) == ("Figure 1.1", "")
    assert first.ask == r"Where does [](eq-toy) end, at $\alpha<1$?"
    assert first.alt == 'A line, rising to "two".'
    assert first.comment.startswith("At one (Fig. 2 of A. Nother")
    assert first.comment.endswith("find.")
    assert second.ask == ""
    assert second.comment.endswith("find. The rest is where.")


def test_deck_of_a_toy(toy):
    html = deck(toy)
    pages = re.findall(r'<section class="(\w+)">(.*?)</section>', html, re.DOTALL)
    kinds = ["title", "step", "ask", "shown", "shown", "learned"]
    assert [kind for kind, _ in pages] == kinds
    title, step, ask, shown, moved, learned = (text for _, text in pages)
    assert "Text between two formulas." in step
    assert r"\[\phi=\ln Z&lt;1 \tag{1.3}\]" in step
    assert "<h1>1. A toy</h1>" in title
    assert r"\(N=1\)" in title
    assert r"at <span" in ask
    assert r"\(\alpha&lt;1\)" in ask
    assert "(1.3)" in ask
    assert r"\[\phi=\ln Z&lt;1 \tag{1.3}\]" in ask
    assert "<h2>Counting <small>Figure 1.1</small></h2>" in shown
    assert "see Exercise 1.1 and chapter 2)" in shown
    assert 'alt="A line, rising to &quot;two&quot;."' in shown
    assert "Krauth and M" in shown
    assert "(1989) find." in shown
    assert SLIDER in moved
    assert learned.count("<li>") == 2
    assert html.count("data:image/svg+xml") == 1, "the figure of the solution is not shown"


def test_question_answered_by_numbers_is_not_put_before_a_figure(toy):
    question = new_markdown_cell("Some text. **Predict first.** How many?")
    printed = new_code_cell(outputs=[new_output("stream", text="4")])
    answer = new_markdown_cell("Four. In a figure:")
    cells = [question, printed, answer, figure()]
    assert slides.slides(new_notebook(cells=cells))[0].ask == ""
    cells = [question, printed, figure(), answer]
    only = slides.slides(new_notebook(cells=cells))[0]
    assert (only.ask, only.comment) == ("How many?", "Four.")


def test_figure_without_words_is_refused(toy):
    toy[1].cells.append(figure(alt=" "))
    with pytest.raises(ValueError, match="without alternative text"):
        slides.slides(toy[1])


def test_formulas_are_paired(toy):
    """A formula without a label does not run on into the next one that has one."""
    chapter, _ = toy
    chapter.write_text(f"---\nkernelspec:\n---\n{TOY}")
    assert slides.formulas(chapter.parent) == FORMULAS
    every = slides.formulas()
    labels = [
        label
        for one in notebooks.chapters()
        for label in re.findall(r"^\$\$ \((eq-[^)]+)\)$", one.read_text(), re.MULTILINE)
    ]
    assert sorted(every) == sorted(labels)
    assert not [label for label, tex in every.items() if "$" in tex or "\n\n" in tex]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("One. Two. Three.", "One. Two."),
        ("(Archived, both.) One. Two. Three.", "(Archived, both.) One."),
        ("One (App. B, and so. On). Two is long.", "One (App. B, and so. On)."),
        ("It is $a. B$ and no more. Two.", "It is $a. B$ and no more."),
        ("In the table:", "In the table."),
        ("One. From here on", "One."),
    ],
)
def test_first_sentences(text, told):
    assert slides.lead(text, room=12) == told


def test_last_sentences():
    assert slides.closing("One. Two. Move it, and see:", room=20) == "Move it, and see."
    assert slides.closing("with $x=1$. A word. See:", room=99) == "A word. See."


def test_words_before_a_formula_lead_to_it():
    """They end in a colon, and not in a conjunction; a sentence that is whole stays."""
    for text, expected in (
        ("Move it. So the overlap is", "So the overlap is:"),
        ("Let $w$ be a *reference*, and", "Let $w$ be a *reference*:"),
        ("The first sum, and the second, gives", "The first sum, and the second, gives:"),
        ("A first sentence of some length. All is told.", "All is told."),
    ):
        assert slides.closing(text, room=20, end=":") == expected


@pytest.mark.parametrize("chapter", SHOWING, ids=lambda path: path.stem)
def test_every_figure_of_a_page_has_its_text(chapter):
    """The page as it stands, with a picture in the place of every figure and slider."""
    notebook, known = jupytext.read(chapter), slides.formulas()
    for cell in notebook.cells:
        if cell.cell_type == "code" and "image" in cell.metadata.get("mystnb", {}):
            cell.outputs = figure().outputs
        elif cell.cell_type == "code" and re.search(r"^display\.slider\(", cell.source, re.M):
            cell.outputs = slider().outputs
    found = slides.slides(notebook)
    outside = [cell for cell, _, label in exercises.parts(notebook) if label is None]
    assert len(found) == sum(bool(cell.get("outputs")) for cell in outside) > 0
    for one in found:
        assert one.section
        assert 20 < len(one.comment) < 900, one
        for text in (one.ask, one.comment):
            html = re.sub(r'<div class="formula">.*?</div>', "", slides.in_html(text, known))
            html = re.sub(r"\\\(.*?\\\)", "", html, flags=re.DOTALL)
            assert not re.search(r"\$|\{cite|\]\(|eq-|\*\*|`", html), html
    questions = re.findall(r"\*\*Predict first\.\*\*", chapter.read_text())
    assert sum(bool(one.ask) for one in found) >= 0.5 * len(questions)
    page = slides.deck(chapter, notebook, known)[0]
    assert 'class="title"' in page
    assert len(page.split('class="title"')[1].split("</section>")[0]) > 100, "no question"


def written(toy, tmp_path) -> str:
    """Write the toy's slides to a folder; return the address of its deck."""
    chapter, notebook = toy
    slides.write({chapter: notebook}, tmp_path / "slides")
    return (tmp_path / "slides" / "01_toy.html").as_uri()


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_numbered_formula_is_a_step(chapter):
    """With words that lead to most of them; those inside of solutions are none."""
    steps = [one for one in slides.story(jupytext.read(chapter)) if isinstance(one, slides.Step)]
    labels = [one for one, number in numbering.numbers().items() if number.kind == "equation"]
    mine = [one for one in labels if f"$$ ({one})" in chapter.read_text()]
    assert [one.label for one in steps] == mine
    assert sum(bool(one.before) for one in steps) > 0.7 * len(steps)


def test_contents_list_the_decks(toy, tmp_path):
    written(toy, tmp_path)
    index = (tmp_path / "slides" / "index.html").read_text()
    assert '<a href="01_toy.html">1. A toy</a>, 2 figures' in index


def run(*arguments):
    command = [sys.executable, "-m", "tools.slides", *map(str, arguments)]
    return subprocess.run(command, cwd=notebooks.ROOT, capture_output=True, text=True, check=False)


def test_command(toy, tmp_path):
    nbformat.write(toy[1], tmp_path / "01_binary_perceptron.ipynb")
    done = run("--notebooks", tmp_path, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 decks of slides: file://")
    names = ["01_binary_perceptron.html", "index.html", "mathjax.js"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    for name in names[:2]:
        page = (tmp_path / "out" / name).read_text()
        assert not re.search(r"(?:src|href)=.(?:https?:)?//", page), "a request to another host"
    assert "--notebooks FOLDER" in run("--help").stdout
    empty = run("--notebooks", tmp_path / "out")
    assert empty.returncode == 1
    assert "no executed chapter" in empty.stderr


def test_chapter_that_was_not_executed_is_named(monkeypatch):
    def executed(chapter):
        raise KeyError

    monkeypatch.setattr(slides, "executed", executed)
    with pytest.raises(SystemExit, match=rf"{CHAPTERS[0].name} was not executed.*make book"):
        slides.gathered(CHAPTERS, None)
