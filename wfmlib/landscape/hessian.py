"""Hessian of the smoothed number-of-errors loss: all second derivatives, or the largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from wfmlib.landscape import _tangent_space as tangent_space
from wfmlib.landscape._configuration import Configuration
from wfmlib.landscape.smoothing import Loss, Surface
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Positive
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Array

DENSE = 64  # up to so many weights the largest eigenvalue is found from the whole matrix


@arguments.checked
def hessian(
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
    """Return the matrix of second derivatives of `smoothed_loss`  [eq-hessian].

    The derivatives are taken by all weights, at the point where each unit has norm one.

    Parameters
    ----------
    solution, xi, sigma, beta, loss, output_beta, gamma
        As for `smoothed_loss`.
    tangent : bool, optional
        Return the Hessian on the product of spheres ``|w_k| = 1`` instead [eq-tangent]. With
        ``P_k = 1 - w_k w_k^T``, E the Euclidean matrix and g the gradient its blocks are
        ``P_k E_kl P_l - [k = l] (w_k . g_k) P_k``: the second derivatives along geodesics. Each
        unit's own direction is then a zero mode.

    Returns
    -------
    numpy.ndarray
        Shape (n, n), n the number of weights, in the order of the flattened weights, symmetric
        to the last bit. Its size is 8 n^2 bytes.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: P1, Sec. V.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> hessian(network, xi, sigma, beta=1.0).shape
    (9, 9)
    """
    surface = Surface(solution, xi, sigma, beta, loss, output_beta, gamma)
    matrix = _euclidean(surface)
    if tangent:
        tangent_space.bend(matrix, surface)
        mirrors = tangent_space.mirrors(surface)
        tangent_space.reflect(matrix, mirrors)
        normal = tangent_space.normal(surface)
        matrix[normal] = 0.0
        matrix[:, normal] = 0.0
        tangent_space.reflect(matrix, mirrors)
        _symmetrise(matrix, len(surface.w))
    return matrix


@arguments.checked
def hessian_spectrum(
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
    """Return all eigenvalues of the Hessian of the smoothed loss, ascending.

    Parameters
    ----------
    solution, xi, sigma, beta, loss, output_beta, gamma, tangent
        As for `hessian`.

    Returns
    -------
    numpy.ndarray
        Shape (n,), n the number of weights; with `tangent` (n - K,), without the zero modes that
        are no directions of the spheres.

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
    >>> hessian_spectrum(network, xi, sigma, beta=1.0).shape
    (9,)
    """
    surface = Surface(solution, xi, sigma, beta, loss, output_beta, gamma)
    return _spectrum(surface, tangent)


@arguments.checked
def max_eigenvalue(
    solution: Configuration,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    beta: Positive,
    loss: Loss = "square",
    output_beta: Positive = 1.0,
    gamma: Positive = 1.0,
    tangent: bool = False,
    tolerance: Positive = 1e-9,
    max_iterations: Count = 1000,
) -> float:
    """Return the largest eigenvalue of the Hessian of the smoothed loss, without the matrix.

    Lanczos' method (ARPACK) on exact products of the Hessian with a vector, from the same vector
    each time; up to 64 weights, the whole matrix.

    Parameters
    ----------
    solution, xi, sigma, beta, loss, output_beta, gamma, tangent
        As for `hessian`.
    tolerance : float, optional
        Error allowed, relative to the eigenvalue's size, positive.
    max_iterations : int, optional
        Restarts of Lanczos' method, at least 1.

    Returns
    -------
    float

    Raises
    ------
    NotConverged
        If the tolerance is not reached.
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> spectrum = hessian_spectrum(network, xi, sigma, beta=1.0)
    >>> bool(abs(max_eigenvalue(network, xi, sigma, beta=1.0) - max(spectrum)) < 1e-6)
    True
    """
    surface = Surface(solution, xi, sigma, beta, loss, output_beta, gamma)
    K, M = surface.w.shape
    size = K * (M - 1) if tangent else K * M
    if size == 0:
        raise ValueError(
            "solution must have two or more weights in a unit: a sphere of one has no tangent"
        )
    if size <= DENSE:
        return float(_spectrum(surface, tangent)[-1])
    product = _product(surface)
    if tangent:
        product = _on_tangent(product, surface)
    start = np.random.default_rng(0).standard_normal(size)
    if not np.any(product(start)):  # saturated throughout: ARPACK takes no matrix of zeros
        return 0.0
    operator = LinearOperator((size, size), matvec=product, dtype=float)
    try:
        values = eigsh(
            operator,
            k=1,
            which="LA",
            v0=start,
            tol=tolerance,
            maxiter=max_iterations,
            return_eigenvectors=False,
        )
    except ArpackNoConvergence as error:
        message = f"the largest eigenvalue is not within {tolerance:g} of its size: {error}"
        report = Report(False, np.inf, max_iterations, message)
        raise NotConverged(report) from error
    return float(values[0])


@arguments.checked
def hessian_product(
    solution: Configuration,
    direction: ArrayLike,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    beta: Positive,
    loss: Loss = "square",
    output_beta: Positive = 1.0,
    gamma: Positive = 1.0,
    tangent: bool = False,
) -> Array:
    """Return the Hessian of the smoothed loss times a direction, without the matrix.

    Parameters
    ----------
    solution, xi, sigma, beta, loss, output_beta, gamma, tangent
        As for `hessian`.
    direction : array_like
        Shape of the weights.

    Returns
    -------
    numpy.ndarray
        Shape of the weights.

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
    >>> hessian_product(network, np.ones(9), xi, sigma, beta=1.0).shape
    (9,)
    """
    surface = Surface(solution, xi, sigma, beta, loss, output_beta, gamma)
    direction = arguments.reals("direction", direction)
    if direction.shape != surface.shape or not np.all(np.isfinite(direction)):
        raise ValueError(
            f"direction must be finite and of the weights' shape {surface.shape}, "
            f"got shape {direction.shape}"
        )
    direction = direction.reshape(surface.w.shape)
    product = _product(surface)
    if not tangent:
        return product(direction).reshape(surface.shape)
    direction = surface.projected(direction)
    pull = tangent_space.pull(surface)[:, None]
    image = product(direction).reshape(direction.shape)
    return (surface.projected(image) - pull * direction).reshape(surface.shape)


# ------------------------------------------------------------------------------------------------
# The whole matrix
# ------------------------------------------------------------------------------------------------


def _euclidean(surface):
    """Return the matrix, made of one product ``X_k^T D X_l`` for each pair of units."""
    K, M = surface.w.shape
    common, own = surface.curvatures()
    slopes = surface.slopes
    matrix = np.empty((K * M, K * M))
    for k in range(K):
        left = surface.inputs[k] if surface.tree else surface.inputs
        for l in range(k, K):
            right = surface.inputs[l] if surface.tree else surface.inputs
            weight = common * slopes[k] * slopes[l]
            if k == l:
                weight = weight + own[k]
            block = left.T @ (weight[:, None] * right)
            matrix[k * M : (k + 1) * M, l * M : (l + 1) * M] = block
    _symmetrise(matrix, K)
    return matrix


def _symmetrise(matrix, units):
    """Copy the blocks above the diagonal to below it; make those on it symmetric."""
    M = len(matrix) // units
    for row in range(0, len(matrix), M):
        rows = matrix[row : row + M]
        matrix[row + M :, row : row + M] = rows[:, row + M :].T
        rows[:, row : row + M] = 0.5 * (rows[:, row : row + M] + rows[:, row : row + M].T)


def _spectrum(surface, tangent):
    matrix = _euclidean(surface)
    if tangent:
        tangent_space.bend(matrix, surface)
        tangent_space.reflect(matrix, tangent_space.mirrors(surface))
        kept = np.delete(np.arange(len(matrix)), tangent_space.normal(surface))
        matrix = matrix[np.ix_(kept, kept)]
    if len(matrix) == 0:
        return np.empty(0)
    return linalg.eigvalsh(matrix.T, overwrite_a=True)  # LAPACK's order: no copy


# ------------------------------------------------------------------------------------------------
# Products with a vector
# ------------------------------------------------------------------------------------------------


def _product(surface):
    """Return the function that multiplies a flat vector by the Hessian."""
    common, own = surface.curvatures()
    slopes = surface.slopes

    def product(vector):
        moved = surface.forward(vector.reshape(surface.w.shape))
        together = common * np.sum(slopes * moved, axis=0)
        return surface.backward(slopes * together + own * moved).ravel()

    return product


def _on_tangent(product, surface):
    """Return the same on the tangent space, in the K (M - 1) coordinates of the reflection."""
    mirrors, pull = tangent_space.mirrors(surface), tangent_space.pull(surface)[:, None]

    def on_tangent(vector):
        inner = vector.reshape(len(mirrors), -1)
        outer = tangent_space.mirrored(np.pad(inner, ((0, 0), (1, 0))), mirrors)
        image = product(outer).reshape(mirrors.shape)
        return (tangent_space.mirrored(image, mirrors)[:, 1:] - pull * inner).ravel()

    return on_tangent
