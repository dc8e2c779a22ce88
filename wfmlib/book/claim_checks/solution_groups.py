"""Checks of the claims on groups of solutions and the overlap gap (chapter 10)."""

from __future__ import annotations

import math

from scipy import optimize

from wfmlib.book import experiments
from wfmlib.book.claim_checks import evidence
from wfmlib.models import Band, Perceptron
from wfmlib.theory import clusters, typical

BAND = Band(1.0)
SIZES = (2, 3, 4, 5, 6)


def band_capacity():
    """The load at which the entropy of typical solutions vanishes in the band, κ = 1."""
    return typical.capacity(Perceptron(), constraint=BAND)


def band_gap_whole():
    """The least load at which groups of 2 to 6 solutions miss an overlap in the band, κ = 1."""
    return min(clusters.threshold(Perceptron(), m, constraint=BAND) for m in SIZES)


def band_gap_real():
    """The same over groups of any real size."""
    return clusters.threshold(Perceptron(), None, constraint=BAND)


def band_gap_nested():
    """The least load at which 2 or 3 groups of 3 or 4 miss two overlaps in the band, κ = 1."""
    sizes = ((2, 3), (2, 4), (3, 3), (3, 4))
    return min(clusters.nested_threshold(Perceptron(), pair, constraint=BAND) for pair in sizes)


def band_gap_nested_real():
    """The same over groups of groups of any real sizes."""
    return clusters.nested_threshold(Perceptron(), None, constraint=BAND)


def band_breakup():
    """The load at which the local entropy of countable groups breaks up in the band, κ = 1."""
    return clusters.breakup(Perceptron(), constraint=BAND)


def binary_breakup_between():
    """The load at which the local entropy of countable groups stops falling with the overlap."""
    load = clusters.breakup(Perceptron())
    return bool(0.77 < load < 0.78), f"at α = {load:.4f}"


def _barrier(height):
    """Return the root of the largest height over u."""
    found = optimize.minimize_scalar(lambda u: -height(u), bounds=(0.1, 5.0), method="bounded")
    return math.sqrt(-found.fun)


def band_entropic_barrier():
    """The largest c at which c²/4u² + ln P(|z| < u) has a dip in u = κ/√(4 d), at distance d.

    This is the local entropy over α: stabilities of a solution in the middle of the band are 0, at
    distance d they have the variance 4d, and there are exp(-N d ln d) weights, ln d to ln α.
    """
    return _barrier(
        lambda u: 4.0 * u**3 * math.exp(-u * u / 2.0) / math.sqrt(2.0 * math.pi) / _inside(u)
    )


def band_energetic_barrier():
    """The largest c at which c²/4u² + ln P(|z| < u) is 0 for some u = κ/√(4 d), at distance d."""
    return _barrier(lambda u: -4.0 * u**2 * math.log(_inside(u)))


def _inside(u):
    """Return P(|z| < u)."""
    return math.erf(u / math.sqrt(2.0))


def solvers_reach():
    """How many of 20 instances of 1001 weights the best algorithm solves at 0.76: half, or not."""
    archive = experiments.complete("cluster-reach").sel(N=1001, alpha=0.76)
    solved = archive.solved.sum("sample").to_series()
    words = ", ".join(f"{name} {count}" for name, count in solved.items())
    number = archive.sizes["sample"]
    best = evidence.compare_shares(solved.max(), number, comparisons=len(solved))
    return evidence.decide([best], f"{words} of {number} at α = 0.76", "instances")
