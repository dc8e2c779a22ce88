"""Runs the tests of mutants, each in a fork of a process that has imported what they need.

`tools/mutants.py` copies it beside the tests. A job is a line of JSON: the arguments of pytest, or
a program; the environment; the modules that are to be imported anew; where to write what is said.
The answer is a line with the exit status, negative where a signal ended the fork.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time


def forget(names: list[str]) -> None:
    """Let these modules be imported anew, and nobody find the old ones."""
    for name in names:
        sys.modules.pop(name, None)
        parent, _, own = name.rpartition(".")
        with contextlib.suppress(KeyError, AttributeError):
            delattr(sys.modules[parent], own)


def work(job: dict) -> int:
    """Do a job; return its exit status."""
    said = os.open(job["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.environ.update(job["env"])
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = job["env"]["NUMBA_CACHE_DIR"]
    forget(job["forget"])
    if "program" in job:
        try:
            exec(job["program"], {"arguments": job["arguments"]})
        except Exception as error:
            print(repr(error), file=sys.stderr)
            return 1
        return 0
    import pytest

    return int(pytest.main(job["arguments"]))


def main() -> None:
    """Import what is asked for, then work off one job after the other."""
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.setsid()
            status = 3
            try:
                status = work(job)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        until = time.monotonic() + job["patience"]
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > until:
                os.killpg(pid, signal.SIGKILL)
            time.sleep(0.02)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
