"""Binary weights, +1 and -1: the entropic terms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from wfmlib.models.weights import spin, spin_groups
from wfmlib.models.weights.terms import (
    BrokenEntropic,
    ConstrainedBroken,
    ConstrainedEntropic,
    Entropic,
    Group,
    LimitEntropic,
    Magnetised,
    Unloaded,
)
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import first_root, increasing_root

GROUPS = gaussian.legendre_rule(12)  # relative errors of all averages below 1e-14
LIMIT = gaussian.legendre_rule(14)
RULE = gaussian.legendre_rule()


@dataclass(frozen=True)
class Binary:
    """Weights ``w_i = +1`` or ``-1``; entropies count configurations, ``ln 2`` at load 0.

    Examples
    --------
    >>> round(Binary().entropic(1.0).q, 4), Binary().entropy
    (0.3943, 0.6931471805599453)
    >>> round(float(Binary().bound(0.1)), 4)  # nats per weight at a distance of 0.1
    0.3251
    >>> round(Binary().conjugate(0.5), 4)  # at which q is 0.5
    1.7879
    """

    discrete = True  #: solutions run out where the entropy vanishes, not where q -> 1
    implicit = True  #: conjugates of a given overlap are solved for, not closed formulas
    #: where groups are looked for: a split of 40 leaves 1 - q1 of order 1e-9
    last_split, largest_split = 20.0, 40.0
    #: logarithm of p_hat beyond which counted solutions collapse upon each other
    largest_log_hat = 12.0
    #: logarithm of (1 - p1) / (1 - p0) beyond which groups shrink to single configurations
    narrowest = math.log(1e-8)
    entropy = math.log(2.0)  #: nats per weight without any pattern
    collapse = 2.0 / math.pi  #: limit of q_hat (1 - q)^2 for q -> 1

    def entropic(self, q_hat: float) -> Entropic:
        """Return the entropic side of the saddle point  [eq-rs-entropic].

        A weight feels the field ``sqrt(q_hat) x``, x normal: ``q = E tanh^2(sqrt(q_hat) x)``, and
        the free entropy gains ``-q_hat (1 - q) / 2 + E ln 2 cosh(sqrt(q_hat) x)``.

        Source: P3, equation A10a.
        """
        width = math.sqrt(q_hat)
        q, complement, log_2cosh, fluctuation = spin.field_averages(width, RULE)
        return Entropic(q, complement, log_2cosh - 0.5 * q_hat * complement, fluctuation)

    def constrained(
        self, distance: float, p_hat: float, correlation: float, reference: Any
    ) -> ConstrainedEntropic:
        """Return the entropic side at a distance from a reference  [eq-fp-entropic].

        The fields on a reference weight w and on a counted one are ``sqrt(q_hat) x`` and
        ``sqrt(p_hat) u + delta w``, where x and u have the correlation
        ``t0_hat / sqrt(p_hat q_hat)``. ``delta = t1_hat - t0_hat`` is solved for here such that
        the overlap with the reference is ``1 - 2 distance``.

        Source: P3, equation B13a.
        """
        widths = math.sqrt(p_hat), math.sqrt(reference.q_hat)
        delta, averages = spin.constrained_averages(distance, *widths, correlation, GROUPS)
        p, complement, t0, log_2cosh, fluctuation = averages
        t0_hat = correlation * widths[0] * widths[1]
        t1 = 1.0 - 2.0 * distance
        products = -0.5 * p_hat * complement + (t0 - t1) * t0_hat - t1 * delta
        return ConstrainedEntropic(
            p, complement, t0, delta + t0_hat, log_2cosh + products, fluctuation
        )

    def bound(self, distance: ArrayLike) -> Any:
        """Return the entropy of all weight vectors at a distance  [eq-geometric-bound]."""
        return scipy.special.entr(distance) + scipy.special.entr(1.0 - np.asarray(distance))

    def broken(self, q0_hat, split, m):
        """Return the entropic side with groups of m replicas  [eq-1rsb-binary].

        Parameters
        ----------
        q0_hat, split : float
            Conjugate of the overlap between groups, and ``q1_hat - q0_hat``.
        m : float
            Replicas in a group, positive.

        Returns
        -------
        BrokenEntropic

        Source: P2, equation B5.
        """
        common, spread, complement, term, information = self.group(q0_hat, split, m)
        # q1 q1_hat - q0 q0_hat
        product = spread * q0_hat + (common + spread) * split
        return BrokenEntropic(
            q0=common,
            complement=complement,
            difference=spread,
            split_hat=split,
            term=term - 0.5 * ((q0_hat + split) * complement + m * product),
            complexity=0.5 * m**2 * product - information,
        )

    def group(self, q0_hat: float, split: float, m: float, rule: Any = GROUPS) -> Any:
        """Return what a weight contributes in a group of m replicas, `Group`."""
        averages = spin_groups.mild
        if m > 1.0 and m**2 * split > 4.0:  # more than one force: a strong tilt
            averages = spin_groups.strong
        return Group(*averages(math.sqrt(q0_hat), math.sqrt(split), m, rule))

    def coarse_group(self, q0_hat: float, split: float, m: float, rule: Any) -> Any:
        """Return the same for several replicas on few nodes: near enough to begin with."""
        return Group(*spin_groups.strong(math.sqrt(q0_hat), math.sqrt(split), m, rule))

    def constrained_broken(
        self,
        distance: Any,
        p0_hat: Any,
        correlation: Any,
        split: Any,
        m: Any,
        reference: Any,
        rule: Any,
        delta: Any = None,
    ) -> Any:
        """Return the entropic side of groups at a distance from a reference  [eq-fp-1rsb].

        As in `constrained` the reference weight is taken to be +1, and ``delta = t1_hat -
        t0_hat`` is solved for such that its overlap with the counted weight is ``1 - 2 distance``.

        Returns
        -------
        ConstrainedBroken
        """
        widths = math.sqrt(p0_hat), math.sqrt(split), math.sqrt(reference.q_hat)
        if delta is None:
            delta = 0.5 * math.log((1.0 - distance) / distance)
        delta, averages = spin_groups.constrained_groups(
            distance, delta, *widths, correlation, m, rule
        )
        spread, complement, t0, log_weight, information = averages
        t0_hat = correlation * widths[0] * widths[2]
        t1 = 1.0 - 2.0 * distance
        # p1 p1_hat - p0 p0_hat
        product = spread * p0_hat + (1.0 - complement) * split
        products = (t0 - t1) * t0_hat - t1 * delta - 0.5 * (p0_hat + split) * complement
        return ConstrainedBroken(
            p0=1.0 - (complement + spread),
            outer=complement + spread,
            complement=complement,
            difference=spread,
            t0=t0,
            split_hat=split,
            term=log_weight + products - 0.5 * m * product,
            complexity=0.5 * m**2 * product - information,
            delta=delta,
        )

    def limit_group(self, q1_hat: float, d0_hat: float) -> Any:
        """Return what a weight contributes with infinitely many replicas, `Magnetised`.

        Its field is ``sqrt(q1_hat) u + d0_hat m*`` with ``m* = tanh`` of it, on the branch of the
        sign of u  [eq-ld-binary-infinite].
        """
        return Magnetised(*spin.limit_averages(math.sqrt(q1_hat), d0_hat, LIMIT))

    def strongest_pull(self, overlap: float) -> float:
        """Return d0_hat where infinitely many replicas meet no pattern: ``atanh(m) / m``."""
        m = math.sqrt(overlap)
        return math.atanh(m) / m

    def conjugate(self, overlap):
        """Return the conjugate at which `overlap` is that of typical solutions."""
        return _conjugate(self, overlap)

    def widest_split(self, overlap, replicas):
        """Return ``q1_hat - q0_hat`` of replicas at q1 = `overlap` where q0 = 0."""
        return _widest_split(self, overlap, replicas)

    def replicas(self, overlap, place, replicas):
        """Return q0_hat and the split at which the overlap within groups is `overlap`.

        Parameters
        ----------
        overlap : float
            q1.
        place : float
            ``ln [q0_hat / (h - q0_hat)]``, h the `conjugate` of q1; ``-inf`` at q0 = 0.
        replicas : float
            In a group; finite.
        """
        if place == -math.inf:
            return 0.0, self.widest_split(overlap, replicas)
        q0_hat = self.conjugate(overlap) * scipy.special.expit(place)
        guess = self.widest_split(overlap, replicas) * scipy.special.expit(-place)
        return q0_hat, _split(self, overlap, q0_hat, replicas, guess)

    def limit(self, overlap, place):
        """Return the entropic side of infinitely many replicas at q1 = `overlap`.

        Parameters
        ----------
        overlap : float
            q1.
        place : float
            ``ln [q1_hat / (h - q1_hat)]``, h the `conjugate` of q1.

        Returns
        -------
        LimitEntropic
        """
        q1_hat = float(self.conjugate(overlap) * scipy.special.expit(place))
        d0_hat, pulled = self._pulled(overlap, q1_hat)
        complement = 1.0 - overlap
        # by Stein's formula, which holds on both branches of a bistable field
        spread = pulled.lean / math.sqrt(q1_hat) - complement
        products = q1_hat * (complement + spread) + overlap * d0_hat
        return LimitEntropic(q1_hat, d0_hat, spread, pulled.term - 0.5 * products)

    def _pulled(self, overlap, q1_hat):
        """Return the d0_hat at which the overlap is `overlap`, and the averages there."""

        def excess(d0_hat):
            return math.log((1.0 - overlap) / self.limit_group(q1_hat, d0_hat).complement)

        high = self.strongest_pull(overlap)
        if excess(0.0) >= 0.0:  # at the replica-symmetric point, within rounding
            d0_hat = 0.0
        elif excess(high) <= 0.0:
            d0_hat = high
        else:
            d0_hat = scipy.optimize.brentq(excess, 0.0, high, xtol=1e-15, rtol=1e-14)
        return d0_hat, self.limit_group(q1_hat, d0_hat)

    def unloaded(self, overlap, replicas):
        """Return `Unloaded`: replicas at a mutual overlap that no pattern constrains."""
        if replicas == math.inf:
            return Unloaded(*self._unloaded_limit(overlap), None)
        groups = self.broken(0.0, self.widest_split(overlap, replicas), replicas)
        return Unloaded(groups.term, -0.5 * (replicas - 1.0) * groups.split_hat, groups.complexity)

    def _unloaded_limit(self, overlap):
        """Return entropy and slope of infinitely many replicas without patterns."""
        field = math.atanh(math.sqrt(overlap))
        decay = math.exp(-2.0 * field)
        entropy = field + math.log1p(decay) - field * math.sqrt(overlap)
        return entropy, -0.5 * field / math.sqrt(overlap)


@lru_cache(maxsize=4096)
def _conjugate(weights, overlap):
    def lack(log_q_hat):
        return math.log(weights.entropic(math.exp(log_q_hat)).complement / (1.0 - overlap))

    start = math.log(overlap) - 1e-3  # the overlap is below q_hat
    return math.exp(first_root(lack, start, 90.0, tolerance=1e-14)[0])


@lru_cache(maxsize=4096)
def _widest_split(weights, overlap, replicas):
    guess = weights.strongest_pull(overlap) / max(replicas, 1.0)
    return _split(weights, overlap, 0.0, replicas, guess)


def _split(weights, overlap, q0_hat, replicas, guess):
    """Return the split at which the overlap within groups is `overlap`: it increases with it."""

    def excess(log_split):
        group = weights.broken(q0_hat, math.exp(log_split), replicas)
        return math.log((1.0 - overlap) / group.complement) if group.complement > 0.0 else math.inf

    start = math.log(guess)
    return math.exp(increasing_root(excess, start, (start - 60.0, start + 40.0), 0.5))
