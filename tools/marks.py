"""Mark notebooks that students handed in: points, and what each of them is told.

    make marks FOLDER=handed_in        # or: python -m tools.marks handed_in --points points.toml

A folder in FOLDER is a student, and so is a notebook in FOLDER itself. What counts, and for how
much, is the table of points that `make students` wrote beside the handouts: an exercise that is
not in it never counts. Of a notebook the imports, the answer cells and cells that the student
added are run, those that fail passed over. Values that they hand to `exercises.check` are compared
here; what a notebook prints, or says of itself, counts for nothing, and of several answers to an
exercise the last counts. An exercise without a check is listed for a person to read.

Cells run under bubblewrap (`bwrap`): without network, with no file that they can write but their
own, with no other student's work in sight, and nothing that they start outlives them. Where there
is no bubblewrap the command warns: then run it in a container. The package that the notebooks
import knows the right answers, so read what counts for a degree.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nbformat
from tqdm import tqdm

import wfmlib
from tools import answers
from tools.notebooks import BOOK, BUILD
from wfmlib.book.exercises.answers import Function, compare
from wfmlib.book.exercises.table import QUESTIONS

POINTS = BUILD / "points.toml"
RIGHT, NOT_YET, UNANSWERED, REFUSED, READ = "right", "not yet", "not answered", "error", "read"
PROSE_ANSWER = "*Your answer here.*"
# Lines of an empty cell: comments, and the import of the check.
EMPTY = re.compile(r"\s*(?:#.*|from wfmlib\.book import exercises\s*)?")
NUMBER = re.compile(r"\*\*Student number:\*\*(?:\s|&nbsp;)*([\w./@-]*)")
STARTS = 300  # seconds until the first cell
LONGEST = 1 << 20  # characters of what a notebook says
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix/store")
UNSAFE = """\
Warning: {why}. The notebooks run with your rights: they can read and change your files, and leave
processes behind. Install bubblewrap (apt-get install bubblewrap), or run this in a container."""


@dataclass(frozen=True)
class Exercise:
    """An exercise that was handed out: its number, its points, and whether it has a check."""

    number: str
    points: float
    check: bool


@dataclass(frozen=True)
class Mark:
    """What came of an exercise, or of a notebook as a whole.

    Attributes
    ----------
    student, notebook : str
        Whose, and its path in the folder.
    exercise : str
        Its number; empty if this is of the whole notebook.
    verdict : str
        "right", "not yet", "not answered", "error", or "read" where a person has to.
    points, of : float
        Given, and possible.
    said : str
        The hint, or what went wrong.
    """

    student: str
    notebook: str
    exercise: str
    verdict: str
    points: float = 0
    of: float = 0
    said: str = ""


@dataclass(frozen=True)
class Limits:
    """What a notebook may take: seconds for all of its cells, and bytes of address space."""

    seconds: float
    memory: int


# ------------------------------------------------------------------------------------------------
# Notebooks
# ------------------------------------------------------------------------------------------------


def handed_in(folder: Path) -> list[tuple[str, Path]]:
    """Return whose notebooks are in a folder, and where.

    Raises
    ------
    ValueError
        If there are none.
    """
    hidden = {".ipynb_checkpoints", "__pycache__"}
    paths = [path for path in folder.rglob("*.ipynb") if not hidden & set(path.parts)]
    if not paths:
        raise ValueError(
            f"FOLDER must have notebooks (.ipynb) in it, or in folders in it: {folder}"
        )
    return [(Path(path.relative_to(folder).parts[0]).stem, path) for path in sorted(paths)]


def cells_of(notebook) -> list[tuple[str, str, str]]:
    """Return the kind, the label of its exercise and the text of the cells that a student wrote.

    A cell that the student added belongs to the exercise above it.
    """
    cells, current = [], ""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
        labels = [tag for tag in tags if tag.startswith("ex-")]
        current = labels[0] if labels else current
        theirs = "answer" in tags or (cell.cell_type == "code" and (not tags or "setup" in tags))
        if theirs:
            cells.append((cell.cell_type, current, cell.source))
    return cells


def written(cells: list[tuple[str, str, str]], label: str) -> bool:
    """Whether anything stands in the cells of an exercise."""
    texts = [text for kind, of, text in cells if of == label and kind == "markdown"]
    lines = [
        line
        for kind, of, text in cells
        if of == label and kind == "code"
        for line in text.splitlines()
    ]
    return any(text.strip() not in ("", PROSE_ANSWER) for text in texts) or not all(
        EMPTY.fullmatch(line) for line in lines
    )


# ------------------------------------------------------------------------------------------------
# The run
# ------------------------------------------------------------------------------------------------


def sandbox() -> list[str]:
    """Return what is put before a command that runs under bubblewrap.

    It sees the system's programs, this Python and the package, and its own `/tmp`; no more.
    """
    package = Path(wfmlib.__file__).parent
    shown = [
        *SYSTEM,
        sys.prefix,
        sys.base_prefix,
        package,
        answers.__file__,
        results(),
        compiled(),
    ]
    command = ["bwrap", "--proc", "/proc", "--dev", "/dev"]
    command += ["--size", str(1 << 30), "--tmpfs", "/tmp"]
    for path in shown:
        command += ["--ro-bind-try", str(path), str(path)] if path else []
    command += ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return [*command, "--chdir", "/tmp", "--"]


def results() -> str:
    """Return the folder of the archives."""
    return os.environ.get("WFMLIB_RESULTS", str(BOOK / "results"))


def compiled() -> str:
    """Return the folder of what numba has compiled; each notebook has a copy of it."""
    folder = os.environ.get("NUMBA_CACHE_DIR", "")
    return folder if os.path.isdir(folder) else ""


def unsafe() -> str:
    """Return why notebooks cannot run under bubblewrap; "" if they can."""
    if not shutil.which("bwrap"):
        return "there is no bubblewrap (bwrap) here"
    tried = [*sandbox(), sys.executable, "-c", ""]
    done = subprocess.run(tried, capture_output=True, text=True, check=False)
    return f"bubblewrap refuses: {done.stderr.strip()}" if done.returncode else ""


def executed(cells: list[tuple[str, str]], limits: Limits, safe: bool) -> tuple[list[dict], str]:
    """Run cells of code; return what they said, and why the run ended early, if it did."""
    given = {"cells": cells, "memory": limits.memory, "compiled": compiled()}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as said:
        home = "/tmp" if safe else folder
        environment = {
            name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ
        }
        environment |= dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), home)
        environment |= {"NUMBA_CACHE_DIR": f"{home}/numba", "MPLBACKEND": "agg"}
        environment |= {"PYTHONPATH": str(Path(wfmlib.__file__).parent.parent)}
        environment |= {"WFMLIB_RESULTS": results(), "OPENBLAS_NUM_THREADS": "1"}
        command = [*(sandbox() if safe else []), sys.executable, "-P", answers.__file__]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(given).encode())
                process.stdin.close()
            ending = waited(process, said, limits.seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        lines = list(understood(said.read(LONGEST)))
    if not ending and not any("ended" in line for line in lines):
        ending = "its process ended before the last cell, for want of memory or by its own will"
    return lines, ending


def waited(process: subprocess.Popen, said, seconds: float) -> str:
    """Wait until a process has ended; return why it has to be stopped, if it does not.

    What it says goes to a file, not to a pipe, which a process left behind could hold open.
    """
    ends, began = time.monotonic() + STARTS, False
    while process.poll() is None:
        if not began and os.fstat(said.fileno()).st_size:
            ends, began = time.monotonic() + seconds, True
        if time.monotonic() > ends:
            return f"stopped after {seconds:g} s" if began else "not executed: no start"
        time.sleep(0.05)
    return ""


def understood(text: str):
    """Yield what was said; a line that is none of ours is passed over."""
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(said := json.loads(line), dict):
                yield said


# ------------------------------------------------------------------------------------------------
# Marks
# ------------------------------------------------------------------------------------------------


def verdict(noted: dict) -> tuple[str, str]:
    """Compare an answer that was noted; return the verdict and the hint."""
    if "error" in noted:
        return REFUSED, str(noted["error"])
    question = QUESTIONS[noted["exercise"]]
    values = noted.get("values")
    points = question.points if isinstance(question, Function) else (None,)
    if not isinstance(values, list) or len(values) != len(points):
        return REFUSED, "this is no answer"
    value_at = dict(zip(points, values, strict=True))
    answer = value_at.__getitem__ if isinstance(question, Function) else value_at[None]
    try:
        result = compare(noted["exercise"], question, answer)
    except TypeError as error:
        return REFUSED, str(error)
    return (RIGHT, "") if result.right else (NOT_YET, result.said.removeprefix("not yet. "))


def marked(
    student: str,
    path: Path,
    folder: Path,
    handed_out: dict[str, Exercise],
    limits: Limits,
    safe: bool,
) -> tuple[str, list[Mark]]:
    """Return the number of a student, and the marks of one notebook."""
    whose = student, str(path.relative_to(folder))
    try:
        notebook = nbformat.read(path, as_version=4)
        cells = cells_of(notebook)
        texts = [str(cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    except Exception as error:  # whatever a student may save under this name
        said = f"no notebook: {str(error).splitlines()[0][:100]}"
        return "", [Mark(*whose, "", REFUSED, said=said)]
    number = "".join([*(found[1] for text in texts if (found := NUMBER.search(text)))][:1])
    code = [(label, text) for kind, label, text in cells if kind == "code"]
    said, ending = executed(code, limits, safe)
    last = {line["exercise"]: line for line in said if isinstance(line.get("exercise"), str)}
    failed = {str(line.get("label")): str(line["failed"]) for line in said if "failed" in line}
    there = {label for _, label, _ in cells}
    marks = []
    for label, exercise in handed_out.items():
        if label not in there:
            continue
        of = exercise.points
        if exercise.check and exercise.number in last:
            found, hint = verdict(last[exercise.number])
            points = of if found == RIGHT else 0
        elif not exercise.check and written(cells, label):
            found, hint, points = READ, failed.get(label, ""), 0
        else:
            found, hint = (REFUSED, failed[label]) if label in failed else (UNANSWERED, "")
            points = 0
        marks.append(Mark(*whose, exercise.number, found, points, of, hint))
    return number, marks + ([Mark(*whose, "", REFUSED, said=ending)] if ending else [])


def gathered(marks: list[Mark], handed_out: dict[str, Exercise]) -> dict[str, list[Mark]]:
    """Return a mark for each exercise of each student: of several, the last that was answered."""
    students: dict[str, list[Mark]] = {}
    for student in dict.fromkeys(mark.student for mark in marks):
        own = [mark for mark in marks if mark.student == student]
        best: dict[str, Mark] = {}
        for mark in own:
            if mark.exercise and (mark.exercise not in best or mark.verdict != UNANSWERED):
                best[mark.exercise] = mark
        students[student] = [
            best.get(one.number, Mark(student, "", one.number, UNANSWERED, of=one.points))
            for one in handed_out.values()
        ] + [mark for mark in own if not mark.exercise]
    return students


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------


def total(marks: list[Mark], read: list[str]) -> tuple[float, float]:
    """Return the points of a student, and those possible, of the exercises that have a check."""
    own = [mark for mark in marks if mark.exercise and mark.exercise not in read]
    return sum(mark.points for mark in own), sum(mark.of for mark in own)


def feedback(student: str, number: str, marks: list[Mark], read: list[str]) -> str:
    """Return what a student is told, in Markdown."""
    points, of = total(marks, read)
    lines = [f"# {literal(student)} {literal(number)}".rstrip(), ""]
    lines += [f"**{points:g} of {of:g} points**, without the exercises that a person reads.", ""]
    lines += ["| exercise | points | |", "| --- | --- | --- |"]
    for mark in marks:
        if mark.exercise:
            given = "–" if mark.exercise in read else f"{mark.points:g}"
            said = {READ: "a person will read it", REFUSED: "error: "}.get(
                mark.verdict, mark.verdict
            )
            said = ". ".join(filter(None, [said, literal(mark.said)])).replace(": . ", ": ")
            lines.append(f"| {mark.exercise} | {given} of {mark.of:g} | {said} |")
    lines += [
        f"\n{literal(mark.notebook)}: {literal(mark.said)}." for mark in marks if not mark.exercise
    ]
    return "\n".join(lines) + "\n"


def literal(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    return re.sub(
        r"([\\`*_{}\[\]|#$!])", r"\\\1", html.escape(" ".join(text.split()), quote=False)
    )


def write(
    students: dict[str, list[Mark]],
    numbers: dict[str, str],
    read: list[str],
    output: Path,
    title: str,
) -> None:
    """Write the marks, the files for Moodle and Canvas, and the feedback."""
    every = [mark for marks in students.values() for mark in marks]
    shutil.rmtree(output / "feedback", ignore_errors=True)
    (output / "feedback").mkdir(parents=True)
    for student, marks in students.items():
        text = feedback(student, numbers[student], marks, read)
        (output / "feedback" / f"{student}.md").write_text(text, "utf-8")
    sums = {student: total(marks, read) for student, marks in students.items()}
    possible = max((of for _, of in sums.values()), default=0)
    columns = ["student", "notebook", "exercise", "verdict", "points", "of", "said"]
    table = [[getattr(mark, name) for name in columns] for mark in every]
    save(output / "marks.csv", [columns, *table])
    # Moodle: Grades, Import, CSV file; map "ID number" to "ID number".
    header = ["ID number", "Full name", title, "Feedback comments"]
    said = {student: f"{given:g} of {of:g} points" for student, (given, of) in sums.items()}
    rows = [[numbers[name], name, given, said[name]] for name, (given, _) in sums.items()]
    save(output / "moodle.csv", [header, *rows])
    # Canvas: Grades, Import; it knows students by "SIS User ID", or else by name.
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    rows = [[name, "", numbers[name], "", "", given] for name, (given, _) in sums.items()]
    save(output / "canvas.csv", [header, ["    Points Possible", *[""] * 4, possible], *rows])


def save(path: Path, rows: list[list]) -> None:
    """Write a CSV file that a spreadsheet takes for text: nothing in it is a formula."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [f"'{cell}" if str(cell)[:1] in {*"=+-@"} else cell for cell in row] for row in rows
        )


def table(students: dict[str, list[Mark]], numbers: dict[str, str]) -> str:
    """Return a line a student, what a person has to read, and whose number is missing."""
    verdicts = (RIGHT, NOT_YET, UNANSWERED, REFUSED, READ)
    width = max(map(len, ["student", *students]))
    lines = [f"{'student':{width}}  " + "  ".join(verdicts)]
    for student, own in students.items():
        counts = [sum(bool(m.exercise) and m.verdict == one for m in own) for one in verdicts]
        cells = "  ".join(f"{n:{len(one)}}" for n, one in zip(counts, verdicts, strict=True))
        ending = "; ".join(f"{m.notebook}: {m.said}" for m in own if not m.exercise)
        lines.append(f"{student:{width}}  {cells}  {ending}".rstrip())
    read: dict[str, list[str]] = {}
    for mark in (mark for marks in students.values() for mark in marks if mark.verdict == READ):
        read.setdefault(mark.exercise, []).append(mark.notebook)
    lines += [f"To be read: {number} in {', '.join(where)}" for number, where in read.items()]
    given = list(numbers.values())
    for student, number in numbers.items():
        if not number or given.count(number) > 1:
            lines.append(f"{student}: {'no number' if not number else f'not alone with {number}'}")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Mark all notebooks of a folder; return 1 if one could not be executed to its end."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=__doc__[__doc__.index("A folder in") :]
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--points", type=Path, default=POINTS, help="by default _build/points.toml"
    )
    parser.add_argument("--output", type=Path, help="a folder, by default FOLDER-marks")
    parser.add_argument("--title", help="of the grade in Moodle and Canvas, by default FOLDER")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a notebook (600)")
    parser.add_argument("--memory", type=float, default=8.0, help="GB a notebook may take (8)")
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time (1)")
    options = parser.parse_args(argv)
    for name in ("timeout", "memory", "jobs"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name} must be positive, not {getattr(options, name):g}")
    if not options.folder.is_dir():
        parser.error(f"FOLDER must be a folder, not {options.folder}")
    if not options.points.is_file():
        parser.error(f"no table of points, {options.points}: `make students` writes it")
    handed_out = {
        label: Exercise(one["number"], one["points"], one["check"])
        for label, one in tomllib.loads(options.points.read_text("utf-8")).items()
    }
    unknown = {one.number for one in handed_out.values() if one.check} - {*QUESTIONS}
    if unknown:
        parser.error(f"{options.points}: no check of {', '.join(sorted(unknown))}")
    try:
        work = handed_in(options.folder)
    except ValueError as error:
        parser.error(str(error))
    if why := unsafe():
        print(UNSAFE.format(why=why), file=sys.stderr)

    mark_notebook = partial(
        marked,
        folder=options.folder,
        handed_out=handed_out,
        limits=Limits(options.timeout, int(options.memory * 1e9)),
        safe=not why,
    )
    with ThreadPoolExecutor(options.jobs) as pool:
        run = pool.map(mark_notebook, *zip(*work, strict=True))
        done = list(tqdm(run, total=len(work), unit="notebook"))
    marks = [mark for _, own in done for mark in own]
    numbers = dict.fromkeys((student for student, _ in work), "")
    for (student, _), (number, _) in zip(work, done, strict=True):
        numbers[student] = numbers[student] or number
    students = gathered(marks, handed_out)
    folder = options.folder.resolve()
    output = options.output or folder.with_name(f"{folder.name}-marks")
    read = [one.number for one in handed_out.values() if not one.check]
    write(students, numbers, read, output, options.title or folder.name)
    print(table(students, numbers))
    print(output)
    return int(any(not mark.exercise for mark in marks))


if __name__ == "__main__":
    sys.exit(main())
