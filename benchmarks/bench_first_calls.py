"""What the first use waits for: an import, and first calls that find no compiled kernel.

Each in a process of its own, which says the seconds itself; Python's own start is not in them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CLOCK = "import time; began = time.perf_counter(); {}; print(time.perf_counter() - began)"
IMPORTS = {
    "wfmlib.theory": CLOCK.format("from wfmlib import theory"),
    "wfmlib.learning": CLOCK.format("from wfmlib import learning"),
    "numpy, scipy, numba": CLOCK.format("import numpy, scipy.special, numba"),
}
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


def seconds(code, folder=None):
    """Return what a program prints; kernels are kept in `folder`, or where they always are."""
    environment = dict(os.environ)
    if folder is not None:
        environment.pop("NUMBA_CACHE_DIR", None)
        environment["XDG_CACHE_HOME"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout)


@pytest.mark.benchmark(group="imports, seconds")
@pytest.mark.parametrize("name", IMPORTS)
def test_import(benchmark, tell, name):
    seconds(IMPORTS[name])  # compiled to bytecode
    found = benchmark.pedantic(lambda: [seconds(IMPORTS[name]) for _ in range(5)], rounds=1)
    tell(name, seconds=min(found))


@pytest.mark.benchmark(group="first calls, seconds")
@pytest.mark.parametrize("kept", [False, True], ids=["empty cache", "kernels kept"])
@pytest.mark.parametrize("name", CALLS)
def test_first_call(benchmark, tell, tmp_path, name, kept):
    before, call = CALLS[name]
    code = f"{before}; " + CLOCK.format(call)
    if kept:
        seconds(code, tmp_path)
    found = benchmark.pedantic(seconds, args=(code, tmp_path), rounds=1)
    tell(f"{name}, {'kernels kept' if kept else 'empty cache'}", seconds=found)
