"""The density of stabilities on a fine grid, in typical solutions and in dense regions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wfmlib.models import TreeCommittee
from wfmlib.theory import stabilities

POINTS = np.linspace(0.0, 4.0, 4001)


@pytest.mark.parametrize("replicas", [None, 20.0, math.inf], ids=["typical", "20", "inf"])
def bench_density(benchmark, replicas):
    options = {} if replicas is None else {"overlap": 0.9, "replicas": replicas}
    found = benchmark.pedantic(
        stabilities.density,
        args=(TreeCommittee(np.inf), 1.0, POINTS),
        kwargs=options,
        rounds=2,
        warmup_rounds=1,
    )
    assert np.all(found >= 0.0)
