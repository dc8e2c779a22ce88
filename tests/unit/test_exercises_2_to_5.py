"""Right answers of the exercises of chapters 2 to 5, found otherwise."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy
from scipy.special import erf, gammaln, xlogy

from wfmlib.book import exercises
from wfmlib.book.exercises.table import QUESTIONS
from wfmlib.models import (
    Activation,
    CrossEntropy,
    ParityMachine,
    Perceptron,
    ReLU,
    TreeCommittee,
)
from wfmlib.numerics import gaussian
from wfmlib.theory import cross_entropy, large_deviation, typical

CHAPTERS = ("2", "3", "4", "5")
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


def test_slope_of_the_spherical_term():
    def term(q0, q1=0.5, y=3):
        b = 1.0 - q1 + y * (q1 - q0)
        return 0.5 * (math.log(1.0 - q1) + math.log(b / (1.0 - q1)) / y + q0 / b)

    for q0 in (0.1, 0.25, 0.4):
        # a central difference of step h: its error is h^2 over six times a third derivative
        difference = (term(q0 + 1e-4) - term(q0 - 1e-4)) / 2e-4
        assert right("3.1", q0) == pytest.approx(difference, abs=1e-6)


def test_rates_meet_at_the_margin_of_real_weights():
    """The largest margin of rectifiers, by the solver, makes both rates equal."""
    load = right("3.2")
    kappa = typical.max_margin(TreeCommittee(np.inf, ReLU()), load)
    rate = (kappa / ReLU().scale) ** 2 / (2.0 * ReLU().slope_at_one)
    assert rate == pytest.approx(1.0 / (4.0 * load), rel=1e-5)


def test_unanimous_votes_sampled():
    rng = np.random.default_rng(0)
    for load in (0.4, 1.0):
        q = typical.solve(TreeCommittee(3), load).q
        fields = math.sqrt(q / (1.0 - q)) * rng.standard_normal((200_000, 3))
        p = gaussian.H(-fields)
        every = np.prod(p, axis=1)
        two = np.sum(every[:, None] * (1.0 - p) / p, axis=1)
        sample = every / (every + two)
        error = np.std(sample) / math.sqrt(len(sample))
        assert right("3.4", load) == pytest.approx(np.mean(sample), abs=4.0 * error)


def test_centre_of_a_group_sampled():
    """A field that groups share, the best one of a group, its replicas and its centre."""
    q1, rng = 0.7, np.random.default_rng(1)
    device = TreeCommittee(np.inf)
    spread = large_deviation.solve(device, 1.0, q1).spread
    at, to = (
        device.activation.effective_overlap(q1),
        device.activation.effective_overlap(q1**0.5).c,
    )
    own, width = at.complement, math.sqrt(at.slope * spread)
    u = np.linspace(0.0, 30.0, 6001)
    errs = []
    for v in rng.standard_normal(2000):
        field = math.sqrt(at.c) * v + width * u
        best = field[np.argmax(-(u**2) / 2.0 + gaussian.log_H(-field / math.sqrt(own)))]
        hazard = gaussian.hazard(-best / math.sqrt(own))
        mean = best + math.sqrt(own) * hazard
        errs.append(gaussian.H(to / at.c * mean / math.sqrt(1.0 - to**2 / at.c)))
    error = np.std(errs) / math.sqrt(len(errs))
    assert right("3.5", q1) == pytest.approx(np.mean(errs), abs=4.0 * error)


def test_pairs_without_overlap_are_those_of_the_solver():
    for q1 in (0.3, 0.7):
        point = large_deviation.solve(ParityMachine(2), 0.1, q1, replicas=2)
        without = large_deviation.solve(ParityMachine(2), 0.0, q1, replicas=2).entropy
        assert (point.entropy - without) / 0.1 == pytest.approx(right("4.1", q1), rel=1e-4)


def test_curvature_at_no_overlap_by_differences():
    """The mean force of the patterns at a small overlap balances that of the weights."""
    x = np.linspace(-9.0, 9.0, 4001)
    weight = np.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi) * (x[1] - x[0])
    for q1 in (0.3, 0.5, 0.9):

        def moment(shift, q1=q1):
            return weight @ erf((math.sqrt(q1) * x + shift) / math.sqrt(2.0 * (1.0 - q1))) ** 2

        h = 1e-2
        bend = (moment(h) - 2.0 * moment(0.0) + moment(-h)) / h**2
        # d/ds ln(1 + M(s) A^2) / y is this times s, and three units add their squares
        force = moment(0.0) ** 2 * bend / (1.0 + moment(0.0) ** 3) / 2.0
        load = 1.0 / (3.0 * force**2 * (1.0 + q1) ** 2)
        assert right("4.2", q1) == pytest.approx(load, rel=2e-3)  # h^2 over 1 - q1


def test_majority_of_five_over_all_votes():
    signs = np.array(np.meshgrid(*[(-1, 1)] * 5)).reshape(5, -1)
    vote = np.sign(signs.sum(axis=0))
    for degree in (1, 3, 5):
        products = [
            np.mean(vote * signs[list(c)].prod(axis=0)) for c in combinations(range(5), degree)
        ]
        assert right("4.3", degree) == pytest.approx(np.sum(np.square(products)), rel=1e-12)
    assert sum(right("4.3", degree) for degree in (1, 3, 5)) == pytest.approx(1.0, rel=1e-12)


def test_pieces_begin_where_w_turns():
    """W rises somewhere just above the load, and nowhere below; by its integral, not a series."""
    q1 = np.linspace(0.5, 0.95, 40)
    x, weight = np.polynomial.legendre.leggauss(60)
    x, weight = 4.0 * (x + 1.0), 4.0 * weight  # positive fields: the average is even in each
    weight *= 2.0 * gaussian.G(x)
    gain = []
    for one in q1:
        e = erf(np.sqrt(one / (1.0 - one) / 2.0) * x)
        p = e[:, None, None] * e[:, None] * e
        both = 0.5 * (xlogy(1.0 + p, 1.0 + p) + xlogy(1.0 - p, 1.0 - p))
        gain.append(np.einsum("ijk,i,j,k", both, weight, weight, weight))
    cost = 0.5 * (np.log1p(-q1) + q1)
    load = right("4.4", 3)
    assert np.all(np.diff(cost + 0.99 * load * np.array(gain)) < 0.0)
    assert np.any(np.diff(cost + 1.01 * load * np.array(gain)) > 0.0)


def test_mean_number_of_students_at_the_ends():
    """Half of all bits without overlap, and the teacher alone at overlap one."""
    assert right("4.5", 0.0) == pytest.approx(0.5 * math.log(2.0), rel=1e-12)
    assert right("4.5", 1.0) == pytest.approx(0.0, abs=1e-12)


def test_students_counted_by_a_binomial():
    """The share of vectors with so many equal weights, and how often two products agree."""
    n, rng = 100_000, np.random.default_rng(2)
    for q in (0.3, 0.6, 0.9):
        equal = round((1.0 + q) / 2.0 * n)
        share = (gammaln(n + 1.0) - gammaln(equal + 1.0) - gammaln(n - equal + 1.0)) / n
        first = rng.standard_normal((3, 1_000_000))
        second = q * first + math.sqrt(1.0 - q**2) * rng.standard_normal(first.shape)
        agree = np.mean(np.sign(first * second).prod(axis=0) > 0)  # to 5e-4
        # Stirling: ln(n) / 2n is 6e-5; of the logarithm of the chance 5e-4, times four
        exponent = share + 0.5 * math.log(agree)
        assert right("4.5", q) == pytest.approx(exponent, abs=2e-3)


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
