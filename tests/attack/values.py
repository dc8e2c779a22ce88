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

WEIGHTS = (Binary(), Spherical())
SEEDS = st.integers(0, 2**32 - 1)


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
def bands(draw, low=0.01, high=10.0):
    """Return a device of any weights, and a band of `low` to `high` standard deviations."""
    device = draw(devices((*WEIGHTS, Ternary())))
    kappa = draw(st.one_of(st.floats(0.3, 3.0), edges(low, high)))
    return {"device": device, "constraint": Band(kappa * device.activation.scale)}


@st.composite
def ternary(draw, low=-2.0, high=3.0):
    """Return a device with weights of a drawn share of zeros, and a margin."""
    weights = Ternary(draw(st.one_of(st.floats(0.05, 0.9), edges(1e-6, 0.99))))
    device = draw(devices((weights,)))
    return {"device": device, "constraint": draw(margins(device, low, high))}


LOADS = st.one_of(st.floats(1e-3, 4.0), powers(1e-7, 100.0))
OVERLAPS = st.one_of(
    st.floats(1e-6, 1.0 - 1e-6), powers(1e-9, 0.1), powers(1e-12, 0.1).map(lambda gap: 1.0 - gap)
)
DISTANCES = st.one_of(powers(1e-12, 0.5), edges(1e-3, 0.5))
REPLICAS = st.one_of(st.just(math.inf), st.integers(1, 10).map(float), powers(1.0, 1e5))


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
