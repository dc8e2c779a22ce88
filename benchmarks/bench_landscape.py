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

BETA = 3.0
SIZES = {"tree": (999, 111, 1000), "full": (784, 784, 500)}


def device(wiring):
    """Return random weights of nine units, and patterns."""
    N, inputs, P = SIZES[wiring]
    xi, sigma = patterns.random(P, N, seed=1)
    return np.random.default_rng(1).standard_normal((9, inputs)), xi, sigma


def record_memory(benchmark):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    benchmark.extra_info["peak memory, MB"] = peak / 1e3  # Linux counts kilobytes


@pytest.mark.benchmark(group="Hessian, one product with a vector")
@pytest.mark.parametrize("wiring", SIZES)
def test_product(benchmark, wiring):
    w, xi, sigma = device(wiring)
    product = _product(Surface(w, xi, sigma, BETA, wiring == "tree", "square", 1.0, 1.0))
    found = benchmark(product, w.ravel())
    again = hessian_product(w, w, xi, sigma, beta=BETA, tree=wiring == "tree")
    np.testing.assert_allclose(found, again.ravel(), rtol=0, atol=1e-10 * np.abs(found).max())
    if benchmark.stats:
        each = benchmark.stats["min"] / (w.size * len(xi))
        benchmark.extra_info["ns per weight and pattern"] = each * 1e9


@pytest.mark.benchmark(group="Hessian, the whole matrix")
@pytest.mark.parametrize("tangent", [False, True], ids=["euclidean", "tangent"])
@pytest.mark.parametrize("wiring", SIZES)
def test_matrix(benchmark, wiring, tangent):
    w, xi, sigma = device(wiring)
    options = {"beta": BETA, "tree": wiring == "tree", "tangent": tangent}
    matrix = benchmark.pedantic(
        hessian,
        args=(w, xi, sigma),
        kwargs=options,
        rounds=10 if wiring == "tree" else 2,
        warmup_rounds=1,
    )
    assert matrix.shape == (w.size, w.size)
    if benchmark.stats:
        each = benchmark.stats["min"] / (w.size**2 * len(xi))
        benchmark.extra_info["ps per entry and pattern"] = each * 1e12
    record_memory(benchmark)


@pytest.mark.benchmark(group="Hessian, all eigenvalues")
@pytest.mark.parametrize("wiring", SIZES)
def test_spectrum(benchmark, wiring):
    w, xi, sigma = device(wiring)
    spectrum = benchmark.pedantic(
        hessian_spectrum,
        args=(w, xi, sigma),
        kwargs={"beta": BETA, "tree": wiring == "tree"},
        rounds=5 if wiring == "tree" else 1,
    )
    largest = max_eigenvalue(w, xi, sigma, beta=BETA, tree=wiring == "tree")
    assert spectrum[-1] == pytest.approx(largest, rel=1e-8)
    record_memory(benchmark)


@pytest.mark.benchmark(group="Hessian, the largest eigenvalue")
@pytest.mark.parametrize("tangent", [False, True], ids=["euclidean", "tangent"])
@pytest.mark.parametrize("wiring", SIZES)
def test_largest(benchmark, wiring, tangent):
    w, xi, sigma = device(wiring)
    options = {"beta": BETA, "tree": wiring == "tree", "tangent": tangent}
    benchmark.pedantic(max_eigenvalue, args=(w, xi, sigma), kwargs=options, rounds=5)


@pytest.mark.benchmark(group="smallest beta of a device that makes no error")
@pytest.mark.parametrize("wiring", SIZES)
def test_smallest_beta(benchmark, wiring):
    w, xi, _ = device(wiring)
    tree = wiring == "tree"
    votes = np.sign(Surface(w, xi, np.ones(len(xi)), BETA, tree, "square", 1.0, 1.0).fields)
    sigma = np.sign(votes.sum(axis=0))
    assert benchmark(smallest_beta, w, xi, sigma, tree=tree) > 0.0


@pytest.mark.benchmark(group="disturbances at the tree's size")
@pytest.mark.parametrize("kind", ["flips", "pixels", "weights"])
def test_disturbances(benchmark, kind):
    w, xi, sigma = device("tree")
    if kind == "weights":
        place, measure, options = "distances", error_profile, {"samples": 50}
    else:
        place, measure, options = "noise", noise_robustness, {"kind": kind}
    benchmark.pedantic(
        measure,
        args=(w, xi, sigma),
        kwargs={place: 0.1, "seed": 1, **options},
        rounds=3,
        warmup_rounds=1,
    )
    if benchmark.stats:
        each = benchmark.stats["min"] / (50 * xi.size)
        benchmark.extra_info["ns per disturbed entry"] = each * 1e9
