"""The Gaussian tail beside scipy.special."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from wfmlib.numerics.gaussian import H, hazard, log_H

pytestmark = pytest.mark.benchmark(group="Special functions, arrays of 100,000")

POINTS = np.random.default_rng(1).uniform(-6.0, 30.0, 100_000)
TAIL = {
    H: ("`gaussian.H`", "`scipy.special.ndtr`", lambda x: special.ndtr(-x)),
    log_H: ("`gaussian.log_H`", "`scipy.special.log_ndtr`", lambda x: special.log_ndtr(-x)),
    hazard: (
        "`gaussian.hazard`",
        "`scipy.special.erfcx`",
        lambda x: math.sqrt(2 / math.pi) / special.erfcx(x / math.sqrt(2)),
    ),
}


@pytest.mark.parametrize("peer", [False, True], ids=["ours", "scipy"])
@pytest.mark.parametrize("ours", TAIL, ids=lambda one: one.__name__)
def bench_tail(row, ours, peer):
    what, beside, theirs = TAIL[ours]
    function = theirs if peer else ours
    found = row(what, lambda: function(POINTS), "ns an entry", 1e-4, beside=beside if peer else "")
    np.testing.assert_allclose(found, ours(POINTS), rtol=2e-12)
