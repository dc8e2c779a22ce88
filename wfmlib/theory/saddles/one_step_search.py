"""The search for groups of solutions, from the replica-symmetric saddle point.

For every m `broken_symmetry` has a saddle point, or none. At m = 1 its q0 is the replica-symmetric
overlap, and the difference of the overlaps is a zero of one function of one variable. From there
we walk towards m = 0 until the complexity vanishes  [eq-1rsb-saddle].
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory.saddles.broken_symmetry import Broken
from wfmlib.theory.saddles.one_step_capacity import limit
from wfmlib.theory.saddles.replica_symmetric import Stationary

TOLERANCE = 1e-10  # largest residual of a saddle point
LEAST_LOG_M = -60.0  # where the walk towards m = 0 ends
WIDTHS = (0.3, 0.1, 0.03, 0.01)  # of brackets of ln m, from which all equations are tried at once
# Below this split the zero of the complexity, of third order in it, drowns in rounding; the more
# so, the larger the first-order terms that cancel, ``q_hat (1 - q)``.
SMALL_SPLIT, LARGE_TERMS = 0.02, 100.0
LEAST_SPLIT = 1e-6  # below it the other equations do: replica symmetry is taken to hold
FIRST_SPLIT, STRIDE = 0.01, 10.0 ** (1.0 / 3.0)  # where groups are looked for


class Search:
    """The search at one load.

    Parameters
    ----------
    alpha : float
        Positive.
    q_hat : float
        Of the replica-symmetric saddle point at this load.
    axes : tuple
        Weights, activation, constraint.

    Attributes
    ----------
    evaluations : int
        How many candidates were looked at.
    """

    def __init__(self, alpha, q_hat, axes):
        self.alpha, self.q_hat, self.axes = alpha, q_hat, axes
        self.evaluations = 0
        self._unbroken = Stationary(q_hat, *axes)
        terms = max(1.0, q_hat * self._unbroken.complement / LARGE_TERMS)
        self._small = SMALL_SPLIT * terms ** (1.0 / 3.0)
        self._largest = TOLERANCE * np.array([1.0, 1.0, terms])

    def groups(self):
        """Return the saddle point with groups of solutions, None if there are none.

        Raises
        ------
        NotConverged
            Above the capacity of spherical weights, and where it is not found.
        """
        discrete = self.axes[0].discrete
        split = self._split()
        if split is None:
            return None
        broken = self._at(self.q_hat, split, 1.0)
        start = np.log([self.q_hat, split])
        if split < self._small:  # too small for the sign of the complexity; it is negative
            return self._near_transition(start)
        if broken.complexity(self.alpha) < 0.0:
            if not discrete and self.alpha >= limit(*self.axes[1:]).alpha:
                raise self._failure("above capacity")
            return self._walk(start)
        if discrete:  # each of the groups consists of frozen ones, as all solutions do
            return None
        return broken

    def residuals(self, broken):
        """Return by how much the two equations for the overlaps are missed."""
        return np.log(self.alpha / np.array([broken.load_between, broken.load_within]))

    def _at(self, q0_hat, split, m):
        """Return a candidate."""
        self.evaluations += 1
        return Broken(q0_hat, split, m, *self.axes)

    def _split(self):
        """Return the split of the groups that exist at m = 1, None if there are none.

        There q0 is the replica-symmetric overlap. A split grows where `gain` is positive and
        shrinks where it is negative; groups are where it changes from growing to shrinking. For
        binary weights a larger split grows again, towards the frozen point that always exists.
        """

        def gain(split):
            # none where groups are too narrow to be told apart
            return math.log(max(self.alpha / self._at(self.q_hat, split, 1.0).load_within, 1e-300))

        weights = self.axes[0]
        splits, gains = [0.0], [math.log(max(self._unbroken.replicon, 1e-300))]
        while splits[-1] < weights.last_split or (
            gains[-1] > 0.0 and splits[-1] < weights.largest_split
        ):
            splits.append(STRIDE * splits[-1] if splits[-1] else FIRST_SPLIT)
            gains.append(gain(splits[-1]))
        top = int(np.argmax(gains[:-1]))
        if top > 0 and -0.05 < gains[top] <= 0.0:  # it might be above zero between these points
            ends = math.log(splits[max(top - 1, 1)]), math.log(splits[top + 1])
            best = scipy.optimize.minimize_scalar(lambda y: -gain(math.exp(y)), bounds=ends)
            splits[top], gains[top] = math.exp(best.x), -best.fun
        down = [i for i in range(len(gains) - 1) if gains[i] > 0.0 >= gains[i + 1]]
        if not down:
            if gains[0] > 0.0 or (gains[-1] > 0.0 and not weights.discrete):
                raise self._failure("no groups at m = 1")
            return None
        low = max(splits[down[-1]], LEAST_SPLIT)
        if gain(low) <= 0.0:  # at the transition itself
            return None
        return scipy.optimize.brentq(gain, low, splits[down[-1] + 1], xtol=1e-14, rtol=1e-12)

    def _walk(self, start):
        """Return the saddle point at which the complexity vanishes.

        From m = 1, where the overlaps are known, downwards until the complexity changes sign, the
        overlaps being solved for at every m. Then all three equations at once.
        """
        above = below = (0.0, start, self._complexity(0.0, start))
        stride = 0.25
        while below[2] < 0.0:
            log_m = below[0] - stride
            if log_m < LEAST_LOG_M or stride < 1e-4:
                raise self._failure("no m at which the complexity vanishes")
            state = self._overlaps(log_m, below, above)
            if state is None:  # too far from what is known
                stride *= 0.25
                continue
            above, below = below, (log_m, state, self._complexity(log_m, state))
            stride *= 1.5

        def residuals(x):
            broken = self._at(*np.exp(x))
            share = broken.m * broken.split / (1.0 + broken.m * broken.split)
            return *self.residuals(broken), broken.complexity(self.alpha) / share**2

        for width in WIDTHS:
            while above[0] - below[0] > width:
                log_m = 0.5 * (above[0] + below[0])
                state = self._overlaps(log_m, below, above)
                if state is None:
                    raise self._failure("no saddle point found")
                middle = log_m, state, self._complexity(log_m, state)
                above, below = (middle, below) if middle[2] < 0.0 else (above, middle)
            shares = np.array([-below[2], above[2]]) / (above[2] - below[2])
            ends = [np.append(end[1], end[0]) for end in (above, below)]
            state = _root(residuals, shares @ ends, largest=self._largest)
            if state is not None and below[0] - width < state[2] < above[0] + width:
                return self._at(*np.exp(state))
        raise self._failure("no saddle point found")

    def _near_transition(self, start):
        """Return the saddle point just above a continuous transition.

        The complexity is of third order in the split there. But m is a smooth function of the
        split: where the split is large enough we choose it, and read off the load; m follows by
        extrapolation.
        """
        splits = self._small * np.arange(6.0, 0.0, -1.0)
        state = np.array([start[0], 0.5])
        parisi_parameters = []
        for split in splits:

            def residuals(x, split=split):
                broken = self._at(math.exp(x[0]), split, x[1])
                load = broken.load_between
                scale = (x[1] * split) ** 2
                return math.log(broken.load_within / load), broken.complexity(load) / scale

            state = _root(residuals, state, 1e-11, self._largest[1:])
            if state is None:
                raise self._failure("no saddle point found near the transition")
            parisi_parameters.append(state[1])
        parisi = np.polynomial.Polynomial.fit(splits, parisi_parameters, len(splits) - 1)

        def candidate(x):
            split = math.exp(x[1])
            return self._at(math.exp(x[0]), split, float(parisi(split)))

        # the slope of a load in ln split is the split itself: longer steps show it above rounding
        state = _root(lambda x: self.residuals(candidate(x)), start, step=1e-8)
        if state is None:
            raise self._failure("no saddle point found near the transition")
        return candidate(state)

    def _overlaps(self, log_m, near, far):
        """Return ln q0_hat and ln split at m, from the line through two known states."""
        state = near[1]
        if near[0] != far[0]:
            state = state + (log_m - near[0]) / (far[0] - near[0]) * (far[1] - state)
        m = math.exp(log_m)
        return _root(lambda x: self.residuals(self._at(*np.exp(x), m)), state, 1e-4, 1e-3)

    def _complexity(self, log_m, state):
        return self._at(*np.exp(state), math.exp(log_m)).complexity(self.alpha)

    def _failure(self, message):
        return NotConverged(Report(False, math.inf, self.evaluations, message))


def _root(residuals, start, tolerance=1e-13, largest=TOLERANCE, step=None):
    """Return a root of several equations by Powell's method, None where it does not get there."""
    with np.errstate(all="ignore"):
        try:
            root = scipy.optimize.root(
                residuals, start, options={"xtol": tolerance, "eps": step, "maxfev": 60}
            )
        except (ArithmeticError, ValueError):  # it left the domain
            return None
    return root.x if np.all(np.abs(root.fun) < largest) else None
