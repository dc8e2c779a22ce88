"""Entropic terms of a prior of the weights, for each kind of saddle point."""

from __future__ import annotations

from typing import NamedTuple


class Entropic(NamedTuple):
    """The entropic side of a replica-symmetric saddle point, at a given ``q_hat``.

    Attributes
    ----------
    q : float
        Overlap between two solutions.
    complement : float
        ``1 - q``, without the rounding of q.
    term : float
        What the weights contribute to the free entropy, the ``q_hat (1 - q) / 2`` of the Legendre
        transform included; nats per weight.
    fluctuation : float
        Mean square of a weight's variance over the solutions: the weights' factor of the replicon.

    Examples
    --------
    >>> from wfmlib import Binary
    >>> round(Binary().entropic(1.0).q, 4)
    0.3943
    """

    q: float
    complement: float
    term: float
    fluctuation: float


class ConstrainedEntropic(NamedTuple):
    """The entropic side for solutions counted at a distance from a reference.

    Attributes
    ----------
    p : float
        Overlap between two counted solutions.
    complement : float
        ``1 - p``, without the rounding of p.
    t0 : float
        Overlap of a counted solution with a reference other than its own.
    t1_hat : float
        Conjugate of the overlap with its own reference, ``t1 = 1 - 2 distance``.
    term : float
        What the weights contribute to the local entropy, the products of overlaps and conjugates
        included; nats per weight.
    fluctuation : float
        Mean square of a weight's variance over the counted solutions.

    Examples
    --------
    >>> ConstrainedEntropic(0.8, 0.2, t0=0.3, t1_hat=1.0, term=0.2, fluctuation=0.1).p
    0.8
    """

    p: float
    complement: float
    t0: float
    t1_hat: float
    term: float
    fluctuation: float


class BrokenEntropic(NamedTuple):
    """The entropic side with one step of symmetry breaking, at given conjugates.

    Attributes
    ----------
    q0, complement : float
        Overlap between groups, and ``1 - q1``.
    difference : float
        ``q1 - q0``.
    split_hat : float
        ``q1_hat - q0_hat``.
    term : float
        What the weights contribute to the free entropy  [eq-1rsb-entropy], in nats per weight.
    complexity : float
        What they contribute to ``-m^2 d phi / dm``.
    """

    q0: float
    complement: float
    difference: float
    split_hat: float
    term: float
    complexity: float


class ConstrainedBroken(NamedTuple):
    """The entropic side for groups of solutions at a distance from a reference.

    Attributes
    ----------
    p0, outer : float
        Overlap between groups, and ``1 - p0``.
    complement, difference : float
        ``1 - p1`` and ``p1 - p0``.
    t0 : float
        Overlap with another reference.
    split_hat : float
        ``p1_hat - p0_hat``.
    term : float
        What the weights contribute to the local entropy  [eq-fp-1rsb], in nats per weight.
    complexity : float
        What they contribute to ``-m^2 d phi / dm``.
    delta : float or None
        ``t1_hat - t0_hat``, where it is solved for: the next one may start from it.
    """

    p0: float
    outer: float
    complement: float
    difference: float
    t0: float
    split_hat: float
    term: float
    complexity: float
    delta: float | None = None


class Group(NamedTuple):
    """What one discrete weight contributes in a group of m replicas, at given conjugates.

    Attributes
    ----------
    common : float
        ``E <s>^2``, s the mean of the weight in its field.
    spread : float
        ``E [<s^2> - <s>^2]``, between the members of a group.
    complement : float
        Mean variance of the weight in its field.
    term : float
        ``(1/m) E ln < Z^m >``, Z the weight's sum over states.
    information : float
        ``E [m <ln Z> - ln < Z^m >]``, not negative.
    """

    common: float
    spread: float
    complement: float
    term: float
    information: float


class Magnetised(NamedTuple):
    """What a discrete weight contributes with infinitely many replicas, at given conjugates.

    Attributes
    ----------
    overlap, complement : float
        ``E m*^2`` and ``E (1 - m*^2)``.
    lean : float
        ``E u m*``: the derivative of `term` in ``sqrt(q1_hat)``.
    term : float
        ``E max_v {-v^2 / 2 + ln Z(sqrt(q1_hat) u + sqrt(d0_hat) v)}``.
    """

    overlap: float
    complement: float
    lean: float
    term: float


class LimitEntropic(NamedTuple):
    """The entropic side of infinitely many replicas at a given mutual overlap q1.

    Attributes
    ----------
    q1_hat, d0_hat : float
        The conjugates: of q1, and of the spread.
    spread : float
        ``y (q1 - q0)`` for y replicas, as y grows.
    term : float
        What the weights contribute to the free entropy  [eq-ld-infinite], in nats per weight.
    """

    q1_hat: float
    d0_hat: float
    spread: float
    term: float


class Unloaded(NamedTuple):
    """Replicas at a mutual overlap without any pattern.

    Attributes
    ----------
    entropy, slope : float
        In nats per weight and replica, and its derivative in the overlap.
    complexity : float or None
        For a finite number of replicas; None otherwise.
    """

    entropy: float
    slope: float
    complexity: float | None
