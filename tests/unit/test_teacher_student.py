"""Students of a binary teacher: literature, exact enumeration, Nishimori's identity, bad input."""

import math
import warnings

import numpy as np
import pytest
from scipy import integrate

from wfmlib import (
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
    learning,
    patterns,
)
from wfmlib.models.activations import Linear
from wfmlib.numerics import gaussian, progress
from wfmlib.theory import franz_parisi, teacher_student
from wfmlib.theory.teacher.teacher_student import _Planted

DEVICE = Perceptron()


def average(f):
    return integrate.quad(lambda x: gaussian.G(x) * f(x), -10, 10, epsabs=1e-13, limit=200)[0]


@pytest.mark.parametrize(("alpha", "kappa"), [(0.5, 0.0), (1.1, 0.0), (0.6, 0.3)])
def test_saddle_point_is_stationary(alpha, kappa):
    """The free entropy at n -> 1 written out, by differences in q and q_hat."""
    found = teacher_student.solve(DEVICE, alpha, Margin(kappa))

    def free_entropy(q, q_hat):
        def pattern(x):
            u = (kappa - math.sqrt(q) * x) / math.sqrt(1.0 - q)
            return gaussian.H(u) * gaussian.log_H(u)

        def weight(x):
            field = math.sqrt(q_hat) * x + q_hat
            return np.logaddexp(field, -field)

        terms = average(weight) - 0.5 * q_hat * (1.0 + q)
        return terms + alpha * average(pattern) / gaussian.H(kappa)

    q, q_hat, step = found.q, found.q_hat, 1e-4
    assert found.entropy == pytest.approx(free_entropy(q, q_hat), abs=1e-11)
    by_q = free_entropy(q + step, q_hat) - free_entropy(q - step, q_hat)
    by_q_hat = free_entropy(q, q_hat + step) - free_entropy(q, q_hat - step)
    # central differences: errors of order step^2
    assert by_q / (2 * step) == pytest.approx(0.0, abs=1e-6)
    assert by_q_hat / (2 * step) == pytest.approx(0.0, abs=1e-6)


def test_first_order_transition_of_the_literature():
    """Gyorgyi; Sompolinsky, Tishby and Seung (1990): 1.245, and a spinodal at 1.49."""
    load = teacher_student.perfect_learning(DEVICE)
    assert f"{load:.3f}" == "1.245"
    assert teacher_student.solve(DEVICE, 0.999 * load).entropy == pytest.approx(0.0, abs=1e-3)
    beyond = teacher_student.solve(DEVICE, 1.001 * load)
    assert (beyond.q, beyond.entropy, beyond.generalisation_error) == (1.0, 0.0, 0.0)
    q_hats = np.exp(np.linspace(-1, 3, 200))
    loads = [_Planted(q_hat, Binary(), Linear(), Margin(0.0)).alpha for q_hat in q_hats]
    assert f"{max(loads):.2f}" == "1.49"


def test_counts_tend_to_the_entropy_of_students():
    """Exact enumeration, averaged over teachers and patterns; corrections go as 1 / N."""
    gaps = []
    for N, samples in ((13, 600), (21, 150)):
        P = round(0.6 * N)
        entropies = []
        for child in np.random.SeedSequence([7, N]).spawn(samples):
            xi, sigma, _ = patterns.teacher_student(P, N, rng=child)
            found = learning.enumerate_solutions(DEVICE, xi, sigma, threads=1)
            entropies.append(found.entropy)
        error = np.std(entropies) / math.sqrt(samples)
        gaps.append((np.mean(entropies) - teacher_student.solve(DEVICE, P / N).entropy, error))
    (small, e1), (large, e2) = gaps
    assert abs(small) < 0.02
    assert abs(large - small * 13 / 21) < 4.0 * math.hypot(e2, e1 * 13 / 21)


@pytest.mark.parametrize(
    "device",
    [DEVICE, *(TreeCommittee(np.inf, unit, Binary()) for unit in (ReLU(), Sign()))],
    ids=str,
)
def test_the_teacher_is_a_typical_student(device):
    """Nishimori: the local entropy around it is largest at R = q, and is all the entropy there."""
    for margin in (Margin(0.0), Margin(0.2 * device.activation.scale)):
        learned = teacher_student.solve(device, 0.7, margin)
        assert (learned.device, learned.constraint) == (device, margin)
        distance = 0.5 * (1.0 - learned.q)
        curve = teacher_student.curve(device, 0.7, [distance], reference=margin, constraint=margin)
        assert curve.local_entropy[0] == pytest.approx(learned.entropy, abs=1e-10)
        assert curve.slope[0] == pytest.approx(0.0, abs=1e-8)
        assert curve.p[0] == pytest.approx(learned.q, abs=1e-8)


@pytest.mark.parametrize(("load", "kappa"), [(0.05, 5.0), (0.02, 9.0), (0.01, 12.0)])
def test_teachers_of_large_margin_are_typical_students(load, kappa):
    margin = Margin(kappa)
    learned = teacher_student.solve(DEVICE, load, margin)
    distance = 0.5 * (1.0 - learned.q)
    height = teacher_student.local_entropy(
        DEVICE, load, distance, reference=margin, constraint=margin
    )
    assert height == pytest.approx(learned.entropy, abs=1e-9)
    with pytest.raises(ValueError, match=r"margin / activation\.scale must be"):
        teacher_student.solve(DEVICE, load, Margin(13.0))


def test_at_small_load_teacher_and_typical_solution_have_the_same_surroundings():
    """Their overlaps with other solutions are of the order of the load: a small correction."""
    distances = [0.02, 0.1, 0.3]
    for load, share in ((1e-2, 1e-3), (1e-3, 1e-5)):
        planted = teacher_student.local_entropy(DEVICE, load, distances)
        typical = franz_parisi.local_entropy(DEVICE, load, distances)
        assert np.max(np.abs(planted - typical)) < share * load / 1e-2


def test_slope_is_the_derivative():
    step, reference = 1e-5, Margin(0.2)
    near, far = (
        teacher_student.local_entropy(DEVICE, 0.9, 0.1 + s, reference=reference)
        for s in (-step, step)
    )
    slope = teacher_student.curve(DEVICE, 0.9, [0.1], reference=reference).slope[0]
    assert slope == pytest.approx((far - near) / (2 * step), rel=1e-7)


def test_max_margin_inverts_perfect_learning():
    margins = teacher_student.max_margin(DEVICE, [0.8, 1.0])
    assert margins[0] == teacher_student.max_margin(DEVICE, 0.8)
    largest = [Margin(margin) for margin in margins.tolist()]
    loads = teacher_student.perfect_learning(DEVICE, constraint=largest)
    assert loads == pytest.approx([0.8, 1.0], abs=1e-9)
    assert teacher_student.perfect_learning(DEVICE, constraint=largest[0]) == loads[0]


def test_generalisation_error_of_two_perceptrons():
    rng = np.random.default_rng(3)
    w = rng.standard_normal((2, 3))
    overlap = w[0] @ w[1] / np.sqrt((w[0] @ w[0]) * (w[1] @ w[1]))
    sides = rng.standard_normal((400_000, 3)) @ w.T > 0
    share = np.mean(sides[:, 0] != sides[:, 1])
    expected = teacher_student.generalisation_error(overlap)
    assert share == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 400_000))
    assert teacher_student.generalisation_error([1.0, 0.0]).tolist() == [0.0, 0.5]


def test_far_above_perfect_learning_the_teacher_is_left_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = teacher_student.solve(DEVICE, 100.0, Margin(4.0))
    assert (learned.q, learned.entropy, learned.generalisation_error) == (1.0, 0.0, 0.0)
    assert "the teacher alone" in learned.report.message


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="alpha must be finite and >= 0"):
        teacher_student.solve(DEVICE, -0.1)
    with pytest.raises(ValueError, match="overlap must be finite and >= -1 and <= 1"):
        teacher_student.generalisation_error(1.5)
    with pytest.raises(ValueError, match=r"alpha must be .*>= 0\.05 and <= 1\.24468"):
        teacher_student.max_margin(DEVICE, 1.3)
    with pytest.raises(ValueError, match=r"distance must be finite and >= 0 and <= 0\.5"):
        teacher_student.local_entropy(DEVICE, 0.5, 0.7)
    with pytest.raises(TypeError, match="reference must be"):
        teacher_student.curve(DEVICE, 0.5, [0.1], reference=0.0)
    with pytest.raises(ValueError, match=r"constraint\.kappa must be finite and >= 0"):
        teacher_student.dense_threshold(DEVICE, constraint=Margin(-0.1))


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (teacher_student.solve, (0.5,)),
        (teacher_student.curve, (0.5, [0.1])),
        (teacher_student.local_entropy, (0.5, 0.1)),
        (teacher_student.max_margin, (0.5,)),
        (teacher_student.perfect_learning, ()),
        (teacher_student.dense_threshold, ()),
    ],
)
def test_devices_that_are_not_solved_are_named(question, given):
    with pytest.raises(ValueError, match=r"device must have weights Binary\(\) here"):
        question(Perceptron(Spherical()), *given)
    with pytest.raises(ValueError, match="device must be a Perceptron or have infinitely many"):
        question(TreeCommittee(3, weights=Binary()), *given)


def test_a_bar_where_it_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    teacher_student.curve(DEVICE, 0.5, [0.2, 0.1], progress=True)
    assert "2/2" in capsys.readouterr().err
    teacher_student.curve(DEVICE, 0.5, [0.2, 0.1])
    assert capsys.readouterr().err == ""
