"""Each check of the ledger comes out otherwise in a world that is otherwise.

A check that cannot fail says nothing. The tables have a row for each of them: what its theory, its
small instances or its archive would have to give, and the verdict must be another one then.
"""

import pathlib
import sys

import pytest

from tests.unit import otherwise_archived, otherwise_live, otherwise_remarks
from wfmlib.book import claim_checks, claims, experiments

RESULTS = pathlib.Path(__file__).parents[2] / "book" / "results"
CLAIMS = {}
for _claim in claims.load():
    if _claim.compute:
        CLAIMS.setdefault(_claim.compute, []).append(_claim)
# `cumulative` beside the archive: what it is compared with takes a minute
MIXED = {
    "simulated_stabilities_agree": {
        "stabilities.cumulative": lambda device, load, places, **_: 0.5 + 0.0 * places
    },
    "fbp_flatter_than_elal": {"_largest": lambda name, _: SPREAD * RANKS[name]},
    "elal_flatter_than_slow": {"_largest": lambda name, _: SPREAD * RANKS[name]},
    "slow_flatter_than_fast": {"_largest": lambda name, _: SPREAD / RANKS[name]},
    "fast_flatter_than_lal": {"_largest": lambda name, _: SPREAD * RANKS[name]},
}
SPREAD = otherwise_live.np.linspace(1.0, 1.1, 10)
# the flattest last
RANKS = {"fBP": 5.0, "eLAL": 4.0, "ceSGD slow": 3.0, "ceSGD fast": 2.0, "LAL": 1.0}
LIVE = otherwise_live.ROWS | otherwise_remarks.LIVE | MIXED
ARCHIVED = otherwise_archived.ROWS | otherwise_remarks.ARCHIVED


def module(check):
    """Return the module of `claim_checks` that holds a check."""
    return sys.modules[getattr(claim_checks, check).__module__]


@pytest.fixture(autouse=True)
def forget():
    """Let no check keep what it found in another world."""

    def clear():
        for kept in (value for check in CLAIMS for value in vars(module(check)).values()):
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()

    clear()
    yield
    clear()


def changed_verdicts(check):
    """Return the verdicts of the claims that name a check, where they are not as expected."""
    verdicts = [claims.check(claim.id) for claim in CLAIMS[check]]
    assert all(one.verdict != claims.NOT_CHECKED for one in verdicts), verdicts
    return [one for one in verdicts if one.verdict != one.claim.expected]


def test_every_check_has_a_row():
    assert set(LIVE) | set(ARCHIVED) == set(CLAIMS)
    assert not set(LIVE) & set(ARCHIVED)


@pytest.mark.parametrize("check", LIVE)
def test_another_theory_another_verdict(check, monkeypatch):
    monkeypatch.setenv("WFMLIB_RESULTS", str(RESULTS))
    for path, value in LIVE[check].items():
        place, _, name = f".{path}".rpartition(".")
        where = module(check)
        for step in filter(None, place.split(".")):
            where = getattr(where, step)
        if isinstance(value, otherwise_live.Wrap):
            value = value.around(getattr(where, name))
        monkeypatch.setattr(where, name, value)
    assert changed_verdicts(check)


@pytest.mark.parametrize("check", ARCHIVED)
def test_another_archive_another_verdict(check, monkeypatch):
    monkeypatch.setenv("WFMLIB_RESULTS", str(RESULTS))
    complete, changes = experiments.complete, ARCHIVED[check]

    def changed(name):
        data = complete(name)
        if name not in changes:
            return data
        data = data.copy(deep=True)
        other = changes[name](data)
        return data if other is None else other

    monkeypatch.setattr(experiments, "complete", changed)
    assert changed_verdicts(check)
