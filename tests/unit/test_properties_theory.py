"""Saddle points at drawn arguments: bounds, order, residuals, two ways to the same number."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import (
    BINARY_DEVICES,
    DEVICES,
    DISTANCES,
    LOADS,
    OVERLAPS,
    REPLICAS,
    SHARP,
    SHARPNESS,
    answer,
    around,
    bands,
    between,
    edges,
    models,
    powers,
    properties,
)
from wfmlib.models import CrossEntropy, Margin, Perceptron, TreeCommittee
from wfmlib.numerics.arguments import Range
from wfmlib.theory import (
    cross_entropy,
    franz_parisi,
    large_deviation,
    margin_students,
    stabilities,
    teacher_student,
    typical,
)
from wfmlib.theory.machines.finite_committee import Symmetric
from wfmlib.theory.teacher.teacher_student import TEACHERS

ROUNDING = 1e-8  # of an entropy, in nats per weight
LOSSES = st.builds(
    CrossEntropy, st.one_of(st.sampled_from(SHARP.also), SHARPNESS), powers(1e-6, 1e8)
)
ROWS = st.lists(DISTANCES, min_size=2, max_size=6, unique=True).map(sorted).map(np.array)


def settled(point, tolerance=1e-6):
    """Hold that a saddle point is one."""
    assert point.report.converged
    between("residual", point.report.residual, 0.0, tolerance)


# ------------------------------------------------------------------------------------------------
# Typical solutions
# ------------------------------------------------------------------------------------------------


def check_typical(point):
    settled(point)
    between("q", point.q, 0.0, 1.0)
    between("entropy", point.entropy, -math.inf, point.device.weights.entropy + ROUNDING)
    between("replicon", point.replicon, 0.0, math.inf)


@properties
@given(st.one_of(models(), bands()), LOADS)
def test_typical_solutions(model, alpha):
    check_typical(answer(typical.solve, **model, alpha=alpha))


@properties
@given(DEVICES, LOSSES, LOADS)
def test_typical_solutions_of_a_loss(device, constraint, alpha):
    point = answer(typical.solve, device=device, constraint=constraint, alpha=alpha)
    check_typical(point)
    between("energy", point.energy, 0.0, math.inf)
    between("error rate", point.error_rate, 0.0, 0.5 + 1e-9)


@properties
@given(edges(Range.of(Symmetric).low, Range.of(Symmetric).high).filter(lambda alpha: alpha > 0.0))
def test_typical_solutions_of_three_units(alpha):
    settled(answer(typical.solve, device=TreeCommittee(3), alpha=alpha))


@properties
@given(models(high=4.0), LOADS, powers(1e-3, 1.0))
def test_more_patterns_leave_fewer_solutions_closer_to_each_other(model, alpha, step):
    few = answer(typical.solve, **model, alpha=alpha)
    many = answer(typical.solve, **model, alpha=alpha * (1.0 + step))
    assert many.entropy <= few.entropy + ROUNDING
    assert many.q >= few.q - 1e-9


@properties
@given(models(high=5.0))
def test_a_larger_margin_has_the_smaller_capacity(model):
    found = answer(typical.capacity, **model)
    between("capacity", found, 0.0, math.inf)
    device = model["device"]
    larger = Margin(model["constraint"].kappa + 0.1 * device.activation.scale)
    assert answer(typical.capacity, device=device, constraint=larger) <= found * (1.0 + 1e-9)


@properties
@given(DEVICES, LOADS)
def test_the_capacity_at_the_largest_margin_is_the_load(device, alpha):
    kappa = answer(typical.max_margin, device=device, alpha=alpha)
    assert not math.isnan(kappa)
    if math.isfinite(kappa):
        capacity = answer(typical.capacity, device=device, constraint=Margin(kappa))
        between("load there", capacity / alpha, 0.999, 1.001)


@properties
@given(models(high=5.0))
def test_the_replicon_is_one_where_replica_symmetry_ends(model):
    load = answer(typical.instability, **model)
    between("load", load, 0.0, math.inf)
    if 1e-6 < load < 1e6:
        replicon = answer(typical.solve, **model, alpha=load).replicon
        between("replicon", replicon, 0.999, 1.001)


@properties
@given(models(high=5.0), st.floats(0.1, 4.0))
def test_groups_of_typical_solutions(model, alpha):
    point = answer(typical.solve_1rsb, **model, alpha=alpha)
    settled(point)
    between("q1 - q0", point.q1 - point.q0, 0.0, 1.0)
    between("m", point.m, 0.0, 1.0)
    if not point.replica_symmetric:
        between("complexity", point.complexity, -ROUNDING, math.inf)


# ------------------------------------------------------------------------------------------------
# Around solutions, and groups of them
# ------------------------------------------------------------------------------------------------


@properties
@given(st.one_of(around(), bands().map(lambda one: one | {"reference": one["constraint"]})),
       DISTANCES, LOADS)  # fmt: skip
def test_surroundings(model, distance, alpha):
    point = answer(franz_parisi.solve, **model, distance=distance, alpha=alpha)
    settled(point)
    between("local entropy", point.local_entropy, -math.inf, point.bound + ROUNDING)
    between("p", point.p, -1e-9, 1.0)
    assert not math.isnan(point.slope)


@properties
@given(around(), ROWS, LOADS)
def test_curves_are_their_points_or_say_why_not(model, distance, alpha):
    curve = answer(franz_parisi.curve, **model, distance=distance, alpha=alpha)
    good = np.asarray(curve.converged)
    assert np.all(np.isfinite(curve.local_entropy[good]))
    assert np.all(np.isnan(curve.local_entropy[~good]))
    assert np.all(curve.reason[~good] != "")
    for d in distance[good]:
        alone = answer(franz_parisi.local_entropy, **model, distance=d, alpha=alpha)
        np.testing.assert_allclose(
            curve.local_entropy.sel(distance=d), alone, rtol=1e-7, atol=1e-9
        )


@properties
@given(st.one_of(models(), bands()), OVERLAPS, LOADS, REPLICAS)
def test_groups(model, overlap, alpha, replicas):
    asked = model | {"overlap": overlap, "alpha": alpha, "replicas": replicas}
    point = answer(large_deviation.solve, **asked)
    settled(point)
    between("local entropy", point.local_entropy, -math.inf, ROUNDING + 1e-15 / (1.0 - overlap))
    between("q0", point.q0, -1e-12, overlap + 1e-12)
    between("spread", point.spread, 0.0, math.inf)
    assert not math.isnan(point.slope)
    for logarithm_of_a_share in (large_deviation.local_entropy, large_deviation.energetic_term):
        between("log share", answer(logarithm_of_a_share, **asked), -math.inf,
                ROUNDING + 1e-15 / (1.0 - overlap))  # fmt: skip


@properties
@given(models(high=3.0), OVERLAPS, LOADS, st.floats(-2.0, 6.0))
def test_replicas_without_complexity_and_their_stabilities(model, overlap, alpha, stability):
    y = answer(large_deviation.zero_complexity_replicas, **model, overlap=overlap, alpha=alpha)
    between("y", y, 1.0, math.inf)
    share = answer(stabilities.cumulative, **model, stability=stability, alpha=alpha)
    between("share", share, 0.0, 1.0 + 1e-9)


@properties
@given(models(high=3.0), LOADS)
def test_overlaps_that_groups_can_have(model, alpha):
    low, high = answer(large_deviation.overlap_range, **model, alpha=alpha)
    between("low", low, 0.0, high)
    assert high == 1.0


@st.composite
def referenced(draw):
    """Return a binary device, a load, and a margin of references that exists there."""
    drawn = {"device": draw(BINARY_DEVICES), "alpha": draw(st.floats(0.05, 0.8))}
    scale = drawn["device"].activation.scale
    most = min(typical.max_margin(**drawn) / scale, 2.0)
    return drawn | {"reference": Margin(draw(st.floats(0.05, 1.0)) * most * scale)}


@properties
@given(referenced())
def test_gaps_lie_between_two_distances(model):
    inner, outer = answer(franz_parisi.gap, **model)
    assert math.isnan(inner) == math.isnan(outer)
    if not math.isnan(inner):
        between("inner", inner, 0.0, outer)
        between("outer", outer, inner, 0.5)
    between("distance", answer(franz_parisi.distance_of_maximum, **model), 0.0, 0.5)


@properties
@given(BINARY_DEVICES, st.floats(0.1, 0.7))
def test_margins_without_a_gap_are_margins_of_solutions(device, alpha):
    most = answer(typical.max_margin, device=device, alpha=alpha)
    for question in (franz_parisi.margin_no_gap, franz_parisi.margin_monotonic):
        found = answer(question, device=device, alpha=alpha)
        if not math.isnan(found):
            between("margin", found, 0.0, most * (1.0 + 1e-6))


# ------------------------------------------------------------------------------------------------
# Teachers, and losses
# ------------------------------------------------------------------------------------------------


@properties
@given(models(TEACHERS.low, TEACHERS.high, BINARY_DEVICES), LOADS)
def test_students(model, alpha):
    point = answer(teacher_student.solve, **model, alpha=alpha)
    settled(point)
    between("q", point.q, 0.0, 1.0 + 1e-12)
    between("entropy", point.entropy, 0.0, math.log(2.0) + ROUNDING)
    between("generalisation error", point.generalisation_error, 0.0, 0.5)


@properties
@given(models(0.0, 3.0, of=BINARY_DEVICES), st.floats(0.05, 1.2), DISTANCES)
def test_teachers(model, alpha, distance):
    """Around them there is room; a larger margin gives them away earlier."""
    device = model["device"]
    asked = {"device": device, "alpha": alpha, "distance": distance}
    bound = franz_parisi.geometric_bound(device, distance) + ROUNDING
    between("local entropy", answer(teacher_student.local_entropy, **asked), -math.inf, bound)
    load = answer(teacher_student.perfect_learning, **model)
    between("load", load, 0.0, 1.6)
    more = Margin(model["constraint"].kappa + 0.1 * device.activation.scale)
    assert answer(teacher_student.perfect_learning, device=device, constraint=more) <= load


@properties
@given(st.data())
def test_students_with_a_margin(data):
    load = data.draw(
        edges(Range.of(margin_students.Load).low, Range.of(margin_students.Load).high)
    )
    perceptron = {"device": Perceptron(), "alpha": load}
    margin = Margin(data.draw(edges(margin_students.MARGIN.low, margin_students.MARGIN.high)))
    settled(answer(margin_students.solve, **perceptron, constraint=margin))
    known = data.draw(edges(1e-6, Range.of(margin_students.Known).high))
    settled(answer(margin_students.solve, **perceptron, constraint=margin, teacher=known))
    overlap = data.draw(edges(0.1, Range.of(margin_students.Overlap).high))
    settled(answer(margin_students.replicas, **perceptron, overlap=overlap))


@properties
@given(BINARY_DEVICES, LOADS, SHARPNESS)
def test_temperatures(device, alpha, gamma):
    """The entropy is zero at the one; what works is the lower of two."""
    asked = {"device": device, "alpha": alpha, "gamma": gamma}
    frozen = answer(cross_entropy.zero_entropy_beta, **asked)
    between("beta", frozen, 0.0, math.inf)
    if math.isfinite(frozen) and frozen < 1e300:
        at = answer(typical.solve, device=device, alpha=alpha,
                    constraint=CrossEntropy(gamma, frozen))  # fmt: skip
        between("entropy there", at.entropy, -1e-4, 1e-4)
    lower = min(frozen, answer(cross_entropy.instability_beta, **asked))
    found = answer(cross_entropy.working_beta, **asked)
    if found != lower:  # both may be infinite; roots of averages that are known to 1e-9
        between("beta", found / lower, 1.0 - 1e-9, 1.0 + 1e-9)


@properties
@given(LOADS, SHARPNESS)
def test_no_temperature(alpha, gamma):
    settled(answer(cross_entropy.zero_temperature, device=Perceptron(), alpha=alpha, gamma=gamma))


@properties
@given(SHARPNESS, st.floats(-50.0, 50.0))
def test_loss_is_close_to_that_of_infinite_sharpness(gamma, stability):
    hardest = cross_entropy.loss(math.inf, stability)
    found = answer(cross_entropy.loss, gamma=gamma, stability=stability)
    between("loss", found - hardest, -1e-12, math.log(2.0) / (2.0 * gamma) + 1e-12)
