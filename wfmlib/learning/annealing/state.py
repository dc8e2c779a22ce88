"""State of an annealed instance: what is kept so that one flip costs little.

A flip of the weight i of unit l changes, for each pattern, the preactivation of that one unit by
+2 or -2. With the votes ``c_l`` of the units (all 1 unless rectified) and n weights in a unit,
the integers that are kept are, in plain NumPy, for one replica w of shape (K, n)::

    aligned = sigma[:, None] * xi                             # (P, N)
    s = c * (aligned.reshape(P, K, n) * w).sum(axis=2)        # (P, K), a tree's
    v = gain(s).sum(axis=1)                                   # (P,): right where positive
    energy = cost(v).sum()

`gain` is what a unit contributes to the right answer: its sign, ``max(s, 0)`` for a rectified
unit whose vote is the label and ``min(s, 0)`` for one whose vote is not, and s itself for the
perceptron. `cost` is 1 where v is not positive, or the cross-entropy, rounded to a multiple of a
quantum: energies are integers, and a running one stays exact.

There are two ways to keep them. *Packed*: where v moves by 2 or not at all, and the cost is an
error, an energy change counts patterns that are right or wrong by the least, so one bit for each
pattern says all; s and v are kept bit by bit, too (plane b of a counter holds bit b of 64
patterns a word), so that a flip adds to 64 of them at once. *Dense*: for each unit and pattern
the cost of a step down and of a step up, so that an energy change is a product of two rows.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Literal, TypeAlias

import numpy as np

from wfmlib.learning._devices import checked, rows
from wfmlib.models.activations import Linear, ReLU, Sign
from wfmlib.models.weights import Binary
from wfmlib.numerics import arguments

Loss: TypeAlias = Literal["errors", "cross-entropy"]

SIGN, RELU, PERCEPTRON = 0, 1, 2
KINDS = {Sign: SIGN, ReLU: RELU, Linear: PERCEPTRON}  # by what a unit adds to the answer
LEVELS = 2**13  # quanta in the largest step of the cross-entropy: two of them fit into int16
MOST_PATTERNS = 130_000  # a sum of as many pairs of steps fits into int32
MOST_WEIGHTS = 32_767  # of a unit: its preactivation fits into int16

COMMON = [
    "weights",  # (y, K, n) int8
    "total",  # (K, n) int64: the sum of the replicas
    "unit_votes",  # (K,) int8: c_l
    "stride",  # rows of patterns from one unit's first weight to the next one's
    "energy",  # (y,) int64, in quanta
    "errors",  # (y,) int64
]
# Words of 64 patterns; bits beyond P are 0 in right and wrong, and mean nothing in counters.
Packed = namedtuple(  # type: ignore[misc]  # the fields of both stand in a variable
    "Packed",
    [
        *COMMON,
        "kind",  # SIGN, RELU or PERCEPTRON
        "agree",  # (rows, words): where sigma xi_i = +1
        "for_label",  # (K, words): where c_l sigma = +1
        "valid",  # (words,)
        "field_bits",  # (y, K, planes, words): u of s = 2 u + 1 (n odd) or 2 u, two's complement
        "vote_bits",  # (y, planes, words): u of v = 2 u + 1 (odd v) or 2 u + 2
        "can_fall",  # (y, K, words): where s going down by 2 takes v down by 2
        "can_rise",  # (y, K, words)
        "right",  # (y, words): by the least
        "wrong",  # (y, words): by the least
    ],
)
Dense = namedtuple(  # type: ignore[misc]
    "Dense",
    [
        *COMMON,
        "aligned",  # (rows, P) int8
        "fields",  # (y, K, P) int16: s
        "votes",  # (y, P) int32: v
        "against",  # (K, P) int8: 1 where c_l sigma = -1, else 0: the row of `gain`
        "gain",  # (2, 2 n + 1) int32, at s + n
        "cost",  # (votes,) int64, at v - lowest
        "lowest",  # the lowest v
        "difference",  # (y, K, P) int16: cost of s going down minus cost of s going up
        "both",  # (y, K, P) int16: cost of s going down plus cost of s going up
        "base",  # (y, K) int64: the sum of `both` over the patterns
        "steps",  # (2, 2 n + 1) int16: difference and both of a perceptron's pattern, at s + n
    ],
)


class Model:
    """An instance with its device and its loss, checked.

    Parameters
    ----------
    device, xi, sigma, loss, gamma
        As for `simulated_annealing`.
    """

    def __init__(self, device, xi, sigma, loss, gamma):
        self.device = checked(device, (Binary,), activations=(Sign, ReLU))
        self.xi, self.sigma = arguments.patterns(xi, sigma)
        P, N = self.xi.shape
        self.tree = device.tree
        self.gamma = gamma
        self.kind = KINDS[type(device.activation)]
        self.units, self.n = rows(device, N)
        if self.kind == RELU and self.units % 2:
            raise ValueError(f"device must have an even number of ReLU units, got {device!r}")
        if P > MOST_PATTERNS or self.n > MOST_WEIGHTS:
            raise ValueError(
                f"xi must have at most {MOST_PATTERNS} rows, and {MOST_WEIGHTS} columns for each "
                f"unit, got shape {self.xi.shape}"
            )
        self.c = np.ones(self.units, dtype=np.int8)
        if self.kind == RELU:
            self.c[self.units // 2 :] = -1
        odd = self.n % 2 == 1
        fitting = self.kind == PERCEPTRON or odd == (self.kind == SIGN)
        self.packed = loss == "errors" and fitting
        self.gain = self._gain()
        self.lowest, self.cost, self.quantum = self._cost(loss == "errors")

    @property
    def shape(self):
        """Shape (K, n) of the weights of one replica."""
        return self.units, self.n

    def device_weights(self, weights):
        """Return a copy of weights (..., K, n) as the device takes them."""
        shape = self.device.shape(self.xi.shape[1])
        return weights.reshape(*weights.shape[:-2], *shape).copy()

    def _gain(self):
        """Return what a unit contributes, shape (2, 2 n + 1): votes for and against the label."""
        s = np.arange(-self.n, self.n + 1)
        if self.kind == PERCEPTRON:
            rows = s, s
        elif self.kind == RELU:
            rows = np.maximum(s, 0), np.minimum(s, 0)
        else:  # an undecided unit is a tie of the whole machine: v falls below all others
            rows = (np.where(s == 0, -(2 * self.units + 1), np.sign(s)),) * 2
        return np.array(rows, dtype=np.int32)

    def _cost(self, errors):
        """Return the lowest v, the cost of each v from there on in quanta, and the quantum."""
        K, n = self.shape
        largest = {PERCEPTRON: n, SIGN: K, RELU: K // 2 * n}[self.kind]
        undecided = self.kind == SIGN and n % 2 == 0
        lowest = -K * (2 * K + 1) if undecided else -largest
        v = np.arange(lowest, largest + 1)
        if errors:
            return lowest, (v <= 0).astype(np.int64), 1.0
        unit = math.sqrt({PERCEPTRON: n, SIGN: K, RELU: n * K}[self.kind])
        stability = np.where(v < -largest, 0, v) / unit
        f = np.logaddexp(0.0, -2 * self.gamma * stability) / (2 * self.gamma)
        steps = np.ptp(f) if undecided else np.max(np.abs(f[2:] - f[:-2]))
        quantum = float(steps) / LEVELS
        return lowest, np.rint(f / quantum).astype(np.int64), quantum

    def state(self, weights):
        """Return what is kept, `Packed` or `Dense`, for replicas of shape (y, K, n)."""
        weights = np.ascontiguousarray(weights, dtype=np.int8)
        (K, n), P = self.shape, len(self.xi)
        aligned = np.ascontiguousarray((self.sigma[:, None] * self.xi).T)  # (N, P)
        inputs = aligned.astype(np.float32).reshape(K if self.tree else 1, n, P)
        s = np.matmul(weights.transpose(1, 0, 2).astype(np.float32), inputs).transpose(1, 0, 2)
        s = np.ascontiguousarray(np.rint(s).astype(np.int64) * self.c[:, None])
        against = (self.c[:, None] * self.sigma < 0).astype(np.int8)
        v = self.gain[against, s + n].sum(axis=1)
        common = {
            "weights": weights,
            "total": weights.sum(axis=0, dtype=np.int64),
            "unit_votes": self.c,
            "stride": n if self.tree else 0,
            "energy": self.cost[v - self.lowest].sum(axis=1),
            "errors": np.count_nonzero(v <= 0, axis=1).astype(np.int64),
        }
        keep = self._packed if self.packed else self._dense
        return keep(aligned, s, v, against, common)

    def _packed(self, aligned, s, v, against, common):
        """Return what the packed way keeps; a perceptron's preactivation is its vote."""
        y, K, P = s.shape
        valid = pack(np.ones(P, dtype=bool))
        u, q = (s - self.n % 2) // 2, (v - 2 + v[0, 0] % 2) // 2
        fall = rise = np.ones(s.shape, dtype=bool)
        if self.kind == PERCEPTRON:
            planes = np.zeros((y, K, 0, len(valid)), dtype=np.uint64)
        else:
            planes = counters(u, self.n // 2 + 1)
        if self.kind == SIGN:
            fall, rise = s == 1, s == -1
        elif self.kind == RELU:
            fall = np.where(against, s <= 0, s >= 2)
            rise = np.where(against, s <= -2, s >= 0)
        return Packed(
            **common,
            kind=self.kind,
            agree=pack(aligned > 0),
            for_label=pack(against == 0),
            valid=valid,
            field_bits=planes,
            vote_bits=counters(q, -self.lowest // 2 + 2),
            can_fall=pack(fall),
            can_rise=pack(rise),
            right=pack(q == 0),
            wrong=pack(q == -1),
        )

    def _dense(self, aligned, s, v, against, common):
        """Return what the dense way keeps."""
        down, up = (self._step_cost(s, v, against, step) for step in (-2, 2))
        steps = np.zeros((2, 0))
        if self.kind == PERCEPTRON:
            all_s = np.arange(-self.n, self.n + 1)[:, None]
            pair = [self._step_cost(all_s[:, None], all_s, 0, step) for step in (-2, 2)]
            steps = np.array([pair[0] - pair[1], pair[0] + pair[1]])[:, :, 0, 0]
        return Dense(
            **common,
            aligned=aligned,
            fields=s.astype(np.int16),
            votes=v.astype(np.int32),
            against=against,
            gain=self.gain,
            cost=self.cost,
            lowest=self.lowest,
            difference=(down - up).astype(np.int16),
            both=(down + up).astype(np.int16),
            base=(down + up).sum(axis=2),
            steps=np.ascontiguousarray(steps.astype(np.int16)),
        )

    def _step_cost(self, s, v, against, step):
        """Return what it costs that s moves by a step; where it cannot, nobody asks."""
        after = self.gain[against, np.clip(s + step, -self.n, self.n) + self.n]
        votes = v[:, None, :] + after - self.gain[against, s + self.n]
        return self.cost[votes - self.lowest] - self.cost[v - self.lowest][:, None, :]


def pack(bits):
    """Return booleans, packed along the last axis into 64-bit words, an even number of them."""
    width = 128 * math.ceil(bits.shape[-1] / 128)
    padded = np.zeros((*bits.shape[:-1], width), dtype=bool)
    padded[..., : bits.shape[-1]] = bits
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64)


def counters(values, bound):
    """Return integers from ``-bound`` to ``bound - 1`` bit by bit: (..., planes, words)."""
    planes = bound.bit_length() + 1
    return np.stack([pack(values >> bit & 1 == 1) for bit in range(planes)], axis=-2)
