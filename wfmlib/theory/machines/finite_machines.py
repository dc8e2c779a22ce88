"""Tree machines of finitely many sign units: their energetic terms.

In a committee of infinitely many units a pattern's stability is one Gaussian field, and an
activation is an effective overlap. Of a finite machine all K preactivations count: its effective
overlap is q itself, and what a pattern contributes is an average over K fields, of
``f = ln Sigma(omega_1, .., omega_K)``, where Sigma is the probability that the machine is right
if preactivation l, times the label, is normal around omega_l with variance 1 - q1.

Loads count patterns per weight, and the K units share the N weights. Each unit has the conjugate
``q_hat = alpha K E <s_l>^2``, ``s_l = d f / d omega_l``, so forces are summed over the units:
``q_hat = alpha E sum_l <s_l>^2``. Margins other than 0 are not solved: the output is a sign,
and a margin says how many units must be right (`full_breaking.finite_capacity`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from wfmlib.models.activations import EffectiveOverlap, EnergeticTerm
from wfmlib.theory.machines import (
    committee_of_three,
    committee_powers,
    finite_committee,
    parity,
    parity_limit,
    parity_replicas,
)

__all__ = ["Parity", "SignCommittee"]


MOST_UNITS = 10**6 + 1  # of a committee, at capacity
MOST_POWERS = 50  # replicas for which powers are expanded
MOST_LIMIT_UNITS = 3  # of a parity machine with more replicas than that, or infinitely many


class _Machine(EnergeticTerm):
    """What finite machines share."""

    one_field = False  #: a pattern has a field of each unit
    scale = 1.0  #: fields are the preactivations themselves
    slope_at_one = 1.0  #: c'(1)

    def effective(self, q, complement):
        return EffectiveOverlap(q, complement, 1.0, 0.0)


def _check_no_margin(kappa):
    if kappa != 0.0:
        raise ValueError(f"margin must be 0 for a machine of finitely many units, got {kappa}")


@dataclass(frozen=True)
class SignCommittee(_Machine):
    """Tree committee of sign units: the majority decides  [eq-tree-committee].

    Of any odd number of them the replica-symmetric capacity is known, of three all the rest; for
    infinitely many there is `Sign`.

    Source: P1, Sec. II.D and appendix C.

    Examples
    --------
    >>> round(SignCommittee(3).pattern_averages(0.3, 0.3, 0.4, 0.0, 2.0).term, 4)
    -0.6665
    """

    units: int = 3

    most_overlap = 1.0 - 1e-6  #: averages take (1 - overlap)^(-1/2) long

    @property
    def typical(self):
        """What answers the questions of `typical` for spherical weights."""
        return finite_committee.Typical(self.units)

    def pattern_averages(self, q0, difference, complement, kappa, m):
        """Return what a pattern contributes with m replicas  [eq-ld-committee].

        Parameters
        ----------
        q0, difference, complement : float
            Overlap between groups, ``q1 - q0`` and ``1 - q1``.
        kappa : float
            Margin: 0.
        m : float
            Replicas in a group: any positive number.

        Returns
        -------
        log_concave.Grouped
            Forces summed over the units. For an integer m from 2 to 50 `information` is NaN: it
            is not offered there.

        Raises
        ------
        ValueError
            If `kappa` is not 0.

        Notes
        -----
        Relative errors for such an integer: below 1e-5, of the term 1e-7, where q0 is at most 5
        times the difference, or 0.6; beyond, those of forces grow, to 4e-4 at q0 = 0.9 and
        q1 = 0.98, 2e-2 at q0 = 0.95, where the term's are 1e-6 and 8e-5. For any other m 3e-4, at
        a hundred times the cost.
        """
        _check_no_margin(kappa)
        narrow = m * difference < committee_of_three.NARROW * complement
        if 2.0 <= m <= MOST_POWERS and float(m).is_integer() and not narrow:
            return committee_powers.pattern_averages(q0, difference, complement, int(m))
        return committee_of_three.pattern_averages(q0, difference, complement, m)

    def limit_averages(self, q1, spread, kappa, coarse=False):
        """Return what a pattern contributes with infinitely many replicas  [eq-ld-three].

        Parameters
        ----------
        q1 : float
            Overlap, above 0 and below 1.
        spread : float
            ``d0 = y (q1 - q0)``, positive.
        kappa : float
            Margin: 0.
        coarse : bool, optional
            On few nodes, at a tenth of the cost: to begin with. Relative errors of about 1e-2.

        Returns
        -------
        log_concave.Limit

        Raises
        ------
        ValueError
            If `kappa` is not 0.
        """
        _check_no_margin(kappa)
        order = {"order": 2} if coarse else {}
        return committee_of_three.limit_averages(q1, spread, **order)


@dataclass(frozen=True)
class Parity(_Machine):
    """Parity machine of two to six units: the product of their signs  [eq-parity-output].

    Solved for any number of replicas from 1 to 50, an integer or not; with two or three units for
    any number, and infinitely many.

    Source: P1, Sec. II.E and appendix C1.

    Examples
    --------
    >>> round(Parity(3).pattern_averages(0.3, 0.3, 0.4, 0.0, 2.0).term, 4)
    -0.6662
    """

    units: int

    orthogonal = True  #: forces on either side of no overlap balance

    @property
    def most_replicas(self):
        """How many real replicas are solved: infinitely many for two or three units."""
        return math.inf if self.units <= MOST_LIMIT_UNITS else MOST_POWERS

    def pattern_averages(self, q0, difference, complement, kappa, m):
        """Return what a pattern contributes with m replicas  [eq-parity-entropy].

        Parameters
        ----------
        q0, difference, complement : float
            Overlap between groups, ``q1 - q0`` and ``1 - q1``.
        kappa : float
            Margin: 0.
        m : float
            Replicas in a group, at least 1; with more than three units at most 50.

        Returns
        -------
        log_concave.Grouped
            Forces summed over the units. `information` is NaN, and so is `spread` for one
            replica: they are not offered. At ``q0 = 0`` `common` is exactly 0.

        Raises
        ------
        ValueError
            If `kappa` is not 0, or m not such a number.
        wfmlib.numerics.solvers.NotConverged
            For more than 50 replicas, if ``m (q1 - q0)`` is above ``25 q1`` and q0 is not 0.

        Notes
        -----
        Integer m to 50, with two or three units: relative errors below 2e-5, of the term 1e-7,
        where q0 is at most 5 times the difference. Where groups are narrow and overlaps large
        the grid of shared fields misses the ridges on which it changes which unit a group moves:
        at q1 = 0.9, 50 replicas and ``m (q1 - q0) = 0.3`` errors of 1e-2 in `common`, 5e-5 in the
        term with two units (three: 3e-2, 3e-4), and `spread` may be a large part off. With five
        units 3e-4 and 1e-6, and, at q0 = 0.9 and q1 = 0.98, 1e-2 and 5e-5.

        Other m to 50 (`parity_replicas`): beside the errors of integers, of the term 1e-4 between
        one and two replicas, 1e-5 between two and three, 3e-6 above. More than 50: of the term
        1e-4, mostly.
        """
        _check_no_margin(kappa)
        if not 1.0 <= m <= self.most_replicas or m == math.inf:
            raise ValueError(
                "replicas must be from 1 to 50 for a parity machine of more than "
                f"{MOST_LIMIT_UNITS} units, and at least 1 and finite for others, got {m}"
            )
        if m <= MOST_POWERS and float(m).is_integer():
            return parity.pattern_averages(self.units, q0, difference, complement, int(m))
        return parity_replicas.pattern_averages(self.units, q0, difference, complement, m)

    def limit_averages(self, q1, spread, kappa, coarse=False):
        """Return what a pattern contributes with infinitely many replicas  [eq-ld-infinite].

        Parameters
        ----------
        q1 : float
            Overlap, above 0 and below 1.
        spread : float
            ``d0 = y (q1 - q0)``, positive.
        kappa : float
            Margin: 0.
        coarse : bool, optional
            On few nodes, at a tenth of the cost: to begin with. Relative errors of about 1e-2.

        Returns
        -------
        log_concave.Limit

        Raises
        ------
        ValueError
            If `kappa` is not 0, or there are more than three units.
        """
        _check_no_margin(kappa)
        if self.units > MOST_LIMIT_UNITS:
            raise ValueError(
                f"replicas must be finite for a parity machine of more than {MOST_LIMIT_UNITS} "
                f"units, got {self.units} units"
            )
        order = {"order": 3} if coarse else {}
        return parity_limit.limit_averages(self.units, q1, spread, **order)
