"""Mark notebooks that students handed in: which exercises did each answer, and how?

    make marks FOLDER=handed_in        # or: python -m tools.marks handed_in --output marks.csv

A folder in FOLDER is a student, and so is a notebook in FOLDER itself. Each notebook is executed
in a kernel of its own, in a folder of its own, with a limit on time and memory. Cells that fail
are passed over. The answers that it hands to `exercises.check` are noted there, functions at the
points of the exercise, and are compared here: what a notebook prints, or says of itself, counts
for nothing. Of several answers to an exercise the last counts.

The notebooks' code runs with the rights of who calls this command, and the package that they
import knows the right answers. Mark the work of people that you do not trust in a container, and
read it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass, fields
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import nbclient
import nbformat
from jupyter_client.kernelspec import NoSuchKernel
from nbformat.v4 import new_code_cell
from tqdm import tqdm

from tools.notebooks import BOOK
from wfmlib.book.exercises.answers import Function, compare
from wfmlib.book.exercises.table import QUESTIONS

RIGHT, NOT_YET, UNANSWERED, REFUSED = "right", "not yet", "not answered", "error"
STARTS = 300  # seconds for a kernel to start
UNSTARTED = "not executed"
ASKED = re.compile(r"""exercises\.check\(\s*["'](\d+\.\d+)["']""")

# Runs in the notebook's kernel before its first cell.
NOTE = """
def _note():
    import json
    from wfmlib.book import exercises
    from wfmlib.book.exercises import table
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
    except (ImportError, ValueError, OSError):
        pass  # a system without such limits
    check = table.check
    def noted(exercise, answer):
        said = dict(exercise=exercise)
        try:
            question = table.QUESTIONS[exercise]
            said["values"] = [float(value) for value in question.values(answer)]
            return check(exercise, answer)
        except BaseException as error:
            said["error"] = f"{{type(error).__name__}}: {{error}}"
            raise
        finally:
            with open({place!r}, "a") as file:
                file.write(json.dumps(said) + "\\n")
    exercises.check = table.check = noted
_note()
del _note
"""


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
        "right", "not yet", "not answered" or "error".
    said : str
        The hint, or what went wrong.
    """

    student: str
    notebook: str
    exercise: str
    verdict: str
    said: str = ""


@dataclass(frozen=True)
class Limits:
    """What a notebook may take: seconds for all of its cells, and bytes of address space."""

    seconds: float
    memory: int


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


def executed(notebook, limits: Limits) -> tuple[list[dict], str]:
    """Execute a notebook; return the answers that it handed in, and why it ended early, if so."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "answers")
        first = new_code_cell(NOTE.format(place=str(place), memory=limits.memory))
        notebook.cells = [first, *(cell for cell in notebook.cells if cell.cell_type == "code")]
        work = Path(folder, "work")
        work.mkdir()
        for _ in range(2):  # kernels that start at once may have chosen the same port
            client = Client(
                notebook,
                timeout=limits.seconds,
                startup_timeout=STARTS,
                kernel_name="python3",
                allow_errors=True,
                resources={"metadata": {"path": str(work)}},
            )
            ending = client.run(limits.seconds)
            if not ending.startswith(UNSTARTED):
                break
        return answers(place), ending


class Client(nbclient.NotebookClient):
    """Executes a notebook with one limit for all of its cells."""

    def run(self, seconds: float) -> str:
        """Execute; return why it ended before its last cell, nothing if it did not."""
        ends = time.monotonic() + STARTS
        self.timeout_func = lambda cell: max(1, round(ends - time.monotonic()))

        def started(**_):
            nonlocal ends
            ends = time.monotonic() + seconds

        self.on_notebook_start = started
        results = os.environ.get("WFMLIB_RESULTS", str(BOOK / "results"))
        try:
            self.execute(env={**os.environ, "WFMLIB_RESULTS": results, "MPLBACKEND": "agg"})
        except nbclient.exceptions.CellTimeoutError:
            return f"stopped after {seconds:g} s"
        except nbclient.exceptions.DeadKernelError:
            return "its kernel died, for want of memory or by its own will"
        except (NoSuchKernel, RuntimeError, OSError) as error:
            return f"{UNSTARTED}: {error}"
        return ""


def answers(place: Path) -> list[dict]:
    """Return what was noted there; a line that is none of ours is passed over."""
    noted = []
    for line in place.read_text("utf-8", "replace").splitlines() if place.exists() else ():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if isinstance(answer, dict) and answer.get("exercise") in QUESTIONS:
            noted.append(answer)
    return noted


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


def marked(student: str, path: Path, folder: Path, asked: Iterable[str], limits) -> list[Mark]:
    """Return the marks of one notebook: an entry for each exercise in it, or that was asked."""
    whose = student, str(path.relative_to(folder))
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # whatever a student may save under this name
        return [Mark(*whose, "", REFUSED, f"no notebook: {str(error).splitlines()[0][:100]}")]
    exercises = [number for cell in notebook.cells for number in ASKED.findall(cell.source)]
    noted, ending = executed(notebook, limits)
    last = {answer["exercise"]: answer for answer in noted}
    wanted = {*asked} or {*exercises, *last} & {*QUESTIONS}
    marks = [
        Mark(*whose, number, *(verdict(last[number]) if number in last else (UNANSWERED, "")))
        for number in QUESTIONS
        if number in wanted
    ]
    return marks + ([Mark(*whose, "", REFUSED, ending)] if ending else [])


def table(marks: list[Mark]) -> str:
    """Return a line a student: how many exercises came to which verdict, and what went wrong."""
    verdicts = (RIGHT, NOT_YET, UNANSWERED, REFUSED)
    students = list(dict.fromkeys(mark.student for mark in marks))
    width = max(map(len, ["student", *students]))
    lines = [f"{'student':{width}}  " + "  ".join(verdicts)]
    for student in students:
        own = [mark for mark in marks if mark.student == student]
        counts = [
            sum(bool(m.exercise) and m.verdict == verdict for m in own) for verdict in verdicts
        ]
        cells = "  ".join(
            f"{n:{len(verdict)}}" for n, verdict in zip(counts, verdicts, strict=True)
        )
        ending = "; ".join(f"{m.notebook}: {m.said}" for m in own if not m.exercise)
        lines.append(f"{student:{width}}  {cells}  {ending}".rstrip())
    return "\n".join(lines)


def write(marks: list[Mark], output: Path) -> None:
    """Write the marks as CSV."""
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Mark)])
        writer.writerows(plain(astuple(mark)) for mark in marks)


def plain(row: tuple[str, ...]) -> list[str]:
    """Return a row that a spreadsheet takes for text: nothing in it is a formula."""
    return [f"'{text}" if text[:1] in {*"=+-@"} else text for text in row]


def main(argv: list[str] | None = None) -> int:
    """Mark all notebooks of a folder; return 1 if one could not be executed to its end."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=__doc__[__doc__.index("A folder in") :]
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path, help="by default marks.csv in FOLDER")
    parser.add_argument(
        "--exercises", nargs="+", default=[], metavar="N", help="by default those of each notebook"
    )
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a notebook (600)")
    parser.add_argument("--memory", type=float, default=8.0, help="GB a notebook may take (8)")
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time (1)")
    options = parser.parse_args(argv)
    unknown = [number for number in options.exercises if number not in QUESTIONS]
    if unknown:
        parser.error(f"--exercises must be of {', '.join(QUESTIONS)}, not {', '.join(unknown)}")
    for name in ("timeout", "memory", "jobs"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name} must be positive, not {getattr(options, name):g}")
    if not options.folder.is_dir():
        parser.error(f"FOLDER must be a folder, not {options.folder}")
    try:
        work = handed_in(options.folder)
    except ValueError as error:
        parser.error(str(error))
    limits = Limits(options.timeout, int(options.memory * 1e9))

    mark_notebook = partial(marked, folder=options.folder, asked=options.exercises, limits=limits)
    # Processes, not threads: a kernel's channels and loop go with the process.
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        marked_notebooks = tqdm(
            pool.map(mark_notebook, *zip(*work, strict=True)), total=len(work), unit="notebook"
        )
        marks = [mark for marks in marked_notebooks for mark in marks]
    output = options.output or options.folder / "marks.csv"
    write(marks, output)
    print(table(marks))
    print(output)
    return int(any(not mark.exercise for mark in marks))


if __name__ == "__main__":
    sys.exit(main())
