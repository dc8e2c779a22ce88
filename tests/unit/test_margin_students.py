"""Students with a margin: Nishimori's identity, the typical distance, differences, enumeration."""

import math

import numpy as np
import pytest

from wfmlib import Binary, Margin, Perceptron, Spherical, TreeCommittee, learning, patterns
from wfmlib.book.claim_checks import margins
from wfmlib.numerics.gaussian import legendre_rule
from wfmlib.numerics.solvers import NotConverged, first_root
from wfmlib.theory import large_deviation, margin_students, teacher_student
from wfmlib.theory.teacher import taught_replicas

DEVICE = Perceptron()


@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_without_a_margin_the_teacher_is_one_of_the_students(alpha):
    """Nishimori: R = q, and two other calculations, with one overlap less, have the rest."""
    student = margin_students.solve(DEVICE, alpha)
    planted = teacher_student.solve(DEVICE, alpha)
    assert (student.device, student.constraint) == (planted.device, planted.constraint)
    assert student.teacher == pytest.approx(student.q, abs=1e-11)
    assert student.q == pytest.approx(planted.q, abs=1e-11)
    assert student.entropy == pytest.approx(planted.entropy, abs=1e-11)
    around = margin_students.surroundings(DEVICE, alpha, 0.1, reference=Margin(0.0))
    known = teacher_student.curve(DEVICE, alpha, [0.1])
    assert around.teacher == pytest.approx(around.t0, abs=1e-7)  # of panels: some 1e-9
    assert around.local_entropy == pytest.approx(known.local_entropy.item(), abs=1e-7)
    assert around.slope == pytest.approx(known.slope.item(), abs=1e-6)


def test_the_curve_is_highest_where_the_typical_students_are():
    """There they are as far as the teacher is, and all are counted."""
    margin, typical = Margin(0.2), margin_students.solve(DEVICE, 0.8)
    reference = margin_students.solve(DEVICE, 0.8, margin)
    distance = (1.0 - reference.teacher) / 2.0
    top = margin_students.surroundings(DEVICE, 0.8, distance, reference=margin)
    assert (top.reference, top.constraint) == (margin, Margin(0.0))
    assert top.slope == pytest.approx(0.0, abs=1e-6)
    assert top.local_entropy == pytest.approx(typical.entropy, abs=1e-7)
    assert top.t0 == pytest.approx(reference.teacher, abs=1e-7)
    assert (top.p, top.teacher) == pytest.approx((typical.q, typical.teacher), abs=1e-7)


def test_slopes_are_those_of_differences():
    best = Margin(margin_students.max_margin(DEVICE, 0.9))
    assert margin_students.solve(DEVICE, 0.9, best).entropy == pytest.approx(0.0, abs=1e-10)
    step = 1e-4
    low, at, high = (
        margin_students.surroundings(DEVICE, 0.9, 0.03 + h, reference=best)
        for h in (-step, 0.0, step)
    )
    # central differences: the third derivative is some 1e3 here
    by_difference = (high.local_entropy - low.local_entropy) / (2.0 * step)
    assert at.slope == pytest.approx(by_difference, abs=2e-5)
    low, at, high = (margin_students.replicas(DEVICE, 0.9, 0.9 + h) for h in (-step, 0.0, step))
    assert at.slope == pytest.approx((high.entropy - low.entropy) / (2.0 * step), abs=1e-6)


def test_replicas_without_a_teacher_are_those_of_large_deviations():
    """The kernels at overlap 0 with the teacher, against those that know of none."""
    rule = legendre_rule(14)
    known = Binary().limit_group(1.5, 0.7)
    found = taught_replicas._weight(math.sqrt(1.5), 0.7, 0.0, rule)
    assert found[:2] == pytest.approx((known.complement, known.lean), abs=1e-12)
    assert (found[2], found[3]) == pytest.approx((0.0, known.term), abs=1e-12)
    found = taught_replicas._pattern(0.9, 0.0, 0.4, 0.1, rule)
    assert found[:3] == pytest.approx(Margin(0.0).limit(0.9, 0.4, 0.1), abs=1e-11)


def test_replicas_of_a_teacher_are_more():
    """At the same load and overlap; far apart they are the typical students."""
    taught = margin_students.replicas(DEVICE, 0.7, 0.9)
    signs = TreeCommittee(np.inf, weights=Binary())
    assert taught.entropy > large_deviation.solve(signs, 0.7, 0.9).entropy
    student = margin_students.solve(DEVICE, 1.0)
    near = margin_students.replicas(DEVICE, 1.0, 0.8)
    assert near.entropy < student.entropy
    assert near.teacher > student.teacher  # towards the middle of the students


def test_counts_tend_to_the_entropy_of_students_with_a_margin():
    """Exact enumeration at N = 21; the entropy without a margin misses by 0.02 there."""
    N, P = 21, 8
    margin = Margin(2.0 / math.sqrt(N))  # between fields of 1 and of 3: N is odd
    entropies, overlaps = [], []
    for child in np.random.SeedSequence([8, N]).spawn(60):
        xi, sigma, teacher = patterns.teacher_student(P, N, rng=child)
        found = learning.enumerate_solutions(
            DEVICE, xi, sigma, constraint=margin, keep=10**6, threads=1
        )
        entropies.append(found.entropy)
        overlaps.append(np.mean(found.solutions @ teacher.astype(float)) / N)
    student = margin_students.solve(DEVICE, P / N, margin)
    assert np.mean(entropies) == pytest.approx(student.entropy, abs=0.03)
    assert np.mean(overlaps) == pytest.approx(student.teacher, abs=0.03)


def test_both_thresholds():
    """The slope at the dip changes its sign between loads on either side; so do the replicas'."""
    dense = 1.0466  # margin_students.dense_threshold(DEVICE), which the scorecard asks for
    densest = margin_students.replica_threshold(DEVICE)
    assert 1.0 < dense < densest < 1.1
    for load, sign in ((dense - 0.005, 1.0), (dense + 0.005, -1.0)):
        best = Margin(margin_students.max_margin(DEVICE, load))
        for distance in (0.003, 0.004, 0.005) if sign > 0.0 else (0.004,):
            at = margin_students.surroundings(DEVICE, load, distance, reference=best)
            assert sign * at.slope > 0.0
    below, above = (
        [margin_students.replicas(DEVICE, densest + shift, q).slope for q in (0.9, 0.92, 0.93)]
        for shift in (-0.003, 0.003)
    )
    assert max(below) < 0.0 < max(above)


def test_replicas_that_cannot_be_resolved_are_no_answer(monkeypatch):
    def lost(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(taught_replicas, "Turn", lost)
    with pytest.raises(NotConverged, match="no saddle point was found"):
        taught_replicas.solve(0.9, 1.0, [0.0, 0.0])


def around(alpha, distance, overlap):
    return margin_students.surroundings(
        DEVICE, alpha, distance, reference=Margin(0.0), reference_teacher=overlap
    )


@pytest.mark.parametrize("overlap", [0.05, 0.3, 0.9])
def test_students_of_an_overlap_are_those_at_a_distance_from_the_teacher(overlap):
    """Another calculation has their number; without patterns they would be independent."""
    students = margin_students.solve(DEVICE, 0.4, teacher=overlap)
    planted = teacher_student.local_entropy(DEVICE, 0.4, (1.0 - overlap) / 2.0)
    assert students.teacher == pytest.approx(overlap, abs=1e-12)
    assert students.entropy == pytest.approx(planted, abs=1e-12)
    few = margin_students.solve(DEVICE, 0.1, teacher=overlap)
    assert 0.0 < few.q - overlap**2 < 0.06  # of the order of the load


@pytest.mark.parametrize("margin", [Margin(0.0), Margin(0.15)])
def test_the_overlap_of_most_students_changes_nothing_when_it_is_prescribed(margin):
    typical = margin_students.solve(DEVICE, 0.8, margin)
    again = margin_students.solve(DEVICE, 0.8, margin, teacher=typical.teacher)
    for name in ("q", "q_hat", "teacher_hat", "entropy"):
        assert getattr(again, name) == pytest.approx(getattr(typical, name), abs=1e-9)


def test_around_every_reference_the_highest_point_has_all_students():
    """There they have the overlap R = q with the teacher, whatever that of the reference is."""
    student, overlap = margin_students.solve(DEVICE, 0.7), 0.6
    distance, _ = first_root(lambda d: around(0.7, d, overlap).slope, 0.2, 0.4, step=0.05)
    top = around(0.7, distance, overlap)
    assert distance < (1.0 - student.teacher) / 2.0  # nearer to the teacher, nearer to the middle
    assert top.local_entropy == pytest.approx(student.entropy, abs=1e-7)
    assert (top.p, top.teacher) == pytest.approx((student.q, student.teacher), abs=1e-6)
    assert top.t0 == pytest.approx(1.0 - 2.0 * distance, abs=1e-6)


def test_local_entropy_grows_with_the_overlap_of_the_reference():
    """Up to the bound of all weights; a short distance away students are like their reference."""
    for distance in (0.05, 0.2):
        heights = [around(0.8, distance, overlap).local_entropy for overlap in (0.3, 0.5, 0.7)]
        assert heights == sorted(heights)
    assert heights[-1] < Binary().bound(0.2)
    near = around(0.4, 0.002, 0.5)
    assert 0.0 < near.local_entropy < Binary().bound(0.002)
    assert near.teacher == pytest.approx(0.5, abs=0.005)


def test_exact_counts_agree_with_theory():
    """All solutions of 13 patterns at N = 21: in each instance, over all but the teacher.

    Variance of the overlap with the teacher, share of it in the overlap with the barycentre, and
    slope of the local entropy within three flips [statistical errors 0.02, 0.01, 0.004].
    """
    N, P = 21, 13
    alpha, step = P / N, 0.02
    student = teacher_student.solve(DEVICE, alpha)
    distance = (1.0 - student.q) / 2.0
    slopes = teacher_student.curve(DEVICE, alpha, [distance - 1e-3, distance + 1e-3]).slope.values
    bend = np.diff(slopes).item() / 2e-3
    sides = [around(alpha, distance, student.q + h).slope for h in (-step, step)]
    heights = [around(alpha, 3 / N, student.q + h).local_entropy for h in (-step, step)]
    found = []
    for child in np.random.SeedSequence([13, N]).spawn(60):
        xi, sigma, teacher = patterns.teacher_student(P, N, rng=child)
        every = learning.enumerate_solutions(DEVICE, xi, sigma, keep=10**6, threads=1)
        w = every.solutions.astype(float)
        known, middle = w @ teacher / N, w @ w.mean(axis=0) / N
        volume = np.log(np.sum(w @ w.T >= N - 2 * 3, axis=1))
        others = known < 1.0
        if others.sum() > 30:
            slope = np.polyfit(known[others], volume[others] / N, 1)[0]
            found.append((N * np.var(known), N * np.var(middle), slope))
    variance, of_middle, slope = np.mean(found, axis=0)
    assert variance == pytest.approx(-4.0 / bend, abs=0.06)  # 0.75
    share = np.diff(sides).item() / step / bend  # 0.13
    assert of_middle / variance == pytest.approx(share, abs=0.03)
    by_theory = np.diff(heights).item() / (2 * step)  # 0.046
    assert slope == pytest.approx(by_theory, abs=0.012)


def test_what_is_refused():
    with pytest.raises(ValueError, match="alpha must be"):
        margin_students.solve(DEVICE, 1.3)
    with pytest.raises(ValueError, match=r"constraint\.kappa must be"):
        margin_students.solve(DEVICE, 1.0, Margin(-0.1))
    with pytest.raises(TypeError, match="constraint must be Margin"):
        margin_students.solve(DEVICE, 1.0, 0.1)
    with pytest.raises(ValueError, match="reference must be a margin that students reach"):
        margin_students.surroundings(DEVICE, 1.0, 0.1, reference=Margin(0.2))
    with pytest.raises(ValueError, match=r"reference\.kappa must be"):
        margin_students.surroundings(DEVICE, 1.0, 0.1, reference=Margin(1.5))
    with pytest.raises(TypeError, match="reference must be Margin"):
        margin_students.surroundings(DEVICE, 1.0, 0.1, reference=0.1)
    for overlap in (0.0, 1.0):
        with pytest.raises(ValueError, match="teacher must be"):
            margin_students.solve(DEVICE, 1.0, teacher=overlap)
    with pytest.raises(ValueError, match="reference_teacher must be an overlap that students"):
        around(1.0, 0.1, 0.98)
    for overlap in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="reference_teacher must be finite"):
            around(1.0, 0.1, overlap)
    with pytest.raises(ValueError, match="distance must be"):
        margin_students.surroundings(DEVICE, 1.0, 0.0, reference=Margin(0.1))
    with pytest.raises(ValueError, match="alpha must be"):
        margin_students.max_margin(DEVICE, 0.3)
    for overlap in (0.0, 1.0):
        with pytest.raises(ValueError, match="overlap must be"):
            margin_students.replicas(DEVICE, 1.0, overlap)
    with pytest.raises(NotConverged, match="no saddle point was found at overlap"):
        margin_students.replicas(DEVICE, 1.0, 0.3)


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (margin_students.solve, {"alpha": 1.0}),
        (margin_students.max_margin, {"alpha": 1.0}),
        (
            margin_students.surroundings,
            {"alpha": 1.0, "distance": 0.1, "reference": Margin(0.1)},
        ),
        (margin_students.replicas, {"alpha": 1.0, "overlap": 0.9}),
        (margin_students.dense_threshold, {}),
        (margin_students.replica_threshold, {}),
    ],
)
def test_only_the_binary_perceptron_is_solved(question, given):
    with pytest.raises(TypeError, match="device must be Perceptron"):
        question(TreeCommittee(np.inf, weights=Binary()), **given)
    with pytest.raises(ValueError, match=r"device must have weights Binary\(\) here"):
        question(Perceptron(Spherical()), **given)


def test_the_check_of_both_thresholds_can_fail(monkeypatch):
    monkeypatch.setattr(margin_students, "replica_threshold", lambda device: 1.08)
    for around, holds in ((1.05, True), (1.081, False), (0.95, False)):
        monkeypatch.setattr(margin_students, "dense_threshold", lambda device, at=around: at)
        assert margins.thresholds_close_planted()[0] is holds
