"""What the tests of the ledger and of its command share."""

from __future__ import annotations

import functools
import os

import pytest

from wfmlib.book import claim_checks

# They send signals, fork, limit resources, or look at the bits of a folder.
POSIX = ["experiments", "faults", "structure", "threads"]
collect_ignore = [] if os.name == "posix" else [f"test_{name}.py" for name in POSIX]


@pytest.fixture
def answer(monkeypatch):
    """Return a function that makes one check give another answer."""

    def make(name, found):
        function = functools.wraps(getattr(claim_checks, name))(lambda: found)
        monkeypatch.setattr(claim_checks, name, function)

    return make
