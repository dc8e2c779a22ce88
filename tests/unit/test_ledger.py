"""The ledger against itself: what is written at two places, and what follows from the other."""

import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from wfmlib import claim_checks, claims, experiments

LEDGER = claims.load()
NUMERIC = [claim for claim in LEDGER if claim.numeric]
ARCHIVED = [claim for claim in LEDGER if claim.compute and claim.archive]
BY_SPREAD = (
    r"two standard errors of the difference of two means of (\w+), each with the quoted spread"
)
BY_LOADS = r"(half )?the distance between the loads that were run"
NUMBERS = {"ten": 10}


class Asked(Exception):
    """An archive was asked for."""


def of(pattern):
    """Return claims whose tolerance has a reason of this form, with what matches."""
    found = [(claim, re.match(pattern, claim.why)) for claim in NUMERIC]
    return [pytest.param(*pair, id=pair[0].id) for pair in found if pair[1]]


@pytest.mark.parametrize("claim", NUMERIC, ids=lambda claim: claim.id)
def test_the_number_that_is_compared_is_that_of_the_statement(claim):
    assert re.search(rf"(?<![\d.]){re.escape(claim.printed)}(?!\d|\.\d)", claim.statement)
    assert math.isclose(claim.quoted, Fraction(claim.printed.partition("(")[0]))


@pytest.mark.parametrize(("claim", "reason"), of(BY_SPREAD))
def test_tolerance_follows_from_the_quoted_spread(claim, reason):
    """Two means of n with the spread s differ by 2 s sqrt(2 / n), to the next whole number."""
    n = int(NUMBERS.get(reason[1], reason[1]))
    spread = float(re.search(r"± (\d+)", claim.statement)[1])
    assert abs(claim.tolerance - 2.0 * spread * math.sqrt(2.0 / n)) < 1.0
    assert n == experiments.get(claim.archive).scale("paper").samples


@pytest.mark.parametrize(("claim", "reason"), of(BY_LOADS))
def test_tolerance_follows_from_the_loads_that_were_run(claim, reason):
    loads = np.array(experiments.get(claim.archive).scale("paper").grid["alpha"])
    place = np.argmin(np.abs(loads - claim.quoted))
    gap = np.min(np.diff(loads[max(place - 1, 0) : place + 2]))
    assert math.isclose(claim.tolerance, gap / 2.0 if reason[1] else gap, rel_tol=1e-6)


@pytest.mark.parametrize("claim", ARCHIVED, ids=lambda claim: claim.id)
def test_a_check_reads_the_archive_that_its_claim_names(claim, monkeypatch):
    def ask(name, *_, **__):
        raise Asked(name)

    monkeypatch.setattr(experiments, "complete", ask)
    with pytest.raises(Asked) as asked:
        getattr(claim_checks, claim.compute)()
    assert asked.value.args == (claim.archive,)


LIVE = sorted({claim.compute for claim in LEDGER if claim.compute and not claim.archive})


@pytest.mark.parametrize("name", LIVE)
def test_a_check_without_an_archive_reads_none(name):
    assert "experiments." not in inspect.getsource(getattr(claim_checks, name))


def test_claims_stand_in_the_order_of_the_chapters():
    chapters = [claim.chapter for claim in LEDGER]
    assert chapters == sorted(chapters)


# P1 has sections with numbers, P2 has none; P3 exists in three versions
PLACES = {
    "P1": r"Sec\. (II\.[A-F]|I|III|IV|V)\b|App\. [A-F]|Eqs?\. \(|Figs?\. ([1-7]|A[1-3])\b",
    "P2": r"^(?!.*Sec\. [IV])(?!letter|v1|SM)",
    "P3": r"^(letter|v1|SM)\b",
}


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_a_place_is_one_of_its_paper(claim):
    assert re.search(PLACES[claim.source.paper], claim.source.at)
    # committees alone: nothing of the perceptron, the cross-entropy, or of learning
    assert claim.source.paper != "P2" or claim.chapter in (3, 4, 5)
