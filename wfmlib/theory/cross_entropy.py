"""Cross-entropy at low temperature: where replica symmetry stops describing its minima.

The Gibbs measure of the loss is a constraint like another (`CrossEntropy`), and `typical.solve`
describes it at any temperature. This file holds what is particular to low ones, for binary
weights. Configurations are discrete, so the entropy cannot be negative; the replica-symmetric one
becomes so above some beta. Its value there is the best estimate of the minima that replica
symmetry can give, unless it has lost stability before: `working_beta` is the smaller of the two.
The limit beta -> infinity taken blindly is `zero_temperature`; it lies beyond both.

The free entropy is that of `saddles.replica_symmetric` with another f (P1, appendix B1),

    f(omega) = ln E_z exp[-beta loss_gamma(omega + sqrt(1 - c) z)]             [eq-ce-log-weight]

and ``energy = -d phi / d beta``, ``entropy = phi + beta energy``. For the binary perceptron it is
short in plain NumPy, and the fast state is stationary in it:

>>> x, weight = np.polynomial.hermite_e.hermegauss(100)
>>> weight = weight / weight.sum()
>>> def phi(q, q_hat, beta, alpha, gamma):
...     field = np.sqrt(q) * x[:, None] + np.sqrt(1 - q) * x
...     f = np.log(np.exp(-beta * loss(gamma, field)) @ weight)
...     entropic = weight @ np.log(2 * np.cosh(np.sqrt(q_hat) * x)) - q_hat * (1 - q) / 2
...     return entropic + alpha * (weight @ f)
>>> point = typical.solve(Perceptron(), 0.5, CrossEntropy(1.0, 5.0))
>>> place = np.array([point.q, point.q_hat, 5.0])
>>> slopes = [
...     (phi(*place + step, 0.5, 1.0) - phi(*place - step, 0.5, 1.0)) / 2e-4
...     for step in 1e-4 * np.eye(3)
... ]
>>> print(f"{phi(*place, 0.5, 1.0):.6f} {point.free_entropy:.6f}")
0.046869 0.046869
>>> print(f"{abs(slopes[0]):.5f} {abs(slopes[1]):.5f}, {-slopes[2]:.5f} {point.energy:.5f}")
0.00000 0.00000, 0.07945 0.07945
"""

from __future__ import annotations

import contextlib
import math
import sys
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike

from wfmlib.models.constraints import CrossEntropy, Margin
from wfmlib.models.constraints.cross_entropy_loss import Sharpness, proximal
from wfmlib.models.devices import Device, Perceptron
from wfmlib.models.weights import Binary
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Positive
from wfmlib.numerics.solvers import NotConverged, NoZero, Report, first_root
from wfmlib.theory import typical
from wfmlib.theory.axes import PERCEPTRON, checked
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.replica_symmetric import Stationary
from wfmlib.theory.typical.entropy import thermal_point

__all__ = [
    "instability_beta",
    "loss",
    "working_beta",
    "zero_entropy_beta",
    "zero_temperature",
]


def __dir__():
    return __all__


Positives: TypeAlias = Annotated[ArrayLike, *Positive.__metadata__]
Sharpnesses: TypeAlias = Annotated[ArrayLike, *Sharpness.__metadata__]

LARGEST = 1e300  # beta
ACCURACY = 1e-8  # of the logarithm of the load
LOG_BETA = (-2.0, math.log(LARGEST))  # where the lines are looked for


@arguments.checked
def loss(gamma: Sharpness, stability: ArrayLike) -> Any:
    """Return the cross-entropy loss of a pattern  [eq-cross-entropy].

    Parameters
    ----------
    gamma : float
        Sharpness, from 1e-3 to 1e6, or ``math.inf``.
    stability : float or array_like
        The pattern's stability.

    Returns
    -------
    float or ndarray
        ``ln(1 + e^{-2 gamma x}) / (2 gamma)``, of the shape of `stability`; ``max(-x, 0)`` for
        infinite gamma. Its slope lies between -1 and 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: P1, equation 16.

    Examples
    --------
    >>> round(loss(1.0, 0.0), 4), loss(math.inf, -2.0)
    (0.3466, 2.0)
    """
    x = arguments.reals("stability", stability)
    value = np.maximum(-x, 0.0)
    if gamma < math.inf:
        value = value + np.log1p(np.exp(-2.0 * gamma * np.abs(x))) / (2.0 * gamma)
    return float(value) if x.ndim == 0 else value


# ------------------------------------------------------------------------------------------------
# Where replica symmetry ends on the way to low temperatures
# ------------------------------------------------------------------------------------------------


@arguments.checked
def zero_entropy_beta(device: Device, alpha: Positives, gamma: Sharpnesses) -> Any:
    """Return the inverse temperature at which the entropy vanishes  [eq-ce-zero-entropy].

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; of a committee's units infinitely many.
    alpha : float or array_like
        Load, patterns per weight; positive.
    gamma : float or array_like
        Sharpness of the loss, from 1e-3 to 1e6, or ``math.inf``; broadcast against `alpha`.

    Returns
    -------
    float or ndarray
        Of the broadcast shape. Infinite where the entropy stays positive up to beta = 1e300: for
        infinite gamma below the capacity, where all solutions have the energy 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where the entropy cannot be resolved before it vanishes: at very small loads.

    Source: P1, appendix B3.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(zero_entropy_beta(Perceptron(), 0.4, 1.0), 4)
    98.0827
    """
    return _lines(lambda point: point.entropy, device, alpha, gamma)


@arguments.checked
def instability_beta(device: Device, alpha: Positives, gamma: Sharpnesses) -> Any:
    """Return the inverse temperature at which replica symmetry loses stability  [eq-ce-replicon].

    Parameters
    ----------
    device, alpha, gamma
        As `zero_entropy_beta`.

    Returns
    -------
    float or ndarray
        Of the broadcast shape; infinite where it is stable up to beta = 1e300.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `zero_entropy_beta`.

    Source: P1, appendix B3, with the square of ``1 - tanh^2`` in the place of that of 1 - tanh.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(instability_beta(Perceptron(), 0.4, 1.0), 4)
    88.5661
    """
    return _lines(lambda point: 1.0 - point.replicon, device, alpha, gamma)


@arguments.checked
def working_beta(device: Device, alpha: Positives, gamma: Sharpnesses) -> Any:
    """Return the largest inverse temperature at which replica symmetry is consistent.

    Parameters
    ----------
    device, alpha, gamma
        As `zero_entropy_beta`.

    Returns
    -------
    float or ndarray
        The smaller of `zero_entropy_beta` and `instability_beta`.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `zero_entropy_beta`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(working_beta(Perceptron(), 0.4, 1.0), 4)
    88.5661
    """
    return _lines(lambda point: min(point.entropy, 1.0 - point.replicon), device, alpha, gamma)


def _lines(quantity, device, alpha, gamma):
    _, activation, _ = checked(device, Margin(0.0), weights=(Binary,))
    alphas, gammas = arguments.broadcast(alpha=alpha, gamma=gamma)
    pairs = zip(alphas.ravel().tolist(), gammas.ravel().tolist(), strict=True)
    betas = [_line(quantity, device, activation, *pair) for pair in pairs]
    return betas[0] if alphas.ndim == 0 else np.array(betas).reshape(alphas.shape)


def _line(quantity, device, activation, alpha, gamma):
    """Return the smallest beta at which a quantity, positive at high temperature, vanishes."""
    log_q_hats = {}  # ln q_hat at ln beta

    def value_at(log_beta):
        axes = device.weights, activation, CrossEntropy(gamma, min(math.exp(log_beta), LARGEST))
        try:
            if log_beta not in log_q_hats:
                log_q_hats[log_beta] = _nearby(device, alpha, axes, log_beta, log_q_hats)
            state = Stationary(math.exp(log_q_hats[log_beta]), *axes)
            return quantity(thermal_point(device, alpha, state, axes))
        except NotConverged:  # far too cold
            return -1.0

    middle, (low, high) = 2.0, LOG_BETA
    forward = value_at(middle) > 0.0
    try:
        root, _ = first_root(value_at, middle, high if forward else low, step=0.7, tolerance=1e-12)
    except NoZero:
        if forward:
            return math.inf
        raise
    return math.exp(root)


def _nearby(device, alpha, axes, log_beta, log_q_hats):
    """Return the logarithm of q_hat, from those at other temperatures if there are any."""
    if len(log_q_hats) > 1:
        last, first = sorted(log_q_hats, key=lambda place: abs(place - log_beta))[:2]
        new, old = log_q_hats[last], log_q_hats[first]
        guess = new + (log_beta - last) * (new - old) / (last - first)

        def excess(log_q_hat):
            if not abs(log_q_hat - guess) < 1.0:
                raise NotConverged(Report(False, math.inf, 0, "away from the guess"), log_q_hat)
            return math.log(Stationary(math.exp(log_q_hat), *axes).alpha / alpha)

        def steep_excess(log_q_hat):
            value = excess(log_q_hat)
            if values and value == values[-1]:  # SciPy takes the middle, with a warning
                raise NotConverged(Report(False, abs(value), 0, "no secant"), log_q_hat)
            values.append(value)
            return value

        values = []
        pair = {"x0": guess, "x1": guess + 0.01, "xtol": 1e-13, "maxiter": 20}
        with contextlib.suppress(NotConverged):
            root = scipy.optimize.root_scalar(steep_excess, method="secant", **pair)
            if root.converged and abs(excess(root.root)) <= ACCURACY:
                return root.root
    return math.log(typical.solve(device, alpha, axes[2]).q_hat)


# ------------------------------------------------------------------------------------------------
# The limit that does not exist
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ZeroTemperature(Shown):
    """Replica symmetry in the limit beta -> infinity: unstable, and of negative entropy.

    Attributes
    ----------
    device : Perceptron
    alpha, gamma : float
        Load and sharpness.
    dq : float
        ``beta (1 - q)``.
    energy : float
        Loss per weight.
    error_rate : float
        Share of the patterns that are misclassified. For infinite gamma those that end at zero
        are not among them, some of which are wrong at any finite temperature.
    report : Report
    """

    printed_arguments = ("device", "alpha", "gamma")
    printed_answers = ("dq", "energy", "error_rate")

    device: Device
    alpha: float
    gamma: float
    dq: float
    energy: float
    error_rate: float
    report: Report = field(compare=False)


@arguments.checked
def zero_temperature(device: Perceptron, alpha: Positive, gamma: Sharpness) -> ZeroTemperature:
    """Take beta -> infinity at replica symmetry, binary perceptron  [eq-ce-zero-temperature].

    The overlap tends to 1 as ``1 - dq / beta``. A pattern whose field would be z without it ends
    at h, where ``h + dq f'(h) = z``, and ``alpha E (h - z)^2 = 2 / pi``.

    Parameters
    ----------
    device : Perceptron
        With binary weights.
    alpha : float
        Load, patterns per weight; positive.
    gamma : float
        Sharpness, from 1e-3 to 1e6, or ``math.inf``.

    Returns
    -------
    ZeroTemperature
        No minimum of the loss is like that: compare `working_beta`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        For infinite gamma up to alpha = 4 / pi, where q does not tend to 1; for large gamma where
        dq exceeds 1e299.

    Source: P1, appendix B1, with the equation for dq that is missing there.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(zero_temperature(Perceptron(), 0.5, 1.0).energy, 4)
    0.043
    """
    checked(device, Margin(0.0), kinds=(PERCEPTRON,), weights=(Binary,))
    if gamma == math.inf and alpha <= 4.0 / math.pi:
        message = "q does not tend to 1: infinite gamma and alpha at most 4 / pi"
        raise NotConverged(Report(False, math.inf, 0, message))

    def displaced(dq):
        z, weight = gaussian.grid((0.0, min(1.0 / gamma, 1.0)), (-dq, min(1.0, 1.0 / gamma + dq)))
        if gamma == math.inf:
            return z, weight, z + np.clip(-z, 0.0, dq)
        return z, weight, np.array([proximal(node, dq, gamma, 1.0) for node in z])

    def excess(log_dq):
        z, weight, h = displaced(math.exp(log_dq))
        moved = weight @ (h - z) ** 2
        product = alpha * moved * math.pi / 2.0
        if product > sys.float_info.min:
            return math.log(product)
        return math.log(alpha) + math.log(moved * math.pi / 2.0)

    try:
        root, report = first_root(excess, -20.0, 690.0, step=4.0)
    except NotConverged as failure:
        message = f"dq exceeds 1e299 at alpha = {alpha:.6g}, gamma = {gamma:.6g}"
        report = Report(False, failure.residual, failure.report.iterations, message)
        raise NotConverged(report, failure.state) from None
    dq = math.exp(root)
    _, weight, h = displaced(dq)
    return ZeroTemperature(
        device=device,
        alpha=alpha,
        gamma=gamma,
        dq=dq,
        energy=float(alpha * (weight @ loss(gamma, h))),
        # h is negative where z < dq f'(0); the slope of the loss at 0 is -1/2, or -1 just below
        error_rate=float(gaussian.H(min(dq if gamma == math.inf else 0.5 * dq, 50.0))),
        report=report,
    )
