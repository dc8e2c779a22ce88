"""Weights on a sphere: all of its terms are closed formulas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from wfmlib.models.weights.terms import (
    BrokenEntropic,
    ConstrainedBroken,
    ConstrainedEntropic,
    Entropic,
    LimitEntropic,
    Unloaded,
)


@dataclass(frozen=True)
class Spherical:
    """Weights on the sphere ``sum_i w_i^2 = N`` (of each hidden unit, in a committee).

    Entropies are logarithms of shares of the sphere: 0 without any pattern. The papers' volumes in
    the weights' own coordinates are larger by ``ln(2 pi e) / 2`` per weight, that of the sphere.

    Examples
    --------
    >>> round(Spherical().entropic(2.0).q, 4)  # q / (1 - q)^2 = 2
    0.5
    >>> round(float(Spherical().bound(0.1)), 4)  # nats per weight at a distance of 0.1
    -0.5108
    >>> round(Spherical().conjugate(0.5), 4)  # at which q is 0.5
    2.0
    """

    discrete = False  #: solutions run out where q -> 1
    implicit = False  #: conjugates of a given overlap are closed formulas
    #: where groups are looked for: as long as they grow
    last_split, largest_split = 300.0, 1e24
    #: logarithm of p_hat beyond which counted solutions are closer than can be resolved
    largest_log_hat = 25.0
    #: logarithm of (1 - p1) / (1 - p0) beyond which growth only falls
    narrowest = math.log(1e-4)
    entropy = 0.0  #: nats per weight without any pattern
    collapse = 1.0  #: limit of q_hat (1 - q)^2 for q -> 1

    def entropic(self, q_hat: float) -> Entropic:
        """Return the entropic side of the saddle point  [eq-spherical-entropic].

        ``q_hat = q / (1 - q)^2``  [eq-spherical-saddle], solved here for q; the free entropy gains
        ``[ln(1 - q) + q / (1 - q)] / 2``.

        Source: P2, equation B1 with the conjugates eliminated.
        """
        complement = 2.0 / (1.0 + math.sqrt(1.0 + 4.0 * q_hat))
        q = min(q_hat * complement**2, 1.0)  # rounding
        return Entropic(
            q=q,
            complement=complement,
            term=0.5 * (math.log(complement) + q / complement),
            fluctuation=complement**2,
        )

    def constrained(
        self, distance: float, p_hat: float, correlation: float, reference: Any
    ) -> ConstrainedEntropic:
        """Return the entropic side at a distance from a reference  [eq-fp-spherical].

        ``p_hat (1 - p)^2 = p - t1^2 + u^2`` with ``u = (t0 - q t1) / (1 - q) =
        (1 - q) (1 - p) t0_hat``, solved here for p; the local entropy gains
        ``[ln(1 - p) + p_hat (1 - p)] / 2``.

        Source: P2, equation C6 with the conjugates eliminated.
        """
        t1, q = 1.0 - 2.0 * distance, reference.q
        free = 4.0 * distance * (1.0 - distance)  # 1 - t1^2
        t0_hat = correlation * math.sqrt(p_hat * reference.q_hat)
        stretch = p_hat * (1.0 - correlation**2 * q)
        complement = 2.0 * free / (1.0 + math.sqrt(1.0 + 4.0 * stretch * free))
        return ConstrainedEntropic(
            p=1.0 - complement,
            complement=complement,
            t0=q * t1 + reference.complement**2 * complement * t0_hat,
            t1_hat=t1 / complement + q * t0_hat,
            term=0.5 * (math.log(complement) + p_hat * complement),
            fluctuation=complement**2,
        )

    def bound(self, distance: Any) -> Any:
        """Return the log-share of the sphere's slice at a distance  [eq-geometric-bound]."""
        with np.errstate(divide="ignore"):
            return 0.5 * np.log(4.0 * distance * (1.0 - np.asarray(distance)))

    def broken(self, q0_hat: float, split: float, m: float) -> BrokenEntropic:
        """Return the entropic side with groups of m, conjugates eliminated  [eq-1rsb-spherical].

        With ``X = 1 - q1`` and ``Y = X + m (q1 - q0)``: ``q0_hat = q0 / Y^2`` and ``q1_hat -
        q0_hat = (q1 - q0) / (X Y)``, solved here for the overlaps. The free entropy gains ``[ln X
        + ln(Y / X) / m + q0 / Y] / 2``.

        Parameters
        ----------
        q0_hat : float
            Conjugate of the overlap between groups.
        split : float
            ``(q1 - q0) / (1 - q1)``.
        m : float
            Replicas in a group, positive.

        Returns
        -------
        BrokenEntropic

        Source: P2, equation B4.
        """
        ratio = (1.0 + m * split) / (1.0 + split)  # Y / (1 - q0)
        outer = 2.0 * ratio / (1.0 + math.sqrt(1.0 + 4.0 * q0_hat * ratio**2))
        inner = outer / (1.0 + m * split)
        q0 = q0_hat * outer**2
        log_ratio = math.log1p(m * split)
        share = m * split / (1.0 + m * split)
        return BrokenEntropic(
            q0=q0,
            complement=inner,
            difference=split * inner,
            split_hat=split / outer,
            term=0.5 * (math.log(inner) + log_ratio / m + q0 / outer),
            complexity=0.5 * (log_ratio - share + m * share * q0_hat * outer),
        )

    def constrained_broken(
        self,
        distance: Any,
        p0_hat: Any,
        correlation: Any,
        split: Any,
        m: Any,
        reference: Any,
        rule: Any = None,
        delta: Any = None,
    ) -> Any:
        """Return the entropic side of groups at a distance from a reference  [eq-fp-1rsb].

        With ``X = 1 - p1`` and ``Y = X + m (p1 - p0)``: ``p0_hat Y^2 = p0 - t1^2 + u^2`` with ``u
        = (t0 - q t1) / (1 - q) = (1 - q) Y t0_hat``, and ``p1_hat - p0_hat = (p1 - p0) / (X Y)``,
        solved here for the overlaps. The local entropy gains ``[ln X + ln(Y / X) / m + p0_hat Y] /
        2``. Neither `rule` nor `delta` is needed.

        Returns
        -------
        ConstrainedBroken
        """
        t1, q = 1.0 - 2.0 * distance, reference.q
        free = 4.0 * distance * (1.0 - distance)  # 1 - t1^2
        t0_hat = correlation * math.sqrt(p0_hat * reference.q_hat)
        stretch = p0_hat * (1.0 - correlation**2 * q)
        ratio = (1.0 + m * split) / (1.0 + split)  # Y / (1 - p0)
        wide = 2.0 * free * ratio / (1.0 + math.sqrt(1.0 + 4.0 * stretch * free * ratio**2))
        inner = wide / (1.0 + m * split)
        outer = wide / ratio
        log_ratio, share = math.log1p(m * split), m * split / (1.0 + m * split)
        return ConstrainedBroken(
            p0=1.0 - outer,
            outer=outer,
            complement=inner,
            difference=split * inner,
            t0=q * t1 + reference.complement**2 * wide * t0_hat,
            split_hat=split / wide,
            term=0.5 * (math.log(inner) + log_ratio / m + p0_hat * wide),
            complexity=0.5 * (log_ratio - share + m * share * p0_hat * wide),
        )

    def conjugate(self, overlap: float) -> float:
        """Return the conjugate at which `overlap` is that of typical solutions."""
        return overlap / (1.0 - overlap) ** 2

    def replicas(self, overlap: float, place: float, replicas: float) -> tuple[float, float]:
        """Return q0_hat and the split at which the overlap within groups is `overlap`.

        Parameters
        ----------
        overlap : float
            q1.
        place : float
            ``ln [q0 / (q1 - q0)]``; ``-inf`` at q0 = 0.
        replicas : float
            In a group; finite.
        """
        complement, q0 = 1.0 - overlap, overlap * scipy.special.expit(place)
        difference = overlap * scipy.special.expit(-place)
        q0_hat = q0 / (complement + replicas * difference) ** 2
        return q0_hat, difference / complement

    def limit(self, overlap: float, place: float) -> LimitEntropic:
        """Return the entropic side of infinitely many replicas at q1 = `overlap`.

        `place` is ``ln [(1 - q1) / d0]``, d0 the spread.

        Returns
        -------
        LimitEntropic
        """
        complement = 1.0 - overlap
        spread = complement * math.exp(-place)
        outer = complement + spread
        return LimitEntropic(
            q1_hat=overlap / outer**2,
            d0_hat=spread / outer / complement,
            spread=spread,
            term=0.5 * (math.log(complement) + overlap / outer),
        )

    def unloaded(self, overlap: float, replicas: float) -> Unloaded:
        """Return `Unloaded`: replicas at a mutual overlap that no pattern constrains."""
        complement = 1.0 - overlap
        if replicas == math.inf:
            return Unloaded(0.5 * math.log(complement), -0.5 / complement, None)
        groups = self.broken(0.0, overlap / complement, replicas)
        return Unloaded(groups.term, -0.5 * (replicas - 1.0) * groups.split_hat, groups.complexity)
