"""A typical number of arrangements of two levels, replica symmetric between arrangements.

Besides the two overlaps that are asked for there is q0, between solutions of different
arrangements, and its conjugate: of the equations of two-step symmetry breaking the one for q0 is
left  [eq-nested-saddle]. Where the entropy is least in q1 and q2, and vanishes, the other two hold
as well: the threshold is the root of three equations for three conjugates.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

from wfmlib.numerics.arguments import Range
from wfmlib.numerics.solvers import NotConverged, Report, accepted
from wfmlib.theory.since.clusters.arrangements import (
    CLOSE,
    Arrangement,
    Shared,
    entropic,
    keeping,
    unresolved,
)
from wfmlib.theory.since.clusters.gaps import TOLERANCE, quenched_gap, solved

TURNS = 6  # of the loop for h0, before Newton's method
FIRST = (2.0, 2.0)  # sizes where a walk to other sizes starts
FEW = (3.0, 4.0)  # from which the best sizes are looked for
STRIDE = 0.3  # of logarithms of sizes
TRIED = np.array([1e-4, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9])  # q0 / q1


def saddle(overlaps, alpha, sizes, axes):
    """Return the `Arrangement` that keeps two overlaps at a positive load.

    Raises
    ------
    NotConverged
        Where q1 is not above the overlap of typical groups of m2, or such vectors do not exist.
    """
    splits = keeping(overlaps, 0.0, sizes)
    arrangement = Arrangement(0.0, *splits, *sizes, axes)
    if axes[2].even:
        return _lowest(arrangement, overlaps, alpha)
    try:
        for _ in range(TURNS):
            h0 = alpha * arrangement.force
            splits = keeping(overlaps, h0, sizes, splits)
            arrangement = Arrangement(h0, *splits, *sizes, axes)
        return _exact(arrangement, overlaps, alpha)
    except (ArithmeticError, ValueError):
        raise unresolved() from None


def _exact(start, overlaps, alpha):
    """Return the saddle point near an `Arrangement`."""
    (q1, q2), sizes, axes = overlaps, start.sizes, start.axes

    def equations(unknowns):
        arrangement = Arrangement(*np.exp(unknowns).tolist(), *sizes, axes)
        lacks = math.log(q1 / arrangement.q1), math.log((1.0 - q2) / (1.0 - arrangement.q2))
        return [*lacks, math.log(arrangement.loads[0] / alpha)]

    unknowns, residual = solved(equations, np.log(start.conjugates))
    accepted(residual, CLOSE, 1, "the overlap of arrangements found", unknowns)
    return Arrangement(*np.exp(unknowns).tolist(), *sizes, axes)


# ------------------------------------------------------------------------------------------------
# Constraints without a sign: q0 = 0 is stationary, and not always the minimum
# ------------------------------------------------------------------------------------------------


def _lowest(orthogonal, overlaps, alpha):
    """Return the lowest of all minima, that at q0 = 0 among them.

    The entropy falls with q0 where the load of its equation is below alpha.
    """
    rows = _tried(orthogonal)
    minima = [orthogonal] if rows[0].loads[0] >= alpha else []
    for below, above in itertools.pairwise(rows):
        if below.loads[0] < alpha <= above.loads[0]:
            minima.append(_exact(above, overlaps, alpha))
    if not minima:  # it falls all the way to q0 = q1
        message = "no saddle point: q1 must be above the overlap of typical groups"
        raise NotConverged(Report(False, math.log(alpha / rows[-1].loads[0]), 1, message))
    return min(minima, key=lambda minimum: minimum.entropy(alpha))


def _tried(orthogonal):
    """Return arrangements with the same q1 and q2 at growing q0."""
    (_, *splits), (m1, m2) = orthogonal.conjugates, orthogonal.sizes
    q1, q2 = orthogonal.q1, orthogonal.q2
    response = 1.0 + (m2 - 1.0) * q2 + (m1 - 1.0) * m2 * q1  # to a small field
    unknowns, before = np.log([q1 / response**2, *splits]), q1
    rows = []
    for q0 in (TRIED * q1).tolist():
        unknowns[0] += math.log(q0 / before)
        before = q0

        def lack(unknowns, q0=q0):
            overlaps = entropic(*np.exp(unknowns).tolist(), m1, m2)
            high = math.log((1.0 - q2) / (1.0 - overlaps.second))
            return [math.log(q0 / overlaps.common), math.log(q1 / overlaps.first), high]

        unknowns, residual = solved(lack, unknowns)
        accepted(residual, CLOSE, 1, "conjugates found", unknowns)
        rows.append(Arrangement(*np.exp(unknowns).tolist(), m1, m2, orthogonal.axes))
    return rows


def check_orthogonal(orthogonal, alpha):
    """Raise NotConverged where the entropy falls as q0 grows from 0."""
    load = min(arrangement.loads[0] for arrangement in _tried(orthogonal))
    if load < alpha:
        message = "arrangements at the threshold have an overlap, where 0 was expected"
        raise NotConverged(Report(False, math.log(alpha / load), 1, message))


# ------------------------------------------------------------------------------------------------
# The threshold
# ------------------------------------------------------------------------------------------------


def _equations(unknowns, sizes, axes):
    """Return what is left of both equations at the load of the third, and the state there."""
    arrangement = Arrangement(*np.exp(unknowns).tolist(), *sizes, axes)
    allowed = Range.of(Shared)
    if not allowed.low < arrangement.q1 < arrangement.q2 < allowed.high:
        raise ValueError(f"overlaps out of range, {(arrangement.q1, arrangement.q2)}")
    load0, *loads = arrangement.loads
    return [math.log(other_load / load0) for other_load in loads] + [
        arrangement.entropy(load0)
    ], arrangement


@lru_cache(maxsize=64)
def gap(sizes, axes):
    """Return the `Arrangement` at the threshold, and a report; sizes are above 1, or None.

    Raises
    ------
    NotConverged
        Where it is not found: of large groups, overlaps are too close to 1.
    """
    if sizes is None:
        start, report = gap(FEW, axes)

        def free(unknowns):
            sizes = np.exp(unknowns[3:]).tolist()
            left, arrangement = _equations(unknowns[:3], sizes, axes)
            return [*left, *arrangement.leanings(arrangement.loads[0])]

        unknowns, residual = solved(free, np.log([*start.conjugates, *FEW]))
        report = accepted(residual, TOLERANCE, 1, "entropy and four derivatives vanish")
        sizes = tuple(np.exp(unknowns[3:]).tolist())
        return Arrangement(*np.exp(unknowns[:3]).tolist(), *sizes, axes), report
    alpha = quenched_gap(math.prod(FIRST), axes)[0]
    guess = np.log([10.0 * alpha / math.prod(FIRST) ** 2, 0.5 / FIRST[0], 2.0 / FIRST[1]])
    logs = np.log([FIRST, sizes])
    steps = math.ceil(np.max(np.abs(logs[1] - logs[0])) / STRIDE)
    rows = []
    for share in np.linspace(0.0, 1.0, steps + 1) if steps else [0.0]:
        counts = np.exp(logs[0] + share * (logs[1] - logs[0])).tolist()

        def equations(unknowns, counts=counts):
            return _equations(unknowns, counts, axes)[0]

        start = guess if not rows else rows[-1] if len(rows) < 2 else 2.0 * rows[-1] - rows[-2]
        unknowns, residual = solved(equations, start)
        message = f"entropy and slopes vanish for {counts[0]:.3g} groups of {counts[1]:.3g}"
        report = accepted(residual, TOLERANCE, len(rows) + 1, message, unknowns)
        rows.append(unknowns)
    return Arrangement(*np.exp(rows[-1]).tolist(), *sizes, axes), report
