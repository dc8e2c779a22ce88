"""What the benchmarks share: the conditions of a time are said first, what it means beside it."""

from __future__ import annotations

import os

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from wfmlib.book.runs import processor


@pytest.fixture(scope="session", autouse=True)
def conditions(request):
    """Print what a time depends on beside the program."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    blas = {
        f"{one['internal_api']} {one['version']} for {one.get('architecture', '?')}"
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    with capture.global_and_fixture_disabled():
        print(
            f"\n{processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}; "
            f"numpy {np.__version__}, numba {numba.__version__}, {', '.join(sorted(blas))}"
        )


@pytest.fixture(scope="module")
def one_thread():
    """Keep the libraries to one thread."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def tell(benchmark, capsys):
    """Return a function that prints a result, and keeps it with the time."""

    def say(what, **found):
        benchmark.extra_info.update(found)
        shown = (
            f"{name.replace('_', ' ')} {one:.3g}"
            if isinstance(one, float)
            else f"{name.replace('_', ' ')} {one}"
            for name, one in found.items()
        )
        with capsys.disabled():
            print(f"\n  {what}: {', '.join(shown)}")

    return say
