"""With ``NUMBA_DISABLE_JIT=1`` all kernels run as Python, and find the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

CODE = """
import numpy as np
from wfmlib import Binary, Committee, Perceptron, Spherical, TreeCommittee
from wfmlib import landscape, learning, networks, patterns
from wfmlib.theory import typical

xi, sigma = patterns.random(4, 9, rng=1)
one, three = Perceptron(), TreeCommittee(3, weights=Binary())
flat = one.network(np.ones(9))
deep = networks.BinaryMLP([patterns.random(n, m, rng=2)[0] for n, m in ((70, 9), (5, 70))])
profile = landscape.error_profile(flat, xi, sigma, distances=[0.1], samples=2, rng=1)
few = {"rng": 1, "sweeps": 5}
found = [
    learning.enumerate_solutions(one, xi, sigma).count,
    learning.enumerate_solutions(three, xi, sigma).count,
    learning.solution_clusters(learning.all_weights(4), 1, 2),
    learning.surrounding_counts(learning.all_weights(4), 1).tolist(),
    learning.simulated_annealing(one, xi, sigma, **few).weights.tolist(),
    learning.replicated_annealing(three, xi, sigma, replicas=3, **few).replicas.tolist(),
    learning.binary_sgd(xi, sigma, units=[3], epochs=2, batch=2, rng=1).errors,
    learning.belief_propagation(one, xi, sigma, rng=1).entropy,
    learning.approximate_message_passing(one, xi, sigma, rng=1).entropy,
    learning.focusing_bp(one, xi, sigma, protocol=[0.1, 0.3], rng=1).weights.tolist(),
    learning.least_action(Committee(3), xi, sigma, rng=1).weights.tolist(),
    learning.cross_entropy_sgd(Committee(3), xi, sigma, max_epochs=2, rng=1).weights.tolist(),
    learning.potential_annealing(one, xi, sigma, widths=2, **few).weights.tolist(),
    typical.solve(Perceptron(Spherical()), 0.3).q,
    profile.to_array().values.tolist(),
    deep.output(xi).tolist(),
]
"""


def flat(result):
    return [x for part in result for x in flat(part)] if isinstance(result, list) else [result]


@pytest.mark.filterwarnings("ignore")
def test_kernels_run_without_the_compiler():
    program = CODE + "\nimport json\nprint(json.dumps(found, default=float))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    compiled = {}
    exec(CODE, compiled)
    assert flat(json.loads(done.stdout)) == pytest.approx(
        flat(compiled["found"]), rel=1e-9, abs=1e-12
    )


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    """As below a file, where there is no folder."""
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "cache"
    done = subprocess.run(
        [sys.executable, "-c", "import wfmlib"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"NUMBA_CACHE_DIR must name a folder that can be written to, got {str(place)!r}"
    assert said in done.stderr
    assert "unset it" in done.stderr
