"""Right answers of the exercises of chapters 2 to 5, found otherwise."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy
from scipy.special import gammaln

from wfmlib.book import exercises
from wfmlib.book.exercises.table import QUESTIONS
from wfmlib.models import Activation, CrossEntropy, Perceptron, TreeCommittee
from wfmlib.theory import cross_entropy, typical

CHAPTERS = ("2", "5")
PERCEPTRON = Perceptron()


def right(number, *at):
    """The right answer."""
    return QUESTIONS[number].right(*at)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_has_three_checks_of_two_hints(chapter):
    mine = [one for number, one in QUESTIONS.items() if number.startswith(f"{chapter}.")]
    assert len(mine) >= 3
    assert min(len(one.mistakes) for one in mine) >= 2


def test_widths_of_the_sharp_loss_are_those_of_the_solver():
    for load in (1.4, 2.0, 5.0):
        width = cross_entropy.zero_temperature(PERCEPTRON, load, math.inf).dq
        assert load * right("2.1", width) == pytest.approx(2.0 / math.pi, rel=1e-6)


def test_differing_weights_have_the_largest_number_of_ways():
    """The largest term of the sum over pairs without patterns."""

    def log_ways(n, k):
        return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)

    n = 10_000
    for d in (0.05, 0.2, 0.4):
        k = round(d * n)
        j = np.arange(0.0, 2 * min(k, n - k) + 1, 2)
        terms = log_ways(n, j) + log_ways(j, j / 2) + log_ways(n - j, k - j / 2)
        # the next order moves the largest term by a few weights
        assert j[np.argmax(terms)] / n == pytest.approx(right("2.2", d), abs=5.0 / n)


def test_mean_stability_of_all_vectors_at_some_flips():
    n, rng = 10, np.random.default_rng(0)
    fields = rng.standard_normal(n)
    for k in (1, 2, 4):
        around = [
            np.sum(fields) - 2.0 * np.sum(fields[list(c)]) for c in combinations(range(n), k)
        ]
        assert np.mean(around) == pytest.approx(right("2.4", k / n) * np.sum(fields), rel=1e-12)


def test_temperatures_summed_as_the_solution_does():
    """A sum of roots over a ladder is too large, by less if the ladder is finer."""
    last = cross_entropy.working_beta(PERCEPTRON, 0.4, 1.0)
    for steps, allowed in ((11, 0.04), (31, 0.005)):
        ladder = np.append(1e-6, last * np.geomspace(1e-4, 1.0, steps))
        energy = [typical.solve(PERCEPTRON, 0.4, CrossEntropy(1.0, b)).energy for b in ladder]
        number = math.sqrt(1001) * np.sum(np.sqrt(-np.diff(energy) * np.diff(ladder)))
        assert right("2.5") < number < (1.0 + allowed) * right("2.5")
        assert exercises.check("2.5", number).right


@pytest.mark.parametrize("b", [0.5, 1.0, 4.0])
def test_mixture_as_an_activation(b):
    unit = Activation(lambda x: x + b * (x**2 - 1.0))
    device, end = TreeCommittee(np.inf, unit), unit.effective_overlap(1.0)
    assert right("5.1", b) == pytest.approx(typical.capacity(device), rel=1e-6)
    assert right("5.4", b) == pytest.approx(end.slope + end.curvature / end.slope, rel=1e-6)


def test_exponents_fitted():
    def gap(angle, a):
        """1 - c up to a factor, at an angle between the arguments: the radius separates."""

        def square(phi):
            up, down = math.sin(phi + angle / 2), math.sin(phi - angle / 2)
            return (abs(up) ** a - math.copysign(abs(down) ** a, down)) ** 2

        edges = [0.0, *angle / 2 * 2.0 ** np.arange(np.log2(np.pi / angle)), np.pi / 2]
        return sum(scipy.integrate.quad(square, *ends)[0] for ends in pairwise(edges))

    for a in (-0.25, 0.25, 0.75, 1.5):
        # corrections fall as angle^(1/2) at worst: a hundredth at 1e-4
        fitted = math.log10(gap(1e-4, a) / gap(1e-5, a)) / 2.0
        assert fitted == pytest.approx(right("5.2", a), abs=1e-2)


def test_three_signs_in_closed_form():
    by_hand = (5.0 - (6.0 + 2.0 * math.sqrt(3.0)) / math.pi) / 8.0
    assert right("5.3") == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("threshold", [0.5, 1.0, 2.0])
def test_silent_unit_as_an_activation(threshold):
    unit = Activation(lambda x: np.maximum(0.0, x - threshold))
    assert right("5.5", threshold) == pytest.approx(unit.slope_at_one, rel=1e-5)
