"""Bounds of capacities by counting, which several checks compare with."""

from __future__ import annotations

import math

from scipy import optimize


def counting_bound(units):
    """Return the largest load at which K tree units can answer in enough different ways."""

    def excess(load):
        p = 1.0 / (load * units)
        return -units * (p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p)) - 1.0

    return optimize.brentq(excess, (2.0 + 1e-9) / units, 1e3)
