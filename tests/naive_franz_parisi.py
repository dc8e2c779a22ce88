"""Solutions at a distance from a reference: P3's B12-B13, written out and made stationary.

Slow and obvious, and without anything of the package. The local entropy is a function of all its
order parameters,

    phi = -p_hat (1 - p) / 2 + t0 t0_hat - t1 t1_hat + G_S + alpha G_E,    t1 = 1 - 2 d,

with G_S and G_E of B13 as double integrals over Gauss-Legendre panels (all hats of G_S in place,
the root in G_E over the whole denominator, and c(.) around each overlap in G_E, for units other
than the perceptron). Its gradient comes from evaluations at complex arguments, ``d phi / d x =
Im phi(x + i h) / h``, exact to rounding, and Newton's method finds where it vanishes. For
spherical weights G_S is half the logarithm of the determinant of all overlaps, by its growth with
the number of counted solutions: P2's C6 without conjugates. Margins are in units of the
activation's scale.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

COMPLEX_STEP = 1e-30


# ------------------------------------------------------------------------------------------------
# The activations: c(q), for real and complex arguments
# ------------------------------------------------------------------------------------------------


def perceptron(q):
    return q


def sign(q):
    return 2.0 / math.pi * cmath.asin(q)


def relu(q):
    """P2's Delta(q) = [sqrt(1 - q^2) + (pi - arccos q) q] / 2 pi, minus Delta(0), normalised."""
    delta = (cmath.sqrt(1.0 - q * q) + (math.pi - cmath.acos(q)) * q) / (2.0 * math.pi)
    return (delta - 1.0 / (2.0 * math.pi)) / (0.5 - 1.0 / (2.0 * math.pi))


# ------------------------------------------------------------------------------------------------
# Grids and functions
# ------------------------------------------------------------------------------------------------


def panels(low, high, length, centres=(), widths=()):
    """Nodes and Gaussian weights of Gauss-Legendre panels, one row per entry of the centres.

    The panels are equal, `length` long, with more ends at 0, 1, 2, 4, ... `widths` from each of
    the `centres`, where the integrand bends over that width.
    """
    node, weight = np.polynomial.legendre.leggauss(20)
    ends = [np.linspace(low, high, math.ceil((high - low) / length) + 1)[None, :]]
    for centre, width in zip(centres, widths, strict=True):
        steps = width * 2.0 ** np.arange(-1, max(0, math.ceil(math.log2(length / width))) + 2)
        ends.append(centre[:, None] + np.concatenate((-steps, [0.0], steps)))
    rows = max(len(one) for one in ends)
    ends = np.hstack([np.broadcast_to(one, (rows, one.shape[1])) for one in ends])
    ends = np.sort(np.clip(ends, low, high), axis=1)  # a panel outside shrinks to length zero
    half = 0.5 * np.diff(ends, axis=1)
    x = (0.5 * (ends[:, 1:] + ends[:, :-1]))[:, :, None] + half[:, :, None] * node
    measure = half[:, :, None] * weight * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return x.reshape(rows, -1), measure.reshape(rows, -1)


def log_tail(x):
    """ln H(x), real or complex."""
    return special.log_ndtr(-x)


def log_2cosh(x):
    """ln 2 cosh(x), real or complex, without overflow."""
    x = np.where(np.real(x) < 0.0, -x, x)
    return x + np.log1p(np.exp(-2.0 * x))


def slope_of(function, order, i):
    """Derivative of a function of several variables in the i-th, by a complex step."""
    moved = np.array(order, dtype=complex)
    moved[i] += 1j * COMPLEX_STEP
    return function(*moved).imag / COMPLEX_STEP


# ------------------------------------------------------------------------------------------------
# The reference: a typical solution
# ------------------------------------------------------------------------------------------------


def reference_entropy(q, q_hat, alpha, kt, c, spherical, panel=0.5):
    """P3's A9-A10; for spherical weights P2's B1 without conjugates."""
    ((x,), (weight,)) = panels(-9, 9, panel)
    c_q = c(q)
    pattern = weight @ log_tail((kt - cmath.sqrt(c_q) * x) / cmath.sqrt(1.0 - c_q))
    if spherical:
        rest = q / (1.0 - q)
        return 0.5 * (cmath.log(1.0 - q) + rest) + alpha * pattern
    weights = weight @ log_2cosh(cmath.sqrt(q_hat) * x)
    return -0.5 * q_hat * (1.0 - q) + weights + alpha * pattern


def reference(alpha, kt, c, spherical):
    """Return q and q_hat of the typical solutions of margin kt (q_hat = 0 for spherical ones)."""

    def overlap(q_hat):  # where the derivative in q_hat vanishes: it is linear in q
        by_q_hat = slope_of(
            lambda q_hat: reference_entropy(0.5, q_hat, 0.0, kt, c, False), [q_hat], 0
        )
        return 0.5 - 2.0 * by_q_hat

    def by_q(q, q_hat):
        return slope_of(lambda q: reference_entropy(q, q_hat, alpha, kt, c, spherical), [q], 0)

    if spherical:
        return optimize.brentq(lambda q: by_q(q, 0.0), 1e-6, 0.999, xtol=1e-15), 0.0
    q_hat = optimize.brentq(lambda q_hat: by_q(overlap(q_hat), q_hat), 1e-6, 50.0, xtol=1e-14)
    return overlap(q_hat), q_hat


# ------------------------------------------------------------------------------------------------
# B12 and B13
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """Where: distance, load, the two margins, the activation's c, the weights, the reference.

    `q` and `q_hat` are those of the reference's saddle point; `panel` is the length of a panel.
    """

    distance: float
    alpha: float
    reference_margin: float
    margin: float
    c: object
    spherical: bool
    q: float
    q_hat: float
    panel: float = 2.0


def entropic_binary(p_hat, t0_hat, t1_hat, q_hat, panel):
    """B13a."""
    ((x,), (weight_x,)), ((y,), (weight_y,)) = panels(-9, 9, panel), panels(-9, 9, panel)
    root = math.sqrt(q_hat)
    spread = cmath.sqrt(p_hat - t0_hat**2 / q_hat)
    total = 0.0
    for w in (-1, 1):
        share = np.exp(w * root * x - log_2cosh(root * x))
        field = spread * y + (t0_hat / root * x + (t1_hat - t0_hat) * w)[:, None]
        total += (weight_x * share) @ log_2cosh(field) @ weight_y
    return total


def entropic_spherical(p, t0, t1, q):
    """[ln(1 - p) + (p - tau) / (1 - p)] / 2.

    The overlaps of the counted solutions, given n references, are ``1 - tau`` on the diagonal and
    ``p - tau`` off it, tau = b Q^{-1} b with the references' matrix Q and b = (t1, t0, ..., t0).
    """
    squares, total = t1**2 - t0**2, t1 - t0  # of b's entries, n -> 0
    tau = (squares - q / (1.0 - q) * total**2) / (1.0 - q)
    rest = (p - tau) / (1.0 - p)
    return 0.5 * (cmath.log(1.0 - p) + rest)


def energetic(p, t0, t1, problem):
    """B13b."""
    kt, kappa = problem.reference_margin, problem.margin
    c_q, c_p, c_0, c_1 = (problem.c(complex(overlap)) for overlap in (problem.q, p, t0, t1))
    c_q = c_q.real
    gamma = c_p - c_0**2 / c_q
    root, root_gamma = math.sqrt(c_q), cmath.sqrt(gamma)
    left = cmath.sqrt(gamma * (1.0 - c_q) - (c_1 - c_0) ** 2)
    ((x,), (weight_x,)) = panels(-9, 9, 0.5 * problem.panel)
    step = (root_gamma / (c_1 - c_0)).real * (kt - root * x)
    bend = (kappa - (c_0 / root).real * x) / root_gamma.real
    widths = abs((left / (c_1 - c_0)).real), (cmath.sqrt(1.0 - c_p) / root_gamma).real
    y, weight_y = panels(-17, 17, problem.panel, (step, bend), widths)  # y follows hard-won x
    x = x[:, None]
    below = root_gamma * (kt - root * x) - (c_1 - c_0) * y
    first = np.exp(log_tail(below / left) - log_tail((kt - root * x) / math.sqrt(1.0 - c_q)))
    omega = c_0 / root * x + root_gamma * y
    second = log_tail((kappa - omega) / cmath.sqrt(1.0 - c_p))
    return weight_x @ (weight_y * first * second).sum(axis=1)


def potential(order, t1, problem):
    """B12 at any values of the order parameters: (p, p_hat, t0, t0_hat, t1_hat), or (p, t0)."""
    if problem.spherical:
        p, t0 = order
        entropic = entropic_spherical(p, t0, t1, problem.q)
    else:
        p, p_hat, t0, t0_hat, t1_hat = order
        entropic = -0.5 * p_hat * (1.0 - p) + t0 * t0_hat - t1 * t1_hat
        entropic += entropic_binary(p_hat, t0_hat, t1_hat, problem.q_hat, problem.panel)
    return entropic + problem.alpha * energetic(p, t0, t1, problem)


# ------------------------------------------------------------------------------------------------
# The stationary point
# ------------------------------------------------------------------------------------------------


def gradient(order, problem):
    """All first derivatives of the potential in its order parameters."""
    t1 = 1.0 - 2.0 * problem.distance

    def phi(*moved):
        return potential(moved, t1, problem)

    return np.array([slope_of(phi, order, i) for i in range(len(order))])


def value(order, problem):
    """The potential at real order parameters."""
    return potential(np.array(order, dtype=complex), 1.0 - 2.0 * problem.distance, problem).real


def slope(order, problem):
    """Derivative of the stationary potential in the distance: only t1 = 1 - 2 d shows it."""
    t1 = 1.0 - 2.0 * problem.distance
    return -2.0 * slope_of(lambda t1: potential(order, t1, problem), [t1], 0)


def guess(p, t0, problem):
    """Return order parameters with the conjugates that belong to some p and t0."""
    if problem.spherical:
        return np.array([p, t0])
    t1 = 1.0 - 2.0 * problem.distance

    def pattern(p, t0):
        return energetic(p, t0, t1, problem)

    p_hat = -2.0 * problem.alpha * slope_of(pattern, (p, t0), 0)
    t0_hat = -problem.alpha * slope_of(pattern, (p, t0), 1)

    def weight(t1_hat):
        return entropic_binary(p_hat, t0_hat, t1_hat, problem.q_hat, problem.panel)

    def excess(t1_hat):
        return slope_of(weight, [t1_hat], 0) - t1

    return np.array([p, p_hat, t0, t0_hat, optimize.brentq(excess, -20.0, 20.0, xtol=1e-8)])


def jacobian(order, problem):
    """All second derivatives of the potential, by differences of the gradient."""
    columns = []
    for i in range(len(order)):
        step = 1e-7 * max(abs(order[i]), 1e-2)
        move = step * np.eye(len(order))[i]
        columns.append((gradient(order + move, problem) - gradient(order - move, problem)) / step)
    return 0.5 * np.array(columns).T


def stationary(start, problem, tolerance=2e-13):
    """Return the order parameters near `start` at which the gradient vanishes, and the gradient.

    Newton's method on panels twice as long, then on the right ones with that Jacobian.
    """
    order, coarse = np.array(start, dtype=float), replace(problem, panel=2.0 * problem.panel)
    for _ in range(8):
        slopes = jacobian(order, coarse)
        step = np.linalg.solve(slopes, gradient(order, coarse))
        order = order - step
        if np.max(np.abs(step)) < 1e-7:
            break
    for _ in range(12):
        left = gradient(order, problem)
        if np.max(np.abs(left)) < tolerance:
            return order, left
        order = order - np.linalg.solve(slopes, left)
    raise RuntimeError(f"no stationary point near {start}: gradient {left} at {order}")
