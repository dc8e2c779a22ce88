"""Targets of theory that return a load, a margin, a distance: what holds at each."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from tests.attack.target import Target, between
from tests.attack.theory import (
    BINARY_DEVICES,
    DEVICES,
    ROUNDING,
    arguments,
    model,
    of_perceptron,
    settled,
)
from tests.attack.values import (
    DISTANCES,
    LOADS,
    OVERLAPS,
    REPLICAS,
    SHARPNESS,
    edges,
    interval,
    powers,
)
from wfmlib import learning
from wfmlib.models import Margin
from wfmlib.numerics.arguments import Distance, Range
from wfmlib.theory import (
    cross_entropy,
    franz_parisi,
    franz_parisi_1rsb,
    large_deviation,
    margin_students,
    teacher_student,
    typical,
)
from wfmlib.theory.margin_students import students

BINARY_LOADS = st.floats(0.05, 0.8)


def positive(found, **_):
    between("answer", found, 0.0, math.inf)


def check_instability(found, device, constraint):
    """The replicon is 1 there, or never."""
    between("load", found, 0.0, math.inf)
    if 1e-6 < found < 1e6:
        between("replicon", typical.solve(device, found, constraint).replicon, 0.999, 1.001)


def check_groups(point, **_):
    settled(point)
    between("q1 - q0", point.q1 - point.q0, 0.0, 1.0)
    between("m", point.m, 0.0, 1.0)
    if not point.replica_symmetric:
        between("complexity", point.complexity, -ROUNDING, math.inf)


def check_gap(found, **_):
    """There is none, or it lies between two distances."""
    inner, outer = found
    assert math.isnan(inner) == math.isnan(outer)
    if not math.isnan(inner):
        between("inner", inner, 0.0, outer)
        between("outer", outer, inner, 0.5)


def check_margins(found, device, alpha, **_):
    """A margin that solutions have at this load."""
    if not math.isnan(found):
        between("margin", found, 0.0, typical.max_margin(device, alpha) * (1.0 + 1e-6))


def check_range(found, device, alpha, constraint):
    low, high = found
    between("low", low, 0.0, high)
    assert high == 1.0
    inside = low + 0.5 * (1.0 - low)
    if inside < 1.0 - 1e-6:
        share = large_deviation.local_entropy(device, alpha, inside, constraint=constraint)
        between("local entropy", share, -math.inf, ROUNDING)


def check_below_zero(found, **_):
    between("log share", found, -math.inf, ROUNDING)


def check_local_entropy(found, device, distance, **_):
    between(
        "local entropy",
        found,
        -math.inf,
        franz_parisi.geometric_bound(device, distance) + ROUNDING,
    )


def check_error(found, overlap):
    """It falls from 1 to 0 as students and teacher come to agree."""
    between("error", found, 0.0, 1.0)
    assert teacher_student.generalisation_error(-overlap) + found - 1.0 < 1e-12


def check_perfect(found, device, constraint):
    """A larger margin gives the teacher away earlier."""
    between("load", found, 0.0, 1.6)
    more = Margin(constraint.kappa + 0.1 * device.activation.scale)
    assert teacher_student.perfect_learning(device, constraint=more) <= found


def check_loss(found, gamma, stability):
    """Never below that of infinite sharpness, and larger for the opposite answer."""
    hardest = cross_entropy.loss(math.inf, stability)
    between("loss", found - hardest, -1e-12, math.log(2.0) / (2.0 * gamma) + 1e-12)


def check_working(found, device, alpha, gamma):
    both = [
        question(device, alpha, gamma)
        for question in (cross_entropy.zero_entropy_beta, cross_entropy.instability_beta)
    ]
    if found != min(both):  # both may be infinite
        # roots are each found on its own, of averages known to 1e-9 (`CrossEntropy`)
        between("beta", found / min(both), 1.0 - 1e-9, 1.0 + 1e-9)


def check_frozen_or_not(point, **_):
    settled(point)
    between("p1", point.p1, point.p0, 1.0)
    between("m", point.m, 0.0, 1.0)


def check_survey(survey, m, **_):
    """Every state is one, at an m that was asked for."""
    for state in survey.states:
        settled(state)
        assert state.m in m
        between("p1 - p0", state.difference, 0.0, 1.0)
        between("p1", state.p0 + state.difference, -1.0, 1.0 + 1e-12)


def check_rising(found, **_):
    """Couplings rise, or pairs of couplings and replicas do."""
    first = np.asarray(found).reshape(len(found), -1)[:, 0]
    assert np.all(np.diff(first) > 0.0)
    assert not np.any(np.isnan(found))


@st.composite
def referenced(draw):
    """Return a binary device, a load, and a margin of references that exists there."""
    drawn = {"device": draw(BINARY_DEVICES), "alpha": draw(BINARY_LOADS)}
    most = min(typical.max_margin(**drawn) / drawn["device"].activation.scale, 2.0)
    share = draw(st.one_of(st.floats(0.05, 1.0), st.just(1.0)))
    return drawn | {"reference": Margin(share * most * drawn["device"].activation.scale)}


TEACHERS = {"device": BINARY_DEVICES}
TARGETS = [
    Target(typical.instability, model(high=5.0), check_instability),
    Target(
        typical.last_margin,
        st.fixed_dictionaries({"device": DEVICES, "alpha": LOADS}),
        lambda found, **_: between("margin", found, -math.inf, math.inf),
    ),
    Target(
        typical.solve_1rsb, arguments(model(high=5.0), alpha=st.floats(0.1, 4.0)), check_groups
    ),
    Target(franz_parisi.distance_of_maximum, referenced(), lambda d, **_: between("d", d, 0, 0.5)),
    Target(franz_parisi.gap, referenced(), check_gap),
    *(
        Target(
            question,
            st.fixed_dictionaries({"device": BINARY_DEVICES, "alpha": st.floats(0.1, 0.7)}),
            check_margins,
        )
        for question in (franz_parisi.margin_no_gap, franz_parisi.margin_monotonic)
    ),
    *(
        Target(question, st.fixed_dictionaries({"device": BINARY_DEVICES}), positive)
        for question in (
            franz_parisi.dense_threshold,
            franz_parisi.gapless_threshold,
            large_deviation.dense_threshold,
        )
    ),
    Target(large_deviation.overlap_range, arguments(model(high=3.0), alpha=LOADS), check_range),
    *(
        Target(
            question,
            arguments(model(high=3.0), overlap=OVERLAPS, alpha=LOADS, replicas=REPLICAS),
            check_below_zero,
        )
        for question in (large_deviation.local_entropy, large_deviation.energetic_term)
    ),
    Target(
        franz_parisi_1rsb.solve,
        of_perceptron(alpha=BINARY_LOADS, distance=DISTANCES, m=st.floats(0.05, 1.0)),
        check_frozen_or_not,
    ),
    Target(
        franz_parisi_1rsb.search,
        of_perceptron(
            alpha=BINARY_LOADS,
            distance=st.floats(1e-3, 0.5),
            m=st.lists(st.floats(0.05, 1.0), min_size=1, max_size=2),
        ),
        check_survey,
    ),
    Target(
        teacher_student.local_entropy,
        st.fixed_dictionaries(TEACHERS | {"alpha": st.floats(0.05, 1.2), "distance": DISTANCES}),
        check_local_entropy,
    ),
    Target(
        teacher_student.generalisation_error,
        st.fixed_dictionaries({"overlap": interval(Range(-1.0, 1.0))}),
        check_error,
    ),
    Target(
        teacher_student.max_margin,
        st.fixed_dictionaries(TEACHERS | {"alpha": st.floats(Range(0.05).low, 1.2)}),
        positive,
    ),
    Target(teacher_student.perfect_learning, model(0.0, 3.0, drawn=BINARY_DEVICES), check_perfect),
    Target(teacher_student.dense_threshold, st.fixed_dictionaries(TEACHERS), positive),
    Target(margin_students.max_margin, of_perceptron(alpha=interval(Range(0.55, 1.2))), positive),
    Target(
        margin_students.surroundings,
        of_perceptron(
            alpha=interval(Range.of(students.Load)),
            distance=edges(1e-3, Range.of(Distance).high),
            reference=st.just(Margin(0.05)),
        ),
        lambda point, **_: settled(point),
    ),
    Target(
        margin_students.replicas,
        of_perceptron(
            alpha=interval(Range.of(students.Load)),
            overlap=edges(0.1, Range.of(students.Overlap).high),
        ),
        lambda point, **_: settled(point),
    ),
    Target(
        cross_entropy.loss,
        st.fixed_dictionaries({"gamma": SHARPNESS, "stability": st.floats(-50.0, 50.0)}),
        check_loss,
    ),
    Target(
        cross_entropy.working_beta,
        st.fixed_dictionaries({"device": BINARY_DEVICES, "alpha": LOADS, "gamma": SHARPNESS}),
        check_working,
        (cross_entropy.working_beta, cross_entropy.instability_beta),
    ),
    Target(
        learning.exponential,
        st.fixed_dictionaries(
            {
                "first": powers(1e-3, 1.0),
                "last": powers(1.5, 100.0),
                "steps": st.integers(2, 40),
            }
        ),
        check_rising,
    ),
    Target(
        learning.atanh_steps,
        st.fixed_dictionaries({"steps": st.integers(2, 40), "cap": powers(5.0, 100.0)}),
        check_rising,
    ),
]
