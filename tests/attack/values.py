"""What is drawn: numbers inside a range, at its ends and next to them; axes; small instances."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from wfmlib import patterns
from wfmlib.models import (
    Band,
    Binary,
    Committee,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    Ternary,
    TreeCommittee,
)
from wfmlib.models.constraints.band import RANGE as BANDS
from wfmlib.models.constraints.cross_entropy import Sharpness
from wfmlib.models.constraints.margin import RANGE as MARGINS
from wfmlib.models.weights.ternary import ZEROS
from wfmlib.numerics.arguments import Distance, Range
from wfmlib.theory.axes import ResolvedLoad
from wfmlib.theory.large_deviation.free_entropy import Overlap, Replicas

REPLICAS_OF = Range.of(Replicas)
SHARP = Range.of(Sharpness)

WEIGHTS = (Binary(), Spherical())
SEEDS = st.integers(0, 2**32 - 1)


def powers(low, high):
    """Return numbers whose logarithm is spread evenly between those of two."""
    within = st.floats(math.log10(low), math.log10(high))
    return within.map(lambda k: min(max(10.0**k, low), high))


def ends(allowed):
    """Return the numbers of a range that are closest to its ends, and what it allows besides."""
    found = list(allowed.also)
    if math.isfinite(allowed.low):
        found.append(_nearest(allowed.low, math.inf, allowed.low_open, allowed.whole))
    if math.isfinite(allowed.high):
        found.append(_nearest(allowed.high, -math.inf, allowed.high_open, allowed.whole))
    return found


def outside(allowed):
    """Return the numbers that are closest to a range without being in it, infinity and NaN."""
    found = [math.nan, math.inf, -math.inf]
    if math.isfinite(allowed.low):
        found.append(_nearest(allowed.low, -math.inf, not allowed.low_open, allowed.whole))
    if math.isfinite(allowed.high):
        found.append(_nearest(allowed.high, math.inf, not allowed.high_open, allowed.whole))
    same = {str(float(one)) for one in allowed.also}  # as NaN equals nothing
    return [one for one in found if str(float(one)) not in same]


def _nearest(end, towards, beyond, whole):
    """Return an end, or the number next to it."""
    if whole:
        return int(end) + (int(math.copysign(1, towards)) if beyond else 0)
    return math.nextafter(end, towards) if beyond else end


def edges(low, high):
    """Return numbers from `low` to `high`: inside, the two ends, and what is close to an end."""
    near = powers(1e-14, 1e-2).map(lambda share: share * (high - low))
    return st.one_of(
        st.floats(low, high),
        st.sampled_from([low, high]),
        near.map(lambda step: low + step),
        near.map(lambda step: high - step),
    )


def interval(allowed):
    """Return numbers over a range with two ends: inside, at the ends and next to them."""
    inside = edges(allowed.low, allowed.high)
    left_out = [
        end
        for end, out in ((allowed.low, allowed.low_open), (allowed.high, allowed.high_open))
        if out
    ]
    return inside.filter(lambda one: one not in left_out)


def devices(weights=WEIGHTS):
    """Return devices of theory: a perceptron, committees of many sign units or rectifiers."""
    many = (TreeCommittee(math.inf, unit, w) for w in weights for unit in (Sign(), ReLU()))
    return st.sampled_from([*map(Perceptron, weights), *many])


def margins(device, low, high):
    """Return margins from `low` to `high` standard deviations of a preactivation, often zero."""
    usual = st.one_of(st.just(0.0), st.floats(max(low, -0.5), min(high, 1.5)))
    drawn = st.one_of(usual, edges(low, high))
    return drawn.map(lambda kappa: Margin(kappa * device.activation.scale))


@st.composite
def bands(draw):
    """Return a device of any weights, and a band over its range of standard deviations."""
    device = draw(devices((*WEIGHTS, Ternary())))
    kappa = draw(st.one_of(st.floats(0.3, 3.0), edges(*BANDS)))
    return {"device": device, "constraint": Band(kappa * device.activation.scale)}


@st.composite
def ternary(draw, low=MARGINS[0], high=3.0):
    """Return a device with weights of a drawn share of zeros, and a margin."""
    weights = Ternary(draw(st.one_of(st.floats(0.05, 0.9), edges(*ZEROS))))
    device = draw(devices((weights,)))
    return {"device": device, "constraint": draw(margins(device, low, high))}


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


def machines(weights):
    """Return devices of finite size: a perceptron, and three sign units wired either way."""
    committees = TreeCommittee(3, weights=weights), Committee(3, weights=weights)
    return [Perceptron(weights), *committees]


@st.composite
def instances(draw, devices, most_patterns=30, most_weights=31):
    """Return one of the devices, patterns and labels.

    The weights of a unit are odd in number, so that none of them can tie.
    """
    device = draw(st.sampled_from(devices))
    M = 2 * draw(st.integers(0, (most_weights // device.units - 1) // 2)) + 1
    P = draw(st.integers(1, most_patterns))
    N = M * device.units if device.tree else M
    xi, sigma = patterns.random(P, N, rng=draw(SEEDS))
    return {"device": device, "xi": xi, "sigma": sigma}
