"""Weights of a few values: groups of replicas, and how their conjugates follow from an overlap.

The averages in a field are the prior's own: `group`, `limit_group` and `entropic`. Where an
overlap inside groups is given, the conjugate that keeps it is solved for.
"""

from __future__ import annotations

import math
from functools import lru_cache

import scipy

from wfmlib.models.weights.terms import BrokenEntropic, LimitEntropic, Unloaded
from wfmlib.numerics.solvers import first_root, increasing_root


class Discrete:
    """What all priors of a few values share."""

    discrete = True  #: solutions run out where the entropy vanishes, not where q -> 1
    implicit = True  #: conjugates of a given overlap are solved for, not closed formulas
    #: where groups are looked for: a split of 40 leaves 1 - q1 of order 1e-9
    last_split, largest_split = 20.0, 40.0
    most_replicas = math.inf  #: of those at a given overlap, if not infinitely many
    #: logarithm of p_hat beyond which counted solutions collapse upon each other
    largest_log_hat = 12.0
    #: logarithm of (1 - p1) / (1 - p0) beyond which groups shrink to single configurations
    narrowest = math.log(1e-8)

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
        d0_hat, at = self._pulled(overlap, q1_hat)
        complement = 1.0 - overlap
        # by Stein's formula, which holds on both branches of a bistable field
        spread = at.lean / math.sqrt(q1_hat) - complement
        products = q1_hat * (complement + spread) + overlap * d0_hat
        return LimitEntropic(q1_hat, d0_hat, spread, at.term - 0.5 * products)

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
        at = self.broken(0.0, self.widest_split(overlap, replicas), replicas)
        return Unloaded(at.term, -0.5 * (replicas - 1.0) * at.split_hat, at.complexity)


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
        at = weights.broken(q0_hat, math.exp(log_split), replicas)
        return math.log((1.0 - overlap) / at.complement) if at.complement > 0.0 else math.inf

    start = math.log(guess)
    return math.exp(increasing_root(excess, start, (start - 60.0, start + 40.0), 0.5))
