"""Threads for one problem that fills the machine: Python's, over kernels that release the GIL.

Never numba's `prange`. Its pool of threads outlives the call: a process that forks after it has a
child that dies or hangs, and two callers at once meet in a layer that may allow only one. The
threads here end with the call.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar

import numba

_LIMIT = ContextVar("limit", default=None)


def available():
    """Return how many threads a problem may use.

    ``NUMBA_NUM_THREADS``, which joblib sets, or fewer within `at_most`.
    """
    limit = _LIMIT.get()
    threads = numba.config.NUMBA_NUM_THREADS
    return threads if limit is None else min(limit, threads)


@contextmanager
def at_most(threads):
    """Keep the problems solved within this context to so many threads, unless they are told."""
    token = _LIMIT.set(threads)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def run(kernel, length, share, threads):
    """Call ``kernel(start, stop)`` on consecutive shares of a range, in any order.

    Parameters
    ----------
    kernel : callable
        Releases the GIL, and writes only what belongs to its share: results then depend neither
        on the number of threads nor on their order.
    length, share, threads : int
        Positive. Shares that have not begun are dropped when one raises.
    """
    starts = range(0, length, share)
    stops = [min(start + share, length) for start in starts]
    if threads == 1 or len(starts) == 1:
        for part in zip(starts, stops, strict=True):
            kernel(*part)
        return
    with ThreadPoolExecutor(min(threads, len(starts))) as pool:
        for _ in pool.map(kernel, starts, stops):  # waits, and raises what a share has raised
            pass
