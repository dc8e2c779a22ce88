"""Whoever waits in a terminal is told that kernels are compiled, once; nobody else is."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from numba.core import event

from wfmlib.numerics import _numba_words


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compiled(seconds, monkeypatch, stream):
    """Return what is written while kernels take these seconds, each with one inside."""
    now = [0.0]
    monkeypatch.setattr("sys.stderr", stream)
    waiting = _numba_words.listener(event, clock=lambda: now[0])
    for one in seconds:
        waiting.on_start(None)
        now[0] += 0.5 * one
        waiting.on_start(None)
        now[0] += 0.5 * one
        waiting.on_end(None)
        waiting.on_end(None)
        now[0] += 10.0  # of other work
    return stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [([0.9] * 2, 0), ([0.9] * 4, 1), ([0.9] * 40, 1), ([5.0], 1), ([3.0], 0)],
)
def test_it_is_told_once_after_two_seconds(seconds, told, monkeypatch):
    """Two seconds of one kernel are told when it comes to one that it calls, or at the next."""
    said = compiled(seconds, monkeypatch, Terminal())
    assert said == told * _numba_words.WORD


@pytest.mark.parametrize("stream", [io.StringIO, None])
def test_nothing_is_said_where_nobody_sits(stream, monkeypatch):
    if stream is None:
        monkeypatch.setattr("sys.stderr", None)
        waiting = _numba_words.listener(event, clock=iter(range(0, 90, 9)).__next__)
        waiting.on_start(None)
    else:
        assert compiled([9.0, 9.0], monkeypatch, stream()) == ""


def test_numba_has_it(tmp_path):
    """The package registers it where it keeps kernels in a folder of its own."""
    code = (
        "from wfmlib.numerics import gaussian; gaussian.H(0.0); from numba.core import event; "
        "print([type(one).__name__ for one in event._registered['numba:compile']])"
    )
    environment = {k: v for k, v in os.environ.items() if "NUMBA" not in k}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Waiting" in done.stdout
    assert done.stderr == ""
