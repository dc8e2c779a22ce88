"""Checks of the claims on what surrounds a typical solution (chapter 6)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Binary, Margin, Perceptron, ReLU, Sign, TreeCommittee
from wfmlib.theory import (
    franz_parisi,
    franz_parisi_1rsb,
    large_deviation,
    margin_students,
    typical,
)

PERCEPTRON = Perceptron()  # of binary weights
SIGN, RELU = (TreeCommittee(np.inf, unit, Binary()) for unit in (Sign(), ReLU()))
HALF = 0.5  # the load of P3's figure 3
SLIGHT = 0.1  # of a load
DISTANCES = np.geomspace(1e-5, 0.33, 60)


def _curve(kt, load=HALF, kappa=0.0, distances=DISTANCES):
    margins = {"reference": Margin(kt), "constraint": Margin(kappa)}
    return franz_parisi.curve(PERCEPTRON, load, distances, **margins)


def _largest(load):
    return Margin(typical.max_margin(PERCEPTRON, load))


# several claims ask for the same numbers


@cache
def _gap(load, kt=0.0, kappa=0.0):
    return franz_parisi.gap(PERCEPTRON, load, reference=Margin(kt), constraint=Margin(kappa))


@cache
def _gapless(kappa):
    return franz_parisi.margin_no_gap(PERCEPTRON, HALF, constraint=Margin(kappa))


@cache
def _monotonic(kappa):
    return franz_parisi.margin_monotonic(PERCEPTRON, HALF, constraint=Margin(kappa))


@cache
def _dense(device):
    return franz_parisi.dense_threshold(device)


def largest_distance_half_load():
    """Where a counted solution is as close to its reference as to any other, t1 = t0."""
    return franz_parisi.distance_of_maximum(PERCEPTRON, HALF, reference=_largest(HALF))


def typical_solutions_isolated():
    """The distance below which the Franz-Parisi entropy is negative, at four loads."""
    loads = (0.1, 0.2, 0.5, 0.8)
    edges = [_gap(load) for load in loads]
    outer = np.array([outer for _, outer in edges])
    isolated = all(inner == 0.0 for inner, _ in edges)
    return bool(isolated and np.all(np.diff(outer, prepend=0.0) > 0.0)), (
        f"the next solution is {', '.join(f'{d:.2g}' for d in outer)} N flips away at α = "
        f"{listed(loads, 1)} (replica symmetry; its entropy is negative below)"
    )


def maximum_at_typical_distance():
    """The height and the slope where t1 = t0, for reference margins 0 to κ_max at α = 0.5."""
    entropy = typical.solve(PERCEPTRON, HALF).entropy
    places, gaps, slopes = [], [], []
    for kt in (0.0, 0.02, 0.1, 0.3, _largest(HALF).kappa):
        places.append(franz_parisi.distance_of_maximum(PERCEPTRON, HALF, reference=Margin(kt)))
        point = franz_parisi.solve(PERCEPTRON, HALF, places[-1], reference=Margin(kt))
        gaps.append(abs(point.local_entropy - entropy))
        slopes.append(abs(point.slope))
    return max(gaps) < 1e-9 and max(slopes) < 1e-7, (
        f"at d = {listed(places, 4)} the local entropy is the whole entropy, {entropy:.4f}, and "
        "its slope vanishes"
    )


def zero_margin_isolated():
    """The curve at α = 0.2, 0.5, 0.8: its signs, and the number of its maxima."""
    edges, holds = [], True
    for load in (0.2, 0.5, 0.8):
        _, outer = _gap(load)
        top = franz_parisi.distance_of_maximum(PERCEPTRON, load)
        distances = np.geomspace(outer, 0.5, 25)
        curve = _curve(0.0, load, distances=distances)
        rising = curve.slope > 0.0
        holds &= bool(np.all(rising == (distances < top)))
        edges.append(outer)
    return holds, (
        f"negative below d = {listed(edges, 4)} at α = 0.2, 0.5, 0.8; from there it rises up to "
        "the typical distance, and falls beyond"
    )


def positive_margin_surrounded():
    """The local entropy and its bound at d = 10^-9 ... 10^-3 around margins 0.001 to 0.4."""
    shares = []
    for kt in (0.001, 0.01, 0.1, 0.4):
        # a pattern's field changes by 2 sqrt(d) or so
        near = _curve(kt, distances=np.array([0.01, 0.003]) * kt**2)
        shares.append(np.min(near.local_entropy / near.bound))
    return bool(np.min(shares) > 0.999), (
        f"at d = 0.01 κ~² it is at least {listed(shares, 5)} of the bound at κ~ = 0.001, 0.01, "
        "0.1, 0.4"
    )


def margin_no_gap_half_load():
    """The reference margin at which the local entropy touches zero."""
    return _gapless(0.0)


def margin_monotonic_half_load():
    """The reference margin at which the slope of the local entropy touches zero."""
    return _monotonic(0.0)


def gap_below_margin_no_gap():
    """The two distances at which the local entropy vanishes."""
    inner, outer = _gap(HALF, 0.02)
    return 0.0 < inner < outer, f"negative from d = {inner:.6f} to {outer:.6f}"


def two_maxima_below_margin_monotonic():
    """The local entropy at margin 0.03, and where its slope changes sign."""
    curve = _curve(0.03)
    changes = DISTANCES[:-1][np.diff(np.sign(curve.slope)) != 0]
    return bool(np.all(curve.local_entropy > 0.0)) and len(changes) == 2, (
        f"positive throughout; the slope changes sign near d = {listed(changes, 5)}"
    )


def local_entropy_grows_with_margin():
    """The curves of seven reference margins, up to the maximum of the highest."""
    last = franz_parisi.distance_of_maximum(PERCEPTRON, HALF, reference=_largest(HALF))
    distances = np.geomspace(2e-3, last, 20)
    margins = [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, _largest(HALF).kappa]
    heights = [_curve(kt, distances=distances).local_entropy for kt in margins]
    least = np.min(np.diff(heights, axis=0))
    return bool(least > 0.0), (
        f"from d = 0.002 to {last:.4f} each of {len(margins)} curves lies above the one before "
        f"it, by {least:.0e} at least"
    )


def equal_margins_isolated():
    """Where the local entropy vanishes at equal margins; its values around larger margins."""
    margins = (0.0, 0.1, 0.2, 0.4)
    edges = [_gap(HALF, kt, kt) for kt in margins]
    isolated = all(inner == 0.0 < outer for inner, outer in edges)
    near = [
        franz_parisi.solve(
            PERCEPTRON, HALF, 1e-4, reference=Margin(kappa + 0.05), constraint=Margin(kappa)
        )
        for kappa in margins[:-1]
    ]
    surrounded = all(point.local_entropy > 0.9 * point.bound for point in near)
    return isolated and surrounded, (
        f"negative below d = {listed([outer for _, outer in edges], 4)} at margins "
        f"{listed(margins, 1)}; above 0.9 of the bound at d = 0.0001 around margins larger by 0.05"
    )


def same_phases_at_positive_margin():
    """The two margins of the phases, for counted margins 0 and 0.2 at α = 0.5."""
    counted = (0.0, 0.2)
    gapless, smooth = [*map(_gapless, counted)], [*map(_monotonic, counted)]
    largest = _largest(HALF).kappa
    holds = all(k < g < u < largest for k, g, u in zip(counted, gapless, smooth, strict=True))
    return holds, (
        f"a gap up to {listed(gapless, 4)}, two maxima up to {listed(smooth, 4)}, at counted "
        f"margins {listed(counted, 1)}"
    )


def transition_in_counted_margin():
    """The sign of the slope around margin 0.3 at α = 0.5, for growing counted margins."""
    counted = (0.0, 0.1, 0.2, 0.25, 0.28)
    lowest = []
    for kappa in counted:
        curve = _curve(0.3, kappa=kappa, distances=np.geomspace(1e-3, 0.2, 25))
        lowest.append(np.nanmin(curve.slope))
    rising = [slope > 0.0 for slope in lowest]
    holds = rising[0] and not rising[-1] and rising == sorted(rising, reverse=True)
    return bool(holds), (
        f"the lowest slope up to d = 0.2 is {listed(lowest, 2)} at counted margins "
        f"{listed(counted, 2)}"
    )


def franz_parisi_replica_symmetric():
    """The search for states with p1 > p0 at three m, and in how many of them iterations end.

    P3 looked for them by iteration: a state that iterations leave is none that it could have met.
    """
    places = ((0.1, 0.3), (0.1, 0.03), (0.4, 0.1))
    surveys = [
        franz_parisi_1rsb.search(
            PERCEPTRON, HALF, distance, reference=Margin(kt), m=(0.3, 0.7, 1.0)
        )
        for kt, distance in places
    ]
    attracting = sum(len(survey.attracting) for survey in surveys)
    states = sum(len(survey.states) for survey in surveys)
    return attracting == 0, (
        f"at α = 0.5, κ~ = 0.1 and 0.4, d = 0.03 to 0.3 iterations end in {attracting} of "
        f"{states} states with p1 > p0"
    )


def margin_dense_threshold():
    """The load at which the slope around references of maximal margin touches zero."""
    return _dense(PERCEPTRON)


def monotonic_below_threshold():
    """The lowest slope at α = 0.71 and 0.727; the gap at 0.74, 0.75 and 0.8."""
    distances = np.geomspace(1e-3, 0.1, 40)
    lowest = [
        np.min(_curve(_largest(load).kappa, load, distances=distances).slope)
        for load in (0.71, 0.727)
    ]
    gaps = [_gap(load, _largest(load).kappa) for load in (0.74, 0.75, 0.8)]
    holds = min(lowest) > 0.0 and np.isnan(gaps[0][0]) and gaps[1][0] < gaps[1][1] < gaps[2][1]
    return bool(holds), (
        f"the slope is at least {listed(lowest, 2)} at α = 0.71, 0.727; no gap at 0.74, one from "
        f"d = {gaps[1][0]:.4f} to {gaps[1][1]:.4f} at 0.75"
    )


def thresholds_close():
    """The two thresholds, the dense one at infinitely many replicas and at zero complexity."""
    around = _dense(PERCEPTRON)
    large = [
        large_deviation.dense_threshold(PERCEPTRON, replicas=y)
        for y in (math.inf, "zero complexity")
    ]
    slightly = all(0.0 < 1.0 - around / load < SLIGHT for load in large)
    return slightly, (
        f"{around:.4f} against {listed(large, 4)}: lower by "
        f"{', '.join(f'{1 - around / load:.1%}' for load in large)} (slightly: less than a tenth)"
    )


def thresholds_close_planted():
    """The two thresholds with labels of a teacher, the dense one at infinitely many replicas."""
    around = margin_students.dense_threshold(PERCEPTRON)
    densest = margin_students.replica_threshold(PERCEPTRON)
    lower = 1.0 - around / densest
    return 0.0 < lower < SLIGHT, (
        f"{around:.4f} around students of maximal margin, {densest:.4f} of infinitely many "
        f"replicas: lower by {100 * lower:.1f} % (slightly: less than a tenth)"
    )


def committee_margin_thresholds():
    """The two thresholds."""
    sign, relu = _dense(SIGN), _dense(RELU)
    return sign < relu - 0.1, f"{sign:.4f} for sign units, {relu:.4f} for rectifiers"


def committee_curves_similar():
    """The lowest slope and the lowest local entropy below and above the two thresholds."""
    words, holds = [], True
    for device, loads in ((RELU, (0.7, 0.82)), (SIGN, (0.5, 0.6))):
        lowest = []
        for load in loads:
            reference = Margin(typical.max_margin(device, load))
            distances = np.geomspace(1e-5, 0.15, 50)
            curve = franz_parisi.curve(device, load, distances, reference=reference)
            lowest.append((np.min(curve.slope), np.min(curve.local_entropy)))
        holds &= lowest[0][0] > 0.0 > lowest[1][0] and lowest[0][1] > 0.0 > lowest[1][1]
        unit = type(device.activation).__name__
        words.append(f"α = {loads[0]} monotonic, {loads[1]} with a gap ({unit})")
    return bool(holds), "; ".join(words)
