"""What the benchmarks share: how a time becomes a row of the table, and its conditions."""

from __future__ import annotations

import os

import numba
import numpy
import pytest
import scipy
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Keep the libraries to one thread: times are those of one core."""
    with threadpool_limits(1):
        yield


def pytest_benchmark_update_machine_info(machine_info):
    """Keep what a time depends on beside the program."""
    machine_info["load"] = os.getloadavg()[0]
    machine_info["cores"] = os.cpu_count()
    machine_info["libraries"] = ", ".join(
        f"{one.__name__} {one.__version__}" for one in (numpy, scipy, numba)
    )


@pytest.fixture
def row(benchmark):
    """Return a function that times another one for a row of the table.

    Its arguments: what the row is called; the function; the unit, and how many seconds of the
    function are one of it; the name of what stands beside, if this is not ours, or that and its
    number, if it was told to us; how many rounds, if pytest-benchmark is not to choose; and what
    is called before each.
    """

    def timed(what, function, unit="s", per=1.0, *, beside="", quoted=(), rounds=0, setup=None):
        benchmark.extra_info.update(what=what, unit=unit, per=per, beside=beside, quoted=quoted)
        if not rounds:
            return benchmark(function)
        return benchmark.pedantic(function, setup=setup, rounds=rounds, warmup_rounds=1)

    return timed
