"""Gradient descent on the cross-entropy: nanoseconds per weight and pattern, against peers.

The peers take the same steps in plain NumPy and in PyTorch, on one thread, in double precision.
All hold the patterns as signs of one byte, which the peers make doubles of one mini-batch after
another: that was faster than to gather doubles. For the tree PyTorch is given two ways, batched
products and einsum. Recording loss and errors
after each epoch costs ours another pass over the patterns, which the peers are not asked for:
`test_epoch_and_record` has it, the comparison does not.

The processor, the versions and the load of the machine come first. Of repeated rounds the
shortest counts.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from wfmlib import learning, patterns
from wfmlib.learning.descent import schedules
from wfmlib.learning.descent.cross_entropy_sgd import _Descent, cross_entropy_sgd
from wfmlib.learning.descent.soft_committee import descend
from wfmlib.models import TreeCommittee

pytestmark = pytest.mark.usefixtures("one_thread")

UNITS = 9
SIZES = {"tree": (1000, 999), "fully connected": (500, 784)}  # P and N of P1
MACHINES = pytest.mark.parametrize("machine", SIZES)
BATCH, GAMMA, BETA, ETA = 100, 3.0, 1.0, 1e-2
ROOT = np.sqrt(UNITS)


def torch():
    """Return PyTorch on one thread, or skip."""
    found = pytest.importorskip("torch", reason="PyTorch is not installed")
    found.set_num_threads(1)
    return found


def instance(machine):
    """Return patterns times labels, shape (P, K or 1, M), and first weights."""
    P, N = SIZES[machine]
    xi, sigma = patterns.random(P, N, rng=1)
    parts = UNITS if machine == "tree" else 1
    w = np.random.default_rng(1).normal(size=(UNITS, N // parts))
    x = (xi * sigma[:, None]).reshape(P, parts, N // parts)
    return x, w / np.linalg.norm(w, axis=1, keepdims=True)


def ours(machine):
    """Return a function that runs one epoch and returns the weights."""
    x, w = instance(machine)
    P, _, width = x.shape
    descent = _Descent(x.reshape(P, -1), UNITS, width, schedules.FAST, np.random.default_rng(1))
    descent.w[:, :width] = w

    def epoch(order):
        args = (GAMMA, BETA, ETA, False, BATCH, True, descent.fields)
        descend(descent.w, descent.xi, order, *args)
        return descent.weights()

    return epoch


def numpy_tree(machine):
    x, w = instance(machine)
    x = by_unit(x)

    def epoch(order):
        for rows in np.split(order, range(BATCH, len(order), BATCH)):
            seen = x[:, rows].astype(float)
            t = np.tanh(BETA * np.matmul(seen, w[:, :, None])[:, :, 0])
            pull = expit(-2.0 * GAMMA / ROOT * t.sum(axis=0)) * (BETA / ROOT) * (1.0 - t * t)
            w[:] += ETA * np.matmul(pull[:, None, :], seen)[:, 0]
            w[:] /= np.linalg.norm(w, axis=1, keepdims=True)
        return w

    return epoch


def numpy_full(machine):
    x, w = instance(machine)
    x = by_pattern(x)

    def epoch(order):
        for rows in np.split(order, range(BATCH, len(order), BATCH)):
            seen = x[rows].astype(float)
            t = np.tanh(BETA * (seen @ w.T))
            slope = expit(-2.0 * GAMMA / ROOT * t.sum(axis=1, keepdims=True)) * (BETA / ROOT)
            w[:] += ETA * ((slope * (1.0 - t * t)).T @ seen)
            w[:] /= np.linalg.norm(w, axis=1, keepdims=True)
        return w

    return epoch


def torch_epoch(machine, forward, backward, layout):
    """Return an epoch in PyTorch, the two products given; the unit is the last axis of fields."""
    T = torch()
    x, start = instance(machine)
    x = T.from_numpy(layout(x))
    w = T.tensor(start)
    axis = 0 if layout is by_unit else 1

    def epoch(order):
        nonlocal w
        for rows in T.from_numpy(order).split(BATCH):
            seen = T.index_select(x, 1 - axis, rows).double()
            t = T.tanh(BETA * forward(T, seen, w))
            slope = T.sigmoid(-2.0 * GAMMA / ROOT * t.sum(axis, keepdim=True)) * (BETA / ROOT)
            w = w + ETA * backward(T, slope * (1.0 - t * t), seen)
            w = w / w.norm(dim=1, keepdim=True)
        return w.numpy()

    return epoch


def by_unit(x):
    return np.ascontiguousarray(x.transpose(1, 0, 2))


def by_pattern(x):
    return np.ascontiguousarray(x[:, 0]) if x.shape[1] == 1 else x


def torch_batched(machine):
    return torch_epoch(
        machine,
        lambda T, seen, w: T.bmm(seen, w[:, :, None])[:, :, 0],
        lambda T, pull, seen: T.bmm(pull[:, None, :], seen)[:, 0],
        by_unit,
    )


def torch_einsum(machine):
    return torch_epoch(
        machine,
        lambda T, seen, w: T.einsum("bki,ki->bk", seen, w),
        lambda T, pull, seen: T.einsum("bk,bki->ki", pull, seen),
        by_pattern,
    )


def torch_full(machine):
    return torch_epoch(
        machine,
        lambda T, seen, w: seen @ w.T,
        lambda T, pull, seen: pull.T @ seen,
        by_pattern,
    )


PEERS = {
    "tree": {"numpy": numpy_tree, "torch bmm": torch_batched, "torch einsum": torch_einsum},
    "fully connected": {"numpy": numpy_full, "torch": torch_full},
}
PAIRS = [(machine, name) for machine, peers in PEERS.items() for name in ("ours", *peers)]


@pytest.mark.benchmark(group="gradient descent, one epoch")
@pytest.mark.parametrize(("machine", "name"), PAIRS)
def test_epoch(benchmark, tell, machine, name):
    run = ours(machine) if name == "ours" else PEERS[machine][name](machine)
    order = np.random.default_rng(2).permutation(SIZES[machine][0])
    np.testing.assert_allclose(run(order), ours(machine)(order), rtol=0, atol=1e-12)
    benchmark.pedantic(run, args=(order,), rounds=60, warmup_rounds=3)
    if not benchmark.stats:
        return
    best = benchmark.stats["min"]
    P, N = SIZES[machine]
    products = P * N * (1 if machine == "tree" else UNITS)  # weights times patterns
    tell(
        f"{machine}, {name}",
        ms=best * 1e3,
        ns_per_weight_and_pattern=best / products * 1e9,
        GFlop_per_s=4 * products / best / 1e9,  # two products, each an addition as well
    )


@pytest.mark.benchmark(group="gradient descent, one epoch and its record")
@MACHINES
def test_epoch_and_record(benchmark, tell, machine):
    x, _ = instance(machine)
    P, _, width = x.shape
    descent = _Descent(x.reshape(P, -1), UNITS, width, schedules.FAST, np.random.default_rng(1))
    benchmark.pedantic(descent.epoch, rounds=60, warmup_rounds=3)
    if benchmark.stats:
        tell(machine, ms=benchmark.stats["min"] * 1e3)


@pytest.mark.benchmark(group="gradient descent, five runs of the fast schedule at P1's size")
def test_fast(benchmark, tell):
    def run():
        found = []
        for seed in range(5):
            xi, sigma = patterns.random(*SIZES["tree"], rng=seed)
            found.append(cross_entropy_sgd(TreeCommittee(UNITS), xi, sigma, rng=seed))
        return found

    found = benchmark.pedantic(run, rounds=1)
    assert all(isinstance(one, learning.Solution) for one in found)
    epochs = [one.epochs for one in found]
    tell("fast", solved=sum(one.errors == 0 for one in found), mean_epochs=float(np.mean(epochs)))
