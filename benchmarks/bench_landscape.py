"""The Hessian at the papers' sizes: assembly, spectrum, largest eigenvalue, products.

The tree is P1's of Sec. V: N = 999, K = 9, P = 1000. The fully connected device is that of its
Fashion-MNIST experiments, with random patterns: N = 784, K = 9, P = 500, a matrix of 398 MB.
"""

import resource

import numpy as np
import pytest

from wfmlib import patterns
from wfmlib.landscape.hessian import (
    _product,
    hessian,
    hessian_product,
    hessian_spectrum,
    max_eigenvalue,
)
from wfmlib.landscape.robustness import error_profile, noise_robustness
from wfmlib.landscape.smoothing import Surface, smallest_beta
from wfmlib.models import Committee, TreeCommittee

BETA = 3.0
CASES = {"tree": (TreeCommittee(9), 999, 1000), "full": (Committee(9), 784, 500)}


def instance(wiring):
    """Return nine units with random weights, and patterns."""
    device, N, P = CASES[wiring]
    w = np.random.default_rng(1).standard_normal(device.shape(N))
    return device.network(w), *patterns.random(P, N, rng=1)


def record_memory(benchmark):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    benchmark.extra_info["peak memory, MB"] = peak / 1e3  # Linux counts kilobytes


@pytest.mark.benchmark(group="Hessian, one product with a vector")
@pytest.mark.parametrize("wiring", CASES)
def test_product(benchmark, wiring):
    net, xi, sigma = instance(wiring)
    product = _product(Surface(net, xi, sigma, BETA, "square", 1.0, 1.0))
    found = benchmark(product, net.w.ravel())
    again = hessian_product(net, net.w, xi, sigma, beta=BETA)
    np.testing.assert_allclose(found, again.ravel(), rtol=0, atol=1e-10 * np.abs(found).max())
    if benchmark.stats:
        each = benchmark.stats["min"] / (net.w.size * len(xi))
        benchmark.extra_info["ns per weight and pattern"] = each * 1e9


@pytest.mark.benchmark(group="Hessian, the whole matrix")
@pytest.mark.parametrize("tangent", [False, True], ids=["euclidean", "tangent"])
@pytest.mark.parametrize("wiring", CASES)
def test_matrix(benchmark, wiring, tangent):
    net, xi, sigma = instance(wiring)
    options = {"beta": BETA, "tangent": tangent}
    matrix = benchmark.pedantic(
        hessian,
        args=(net, xi, sigma),
        kwargs=options,
        rounds=10 if wiring == "tree" else 2,
        warmup_rounds=1,
    )
    assert matrix.shape == (net.w.size, net.w.size)
    if benchmark.stats:
        each = benchmark.stats["min"] / (net.w.size**2 * len(xi))
        benchmark.extra_info["ps per entry and pattern"] = each * 1e12
    record_memory(benchmark)


@pytest.mark.benchmark(group="Hessian, all eigenvalues")
@pytest.mark.parametrize("wiring", CASES)
def test_spectrum(benchmark, wiring):
    net, xi, sigma = instance(wiring)
    spectrum = benchmark.pedantic(
        hessian_spectrum,
        args=(net, xi, sigma),
        kwargs={"beta": BETA},
        rounds=5 if wiring == "tree" else 1,
    )
    largest = max_eigenvalue(net, xi, sigma, beta=BETA)
    assert spectrum[-1] == pytest.approx(largest, rel=1e-8)
    record_memory(benchmark)


@pytest.mark.benchmark(group="Hessian, the largest eigenvalue")
@pytest.mark.parametrize("tangent", [False, True], ids=["euclidean", "tangent"])
@pytest.mark.parametrize("wiring", CASES)
def test_largest(benchmark, wiring, tangent):
    net, xi, sigma = instance(wiring)
    options = {"beta": BETA, "tangent": tangent}
    benchmark.pedantic(max_eigenvalue, args=(net, xi, sigma), kwargs=options, rounds=5)


@pytest.mark.benchmark(group="smallest beta of a device that makes no error")
@pytest.mark.parametrize("wiring", CASES)
def test_smallest_beta(benchmark, wiring):
    net, xi, _ = instance(wiring)
    assert benchmark(smallest_beta, net, xi, net.output(xi)) > 0.0


@pytest.mark.benchmark(group="disturbances at the tree's size")
@pytest.mark.parametrize("kind", ["flips", "pixels", "weights"])
def test_disturbances(benchmark, kind):
    net, xi, sigma = instance("tree")
    if kind == "weights":
        place, measure, options = "distances", error_profile, {"samples": 50}
    else:
        place, measure, options = "noise", noise_robustness, {"kind": kind}
    benchmark.pedantic(
        measure,
        args=(net, xi, sigma),
        kwargs={place: 0.1, "rng": 1, **options},
        rounds=3,
        warmup_rounds=1,
    )
    if benchmark.stats:
        each = benchmark.stats["min"] / (50 * xi.size)
        benchmark.extra_info["ns per disturbed entry"] = each * 1e9
