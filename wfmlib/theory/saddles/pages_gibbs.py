"""The Gibbs measure of the cross-entropy as kernels of plain numbers: what a page computes with.

As `pages` does for typical solutions: `replica_symmetric` solves the same equations for any axes,
and here the binary perceptron and the loss are compiled together. A pattern's averages are the
kernels of `CrossEntropy`. A point and the end of the entropy take the nodes of the package, so
they agree with `typical.solve` and `cross_entropy.zero_entropy_beta` to rounding; a curve takes
fewer, and its entropy is off by 1e-4 at most.

No kernel raises: `ended` tells how a search ended, as in `numerics.zeros`, or that the package
refuses the point.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.models.constraints.cross_entropy import CrossEntropy, _gibbs, _sharp_gibbs
from wfmlib.models.weights.binary import Binary
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import ACCURACY, EXCESS
from wfmlib.numerics.zeros import FOUND, NO_ZERO, first_zero

TOO_COLD, TOO_LARGE = 4, 5  #: the entropy is lost in rounding; it exceeds its bound
COLDEST = 1e6  # of beta times the energy, as in `typical.solve`
HIGHEST = 70.0  # of ln q_hat
LARGEST = 1e300  # beta
MOST = Binary.entropy
LOG_BETA = (-2.0, math.log(LARGEST))  # where the end is looked for
LIMIT = gaussian.LIMIT
#: Nodes in a panel, for averages over what all share and over the rest of a field.
OUTER, INNER = gaussian.legendre_rule(CrossEntropy.order), gaussian.legendre_rule(9)
NEAR = 6.5  # where averages end in a curve: the density beyond weighs 1e-10
FEW_OUTER, FEW_INNER = gaussian.legendre_rule(4), gaussian.legendre_rule(6)

entropic = njit(Binary.entropic)


@njit(error_model="numpy")
def features(variance, gamma, beta):
    """Return where a pattern's averages bend, and over what width: `CrossEntropy.features`."""
    pull = beta * variance
    wall = 0.0
    if beta >= 2.0 * gamma:
        wall = math.log(beta / (2.0 * gamma)) / (2.0 * gamma)
    width = math.hypot(math.sqrt(variance), 0.25 / gamma)
    bends = np.empty((2 if gamma == math.inf else 3, 2))
    bends[0, 0], bends[0, 1] = wall, width
    bends[1, 0], bends[1, 1] = -pull, width
    if gamma < math.inf:
        bends[2, 0], bends[2, 1] = -0.5 * pull, math.sqrt(variance * (1.0 + 0.5 * gamma * pull))
    return bends


@njit(error_model="numpy")
def averages(side, gamma, beta, limit, outer, inner):
    """Return ``E F'^2``, ``E F``, ``E F''^2``, and mean loss and errors of a pattern."""
    root = math.sqrt(side.q)
    bends = features(side.complement, gamma, beta) / root
    count = len(bends) if root > 0.05 else 0
    x, weight = gaussian.fill_grid(bends[:count], -limit, limit, outer)
    rows = np.empty((5, len(x)))
    for i in range(len(x)):
        x[i] *= root
    if gamma == math.inf:
        _sharp_gibbs(x, side.complement, beta, rows)
    else:
        _gibbs(x, side.complement, gamma, beta, inner, rows)
    push = cost = stiffness = loss = errors = 0.0
    for i in range(len(x)):
        cost += weight[i] * rows[0, i]
        push += weight[i] * rows[1, i] ** 2
        stiffness += weight[i] * rows[2, i] ** 2
        loss += weight[i] * rows[3, i]
        errors += weight[i] * rows[4, i]
    return push, cost, stiffness, loss, errors


@njit(error_model="numpy")
def excess(log_q_hat, given):
    """Return the logarithm of the load at which this is the saddle point, over the load given."""
    alpha, gamma, beta, limit, outer, inner = given
    q_hat = math.exp(log_q_hat)
    push = averages(entropic(None, q_hat), gamma, beta, limit, outer, inner)[0]
    return math.log(q_hat / push / alpha)


@njit(error_model="numpy")
def from_zero(alpha, gamma, beta, limit, outer, inner):
    """Return q_hat, the residual and how the search ended: the smallest root, from below."""
    push = averages(entropic(None, 0.0), gamma, beta, limit, outer, inner)[0]
    below = alpha * push
    if below < 1e-30:
        return below, 0.0, FOUND
    start = min(math.log(below) - 1e-3, HIGHEST - 1.0)
    given = alpha, gamma, beta, limit, outer, inner
    place, residual, ended = first_zero(excess, given, start, HIGHEST, 0.5, 1e-14, ACCURACY)
    return math.exp(place), residual, ended


@njit(error_model="numpy")
def near(guess, alpha, gamma, beta, limit, outer, inner, tolerance):
    """Return ln q_hat by the secant method; NaN where that leads away from the guess.

    A last step is made from where the load is met to the tolerance: beta times the energy, which
    may be a thousand, is as exact as the load, and the entropy is what is left of it.
    """
    given = alpha, gamma, beta, limit, outer, inner
    x, value = guess, excess(guess, given)
    slope = 0.5
    for count in range(20):
        step = -value / slope
        if count and abs(value) <= tolerance:
            return x + step
        if count == 0 and abs(step) < 1e-4:  # so that the slope is more than rounding
            step = 1e-4
        if not abs(x + step - guess) < 1.0:
            break
        far = excess(x + step, given)
        slope = (far - value) / step
        x, value = x + step, far
    return math.nan


@njit(error_model="numpy")
def state(q_hat, alpha, gamma, beta, limit, outer, inner):
    """Return q, the free entropy, energy, entropy, error rate and replicon at the load."""
    side = entropic(None, q_hat)
    push, cost, stiffness, loss, errors = averages(side, gamma, beta, limit, outer, inner)
    load = q_hat / push if q_hat > 0.0 else alpha
    free, energy = side.term + load * cost, alpha * loss
    replicon = load * side.fluctuation * stiffness
    return side.q, free, energy, free + beta * energy, errors, replicon


@njit(error_model="numpy")
def refused(ended, beta, energy, entropy):
    """Return how a search ended, or why the package would not give the point that it found."""
    if ended != FOUND:
        return ended
    if beta * energy > COLDEST:
        return TOO_COLD
    return FOUND if entropy <= MOST + EXCESS else TOO_LARGE


@njit(error_model="numpy")
def point(beta, gamma, alpha):
    """Return the typical configurations of the Gibbs measure at one temperature, sharpness, load.

    Returns
    -------
    tuple of float
        ended, residual (the relative error of the load), entropy, energy, error rate, q, replicon,
        as of `typical.GibbsPoint`, and beta times the energy; NaN where no point was found.
    """
    q_hat, residual, ended = from_zero(alpha, gamma, beta, LIMIT, OUTER, INNER)
    q, _, energy, entropy, errors, replicon = state(q_hat, alpha, gamma, beta, LIMIT, OUTER, INNER)
    ended = refused(ended, beta, energy, entropy)
    return float(ended), residual, entropy, energy, errors, q, replicon, beta * energy


@njit(error_model="numpy")
def margin_left(log_beta, given):
    """Return the entropy, or 1 minus the replicon; -1 where it is far too cold.

    ``given`` ends with the last two logarithms of beta and of q_hat, from which the next guess is.
    """
    alpha, gamma, stability, limit, outer, inner, tolerance, known = given
    beta = min(math.exp(log_beta), LARGEST)
    log_q_hat = math.nan
    if known[0, 0] != known[1, 0]:
        slope = (known[0, 1] - known[1, 1]) / (known[0, 0] - known[1, 0])
        guess = known[0, 1] + slope * (log_beta - known[0, 0])
        if guess < HIGHEST:
            log_q_hat = near(guess, alpha, gamma, beta, limit, outer, inner, tolerance)
    if math.isnan(log_q_hat):
        q_hat, _, ended = from_zero(alpha, gamma, beta, limit, outer, inner)
        if ended != FOUND:
            return -1.0
        log_q_hat = math.log(q_hat)
    if log_beta != known[0, 0]:
        known[1, 0], known[1, 1] = known[0, 0], known[0, 1]
        known[0, 0], known[0, 1] = log_beta, log_q_hat
    q_hat = math.exp(log_q_hat)
    _, _, energy, entropy, _, replicon = state(q_hat, alpha, gamma, beta, limit, outer, inner)
    if refused(FOUND, beta, energy, entropy) != FOUND:
        return -1.0
    return 1.0 - replicon if stability else entropy


@njit(error_model="numpy")
def colder(log_beta, given):
    """Return the same on the way to higher temperatures."""
    return margin_left(-log_beta, given)


@njit(error_model="numpy")
def last_beta(gamma, alpha, stability):
    """Return ended, residual and the smallest beta at which the quantity vanishes."""
    known = np.zeros((2, 2))
    given = alpha, gamma, stability, LIMIT, OUTER, INNER, 1e-10, known
    middle, (low, high) = 2.0, LOG_BETA
    if margin_left(middle, given) > 0.0:
        place, residual, ended = first_zero(margin_left, given, middle, high, 0.7, 1e-12, ACCURACY)
        if ended == NO_ZERO:
            return float(FOUND), 0.0, math.inf
    else:
        place, residual, ended = first_zero(colder, given, -middle, -low, 0.7, 1e-12, ACCURACY)
        place = -place
    return float(ended), residual, math.exp(place)


@njit(error_model="numpy")
def zero_entropy(gamma, alpha):
    """Return ended, residual and `cross_entropy.zero_entropy_beta`."""
    return last_beta(gamma, alpha, False)


@njit(error_model="numpy")
def instability(gamma, alpha):
    """Return ended, residual and `cross_entropy.instability_beta`."""
    return last_beta(gamma, alpha, True)


# ------------------------------------------------------------------------------------------------
# A curve over temperatures, while the reader moves a slider
# ------------------------------------------------------------------------------------------------

AXIS = (0.0, 5.0)  #: of the curve: log10 of beta
SOLVED = 28  #: temperatures that are solved for; between them it is interpolated
WIDTH = 0.2  # between two of them
BEFORE = 2  # of them lie before the axis, where an interpolation is less exact
SPAN = 8  # how many of them an interpolation takes
LOWEST = -0.3  # of the entropy: there the curve ends,
FARTHER = 6  # or so many temperatures past where it vanishes: a decade and a bit
ROWS = 5  #: of the curve: log10 of beta, entropy, error rate, overlap, replicon


@njit(error_model="numpy")
def curve(gamma, alpha, rows):
    """Fill the rows over log10 of beta: entropy, error rate, overlap q and replicon.

    Parameters
    ----------
    gamma, alpha : float
        Sharpness and load.
    rows : ndarray, shape (ROWS, points)
        The first row is filled, too. NaN where the package finds no point, and past where the
        entropy is far below zero.

    Returns
    -------
    tuple of float
        log10 of the beta where the entropy vanishes, and of that where the replicon is 1; NaN
        where the curve does not reach it.
    """
    known = np.empty((ROWS, SOLVED))
    known[:] = math.nan
    count = 0
    places = np.empty(SOLVED)
    slope, past = 1.0, 0
    for i in range(SOLVED):
        known[0, i] = AXIS[0] + (i - BEFORE) * WIDTH
        beta = 10.0 ** known[0, i]
        if i == 0:
            q_hat, _, ended = from_zero(alpha, gamma, beta, NEAR, FEW_OUTER, FEW_INNER)
            places[i] = math.log(q_hat) if ended == FOUND else math.nan
        elif i == 1:
            places[i] = places[0] + 2.0 * WIDTH * math.log(10.0)  # q_hat goes with beta^2
        elif i == 2:
            places[i] = 2.0 * places[1] - places[0]
        elif i == 3:
            places[i] = 3.0 * (places[2] - places[1]) + places[0]
        else:
            beside = places[i - 1] + places[i - 3]
            places[i] = 4.0 * beside - 6.0 * places[i - 2] - places[i - 4]
        value, step, met = math.inf, 0.0, False
        for _ in range(8):
            if not places[i] < HIGHEST:
                break
            q_hat = math.exp(places[i])
            side = entropic(None, q_hat)
            push, cost, stiffness, loss, errors = averages(
                side, gamma, beta, NEAR, FEW_OUTER, FEW_INNER
            )
            last, value = value, math.log(q_hat / push / alpha)
            met = abs(value) < max(1e-5 / (1.0 + alpha * beta * loss), 1e-12)
            if met:  # the entropy is off by beta times the energy as much
                break
            if last < math.inf:
                slope = (value - last) / step
            step = -value / slope
            places[i] += step
        if not met:
            break
        entropy = side.term + alpha * (cost + beta * loss)
        if refused(FOUND, beta, alpha * loss, entropy - 1e-3) != FOUND:
            break
        known[1, i], known[2, i], known[3, i] = entropy, errors, side.q
        known[4, i] = alpha * side.fluctuation * stiffness
        count = i + 1
        past = past + 1 if entropy < 0.0 else 0
        if entropy < LOWEST or past > FARTHER:
            break
    for j in range(rows.shape[1]):
        rows[0, j] = AXIS[0] + j / (rows.shape[1] - 1) * (AXIS[1] - AXIS[0])
        interpolated(known, count, rows[:, j])
    return crossing(known, count, 1, 0.0), crossing(known, count, 4, 1.0)


@njit(error_model="numpy")
def interpolated(known, count, column):
    """Fill a column at its first number: a polynomial through the nearest known ones."""
    place = (column[0] - AXIS[0]) / WIDTH + BEFORE
    column[1:] = math.nan
    if place > count - 1 + 1e-9 or count == 0:
        return
    span = min(SPAN, count)
    first = min(max(int(place) - (span // 2 - 1), 0), count - span)
    column[1:] = 0.0
    for i in range(first, first + span):
        share = 1.0
        for k in range(first, first + span):
            if k != i:
                share *= (place - k) / (i - k)
        for row in range(1, ROWS):
            column[row] += share * known[row, i]


@njit(error_model="numpy")
def crossing(known, count, row, level):
    """Return where a row first passes a level, by halves of the piece; NaN where it does not."""
    side = known[row, 0] > level
    column = np.empty(ROWS)
    for i in range(1, count):
        if (known[row, i] > level) != side:
            low, high = known[0, i - 1], known[0, i]
            for _ in range(40):
                column[0] = 0.5 * (low + high)
                interpolated(known, count, column)
                if (column[row] > level) == side:
                    low = column[0]
                else:
                    high = column[0]
            return 0.5 * (low + high)
    return math.nan
