"""Run the cells of a notebook that was handed in, and note its answers; of `tools/marks.py`.

This runs inside the sandbox, beside the student's code, and has no authority: it says on standard
output which values were handed to `exercises.check` and which cells failed. What is right is
decided outside.
"""

from __future__ import annotations

import json
import os
import shutil
import sys


def main() -> None:
    """Read cells and limits from standard input, run the cells, and write a line an answer."""
    given = json.load(sys.stdin)
    said = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # what a notebook prints counts for nothing
        os.dup2(nothing, stream)
    limit(given["memory"])
    if given["compiled"]:
        shutil.copytree(given["compiled"], os.environ["NUMBA_CACHE_DIR"], dirs_exist_ok=True)
    shell = prepared()

    def say(**what) -> None:
        said.write(json.dumps(what) + "\n")
        said.flush()

    note(say)
    say(began=True)
    for label, source in given["cells"]:
        result = shell.run_cell(source, store_history=False, silent=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            say(label=label, failed=f"{type(error).__name__}: {error}"[:300])
    say(ended=True)


def limit(memory: int) -> None:
    """Limit the address space, and the size of a file, where the system has such limits."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    except (ImportError, ValueError, OSError):
        pass


def prepared():
    """Return a shell that runs cells as a notebook does, without a display and a history."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):
        def enable_gui(self, gui=None):
            """Take `%matplotlib inline` for granted."""

    config = Config()
    config.HistoryManager.enabled = False
    return Shell.instance(config=config)


def note(say) -> None:
    """Have each answer said that is handed to `exercises.check`, functions at their points."""
    from wfmlib.book import exercises
    from wfmlib.book.exercises import table

    check = table.check

    def noted(exercise, answer):
        try:
            values = [float(value) for value in table.QUESTIONS[exercise].values(answer)]
        except BaseException as error:
            say(exercise=str(exercise), error=f"{type(error).__name__}: {error}"[:300])
            raise
        say(exercise=exercise, values=values)
        return check(exercise, answer)

    exercises.check = table.check = noted


if __name__ == "__main__":
    main()
