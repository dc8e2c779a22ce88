"""The activation: how the overlap of the weights becomes an overlap of the outputs.

In a tree committee of many units the stabilities of two solutions with overlap q are Gaussian,
with covariance ``Delta(q) - Delta_{-1}``, where ``Delta(q) = E[g(a) g(b)]`` for normal a, b of
correlation q, and ``Delta_{-1} = Delta(0)`` is what balanced output weights (or an odd g) remove.
So every activation enters the theory through the perceptron's formulas, with q replaced by the
effective overlap

    c(q) = (Delta(q) - Delta_{-1}) / (Delta_2 - Delta_{-1}),   Delta_2 = Delta(1),

and the margin divided by ``scale = sqrt(Delta_2 - Delta_{-1})``  [eq-effective-overlap].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from wfmlib.models.correlation import Correlation
from wfmlib.numerics import arguments
from wfmlib.numerics._universal import universal

__all__ = ["Activation", "EffectiveOverlap", "Linear", "ReLU", "Sign"]


class EffectiveOverlap(NamedTuple):
    """The effective overlap at some q: floats, or arrays of the shape of q.

    Attributes
    ----------
    c, complement : float
        ``c(q)``, and ``1 - c(q)`` without the rounding of c.
    slope, curvature : float
        ``c'(q)`` and ``c''(q)``; infinite at q = 1 where they diverge.

    Examples
    --------
    >>> round(float(Sign().effective(0.5, 0.5).c), 6)  # 2 arcsin(q) / pi
    0.333333
    """

    c: float
    complement: float
    slope: float
    curvature: float


class EnergeticTerm:
    """What all activations and finite machines share: the door to their effective overlap."""

    one_field = True  #: a pattern's stability is one Gaussian field, not one of each unit
    flat = False  #: whether ``c'(0) = 0``: then q = 0 is a saddle point at any load
    orthogonal = False  #: whether real replicas may form groups without any overlap, q0 = 0
    most_replicas = math.inf  #: real replicas that are solved
    most_overlap = 1.0  #: of real replicas; 1 itself is excluded

    def effective_overlap(self, q, complement=None):
        """Return c(q), 1 - c(q), c'(q), c''(q).

        Parameters
        ----------
        q : float or array_like
            Overlap of the weights, from -1 to 1.
        complement : float, optional
            ``1 - q``, for one q so close to 1 that it would be lost in it.

        Returns
        -------
        EffectiveOverlap

        Raises
        ------
        TypeError, ValueError
            If q holds anything but numbers from -1 to 1, or complement is not ``1 - q`` within
            the rounding of q.
        """
        if complement is not None:
            q = arguments.real("q", q, -1.0, 1.0)
            complement = arguments.real("complement", complement, 0.0, 2.0)
            if abs(1.0 - q - complement) > 1e-14:
                raise ValueError(f"complement must be 1 - q, got {complement} with q = {q}")
        else:
            q = arguments.reals("q", q)
            if not np.all(np.abs(q) <= 1.0):
                wrong = q[~(np.abs(q) <= 1.0)].flat[0]
                raise ValueError(f"q must be finite and from -1 to 1, got {wrong}")
            complement = 1.0 - q
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = self.effective(q, complement)
        if np.ndim(q):
            return EffectiveOverlap(*(np.broadcast_to(part, q.shape).copy() for part in parts))
        return EffectiveOverlap(*(float(part) for part in parts))


@dataclass(frozen=True)
class Linear(EnergeticTerm):
    """A linear unit, or no hidden layer at all, as in the perceptron: ``c(q) = q``.

    Examples
    --------
    >>> Linear().effective(0.5, 0.5).c
    0.5
    """

    scale = 1.0  #: standard deviation of a random pattern's stability
    slope_at_one = 1.0  #: c'(1)

    def effective(self, q, complement):
        """Return `effective_overlap` of arguments that were checked: floats, or arrays alike."""
        return EffectiveOverlap(q, complement, 1.0, 0.0)


@dataclass(frozen=True)
class Sign(EnergeticTerm):
    """Tree committee of sign units: ``c(q) = (2 / pi) arcsin q``.

    Its slope diverges at q = 1: two solutions, however close, differ in a finite fraction of the
    hidden units that matter, and the RS capacity of spherical weights is infinite.

    Source: P2, appendix B1.

    Examples
    --------
    >>> round(float(Sign().effective(0.5, 0.5).c), 6)
    0.333333
    """

    scale = 1.0  #: standard deviation of a random pattern's stability
    slope_at_one = math.inf  #: c'(1)

    def effective(self, q: Any, complement: Any) -> EffectiveOverlap:
        """Return `effective_overlap` of arguments that were checked: floats, or arrays alike."""
        sine = np.sqrt(complement * (1.0 + q))  # of the angle between the two weight vectors
        gap = 4.0 / np.pi * np.arcsin(np.sqrt(0.5 * complement))
        return EffectiveOverlap(
            c=_towards_one(2.0 / np.pi * np.arcsin(q), gap),
            complement=gap,
            slope=2.0 / np.pi / sine,
            curvature=2.0 / np.pi * q / sine**3,
        )


@universal("float64(float64, float64)")
def _towards_one(c, gap):
    """Return c: towards 1 as ``1 - gap``, as the arcsine there magnifies the rounding of q."""
    return c if c < 0.5 else 1.0 - gap


@universal("float64(float64)")
def _lune(theta):
    """Return ``sin(theta) - theta cos(theta)``, by its series where the two cancel."""
    if theta > 1.0:
        return math.sin(theta) - theta * math.cos(theta)
    term = theta**3 / 3.0
    total = term
    for k in range(1, 10):
        term *= -(theta**2) / (2.0 * k * (2.0 * k + 3.0))
        total += term
    return total


@dataclass(frozen=True)
class ReLU(EnergeticTerm):
    """Tree committee of rectified linear units, half of the output weights +1 and half -1.

    With theta the angle between the two weight vectors, ``cos theta = q``:
    ``Delta(q) = [sin theta + (pi - theta) cos theta] / (2 pi)``.

    Source: P2, appendix B1.

    Examples
    --------
    >>> round(ReLU().scale, 6)  # standard deviation of a stability
    0.583819
    >>> ReLU()(np.array([-1.0, 2.0])).tolist(), ReLU().derivative([-1.0, 2.0]).tolist()
    ([0.0, 2.0], [0.0, 1.0])
    >>> round(float(ReLU().effective_overlap(0.5).c), 4)
    0.4264
    """

    scale = math.sqrt((1.0 - 1.0 / math.pi) / 2.0)  #: standard deviation of a random stability
    slope_at_one = 1.0 / (1.0 - 1.0 / math.pi)  #: c'(1)

    def __call__(self, x):
        """Return what the unit answers to its preactivation."""
        return np.maximum(x, 0.0)

    def derivative(self, x):
        """Return the slope of the answer; 0 at the corner."""
        return np.where(np.asarray(x) > 0.0, 1.0, 0.0)

    def effective(self, q: Any, complement: Any) -> EffectiveOverlap:
        """Return `effective_overlap` of arguments that were checked: floats, or arrays alike."""
        theta = 2.0 * np.arcsin(np.sqrt(0.5 * complement))
        sine = np.sqrt(complement * (1.0 + q))
        norm = 2.0 * np.pi * self.scale**2
        # for small q, 1 - sin(theta) without cancellation: q^2 / (1 + sin(theta))
        c = (q * (np.pi / 2.0 + np.arcsin(q)) - q**2 / (1.0 + sine)) / norm
        gap = (np.pi * complement - _lune(theta)) / norm
        return EffectiveOverlap(
            c=_towards_one(c, gap),
            complement=gap,
            slope=(np.pi - theta) / norm,
            curvature=1.0 / (norm * sine),
        )


@dataclass(frozen=True)
class Activation(EnergeticTerm):
    """Tree committee of units with any activation `g`.

    Output weights balance where g has a mean. Corners and jumps of g are allowed and are found,
    but for pairs of them less than 0.002 apart, between which g may not be looked at.

    Relative errors are below 1e-11 in 1 - c and c', absolute ones in c; that of c'', relative or
    absolute, is below 1e-10 or ``1e-14 / (1 - q)``, whichever is larger. If g returns float32, or
    rounds x to it, 1 - c and c' have relative errors of 1e-5. The first look at g takes up to
    0.1 s, longer if g oscillates: 0.4 s for ``sin(50 x)``. Beyond that values of q above 0.98 cost
    a second each, and from about ``sin(200 x)`` on g is refused.

    Parameters
    ----------
    g : callable
        From an array of floats to an array of the same shape.
    derivative : callable, optional
        The slope of g, which `learning.cross_entropy_sgd` needs, and theory does not. By default
        the method `derivative` of g where it has one (of a spline of SciPy, whose method makes
        another spline, give ``g.derivative()``), and else central differences
        ``(g(x + h) - g(x - h)) / 2h``, with h the cube root of the rounding of g: 6e-6, or 5e-3 in
        single precision. Their errors are below 1e-9 (5e-4) where g and its derivatives are of
        order one. Closer than h to a corner they lie between the slopes beside it.

    Raises
    ------
    TypeError
        If g or its derivative is not callable, or g does not return an array of real numbers, in
        double or single precision, of the same shape.
    ValueError
        If g is not finite, grows too fast for ``E g^2``, is constant, oscillates too fast, bends
        on a scale below 1e-5, or is singular in another way than by a corner or a jump.

    Notes
    -----
    Without a linear part (``E x g(x) = 0``, as every even g) ``c'(0) = 0``, and q = 0 is a saddle
    point at any load. Solvers that follow one branch from there would not choose between it and
    others, and refuse such a device; with spherical weights and a margin `typical.capacity` and
    `full_breaking.solve` accept it.

    Examples
    --------
    >>> round(Activation(np.tanh).scale, 6)
    0.627929
    >>> tanh = Activation(np.tanh)
    >>> round(tanh.slope_at_one, 4), tanh.flat
    (1.1778, False)
    >>> round(float(tanh.effective_overlap(0.5).c), 4)
    0.4726
    """

    g: Any
    derivative: Any = None
    _correlation: Correlation = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "_correlation", Correlation(self.g))
        if self.derivative is None:
            object.__setattr__(self, "derivative", getattr(self.g, "derivative", None))
        else:
            arguments.function("derivative", self.derivative)

    def __call__(self, x: Any) -> Any:
        """Return what the unit answers to its preactivation, ``g(x)``."""
        return self.g(x)

    def __repr__(self):
        return f"Activation({getattr(self.g, '__name__', None) or repr(self.g)})"

    @property
    def scale(self) -> float:
        """Standard deviation of a random pattern's stability, ``sqrt(Var g(x))``."""
        return self._correlation.scale

    @property
    def flat(self) -> bool:  # type: ignore[override]
        """Whether ``c'(0) = 0``: g has no linear part."""
        return self._correlation.flat

    @property
    def slope_at_one(self) -> float:
        """``c'(1) = E g'^2 / Var g``; infinite where g jumps."""
        return self._correlation.slope_at_one

    def effective(self, q: Any, complement: Any) -> EffectiveOverlap:
        """Return `effective_overlap` of arguments that were checked: floats, or arrays alike."""
        if np.ndim(q) == 0:
            return EffectiveOverlap(*self._correlation(float(q), float(complement)))
        rows = [self._correlation(*pair) for pair in zip(q.flat, complement.flat, strict=True)]
        return EffectiveOverlap(*np.array(rows).reshape(*q.shape, 4).transpose(-1, *range(q.ndim)))


def slope(unit, x):
    """Return the derivative of an activation: its own, or central differences (`Activation`)."""
    x = np.asarray(x, dtype=float)
    own = getattr(unit, "derivative", None)
    if own is not None:
        return np.asarray(own(x), dtype=float)
    return differences(unit, x)


def differences(unit, x):
    """Return the central differences of an activation."""
    rounding = np.finfo(np.result_type(unit(x), np.float32)).eps
    above, below = x + rounding ** (1 / 3), x - rounding ** (1 / 3)
    rise = np.asarray(unit(above), dtype=float) - np.asarray(unit(below), dtype=float)
    return rise / (above - below)
