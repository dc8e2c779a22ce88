"""Targets in the limit of many weights: what holds at every saddle point."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from tests.attack.target import Target, between
from tests.attack.values import (
    DISTANCES,
    LOADS,
    MARGINS,
    OVERLAPS,
    REPLICAS,
    SHARP,
    SHARPNESS,
    bands,
    devices,
    interval,
    margins,
    powers,
    ternary,
)
from wfmlib.models import Binary, CrossEntropy, Margin, Perceptron, Ternary, TreeCommittee
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
from wfmlib.theory.margin_students import students
from wfmlib.theory.teacher_student import TEACHERS

ROUNDING = 1e-8  # of an entropy, in nats per weight


DEVICES, BINARY_DEVICES = devices(), devices((Binary(),))


@st.composite
def model(draw, low=MARGINS[0], high=10.0, drawn=DEVICES):
    """Return a device and a margin."""
    device = draw(drawn)
    return {"device": device, "constraint": draw(margins(device, low, high))}


def arguments(model, **drawn):
    """Return the arguments of a question: device and constraint, and its own."""
    return st.builds(lambda held, own: own | held, model, st.fixed_dictionaries(drawn))


def settled(point, tolerance=1e-6):
    """Hold that a saddle point is one."""
    assert point.report.converged
    between("residual", point.report.residual, 0.0, tolerance)


# ------------------------------------------------------------------------------------------------
# Typical solutions
# ------------------------------------------------------------------------------------------------


def check_typical(point, device, **_):
    settled(point)
    between("q", point.q, 0.0, 1.0)
    between("entropy", point.entropy, -math.inf, device.weights.entropy + ROUNDING)
    between("replicon", point.replicon, 0.0, math.inf)


def check_gibbs(point, device, **_):
    check_typical(point, device)
    between("energy", point.energy, 0.0, math.inf)
    between("error rate", point.error_rate, 0.0, 0.5 + 1e-9)


def two_loads(device, alpha, step, constraint):
    return [typical.solve(device, load, constraint) for load in (alpha, alpha * (1.0 + step))]


def check_falls(points, **_):
    """More patterns leave fewer solutions, which are closer to each other."""
    few, many = points
    assert many.entropy <= few.entropy + ROUNDING
    assert many.q >= few.q - 1e-9


def check_capacity(found, device, constraint):
    between("capacity", found, 0.0, math.inf)
    larger = Margin(constraint.kappa + 0.1 * device.activation.scale)
    harder = typical.capacity(device, constraint=larger)
    assert harder <= found * (1.0 + 1e-9), "a larger margin has the larger capacity"


def check_largest(kappa, device, alpha):
    """The capacity at the largest margin is the load."""
    assert not math.isnan(kappa)
    if math.isfinite(kappa):
        capacity = typical.capacity(device, constraint=Margin(kappa))
        between("load there", capacity / alpha, 0.999, 1.001)


LOSS = st.builds(
    CrossEntropy, st.one_of(st.sampled_from(SHARP.also), SHARPNESS), powers(1e-6, 1e8)
)
GIBBS = st.fixed_dictionaries({"device": DEVICES, "constraint": LOSS})
TYPICAL = [
    Target(typical.solve, arguments(model(), alpha=LOADS), check_typical),
    Target(typical.solve, arguments(GIBBS, alpha=LOADS), check_gibbs),
    Target(
        two_loads,
        arguments(model(high=4.0), alpha=LOADS, step=powers(1e-3, 1.0)),
        check_falls,
        (typical.solve,),
    ),
    Target(typical.capacity, model(high=5.0), check_capacity),
    Target(
        typical.max_margin,
        st.fixed_dictionaries({"device": DEVICES, "alpha": LOADS}),
        check_largest,
    ),
    Target(
        typical.solve,
        st.fixed_dictionaries(
            {"device": st.just(TreeCommittee(3)), "alpha": interval(Range.of(Symmetric))}
        ),
        lambda point, **_: settled(point),
    ),
]

# ------------------------------------------------------------------------------------------------
# Around solutions, and groups of them
# ------------------------------------------------------------------------------------------------


@st.composite
def around(draw):
    """Return a device with the margins of the reference and of those around it."""
    drawn = draw(model(high=3.0))
    return drawn | {"reference": draw(margins(drawn["device"], MARGINS[0], 3.0))}


def check_around(point, **_):
    settled(point)
    between("local entropy", point.local_entropy, -math.inf, point.bound + ROUNDING)
    between("p", point.p, -1e-9, 1.0)
    assert not math.isnan(point.slope)


def check_curve(curve, **_):
    """Where there is no number there is a reason, and the other way round."""
    good = np.asarray(curve.converged)
    assert np.all(np.isfinite(curve.local_entropy[good]))
    assert np.all(np.isnan(curve.local_entropy[~good]))
    assert np.all(curve.reason[~good] != "")


def curve_and_points(distance, **model):
    """Return the local entropy at distances asked for together, and one by one."""
    return franz_parisi.local_entropy(distance=distance, **model), [
        franz_parisi.local_entropy(distance=one, **model) for one in distance
    ]


def check_same(found, **_):
    together, alone = found
    np.testing.assert_allclose(together, alone, rtol=1e-7, atol=1e-9)


def check_group(point, overlap, **_):
    settled(point)
    between("local entropy", point.local_entropy, -math.inf, ROUNDING + 1e-15 / (1.0 - overlap))
    between("q0", point.q0, -1e-12, overlap + 1e-12)
    between("spread", point.spread, 0.0, math.inf)
    assert not math.isnan(point.slope)


ROWS = st.lists(DISTANCES, min_size=2, max_size=6, unique=True).map(sorted).map(np.array)
DENSE = [
    Target(franz_parisi.solve, arguments(around(), distance=DISTANCES, alpha=LOADS), check_around),
    Target(franz_parisi.curve, arguments(around(), distance=ROWS, alpha=LOADS), check_curve),
    Target(
        curve_and_points,
        arguments(around(), distance=ROWS, alpha=LOADS),
        check_same,
        (franz_parisi.local_entropy,),
    ),
    Target(
        large_deviation.solve,
        arguments(model(), overlap=OVERLAPS, alpha=LOADS, replicas=REPLICAS),
        check_group,
    ),
    Target(
        large_deviation.zero_complexity_replicas,
        arguments(model(high=3.0), overlap=OVERLAPS, alpha=LOADS),
        lambda y, **_: between("y", y, 1.0, math.inf),
    ),
    Target(
        stabilities.cumulative,
        arguments(model(), stability=st.floats(-2.0, 6.0), alpha=LOADS),
        lambda share, **_: between("share", share, 0.0, 1.0 + 1e-9),
    ),
]

# ------------------------------------------------------------------------------------------------
# Bands, and weights that may be zero
# ------------------------------------------------------------------------------------------------


def around_its_like(model):
    """Return the arguments of solutions around one that meets the same constraint."""
    return model.map(lambda drawn: drawn | {"reference": drawn["constraint"]})


FEW = st.one_of(
    st.just(math.inf), st.floats(1.0, Ternary.most_replicas)
)  # replicas, with ternary weights
MEMBERS = [
    Target(typical.solve, arguments(bands(), alpha=LOADS), check_typical),
    Target(typical.solve, arguments(ternary(), alpha=LOADS), check_typical),
    *(
        Target(
            franz_parisi.solve,
            arguments(around_its_like(drawn), distance=DISTANCES, alpha=LOADS),
            check_around,
        )
        for drawn in (bands(), ternary())
    ),
    *(
        Target(
            large_deviation.solve,
            arguments(drawn, overlap=OVERLAPS, alpha=LOADS, replicas=FEW),
            check_group,
        )
        for drawn in (bands(), ternary())
    ),
]

# ------------------------------------------------------------------------------------------------
# Teachers, and losses
# ------------------------------------------------------------------------------------------------


def check_student(point, **_):
    settled(point)
    between("q", point.q, 0.0, 1.0 + 1e-12)
    between("entropy", point.entropy, 0.0, math.log(2.0) + ROUNDING)
    between("generalisation error", point.generalisation_error, 0.0, 0.5)


def check_beta(beta, device, alpha, gamma):
    """At this temperature the entropy is zero."""
    between("beta", beta, 0.0, math.inf)
    if math.isfinite(beta) and beta < 1e300:
        at = typical.solve(device, alpha, CrossEntropy(gamma, beta))
        between("entropy there", at.entropy, -1e-4, 1e-4)


def of_perceptron(**drawn):
    """Return the arguments of a question that is solved for the binary perceptron alone."""
    return st.fixed_dictionaries({"device": st.just(Perceptron()), **drawn})


TAUGHT = [
    Target(
        teacher_student.solve,
        arguments(model(TEACHERS.low, TEACHERS.high, BINARY_DEVICES), alpha=LOADS),
        check_student,
    ),
    Target(
        margin_students.solve,
        of_perceptron(
            alpha=interval(Range.of(students.Load)),
            constraint=interval(students.MARGIN).map(Margin),
        ),
        lambda point, **_: settled(point),
    ),
    Target(
        cross_entropy.zero_entropy_beta,
        st.fixed_dictionaries({"device": BINARY_DEVICES, "alpha": LOADS, "gamma": SHARPNESS}),
        check_beta,
    ),
    Target(
        cross_entropy.zero_temperature,
        of_perceptron(alpha=LOADS, gamma=SHARPNESS),
        lambda point, **_: settled(point),
    ),
]

TARGETS = [*TYPICAL, *DENSE, *MEMBERS, *TAUGHT]
