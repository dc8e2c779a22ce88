"""Rules that look for flat minima, on a quadratic where each step is known in closed form."""

import numpy as np
import pytest

from wfmlib.book import experiments
from wfmlib.book.experiments import committee_optimisers as committee
from wfmlib.book.experiments import optimisers

CURVATURE = np.array([4.0, 1.0])
START = np.array([1.0, -2.0])


def slope(w):
    return CURVATURE * w


def test_plain_descent_contracts_each_direction():
    np.testing.assert_allclose(optimisers.sgd(START, slope, 0.1), (1 - 0.1 * CURVATURE) * START)


def test_sam_takes_the_gradient_uphill():
    g = slope(START)
    above = START + 0.3 * g / np.linalg.norm(g)
    expected = START - 0.1 * CURVATURE * above
    np.testing.assert_allclose(optimisers.sam(START, slope, 0.1, rho=0.3), expected)
    np.testing.assert_allclose(optimisers.sam(START, slope, 0.1, rho=0.0), START - 0.1 * g)
    np.testing.assert_array_equal(optimisers.sam(np.zeros(2), slope, 0.1, rho=0.3), 0)


def test_asam_moves_with_a_rescaling():
    """w = s v: the ascent in v, made of the gradient in v, is that in w divided by s."""
    s = np.array([10.0, 0.1])
    ascents = []

    def kept(gradient):
        def inner(w):
            ascents.append(w)
            return gradient(w)

        return inner

    optimisers.asam(START, kept(slope), 0.1, rho=0.3, floor=0.0)
    optimisers.asam(START / s, kept(lambda v: s * slope(s * v)), 0.1, rho=0.3, floor=0.0)
    np.testing.assert_allclose(ascents[3] * s, ascents[1])
    scaled = np.abs(START) * slope(START)
    expected = START + 0.3 * np.abs(START) * scaled / np.linalg.norm(scaled)
    np.testing.assert_allclose(ascents[1], expected)


def test_averages_are_means():
    visited = np.random.default_rng(1).normal(size=(5, 3))
    mean = np.zeros(3)
    for count, w in enumerate(visited):
        mean = optimisers.averaged(mean, w, count)
    np.testing.assert_allclose(mean, visited.mean(axis=0))


def test_entropy_sgd_goes_to_the_mean_of_its_chain():
    """Without noise: two steps of the chain by hand, and the outer step all the way."""
    told = {"scope": 5.0, "inner_eta": 0.1, "noise": 0.0, "alpha": 0.75}
    rng = np.random.default_rng(1)
    found = optimisers.entropy_sgd(START, [slope, slope], 0.2, rng=rng, **told)
    first = START - 0.1 * slope(START)
    second = first - 0.1 * (slope(first) - 5.0 * (START - first))
    mu = 0.25 * (0.25 * START + 0.75 * first) + 0.75 * second
    np.testing.assert_allclose(found, mu)


def test_springs_leave_the_centre_and_shrink_the_spread():
    flat = [np.zeros_like] * 3
    w = np.random.default_rng(1).normal(size=(3, 4))
    moved = optimisers.replicated(w, flat, 0.1, spring=2.0)
    np.testing.assert_allclose(moved.mean(axis=0), w.mean(axis=0))
    np.testing.assert_allclose(moved - w.mean(axis=0), 0.8 * (w - w.mean(axis=0)))
    together = optimisers.replicated(w, flat, 0.1, spring=1e3)
    np.testing.assert_allclose(together, np.broadcast_to(w.mean(axis=0), w.shape))
    alone = optimisers.replicated(START[None], [slope], 0.1, spring=2.0)
    np.testing.assert_allclose(alone[0], optimisers.sgd(START, slope, 0.1))


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(3)
    told = committee.DESCENT | {"units": 3, "batch": 4, "beta": 2.0}
    xi, sigma = rng.choice([-1, 1], (4, 15)), rng.choice([-1, 1], 4)
    data = committee.Data(told, xi, sigma, 3)
    w = committee.unit_norm(rng.normal(size=(3, 5)))

    def loss(v):
        t = sigma * np.tanh(2.0 * np.einsum("pki,ki->pk", xi.reshape(4, 3, 5), v)).sum(axis=1)
        return np.sum(np.logaddexp(0, -6.0 * t / np.sqrt(3))) / 6.0

    steps = 1e-5 * np.eye(15).reshape(15, 3, 5)
    expected = [(loss(w + step) - loss(w - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(data.gradient(0, w).ravel(), expected, rtol=1e-5, atol=1e-6)


def test_a_teacher_is_the_same_for_both_labels_and_right_about_its_own():
    settings = committee.SETTINGS | {"N": 99, "inputs": 50}
    seeds = [np.random.SeedSequence(4) for _ in range(2)]
    xi, sigma, teacher = committee.instance(settings, "teacher", seeds[0])
    others, _, same = committee.instance(settings, "random", seeds[1])
    np.testing.assert_array_equal(same, teacher)
    np.testing.assert_array_equal(xi[: len(others)], others)
    np.testing.assert_array_equal(committee.answers(xi, teacher), sigma)
    assert committee.test_error(settings, teacher, teacher, seeds[0]) == 0
    np.testing.assert_allclose(np.linalg.norm(teacher, axis=1), 1)


@pytest.mark.parametrize("algorithm", committee.RULES)
def test_rules_learn_a_few_patterns(algorithm):
    """Random labels, a tenth of the load: nothing is wrong at the end."""
    settings = committee.SETTINGS | {"N": 99, "loads": {"random": 0.1}}
    settings["descent"] = settings["descent"] | {"epochs": 150, "beta_growth": 0.01}
    xi, sigma, _ = committee.instance(settings, "random", np.random.SeedSequence(5))
    rate = 10.0  # one mini-batch an epoch
    w, epochs, _ = committee.trained(settings, algorithm, rate, xi, sigma, 6)
    assert epochs == 150
    np.testing.assert_allclose(np.linalg.norm(w, axis=1), 1, rtol=1e-6)
    assert np.all(committee.answers(xi, w) == sigma)


def test_one_replica_is_no_spring():
    """Replicated descent is then plain descent, entropic least action least action."""
    springs = experiments.get("springs")
    few = committee.SMALL | {"N": 45, "inputs": 50}
    settings = springs.scale("quick").settings | few | {"distance": [0.1], "beta": [3.0]}
    xi, sigma, _ = committee.instance(settings, "teacher", np.random.SeedSequence(7))
    settings["rule"]["replicated SGD"]["replicas"] = settings["recipe"]["eLAL"]["replicas"] = 1
    for one, plain in (("replicated SGD", "SGD"), ("eLAL", "LAL")):
        found = [committee.trained(settings, name, 1.0, xi, sigma, 8)[0] for name in (one, plain)]
        if plain == "SGD":
            np.testing.assert_allclose(found[0], found[1], atol=1e-6)
        else:
            assert found[0].shape == found[1].shape
