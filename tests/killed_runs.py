"""Runs that are killed at each of their file operations, each in a fork of this small process.

    python -m tests.killed_runs killed FOLDER
    python -m tests.killed_runs twice FOLDER

The first prints, as JSON, at what the runs were killed and what was wrong once they had been
repeated; the second how two runs at once ended. Nothing of pytest runs here: to fork a process
with threads is a fault of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from tests import toy_experiment as toy
from wfmlib.book import experiments
from wfmlib.runs import archive

SMALL = toy.experiment(
    scales={name: toy.scale(1, grid={"alpha": (0.25, 0.5)}) for name in ("quick", "paper")}
)
AT_MOST = 200  # operations


def run(folder):
    return experiments.run(SMALL, output=folder / "results")


class Killer:
    """Kills the process right before its n-th file operation."""

    def __init__(self, folder, last, pipe):
        self.folder, self.left, self.pipe = str(folder), last, pipe
        fsync = os.fsync

        def killing(handle):
            self.count("fsync", "")
            fsync(handle)

        os.fsync = killing  # what was written is there, or only a part of it
        sys.addaudithook(self.hook)

    def hook(self, event, arguments):
        path = str(arguments[0]) if arguments else ""
        if not path.startswith(self.folder):
            return
        makes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if makes or event in ("os.rename", "os.remove", "os.mkdir"):
            self.count(event, path)

    def count(self, event, path):
        self.left -= 1
        if self.left == 0:
            os.write(self.pipe, f"{event} {Path(path).suffix}".encode())
            os.kill(os.getpid(), signal.SIGKILL)


def killed(folder, last):
    """Run in a fork that is killed before an operation; return at which, None if at none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            Killer(folder, last, writer)
            run(folder)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        at = told.read()
    os.waitpid(child, 0)
    return at or None


def main(base):
    """Kill runs at one operation after the other; print what came."""
    archive.git_state = lambda: (None, None)  # asks git, which takes longer than all the rest
    os.environ["XDG_CACHE_HOME"] = str(base / "reference")
    reference = run(base / "reference").path.read_bytes()
    at, wrong = [], []
    for last in range(1, AT_MOST):
        folder = base / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        os.environ["XDG_CACHE_HOME"] = str(folder)
        place = killed(folder, last)
        if place is None:
            break
        at.append(place)
        files = sorted((folder / "wfmlib" / "samples").rglob("*.json"))
        again = run(folder)
        if again.computed != len(SMALL.scale("quick").points) - len(files):
            wrong.append(f"{place}: {len(files)} samples were kept, {again.computed} computed")
        if again.path.read_bytes() != reference or not archive.read(again.path)["done"].all():
            wrong.append(f"{place}: another archive")
        if len([*folder.rglob("*.part")]) > 1:
            wrong.append(f"{place}: more than one file is left over")
    print(json.dumps({"at": at, "wrong": wrong}))


def twice(base):
    """Run the same experiment in two processes at once; print whether the archive is whole."""
    os.environ["XDG_CACHE_HOME"] = str(base / "cache")
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            try:
                experiments.run(toy.EXPERIMENT, output=base / "results")
            except BaseException as error:
                print(repr(error), flush=True)
                os._exit(1)
            os._exit(0)
        children.append(child)
    ends = [os.waitpid(child, 0)[1] for child in children]
    print(json.dumps(ends))


if __name__ == "__main__":
    {"killed": main, "twice": twice}[sys.argv[1]](Path(sys.argv[2]))
