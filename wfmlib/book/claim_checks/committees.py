"""Checks of the claims on hidden units and their capacities (chapters 3 and 5)."""

from __future__ import annotations

import contextlib
import math
from functools import cache

import numpy as np

from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Activation, Binary, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.numerics import gaussian, solvers
from wfmlib.theory import franz_parisi, stabilities, typical

SIGN, RELU = TreeCommittee(np.inf, Sign()), TreeCommittee(np.inf, ReLU())  # spherical weights
BINARY = {
    "Perceptron": Perceptron(),
    "ReLU": TreeCommittee(np.inf, ReLU(), Binary()),
    "Sign": TreeCommittee(np.inf, Sign(), Binary()),
}


def sign_committee_binary_capacity():
    """The load at which the replica-symmetric entropy vanishes, signs' effective overlap."""
    return typical.capacity(BINARY["Sign"])


def relu_committee_binary_capacity():
    """The load at which the replica-symmetric entropy vanishes, rectifiers' effective overlap."""
    return typical.capacity(BINARY["ReLU"])


def relu_stores_less_than_sign():
    """The two capacities."""
    relu, sign = relu_committee_binary_capacity(), sign_committee_binary_capacity()
    return relu < sign, f"{relu:.5f} against {sign:.5f}"


def binary_capacity_below_one():
    """The capacities of four activations: N weights hold N bits, and a pattern asks for one."""
    smooth = TreeCommittee(np.inf, Activation(np.tanh), Binary())
    devices = (BINARY["Perceptron"], BINARY["Sign"], BINARY["ReLU"], smooth)
    capacities = [typical.capacity(device) for device in devices]
    return max(capacities) < 1.0, (
        f"{listed(capacities, 4)} for perceptron, sign units, rectifiers, tanh units"
    )


def spherical_perceptron_capacity():
    """The load at which the replica-symmetric q reaches 1."""
    return typical.capacity(Perceptron(Spherical()))


def relu_committee_spherical_capacity():
    """The load at which the replica-symmetric q reaches 1."""
    return typical.capacity(RELU)


def capacity_from_overlap_slope():
    """The saddle point just below and above that load: perceptron, rectifiers, tanh units."""
    below, above, loads = [], [], []
    for device in (Perceptron(Spherical()), RELU, TreeCommittee(np.inf, Activation(np.tanh))):
        loads.append(2.0 * device.activation.effective_overlap(1.0).slope)
        below.append(1.0 - typical.solve(device, 0.999 * loads[-1]).q)
        with contextlib.suppress(solvers.NotConverged):  # q has reached 1: what is claimed
            above.append(typical.solve(device, 1.001 * loads[-1]).q)
    return max(below) < 1e-3 and not above, (
        f"the formula gives {listed(loads, 4)}; at 0.999 of it 1 - q is "
        f"{', '.join(f'{gap:.0e}' for gap in below)}, at 1.001 of it there is no saddle point"
    )


def relu_overlap_slope():
    """(Δ_2 - Δ)/(1-q) at 1 - q = 1e-6."""
    relu, gap = ReLU(), 1e-6
    return relu.scale**2 * relu.effective_overlap(1.0 - gap, gap).complement / gap


def sign_spherical_capacity_diverges():
    """The effective overlap at q → 1, the saddle point at large loads, and capacities of K units.

    The replica-symmetric capacity of K = 11 to 10^5 + 1 units must grow without slowing down.
    """
    gaps = (1e-6, 1e-8)
    near, nearer = (Sign().effective_overlap(1.0 - gap, gap).complement for gap in gaps)
    power = math.log(near / nearer) / math.log(gaps[0] / gaps[1])
    loads = (10.0, 100.0, 1000.0)
    left = [1.0 - typical.solve(SIGN, load).q for load in loads]
    units = (11, 101, 1001, 10001, 100001)
    capacity = [typical.capacity(TreeCommittee(K)) for K in units]
    slopes = np.diff(np.log(capacity)) / math.log(10.0)
    holds = abs(power - 0.5) < 1e-3 and min(left) > 0.0 and bool(np.all(slopes > 0.4))
    return holds, (
        f"Δ_2 - Δ goes as (1-q)^{power:.3f}; 1-q is {', '.join(f'{gap:.0e}' for gap in left)} at "
        f"α = 10, 100, 1000; K = 11 to 100001 units store {listed(capacity, 1)}"
    )


def smooth_units_finite_capacity():
    """The replica-symmetric capacity for the sigmoid and the error function."""

    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    def error_function(x):
        return 1.0 - 2.0 * gaussian.H(x)

    devices = [TreeCommittee(np.inf, Activation(g)) for g in (sigmoid, error_function)]
    capacities = [typical.capacity(device) for device in devices]
    return all(map(math.isfinite, capacities)), (
        f"{capacities[0]:.4f} for the sigmoid, {capacities[1]:.4f} for the error function"
    )


def sign_committee_spherical_instability():
    """The load at which the replicon reaches 1."""
    return typical.instability(SIGN)


def relu_committee_spherical_instability():
    """The load at which the replicon reaches 1."""
    return typical.instability(RELU)


def relu_committee_1rsb_capacity():
    """The load at which the q1 of one-step replica symmetry breaking reaches 1."""
    return typical.capacity(RELU, ansatz="1RSB")


def sign_committee_rs_scaling():
    """The exact replica-symmetric capacity at K = 101, 1001, 10001, over the square root."""
    units = np.array([101, 1001, 10001])
    capacity = np.array([typical.capacity(TreeCommittee(K)) for K in units])
    ratio = capacity / np.sqrt(72.0 * units / math.pi)
    gap = np.abs(ratio - 1.0)
    # the first correction is of relative order 1 / sqrt(K)
    return bool(np.all(gap * np.sqrt(units) < 3.0) and gap[2] < gap[1] < gap[0]), (
        f"the ratio is {listed(ratio, 4)} at K = 101, 1001, 10001"
    )


@cache
def _gaps(name):
    return [franz_parisi.gap(BINARY[name], load) for load in (0.4, 0.6, 0.8)]


def committee_solutions_isolated():
    """The distance below which the Franz-Parisi entropy is negative, at three loads."""
    edges = {name: _gaps(name) for name in BINARY}
    isolated = all(inner == 0.0 < outer for row in edges.values() for inner, outer in row)
    growing = all(np.all(np.diff([outer for _, outer in row]) > 0.0) for row in edges.values())
    words = "; ".join(
        f"{listed([outer for _, outer in row], 4)} ({name})" for name, row in edges.items()
    )
    return isolated and growing, f"negative below d = {words} at α = 0.4, 0.6, 0.8"


def relu_less_isolated_than_sign():
    """The distance below which the Franz-Parisi entropy is negative, at α = 0.4, 0.6, 0.8."""
    relu, sign = ([outer for _, outer in _gaps(name)] for name in ("ReLU", "Sign"))
    return all(r < s for r, s in zip(relu, sign, strict=True)), (
        f"d = {listed(relu, 4)} for rectifiers, {listed(sign, 4)} for sign units"
    )


def typical_stabilities_peak_at_zero():
    """The density of stabilities on a grid, at load 0.4, for binary and spherical weights."""
    peaks = []
    for device in (*BINARY.values(), Perceptron(Spherical()), RELU, SIGN):
        grid = np.linspace(1e-6, 4.0, 400) * device.activation.scale
        density = stabilities.density(device, 0.4, grid)
        peaks.append(bool(np.argmax(density) == 0))
    state = typical.solve(BINARY["ReLU"], 0.4)
    return all(peaks), (
        f"largest next to 0 in {sum(peaks)} of {len(peaks)} cases at α = 0.4; with rectifiers and "
        f"binary weights it is {state.margin_density:.3f} there"
    )
