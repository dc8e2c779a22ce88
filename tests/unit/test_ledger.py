"""The ledger against itself: what is written at two places, and what follows from the other."""

import inspect
import math
import re
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest

from wfmlib.book import claim_checks, claims, experiments

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
    "P2": r"^(section on|introduction|(above |below )?Eq\. \([1-6]\)|Fig\. [1-3])",
    "P3": r"^(letter|v1|SM)\b",
} | dict.fromkeys(claims.LATER, r"^(abstract|text of the letter)\b")


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_a_place_is_one_of_its_paper(claim):
    assert re.search(PLACES[claim.source.paper], claim.source.at)
    # committees alone: nothing of the perceptron, the cross-entropy, or of learning
    assert claim.source.paper != "P2" or claim.chapter in (3, 4, 5)


def test_a_claim_stands_below_the_heading_of_its_chapter():
    """The list has headings, which `tomllib` does not read."""
    text = files("wfmlib.book").joinpath("claims.toml").read_text(encoding="utf-8")
    headings, chapter = {}, 0
    for line in text.splitlines():
        if heading := re.match(r"# --- chapter (\d+):", line):
            chapter = int(heading[1])
        elif name := re.match(r'id = "(.+)"', line):
            headings[name[1]] = chapter
    assert headings == {claim.id: claim.chapter for claim in LEDGER}


@pytest.mark.parametrize("claim", LEDGER, ids=lambda claim: claim.id)
def test_what_is_not_checked_needs_no_archive(claim):
    assert (claim.kind == "archive") == bool(claim.archive)


# checks that answer more than one claim: the same quantity, printed with more or fewer digits
SHARED = {
    "binary_perceptron_capacity": ["0.833", "0.833", "0.83"],
    "margin_dense_threshold": ["0.729", "0.73"],
    "sign_committee_spherical_instability": ["2.95", "2.988"],
}


def test_a_check_answers_one_claim():
    users = {}
    for claim in LEDGER:
        if claim.compute:
            users.setdefault(claim.compute, []).append(claim.printed)
    assert {check: of for check, of in users.items() if len(of) > 1} == SHARED


# the tolerances that do not follow from printed digits, a spread or the loads that were run
EXACT = {
    "sign-committee-binary-capacity": 1e-4,  # of 0.9469(5)
    "relu-committee-binary-capacity": 1e-4,
    "spherical-perceptron-capacity": 1e-6,  # quadrature
    "relu-overlap-slope": 1e-3,  # sqrt(1e-6)
    # bounds that are rounded up
    **dict.fromkeys(
        ("band-gap-whole", "band-gap-real", "band-gap-nested", "band-gap-nested-real"), 1e-4
    ),
}


def test_other_tolerances_are_those_of_their_reasons():
    derived = rf"half a unit of the last printed digit|{BY_SPREAD}|{BY_LOADS}"
    others = {one.id: one.tolerance for one in NUMERIC if not re.match(derived, one.why)}
    assert others == EXACT


@pytest.mark.parametrize("claim", NUMERIC, ids=lambda claim: claim.id)
def test_just_beyond_the_tolerance_is_another_number(claim, answer):
    """On either side of what is printed; as far within it is the same number."""
    agrees = claims.CALIBRATED if claim.calibrated else claims.HOLDS
    beyond = claims.UNDECIDED if claim.hedge else claims.DIFFERS
    printed = float(Fraction(claim.printed.partition("(")[0]))
    width = EXACT.get(claim.id) or claim.tolerance
    for side in (-1.0, 1.0):
        for share, verdict in ((0.99, agrees), (1.01, beyond)):
            answer(claim.compute, printed + side * share * width)
            assert claims.check(claim.id).verdict == verdict
