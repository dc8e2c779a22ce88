"""Right answers of the exercises of chapters 6 to 9, found otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import comb, ndtri

from wfmlib.book.exercises.table import QUESTIONS
from wfmlib.models import Binary, Margin, Perceptron
from wfmlib.numerics import gaussian
from wfmlib.theory import franz_parisi, teacher_student, typical

PERCEPTRON = Perceptron(Binary())
CHAPTERS = ("6", "7", "8", "9")


def right(number, *at):
    """The right answer."""
    return QUESTIONS[number].right(*at)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_has_three_and_each_two_hints(chapter):
    mine = [one for number, one in QUESTIONS.items() if number.startswith(f"{chapter}.")]
    assert len(mine) >= 3
    assert min(len(one.mistakes) for one in mine) >= 2


def test_estimates_are_near_the_replica_calculation():
    """The page: independent flips are good to two to seven per cent."""
    for load in (0.3, 0.5):
        inner = franz_parisi.gap(PERCEPTRON, load)[1]
        assert right("6.1", load) == pytest.approx(inner, rel=0.08)


def test_vote_by_the_mean_over_the_field():
    """The overlap as an average of signs in the frame of the teacher, not as an integral."""
    for load in (0.5, 1.0):
        hat = teacher_student.solve(PERCEPTRON, load).q_hat
        y = (np.arange(1_000_000) + 0.5) / 1_000_000  # quantiles: 1e-6 each
        field = math.sqrt(hat) * ndtri(y) + hat
        assert right("6.3", load) == pytest.approx(np.mean(np.sign(field)), abs=4e-6)


def test_shell_closes_where_the_estimate_touches_zero():
    """The page's grid of distances, with the density solved at the margin itself."""
    for load in (0.3, 0.5):
        kt = right("6.4", load)
        price = 2.0 * load * typical.solve(PERCEPTRON, load, Margin(kt)).margin_density
        d = np.geomspace(1e-5, 0.03, 400)
        u = np.linspace(0.0, 12.0, 4001)
        costs = [
            np.trapezoid(-gaussian.log_H(-(u + start)), u) for start in kt / (2.0 * np.sqrt(d))
        ]
        slope = 1.0 - np.log(d) - price * np.array(costs) / np.sqrt(d)
        assert np.min(slope) == pytest.approx(0.0, abs=5e-3)  # of about five


def test_mean_number_of_students_at_the_threshold():
    d = np.linspace(0.01, 0.5, 4001)
    agree = np.log1p(-np.arccos(1.0 - 2.0 * d) / np.pi)
    exponent = franz_parisi.geometric_bound(PERCEPTRON, d) + right("6.5") * agree
    assert np.max(exponent) == pytest.approx(0.0, abs=1e-6)  # a maximum, on steps of 1e-4


def test_empty_sphere_solves_the_norm_equation():
    for pull in (0.3, 3.0, 30.0):
        zeta = pull / (1.0 - 2.0 * right("7.2", pull))
        assert 1.0 / zeta + (pull / zeta) ** 2 == pytest.approx(1.0, abs=1e-12)


def test_v_is_negative_below_its_edge_only():
    for p in (0.1, 0.3, 0.6):
        x = np.linspace(-8.0, 0.0, 8001)
        one, both = 1.0 - (1.0 - p) ** 2, p**2
        z = one * gaussian.H(-x) + both * gaussian.H(x)
        negative = (one - both) * gaussian.G(x) / z < -x
        assert np.array_equal(negative, x < right("7.3", p))


def test_star_field_of_a_strong_coupling():
    strong, h = 15.0, 1e-3  # 1 - tanh(15) is 2e-13; the fields stay far below the coupling

    def damped(field):
        return math.atanh(math.tanh(strong) * math.tanh(field))

    for y in (3, 10):
        assert damped((y - 1) * damped(h)) / h == pytest.approx(right("7.5", y), rel=1e-9)


def test_corrections_keep_the_bound_on_the_cosine():
    """The rule on patterns that a known vector stores with a margin."""
    rng = np.random.default_rng(0)
    known = rng.standard_normal(50)
    known /= np.linalg.norm(known)
    xi = rng.choice([-1.0, 1.0], size=(200, 50))
    xi *= np.sign(xi @ known)[:, None]
    xi = xi[xi @ known > 0.5]
    kappa, w, t = np.min(xi @ known), np.zeros(50), 0
    while np.any(wrong := xi @ w <= 0.0):
        w, t = w + xi[np.argmax(wrong)], t + 1
        cosine = known @ w / np.linalg.norm(w)
        assert cosine >= right("8.1", t * kappa**2 / 50) * (1.0 - 1e-12)
    assert t > 5


def test_collapse_of_replicas_by_batches():
    spread = np.random.default_rng(1).standard_normal(20)
    spread -= spread.mean()
    for pull in (0.05, 0.5):
        after = spread * (1.0 - pull) ** 4
        fall = math.log(np.sum(spread**2) / np.sum(after**2))
        assert right("8.4", pull) == pytest.approx(fall, rel=1e-12)


def test_twins_counted():
    for units in (3, 51):
        number = (math.factorial(units) * 2**units) ** 2
        assert right("9.2", units) == pytest.approx(math.log(number), rel=1e-12)


def test_best_overlap_sampled():
    largest = np.abs(np.random.default_rng(2).standard_normal((20_000, 51))).max(axis=1)
    mean, error = largest.mean() / math.sqrt(51), largest.std() / math.sqrt(51 * 20_000)
    assert right("9.3", 51) == pytest.approx(mean, abs=4.0 * error)


def test_open_share_is_of_the_binomial_distribution():
    for inputs in (51, 101):
        heads = np.arange(inputs + 1)
        share = np.sum(comb(inputs, heads)[abs(2 * heads - inputs) <= 1]) / 2.0**inputs
        assert right("9.5", inputs) == pytest.approx(share, rel=1e-12)
