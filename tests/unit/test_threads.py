"""Threads over kernels: the same numbers however many, and nothing that a fork could trip over."""

import multiprocessing
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from wfmlib.numerics import _threads
from wfmlib.theory.machines import committee_of_three

ROUGH = 2  # nodes in a panel: the arithmetic matters here, not the integral
# Groups of a common grid, groups with nodes of their own, infinitely many replicas.
CALLS = [
    lambda: committee_of_three.pattern_averages(0.3, 0.3, 0.4, 2.5, order=ROUGH, step=2.5),
    lambda: committee_of_three.pattern_averages(0.3, 1e-3, 0.4, 2.5, order=ROUGH, step=2.5),
    lambda: committee_of_three.limit_averages(0.5, 0.3, order=ROUGH),
]
FORKED = """
import multiprocessing, os, runpy, sys
CALLS = runpy.run_path(sys.argv[1])["CALLS"]
before = [tuple(call()) for call in CALLS]
def differs(k):
    return tuple(CALLS[k]()) != before[k]
child = os.fork()
if child == 0:
    os._exit(sum(map(differs, range(len(CALLS)))))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child differs, or died"
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(differs, range(len(CALLS))) == [False] * len(CALLS)
"""


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("share", [1, 3, 20])
def test_every_share_is_called_once(threads, share):
    seen = np.zeros(7, int)

    def kernel(start, stop):
        assert 0 < stop - start <= share
        seen[start:stop] += 1

    _threads.run(kernel, 7, share, threads)
    assert seen.tolist() == [1] * 7


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_share_raises_is_raised_and_the_rest_dropped(threads):
    seen = []

    def kernel(start, stop):
        seen.append(start)
        if start == 0:
            raise ValueError("out of range")
        time.sleep(0.02)

    with pytest.raises(ValueError, match="out of range"):
        _threads.run(kernel, 100, 1, threads)
    assert len(seen) < 100


def test_threads_end_with_the_call():
    before = threading.active_count()
    _threads.run(lambda start, stop: None, 10, 1, 3)
    assert threading.active_count() == before


@pytest.mark.parametrize("call", CALLS)
def test_the_number_of_threads_changes_no_bit(monkeypatch, call):
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(_threads, "available", lambda threads=threads: threads)
        found.append(tuple(call()))
    assert np.all(np.isfinite(found[0]))
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_two_callers_at_once_get_what_one_gets():
    alone = [tuple(call()) for call in CALLS]
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(call) for call in CALLS for _ in range(2)]
        assert [tuple(one.result(timeout=60)) for one in both] == [x for x in alone for _ in "ab"]


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
def test_a_forked_child_and_a_pool_work_after_a_solve():
    """In a process of its own, with a limit: what fails hangs."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED, __file__],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
