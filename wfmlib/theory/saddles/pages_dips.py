"""Margins at which the surroundings of solutions change character, as kernels for the pages.

`franz_parisi.margin_no_gap` and `franz_parisi.margin_monotonic` find the same margins. Here, too,
two equations in the distance and the margin are solved, from the same guess (`franz_parisi.dips`);
whether another dip lies lower is not asked again: over loads from 0.02 to 0.74 there was none.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian
from wfmlib.numerics.zeros import FOUND, NO_ZERO, first_zero
from wfmlib.theory.saddles.pages import binary_capacity, binary_point
from wfmlib.theory.saddles.pages_reference import (
    STATE,
    UNSETTLED,
    binary_around,
    binary_begun,
)

STRIDE = 1e-3  # in ln d, for the second derivative, as `franz_parisi.dips`
SHIFT = 1e-5  # of both unknowns, for the first matrix of derivatives
ENOUGH, LEFT = 1e-10, 1e-6  # the step that ends the search, and what it may leave of the equations
FINEST = 1e-4  # guesses of the margin go down to it
# a search whose function searches: numba would compile the other into itself
outer_zero = njit(error_model="numpy")(first_zero.py_func)


@njit(error_model="numpy")
def _room(kappa, alpha):
    return math.log(binary_capacity(kappa)[2] / alpha)


@njit(error_model="numpy")
def binary_largest(alpha):
    """Return ``(ended, residual, kappa)``: the largest margin of solutions, `max_margin`."""
    kappa, residual, ended = outer_zero(_room, alpha, -2.0, 1e4, 0.5, 1e-13, 1e-6)
    return float(ended), residual, kappa


@njit(error_model="numpy")
def guess(which, alpha, kappa):
    """Return place and ln(kt - kappa) where a dip is zero, nearly, as `dips.estimate`."""
    density = binary_point(alpha, kappa)[6]
    count, steps = 1201, 300
    step = 12.0 / (count - 1)
    losses = np.zeros(count)
    for i in range(count - 1, -1, -1):
        beyond = losses[i + 1] if i + 1 < count else 0.0
        losses[i] = beyond - gaussian.log_H(-step * i) * step
    low, high = math.log(1e-8), math.log(0.1)
    stride = (high - low) / (steps - 1)
    height = np.empty(steps)
    for k in range(80):
        difference = math.log(2.0) + (math.log(FINEST) - math.log(2.0)) * k / 79.0
        for i in range(steps):
            place = low + stride * i
            distance = math.exp(place)
            width = math.sqrt(4.0 * distance)
            u = math.exp(difference) / width / step
            j = int(min(u, 1e9))
            lost = 0.0
            if j + 1 < count:
                lost = losses[j] + (u - j) * (losses[j + 1] - losses[j])
            height[i] = distance * (1.0 - place) - alpha * density * width * lost
        best, at = math.inf, math.nan
        for i in range(1, steps - 1):
            value = height[i]
            if which == 1.0:
                value = 0.5 * (height[i + 1] - height[i - 1]) / stride
            if value < best:
                best, at = value, low + stride * i
        if best < 0.0:
            return at, difference
    return math.nan, math.nan


@njit(error_model="numpy")
def left(which, alpha, kappa, place, difference, state, warm):
    """Return what is left of both equations; `warm` holds the last unknowns of a saddle point."""
    kt = kappa + math.exp(difference)
    if binary_begun(alpha, kt, kappa, state)[0] != FOUND:
        return math.nan, math.nan
    if warm[0] > 0.0:
        state[5], state[7], state[8] = 1.0, warm[1], warm[2]
    found = binary_around(alpha, kt, kappa, math.exp(place), 0.0, state)
    warm[0], warm[1], warm[2] = 1.0, state[7], state[8]
    if which == 0.0:
        return found[3] * math.exp(-place), found[5]
    low = binary_around(alpha, kt, kappa, math.exp(place - STRIDE), 0.0, state)[5]
    high = binary_around(alpha, kt, kappa, math.exp(place + STRIDE), 0.0, state)[5]
    return found[5], 0.5 * (high - low) / STRIDE


@njit(error_model="numpy")
def touching(which, alpha, kappa):
    """Return ``(ended, residual, kt, distance)`` where a dip is zero."""
    lost = math.nan
    largest = binary_largest(alpha)
    place, difference = guess(which, alpha, kappa)
    if largest[0] != FOUND or not largest[2] > kappa or math.isnan(place):
        return float(NO_ZERO), lost, lost, lost
    state, warm = np.zeros(STATE), np.zeros(3)
    # a guess may lie beyond the largest margin, and the zero within
    difference = min(difference, math.log(largest[2] - kappa) - 1e-3)
    u, v = left(which, alpha, kappa, place, difference, state, warm)
    u1, v1 = left(which, alpha, kappa, place + SHIFT, difference, state, warm)
    u2, v2 = left(which, alpha, kappa, place, difference - SHIFT, state, warm)
    a, b, c, d = (u1 - u) / SHIFT, (u - u2) / SHIFT, (v1 - v) / SHIFT, (v - v2) / SHIFT
    for _ in range(40):
        area = a * d - b * c
        dx, dy = -(d * u - b * v) / area, -(a * v - c * u) / area
        size = max(abs(dx), abs(dy))
        if not math.isfinite(size):
            return float(UNSETTLED), lost, lost, lost
        residual = max(abs(u), abs(v))
        if size < ENOUGH:
            break
        stride = min(1.0, 0.5 / size)
        dx, dy = stride * dx, stride * dy
        before, other = u, v
        u, v = left(which, alpha, kappa, place + dx, difference + dy, state, warm)
        if math.isnan(u) or math.isnan(v):  # beyond the largest margin
            return float(NO_ZERO), lost, lost, lost
        place, difference = place + dx, difference + dy
        length = dx * dx + dy * dy
        first, second = u - before - a * dx - b * dy, v - other - c * dx - d * dy
        a, b = a + first * dx / length, b + first * dy / length
        c, d = c + second * dx / length, d + second * dy / length
    residual = max(abs(u), abs(v))
    ended = FOUND if residual <= LEFT else UNSETTLED
    return float(ended), residual, kappa + math.exp(difference), math.exp(place)


@njit(error_model="numpy")
def binary_no_gap(alpha, kappa):
    """Return ``(ended, residual, kt, distance)``, kt as `franz_parisi.margin_no_gap`."""
    return touching(0.0, alpha, kappa)


@njit(error_model="numpy")
def binary_monotonic(alpha, kappa):
    """Return ``(ended, residual, kt, distance)``, kt as `franz_parisi.margin_monotonic`."""
    return touching(1.0, alpha, kappa)
