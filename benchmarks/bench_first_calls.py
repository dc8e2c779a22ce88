"""What the first use waits for: an import, and first calls that find no compiled kernel.

Each in a process of its own, which says the seconds itself; Python's own start is not in them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.benchmark(group="Before the first result")

CLOCK = "import time; began = time.perf_counter(); {}; print(time.perf_counter() - began)"
CALLS = {
    "typical.solve": (
        "from wfmlib.theory import typical; from wfmlib import Perceptron",
        "typical.solve(Perceptron(), 0.5)",
    ),
    "franz_parisi.solve": (
        "from wfmlib.theory import franz_parisi; from wfmlib import Perceptron, Margin",
        "franz_parisi.solve(Perceptron(), 0.5, 0.1, reference=Margin(0.1))",
    ),
    "focusing_bp": (
        "from wfmlib import Perceptron, learning, patterns; import numpy as np; "
        "xi, sigma = patterns.random(100, 201, rng=1)",
        "learning.focusing_bp(Perceptron(), xi, sigma, rng=1, stop_at_solution=True)",
    ),
}


def seconds(code, folder):
    """Return the number that a program prints; its kernels are kept in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout)


@pytest.mark.parametrize(
    ("beside", "modules"),
    [("", "wfmlib.theory"), ("NumPy, SciPy and numba alone", "numpy, scipy.special, numba")],
)
def bench_import(benchmark, row, tmp_path, beside, modules):
    code = CLOCK.format(f"import {modules}")
    seconds(code, tmp_path)  # compiled to bytecode
    found = row(
        "`from wfmlib import theory`",
        lambda: [seconds(code, tmp_path) for _ in range(5)],
        beside=beside,
        rounds=1,
    )
    benchmark.extra_info["seconds"] = min(found)


@pytest.mark.parametrize("beside", ["", "kernels kept"])
@pytest.mark.parametrize("name", CALLS)
def bench_first_call(benchmark, tmp_path, name, beside):
    before, call = CALLS[name]
    code = f"{before}; " + CLOCK.format(call)
    if beside:
        seconds(code, tmp_path)
    found = benchmark.pedantic(seconds, args=(code, tmp_path), rounds=1)
    benchmark.extra_info.update(
        what=f"first `{name}`, no kernel compiled", unit="s", beside=beside, seconds=found
    )
