"""Typical solutions and capacity of tree committees of finitely many sign units.

Replica symmetry, spherical weights of each unit, margin 0. The output is the majority of K signs;
as the overlap of solutions tends to 1, a pattern's K preactivations, normal with unit variance,
are moved by the least distance D that makes the desired output the majority, and the capacity is
``1 / E D^2``  [eq-nearest-solution].

With n > K/2 units on the wrong side, those ``n - (K - 1) / 2`` cross over that are nearest to
their threshold. So a unit with preactivation ``-x`` crosses over, at the cost x^2, if at least
(K - 1) / 2 of the other K - 1 lie below it, and

    E D^2 = K int_0^inf dx G(x) x^2 Prob(B >= (K - 1) / 2),   B binomial(K - 1, H(x)).

Every step of symmetry breaking lowers it: one, of up to 11 units (`full_breaking.few_units`), and
two, of three (`three_units_capacity`). P1 quotes 3.02 for three units
from the literature of the 1990s: E. Barkai, D. Hansel, H. Sompolinsky, Phys. Rev. A 45, 4146
(1992), and A. Engel et al., Phys. Rev. A 45, 7590 (1992).

At smaller loads, for three units, the replica-symmetric state: with Sigma the probability that the
machine is right, given what all solutions share (`committee_of_three`), and ``f = ln Sigma``, s_l
its derivatives in the fields ``sqrt(q) v_l``,

    entropy = [ln(1 - q) + q / (1 - q)] / 2 + alpha E f    [eq-rs-committee],
    q / (1 - q)^2 = alpha E sum_l s_l^2    [eq-rs-committee-saddle].

Each of the K units has N / K weights and conjugates ``q_hat_l = alpha K E s_l^2``. A difference
between replicas, d_l in the overlap of unit l, returns as ``(1 - q)^2 alpha K sum_k E f_lk^2 d_k``
with f_lk the second derivatives: a K x K matrix with equal diagonal and equal other entries, none
negative. Its largest eigenvalue belongs to the mode that all units share, and is the replicon

    alpha (1 - q)^2 E sum_lk f_lk^2    [eq-rs-committee-replicon].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.numerics import gaussian
from wfmlib.numerics.arguments import Range
from wfmlib.numerics.solvers import accepted, first_root
from wfmlib.theory.machines import committee_of_three, three_units_capacity

LOGITS = (-25.0, 7.5)  # of q: where it is looked for
#: Loads at which three units are solved.
Symmetric: TypeAlias = Annotated[float, Interval(ge=0.0, le=3.9)]
ORDER = 8  # nodes in a panel: relative errors below 1e-6


class SymmetricState(NamedTuple):
    """The replica-symmetric state of three sign units, as `replica_symmetric.Stationary`.

    Attributes
    ----------
    alpha : float
        The load at which this is the saddle point.
    q, complement, q_hat : float
        Overlap between two solutions, the same in each unit, ``1 - q``, and the conjugate.
    entropy : float
        Logarithm of the solutions' share of the spheres, in nats per weight, at the load asked
        for.
    replicon : float
        RS is stable while it is below 1  [eq-rs-committee-replicon]; at the load asked for.
    """

    alpha: float
    q: float
    complement: float
    q_hat: float
    entropy: float
    replicon: float

    edge_density = math.nan  # type: ignore[misc]  # an answer is a sign: there is no margin to be above


@dataclass(frozen=True)
class Typical:
    """What `typical` asks of a committee of sign units, with spherical weights and margin 0.

    Below capacity, and where symmetry breaks, of three units only.
    """

    units: int

    def capacity(self, ansatz):
        """Return the capacity: of any odd number of units ("RS"), or of three ("2RSB").

        Relative errors: below 1e-11 ("RS"), 2e-4 ("2RSB", half a minute).
        """
        symmetric = rs_capacity(self.units)
        if ansatz == "RS":
            return symmetric
        return three_units_capacity.two_steps(symmetric)

    def saddle_point(self, alpha):
        """Return the replica-symmetric state at a load from 0 to 3.9, and the report.

        Relative errors of q, of the entropy and of the replicon are below 1e-5 up to q = 0.9,
        which is where replica symmetry has long been lost.
        """
        alpha = Range.of(Symmetric).check("alpha", alpha)
        if alpha < 1e-9:
            report = accepted(0.0, 0.0, 0, "no patterns")
            return SymmetricState(alpha, 0.0, 1.0, 0.0, 0.0, 0.0), report

        def excess(logit):
            return math.log(_symmetric(logit).alpha / alpha)

        start = max(math.log(alpha) - 3.0, LOGITS[0])
        root, report = first_root(excess, start, LOGITS[1], step=0.5, tolerance=1e-12)
        return _symmetric(root, alpha), report

    def instability(self):
        """Return the load at which replica symmetry becomes unstable, to 1e-6.

        P1, Sec. II.C, quotes 1.76 from the literature of the 1990s.
        """
        root, _ = first_root(
            lambda logit: _symmetric(logit).replicon - 1.0, -1.0, 3.0, tolerance=1e-10
        )
        return _symmetric(root).alpha


def rs_capacity(units, needed=None):
    """Return the replica-symmetric capacity of an odd number of units  [eq-nearest-solution].

    Exact at this level but for the quadrature: relative error below 1e-11. For one unit it is the
    capacity of the perceptron; for more replica symmetry breaks at a smaller load, and the value
    is an upper bound. It grows like ``sqrt(72 K / pi) - 9``, up to terms of order ``1 / sqrt(K)``
    [eq-sign-rs-scaling].

    Parameters
    ----------
    units : int
    needed : int, optional
        How many units must be right; by default most of them. A unit crosses over if at least
        ``units - needed`` of the others lie below it.

    Returns
    -------
    float
    """
    needed = units // 2 + 1 if needed is None else needed
    # the chance to cross over falls from one half to zero within about 1 / sqrt(units)
    features = np.array([[0.0, 1.0 / math.sqrt(units)]])
    x, weight = gaussian.fill_grid(features, 0.0, gaussian.LIMIT, gaussian.legendre_rule())
    # the chance that so many of the others do: an incomplete beta function, 1 without others
    spare = units - needed
    crossing = scipy.special.betainc(spare, needed, gaussian.H(x)) if spare else 1.0
    return float(1.0 / (units * (weight @ (x**2 * crossing))))


def _symmetric(logit, alpha=None):
    """Return the state whose overlap has this logit; entropy and replicon at `alpha`."""
    q, complement = scipy.special.expit(logit), scipy.special.expit(-logit)
    term, force, _, whole = committee_of_three.symmetric_averages(q, complement, ORDER)
    load = q / complement**2 / force
    alpha = load if alpha is None else alpha
    entropic = 0.5 * (math.log(complement) + q / complement)
    return SymmetricState(
        load,
        q,
        complement,
        q_hat=q / complement**2,
        entropy=entropic + alpha * term,
        replicon=alpha * complement**2 * whole,
    )
