"""BinaryNet training: one epoch in nanoseconds per weight and pattern, ours and PyTorch's.

PyTorch does the same steps on one thread, in single precision, in its two usual forms: gradients
written out as products ("products"), and the straight-through estimator as an autograd function
with `torch.optim.SGD` ("autograd"), which is how BinaryNet is commonly written. Patterns are signs
of one byte everywhere, made floats one mini-batch after another. After an epoch the weights of all
must agree but for the few whose latent value is so close to 0 that rounding decides. Ours takes
the products of the way back in double precision, where they are exact; the peers' are single.

Nearly all of the time goes into products of matrices: the GFlop/s of one such product, the largest
of a step, stand beside the times. Recording the errors of the binary network after each epoch is
another pass over the patterns, which is timed apart.

The processor, the versions and the load of the machine come first. Of repeated rounds the
shortest counts.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from wfmlib import patterns
from wfmlib.learning.descent.binary_sgd import Descent
from wfmlib.networks.binary_mlp import BinaryMLP

pytestmark = pytest.mark.usefixtures("one_thread")

P, BATCH, ETA = 1000, 100, 1.0
SIZES = {
    "783-101-101-1": (783, 101, 101, 1),
    "783-501-501-10": (783, 501, 501, 10),
    "3071-101-101-101-10": (3071, 101, 101, 101, 10),
}
NETWORKS = pytest.mark.parametrize("network", SIZES)
AGREE = 1e-3  # share of weights that may differ


def torch():
    """Return PyTorch on one thread, or skip."""
    found = pytest.importorskip("torch", reason="PyTorch is not installed")
    found.set_num_threads(1)
    return found


def instance(network):
    """Return patterns, labels, and a descent in its first state."""
    sizes = SIZES[network]
    xi, sigma = patterns.random(P, sizes[0], rng=1)
    if sizes[-1] > 1:
        sigma = np.random.default_rng(1).integers(sizes[-1], size=P).astype(np.int8)
    return xi, sigma, Descent(sizes, 1.0, None, np.random.default_rng(2))


def ours(network):
    """Return a function that runs one epoch and returns the binary weights."""
    xi, sigma, descent = instance(network)

    def epoch(order):
        for first in range(0, P, BATCH):
            rows = order[first : first + BATCH]
            descent.step(xi[rows].astype(np.float32), sigma[rows], ETA, 0.0)
        return descent.binary

    return epoch


def torch_products(network):
    T = torch()
    xi, sigma, descent = instance(network)
    x, labels = T.from_numpy(xi), T.from_numpy(sigma.astype(np.int64))
    latent = [T.from_numpy(w.copy()) for w in descent.latent]
    roots = [float(root) for root in descent.roots]

    def signs():
        return [T.where(w >= 0, 1.0, -1.0) for w in latent]

    def epoch(order):
        for rows in T.from_numpy(order).split(BATCH):
            b, seen, fields = signs(), [x[rows].float()], []
            for one, root in zip(b, roots, strict=True):
                if fields:
                    seen.append(T.sign(fields[-1]))
                fields.append(seen[-1] @ one.T / root)
            y = labels[rows]
            if fields[-1].shape[1] == 1:
                s = y[:, None].float()
                delta = -2.0 * s * T.sigmoid(-2.0 * s * fields[-1])
            else:
                delta = T.softmax(fields[-1], dim=1)
                delta[T.arange(len(rows)), y] -= 1.0
            delta = delta / len(rows)
            for layer in reversed(range(len(b))):
                delta = delta / roots[layer]
                gradient = delta.T @ seen[layer]
                if layer:
                    delta = (delta @ b[layer]) * (fields[layer - 1].abs() <= 1.0)
                latent[layer].sub_(gradient, alpha=ETA).clamp_(-1.0, 1.0)
        return [one.numpy() for one in signs()]

    return epoch


def torch_autograd(network):
    T = torch()
    xi, sigma, descent = instance(network)
    x, labels = T.from_numpy(xi), T.from_numpy(sigma.astype(np.int64))
    latent = [T.nn.Parameter(T.from_numpy(w.copy())) for w in descent.latent]
    roots = [float(root) for root in descent.roots]
    optimiser = T.optim.SGD(latent, lr=ETA)

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
            y = labels[rows]
            if a.shape[1] == 1:
                loss = T.nn.functional.softplus(-2.0 * y * a[:, 0]).mean()
            else:
                loss = T.nn.functional.cross_entropy(a, y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            with T.no_grad():
                for w in latent:
                    w.clamp_(-1.0, 1.0)
        return [T.where(w >= 0, 1.0, -1.0).numpy() for w in latent]

    return epoch


PEERS = {"ours": ours, "torch products": torch_products, "torch autograd": torch_autograd}


@pytest.mark.benchmark(group="BinaryNet, one epoch", timer=time.process_time)
@NETWORKS
@pytest.mark.parametrize("name", PEERS)
def test_epoch(benchmark, tell, network, name):
    run = PEERS[name](network)
    order = np.random.default_rng(3).permutation(P)
    found, expected = run(order), ours(network)(order)
    size = weights(network)
    differ = sum(np.count_nonzero(a != b) for a, b in zip(found, expected, strict=True)) / size
    assert differ <= AGREE
    benchmark.pedantic(run, args=(order,), rounds=15, warmup_rounds=1)
    if benchmark.stats:
        best = benchmark.stats["min"]
        tell(
            f"{network}, {name}",
            ms=best * 1e3,
            ns_per_weight_and_pattern=best / (size * P) * 1e9,
            GFlop_per_s=flops(network) / best / 1e9,
            weights_that_differ=differ,
        )


@pytest.mark.benchmark(group="the largest product of a step", timer=time.process_time)
@NETWORKS
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_product(benchmark, tell, network, name):
    N, units = SIZES[network][:2]
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((BATCH, N), (units, N)))
    if name == "torch":
        a, b = map(torch().from_numpy, (a, b))
    benchmark.pedantic(lambda: [a @ b.T for _ in range(20)], rounds=15, warmup_rounds=1)
    if benchmark.stats:
        rate = 40 * BATCH * N * units / benchmark.stats["min"] / 1e9
        tell(f"{network}, {name}", GFlop_per_s=rate)


@pytest.mark.benchmark(group="the record of an epoch", timer=time.process_time)
@NETWORKS
@pytest.mark.parametrize("name", ["descent", "network"])
def test_record(benchmark, tell, network, name):
    xi, sigma, descent = instance(network)
    net = BinaryMLP([b.astype(np.int8) for b in descent.binary])
    count = {
        "descent": lambda: descent.measure(xi, sigma)["errors"],
        "network": lambda: net.errors(xi, sigma),
    }[name]
    assert count() == net.errors(xi, sigma)
    benchmark.pedantic(count, rounds=15, warmup_rounds=1)
    if benchmark.stats:
        best = benchmark.stats["min"]
        per = best / (weights(network) * P) * 1e9
        tell(f"{network}, {name}", ms=best * 1e3, ns_per_weight_and_pattern=per)


def weights(network):
    """Return the number of weights."""
    sizes = SIZES[network]
    return sum(above * below for above, below in zip(sizes[1:], sizes, strict=False))


def flops(network):
    """Return the operations of an epoch: three products a layer, two for the first."""
    N, units = SIZES[network][:2]
    return 2 * P * (3 * weights(network) - N * units)
