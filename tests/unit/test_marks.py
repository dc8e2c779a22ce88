"""The marking run: the answers count, not what a notebook prints; no notebook ends the run."""

from __future__ import annotations

import csv

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import marks
from wfmlib.book.exercises.answers import Function
from wfmlib.book.exercises.table import QUESTIONS

NUMBER = next(one for one, asked in QUESTIONS.items() if not isinstance(asked, Function))
FUNCTION = next(one for one, asked in QUESTIONS.items() if isinstance(asked, Function))
IMPORT = "from wfmlib.book import exercises"
RIGHT = f"exercises.check({NUMBER!r}, {QUESTIONS[NUMBER].right()!r})"
TAKEN = "from wfmlib.book.exercises.table import QUESTIONS"
BOTH = [
    IMPORT,
    TAKEN,
    f"exercises.check({FUNCTION!r}, lambda x: QUESTIONS[{FUNCTION!r}].right(x))",
    RIGHT,
]
PRINTED = f"Exercise {NUMBER}: right."

#: The cells of each notebook, and the verdicts on both exercises and on the whole.
CASES = {
    "right": (BOTH, ["right", "right"]),
    "last": ([IMPORT, RIGHT, f"exercises.check({NUMBER!r}, 1e9)"], ["not yet"]),
    "silent": ([IMPORT, f"# {RIGHT}"], ["not answered"]),
    "raising": ([IMPORT, "1 / 0", RIGHT], ["right"]),
    "word": ([IMPORT, f"exercises.check({NUMBER!r}, 'many')"], ["error"]),
    "exits": ([IMPORT, "import sys; sys.exit(0)", RIGHT], ["right"]),
    "dies": ([IMPORT, RIGHT, "import os; os._exit(0)"], ["right", "whole"]),
    "endless": ([IMPORT, RIGHT, "import time; time.sleep(1e6)"], ["right", "whole"]),
    "greedy": ([IMPORT, "x = bytearray(1 << 45)", RIGHT], ["right"]),
    "printed": ([IMPORT, f"print({PRINTED!r})", f"# {RIGHT}"], ["not answered"]),
    "own": (
        [IMPORT, "class exercises:\n    check = staticmethod(lambda *_: 'right')", RIGHT],
        ["not answered"],
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All cases, each by a student, one of them in a folder of his own; and no notebook."""
    made = tmp_path_factory.mktemp("handed_in")
    for name, (cells, _) in CASES.items():
        path = made / name / "01.ipynb" if name == "right" else made / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), path)
    (made / "broken.ipynb").write_text("{")
    return made


@pytest.fixture(scope="module")
def rows(folder):
    """What a run over all of them writes."""
    assert marks.main([str(folder), "--timeout", "15", "--memory", "64", "--jobs", "3"]) == 1
    with (folder / "marks.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", CASES)
def test_answers_count_and_nothing_else(rows, name):
    own = [row for row in rows if row["student"] == name]
    verdicts = [row["verdict"] if row["exercise"] else "whole" for row in own]
    assert sorted(verdicts) == sorted(CASES[name][1]), own


def test_what_went_wrong_is_said(rows):
    said = {row["student"]: row["said"] for row in rows if not row["exercise"]}
    assert set(said) == {"broken", "dies", "endless"}
    assert said["broken"].startswith("no notebook")
    assert "died" in said["dies"]
    assert said["endless"] == "stopped after 15 s"


def test_hint_is_that_of_the_check(rows):
    (row,) = [row for row in rows if row["student"] == "last"]
    assert row["said"].startswith("It is none of the usual mistakes")


def test_exercises_that_were_asked_have_a_row_each(tmp_path):
    nbformat.write(new_notebook(), tmp_path / "empty.ipynb")
    assert marks.main([str(tmp_path), "--exercises", NUMBER, FUNCTION]) == 0
    with (tmp_path / "marks.csv").open(encoding="utf-8") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["not answered"] * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "FOLDER must be a folder, not nowhere"),
        (["."], "FOLDER must have notebooks"),
        ([".", "--timeout", "0"], "--timeout must be positive, not 0"),
        ([".", "--exercises", "99.1"], "--exercises must be of"),
    ],
)
def test_arguments_are_refused_by_name(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        marks.main(arguments)
    assert said in capsys.readouterr().err


def test_no_cell_of_the_table_is_a_formula(tmp_path):
    marks.write([marks.Mark("=1+1", "a.ipynb", NUMBER, "right")], tmp_path / "marks.csv")
    assert "'=1+1," in (tmp_path / "marks.csv").read_text("utf-8")
