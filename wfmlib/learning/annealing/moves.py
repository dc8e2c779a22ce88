"""The moves of annealing: one flip at a time, of replicas that attract each other.

The stationary distribution of y replicas ``W^a`` at inverse temperature beta [eq-metropolis] is
proportional to ``exp(-beta sum_a E(W^a) + (coupling / y) sum_{a<b} W^a . W^b)``, for one replica
to ``exp(-beta E(W))``. A weight of a replica is chosen at random, and flipped with probability
``min(1, ratio)``, where ratio is what the flip multiplies the distribution by. `metropolis` does
just that. `waiting` [eq-waiting-time] is the same chain in law, and draws how many proposals in a
row are rejected and then which flip is accepted; it keeps all energy changes, which pays where
hardly anything is accepted.

What a flip costs, and what is kept for it, is told in `annealing_state`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numba.extending import overload

from wfmlib.learning._words import ones
from wfmlib.learning.annealing.state import PERCEPTRON, SIGN, Packed

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_NONE = np.uint64(0)


def pulls(coupling, replicas):
    """Return what the attraction multiplies the distribution by as a weight is flipped.

    Entry ``k + y - 1`` is for a weight that agrees with k more of the others than it disagrees
    with.
    """
    k = np.arange(-(replicas - 1), replicas)
    return np.exp(np.clip(-2.0 * coupling / replicas * k, -700.0, 700.0))


# ------------------------------------------------------------------------------------------------
# The kernels: one flip
# ------------------------------------------------------------------------------------------------


def energy_change(state, a, unit, i):
    """Return by how many quanta the energy of replica a changes if a weight is flipped."""
    change = _energy_change_packed if isinstance(state, Packed) else _energy_change_dense
    return change(state, a, unit, i)


def flip(state, a, unit, i, change):
    """Flip a weight, and renew all that is kept; `change` is its energy change."""
    renew = _flip_packed if isinstance(state, Packed) else _flip_dense
    renew(state, a, unit, i, change)


@overload(energy_change)
def _choose_energy_change(state, a, unit, i):
    if state.instance_class is Packed:
        return lambda state, a, unit, i: _energy_change_packed(state, a, unit, i)
    return lambda state, a, unit, i: _energy_change_dense(state, a, unit, i)


@overload(flip)
def _choose_flip(state, a, unit, i, change):
    if state.instance_class is Packed:
        return lambda state, a, unit, i, change: _flip_packed(state, a, unit, i, change)
    return lambda state, a, unit, i, change: _flip_dense(state, a, unit, i, change)


@njit(cache=True, nogil=True)
def _energy_change_packed(state, a, unit, i):
    """Count the patterns that become errors, minus those that cease to be."""
    row = unit * state.stride + i
    mask = _NONE if state.weights[a, unit, i] * state.unit_votes[unit] > 0 else _ALL
    change = 0
    for word in range(state.agree.shape[1]):
        falls = state.agree[row, word] ^ mask
        lost = falls & state.can_fall[a, unit, word] & state.right[a, word]
        won = ~falls & state.can_rise[a, unit, word] & state.wrong[a, word]
        change += np.int64(ones(lost)) - np.int64(ones(won))
    return change


@njit(cache=True, nogil=True)
def _energy_change_dense(state, a, unit, i):
    """Sum the costs of steps; the product fits into 32 bits, which makes it fast."""
    row = unit * state.stride + i
    product = np.int32(0)
    for mu in range(state.aligned.shape[1]):
        term = np.int32(state.aligned[row, mu]) * np.int32(state.difference[a, unit, mu])
        product = np.int32(product + np.int32(term))
    sign = np.int64(state.weights[a, unit, i] * state.unit_votes[unit])
    return (state.base[a, unit] + sign * product) // 2


@njit(cache=True, nogil=True)
def _flip_weight(state, a, unit, i, change):
    """Flip a weight and renew what both ways keep."""
    state.energy[a] += change
    w = state.weights[a, unit, i]
    state.weights[a, unit, i] = -w
    state.total[unit, i] -= 2 * w


@njit(cache=True, nogil=True)
def _flip_packed(state, a, unit, i, change):
    """Renew counters and masks: s goes down where ``agree ^ mask`` is 1, up elsewhere."""
    row = unit * state.stride + i
    mask = _NONE if state.weights[a, unit, i] * state.unit_votes[unit] > 0 else _ALL
    for word in range(state.agree.shape[1]):
        falls = state.agree[row, word] ^ mask
        down = falls & state.can_fall[a, unit, word]
        up = ~falls & state.can_rise[a, unit, word]
        # The counter + 1 where v moves up, + (-1 = 11...1) where it moves down.
        bit = state.vote_bits[a, 0, word]
        moved = down | up
        carry = bit & moved
        bit ^= moved
        state.vote_bits[a, 0, word] = bit
        some, every = bit, bit
        for plane in range(1, state.vote_bits.shape[1]):
            bit = state.vote_bits[a, plane, word]
            half = bit ^ down
            carry, bit = (bit & down) | (carry & half), half ^ carry
            state.vote_bits[a, plane, word] = bit
            some |= bit
            every &= bit
        state.right[a, word] = ~some & state.valid[word]
        state.wrong[a, word] = every & state.valid[word]
        if state.kind == PERCEPTRON:
            continue
        carry = state.field_bits[a, unit, 0, word]
        bit = ~carry
        state.field_bits[a, unit, 0, word] = bit
        some, every = bit, bit
        for plane in range(1, state.field_bits.shape[2]):
            bit = state.field_bits[a, unit, plane, word]
            half = bit ^ falls
            carry, bit = (bit & falls) | (carry & half), half ^ carry
            state.field_bits[a, unit, plane, word] = bit
            some |= bit
            every &= bit
        if state.kind == SIGN:
            state.can_fall[a, unit, word] = ~some
            state.can_rise[a, unit, word] = every
        else:  # the last bit is the sign of s
            label = state.for_label[unit, word]
            state.can_fall[a, unit, word] = (label & ~bit & some) | (~label & (bit | ~some))
            state.can_rise[a, unit, word] = label ^ bit
    state.errors[a] += change
    _flip_weight(state, a, unit, i, change)


@njit(cache=True, nogil=True)
def _flip_dense(state, a, unit, i, change):
    """Renew preactivations, votes and the costs of steps."""
    K, n = state.weights.shape[1:]
    row = unit * state.stride + i
    step = 2 * np.int64(state.weights[a, unit, i] * state.unit_votes[unit])
    _flip_weight(state, a, unit, i, change)
    if state.steps.shape[1] > 0:
        _renew_perceptron(state, a, row, step)
        return
    for mu in range(state.aligned.shape[1]):
        side = state.against[unit, mu]
        s = np.int64(state.fields[a, unit, mu])
        after = s - step * state.aligned[row, mu]
        state.fields[a, unit, mu] = after
        moved = state.gain[side, after + n] - state.gain[side, s + n]
        if moved == 0:
            _renew_steps(state, a, unit, mu)
            continue
        before = state.votes[a, mu]
        state.votes[a, mu] = before + moved
        state.errors[a] += np.int64(before + moved <= 0) - np.int64(before <= 0)
        for voter in range(K):
            _renew_steps(state, a, voter, mu)


@njit(cache=True, nogil=True)
def _renew_perceptron(state, a, row, step):
    """Renew what the dense way keeps: for one unit, tables over s say it all."""
    n = state.weights.shape[2]
    errors, base = 0, 0
    for mu in range(state.aligned.shape[1]):
        s = np.int64(state.fields[a, 0, mu]) - step * state.aligned[row, mu]
        state.fields[a, 0, mu] = s
        state.votes[a, mu] = s
        errors += s <= 0
        base += state.steps[1, s + n]
        state.both[a, 0, mu] = state.steps[1, s + n]
        state.difference[a, 0, mu] = state.steps[0, s + n]
    state.errors[a] = errors
    state.base[a, 0] = base


@njit(cache=True, nogil=True)
def _renew_steps(state, a, unit, mu):
    """Find what it costs that one preactivation goes down, and up, by 2."""
    n = state.weights.shape[2]
    side = state.against[unit, mu]
    s, v = np.int64(state.fields[a, unit, mu]), state.votes[a, mu] - state.lowest
    cost = state.cost[v]
    v -= state.gain[side, s + n]
    down = state.cost[v + state.gain[side, max(s - 2, -n) + n]] - cost
    up = state.cost[v + state.gain[side, min(s + 2, n) + n]] - cost
    state.base[a, unit] += down + up - state.both[a, unit, mu]
    state.both[a, unit, mu] = down + up
    state.difference[a, unit, mu] = down - up


# ------------------------------------------------------------------------------------------------
# The kernels: many of them
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def metropolis(state, rng, proposals, beta, pull, stop):
    """Propose flips; return how many were proposed, and how many accepted.

    Parameters
    ----------
    state : Packed or Dense
        Changed in place.
    rng : numpy.random.Generator
        One number is drawn for each proposal.
    proposals : int
        How many flips to propose.
    beta : float
        Inverse temperature, per quantum of the energy.
    pull : numpy.ndarray
        As `pulls` returns it.
    stop : bool
        Whether to stop as soon as a replica makes no error.
    """
    y, K, n = state.weights.shape
    accepted = 0
    for proposal in range(proposals):
        # One number chooses replica, unit and weight; what is left of it (40 bits or so) decides.
        u = rng.random() * y
        a = int(u)
        u = (u - a) * K
        unit = int(u)
        u = (u - unit) * n
        i = int(u)
        u -= i
        w = state.weights[a, unit, i]
        ratio = pull[w * state.total[unit, i] - 1 + y - 1]
        if u >= ratio and state.energy[a] == 0:  # no flip lowers the energy below 0
            continue
        change = energy_change(state, a, unit, i)
        if change != 0:
            ratio *= math.exp(min(-beta * change, 700.0))
        if u < ratio:
            flip(state, a, unit, i, change)
            accepted += 1
            if stop and state.errors[a] == 0:
                return proposal + 1, accepted
    return proposals, accepted


@njit(cache=True, nogil=True)
def waiting(state, rng, proposals, beta, pull, stop):
    """As `metropolis`, drawing how many proposals are rejected before one is accepted."""
    y, K, n = state.weights.shape
    change = np.empty((y, K, n), dtype=np.int64)
    rate = np.empty((y, K, n))
    sums = np.empty(y)
    for a in range(y):
        _renew_rates(state, a, beta, pull, change, rate, sums)
    done = accepted = 0
    while True:
        total = sums.sum()
        if total <= 0.0:
            return proposals, accepted
        chance = total / rate.size
        wait = 0.0
        if chance < 1.0:
            wait = math.log(1.0 - rng.random()) / math.log1p(-chance)
        if not done + wait < proposals:  # the wait has no memory: it may be drawn anew
            return proposals, accepted
        done += int(wait) + 1
        a, unit, i = _choose(rate, sums, rng.random() * total)
        if a < 0:  # no flip is possible: what the sums hold is rounding
            return proposals, accepted
        flip(state, a, unit, i, change[a, unit, i])
        accepted += 1
        if stop and state.errors[a] == 0:
            return done, accepted
        _renew_rates(state, a, beta, pull, change, rate, sums)
        for b in range(y):
            if b != a:
                new = _rate(state, b, unit, i, beta, pull, change[b, unit, i])
                sums[b] += new - rate[b, unit, i]
                rate[b, unit, i] = new


@njit(cache=True, nogil=True)
def _renew_rates(state, a, beta, pull, change, rate, sums):
    """Find the chance that each flip of replica a would be accepted."""
    K, n = state.weights.shape[1:]
    sums[a] = 0.0
    for unit in range(K):
        for i in range(n):
            change[a, unit, i] = energy_change(state, a, unit, i)
            rate[a, unit, i] = _rate(state, a, unit, i, beta, pull, change[a, unit, i])
            sums[a] += rate[a, unit, i]


@njit(cache=True, nogil=True)
def _rate(state, a, unit, i, beta, pull, change):
    y = len(state.weights)
    ratio = pull[state.weights[a, unit, i] * state.total[unit, i] - 1 + y - 1]
    if change != 0:
        ratio *= math.exp(min(-beta * change, 700.0))
    return min(1.0, ratio)


@njit(cache=True, nogil=True)
def _choose(rate, sums, u):
    """Return the flip at which the rates sum up to u; the last possible one if none does.

    Where no rate is above zero, -1 three times.
    """
    y, K, n = rate.shape
    last = (-1, -1, -1)
    for a in range(y):
        if u >= sums[a]:
            u -= sums[a]
            continue
        for unit in range(K):
            for i in range(n):
                if rate[a, unit, i] > 0.0:
                    last = (a, unit, i)
                    u -= rate[a, unit, i]
                    if u < 0.0:
                        return last
    return last
