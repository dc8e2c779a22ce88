"""Samplers against exact enumeration, at 15 weights, and against replica theory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from wfmlib import Committee, LogPotential, Margin, Perceptron, Spherical, learning, patterns
from wfmlib.learning import PackedPatterns, potential_annealing, stochastic_localization
from wfmlib.learning.sampling.potential_annealing import _log_weight
from wfmlib.learning.sampling.tilted_means import TiltedMeans
from wfmlib.theory import localization, typical

BINARY, SPHERE = Perceptron(), Perceptron(Spherical())


@pytest.fixture(scope="module")
def instance():
    """All solutions of 7 patterns of 15 weights, and the stabilities of each."""
    xi, sigma = patterns.random(7, 15, rng=5)
    found = learning.enumerate_solutions(BINARY, xi, sigma, keep=10_000)
    w = np.array(found.solutions)
    return xi, sigma, w, (xi * sigma[:, None]).astype(float) @ w.T / np.sqrt(15)


def law(stability, exponent):
    log_law = exponent * np.log(stability).sum(axis=0)
    return np.exp(log_law - log_law.max()) / np.sum(np.exp(log_law - log_law.max())), log_law


def compared(drawn, w, probability, groups=12):
    """Return the p-value of chi-square over groups of solutions of equal total probability."""
    place = {one.astype(np.int8).tobytes(): k for k, one in enumerate(w)}
    count = np.bincount([place[one.astype(np.int8).tobytes()] for one in drawn], minlength=len(w))
    order = np.random.default_rng(0).permutation(len(w))
    group = (np.cumsum(probability[order]) * groups * (1 - 1e-12)).astype(int)
    expected = np.bincount(group, probability[order], groups) * len(drawn)
    seen = np.bincount(group, count[order], groups)
    there = expected > 0.0  # one solution may fill several groups
    return stats.chisquare(seen[there], expected[there]).pvalue


@pytest.mark.parametrize("exponent", [0.0, 1.0])
def test_localisation_with_exact_means_has_the_exact_law(instance, exponent):
    xi, sigma, w, stability = instance
    probability, log_law = law(stability, exponent)

    def means(field):
        weight = w @ field + log_law
        weight = np.exp(weight - weight.max())
        return weight @ w / weight.sum()

    rng = np.random.default_rng(1)
    drawn = [
        stochastic_localization(
            BINARY, xi, sigma, constraint=LogPotential(), means=means, step=0.1, rng=rng
        ).weights
        for _ in range(400)
    ]
    assert compared(drawn, w, probability) > 1e-3
    assert compared(drawn, w, law(stability, 3.0 - exponent)[0]) < 1e-4, (
        "another law is told apart"
    )


def test_annealing_has_the_law_of_the_potential_and_its_partition_function(instance):
    xi, sigma, w, stability = instance
    probability, log_law = law(stability, 1.0)
    rng = np.random.default_rng(2)
    runs = [potential_annealing(BINARY, xi, sigma, sweeps=100, rng=rng) for _ in range(600)]
    assert compared([one.weights for one in runs if one.converged], w, probability) > 1e-3
    weights = np.exp([one.log_weight for one in runs])
    exact = np.sum(np.exp(log_law)) / 2**15
    assert np.mean(weights) == pytest.approx(exact, abs=4 * np.std(weights) / np.sqrt(600))


def test_weights_of_fast_annealing_are_exact_on_average(instance):
    """Annealed importance sampling holds however fast: here five sweeps."""
    xi, sigma, _, stability = instance
    rng = np.random.default_rng(3)
    with warnings.catch_warnings(action="ignore", category=learning.NoSolution):
        runs = [
            potential_annealing(BINARY, xi, sigma, sweeps=5, widths=4, first=1.0, rng=rng)
            for _ in range(1500)
        ]
    weights = np.exp([one.log_weight for one in runs])
    exact = np.sum(np.exp(law(stability, 1.0)[1])) / 2**15
    assert np.mean(weights) == pytest.approx(exact, abs=4 * np.std(weights) / np.sqrt(1500))
    assert any(not one.converged and one.log_weight == -np.inf for one in runs)


def test_the_soft_potential_has_its_limits():
    for s in (-2.0, -0.01, 0.0, 0.3, 5.0):
        for width in (0.01, 0.1, 3.0):
            plain = 2.0 * np.log(width * np.logaddexp(0.0, s / width))
            assert _log_weight(s, width, 2.0) == pytest.approx(plain, rel=1e-12)
    assert _log_weight(-2.0, 1e-3, 2.0) == pytest.approx(2.0 * (np.log(1e-3) - 2000.0))
    assert _log_weight(0.3, 0.0, 2.0) == pytest.approx(2.0 * np.log(0.3))
    assert _log_weight(0.0, 0.0, 2.0) == -np.inf


@pytest.mark.parametrize("device", [BINARY, SPHERE])
def test_means_are_those_of_message_passing(device):
    """For margins there are two ways: with a reference as the field, and here."""
    packed = PackedPatterns.random(200, 501, rng=1)
    field = np.random.default_rng(2).standard_normal(501)
    options = {"tolerance": 1e-10, "damping": 0.0, "max_sweeps": 500}
    here = TiltedMeans(packed, device.weights, Margin(0.0), **options)(field)
    there = learning.approximate_message_passing(
        device, packed, reference=field, coupling=1.0, tolerance=1e-10
    )
    np.testing.assert_allclose(here, there.means, atol=1e-8)


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_means_of_the_potential_are_those_of_replica_theory(exponent):
    packed = PackedPatterns.random(1200, 4001, rng=3)
    passing = TiltedMeans(
        packed, BINARY.weights, LogPotential(exponent), tolerance=1e-8, damping=0.0, max_sweeps=100
    )
    q = np.mean(passing(np.zeros(4001)) ** 2)
    theory = typical.solve(BINARY, 1200 / 4001, LogPotential(exponent)).q
    assert q == pytest.approx(theory, abs=3.0 / np.sqrt(4001))


def test_localisation_follows_the_theory_overlap_by_overlap():
    packed = PackedPatterns.random(300, 1001, rng=4)
    found = stochastic_localization(BINARY, packed, constraint=LogPotential(), rng=5)
    assert found.converged
    assert found.errors == 0
    path = localization.curve(BINARY, 300 / 1001, constraint=LogPotential())
    early = found.history["time"] < 4.0
    times = np.concatenate([[0.0], found.history["time"][:-1]])[early]  # when means were taken
    theory = np.interp(times, path.time, path.overlap)
    assert found.history["overlap"][early] == pytest.approx(theory, abs=0.06)  # about 2 / sqrt(N)


def test_two_draws_have_the_overlap_of_typical_solutions():
    packed = PackedPatterns.random(501, 501, rng=6)
    one, two = (stochastic_localization(SPHERE, packed, rng=seed) for seed in (1, 2))
    assert one.converged
    assert two.converged
    q = typical.solve(SPHERE, 1.0).q
    assert np.mean(one.weights * two.weights) == pytest.approx(q, abs=3.0 / np.sqrt(501))


def test_rotations_keep_the_norm_and_find_solutions():
    xi, sigma = patterns.random(20, 51, rng=7)
    found = potential_annealing(SPHERE, xi, sigma, sweeps=100, rng=1)
    assert found.converged
    assert np.mean(found.weights**2) == pytest.approx(1.0)
    assert np.all(found.network.stabilities(xi, sigma) > 0.0)


def test_one_seed_gives_one_result(instance):
    xi, sigma, *_ = instance
    for algorithm in (stochastic_localization, potential_annealing):
        options = {"constraint": LogPotential(), "rng": 3}
        one, two = (algorithm(BINARY, xi, sigma, **options) for _ in range(2))
        np.testing.assert_array_equal(one.weights, two.weights)


def test_bad_arguments_are_named(instance):
    xi, sigma, *_ = instance
    for algorithm in (stochastic_localization, potential_annealing):
        with pytest.raises(ValueError, match="device"):
            algorithm(Committee(3), xi, sigma)
        with pytest.raises(ValueError, match="sigma"):
            algorithm(BINARY, xi, sigma[:-1])
    with pytest.raises(TypeError, match="sigma"):
        stochastic_localization(BINARY, xi)
    with pytest.raises(ValueError, match="step"):
        stochastic_localization(BINARY, xi, sigma, step=2.0)
    with pytest.raises(TypeError, match="means"):
        stochastic_localization(BINARY, xi, sigma, means=3)
    with pytest.raises(ValueError, match="means"):
        stochastic_localization(BINARY, xi, sigma, means=lambda field: field[:3])
    with pytest.raises(TypeError, match="constraint"):
        potential_annealing(BINARY, xi, sigma, constraint=Margin(0.0))
    with pytest.raises(ValueError, match="last"):
        potential_annealing(BINARY, xi, sigma, first=0.1, last=0.2)
