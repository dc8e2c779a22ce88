"""Measures of the landscape at the papers' sizes, and the errors of a deep network from bits.

The tree is P1's of Sec. V: N = 999, K = 9, P = 1000, with random weights. A deep network of sign
units answers 8,000 patterns, beside products in float32 of patterns that are floats already.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from wfmlib import patterns
from wfmlib.landscape import error_profile
from wfmlib.landscape.hessian import hessian, hessian_spectrum, max_eigenvalue
from wfmlib.models import TreeCommittee
from wfmlib.networks import BinaryMLP

pytestmark = pytest.mark.benchmark(group="Landscape")


@pytest.mark.parametrize(
    ("what", "measure", "options"),
    [
        ("Hessian, tree of nine, N = 999, P = 1000", hessian, {"beta": 3.0}),
        ("its spectrum", hessian_spectrum, {"beta": 3.0}),
        ("its largest eigenvalue alone", max_eigenvalue, {"beta": 3.0}),
        (
            "errors of 50 disturbed copies of the tree",
            error_profile,
            {"distances": 0.1, "samples": 50, "rng": 1},
        ),
    ],
)
def bench_tree(row, what, measure, options):
    device = TreeCommittee(9)
    net = device.network(np.random.default_rng(1).standard_normal(device.shape(999)))
    xi, sigma = patterns.random(1000, 999, rng=1)
    row(what, partial(measure, net, xi, sigma, **options), "ms", 1e-3, rounds=5)


@pytest.mark.parametrize("beside", ["", "NumPy, float32"])
def bench_deep_network(row, beside):
    sizes = 783, 501, 501, 1
    rng = np.random.default_rng(2)
    net = BinaryMLP([rng.choice([-1, 1], (above, below)) for below, above in pairwise(sizes)])
    xi, sigma = patterns.random(8000, sizes[0], rng=1)
    prepared = net.prepared(xi)
    floats, columns = xi.astype(np.float32), [one.T.astype(np.float32) for one in net.w]

    def ours():
        return net.errors(prepared, sigma)

    def dense():
        seen = floats
        for one in columns[:-1]:
            seen = np.sign(seen @ one)
        return np.count_nonzero((seen @ columns[-1])[:, 0] * sigma <= 0)

    what = "errors of layers of 783, 501, 501, 1 on 8,000 patterns"
    found = row(what, dense if beside else ours, "ms", 1e-3, beside=beside, rounds=15)
    assert found == ours()
