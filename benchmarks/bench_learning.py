"""Training: an epoch of each descent and a proposal of annealing, beside plain NumPy or PyTorch.

The peers take the same steps from the same weights in the same order, on one thread, and must end
with the same weights. PyTorch comes with no environment of this project; where it is not installed
its row is left out.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.special import expit

from wfmlib import patterns
from wfmlib.learning.annealing.moves import metropolis, pulls
from wfmlib.learning.annealing.state import Model
from wfmlib.learning.descent import mini_batches, schedules
from wfmlib.learning.descent.binary_sgd import Descent
from wfmlib.learning.descent.cross_entropy_sgd import _Descent
from wfmlib.learning.descent.entropic_least_action import _epoch as epoch_of_replicas
from wfmlib.learning.descent.least_action import _epoch, workspace
from wfmlib.learning.descent.soft_committee import descend
from wfmlib.models import Perceptron, TreeCommittee

pytestmark = pytest.mark.benchmark(group="Training, one core", timer=time.process_time)

UNITS, N, P, BATCH, ETA, PULL = 9, 999, 1000, 100, 1e-2, 5e-3  # the tree of P1
NUMPY = pytest.mark.parametrize("beside", ["", "NumPy"])
UNIT = "ns a weight and pattern"


def least_action(replicas):
    """Return one epoch by our kernels and one by NumPy, from weights after twenty epochs."""
    instance = mini_batches.prepare(TreeCommittee(UNITS), *patterns.random(P, N, rng=1), BATCH)
    rng = np.random.default_rng(1)
    start = np.array([mini_batches.uniform_weights(rng, instance.shape) for _ in range(replicas)])
    data = instance.edges, instance.aligned, instance.starts, ETA
    space = workspace(instance)
    orders = np.empty((replicas, P), dtype=np.int64)
    floats = instance.aligned.astype(np.float64)

    def ours():
        w, updates = start.copy(), np.zeros((replicas, UNITS), dtype=np.int64)
        if replicas == 1:
            _epoch(orders[0], *data, w[0], updates[0], *space)
        else:
            epoch_of_replicas(orders, *data, PULL, w, w.mean(axis=0), updates, *space)
        return w

    def numpy():
        """One replica after the other; of a wrong pattern the unit nearest to right learns."""
        w = start.copy()
        center = w.mean(axis=0)
        for first in range(0, P, BATCH):
            for a in range(replicas):
                x = floats[orders[a, first : first + BATCH]]
                parts = x.reshape(-1, *instance.shape).transpose(1, 0, 2)
                fields = (parts @ w[a][:, :, None])[:, :, 0]
                bad = np.flatnonzero(np.sign(fields).sum(axis=0) <= 0)
                fields = fields[:, bad]
                chosen = np.argmax(np.where(fields <= 0, fields, -np.inf), axis=0)
                one = (chosen == np.arange(UNITS)[:, None]) * ETA
                w[a] += (one[:, None, :] @ parts[:, bad])[:, 0]
                if replicas > 1:
                    w[a] += PULL * (center - w[a])
                else:
                    w[a] /= np.linalg.norm(w[a], axis=1, keepdims=True)
            center = w.mean(axis=0)
        return w / np.linalg.norm(w, axis=2, keepdims=True)

    for _ in range(20):  # most errors are made in the first few
        orders[:] = [rng.permutation(P) for _ in range(replicas)]
        start = ours()
    orders[:] = [rng.permutation(P) for _ in range(replicas)]
    return ours, numpy


@NUMPY
@pytest.mark.parametrize(
    ("what", "replicas"),
    [("least action, tree of nine, N = 999, P = 1000", 1), ("the same, twenty replicas", 20)],
)
def bench_least_action(row, what, replicas, beside):
    ours, numpy = least_action(replicas)
    found = row(
        what,
        numpy if beside else ours,
        UNIT,
        replicas * N * P * 1e-9,
        beside=beside,
        rounds=15,
    )
    np.testing.assert_allclose(found, ours(), rtol=0, atol=1e-10)


def descents():
    """Return one epoch of descent on the cross-entropy by our kernel, and by NumPy."""
    gamma, beta, root = 3.0, 1.0, np.sqrt(UNITS)
    xi, sigma = patterns.random(P, N, rng=1)
    signs = xi * sigma[:, None]
    start = np.random.default_rng(1).normal(size=(UNITS, N // UNITS))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    order = np.random.default_rng(2).permutation(P)
    descent = _Descent(signs, UNITS, N // UNITS, schedules.FAST, np.random.default_rng(1))
    by_unit = np.ascontiguousarray(signs.reshape(P, UNITS, -1).transpose(1, 0, 2))

    def ours():
        descent.w[:, : N // UNITS] = start
        descend(descent.w, descent.xi, order, gamma, beta, ETA, False, BATCH, True, descent.fields)
        return descent.weights()

    def numpy():
        w = start.copy()
        for rows in np.split(order, range(BATCH, P, BATCH)):
            seen = by_unit[:, rows].astype(float)
            t = np.tanh(beta * np.matmul(seen, w[:, :, None])[:, :, 0])
            pull = expit(-2.0 * gamma / root * t.sum(axis=0)) * (beta / root) * (1.0 - t * t)
            w += ETA * np.matmul(pull[:, None, :], seen)[:, 0]
            w /= np.linalg.norm(w, axis=1, keepdims=True)
        return w

    return ours, numpy


@NUMPY
def bench_cross_entropy_sgd(row, beside):
    ours, numpy = descents()
    what = "descent on the cross-entropy, the same tree"
    found = row(what, numpy if beside else ours, UNIT, N * P * 1e-9, beside=beside, rounds=60)
    np.testing.assert_allclose(found, ours(), rtol=0, atol=1e-11)


SIZES = 783, 101, 101, 1


def binary_descent():
    """Return patterns, labels, and a descent in its first state."""
    xi, sigma = patterns.random(P, SIZES[0], rng=1)
    return xi, sigma, Descent(SIZES, 1.0, None, np.random.default_rng(2))


def by_descent():
    xi, sigma, descent = binary_descent()

    def epoch(order):
        for rows in np.split(order, range(BATCH, P, BATCH)):
            descent.step(xi[rows].astype(np.float32), sigma[rows], 1.0, 0.0)
        return descent.binary

    return epoch


def by_autograd():
    """BinaryNet as it is commonly written: the straight-through estimator and `optim.SGD`."""
    T = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    T.set_num_threads(1)
    xi, sigma, descent = binary_descent()
    x, labels = T.from_numpy(xi), T.from_numpy(sigma.astype(np.int64))
    latent = [T.nn.Parameter(T.from_numpy(w.copy())) for w in descent.latent]
    roots = [float(root) for root in descent.roots]
    optimiser = T.optim.SGD(latent, lr=1.0)

    class Unit(T.autograd.Function):
        @staticmethod
        def forward(ctx, h):
            ctx.save_for_backward(h)
            return T.sign(h)

        @staticmethod
        def backward(ctx, grad):
            (h,) = ctx.saved_tensors
            return grad * (h.abs() <= 1.0)

    class Weight(T.autograd.Function):
        @staticmethod
        def forward(ctx, w):
            return T.where(w >= 0, 1.0, -1.0)

        @staticmethod
        def backward(ctx, grad):
            return grad

    def epoch(order):
        for rows in T.from_numpy(order).split(BATCH):
            a = x[rows].float()
            for layer, (w, root) in enumerate(zip(latent, roots, strict=True)):
                if layer:
                    a = Unit.apply(a)
                a = a @ Weight.apply(w).T / root
            loss = T.nn.functional.softplus(-2.0 * labels[rows] * a[:, 0]).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            with T.no_grad():
                for w in latent:
                    w.clamp_(-1.0, 1.0)
        return [T.where(w >= 0, 1.0, -1.0).numpy() for w in latent]

    return epoch


@pytest.mark.parametrize(
    ("beside", "prepared"), [("", by_descent), ("PyTorch, autograd", by_autograd)]
)
def bench_binary_sgd(row, beside, prepared):
    epoch, order = prepared(), np.random.default_rng(3).permutation(P)
    weights = sum(above * below for above, below in zip(SIZES[1:], SIZES, strict=False))
    # rounding decides where a latent weight is close to 0: PyTorch's products are single
    differ = sum(
        np.count_nonzero(a != b) for a, b in zip(epoch(order), by_descent()(order), strict=True)
    )
    assert differ <= 1e-3 * weights
    what = "BinaryNet, layers of 783, 101, 101, 1"
    row(what, lambda: epoch(order), UNIT, weights * P * 1e-9, beside=beside, rounds=15)


@pytest.mark.parametrize("beside", ["", "NumPy, errors from scratch"])
def bench_annealing(row, beside):
    """One flip proposed at the temperature at which the state has come to rest."""
    device, size, beta, proposals = Perceptron(), 1001, 2.0, 10_000
    xi, sigma = patterns.random(size // 2, size, rng=1)
    model = Model(device, xi, sigma, "errors", 1.0)
    rng = np.random.default_rng(1)
    state = model.state(rng.choice(np.array([-1, 1], np.int8), (1, *model.shape)))
    pull = pulls(0.0, 1)
    metropolis(state, rng, 200 * size, beta * model.quantum, pull, False)
    floats = xi.astype(np.float32)
    w = rng.choice(np.array([-1.0, 1.0], np.float32), size)

    def ours():
        metropolis(state, rng, proposals, beta * model.quantum, pull, False)

    def scratch():
        w[3] *= -1
        return int(np.count_nonzero(sigma * (floats @ w) <= 0))

    what = "annealing, binary perceptron, N = 1001, P = 500"
    per = 1e-9 * (1 if beside else proposals)
    row(
        what,
        scratch if beside else ours,
        "ns a proposal",
        per,
        beside=beside,
        rounds=30,
    )
