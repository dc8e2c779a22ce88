"""Every solution of a binary perceptron or tree machine, counted exactly, at small N.

Each of the 2^N weight vectors is judged. For several units see `enumerate_machines`; for the
perceptron three ideas bring that to a fraction of a nanosecond:

- *Bytes side by side.* A pattern needs one small integer, so eight patterns share a 64-bit
  word. The integer is shifted so that the top bit of its byte says "can still be right":
  one addition moves eight patterns, one comparison judges them.
- *A Gray code.* Successive vectors differ in one sign, so a step is one addition per word.
- *Blocks.* The walk goes over all but the last few weights. Where some pattern is lost whatever
  those few are, the whole block is passed over; where none is, a table of what each choice of
  the last weights costs each pattern settles the block.

What is computed, in plain NumPy, for all 2^N rows ``w`` at once::

    stability = (sigma[:, None] * xi) @ w.T                   # integers, shape (P, 2^N)
    smallest = stability.min(axis=0)
    solutions = w[smallest > margin * np.sqrt(N)]
"""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Annotated

import numba
import numpy as np
from annotated_types import Ge
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.learning._devices import checked
from wfmlib.learning._words import ones, trailing_zeros
from wfmlib.learning.exact import enumerate_machines
from wfmlib.models.constraints import Margin
from wfmlib.models.devices import ParityMachine, Perceptron, TreeCommittee
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Binary
from wfmlib.numerics import _threads, arguments
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.interrupts import is_interrupt
from wfmlib.numerics.progress import DELAY, watched
from wfmlib.numerics.types import Array

DEVICES = (Perceptron, TreeCommittee, ParityMachine)

LARGEST = 60  # weights: their signs in one 64-bit word, twice their number in an int64
LONGEST = 60.0  # seconds: what is estimated to take longer is refused unless forced

_BLOCK = 6  # weights in the table of a block
_CHUNK = 21  # weights, at least, that one task of a thread runs through; but ...
_PREFIX = 12  # ... a task fixes at most this many
_UNTIMED = 25  # weights that take a second at most: no estimate
_PIECE = 18  # weights in a piece of work that is timed for an estimate
_PIECES = 16  # such pieces


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All solutions of one set of patterns, counted.

    A solution is a weight vector in {-1, +1}^N that meets the constraint on every pattern;
    `count` is the partition function [eq-partition] of this instance. Stabilities are those of
    the device's network.

    Attributes
    ----------
    device : Perceptron, TreeCommittee or ParityMachine
        The device that was asked about.
    N, P : int
        Number of weights and of patterns.
    constraint : Margin
        The margin asked for.
    count : int
        Number of solutions, exact.
    margins : numpy.ndarray
        The values above the margin that a stability can take, ascending. Perceptron: ``s /
        sqrt(N)`` with the integers s of N's parity up to N; empty where the margin is sqrt(N) or
        more. Committee: ``s / sqrt(K)`` with the positive integers s of K's parity up to K, s
        being the majority of the votes. Parity machine: 1 alone.
    counts_by_margin : numpy.ndarray
        int64, one entry per entry of `margins`: the solutions whose *smallest* stability is
        that value. They sum to `count`; `count_at` sums their tail.
    counts_by_distance : numpy.ndarray or None
        int64, shape (N + 1,): the solutions at each Hamming distance ``d_H = 0, ..., N`` from
        the reference, which is distance ``d_H / N = (1 - overlap) / 2`` in the papers' unit.
        None where no reference was given.
    magnetisation : numpy.ndarray
        Mean weight over all solutions, shape (N,). NaN where there is no solution.
    solutions : numpy.ndarray or None
        The solutions, int64, shape (count, N), in ascending lexicographic order; None where
        there are more than were to be kept. Their pairwise distances ``(1 - overlap) / 2`` are
        ``scipy.spatial.distance.pdist(solutions, "hamming")``. Of several units each row holds
        the weights one after the other: ``solutions.reshape(-1, *device.shape(N))`` parts them.
    """

    device: Device
    N: int
    P: int
    constraint: Margin
    count: int
    margins: np.ndarray = field(repr=False)
    counts_by_margin: np.ndarray = field(repr=False)
    counts_by_distance: np.ndarray | None = field(repr=False)
    magnetisation: np.ndarray = field(repr=False)
    solutions: np.ndarray | None = field(repr=False)

    def __repr__(self):
        text = f"{self.count:,} solution{'' if self.count == 1 else 's'}"
        if self.count:
            text += f", entropy {self.entropy:.4f} nats per weight, overlap {self.overlap:.4f}"
            text += f"; keep={self.count} would keep them" if self.solutions is None else ""
        problem = f"{self.device}, N={self.N}, P={self.P}, {self.constraint}"
        return f"Enumeration({problem}: {text})"

    @property
    def entropy(self) -> float:
        """``ln(count) / N`` in nats per weight [eq-entropy]; minus infinity for no solution."""
        return math.log(self.count) / self.N if self.count else -math.inf

    @property
    def overlap(self) -> float:
        """Mean overlap of two solutions drawn independently, ``sum_i m_i^2 / N`` [eq-overlap].

        The draws are uniform and with replacement: one pair in `count` is a solution with
        itself, at overlap 1. NaN where there is no solution.
        """
        return float(np.mean(self.magnetisation**2))

    @property
    def overlap_distinct(self) -> float:
        """Mean overlap over the pairs of two *different* solutions.

        It leaves out the share ``1 / count`` that `overlap` owes to a solution paired with
        itself, which vanishes as N grows and matters at small N. NaN below two solutions.
        """
        if self.count < 2:
            return math.nan
        return (self.overlap - 1 / self.count) / (1 - 1 / self.count)

    def count_at(self, margin: ArrayLike) -> int | Array:
        """Return the number of solutions at a margin not below the one enumerated.

        Parameters
        ----------
        margin : float or array_like
            Dimensionless; compared with the stabilities as in `enumerate_solutions`.

        Returns
        -------
        int or numpy.ndarray
            An int for a scalar; for an array, int64 of its shape.

        Raises
        ------
        TypeError
            If `margin` is not real.
        ValueError
            If `margin` is not finite or lies below the margin that was enumerated.
        """
        margin = arguments.array("margin", margin)
        if margin.ndim == 0:
            margin = arguments.real("margin", margin)
            steps, least = _steps(self.device, self.N), self.constraint.kappa
            beyond = _agreements_needed(margin, steps) - _agreements_needed(least, steps)
            if beyond < 0:
                raise ValueError(
                    f"margin must not lie below {least}, where the solutions were "
                    f"enumerated, got {margin}"
                )
            return int(self.counts_by_margin[beyond:].sum())
        margin = arguments.reals("margin", margin)
        counts = [self.count_at(threshold) for threshold in margin.flat]
        return np.array(counts, dtype=np.int64).reshape(margin.shape)

    def entropy_at(self, margin: ArrayLike) -> float | Array:
        """Return ``ln(count_at(margin)) / N`` in nats per weight; minus infinity for none.

        Parameters
        ----------
        margin : float or array_like
            Dimensionless, not below the margin that was enumerated.

        Returns
        -------
        float or numpy.ndarray
            A float for a scalar; for an array, float64 of its shape.

        Raises
        ------
        TypeError, ValueError
            As `count_at`.
        """
        counts = self.count_at(margin)
        if np.ndim(counts) == 0:
            return math.log(counts) / self.N if counts else -math.inf
        logarithm = np.full(counts.shape, -np.inf)  # type: ignore[union-attr]
        np.log(counts, out=logarithm, where=counts > 0)
        return logarithm / self.N


@arguments.checked
def enumerate_solutions(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    constraint: Margin = Margin(0.0),
    *,
    reference: ArrayLike | None = None,
    keep: Annotated[int, Ge(0)] = 0,
    force: bool = False,
    progress: bool | None = None,
    threads: Count | None = None,
) -> Enumeration:
    """Count the binary weights that store all patterns, exactly, by judging all 2^N.

    A weight vector w is a solution when every stability, for the perceptron ``sigma (w . xi) /
    sqrt(N)`` [eq-stability], lies strictly above the margin. The comparison is made once, between
    integers: a stability is one of the N + 1 numbers ``s / sqrt(N)`` with s = -N, -N + 2, ..., N,
    and the margin is turned into the least s above it. A margin within 1e-12 sqrt(N) of such a
    number is taken to be that number, so at N = 25 the margins ``0.6``, ``3 / sqrt(25)`` and an
    entry of `Enumeration.margins` all exclude the stability with s = 3, however they were rounded.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or ParityMachine
        With binary weights and, in a committee, sign units. Beyond one unit N/K is at most 20.
        Ties are errors: at even N/K no unit of a solution has a preactivation of 0 on any pattern.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1, N at most 60.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    constraint : Margin
        The margin. Below -sqrt(N) everything is a solution. Other devices than the perceptron
        are counted at margin 0.
    reference : array_like, optional
        Weights, shape (N,) or (K, N/K), entries -1 and +1, to count distances from.
    keep : int
        Return the solutions themselves if there are at most this many; not negative.
    force : bool
        Run even if it is estimated to take longer than a minute.
    progress : bool, optional
        Show a progress bar: True, False, or None for a bar on what is estimated to take more
        than two seconds.
    threads : int, optional
        Number of threads, at least 1; all that numba may use where None (``NUMBA_NUM_THREADS``,
        which joblib sets in its workers). The result does not depend on it.

    Returns
    -------
    Enumeration
        Counts by margin and by distance, entropy, overlap, and the solutions if kept.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If the device is none of those, an array does not hold signs, shapes do not match, a
        number is out of range, or N is so large that the run is estimated to take longer than a
        minute and `force` is not set.

    Notes
    -----
    The estimate is measured: random pieces of this very enumeration are timed, since the cost
    depends on the instance, from a fraction of a nanosecond per weight vector where the patterns
    leave few solutions to some 20 ns where most weight vectors are solutions (each is looked
    at). Machines of several units cost far less, since most weight vectors are never looked at:
    what counts is the combinations of all units but the last, and the solutions.

    Examples
    --------
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(P=10, N=21, rng=1)
    >>> enumerate_solutions(Perceptron(), xi, sigma).count
    702
    """
    checked(device, (Binary,), DEVICES)
    xi, sigma = arguments.patterns(xi, sigma)
    arguments.member("constraint", constraint, (Margin,))
    P, N = xi.shape
    if N > LARGEST:
        raise ValueError(
            f"xi has N = {N} columns, and 2^{N} weight vectors cannot be enumerated; "
            f"at most {LARGEST} are accepted, and in practice about 40"
        )
    _check_size(device, N, constraint)
    if reference is not None:
        reference = _reference(reference, device, N)
    if threads is None:
        threads = _threads.available()

    steps = _steps(device, N)
    needed = _agreements_needed(constraint.kappa, steps)
    centre = np.ones(N) if reference is None else reference
    if device.units > 1:
        parity = isinstance(device, ParityMachine)
        tables = enumerate_machines.tabulate(xi, sigma, device.units, parity, centre)
        walk = partial(_heard, enumerate_machines.walk, tables)
        prefix_bits = enumerate_machines.prefix_bits(tables)
        seconds = _heard(enumerate_machines.estimate, tables)
    else:  # one unit of any device is right where the perceptron is
        least = _agreements_needed(constraint.kappa, N)
        walk = partial(_walk_heard, *_tables(xi * sigma[:, None], least), least, _bits(centre))
        prefix_bits = min(max(N - _CHUNK, 0), _PREFIX)
        seconds = _estimate(walk, N)
    seconds /= min(threads, numba.config.NUMBA_DEFAULT_NUM_THREADS)
    if seconds > LONGEST and not force:
        raise ValueError(
            f"N = {N} means 2^{N} = {2.0**N:.1e} weight vectors, about {_duration(seconds)} "
            f"for these {P} patterns (threads: {threads}); pass force=True to run it anyway"
        )
    show = seconds > DELAY and watched() if progress is None else progress

    room = min(keep, 2 ** (N - prefix_bits))
    lowest, distances, ups = 0, np.zeros(N + 1, dtype=np.int64), np.zeros(N, dtype=np.int64)
    kept = []
    for part in _run(lambda prefix: walk(prefix, prefix_bits, room), prefix_bits, threads, show):
        lowest = lowest + part[0]
        distances += part[1]
        ups += part[2]
        kept.append(part[3])
        if lowest.sum() > keep:
            kept.clear()
    count = int(lowest.sum())  # type: ignore[union-attr]  # there is a part or more
    if len(lowest) > steps + 1:  # type: ignore[arg-type]  # one unit, of which the stability is the vote
        lowest = np.array([0, count])
    return Enumeration(
        device=device,
        N=N,
        P=P,
        constraint=constraint,
        count=count,
        margins=(2 * np.arange(needed, steps + 1) - steps) / np.sqrt(steps),
        counts_by_margin=lowest[needed:],  # type: ignore[index]
        counts_by_distance=None if reference is None else distances,
        magnetisation=(2 * ups - count) / count if count else np.full(N, np.nan),
        solutions=_signs(np.sort(np.concatenate(kept)), N) if count <= keep else None,
    )


def _check_size(device, N, constraint):
    """Refuse units that do not divide N, and what machines of several cannot have."""
    inside = device.shape(N)[-1]
    if device.units > 1 and inside > enumerate_machines.LARGEST_UNIT:
        raise ValueError(
            f"device must have at most {enumerate_machines.LARGEST_UNIT} weights in each of "
            f"several units, all 2^{inside} vectors of which are tabulated, got {inside} with "
            f"N = {N} in {device!r}"
        )
    if constraint != Margin(0.0) and not isinstance(device, Perceptron):
        raise ValueError(f"constraint must be Margin(0.0) but for a Perceptron, got {constraint}")


def _reference(reference, device, N):
    """Return the reference flat, after checking that it has one entry per weight."""
    ndim = np.ndim(arguments.array("reference", reference))
    reference = arguments.signs("reference", reference, 2 if ndim == 2 else 1)
    if reference.shape not in ((N,), device.shape(N)):
        raise ValueError(
            f"reference must have one entry per weight: xi has {N} columns, "
            f"reference has shape {reference.shape}"
        )
    return reference.ravel()


def _steps(device, N):
    """Return n, where a stability is one of the n + 1 numbers (-n, -n + 2, ..., n) / sqrt(n)."""
    return {Perceptron: N, TreeCommittee: device.units, ParityMachine: 1}[type(device)]


def _agreements_needed(margin, N):
    """Return how many weights must agree with a pattern for a stability above `margin`.

    With u weights equal to ``sigma xi_i`` the stability is ``(2u - N) / sqrt(N)``. The least
    sufficient u lies between 0 (any weights will do) and N + 1 (none will). For a committee
    read units for weights.
    """
    bounded = min(max(margin, -2 * math.sqrt(N)), 2 * math.sqrt(N))
    level = (bounded * math.sqrt(N) + N) / 2
    nearest = round(level)
    if abs(level - nearest) <= 1e-12 * N / 2:  # the margin is a stability, up to rounding
        level = nearest
    return min(max(math.floor(level) + 1, 0), N + 1)


def _estimate(walk, N):
    """Return the seconds that one thread needs, from timing random pieces of the work."""
    if N <= _UNTIMED:
        return 0.0
    pieces = np.random.default_rng(0).integers(2 ** (N - _PIECE), size=_PIECES)
    walk(int(pieces[0]), N - _PIECE, 0)  # compiles, where it was not
    start = time.perf_counter()
    for prefix in pieces:
        walk(int(prefix), N - _PIECE, 0)
    return (time.perf_counter() - start) / _PIECES * 2.0 ** (N - _PIECE)


def _duration(seconds):
    """Return a time as people say it."""
    for unit, size in (("years", 31556952), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


def _run(task, prefix_bits, threads, show):
    """Yield the result of `task` for every prefix, as they come.

    Threads of Python, not numba's `prange`: the kernel releases the GIL, the bar advances and
    an interrupt is heard between two tasks, and two callers at once do not meet in one of
    numba's threading layers that allows only one.
    """
    tasks = 2**prefix_bits
    threads = min(threads, tasks)
    with ThreadPool(threads) if threads > 1 else nullcontext() as pool:
        results = pool.imap_unordered(task, range(tasks)) if pool else map(task, range(tasks))
        if show:
            from tqdm.auto import tqdm

            results = tqdm(results, total=tasks, desc="enumerating", unit="chunk")
        yield from results


def _walk_heard(*arguments):
    """Call the perceptron's kernel, and let an interrupt that came meanwhile be one."""
    return _heard(walk, *arguments)


def _heard(kernel, *arguments):
    """Call what runs a kernel, and let an interrupt that came meanwhile be one."""
    try:
        return kernel(*arguments)
    except SystemError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise


def _bits(w):
    """Return weights as an integer, +1 as a one, the first weight in the highest bit."""
    return int("".join("1" if sign > 0 else "0" for sign in w), 2)


def _signs(words, N):
    """Return the weights that `_bits` turns into `words`, int64, shape (len(words), N)."""
    shifts = np.arange(N - 1, -1, -1, dtype=np.uint64)
    return 2 * ((words[:, None] >> shifts) & np.uint64(1)).astype(np.int64) - 1


# --- the kernel: eight patterns per 64-bit word -------------------------------------------------
#
# The byte of a pattern holds 128 + (weights that can still agree with it) - (weights that must).
# A weight not yet chosen can agree with every pattern. So each byte starts at 128 + N - needed
# and goes down by one with every chosen weight that disagrees: its top bit says whether the
# pattern can still be right, and once all weights are chosen, whether it is. With needed from 0
# to N + 1 and N <= 60 a byte stays between 127 - 60 and 128 + 60: no sum ever carries from one
# byte into the next, and a word can be added to as one integer. Bytes left over in the last word
# stay at 255, a pattern that is always right and never the smallest.

_TOP = np.uint64(0x8080808080808080)  # the top bit of each byte
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)  # the other seven
_1 = np.uint64(1)


def _tables(aligned, needed):
    """Return the kernel's words for patterns times labels, shape (P, N).

    ``start`` (words,) is the state before any weight is chosen; ``cost`` (N, 2, words) has a one
    in the byte of each pattern that disagrees with weight i at -1 and at +1; ``block`` (words,
    2^b) sums that cost over the last b weights for each of their choices.
    """
    P, N = aligned.shape
    width = 8 * math.ceil(P / 8)
    start = np.full(width, 255, dtype=np.uint8)
    start[:P] = 128 + N - needed
    cost = np.zeros((N, 2, width), dtype=np.uint8)
    cost[:, 0, :P] = aligned.T > 0
    cost[:, 1, :P] = aligned.T < 0
    start, cost = start.view(np.uint64), cost.view(np.uint64)

    size = min(_BLOCK, N)
    choices = np.arange(2**size)
    block = sum(cost[N - 1 - bit, (choices >> bit) & 1] for bit in range(size))
    return start, cost, np.ascontiguousarray(block.T)


@njit(cache=True, nogil=True)
def walk(start, cost, block, needed, reference, prefix, prefix_bits, room):
    """Visit the weights whose first `prefix_bits` signs are those of `prefix`.

    Returns the number of solutions by the agreements of their worst pattern (N + 1,), by their
    Hamming distance from `reference` (N + 1,), with each weight up (N,), and the first `room`
    of them as integers (see `_bits`).
    """
    N = len(cost)
    words, block_size = block.shape
    block_bits = np.int64(trailing_zeros(np.uint64(block_size)))
    walk_bits = N - block_bits - prefix_bits

    lowest = np.zeros(N + 1, dtype=np.int64)
    distances = np.zeros(N + 1, dtype=np.int64)
    ups = np.zeros(N, dtype=np.int64)
    kept = np.empty(room, dtype=np.uint64)
    n_kept = 0

    # The prefix, then -1 for every weight of the walk; the block's are not yet chosen.
    weights = np.uint64(prefix) << np.uint64(N - prefix_bits)
    state = start.copy()
    for i in range(N - block_bits):
        sign = np.int64((weights >> np.uint64(N - 1 - i)) & _1)
        for word in range(words):
            state[word] -= cost[i, sign, word]

    # What a flip of the walk's weight at `bit` adds to the state: row 2 bit for one that goes
    # down, 2 bit + 1 for one that goes up. Bytes of +1, 0 and -1, summed as one integer.
    flips = np.empty((2 * walk_bits, words), dtype=np.uint64)
    for bit in range(walk_bits):
        i = N - 1 - block_bits - bit
        for word in range(words):
            flips[2 * bit, word] = cost[i, 1, word] - cost[i, 0, word]
            flips[2 * bit + 1, word] = cost[i, 0, word] - cost[i, 1, word]

    passed = np.empty(block_size, dtype=np.uint64)
    for k in range(1 << walk_bits):
        if k > 0:  # step k of the Gray code flips the bit that ends the zeros of k
            bit = np.int64(trailing_zeros(np.uint64(k)))
            place = np.uint64(bit + block_bits)
            weights ^= _1 << place
            row = 2 * bit + np.int64((weights >> place) & _1)
            for word in range(words):
                state[word] += flips[row, word]

        hope = _TOP
        for word in range(words):
            hope &= state[word]
        if hope != _TOP:  # some pattern is lost whatever the block's weights
            continue

        passed[:] = _TOP
        for word in range(words):
            for choice in range(block_size):
                passed[choice] &= state[word] - block[word, choice]
        for choice in range(block_size):
            if passed[choice] != _TOP:
                continue
            solution = weights | np.uint64(choice)
            smallest = _TOP | _LOW
            for word in range(words):
                smallest = _bytewise_min(smallest, state[word] - block[word, choice])
            for shift in (32, 16, 8):  # halve: byte 0 ends as the least of the eight
                smallest = _bytewise_min(smallest, smallest >> np.uint64(shift))
            lowest[needed + np.int64(smallest & np.uint64(0x7F))] += 1
            distances[np.int64(ones(solution ^ np.uint64(reference)))] += 1
            for i in range(N):
                ups[i] += np.int64((solution >> np.uint64(N - 1 - i)) & _1)
            if n_kept < room:
                kept[n_kept] = solution
                n_kept += 1
    return lowest, distances, ups, kept[:n_kept].copy()


@njit(cache=True, nogil=True)
def _bytewise_min(a, b):
    """Return the lesser of each pair of bytes, where the bytes of `a` have their top bit set.

    Where the top bit of a byte of `b` is missing too, that byte of the result means nothing,
    and harms no other.
    """
    not_above = (a - (b & _LOW)) & _TOP  # 128 + x - y > 0 with x, y < 128: nothing is borrowed
    take_b = not_above - (not_above >> np.uint64(7))  # 0x7F in each byte where y <= x
    return (a & ~take_b) | (b & take_b)
