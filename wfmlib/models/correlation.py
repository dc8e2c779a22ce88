"""Correlation of the outputs of any activation g, ``Delta(q) = E[g(a) g(b)]``, and its slopes.

Two ways, each where it is good.

*Hermite series.* With ``g = sum_k a_k He_k / sqrt(k!)``, ``Delta(q) = sum_k a_k^2 q^k``. A sum up
to k = n leaves out at most ``r |q|^(n+1)``, where r is the variance of g beyond the first n terms;
for ``c''`` the bound is ``r (n+1)^2 |q|^(n-1)``. The series is used where that is below 1e-13 of
the variance: everywhere for a smooth g, up to q of about 0.99 for one with corners or jumps.

*Conditioning*, for q closer to 1. Let ``a = sqrt(q) s + sigma y`` and b the same with another y,
``sigma^2 = 1 - q``. With ``m_j(s) = E_y[He_j(y) g(sqrt(q) s + sigma y)]``,

    Delta = E m_0^2,  Delta' = E m_1^2 / sigma^2,  Delta'' = E m_2^2 / sigma^4,

and ``Delta_2 - Delta`` is the mean over s of the variance over y. All are averages of squares, and
keep their digits as q -> 1. (The two derivatives are Price's theorem, integrated by parts.)

Between its corners and jumps g is a polynomial, piece by piece, with an error that the normal
density weighs. In the tails neighbours may so differ by far more than rounding: that is no jump.
Of a function in single precision the averages see the polynomials, not their rounding.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.numerics import gaussian

LIMIT = 12.0  # g is looked at from -12 to 12; the normal measure outside is 1e-32
TERMS = 4096
NARROW = 1e-5  # on a shorter scale g may only have corners and jumps
MOST = 2000  # polynomials
BESIDE = np.array([-1e-14, 1e-14])
# Of a function in double and in single precision: the error of its polynomials, and the change
# within 1e-14 that is a jump.
DOUBLE, SINGLE = (1e-13, 1e-9), (1e-6, 1e-5)
RULE = gaussian.legendre_rule(16)
# From values at the rule's nodes to Legendre coefficients, and from those to the derivative there.
TO_SERIES = (RULE[:, 1, None] * np.polynomial.legendre.legvander(RULE[:, 0], 15)).T * (
    np.arange(16)[:, None] + 0.5
)
ENDS = np.array([-1.0, 1.0]) * (1.0 - 1e-6)
POINTS = np.concatenate([RULE[:, 0], ENDS])
AT_ENDS = np.polynomial.legendre.legvander(ENDS, 15)
SLOPES = np.polynomial.legendre.legvander(RULE[:, 0], 14) @ np.polynomial.legendre.legder(
    np.eye(16)
)
# Where g is looked at first. No halving hits a round number, where a corner would go unnoticed,
# and no more than 0.0015 lies between two points, where a dead zone might.
COMB = np.linspace(-LIMIT - 1.0 / 7.0, LIMIT - 1.0 / 11.0, 1537)


class Correlation:
    """What the theory needs to know of an activation `g`, computed once.

    Called with q and 1 - q it returns ``c, 1 - c, c', c''``.
    """

    def __init__(self, g):
        if not callable(g):
            raise TypeError(f"g must be a function of an array, got {g!r}")
        self.g = g
        self.single = False
        x, weight = gaussian.grid(limit=LIMIT)
        square = weight * self.values(x) ** 2
        self.norm = math.sqrt(np.sum(square))
        if not np.sum(square[np.abs(x) > 10.0]) <= 1e-12 * self.norm**2:
            raise ValueError("g must grow so slowly that E g(x)^2 exists, x normal")
        self.kinks, places, self.jumps = self._find_kinks()
        self._find_pieces(places)
        self._expand()
        self.scale = math.sqrt(self.variance)
        self.slope_at_one = math.inf if self.jumps else self._slope_at_one() / self.variance

    def __call__(self, q, complement):
        """Return ``c, 1 - c, c', c''`` at the overlap q, complement = 1 - q."""
        formula = self._series if abs(q) <= self.radius else self._conditioned
        c, gap, slope, curvature = formula(q, complement)
        return c if q < 0.5 else 1.0 - gap, gap, slope, curvature

    def values(self, x):
        """Return g at the points x, checked."""
        try:
            y = np.asarray(self.g(x))
        except (TypeError, ValueError) as error:  # a condition on one number, or a function of it
            raise TypeError(
                f"g must accept an array of floats ({error}): write it with NumPy, as "
                "np.maximum(x, 0) or np.where(x > 0, x, 0.1 * x)"
            ) from error
        if y.shape != x.shape or y.dtype.kind not in "biuf":
            raise TypeError(
                f"g must return real numbers in an array of its argument's shape {x.shape}, "
                f"got dtype {y.dtype}, shape {y.shape}"
            )
        if y.dtype == np.float16:
            raise TypeError("g must return numbers in double or single precision, got float16")
        if not np.all(np.isfinite(y)):
            raise ValueError(f"g must be finite, got {y[~np.isfinite(y)][0]} between -12 and 12")
        self.single |= y.dtype == np.float32
        return y.astype(float)

    @property
    def error(self):
        """Error of the polynomials, in standard deviations of g."""
        return (SINGLE if self.single else DOUBLE)[0]

    # --- smooth pieces of g ---------------------------------------------------------------------

    def _agree(self, missed, nearest, largest):
        """Return whether g is missed by so little, at a distance `nearest` from 0.

        That is little next to the norm of g, weighed by the square root of the normal density, or
        rounding of the largest value.
        """
        rounding = 4.5 * np.finfo(np.float32 if self.single else float).eps
        density = np.exp(-0.25 * nearest**2)
        return (missed * density <= self.error * self.norm) | (missed <= rounding * largest)

    def _bisect(self, edges, narrowest):
        """Halve the intervals until a polynomial of degree 15 is g on each.

        Returns the intervals where that was reached, and those below `narrowest` where it was not.
        """
        todo = np.stack([edges[:-1], edges[1:]], axis=1)
        smooth, rough = [], []
        while len(todo):
            half = 0.5 * (todo[:, 1:] - todo[:, :1])
            values = self.values(todo[:, :1] + half * (1.0 + POINTS))
            series = values[:, :16] @ TO_SERIES.T
            # The last coefficients are small, and the polynomial is right at the ends, too, where
            # a corner may hide between the interval's end and its first node.
            missed = 0.1 * np.max(np.abs(series @ AT_ENDS.T - values[:, 16:]), axis=1)
            missed = np.maximum(missed, np.max(np.abs(series[:, -3:]), axis=1))
            nearest = np.maximum(np.maximum(todo[:, 0], -todo[:, 1]), 0.0)
            good = self._agree(missed, nearest, np.max(np.abs(series), axis=1))
            if self.single:  # x itself may have been rounded; this hides no corner and no jump
                steep = np.ptp(values, axis=1) / half[:, 0]
                rounding = 4.0 * np.finfo(np.float32).eps * (nearest + 2.0 * half[:, 0]) * steep
                good |= (missed <= rounding) & (half[:, 0] > 1e-4)
            small = half[:, 0] < 0.5 * narrowest
            # of a jump far in the tails one halving sees a little more than another
            good |= small & self._agree(0.03 * missed, nearest, 0.0)
            small &= ~good
            smooth.append(todo[good])
            rough.append(todo[small])
            todo = todo[~good & ~small]
            middle = 0.5 * np.sum(todo, axis=1)
            todo = np.concatenate(
                [np.stack([todo[:, 0], middle], 1), np.stack([middle, todo[:, 1]], 1)]
            )
            if len(todo) > MOST:
                raise self._too_fast()
        return np.concatenate(smooth), np.concatenate(rough)

    def _too_fast(self):
        """Return the error about a function that would take too many polynomials."""
        cure = ", or return float64, as its float32 may be too coarse" if self.single else ""
        return ValueError(
            "g must not oscillate so fast (about sin(200 x) is the limit), or have so many "
            f"corners and jumps{cure}"
        )

    def _find_kinks(self):
        """Return where g has corners or jumps: where halving does not end, or ends very late.

        Second, where to cut there: at the place, or, where halving ends, between the polynomials
        that it ended with. A corner is then so weak that its place is not known any better. Third,
        whether there is a jump: g changes at a place, not over a distance.
        """
        smooth, rough = self._bisect(COMB, 1e-14)
        panels = np.concatenate([smooth, rough])
        panels = panels[np.argsort(panels[:, 0])]
        narrow = panels[panels[:, 1] - panels[:, 0] < NARROW]
        if not len(narrow):
            return np.empty(0), np.empty(0), False
        jump = (SINGLE if self.single else DOUBLE)[1] * self.norm
        jumps = len(rough) and np.any(np.abs(np.diff(self.values(rough + BESIDE))) > jump)
        groups = np.split(narrow, np.flatnonzero(narrow[1:, 0] - narrow[:-1, 1] > NARROW) + 1)
        kinks, places = [], []
        for group in groups:
            tightest = group[np.argmin(group[:, 1] - group[:, 0])]
            kinks.append(0.5 * (tightest[0] + tightest[1]))
            change = np.ptp(self.values(group.ravel()))  # that of a corner is about its width
            strong = np.isin(group[:, 0], rough[:, 0]).any() or change > 1e-3 * self.norm
            places.append(kinks[-1:] if strong else group.ravel())
        return np.array(kinks), np.concatenate(places), bool(jumps)

    def _find_pieces(self, places):
        """Find intervals, and the Legendre series of the polynomial of degree 15 on each."""
        kinks = places[np.abs(places) < LIMIT]
        # ... and no longer than 2, so that a polynomial of degree 31 is the normal density, too
        ends = np.concatenate([kinks, np.arange(1.37 - LIMIT, LIMIT, 2.0), [-LIMIT, LIMIT]])
        points = (COMB[:-1, None] + 0.5 * np.diff(COMB)[:, None] * (1.0 + POINTS)).ravel()
        points = points[np.abs(points) < LIMIT]
        values = self.values(points)
        while True:
            smooth, rough = self._bisect(np.unique(ends), NARROW)
            if len(rough):
                raise ValueError(
                    f"g must be smooth, on scales above {NARROW:g}, but for corners and jumps; "
                    f"it is not near x = {rough[0].mean():.6g}"
                )
            self.edges = np.unique(smooth)
            if len(self.edges) > MOST:
                raise self._too_fast()
            half = 0.5 * np.diff(self.edges)[:, None]
            self.series = self.values(self.edges[:-1, None] + half * (1.0 + RULE[:, 0]))
            self.series = self.series @ TO_SERIES.T
            # Between the few nodes of a long interval a narrow bump may hide.
            missed = 0.1 * np.abs(self.polynomial(points, owner := self._owner(points)) - values)
            wrong = owner[~self._agree(missed, np.abs(points), np.abs(values))]
            if not len(wrong):
                return
            ends = np.concatenate([self.edges, 0.5 * (self.edges[wrong] + self.edges[wrong + 1])])

    def _owner(self, x):
        """Return in which intervals x lies."""
        return np.clip(np.searchsorted(self.edges, x, "right") - 1, 0, len(self.edges) - 2)

    def polynomial(self, x, owner):
        """Return g at x, as the polynomials of the intervals `owner` have it."""
        low, high = self.edges[owner], self.edges[owner + 1]
        return np.polynomial.legendre.legval(
            (2.0 * x - low - high) / (high - low), self.series[owner].T, tensor=False
        )

    def _smooth(self, x, inside):
        """Return g at x, whose last axis is that of points inside the same intervals."""
        return self.polynomial(x, self._owner(inside)) if self.single else self.values(x)

    def _slope_at_one(self):
        """Return ``E g'^2`` of a function without jumps."""
        half = 0.5 * np.diff(self.edges)[:, None]
        x = self.edges[:-1, None] + half * (1.0 + RULE[:, 0])
        slopes = self.series @ SLOPES.T / half
        return float(np.sum(half * RULE[:, 1] * gaussian.G(x) * slopes**2))

    # --- Hermite series -------------------------------------------------------------------------

    def _expand(self):
        """Compute ``a_k^2 / Var g``, k = 1, 2, ..., and up to which q they suffice."""
        x, weight = gaussian.grid(*((edge, 0.0) for edge in self.edges), order=96, limit=LIMIT)
        values = self._smooth(x, x)
        values = values - weight @ values
        self.variance = float(weight @ values**2)
        if self.variance <= 1e-20 * self.norm**2:
            raise ValueError("g must not be constant")
        values /= math.sqrt(self.variance)
        before, hermite = np.ones_like(x), x
        powers, rest = [], 1.0
        for k in range(1, TERMS + 1):
            powers.append((weight * hermite) @ values)
            rest -= powers[-1] ** 2
            if rest < 1e-12 and k**2 * np.sum(np.square(powers[-32:])) < 1e-15:
                break
            before, hermite = hermite, (x * hermite - math.sqrt(k) * before) / math.sqrt(k + 1)
        self.powers = np.square(powers)
        self.flat = bool(self.powers[0] < 1e-10)
        self.rest, self.radius = 0.0, 1.0
        if k == TERMS:
            self.rest = max(rest, 1e-16)
            self.radius = min(1.0, (1e-13 / (self.rest * (k + 1) ** 2)) ** (1.0 / (k - 1)))

    def _series(self, q, complement):
        n = len(self.powers)
        if abs(q) < 1.0:  # n^2 |q|^n is negligible beyond
            n = min(n, 20 + int(-45.0 / math.log(max(abs(q), 1e-10))))
        k = np.arange(1, n + 1)
        power = self.powers[:n]
        c = power @ q**k
        slope = (power * k) @ q ** (k - 1)
        curvature = (power * k * (k - 1))[1:] @ q ** (k[1:] - 2)
        gap = 1.0 - c
        if q > 0.5:  # without rounding: the sum of a_k^2 (1 - q^k)
            k = np.arange(1, len(self.powers) + 1)
            gap = self.rest - self.powers @ np.expm1(k * math.log1p(-complement))
        return c, gap, slope, curvature

    # --- conditioning ---------------------------------------------------------------------------

    def _conditioned(self, q, complement):
        if q == 1.0 and complement == 0.0:
            return 1.0, 0.0, self.slope_at_one, math.inf
        r, gap = (q, complement) if q > 0.0 else (-q, max(2.0 - complement, 1e-14))
        root, sigma = math.sqrt(r), math.sqrt(gap)
        centres = np.concatenate([self.kinks, -self.kinks])
        breaks = np.concatenate([self.edges, -self.edges])
        x, weight = gaussian.grid(
            *((k / root, sigma / root) for k in centres),
            *((e / root, 0.0) for e in breaks),
            limit=LIMIT,
        )
        mean, slope, bend, spread = self._moments(root * x, sigma)
        other = (mean, slope, bend)
        if q < 0.0:  # b = -sqrt(r) s + sigma y
            other = self._moments(-root * x, sigma)[:3]
        level = weight @ mean
        c = weight @ ((mean - level) * (other[0] - level))
        return (
            c,
            weight @ spread if q > 0.0 else 1.0 - c,
            weight @ (slope * other[1]) / gap,
            weight @ (bend * other[2]) / gap**2,
        )

    def _moments(self, s, sigma):
        """Return m_0, m_1, m_2 and the variance over y of ``g(s + sigma y) / scale``."""
        window = np.clip(s[:, None] + sigma * np.arange(-10.0, 10.1, 2.0), -LIMIT, LIMIT)
        breaks = np.clip(self.edges, window[:, :1], window[:, -1:])
        edges = np.sort(np.concatenate([window, breaks], axis=1), axis=1)
        owner, panel = np.nonzero(np.diff(edges, axis=1) > 0.0)
        low, high = edges[owner, panel, None], edges[owner, panel + 1, None]
        half = 0.5 * (high - low)
        x = low + half * (1.0 + RULE[:, 0])
        y = (x - s[owner, None]) / sigma
        weight = half / sigma * RULE[:, 1] * gaussian.G(y)
        values = self._smooth(x.T, 0.5 * (low + high)[:, 0]).T / self.scale

        def moment(of_y):
            return np.bincount(owner, np.sum(weight * of_y, axis=1), minlength=len(s))

        mean = moment(values)
        spread = moment((values - mean[owner, None]) ** 2)
        return mean, moment(values * y), moment(values * (y * y - 1.0)), spread
