"""What is drawn: numbers inside a range, at its ends and next to them; axes; small instances."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from wfmlib import patterns
from wfmlib.theory import Binary, Perceptron, ReLU, Sign, Spherical

WEIGHTS = st.sampled_from([Binary(), Spherical()])
ACTIVATIONS = st.sampled_from([Perceptron(), Sign(), ReLU()])
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


def units_of(activation, low, high):
    """Return margins from `low` to `high` standard deviations of a preactivation, often zero."""
    usual = st.one_of(st.just(0.0), st.floats(max(low, -0.5), min(high, 1.5)))
    return st.one_of(usual, edges(low, high)).map(lambda kappa: kappa * activation.scale)


LOADS = st.one_of(st.floats(1e-3, 4.0), powers(1e-7, 100.0))
OVERLAPS = st.one_of(
    st.floats(1e-6, 1.0 - 1e-6), powers(1e-9, 0.1), powers(1e-12, 0.1).map(lambda gap: 1.0 - gap)
)
DISTANCES = st.one_of(powers(1e-12, 0.5), edges(1e-3, 0.5))
REPLICAS = st.one_of(st.just(math.inf), st.integers(1, 10).map(float), powers(1.0, 1e5))


@st.composite
def instances(draw, most_patterns=30, most_weights=31, units=(1,)):
    """Return patterns, labels, the number of units and whether they see disjoint inputs.

    The weights of a unit are odd in number, so that none of them can tie.
    """
    K = draw(st.sampled_from(units))
    tree = draw(st.booleans())
    M = 2 * draw(st.integers(0, (most_weights // K - 1) // 2)) + 1
    P = draw(st.integers(1, most_patterns))
    xi, sigma = patterns.random(P, K * M if tree else M, seed=draw(SEEDS))
    return {"xi": xi, "sigma": sigma, "units": K, "tree": tree}
