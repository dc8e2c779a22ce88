"""Targets in the limit of many weights: what holds at every saddle point."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from tests.attack.target import Target, between
from tests.attack.values import (
    ACTIVATIONS,
    DISTANCES,
    LOADS,
    OVERLAPS,
    REPLICAS,
    WEIGHTS,
    edges,
    powers,
    units_of,
)
from wfmlib.theory import (
    CrossEntropy,
    Margin,
    cross_entropy,
    finite_committee,
    franz_parisi,
    large_deviation,
    margin_students,
    stabilities,
    teacher_student,
    typical,
)

ROUNDING = 1e-8  # of an entropy, in nats per weight


@st.composite
def model(draw, low=-2.0, high=10.0, margin="margin"):
    """Return weights and activation, and a margin under the name that the question gives it."""
    weights, activation = draw(WEIGHTS), draw(ACTIVATIONS)
    kappa = draw(units_of(activation, low, high))
    given = {"constraint": Margin(kappa), "reference": Margin(kappa)}.get(margin, kappa)
    return {"weights": weights, "activation": activation, margin: given}


def arguments(axes, **drawn):
    """Return the arguments of a question: those of its axes, and its own."""
    return st.builds(lambda held, own: own | held, axes, st.fixed_dictionaries(drawn))


def settled(point, tolerance=1e-6):
    """Hold that a saddle point is one."""
    assert point.report.converged
    between("residual", point.report.residual, 0.0, tolerance)


# ------------------------------------------------------------------------------------------------
# Typical solutions
# ------------------------------------------------------------------------------------------------


def check_typical(point, alpha, weights, **axes):
    settled(point)
    between("q", point.q, 0.0, 1.0)
    between("entropy", point.entropy, -math.inf, weights.entropy + ROUNDING)
    between("replicon", point.replicon, 0.0, math.inf)


def check_gibbs(point, alpha, weights, **axes):
    check_typical(point, alpha, weights)
    between("energy", point.energy, 0.0, math.inf)
    between("error rate", point.error_rate, 0.0, 0.5 + 1e-9)


def two_loads(alpha, step, **axes):
    return typical.solve(alpha, **axes), typical.solve(alpha * (1.0 + step), **axes)


def check_falls(points, **_):
    """More patterns leave fewer solutions, which are closer to each other."""
    few, many = points
    assert many.entropy <= few.entropy + ROUNDING
    assert many.q >= few.q - 1e-9


def check_capacity(found, weights, activation, margin):
    between("capacity", found, 0.0, math.inf)
    harder = typical.capacity(weights, activation, margin + 0.1 * activation.scale)
    assert harder <= found * (1.0 + 1e-9), "a larger margin has the larger capacity"


def check_largest(kappa, alpha, weights, activation):
    """The capacity at the largest margin is the load."""
    assert not math.isnan(kappa)
    if math.isfinite(kappa):
        between("load there", typical.capacity(weights, activation, kappa) / alpha, 0.999, 1.001)


LOSS = st.builds(
    CrossEntropy, st.one_of(st.just(math.inf), powers(1e-3, 1e6)), powers(1e-6, 1e8)
).map(lambda constraint: {"constraint": constraint})
GIBBS = st.builds(lambda one, other: one | other, model(), LOSS).map(
    lambda d: {name: d[name] for name in ("weights", "activation", "constraint")}
)
TYPICAL = [
    Target(typical.solve, arguments(model(margin="constraint"), alpha=LOADS), check_typical),
    Target(typical.solve, arguments(GIBBS, alpha=LOADS), check_gibbs),
    Target(
        two_loads,
        arguments(model(high=4.0, margin="constraint"), alpha=LOADS, step=powers(1e-3, 1.0)),
        check_falls,
        (typical.solve,),
    ),
    Target(typical.capacity, model(high=5.0), check_capacity),
    Target(
        typical.max_margin,
        st.fixed_dictionaries({"alpha": LOADS, "weights": WEIGHTS, "activation": ACTIVATIONS}),
        check_largest,
    ),
    Target(
        finite_committee.solve,
        st.fixed_dictionaries({"alpha": edges(0.0, 3.9)}),
        lambda point, alpha: settled(point),
    ),
]

# ------------------------------------------------------------------------------------------------
# Around solutions, and groups of them
# ------------------------------------------------------------------------------------------------


@st.composite
def around(draw):
    """Return axes with the margins of the reference and of those around it."""
    axes = draw(model(high=3.0, margin="reference"))
    return axes | {"margin": draw(units_of(axes["activation"], -2.0, 3.0))}


def check_around(point, distance, alpha, **axes):
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


def curve_and_points(distance, **axes):
    """Return the local entropy at distances asked for together, and one by one."""
    return franz_parisi.local_entropy(distance, **axes), [
        franz_parisi.local_entropy(one, **axes) for one in distance
    ]


def check_same(found, **_):
    together, alone = found
    np.testing.assert_allclose(together, alone, rtol=1e-7, atol=1e-9)


def check_group(point, overlap, alpha, **axes):
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
        arguments(model(margin="constraint"), stability=st.floats(-2.0, 6.0), alpha=LOADS),
        lambda share, **_: between("share", share, 0.0, 1.0 + 1e-9),
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


def check_beta(beta, alpha, gamma, activation):
    """At this temperature the entropy is zero."""
    between("beta", beta, 0.0, math.inf)
    if math.isfinite(beta) and beta < 1e300:
        at = typical.solve(alpha, activation=activation, constraint=CrossEntropy(gamma, beta))
        between("entropy there", at.entropy, -1e-4, 1e-4)


@st.composite
def taught(draw):
    """Return an activation and a margin of teacher and student."""
    activation = draw(ACTIVATIONS)
    return {
        "activation": activation,
        "constraint": Margin(draw(units_of(activation, -2.0, 12.0))),
    }


TAUGHT = [
    Target(teacher_student.solve, arguments(taught(), alpha=LOADS), check_student),
    Target(
        margin_students.solve,
        st.fixed_dictionaries({"alpha": edges(0.1, 1.2), "margin": edges(0.0, 1.0)}),
        lambda point, **_: settled(point),
    ),
    Target(
        cross_entropy.zero_entropy_beta,
        st.fixed_dictionaries(
            {"alpha": LOADS, "gamma": powers(1e-3, 1e6), "activation": ACTIVATIONS}
        ),
        check_beta,
    ),
    Target(
        cross_entropy.zero_temperature,
        st.fixed_dictionaries({"alpha": LOADS, "gamma": powers(1e-3, 1e6)}),
        lambda point, **_: settled(point),
    ),
]

TARGETS = [*TYPICAL, *DENSE, *TAUGHT]
