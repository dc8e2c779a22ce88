"""A first line that does not wait: what devices and theory load and compile when imported."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from wfmlib.numerics import gaussian

LATER = ["matplotlib", "pandas", "pooch", "scipy.optimize", "scipy.special", "xarray"]
CODE = f"""
import sys
from wfmlib import Perceptron, theory
assert all(getattr(theory, name) for name in theory.__all__)
loaded = [name for name in {LATER} if name in sys.modules]
assert not loaded, loaded
from wfmlib.numerics._universal import Universal
modules = [module for name, module in sys.modules.items() if name.startswith("wfmlib")]
lazy = [one for module in modules for one in vars(module).values() if isinstance(one, Universal)]
compiled = [one.__name__ for one in lazy if "compiled" in vars(one)]
assert lazy and not compiled, compiled
assert 0.0 < theory.typical.solve(Perceptron(), 0.3).q < 1.0
assert "scipy.optimize" not in sys.modules
"""


def test_theory_loads_and_compiles_only_what_it_needs():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


FIRST = """
from wfmlib import Margin, Perceptron, ReLU, Spherical, TreeCommittee
from wfmlib.theory import franz_parisi, typical
for device in (Perceptron(), Perceptron(Spherical()), TreeCommittee(float("inf"), ReLU())):
    typical.solve(device, 0.3, Margin(0.1)).replicon, typical.capacity(device)
    franz_parisi.solve(device, 0.3, 0.2)
typical.max_margin(Perceptron(), 0.5)
"""


def test_first_points_compile_nothing(tmp_path):
    """An empty cache stays empty."""
    settings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", FIRST], env=settings, check=True)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@njit
def _twice(x):
    return 2.0 * gaussian.H(x)


def test_a_universal_function_is_one_for_arrays_and_in_kernels():
    x = np.linspace(-1.0, 1.0, 5)
    assert isinstance(gaussian.H(0.0), float)
    out = np.empty(5)
    assert gaussian.H(x, out=out) is out
    assert np.array_equal(out, [gaussian.H(one) for one in x])
    assert gaussian.H.nin == 1
    assert _twice(0.3) == 2.0 * gaussian.H(0.3)
    assert gaussian.H.__doc__.startswith("Tail of the normal density")
    with pytest.raises(TypeError):
        gaussian.H(1j)
    with pytest.raises(AttributeError, match="has no attribute '_nothing'"):
        getattr(gaussian.H, "_nothing")  # noqa: B009


def test_a_universal_function_travels_by_name():
    assert pickle.loads(pickle.dumps(gaussian.H)) is gaussian.H
    assert len(pickle.dumps(gaussian.H)) < 60
