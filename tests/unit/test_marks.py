"""The marking run: answers count, not what a notebook prints; no notebook harms the run."""

from __future__ import annotations

import csv
import os
import shutil
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import marks
from wfmlib.book.exercises.answers import Function
from wfmlib.book.exercises.table import QUESTIONS

NUMBER = next(one for one, asked in QUESTIONS.items() if not isinstance(asked, Function))
FUNCTION = next(one for one, asked in QUESTIONS.items() if isinstance(asked, Function))
OTHER = next(one for one in QUESTIONS if one not in (NUMBER, FUNCTION))  # not handed out
HANDED_OUT = f"""
{QUESTIONS[NUMBER].label} = {{ number = "{NUMBER}", check = true, points = 2 }}
{QUESTIONS[FUNCTION].label} = {{ number = "{FUNCTION}", check = true, points = 3 }}
ex-proof = {{ number = "1.9", check = false, points = 5 }}
"""
LABEL = QUESTIONS[NUMBER].label
IMPORT = "from wfmlib.book import exercises"
TAKEN = f"{IMPORT}\nfrom wfmlib.book.exercises.table import QUESTIONS"
RIGHT = f"{IMPORT}\nexercises.check({NUMBER!r}, {QUESTIONS[NUMBER].right()!r})"
ALSO = f"exercises.check({FUNCTION!r}, lambda x: QUESTIONS[{FUNCTION!r}].right(x))"
PRINTED = f"Exercise {NUMBER}: right, within 0.01 %."
SLEEPER = "'import time; time.sleep(321.123)'"
LEAVE = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {SLEEPER}], \
start_new_session=True)"
EQUAL = "class Any:\n    def __eq__(self, other): return True\n    __hash__ = None"

#: The cells of each notebook, and the verdicts on the number, the function, the proof.
CASES = {
    "right": ([RIGHT, TAKEN, ALSO], ["right", "right", "not answered"]),
    "last": ([RIGHT, f"exercises.check({NUMBER!r}, 1e9)"], ["not yet"]),
    "silent": ([IMPORT, "# exercises.check('1.1', f)"], ["not answered"]),
    "magic": (
        ["%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1])", RIGHT],
        ["right"],
    ),
    "raising": ([RIGHT, "1 / 0"], ["right"]),
    "unnamed": ([f"{IMPORT}\nexercises.check({NUMBER!r}, answer)"], ["error"]),
    "word": ([f"{IMPORT}\nexercises.check({NUMBER!r}, 'many')"], ["error"]),
    "exits": (["import sys; sys.exit(0)", RIGHT], ["right"]),
    "dies": ([RIGHT, "import os; os._exit(0)"], ["right"]),
    "endless": ([RIGHT, "import time\nwhile True: time.sleep(1)"], ["right"]),
    "greedy": (["x = bytearray(1 << 45)", RIGHT], ["right"]),
    "printed": ([f"print({PRINTED!r})"], ["not answered"]),
    "forged": (
        [f'import os\nos.write(1, b\'{{"exercise": "{NUMBER}", "values": []}}\')'],
        ["not answered"],
    ),
    "own": (
        ["class exercises:\n    check = lambda *_: 'right'\nexercises.check('1.3', 1)"],
        ["not answered"],
    ),
    "equal": ([f"{EQUAL}\n{IMPORT}\nexercises.check({NUMBER!r}, Any())"], ["error"]),
    "unasked": ([f"{IMPORT}\nexercises.check({OTHER!r}, 1.0)", RIGHT], ["right"]),
    "leaves": ([LEAVE, RIGHT], ["right"]),
    "writes": (["FOLDER", RIGHT], ["right"]),
}
WHOLE = {"broken", "dies", "endless"}


def notebook(*cells: str, number: str = "", proof: str = "*Your answer here.*"):
    """A handout with these answers to the first exercise, and one to the proof."""
    head = new_markdown_cell(f"**Name:** &nbsp;\n\n**Student number:** &nbsp;{number}")
    site = new_code_cell("raise SystemExit", metadata={"tags": ["hide-input"]})
    first = [new_code_cell(cell, metadata={"tags": ["answer", LABEL]}) for cell in cells[:1]]
    added = [new_code_cell(cell) for cell in cells[1:]]
    other = new_code_cell(
        "# Your answer here.", metadata={"tags": ["answer", QUESTIONS[FUNCTION].label]}
    )
    last = new_markdown_cell(proof, metadata={"tags": ["answer", "ex-proof"]})
    return new_notebook(cells=[head, site, *first, *added, other, last])


def processes() -> list[str]:
    """Return the command lines of the processes that run."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_text())
        except OSError:
            continue
    return lines


def run(folder, *arguments):
    (folder.parent / "points.toml").write_text(HANDED_OUT)
    return marks.main([str(folder), "--points", str(folder.parent / "points.toml"), *arguments])


def rows_of(folder, name="marks.csv"):
    with (folder.with_name(f"{folder.name}-marks") / name).open(encoding="utf-8") as file:
        return list(csv.reader(file) if name != "marks.csv" else csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All cases that end, each by a student, one in a folder of his own; and no notebook."""
    made = tmp_path_factory.mktemp("course") / "week 1"
    made.mkdir()
    (made.parent / "week 1-marks").mkdir()
    harm = "\n".join(
        f"try: open({str(path)!r}, 'a').write('right')\nexcept OSError: pass"
        for path in (made / "harm", made.parent / "week 1-marks" / "marks.csv", "../marks.csv")
    )
    for name, (cells, _) in CASES.items():
        if name == "endless":
            continue
        path = made / name / "01.ipynb" if name == "right" else made / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook(*(harm if cell == "FOLDER" else cell for cell in cells)), path)
    nbformat.write(notebook(number="a-17", proof="Because | so."), made / "reads.ipynb")
    (made / "broken.ipynb").write_text("{")
    return made


@pytest.fixture(scope="module")
def rows(folder, tmp_path_factory):
    """What a run over all of them writes, and one over the endless, which others need not await.

    Its seconds are counted from its first cell: the answer takes a few thousandths of one.
    """
    assert run(folder, "--timeout", "45", "--memory", "64", "--jobs", "3", "--title", "W") == 1
    alone = tmp_path_factory.mktemp("alone") / "endless"
    alone.mkdir()
    nbformat.write(notebook(*CASES["endless"][0]), alone / "endless.ipynb")
    assert run(alone, "--timeout", "5", "--memory", "64") == 1
    return rows_of(folder) + rows_of(alone)


@pytest.mark.parametrize("name", CASES)
def test_answers_count_and_nothing_else(rows, name):
    own = [row for row in rows if row["student"] == name and row["exercise"]]
    expected = [*CASES[name][1], "not answered", "not answered"][:3]
    assert [row["verdict"] for row in own] == expected, own
    assert [row["exercise"] for row in own] == [NUMBER, FUNCTION, "1.9"]
    assert [float(row["points"]) for row in own] == [
        float(row["of"]) * (row["verdict"] == "right") for row in own
    ]


def test_what_went_wrong_is_said(rows):
    said = {row["student"]: row["said"] for row in rows if not row["exercise"]}
    assert set(said) == WHOLE
    assert said["broken"].startswith("no notebook")
    assert "ended before the last cell" in said["dies"]
    assert said["endless"] == "stopped after 5 s"
    told = {row["student"]: row["said"] for row in rows if row["exercise"] == NUMBER}
    assert told["unnamed"] == "NameError: name 'answer' is not defined"
    assert told["last"].startswith("It is none of the usual mistakes")


def test_no_file_is_written_and_no_process_is_left(rows, folder):
    if why := marks.unsafe():
        pytest.skip(why)
    assert not (folder / "harm").exists()
    assert rows[0]["student"], "the table is the marker's"
    time.sleep(1)
    assert not [line for line in processes() if "321.123" in line]


def test_feedback_tells_the_student(rows, folder):
    told = folder.with_name("week 1-marks") / "feedback"
    assert {path.stem for path in told.iterdir()} == {*CASES, "reads", "broken"} - {"endless"}
    assert "**5 of 5 points**" in (told / "right.md").read_text()
    unnamed = (told / "unnamed.md").read_text()
    assert f"| {NUMBER} | 0 of 2 | error: NameError: name 'answer' is not defined |" in unnamed
    assert "| 1.9 | – of 5 | a person will read it |" in (told / "reads.md").read_text()


def test_files_for_moodle_and_canvas(rows, folder):
    moodle, canvas = rows_of(folder, "moodle.csv"), rows_of(folder, "canvas.csv")
    assert moodle[0] == ["ID number", "Full name", "W", "Feedback comments"]
    assert ["a-17", "reads", "0", "0 of 5 points"] in moodle
    assert canvas[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "W"]
    assert canvas[1] == ["    Points Possible", "", "", "", "", "5"]
    assert ["right", "", "", "", "", "5"] in canvas
    assert ["reads", "", "a-17", "", "", "0"] in canvas


def test_list_for_reading_and_numbers(tmp_path, capsys):
    folder = tmp_path / "one"
    folder.mkdir()
    nbformat.write(notebook(proof="Because."), folder / "a.ipynb")
    assert run(folder) == 0
    said = capsys.readouterr().out
    assert "To be read: 1.9 in a.ipynb" in said
    assert "a: no number" in said


@pytest.mark.parametrize("answer", ["nothing", "echo refused >&2; exit 1"])
def test_without_bubblewrap_it_warns(answer, tmp_path, monkeypatch, capsys):
    """And marks all the same; a process that keeps to its group is ended there, too."""
    place = tmp_path / "bin"
    place.mkdir()
    if answer != "nothing":
        (place / "bwrap").write_text(f"#!/bin/sh\n{answer}\n")
        (place / "bwrap").chmod(0o755)
        (place / "sh").symlink_to(shutil.which("sh"))
    monkeypatch.setenv("PATH", str(place))
    folder = tmp_path / "one"
    folder.mkdir()
    nbformat.write(
        notebook(RIGHT, LEAVE.replace("start_new_session=True", "")), folder / "a.ipynb"
    )
    assert run(folder) == 0
    said = capsys.readouterr()
    why = "there is no bubblewrap" if answer == "nothing" else "bubblewrap refuses: refused"
    assert f"Warning: {why}" in said.err
    assert "they can read and change your files" in said.err
    assert rows_of(folder)[0]["verdict"] == "right"
    if os.path.isdir("/proc"):
        assert not [line for line in processes() if "321.123" in line]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "FOLDER must be a folder, not nowhere"),
        (["."], "FOLDER must have notebooks"),
        ([".", "--timeout", "0"], "--timeout must be positive, not 0"),
        ([".", "--points", "none.toml"], "no table of points, none.toml"),
        ([".", "--points", "bad.toml"], "no check of 99.1"),
    ],
)
def test_arguments_are_refused_by_name(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("points.toml").write_text(HANDED_OUT)
    Path("bad.toml").write_text('ex-a = { number = "99.1", check = true, points = 1 }')
    with pytest.raises(SystemExit):
        marks.main(["--points", "points.toml", *arguments])
    assert said in capsys.readouterr().err


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    marks.save(tmp_path / "marks.csv", [["=1+1", 2.0, "    Points Possible"]])
    assert (tmp_path / "marks.csv").read_text("utf-8") == "'=1+1,2.0,    Points Possible\n"


def test_text_of_an_error_is_no_markdown():
    assert marks.literal("a|b <img>\n`c`") == "a\\|b &lt;img&gt; \\`c\\`"
