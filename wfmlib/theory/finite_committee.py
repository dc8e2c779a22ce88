"""Tree committees of a finite number of sign units: how many patterns they store.

Replica symmetry, spherical weights of each unit, margin 0. The output is the majority of K signs;
as the overlap of solutions tends to 1, a pattern's K preactivations, normal with unit variance,
are moved by the least distance D that makes the desired output the majority, and the capacity is
``1 / E D^2``  [eq-nearest-solution].

With n > K/2 units on the wrong side, those ``n - (K - 1) / 2`` cross over that are nearest to
their threshold. So a unit with preactivation ``-x`` crosses over, at the cost x^2, if at least
(K - 1) / 2 of the other K - 1 lie below it, and

    E D^2 = K int_0^inf dx G(x) x^2 Prob(B >= (K - 1) / 2),   B binomial(K - 1, H(x)).

At smaller loads, for three units, the replica-symmetric state: with Sigma the probability that the
machine is right, given what all solutions share (`committee_of_three`), and ``f = ln Sigma``, s_l
its derivatives in the fields ``sqrt(q) v_l``,

    entropy = [ln(1 - q) + q / (1 - q) + ln(2 pi e)] / 2 + alpha E f    [eq-rs-committee],
    q / (1 - q)^2 = alpha E sum_l s_l^2    [eq-rs-committee-saddle].

Each of the K units has N / K weights and conjugates ``q_hat_l = alpha K E s_l^2``. A difference
between replicas, d_l in the overlap of unit l, returns as ``(1 - q)^2 alpha K sum_k E f_lk^2 d_k``
with f_lk the second derivatives: a K x K matrix with equal diagonal and equal other entries, none
negative. Its largest eigenvalue belongs to the mode that all units share, and is the replicon

    alpha (1 - q)^2 E sum_lk f_lk^2    [eq-rs-committee-replicon].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy

from wfmlib import _validate, gaussian
from wfmlib.models.weights import Spherical
from wfmlib.solvers import Report, accepted, first_root
from wfmlib.theory import committee_of_three, three_units_capacity

__all__ = ["SymmetricState", "instability", "rs_capacity", "rsb_capacity", "solve"]

MOST_UNITS = 10**6 + 1


def rs_capacity(units):
    """Return the replica-symmetric capacity of a tree committee of sign units.

    Parameters
    ----------
    units : int or array_like of int
        Number K of hidden units, odd, from 1 to 1000001.

    Returns
    -------
    float or ndarray
        Patterns per weight, of the shape of `units`: ``1 / E D^2``  [eq-nearest-solution]. It
        grows like ``sqrt(72 K / pi) - 9``, up to terms of order ``1 / sqrt(K)``
        [eq-sign-rs-scaling].

    Raises
    ------
    TypeError, ValueError
        If `units` holds anything but odd integers in that range.

    Notes
    -----
    Exact at this level but for the quadrature: relative error below 1e-11. For K = 1 it is the
    capacity of the perceptron; for more units replica symmetry breaks at a smaller load, and the
    value is an upper bound.

    Source: P2, main text (the law for large K); E. Barkai, D. Hansel, H. Sompolinsky, Phys. Rev. A
    45, 4146 (1992), and A. Engel et al., Phys. Rev. A 45, 7590 (1992), for K = 3.

    Examples
    --------
    >>> round(rs_capacity(1), 10), round(rs_capacity(3), 4)
    (2.0, 4.0252)
    """
    given = _validate.array("units", units)
    if given.ndim == 0:
        return _capacity(_odd(units))
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"units must hold integers, got dtype {given.dtype}")
    found = [_capacity(_odd(one)) for one in given.ravel().tolist()]
    return np.array(found, dtype=float).reshape(given.shape)


def _odd(units):
    if type(units) is np.ndarray:
        units = units.item()
    units = _validate.integer("units", units, 1, MOST_UNITS)
    if units % 2 == 0:
        raise ValueError(f"units must be odd, got {units}")
    return units


def _capacity(units):
    half = (units - 1) // 2
    # the chance to cross over falls from one half to zero within about 1 / sqrt(units)
    features = np.array([[0.0, 1.0 / math.sqrt(units)]])
    x, weight = gaussian.fill_grid(features, 0.0, gaussian.LIMIT, gaussian.legendre_rule())
    # at least half of twice half others: an incomplete beta function, 1 without others
    crossing = scipy.special.betainc(half, half + 1, gaussian.H(x)) if half else 1.0
    return float(1.0 / (units * (weight @ (x**2 * crossing))))


def rsb_capacity(units=3, steps=1):
    """Return the capacity of a tree committee of sign units with broken replica symmetry.

    Parameters
    ----------
    units : int
        Number K of hidden units: 3.
    steps : int
        Steps of symmetry breaking, 1 or 2.

    Returns
    -------
    float
        Patterns per weight, where the innermost overlap reaches 1  [eq-1rsb-capacity]. Relative
        error below 1e-6 with one step, 2e-4 with two (which takes half a minute).

    Raises
    ------
    TypeError, ValueError
        If `units` is not 3, or `steps` neither 1 nor 2.

    Notes
    -----
    Every further step lowers it. P1 quotes 3.02 from the literature of the 1990s.

    Source: P1, Sec. II.C; E. Barkai, D. Hansel, H. Sompolinsky, Phys. Rev. A 45, 4146 (1992), and
    A. Engel et al., Phys. Rev. A 45, 7590 (1992).
    """
    symmetric = rs_capacity(_three(units))
    if _validate.integer("steps", steps, 1, 2) == 1:
        return three_units_capacity.one_step(symmetric).alpha
    return three_units_capacity.two_steps(symmetric)


# ------------------------------------------------------------------------------------------------
# Three units below capacity
# ------------------------------------------------------------------------------------------------

LOGITS = (-25.0, 7.5)  # of q: where it is looked for
ORDER = 8  # nodes in a panel: relative errors below 1e-6


@dataclass(frozen=True)
class SymmetricState:
    """The replica-symmetric state of a tree committee of three sign units, margin 0.

    Attributes
    ----------
    alpha : float
        Load: patterns per weight.
    units : int
    q : float
        Overlap between two solutions, the same in each unit.
    entropy : float
        Logarithm of the volume of solutions in nats per weight, ``ln(2 pi e) / 2`` for the whole
        spheres, as `Spherical`.
    replicon : float
        RS is stable while it is below 1  [eq-rs-committee-replicon].
    report : Report
        Residual: relative error of the load.
    """

    alpha: float
    units: int
    q: float
    entropy: float
    replicon: float
    report: Report = field(compare=False)


def solve(alpha, units=3):
    """Solve the replica-symmetric saddle-point equation of a tree committee of sign units.

    Parameters
    ----------
    alpha : float
        Load, patterns per weight, from 0 to 3.9.
    units : int
        Number K of hidden units: 3.

    Returns
    -------
    SymmetricState

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, not finite or out of range; the message names it.
    NotConverged
        If no overlap belongs to this load; not seen in the allowed range.

    Notes
    -----
    Relative errors of q, of ``entropy - Spherical().entropy`` and of the replicon below 1e-5 up to
    q = 0.9, which is where replica symmetry has long been lost (`instability`).

    Source: P1, Sec. II.C and appendix C with a single overlap; E. Barkai, D. Hansel, H.
    Sompolinsky, Phys. Rev. A 45, 4146 (1992).
    """
    alpha = _validate.real("alpha", alpha, 0.0, 3.9)
    units = _three(units)
    if alpha < 1e-9:
        report = accepted(0.0, 0.0, 0, "no patterns")
        return SymmetricState(alpha, units, 0.0, Spherical.entropy, 0.0, report)

    def excess(logit):
        return math.log(_symmetric(logit)[0] / alpha)

    start = max(math.log(alpha) - 3.0, LOGITS[0])
    root, report = first_root(excess, start, LOGITS[1], step=0.5, tolerance=1e-12)
    _, q, entropy, replicon = _symmetric(root, alpha)
    return SymmetricState(alpha, units, q, entropy, replicon, report)


def instability(units=3):
    """Return the load at which replica symmetry becomes unstable.

    Parameters
    ----------
    units : int
        Number K of hidden units: 3.

    Returns
    -------
    float
        Patterns per weight, where the replicon is 1  [eq-rs-committee-replicon]. Relative error
        below 1e-6.

    Raises
    ------
    TypeError, ValueError
        If `units` is not 3.

    Notes
    -----
    P1 quotes 1.76 from the literature of the 1990s.

    Source: P1, Sec. II.C.
    """
    _three(units)
    root, _ = first_root(lambda logit: _symmetric(logit)[3] - 1.0, -1.0, 3.0, tolerance=1e-10)
    return _symmetric(root)[0]


def _three(units):
    units = _validate.integer("units", units, 1)
    if units != 3:
        raise ValueError(f"units must be 3: other numbers of units are not solved; got {units}")
    return units


def _symmetric(logit, alpha=None):
    """Return load, q, entropy and replicon of the state with this overlap; all at `alpha`."""
    q, complement = scipy.special.expit(logit), scipy.special.expit(-logit)
    term, force, _, whole = committee_of_three.symmetric_averages(q, complement, ORDER)
    load = q / complement**2 / force
    alpha = load if alpha is None else alpha
    entropic = 0.5 * (math.log(complement) + q / complement) + Spherical.entropy
    return load, float(q), entropic + alpha * term, alpha * complement**2 * whole
