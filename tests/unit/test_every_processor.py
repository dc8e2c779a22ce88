"""Trainings of thousands of steps, bit for bit the same as this processor and as others.

The others are settings of this one (`tools/elsewhere.py`), which a process has to start with:
this file, run as a program, trains and prints a digest of every bit of what came out.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools import elsewhere
from wfmlib import landscape, learning, patterns
from wfmlib.learning.descent.schedules import FAST_IMAGES, SLOW, Schedule
from wfmlib.models import Committee, TreeCommittee
from wfmlib.numerics import portable

ROOT = Path(__file__).parents[2]
# Steep enough that units saturate and patterns fall silent.
STEEP = Schedule(
    eta=0.05, gamma=2.0, beta=1.0, beta_growth=0.02, stop=1e-9, batch=17, loss="plain"
)


def trained():
    """Yield names and what came out: solutions, or arrays."""
    rng = np.random.default_rng(1)
    small_and_large = np.ldexp(rng.uniform(1, 2, 20_000), rng.integers(-1000, 1000, 20_000))
    x = np.concatenate(
        [rng.uniform(-750, 710, 20_000), rng.uniform(0, 1, 20_000), small_and_large]
    )
    yield "exp", np.array([portable.exp(one) for one in x])
    yield "log1p", np.array([portable.log1p(one) for one in np.abs(x)])

    a, b = ([rng.choice([-1, 1], shape) for shape in ((51, 63), (51, 51), (1, 51))] for _ in "ab")
    yield "matching", np.concatenate(landscape.match_layers(a, b), axis=None)

    xi, sigma = patterns.random(200, 165, rng=1)
    for where, wired in {"tree": TreeCommittee, "full": Committee}.items():
        three = wired(3)
        for name, schedule in {"slow": SLOW, "images": FAST_IMAGES, "steep": STEEP}.items():
            yield (
                f"sgd, {name}, {where}",
                learning.cross_entropy_sgd(
                    wired(5), xi, sigma, schedule=schedule, max_epochs=200, rng=0
                ),
            )
        yield (
            f"least action, {where}",
            learning.least_action(three, xi, sigma, eta=0.02, batch=10, max_epochs=300, rng=0),
        )
        yield (
            f"entropic least action, {where}",
            learning.entropic_least_action(
                three, xi, sigma, replicas=7, batch=30, max_epochs=100, rng=0
            ),
        )
    xi, sigma = patterns.random(300, 81, rng=2)
    for momentum in (0.0, 0.9):
        yield (
            f"binary, momentum {momentum}",
            learning.binary_sgd(
                xi,
                sigma,
                units=(41, 41),
                eta=3.0,
                momentum=momentum,
                batch=30,
                epochs=60,
                rng=0,
            ),
        )
    yield (
        "binary, ten classes",
        learning.binary_sgd(
            xi, np.arange(300) % 10, units=(41,), classes=10, eta=30.0, gamma=3.0, epochs=60, rng=0
        ),
    )


def digests():
    """Return a digest of each training: weights, and what was recorded on the way."""
    found = {}
    for name, result in trained():
        parts = [result]
        if isinstance(result, learning.Solution):
            layers = result.weights if isinstance(result.weights, list) else [result.weights]
            parts = [*layers, *result.history.values()]
            parts += [result.replicas] if hasattr(result, "replicas") else []
        bits = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        found[name] = hashlib.sha256(bits).hexdigest()[:16]
    return found


def found(**variables):
    """Return the digests of a process with these variables."""
    done = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.skipif("oldest" not in elsewhere.SETTINGS, reason="no settings of this architecture")
def test_the_same_bits():
    if not elsewhere.heard("oldest"):
        pytest.skip("this processor lacks its instructions")
    assert found(**elsewhere.environment("oldest")) == found()


if __name__ == "__main__":
    json.dump(digests(), sys.stdout)
