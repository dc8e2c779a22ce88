"""BinaryNet: gradient descent for deep networks of sign units with binary weights.

Each binary weight is the sign of a latent real one in [-1, 1]. Forward, only signs count.
Backward, the sign of a unit's preactivation h is taken for a function with slope 1 where |h| <= 1
and 0 elsewhere (the straight-through estimator [eq-straight-through]), and the sign of a latent
weight for one with slope 1. What a mini-batch ``a`` of patterns with labels ``sigma``, a
column, does, in plain NumPy, for two hidden layers and one output unit:

    b = [np.where(w >= 0, 1, -1) for w in latent]
    h1 = a @ b[0].T / np.sqrt(N);             a1 = np.sign(h1)
    h2 = a1 @ b[1].T / np.sqrt(len(b[0]));    a2 = np.sign(h2)
    h3 = a2 @ b[2].T / np.sqrt(len(b[1]))
    d3 = -2 * gamma * sigma * expit(-2 * gamma * sigma * h3) / len(a)  # d loss / d h3
    d2 = (np.abs(h2) <= 1) * (d3 @ b[2]) / np.sqrt(len(b[1]))
    d1 = (np.abs(h1) <= 1) * (d2 @ b[1]) / np.sqrt(len(b[0]))
    gradient = d1.T @ a / np.sqrt(N), ...
    latent[0] = np.clip(latent[0] - eta * gradient[0], -1, 1), ...

The division by a root of the number of weights does what batch normalisation does in BinaryNet:
h is of order 1, or nearly all units would be out of reach of the gradient.

The same seed gives the same bits on every processor. Forward, products are sums of signs, exact in
single precision. Backward, what pulls on a sum of signs (d1, d2 and d3 over the root, and over
``gamma / len(a)``) is rounded to the grid of `wfmlib.numerics.portable`. Its products with signs
are then exact in double precision, whichever library takes them and with however many threads.
Double precision makes an epoch 1.3 to 1.5 times as long. Latent weights are in single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Interval
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.learning.solution import Solution, advised
from wfmlib.networks.binary_mlp import LARGEST, BinaryMLP, labelled
from wfmlib.numerics import arguments, portable
from wfmlib.numerics.arguments import Count, Damping
from wfmlib.numerics.portable import on_grid
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Seed

GRID = portable.scale_of(portable.DELTAS)
ROWS = 1024  # patterns at a time where an epoch is recorded
MOST = 1e6  # of eta, gamma and spread: single precision holds what they multiply
Single: TypeAlias = Annotated[float, Interval(gt=0.0, le=MOST)]


@dataclass(frozen=True, eq=False, repr=False)
class BinarySGD(Solution):
    """What gradient descent with straight-through gradients found.

    `weights` is a list of int8 matrices, those at the end of the last epoch; `converged` says
    whether they make no error. A deep network is no device: `device` is None. `history` holds one
    entry per epoch, of the binary network at its end: `errors`, and `loss`, the mean cross-entropy
    of a pattern in nats.
    """

    @property
    def network(self) -> BinaryMLP:
        """The `networks.BinaryMLP` that has these weights."""
        return BinaryMLP(self.weights)

    @property
    def fewest_errors(self) -> int:
        """The fewest errors at the end of any epoch; the last one's may be more."""
        return int(self.history["errors"].min())


@advised("more epochs, a smaller eta, wider layers, another rng, or fewer patterns")
@arguments.checked
def binary_sgd(
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    units: Count | Sequence[Count],
    classes: Annotated[int, Interval(ge=2, le=127)] = 2,
    eta: Single = 0.1,
    momentum: Damping = 0.0,
    gamma: Single = 1.0,
    spread: Annotated[float, Interval(gt=0.0, le=1.0)] | None = None,
    batch: Count = 100,
    epochs: Count = 100,
    rng: Seed = None,
    progress: bool | None = None,
) -> BinarySGD:
    """Train a deep network of sign units with binary weights, for a fixed number of epochs.

    Parameters
    ----------
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,): -1 and +1 for two classes, else integers from 0 to `classes` - 1.
    units : int or sequence of int
        Number of units in each hidden layer, at least 1, from the inputs on. Odd numbers, with odd
        N: no hidden unit's preactivation is 0 then, nor that of a single output unit.
    classes : int, optional
        Number of labels, from 2 to 127: two of them have one output unit, more have one each.
    eta : float, optional
        Step of the latent weights, above 0, up to 1e6, along the mean gradient of a mini-batch.
    momentum : float, optional
        From 0 to below 1: the step is `eta` times a sum over the past gradients, each
        mini-batch back counting this much less.
    gamma : float, optional
        Sharpness of the cross-entropy, above 0, up to 1e6: class c has probability
        ``exp(gamma h_c) / sum_c' exp(gamma h_c')``, where h is the preactivation of its output
        unit over the root of the number of weights; one output unit stands for h and -h
        [eq-committee-cross-entropy].
    spread : float, optional
        The latent weights start uniform between plus and minus this, above 0, up to 1. By default
        ``1 / sqrt(M)`` for a unit with M weights, as in BinaryNet's common implementation.
    batch : int, optional
        Patterns in a mini-batch, at least 1; the last one of an epoch holds what is left.
    epochs : int, optional
        How often all patterns are gone through, whatever the errors; at least 1.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first weights and the orders of the patterns; fresh entropy where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    BinarySGD
        Its `network` is a `networks.BinaryMLP`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    P3, SM IV; Hubara et al., BinaryNet (2016). There are no biases and no batch normalisation.
    The same seed gives the same bits on every processor.

    Examples
    --------
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(20, 101, rng=1)
    >>> solution = binary_sgd(xi, sigma, units=[5], epochs=3, rng=1)
    >>> solution.epochs
    3
    """
    outputs = 1 if classes == 2 else classes
    xi, sigma = labelled(xi, sigma, outputs)
    sizes = [xi.shape[1], *_hidden(units), outputs]
    if max(sizes) >= LARGEST:
        raise ValueError(f"units must be fewer than {LARGEST} in a layer, got {units!r}")
    batch = min(batch, len(xi))
    rng = arguments.generator(rng)

    descent = Descent(sizes, gamma, spread, rng)
    history = {"errors": [], "loss": []}
    with progress_bar(progress, total=epochs, unit="epoch") as bar:
        for _ in range(epochs):
            order = rng.permutation(len(xi))
            for first in range(0, len(xi), batch):
                rows = order[first : first + batch]
                descent.step(xi[rows].astype(np.float32), sigma[rows], eta, momentum)
            for name, value in descent.measure(xi, sigma).items():
                history[name].append(value)
            bar.set_postfix(errors=history["errors"][-1], refresh=False)
            bar.update()
    weights = [layer.astype(np.int8) for layer in descent.binary]
    errors = BinaryMLP(weights).errors(xi, sigma)
    return BinarySGD(
        device=None,
        weights=weights,  # type: ignore[arg-type]  # one array a layer
        errors=errors,
        converged=errors == 0,
        epochs=epochs,
        history={name: np.array(values) for name, values in history.items()},
    )


class Descent:
    """Latent and binary weights of all layers, and how a mini-batch changes them.

    Attributes
    ----------
    latent, binary, velocity : list of numpy.ndarray
        float32, shape (units, units of the layer before): real weights, their signs, and the sum
        of the past gradients.
    """

    def __init__(self, sizes, gamma, spread, rng):
        shapes = list(zip(sizes[1:], sizes, strict=False))
        self.roots = [np.float32(np.sqrt(below)) for _, below in shapes]
        self.latent = []
        for shape in shapes:
            edge = np.float32(shape[1] ** -0.5 if spread is None else spread)
            draws = rng.random(shape, dtype=np.float32)
            self.latent.append(edge * (2 * draws - 1))
        self.binary = [np.where(w >= 0, np.float32(1), np.float32(-1)) for w in self.latent]
        self.velocity = [np.zeros_like(w) for w in self.latent]
        self.sums = [np.empty(w.shape) for w in self.latent]
        self.gamma = float(gamma)

    def forward(self, a):
        """Return what each layer sees, and its preactivations, of patterns in float32."""
        inputs, fields = [a], []
        for b, root in zip(self.binary, self.roots, strict=True):
            if fields:
                inputs.append(np.sign(fields[-1]))
            fields.append(inputs[-1] @ b.T)  # an integer still: exact
            fields[-1] /= root
        return inputs, fields

    def gradients(self, a, sigma):
        """Return the straight-through gradient of the mean loss, layer by layer."""
        scale = self.gamma / len(a)
        return [scale * layer for layer in self._sums(a, sigma)]

    def _sums(self, a, sigma):
        """Return the gradients over ``gamma / len(a)``: exact, in arrays that are used again."""
        inputs, fields = self.forward(a)
        delta = np.empty(fields[-1].shape)
        _pulls(fields[-1], _column(sigma, fields[-1]), self.gamma, self.roots[-1], delta)
        for layer in reversed(range(len(inputs))):
            np.matmul(delta.T, inputs[layer].astype(np.float64), out=self.sums[layer])
            if layer:
                delta = delta @ self.binary[layer].astype(np.float64)
                _pass_on(delta.ravel(), fields[layer - 1].ravel(), self.roots[layer - 1])
        return self.sums

    def step(self, a, sigma, eta, momentum):
        """Move the latent weights down the gradient of a mini-batch, inside [-1, 1]."""
        scale = self.gamma / len(a)
        eta, momentum = np.float32(eta), np.float32(momentum)
        for w, b, v, total in zip(
            self.latent, self.binary, self.velocity, self._sums(a, sigma), strict=True
        ):
            _move(w.ravel(), b.ravel(), v.ravel(), total.ravel(), scale, eta, momentum)

    def measure(self, xi, sigma):
        """Return the errors of the binary network and its mean cross-entropy."""
        errors, loss = 0, 0.0
        for first in range(0, len(xi), ROWS):
            rows = slice(first, first + ROWS)
            h = self.forward(xi[rows].astype(np.float32))[1][-1]
            columns = _column(sigma[rows], h)
            loss += _loss(h, columns, self.gamma)
            errors += _errors(h, columns)
        return {"errors": errors, "loss": loss / len(xi)}


def _column(sigma, h):
    """Return the output unit of each label; of a single one, 1 for its sign and 0 against it."""
    return (sigma > 0).astype(np.int64) if h.shape[1] == 1 else sigma.astype(np.int64)


def _hidden(units):
    """Return the numbers of hidden units as a list of integers."""
    if isinstance(units, Integral):
        units = (units,)
    if not isinstance(units, (list, tuple)) or not units:
        raise TypeError(
            f"units must be a number of hidden units, or a list of them, got {units!r}"
        )
    return [arguments.integer("units", number, 1) for number in units]


# ------------------------------------------------------------------------------------------------
# Kernels. None has fastmath flags: they do what is written, in this order
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _shares(h, gamma, z):
    """Write ``gamma h_c``, less the largest of them, to z; return the sum of their exponentials.

    h holds the preactivations of the output units for one pattern; a single one stands for -h and
    h, and z has a place for both.
    """
    if len(h) == 1:
        z[0], z[1] = -gamma * np.float64(h[0]), gamma * np.float64(h[0])
    else:
        for c in range(len(h)):
            z[c] = gamma * np.float64(h[c])
    largest = z[0]
    for c in range(1, len(z)):
        largest = max(largest, z[c])
    total = 0.0
    for c in range(len(z)):
        z[c] -= largest
        total += portable.exp(z[c])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _pulls(h, columns, gamma, root, delta):
    """Write ``d loss / d h / (gamma root)`` of each pattern and output unit, on the grid.

    `root` is that of the number of weights, which h has been divided by.
    """
    z = np.empty(max(2, h.shape[1]))
    for a in range(len(h)):
        total = _shares(h[a], gamma, z)
        for c in range(len(z)):
            z[c] = portable.exp(z[c]) / total - (1.0 if c == columns[a] else 0.0)
        if h.shape[1] == 1:  # what pulls on h, less what pulls on -h
            delta[a, 0] = on_grid((z[1] - z[0]) / root, GRID)
        else:
            for c in range(len(z)):
                delta[a, c] = on_grid(z[c] / root, GRID)


@njit(cache=True, nogil=True, error_model="numpy")
def _pass_on(delta, h, root):
    """Take what pulls on answers to what pulls on the sums below them, on the grid, in place."""
    for i in range(len(delta)):
        kept = delta[i] if abs(h[i]) <= np.float32(1.0) else 0.0
        delta[i] = on_grid(kept / root, GRID)


@njit(cache=True, nogil=True, error_model="numpy")
def _loss(h, columns, gamma):
    """Return the sum over patterns of minus the log of the label's probability."""
    z = np.empty(max(2, h.shape[1]))
    loss = 0.0
    for a in range(len(h)):
        total = _shares(h[a], gamma, z)
        loss += portable.log1p(total - 1.0) - z[columns[a]]  # the largest term of total is 1
    return loss


@njit(cache=True, nogil=True)
def _errors(h, columns):
    """Count the patterns where the label's output is not above all others."""
    wrong = 0
    for a in range(len(h)):
        if h.shape[1] == 1:
            wrong += (h[a, 0] if columns[a] == 1 else -h[a, 0]) <= 0
        else:
            own, right = h[a, columns[a]], True
            for c in range(h.shape[1]):
                right &= c == columns[a] or h[a, c] < own
            wrong += not right
    return wrong


@njit(cache=True, nogil=True)
def _move(w, b, v, total, scale, eta, momentum):
    """Move latent weights down the gradient, inside [-1, 1], and take their signs.

    In NumPy, all in single precision: ``v[:] = momentum * v + scale * total``,
    ``w[:] = np.clip(w - eta * v, -1, 1)``, ``b[:] = np.where(w >= 0, 1, -1)``.
    """
    bound = np.float32(1.0)
    for i in range(len(w)):
        v[i] = momentum * v[i] + np.float32(scale * total[i])
        moved = w[i] - eta * v[i]
        w[i] = min(max(moved, -bound), bound)
        b[i] = bound if w[i] >= 0 else -bound
