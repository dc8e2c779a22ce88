"""What the tests of properties draw, and how they call: see `test_properties_*.py`.

A property holds of any answer, without knowing the answer: bounds, order, residuals, agreement
with another way to ask. Arguments are drawn over the documented ranges, to their edges. What may
come of a call is an answer, `NotConverged`, or a refusal that names an argument.
"""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
from hypothesis import reject, settings
from hypothesis import strategies as st

from wfmlib import learning, patterns
from wfmlib.models import (
    Band,
    Binary,
    Committee,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
)
from wfmlib.models.constraints.band import RANGE as BANDS
from wfmlib.models.constraints.cross_entropy_loss import Sharpness
from wfmlib.models.constraints.margin import RANGE as MARGINS
from wfmlib.numerics.arguments import Distance, Range
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory.axes import ResolvedLoad
from wfmlib.theory.large_deviation.real_replicas_entropy import Overlap, Replicas

REPLICAS_OF = Range.of(Replicas)
SHARP = Range.of(Sharpness)

# These calls are long: two of each property in `make test`, two hundred in `make properties`.
properties = settings(max_examples=settings().max_examples // 50)


def answer(call, **arguments):
    """Return what a function answers; drop the example where it refuses with a reason.

    Another exception, a warning, a refusal that names no argument, and an argument that the call
    has changed are defects.
    """
    kept = copy.deepcopy(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for expected in (learning.NoSolution, learning.NotSettled):
                warnings.simplefilter("ignore", expected)
            warnings.filterwarnings("ignore", "(?s).*NaN there", RuntimeWarning)  # with the reason
            found = call(**arguments)
    except NotConverged:
        reject()
    except (TypeError, ValueError) as error:
        if not any(name in str(error) for name in arguments) or "must" not in str(error):
            raise
        reject()
    for name, value in kept.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, arguments[name], equal_nan=True), f"{name} was changed"
    return found


def between(name, value, low, high):
    """Hold that numbers are in a range; NaN is in none."""
    assert np.all((np.asarray(value) >= low) & (np.asarray(value) <= high)), f"{name} = {value}"


# ------------------------------------------------------------------------------------------------
# Numbers
# ------------------------------------------------------------------------------------------------


def powers(low, high):
    """Return numbers whose logarithm is spread evenly between those of two."""
    within = st.floats(math.log10(low), math.log10(high))
    return within.map(lambda k: min(max(10.0**k, low), high))


def edges(low, high):
    """Return numbers from `low` to `high`: inside, the two ends, and what is close to an end."""
    near = powers(1e-14, 1e-2).map(lambda share: share * (high - low))
    return st.one_of(
        st.floats(low, high),
        st.sampled_from([low, high]),
        near.map(lambda step: low + step),
        near.map(lambda step: high - step),
    )


SEEDS = st.integers(0, 2**32 - 1)
LOADS = st.one_of(st.floats(1e-3, 4.0), powers(Range.of(ResolvedLoad).low, 100.0))
OVERLAPS = st.one_of(
    st.floats(1e-6, 1.0 - 1e-6),
    powers(Range.of(Overlap).low, 0.1),
    powers(1e-12, 0.1).map(lambda gap: Range.of(Overlap).high - gap),
)
DISTANCES = st.one_of(powers(1e-12, Range.of(Distance).high), edges(1e-3, Range.of(Distance).high))
REPLICAS = st.one_of(
    st.sampled_from(REPLICAS_OF.also),
    st.integers(1, 10).map(float),
    powers(REPLICAS_OF.low, REPLICAS_OF.high),
)
SHARPNESS = powers(SHARP.low, SHARP.high)

# ------------------------------------------------------------------------------------------------
# Devices in the limit of many weights
# ------------------------------------------------------------------------------------------------


def devices(*weights):
    """Return devices of theory: a perceptron, committees of many sign units or rectifiers."""
    many = (TreeCommittee(math.inf, unit, w) for w in weights for unit in (Sign(), ReLU()))
    return st.sampled_from([*map(Perceptron, weights), *many])


BINARY_DEVICES = devices(Binary())
DEVICES = devices(Binary(), Spherical())


def margins(device, low, high):
    """Return margins from `low` to `high` standard deviations of a preactivation, often zero."""
    usual = st.one_of(st.just(0.0), st.floats(max(low, -0.5), min(high, 1.5)))
    drawn = st.one_of(usual, edges(low, high))
    return drawn.map(lambda kappa: Margin(kappa * device.activation.scale))


@st.composite
def models(draw, low=MARGINS[0], high=10.0, of=DEVICES):
    """Return a device and a margin, by name."""
    device = draw(of)
    return {"device": device, "constraint": draw(margins(device, low, high))}


@st.composite
def around(draw):
    """Return a device with the margins of the reference and of those around it."""
    drawn = draw(models(high=3.0))
    return drawn | {"reference": draw(margins(drawn["device"], MARGINS[0], 3.0))}


@st.composite
def bands(draw):
    """Return a device, and a band over its range of standard deviations."""
    device = draw(DEVICES)
    kappa = draw(st.one_of(st.floats(0.3, 3.0), edges(*BANDS)))
    return {"device": device, "constraint": Band(kappa * device.activation.scale)}


# ------------------------------------------------------------------------------------------------
# Machines and instances of finite size
# ------------------------------------------------------------------------------------------------


def machines(weights):
    """Return devices of finite size: a perceptron, and three sign units wired either way."""
    committees = TreeCommittee(3, weights=weights), Committee(3, weights=weights)
    return [Perceptron(weights), *committees]


REAL, BINARY = machines(Spherical()), machines(Binary())


@st.composite
def instances(draw, devices, most_patterns=30, most_weights=31):
    """Return one of the devices, patterns and labels, by name.

    The weights of a unit are odd in number, so that none of them can tie.
    """
    device = draw(st.sampled_from(devices))
    M = 2 * draw(st.integers(0, (most_weights // device.units - 1) // 2)) + 1
    P = draw(st.integers(1, most_patterns))
    N = M * device.units if device.tree else M
    xi, sigma = patterns.random(P, N, rng=draw(SEEDS))
    return {"device": device, "xi": xi, "sigma": sigma}


@st.composite
def weighted(draw):
    """Return an instance with a network on it: of weights +-1, or real ones."""
    drawn = draw(instances(REAL + BINARY))
    device, rng = drawn.pop("device"), np.random.default_rng(draw(SEEDS))
    shape = device.shape(drawn["xi"].shape[1])
    w = rng.choice([-1, 1], shape) if device.weights.discrete else rng.standard_normal(shape)
    return {"solution": device.network(w)} | drawn
