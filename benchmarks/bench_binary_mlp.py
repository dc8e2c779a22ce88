"""A deep network of sign units on 8000 patterns: answers from bits, and from float32 products.

What `errors` takes, on one thread, with the patterns prepared once ("packed"), and with patterns
of one byte an entry, checked and packed each time ("packed, from signs"). The peers are products
in float32 through NumPy's BLAS: of patterns that are floats already ("dense"), of patterns of one
byte an entry ("dense, from signs"), and the products alone, with neither the signs of the hidden
units nor the comparison with the labels ("products"): no dense way can be faster. All but the last
must agree on the number of errors.

The rate is that of multiplications and additions of weights and activations, both counted. A
profile is the whole of `landscape.error_profile`: weights of all layers are disturbed, and the
errors counted, for many copies.

The processor, the versions and the load of the machine come first. Of repeated rounds the
shortest counts.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

from wfmlib import patterns
from wfmlib.landscape import error_profile
from wfmlib.networks import BinaryMLP

pytestmark = pytest.mark.usefixtures("one_thread")

P = 8000
SIZES = {
    "783-101-101-10": (783, 101, 101, 10),
    "783-501-501-1": (783, 501, 501, 1),
    "3071-101-101-101-10": (3071, 101, 101, 101, 10),
    "782-100-100-10": (782, 100, 100, 10),  # hidden units may be silent
}
NETWORKS = pytest.mark.parametrize("network", SIZES)
TIMER = time.process_time


def instance(network):
    """Return a network of random weights, patterns and labels."""
    sizes = SIZES[network]
    rng = np.random.default_rng(2)
    net = BinaryMLP([rng.choice([-1, 1], (above, below)) for below, above in pairwise(sizes)])
    xi, sigma = patterns.random(P, sizes[0], rng=1)
    if sizes[-1] > 1:
        sigma = rng.integers(sizes[-1], size=P).astype(np.int8)
    return net, xi, sigma


def packed(net, xi, sigma):
    prepared = net.prepared(xi)
    return lambda: net.errors(prepared, sigma)


def packed_from_signs(net, xi, sigma):
    return lambda: net.errors(xi, sigma)


def dense(net, xi, sigma):
    a, columns = xi.astype(np.float32), floats(net)

    def run():
        seen = a
        for one in columns[:-1]:
            seen = seen @ one
            np.sign(seen, out=seen)
        return wrong(seen @ columns[-1], sigma)

    return run


def dense_from_signs(net, xi, sigma):
    return lambda: dense(net, xi, sigma)()


def products(net, xi, sigma):
    columns = floats(net)
    seen = [xi.astype(np.float32)]
    for one in columns[:-1]:
        seen.append(np.sign(seen[-1] @ one))
    return lambda: [a @ one for a, one in zip(seen, columns, strict=True)]


def floats(net):
    """Return the weights as the products take them."""
    return [one.T.astype(np.float32) for one in net.w]


def wrong(top, sigma):
    """Return the number of errors: ties are errors."""
    if top.shape[1] == 1:
        return np.count_nonzero(top[:, 0] * sigma <= 0)
    places = np.arange(len(top)), sigma
    own = top[places]
    top[places] = -np.inf
    return np.count_nonzero(own <= top.max(axis=1))


PEERS = {
    "packed": packed,
    "packed, from signs": packed_from_signs,
    "dense": dense,
    "dense, from signs": dense_from_signs,
    "products": products,
}


@pytest.mark.benchmark(group="errors of one network", timer=TIMER)
@NETWORKS
@pytest.mark.parametrize("name", PEERS)
def test_errors(benchmark, tell, network, name):
    net, xi, sigma = instance(network)
    run = PEERS[name](net, xi, sigma)
    if name != "products":
        assert run() == net.errors(xi, sigma)
    benchmark.pedantic(run, rounds=15, warmup_rounds=1)
    if benchmark.stats:
        best = benchmark.stats["min"]
        tell(
            f"{network}, {name}",
            ms=best * 1e3,
            Gop_per_s=2 * P * sum(one.size for one in net.w) / best / 1e9,
        )


@pytest.mark.benchmark(group="to prepare patterns", timer=TIMER)
@pytest.mark.parametrize("network", ["783-101-101-10"])
def test_prepare(benchmark, tell, network):
    net, xi, _ = instance(network)
    benchmark.pedantic(net.prepared, args=(xi,), rounds=15, warmup_rounds=1)
    if benchmark.stats:
        best = benchmark.stats["min"]
        tell(network, ms=best * 1e3, ns_per_entry=best / xi.size * 1e9)


@pytest.mark.benchmark(group="error profile, 20 copies at 3 distances", timer=TIMER)
@pytest.mark.parametrize("network", ["783-101-101-10", "783-501-501-1"])
def test_profile(benchmark, tell, network):
    net, xi, sigma = instance(network)
    options = {"distances": [0.01, 0.1, 0.3], "rng": 1, "samples": 20}
    benchmark.pedantic(error_profile, (net, xi, sigma), options, rounds=3, warmup_rounds=1)
    if benchmark.stats:
        tell(network, ms_per_copy=benchmark.stats["min"] / 60 * 1e3)
