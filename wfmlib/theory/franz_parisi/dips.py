"""Dips of the local entropy, or of its slope, near the reference.

`Profile` is the curve around one reference against the logarithm of the distance, `Scan` finds the
lowest minimum of a quantity on it, and `touching` the reference margin at which a minimum is zero.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy

from wfmlib.models.constraints import Margin
from wfmlib.models.devices import WEIGHTS
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, Report, first_root
from wfmlib.theory.axes import energetic
from wfmlib.theory.franz_parisi.surroundings import Surroundings
from wfmlib.theory.typical import solve as solve_typical

# At distance d a pattern's field on a solution differs from that on the reference by
# sqrt(1 - c(t1)^2) or so. Dips lie where this is of the order of the difference of the margins:
# here in units of it, with their number.
REACHES = np.geomspace(0.04, 6.0, 16).tolist()
NARROW = 1.15  # factor between the reaches that are tried next to a known dip
FAR = math.log(0.5)


class Profile:
    """The local entropy around one reference; `place` is the logarithm of the distance."""

    def __init__(
        self, device, alpha, reference, constraint, planted=False, states=None, weights=WEIGHTS
    ):
        self.case = Surroundings(
            device, alpha, reference, constraint, planted=planted, weights=weights
        )
        self.term = self.case.axes[1]
        self.difference = math.nan  # of two margins; a loss has none
        if reference.hard:
            self.difference = (reference.kappa - constraint.kappa) / self.term.scale
        self.states = {} if states is None else states  # of this profile, or of one like it

    def at(self, place):
        """Return the saddle point, found from the nearest one that is known."""
        start = self.case.start
        if self.states:
            start = self.states[min(self.states, key=lambda known: abs(known - place))]
        distance = min(math.exp(place), 0.5)
        self.states[place] = self.case.solve_from(distance, start)
        return self.case.at(distance, self.states[place])

    def top(self):
        """Return the place of the maximum."""

        def nearness(place):
            try:
                turn = self.at(place)
            except NotConverged:  # solutions on the sphere do not reach that far
                return -1.0
            return turn.t1 - turn.t0

        if nearness(FAR) > -1e-10:  # at small loads typical solutions are orthogonal
            return FAR
        try:
            return first_root(nearness, FAR, -30.0, step=0.3)[0]
        except NotConverged as failure:
            message = (
                "no distance was found at which counted solutions are as close to their reference "
                f"as to others: are there any of {self.case.constraint} at alpha = "
                f"{self.case.alpha:.6g}?"
            )
            report = Report(False, failure.residual, failure.report.iterations, message)
            raise NotConverged(report, failure.state) from None

    def place(self, reach):
        """Return where the fields on reference and counted solutions differ by as much.

        None beyond the typical distance of references, or if there is no such place.
        """

        def spread(place):
            gap = self.term.effective(1.0 - 2.0 * math.exp(place), 2.0 * math.exp(place))
            return 0.5 * math.log((2.0 - gap.complement) * gap.complement)

        target = math.log(self.difference / reach)
        far = math.log(0.5 * self.case.reference.complement)
        if target >= spread(far):
            return None
        return scipy.optimize.brentq(lambda x: spread(x) - target, -80.0, far, xtol=1e-3)


class Scan:
    """Finds the lowest minimum of a quantity between the reference and the maximum.

    It remembers where it found the last one, in units of REACHES, and looks there first.
    """

    def __init__(self, quantity):
        self.quantity = quantity
        self.last = None
        self.failed = False  # whether replica symmetry failed at any place looked at

    def __call__(self, profile):
        """Return where the minimum is, and the value; infinite where there is none.

        A minimum next to a failure of replica symmetry is returned as it was seen.
        """

        @cache
        def value(place):
            if place is None:
                return math.nan
            try:
                return getattr(profile.at(place), self.quantity)
            except NotConverged:
                self.failed = True
                return math.inf

        @cache
        def seen(reach):
            return value(profile.place(reach))

        reaches = self._near(seen) or _dip(seen, REACHES)
        if reaches is None:
            return math.nan, math.inf
        self.last = reaches[1]
        places = [profile.place(reach) for reach in reaches]
        if not all(map(math.isfinite, map(seen, reaches))):
            return places[1], seen(reaches[1])
        lowest = scipy.optimize.minimize_scalar(value, bracket=places[::-1], tol=3e-6)
        return lowest.x, lowest.fun

    def _near(self, seen):
        """Return three reaches around the last dip, the middle one lowest, if it is near."""
        if self.last is None:
            return None
        middle = self.last
        for _ in range(4):
            three = middle / NARROW, middle, middle * NARROW
            values = [seen(reach) for reach in three]
            if not all(map(math.isfinite, values)):
                return None
            if values[1] <= min(values):
                return three
            middle = three[int(np.argmin(values))]
        return None


def _dip(seen, reaches):
    """Return three successive reaches, the middle one lowest of all such."""
    values = [seen(reach) for reach in reaches]
    dips = [
        k
        for k in range(1, len(reaches) - 1)
        if math.isfinite(values[k]) and values[k - 1] >= values[k] <= values[k + 1]
    ]
    if not dips:
        return None
    best = min(dips, key=lambda k: values[k])
    return tuple(reaches[best - 1 : best + 2])


# ------------------------------------------------------------------------------------------------
# The margin at which a dip is zero
# ------------------------------------------------------------------------------------------------


def touching(quantity, device, alpha, constraint, start):
    """Return where a dip of a quantity is zero: ``(ln d, ln(kt - kappa))``; None if not found.

    Two equations, the quantity and its derivative, in two unknowns.

    Parameters
    ----------
    quantity : {"local_entropy", "derivative"}
    device : Device
    alpha : float
    constraint : Margin
        Of the counted solutions.
    start : array_like, shape (2,)
        Guess.
    """
    states = {}

    def residual(unknowns):
        place, log_difference = unknowns
        reference = Margin(constraint.kappa + math.exp(log_difference))
        profile = Profile(device, alpha, reference, constraint, states=states)
        if quantity == "local_entropy":
            turn = profile.at(place)
            return [turn.local_entropy * math.exp(-place), turn.derivative]
        low, middle, high = (profile.at(place + h).derivative for h in (-STEP, 0.0, STEP))
        return [middle, 0.5 * (high - low) / STEP]  # the latter errs by a relative STEP^2

    try:
        root = scipy.optimize.root(residual, start, options={"xtol": 1e-10, "eps": 1e-5})
    except (NotConverged, ValueError):  # a guess led outside
        return None
    return root.x if root.success and np.max(np.abs(root.fun)) < 1e-6 else None


STEP = (
    1e-3  # in ln d, for the second derivative: where it vanishes errs by 1e-6, the slope by 1e-12
)


def estimate(quantity, device, alpha, constraint):
    """Guess where a dip is zero: `touching` for independent losses of patterns.

    Near a reference of margin kt a pattern of stability ``kt + x``, of density P, is lost with
    probability ``H((kt + x - kappa) / w)`` at the distance where fields spread by w: the local
    entropy is ``d - d ln d`` less alpha P times the integral over x of ``-ln(1 - H)``.
    """
    term = energetic(device)
    density = solve_typical(device, alpha, constraint).margin_density
    u = np.linspace(0.0, 12.0, 1201)
    losses = np.cumsum(-gaussian.log_H(-u)[::-1])[::-1] * (u[1] - u[0])
    places = np.linspace(math.log(1e-8), math.log(0.1), 300)
    distances = np.exp(places)
    gaps = [term.effective(1.0 - 2.0 * d, 2.0 * d).complement for d in distances.tolist()]
    widths = term.scale * np.sqrt(2.0 * np.array(gaps))

    def lowest(log_difference):
        lost = np.interp(math.exp(log_difference) / widths, u, losses, right=0.0)
        height = distances * (1.0 - places) - alpha * density * widths * lost
        values = height if quantity == "local_entropy" else np.gradient(height, places)
        best = 1 + np.argmin(values[1:-1])
        return values[best], places[best]

    differences = np.linspace(math.log(2.0 * term.scale), math.log(1e-4), 80)
    for log_difference in differences.tolist():
        value, place = lowest(log_difference)
        if value < 0.0:
            return place, log_difference
    return None
