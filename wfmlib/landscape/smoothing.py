"""Smoothed number of errors: committees with tanh units, their loss and its slopes.

One surface stands behind all that is here and in `wfmlib.landscape.hessian`. The weights of each
unit are taken with norm one, ``x_k = w_k . xi_k``, and every sign of the committee is replaced:

    stability   t = sigma K^(-1/2) sum_k tanh(beta x_k)
    loss        L = mean over patterns of g(t)

    "square"         g = (1 - tanh(output_beta t))^2     equal to (sigma - output)^2
    "linear"         g = (1 - t)^2                       the same, without tanh on the output unit
    "cross-entropy"  g = ln(1 + exp(-2 gamma t)) / (2 gamma)

As both sharpnesses grow, "square" tends to four times the share of errors (odd K).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from wfmlib.landscape import _configuration
from wfmlib.landscape._configuration import Configuration
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Positive
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Array

Loss: TypeAlias = Literal["square", "linear", "cross-entropy"]
STEEPEST = 0.4477  # no slope of tanh(z) against log z is larger: max of z / cosh(z)^2 is 0.44772
WALK = 100_000


@arguments.checked
def smoothed_loss(
    solution: Configuration,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    beta: Positive,
    loss: Loss = "square",
    output_beta: Positive = 1.0,
    gamma: Positive = 1.0,
) -> float:
    """Return the smoothed number-of-errors loss  [eq-smoothed-loss].

    Parameters
    ----------
    solution : Solution or network
        Of a perceptron, or of a committee of sign units. Each unit is scaled to norm one first:
        the lengths do not matter.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    beta : float
        Sharpness of the hidden units ``tanh(beta x)``, positive; x is of order 1.
    loss : {"square", "linear", "cross-entropy"}, optional
        ``mean (sigma - o)^2`` with the output ``o = tanh(output_beta s)`` of
        ``s = K^(-1/2) sum_k tanh(beta x_k)``; the same with ``o = s``; or the cross-entropy of
        ``sigma s``.
    output_beta : float, optional
        Sharpness of the output unit, positive. Only "square" has it.
    gamma : float, optional
        Sharpness of the cross-entropy, positive. Only "cross-entropy" has it.

    Returns
    -------
    float
        Mean over the patterns.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    Source: P1, Sec. V, which leaves open whether the output unit too is a tanh, and how sharp.
    Without it the loss pulls back patterns with votes to spare, and solutions of very different
    width have spectra alike. With `output_beta` equal to a large `beta` the eigenvalues of
    different solutions lie decades apart, set by the few patterns with the fewest votes.

    Examples
    --------
    >>> from wfmlib import Binary, TreeCommittee
    >>> net = TreeCommittee(3, weights=Binary()).network([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    >>> xi = [[1, 1, 1, 1, 1, 1, -1, -1, -1]]  # two votes to one
    >>> round(smoothed_loss(net, xi, [1], beta=100.0, loss="linear"), 4)  # (1 - 1 / sqrt(3))^2
    0.1786
    """
    surface = Surface(solution, xi, sigma, beta, loss, output_beta, gamma)
    return float(surface.values().mean())


@arguments.checked
def gradient(
    solution: Configuration,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    beta: Positive,
    loss: Loss = "square",
    output_beta: Positive = 1.0,
    gamma: Positive = 1.0,
    tangent: bool = False,
) -> Array:
    """Return the gradient of `smoothed_loss` at the weights with units of norm one.

    Parameters
    ----------
    solution, xi, sigma, beta, loss, output_beta, gamma
        As for `smoothed_loss`.
    tangent : bool, optional
        Leave out the components along the weights of each unit: the gradient on the product of
        spheres. Otherwise the derivatives are those in the whole space.

    Returns
    -------
    numpy.ndarray
        Shape of the weights, float64.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> gradient(network, xi, sigma, beta=1.0).shape
    (9,)
    """
    surface = Surface(solution, xi, sigma, beta, loss, output_beta, gamma)
    slopes = surface.gradient()
    if tangent:
        slopes = surface.projected(slopes)
    return slopes.reshape(surface.shape)


@arguments.checked
def smallest_beta(
    solution: Configuration, xi: ArrayLike, sigma: ArrayLike, *, tolerance: Positive = 1e-10
) -> float:
    """Return the beta from which on tanh units make no error, however much larger it is.

    The set of sharpnesses at which ``sigma sum_k tanh(beta x_k) > 0`` for every pattern need not
    be an interval: with fields 100, -1, -1, 0.01, 0.01 a pattern is right at small and at large
    beta and wrong between. What is returned is the lower end of the interval that reaches up to
    infinity, so that the largest answer for several solutions serves them all.

    Parameters
    ----------
    solution, xi, sigma
        As for `smoothed_loss`; it must make no error.
    tolerance : float, optional
        Relative error, positive. The answer lies on the side where all patterns are right.

    Returns
    -------
    float
        0.0 where every beta will do, as it always does for a perceptron.

    Raises
    ------
    ValueError
        If there are errors, or an argument is out of range; the message names it.
    TypeError
        If an argument is of the wrong kind.
    NotConverged
        If the walk is too long: a pattern then touches zero without crossing it.

    Notes
    -----
    The walk goes down in ``log beta`` from where all fields are saturated. A unit's tanh changes
    by at most 0.4477 for each unit of ``log beta``, so a stability t cannot reach zero within
    ``t / (0.4477 K)``, and no crossing is stepped over. The walk ends where the steps vanish or
    where ``|tanh(z) - z| <= |z|^3 / 3`` shows that no error can follow further down.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> network = Perceptron().network(np.ones(9))
    >>> smallest_beta(network, np.ones((1, 9)), [1])
    0.0
    """
    surface = Surface(solution, xi, sigma, 1.0, "square", 1.0, 1.0)
    fields = surface.fields * surface.labels  # positive: a vote for the label
    K = len(fields)
    votes = np.sign(fields).sum(axis=0)
    wrong = np.count_nonzero((votes <= 0) | np.any(fields == 0, axis=0))
    if wrong:
        raise ValueError(f"solution must make no error, {wrong} patterns are answered wrongly")
    sums, cubes = fields.sum(axis=0), (np.abs(fields) ** 3).sum(axis=0)
    # with all |z| above this, (K+1)/2 votes for outweigh (K-1)/2 against
    saturated = math.atanh((K - 1) / (K + 1)) if K > 1 else 1.0
    place = math.log(saturated / np.abs(fields).min())
    for _ in range(WALK):
        beta = math.exp(place)
        if np.all(sums > beta**2 * cubes / 3):
            return 0.0
        step = np.tanh(beta * fields).sum(axis=0).min() / (STEEPEST * K)
        if step < tolerance:
            return beta
        place -= step
    message = f"no end of the good sharpnesses within {WALK} steps, at beta = {beta:.6g}"
    raise NotConverged(Report(False, step, WALK, message), beta)


# ------------------------------------------------------------------------------------------------
# The surface
# ------------------------------------------------------------------------------------------------


class Surface:
    """The loss around one set of weights: what its value, gradient and Hessian are made of.

    Attributes
    ----------
    w : numpy.ndarray
        Weights with units of norm one, shape (K, M).
    fields : numpy.ndarray
        Preactivations x, shape (K, P).
    """

    def __init__(self, solution, xi, sigma, beta, loss, output_beta, gamma):
        weights, tree = _configuration.sign_units(solution)
        xi, self.labels = _patterns(weights, tree, xi, sigma)
        self.shape = weights.shape
        self.tree = tree and weights.ndim == 2
        w = np.atleast_2d(weights).astype(float)
        w = w / np.abs(w).max(axis=1, keepdims=True)
        self.w = w / np.linalg.norm(w, axis=1, keepdims=True)
        self.beta = beta
        self.rule = Rule(loss, output_beta, gamma)
        K, P = len(w), len(xi)
        if self.tree:
            parts = xi.reshape(P, K, -1).transpose(1, 0, 2)
            self.inputs = np.ascontiguousarray(parts, dtype=float)  # (K, P, M)
        else:
            self.inputs = xi.astype(float)
        self.fields = self.forward(self.w)
        units = np.tanh(self.beta * self.fields)
        self.slopes = self.beta * _sech2(self.beta * self.fields)
        self.bends = -2 * self.beta * units * self.slopes
        self.stabilities = self.labels * units.sum(axis=0) / math.sqrt(K)

    def forward(self, direction):
        """Return ``direction_k . xi_k`` of each unit and pattern, shape (K, P)."""
        if self.tree:
            return np.matmul(self.inputs, direction[:, :, None])[:, :, 0]
        return direction @ self.inputs.T

    def backward(self, coefficients):
        """Return the sum over patterns of ``coefficients_k xi_k``, shape (K, M)."""
        if self.tree:
            return np.matmul(coefficients[:, None, :], self.inputs)[:, 0, :]
        return coefficients @ self.inputs

    def values(self):
        """Return the loss of each pattern."""
        return self.rule(self.stabilities)[0]

    def gradient(self):
        """Return the derivatives by the weights, shape (K, M)."""
        first = self.labels * self.rule(self.stabilities)[1]
        return self.backward(first * self.slopes) / (math.sqrt(len(self.w)) * len(self.labels))

    def projected(self, direction):
        """Return a direction without its components along the weights of each unit."""
        return direction - np.sum(direction * self.w, axis=1, keepdims=True) * self.w

    def curvatures(self):
        """Return what the Hessian is made of, the mean over patterns included.

        Two arrays (P,) and (K, P): the Hessian is the sum over patterns of
        ``common s_k s_l + [k = l] own_k``, s the slopes, times the inputs of the two units.
        """
        K, P = self.fields.shape
        _, first, second = self.rule(self.stabilities)
        return second / (K * P), self.labels * first * self.bends / (math.sqrt(K) * P)


@dataclass(frozen=True)
class Rule:
    """The loss g of a stability, with its first and second derivative."""

    loss: str
    output_beta: float
    gamma: float

    def __call__(self, t):
        if self.loss == "linear":
            return (1 - t) ** 2, -2 * (1 - t), np.full_like(t, 2.0)
        if self.loss == "cross-entropy":
            z = 2 * self.gamma * t
            value = np.logaddexp(0.0, -z) / (2 * self.gamma)
            wrong = special.expit(-z)
            return value, -wrong, 2 * self.gamma * wrong * special.expit(z)
        b = self.output_beta
        gap = 2 * special.expit(-2 * b * t)  # 1 - tanh, without cancellation
        bend = _sech2(b * t)
        return gap**2, -2 * b * gap * bend, 2 * b**2 * bend * gap * (1 + 3 * np.tanh(b * t))


def _patterns(w, tree, xi, sigma):
    """Return checked patterns and labels, as many inputs as there are for the weights."""
    xi, sigma = arguments.patterns(xi, sigma)
    inputs = w.size if tree else w.shape[-1]
    if xi.shape[1] != inputs:
        raise ValueError(
            f"xi must have {inputs} columns for weights of shape {w.shape}, "
            f"xi has shape {xi.shape}"
        )
    return xi, sigma


def _sech2(z):
    """Return ``1 / cosh(z)^2``, which is ``1 - tanh(z)^2`` without cancellation."""
    small = np.exp(-2 * np.abs(z))
    return 4 * small / (1 + small) ** 2
