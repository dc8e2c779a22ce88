"""Errors and measures of flatness of all solutions, against sums written down plainly."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from wfmlib import Binary, Perceptron, TreeCommittee, landscape, learning
from wfmlib.book.experiments import exact_flatness as exact

N = 9
MACHINES = pytest.mark.parametrize("units", [1, 3])
EVERY = np.array(list(product((-1, 1), repeat=N)))


def plain_answers(w, xi, units):
    votes = [np.sign(x @ y.T) for x, y in zip(_parts(w, units), _parts(xi, units), strict=True)]
    return np.sign(np.sum(votes, axis=0))


def _parts(x, units):
    return np.split(x, units, axis=1)


def instance(units, P=6):
    xi, sigma, teacher = exact.drawn(np.random.SeedSequence(3), P, N, units)
    device = Perceptron() if units == 1 else TreeCommittee(units, weights=Binary())
    return xi, sigma, teacher, device, learning.enumerate_solutions(device, xi, sigma, keep=2**N)


@MACHINES
def test_the_solutions_and_their_errors(units):
    xi, sigma, teacher, _, found = instance(units)
    w = found.solutions
    right = np.all(plain_answers(EVERY, xi, units) == sigma, axis=1)
    np.testing.assert_array_equal(w, EVERY[right])
    assert np.any(np.all(w == teacher, axis=1))
    differ = plain_answers(w, EVERY, units) != plain_answers(teacher[None], EVERY, units)
    np.testing.assert_allclose(exact.teacher_errors(w, teacher, units), differ.mean(axis=1))


@MACHINES
@pytest.mark.parametrize("pairs", [False, True], ids=["transform", "pairs"])
def test_volumes_and_the_mean_error(units, pairs):
    w = instance(units)[-1].solutions
    volumes, posterior = exact.surroundings(w, units, pairs)
    apart = (w[:, None] != w).sum(axis=2)
    np.testing.assert_array_equal(volumes, [(apart <= d).sum(axis=1) for d in exact.DISTANCES])
    errors = [exact.teacher_errors(w, teacher, units) for teacher in w]
    np.testing.assert_allclose(posterior, np.mean(errors, axis=0))


@MACHINES
@pytest.mark.parametrize("p", [0.05, 0.2])
def test_local_energy(units, p):
    xi, sigma, *_, found = instance(units)
    w = found.solutions[:3]
    flips = (EVERY < 0).sum(axis=1)
    chance = p**flips * (1 - p) ** (N - flips)
    plain = [chance @ np.mean(plain_answers(one * EVERY, xi, units) != sigma, axis=1) for one in w]
    h = exact.fields(xi, w, units) * sigma[None, :, None]
    np.testing.assert_allclose(exact.local_energy(h, N // units, p), plain)


@pytest.mark.parametrize("gamma", exact.GAMMAS)
def test_cross_entropy_and_its_curvature(gamma):
    xi, sigma, _, device, found = instance(3)
    w, options = found.solutions[:4], {"beta": 2.0, "loss": "cross-entropy", "gamma": gamma}
    x = exact.fields(xi, w, 3) * sigma[None, :, None] / np.sqrt(3)
    loss, curvature = exact.cross_entropy(x, 2.0, gamma)
    for k, one in enumerate(w):
        net = device.network(one.reshape(3, 3))
        assert landscape.smoothed_loss(net, xi, sigma, **options) == pytest.approx(loss[k])
        hessian = landscape.hessian(net, xi, sigma, **options, tangent=False)
        # there weights of a unit have norm one, here they are signs: the square of the scale
        assert np.trace(hessian) / 3 == pytest.approx(curvature[k], rel=1e-6)


def test_curvature_of_one_unit():
    x = np.random.default_rng(1).normal(size=(2, 5, 1))
    step = 1e-4
    up, middle, down = (exact.cross_entropy(x + s, 2.0, 2.0)[0] for s in (step, 0, -step))
    # the same shift of all margins: each pattern is counted with its own second derivative
    np.testing.assert_allclose(
        (up - 2 * middle + down) / step**2, exact.cross_entropy(x, 2.0, 2.0)[1], rtol=1e-5
    )


def test_rank_correlation():
    a, b = np.random.default_rng(2).integers(0, 5, (2, 30))
    assert exact.spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    assert exact.spearman(np.ones(30), b) == 0


@MACHINES
def test_the_mean_overlap_over_teachers_is_that_with_the_barycentre(units):
    xi, sigma, *_, found = instance(units)
    w = found.solutions
    flat, posterior = exact.measures(exact.SETTINGS, xi, sigma, w, units)
    assert flat.shape == (len(exact.MEASURES), len(w))
    np.testing.assert_array_equal(flat[6], np.round(-posterior, exact.DIGITS))
    overlaps = w @ w.T / N
    np.testing.assert_allclose(flat[7], overlaps.mean(axis=1), atol=1e-9)


def test_a_teacher_is_left_out():
    """By hand: of four solutions one is the teacher; volumes lose it where it is near."""
    w = np.array([[1] * 9, [1] * 8 + [-1], [1] * 4 + [-1] * 5, [-1] * 9])
    teacher, settings = w[0], {"fewest": 2}
    error = exact.teacher_errors(w, teacher, 1)
    volumes, posterior = exact.surroundings(w, 1)
    flat = np.zeros((len(exact.MEASURES), 4))
    flat[:6], flat[6] = volumes, -posterior
    found = exact._orders(settings, flat, error, np.arange(4) > 0, w, teacher, posterior, 1)
    assert found["correlation"][0] == pytest.approx(3**0.5 / 2)  # 2, 1, 1 within one flip
    assert found["blind"][0] == 0.0  # 1, 1, 1 without the teacher
    assert found["best"][0] == error[1]
    few = exact._orders({"fewest": 4}, flat, error, np.arange(4) > 0, w, teacher, posterior, 1)
    assert np.isnan(few["correlation"]).all()


def test_a_sample_has_every_variable():
    point = {"machine": "committee", "N": 15, "alpha": 0.4}
    found = exact.EXPERIMENT.as_task("quick", point, 0).compute()
    assert found["solutions"] > 10
    assert 0 < found["mean_error"] < 0.5
    assert np.abs(found["correlation"]).max() <= 1
