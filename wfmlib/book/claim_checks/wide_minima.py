"""Checks of the claims on dense regions in committees (chapter 3)."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import special

from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Binary, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.theory import large_deviation, stabilities, typical

THREE, MANY = TreeCommittee(3), TreeCommittee(np.inf)  # sign units, real weights
RELU = TreeCommittee(np.inf, ReLU())


def dense_regions_exist_binary():
    """The entropy of the densest groups that exist, over that without patterns, overlap 0.95.

    As many replicas as let the complexity vanish: there are no denser groups. *Extremely dense* is
    nine tenths, which is our reading.
    """
    loads, overlap, perceptron, share = (0.4, 0.6, 0.75), 0.95, Perceptron(), []
    for load in loads:
        y = large_deviation.zero_complexity_replicas(perceptron, load, overlap)
        point = large_deviation.solve(perceptron, load, overlap, replicas=y)
        share.append(point.entropy / (point.entropy - point.local_entropy))
    end = dense_threshold_zero_complexity() / typical.capacity(perceptron)
    return min(share) > 0.9 and end > 0.9, (
        f"dense regions end at {end:.2f} of α_c; at overlap {overlap} the densest groups have "
        f"{listed(share, 2)} of the entropy without patterns, at α = {listed(loads, 2)}"
    )


def dense_threshold():
    """The load where the entropy of groups, y → ∞, stops being monotonic in q1."""
    return large_deviation.dense_threshold(Perceptron())


def dense_threshold_zero_complexity():
    """The same along the line of zero complexity, where the densest groups are not rare."""
    return large_deviation.dense_threshold(Perceptron(), replicas="zero complexity")


def sign_committee_k3_instability():
    """The load at which the replicon of three sign units reaches 1."""
    return typical.instability(THREE)


def _split(load, gaps, fields=25, noise=31, far=6.0):
    """Return how near three sign units come to a second overlap q1 = q + gap, m = 1.

    The two sides of the saddle point, 3 α (M(q1) - M(q)) over (q1 - q) / (1 - q1)(1 - q), where
    M(q1) is the mean square of d ln Σ / dω of a unit's field, weighted with Σ: 1 at a solution,
    and for q1 → q the replicon.
    """
    q = typical.solve(THREE, load).q
    v, u = (np.linspace(-far, far, number) for number in (fields, noise))
    weight_v, weight_u = (np.exp(-x * x / 2) / np.sum(np.exp(-x * x / 2)) for x in (v, u))
    cells = np.einsum("a,b,c->abc", weight_u, weight_u, weight_u)

    def mean_square(q1):
        z = (np.sqrt(q) * v[:, None] + np.sqrt(q1 - q) * u) / np.sqrt(1.0 - q1)
        right, slope = special.ndtr(z), np.exp(-z * z / 2) / np.sqrt(2.0 * np.pi * (1.0 - q1))
        total = 0.0
        for a, b, c in np.ndindex(fields, fields, fields):
            share = weight_v[a] * weight_v[b] * weight_v[c] * (1 + (b < c))
            if b <= c and share > 1e-10:
                x, y = right[b][None, :, None], right[c]
                one = x + y - 2.0 * x * y  # that exactly one of the two others is right
                every = right[a][:, None, None] * one + x * y
                square = (slope[a][:, None, None] * one) ** 2 / every
                total += share * np.sum(cells * square) / np.sum(cells * every)
        return total

    base = mean_square(q)
    return [
        3.0 * load * (mean_square(q + gap) - base) * (1.0 - q - gap) * (1.0 - q) / gap
        for gap in gaps
    ]


def sign_committee_k3_jumps():
    """The two sides of the equation for a second overlap, m = 1: their ratio at two loads."""
    gaps = (0.02, 0.1, 0.2)
    below, above = _split(1.73, gaps), _split(1.9, gaps)
    far = np.interp(-1.0, -np.array(above), gaps)  # where the sides are equal
    return bool(max(below) > 1.0), (
        f"sides at q1 - q = {', '.join(f'{gap:g}' for gap in gaps)}: {listed(below, 2)} at the "
        f"load 1.73, {listed(above, 2)} at 1.9, where they are equal at {far:.2f}"
    )


def sign_committee_k3_capacity():
    """The load at which the q1 of one-step replica symmetry breaking reaches 1."""
    return typical.capacity(THREE, ansatz="1RSB")


def wide_minima_many_units():
    """The log fraction towards q1 = 1, many sign units, one more step of breaking, to α = 4."""
    overlaps, loads = (0.98, 0.997, 0.9997), (3.0, 4.0)
    rows = [
        [large_deviation.solve(MANY, load, q, steps=1).local_entropy for q in overlaps]
        for load in loads
    ]
    rising = all(np.all(np.diff(row) > 0.0) for row in rows)
    words = [f"α = {a:g}: {listed(row, 4)}" for a, row in zip(loads, rows, strict=True)]
    return bool(rising and min(row[-1] for row in rows) > -0.05), (
        f"{'; '.join(words)} nats at overlaps {listed(overlaps, 4)}. The limit alone "
        "is no evidence for dense regions: it is the entropy of one weight vector over y"
    )


def small_rsb_corrections():
    """The log fraction of many units with symmetric groups and with one more step of breaking."""
    cases = ((MANY, 1.0, 0.8), (MANY, 1.0, 0.95), (MANY, 4.0, 0.98), (RELU, 1.0, 0.95))
    pairs = [
        [large_deviation.solve(*case, steps=steps).local_entropy for steps in (0, 1)]
        for case in cases
    ]
    words = "; ".join(
        f"{'rectifiers' if device == RELU else 'signs'}, α = {load:g}, q1 = {overlap}: "
        f"{before:.4f} becomes {after:.4f}"
        for (device, load, overlap), (before, after) in zip(cases, pairs, strict=True)
    )
    return all(after > 1.1 * before for before, after in pairs), f"{words} nats"


def energetic_term_is_log_fraction():
    """Both at q1 = 0.9, α = 1, many sign units; and the true fraction for 1000 replicas."""
    limit = large_deviation.solve(MANY, 1.0, 0.9)
    many = large_deviation.solve(MANY, 1.0, 0.9, replicas=1000)
    return abs(many.local_entropy - limit.energetic) < abs(
        many.local_entropy - limit.local_entropy
    ), (
        f"α G_E is {limit.energetic:.4f}, the difference from α = 0 is {limit.local_entropy:.4f}; "
        f"with 1000 replicas the latter is {many.local_entropy:.4f}"
    )


@cache
def _log_fractions(weights, overlap, load):
    return [
        large_deviation.local_entropy(TreeCommittee(np.inf, unit, weights), load, overlap)
        for unit in (ReLU(), Sign())
    ]


def relu_denser_near_one():
    """The log fractions at q1 = 0.95, small loads: rectifiers, sign units."""
    cases = ((Binary(), 0.2), (Binary(), 0.4), (Spherical(), 0.5), (Spherical(), 0.75))
    fractions = [_log_fractions(weights, 0.95, load) for weights, load in cases]
    words = "; ".join(f"{relu:.1e} against {sign:.1e}" for relu, sign in fractions)
    return all(sign < relu < 0.0 for relu, sign in fractions), (
        f"{words} at overlap 0.95 (binary at α = 0.2, 0.4; real at 0.5, 0.75)"
    )


def relu_and_sign_switch():
    """The log fractions at q1 = 0.98, binary weights at α = 0.75, real weights at α = 2."""
    fractions = [
        _log_fractions(weights, 0.98, load)
        for weights, load in ((Binary(), 0.75), (Spherical(), 2))
    ]
    words = "; ".join(f"{relu:.1e} against {sign:.1e}" for relu, sign in fractions)
    return all(relu < sign for relu, sign in fractions), (
        f"{words} for rectifiers and sign units at overlap 0.98 (binary, α = 0.75; real, α = 2); "
        "the load depends on the overlap"
    )


CASES = ((0.4, 0.85), (0.2, 0.85), (0.4, 0.75), (0.6, 0.85))  # loads and overlaps


@cache
def _dense_stabilities(load, overlap):
    """Where the density is largest, and its width, for rectifiers and sign units."""
    densities = []
    for unit in (ReLU(), Sign()):
        grid = np.linspace(1e-6, 5.0, 101) * unit.scale
        device = TreeCommittee(np.inf, unit, Binary())
        density = stabilities.density(device, load, grid, overlap=overlap, replicas=20)
        mean = np.trapezoid(grid * density, grid)
        width = np.sqrt(np.trapezoid((grid - mean) ** 2 * density, grid))
        densities.append((grid[np.argmax(density)], width))
    return densities


def dense_stabilities_peak_away_from_zero():
    """The density for y = 20, q1 = 0.85, α = 0.4 and binary weights on a grid."""
    (relu, _), (sign, _) = _dense_stabilities(*CASES[0])
    return bool(min(relu, sign) > 0.1), (
        f"largest at stability {relu:.2f} for rectifiers, {sign:.2f} for sign units"
    )


def relu_stabilities_nearer_and_narrower():
    """Peaks and standard deviations for y = 20 and binary weights, in four cases."""
    rows = [(*case, *_dense_stabilities(*case)) for case in CASES]
    holds = all(relu < sign and narrow < wide for _, _, (relu, narrow), (sign, wide) in rows)
    words = [
        f"{relu:.2f}, {narrow:.2f} against {sign:.2f}, {wide:.2f} at α = {load}, q1 = {overlap}"
        for load, overlap, (relu, narrow), (sign, wide) in rows
    ]
    return bool(holds), f"peak and width, rectifiers against sign units: {'; '.join(words)}"
