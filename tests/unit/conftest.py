"""What the tests of the ledger and of its command share."""

from __future__ import annotations

import functools

import pytest

from wfmlib.book import claim_checks


@pytest.fixture
def answer(monkeypatch):
    """Return a function that makes one check give another answer."""

    def make(name, found):
        function = functools.wraps(getattr(claim_checks, name))(lambda: found)
        monkeypatch.setattr(claim_checks, name, function)

    return make
