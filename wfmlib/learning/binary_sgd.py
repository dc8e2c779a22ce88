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

All products are in single precision. Forward they are sums of signs, and exact; backward they are
not, and two machines, or two numbers of threads, may round them differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numba import njit
from tqdm.auto import tqdm

from wfmlib import _validate
from wfmlib.learning.belief_propagation import PATIENCE
from wfmlib.learning.solution import Solution
from wfmlib.networks.binary_mlp import LARGEST, BinaryMLP, labelled

ROWS = 1024  # patterns at a time where an epoch is recorded
MOST = 1e6  # of eta, gamma and spread: single precision holds what they multiply


@dataclass(frozen=True)
class BinarySGD(Solution):
    """What gradient descent with straight-through gradients found.

    `weights` is a list of int8 matrices, those at the end of the last epoch; `converged` says
    whether they make no error. `history` holds one entry per epoch, of the binary network at its
    end: `errors`, and `loss`, the mean cross-entropy of a pattern in nats.
    """

    @property
    def fewest_errors(self):
        """The fewest errors at the end of any epoch; the last one's may be more."""
        return int(self.history["errors"].min())


def binary_sgd(
    xi,
    sigma,
    *,
    units,
    classes=2,
    eta=0.1,
    momentum=0.0,
    gamma=1.0,
    spread=None,
    batch=100,
    epochs=100,
    seed=0,
    progress=False,
):
    """Train a deep network of sign units with binary weights, for a fixed number of epochs.

    Parameters
    ----------
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,): -1 and +1 for two classes, else integers from 0 to `classes` - 1.
    units : int or sequence of int
        Number of units in each hidden layer, from the inputs on. Odd numbers, with odd N: no
        hidden unit's preactivation is 0 then, nor that of a single output unit.
    classes : int, optional
        2, for one output unit, or the number of labels, from 3 to 127, and of output units.
    eta : float, optional
        Step of the latent weights, positive, along the mean gradient of a mini-batch.
    momentum : float, optional
        From 0 up to, and without, 1: the step is `eta` times a sum over the past gradients, each
        mini-batch back counting this much less.
    gamma : float, optional
        Sharpness of the cross-entropy, positive: class c has probability
        ``exp(gamma h_c) / sum_c' exp(gamma h_c')``, where h is the preactivation of its output
        unit over the root of the number of weights; one output unit stands for h and -h
        [eq-committee-cross-entropy].
    spread : float, optional
        The latent weights start uniform between plus and minus this, at most 1. By default
        ``1 / sqrt(M)`` for a unit with M weights, as in BinaryNet's common implementation.
    batch : int, optional
        Patterns in a mini-batch; the last one of an epoch holds what is left.
    epochs : int, optional
        How often all patterns are gone through, whatever the errors.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first weights and the orders of the patterns.
    progress : bool, optional
        Show a bar, once two seconds have passed.

    Returns
    -------
    BinarySGD
        The weights are as `networks.BinaryMLP` takes them.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    P3, SM IV; Hubara et al., BinaryNet (2016). There are no biases and no batch normalisation.
    The same seed gives the same bits on one kind of machine with the same number of threads.
    """
    classes = _validate.integer("classes", classes, 2, 127)
    outputs = 1 if classes == 2 else classes
    xi, sigma = labelled(xi, sigma, outputs)
    sizes = [xi.shape[1], *_hidden(units), outputs]
    if max(sizes) >= LARGEST:
        raise ValueError(f"units must be fewer than {LARGEST} in a layer, got {units!r}")
    eta = _validate.real("eta", eta, 0.0, MOST, low_open=True)
    momentum = _validate.real("momentum", momentum, 0.0, 1.0, high_open=True)
    gamma = _validate.real("gamma", gamma, 0.0, MOST, low_open=True)
    if spread is not None:
        spread = _validate.real("spread", spread, 0.0, 1.0, low_open=True)
    batch = min(_validate.integer("batch", batch, 1), len(xi))
    epochs = _validate.integer("epochs", epochs, 1)
    rng = _validate.generator(seed)
    _validate.choice("progress", progress, (True, False))

    descent = Descent(sizes, gamma, spread, rng)
    history = {"errors": [], "loss": []}
    with tqdm(total=epochs, unit="epoch", disable=not progress, delay=PATIENCE) as bar:
        for _ in range(epochs):
            order = rng.permutation(len(xi))
            for first in range(0, len(xi), batch):
                rows = order[first : first + batch]
                descent.step(xi[rows].astype(np.float32), sigma[rows], eta, momentum)
            for name, value in descent.measure(xi, sigma).items():
                history[name].append(value)
            bar.set_postfix(errors=history["errors"][-1], refresh=False)
            bar.update()
    weights = [one.astype(np.int8) for one in descent.binary]
    errors = BinaryMLP(weights).errors(xi, sigma)
    return BinarySGD(
        weights=weights,
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
        self.gamma = np.float32(gamma)

    def forward(self, a):
        """Return what each layer sees, and its preactivations, of patterns in float32."""
        seen, fields = [a], []
        for b, root in zip(self.binary, self.roots, strict=True):
            if fields:
                seen.append(np.sign(fields[-1]))
            fields.append(seen[-1] @ b.T)  # an integer still: exact
            fields[-1] /= root
        return seen, fields

    def gradients(self, a, sigma):
        """Return the straight-through gradient of the mean loss, layer by layer."""
        seen, fields = self.forward(a)
        places = np.arange(len(a)), _column(sigma, fields[-1])
        delta = np.exp(_log_shares(fields[-1], self.gamma))
        delta[places] -= 1
        if fields[-1].shape[1] == 1:  # what pulls on h, less what pulls on -h
            delta = delta[:, 1:] - delta[:, :1]
        delta *= self.gamma / np.float32(len(a))
        found = []
        for layer in reversed(range(len(seen))):
            delta /= self.roots[layer]
            found.append(delta.T @ seen[layer])
            if layer:
                delta = delta @ self.binary[layer]
                delta *= np.abs(fields[layer - 1]) <= 1
        return found[::-1]

    def step(self, a, sigma, eta, momentum):
        """Move the latent weights down the gradient of a mini-batch, inside [-1, 1]."""
        eta, momentum = np.float32(eta), np.float32(momentum)
        for w, b, v, gradient in zip(
            self.latent, self.binary, self.velocity, self.gradients(a, sigma), strict=True
        ):
            if momentum:
                v *= momentum
                v += gradient
                gradient = v
            _move(w.ravel(), b.ravel(), gradient.ravel(), eta)

    def measure(self, xi, sigma):
        """Return the errors of the binary network and its mean cross-entropy."""
        errors, loss = 0, 0.0
        for first in range(0, len(xi), ROWS):
            rows = slice(first, first + ROWS)
            h = self.forward(xi[rows].astype(np.float32))[1][-1]
            places = np.arange(len(h)), _column(sigma[rows], h)
            loss -= float(np.sum(_log_shares(h, self.gamma)[places], dtype=np.float64))
            both = _two_sided(h)
            own = both[places]
            both[places] = -np.inf
            errors += int(np.count_nonzero(own <= both.max(axis=1)))
        return {"errors": errors, "loss": loss / len(xi)}


def _two_sided(h):
    """Return preactivations of the output units, one a label: a single h stands for -h and h."""
    return np.concatenate([-h, h], axis=1) if h.shape[1] == 1 else h.copy()


def _column(sigma, h):
    """Return the column of `_two_sided` that belongs to each label."""
    return (sigma > 0).astype(np.int64) if h.shape[1] == 1 else sigma.astype(np.int64)


def _log_shares(h, gamma):
    """Return the logarithm of the probability of each label."""
    z = gamma * _two_sided(h)
    z -= z.max(axis=1, keepdims=True)
    z -= np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return z


def _hidden(units):
    """Return the numbers of hidden units as a list of integers."""
    if isinstance(units, Integral):
        units = (units,)
    if not isinstance(units, (list, tuple)) or not units:
        raise TypeError(
            f"units must be a number of hidden units, or a list of them, got {units!r}"
        )
    return [_validate.integer("units", one, 1) for one in units]


# ------------------------------------------------------------------------------------------------
# Kernel. In NumPy: w[:] = np.clip(w - eta * gradient, -1, 1); b[:] = np.where(w >= 0, 1, -1)
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _move(w, b, gradient, eta):
    """Move latent weights down the gradient, inside [-1, 1], and take their signs."""
    one = np.float32(1.0)
    for i in range(len(w)):
        moved = w[i] - eta * gradient[i]
        w[i] = min(max(moved, -one), one)
        b[i] = one if w[i] >= 0 else -one
