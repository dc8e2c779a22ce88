"""Checks of the claims on drawing solutions, and on the paths between them (chapter 12)."""

from __future__ import annotations

import numpy as np

from wfmlib.book import experiments
from wfmlib.book.claim_checks import evidence
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import LogPotential, Margin, Perceptron, Spherical
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import connectivity, franz_parisi, large_deviation, localization, typical

BINARY, SPHERE = Perceptron(), Perceptron(Spherical())
POTENTIAL = LogPotential(1.0)
WANTED = Margin(-0.5)


def _falls(load, constraint):
    """Return by how much the time of the walk falls from its highest value so far."""
    time = localization.curve(BINARY, load, constraint=constraint, points=40).time.values
    return float(np.max(np.maximum.accumulate(time) - time))


def uniform_measure_of_sphere_is_drawn():
    """The load up to which the time of the walk grows, over that of RS instability."""
    margins = (-0.5, -1.0, -1.5)
    shares = [
        localization.threshold(SPHERE, constraint=Margin(kappa), points=20)
        / typical.instability(SPHERE, constraint=Margin(kappa))
        for kappa in margins
    ]
    return min(shares) > 0.9, (
        f"it is {listed(shares, 3)} of the load of the instability, at margins "
        f"{listed(margins, 1)}"
    )


def uniform_measure_of_signs_is_not_drawn():
    """By how much the time of the walk falls, at five loads from 0.05 on."""
    loads = (0.05, 0.2, 0.4, 0.6, 0.8)
    falls = [_falls(load, Margin(0.0)) for load in loads]
    return min(falls) > 1.0, (
        f"it falls at each of the loads {listed(loads, 2)}, by {min(falls):.0f} at least"
    )


def log_potential_is_drawn():
    """Whether the time of the walk grows, at five loads: the theory, no walk."""
    loads = (0.1, 0.3, 0.5, 0.6, 0.7)
    falls = [_falls(load, POTENTIAL) for load in loads]
    grows = [load for load, fall in zip(loads, falls, strict=True) if fall < 1e-6]
    return len(grows) == len(loads), (
        f"the time grows all the way at {len(grows)} of the loads {listed(loads, 1)}, up to "
        f"{max(grows, default=0.0):.1f}; the theory ends at 0.62"
    )


def annealed_potential_solves():
    """Share of the archived draws by the chain that are solutions, 501 weights.

    How the shape is annealed here is ours: it can only refute, where no draw is a solution.
    """
    draws = experiments.complete("sampling").sel({"N": 501, "method": "annealing"})
    share = (draws.errors == 0).mean(("draw", "sample"))
    easy = share.sel(alpha=slice(0.0, 0.5))
    return evidence.Answer(
        None if easy.min() > 0.5 else False,
        f"{float(easy.min()):.0%} of ten draws or more are solutions at loads up to 0.5, "
        f"{float(share.sel(alpha=0.6)):.0%} and {float(share.sel(alpha=0.7)):.0%} at 0.6 and 0.7",
    )


def convex_component():
    """The least margin of typical solutions whose simplices hold no errors, three loads."""
    loads = (1.0, 2.0, 3.0)
    margins = [connectivity.convex_margin(SPHERE, a, corners=np.inf) for a in loads]
    largest = [typical.max_margin(SPHERE, a) for a in loads]
    present = [k < top for k, top in zip(margins, largest, strict=True)]
    return all(present), (
        f"margins from {listed(margins, 2)} on, at loads {listed(loads, 0)} and κ = -0.5; the "
        f"largest are {listed(largest, 2)}"
    )


def high_margins_see_all():
    """The error on the way from a solution of the star's margin, load 1.5, κ = -0.5."""
    margin = connectivity.star_margin(SPHERE, 1.5, constraint=WANTED)
    places = np.linspace(0.0, 1.0, 21)
    most = np.max(
        connectivity.error(SPHERE, 1.5, places, Margin(margin + 1e-3), WANTED, constraint=WANTED)
    )
    return bool(most < 1e-6), f"from margin {margin:.3f} on, errors are below {1e-6:.0e}"


def star_ends():
    """Whether margins that see all typical solutions are there, at loads 3 and 3.8, κ = -0.5."""
    margins = []
    for load in (3.0, 3.8):
        try:
            margins.append(connectivity.star_margin(SPHERE, load, constraint=WANTED))
        except NotConverged:
            margins.append(None)
    return margins[0] is not None and margins[1] is None, (
        "at load 3 there are such margins, at load 3.8 there are none, in the replica symmetric "
        "theory; from load 3.6 on it is not stable at the margin that is needed"
    )


def _deficits(load, reference):
    """Return what local entropies around typical references miss of the densest groups'."""
    deficits = []
    for distance in (0.01, 0.1):
        point = franz_parisi.solve(BINARY, load, distance, reference=reference)
        try:
            y = large_deviation.zero_complexity_replicas(BINARY, load, point.p)
        except NotConverged:
            y = np.inf
        densest = large_deviation.solve(BINARY, load, point.p, replicas=y).entropy
        deficits.append(densest - point.local_entropy)
    return np.array(deficits)


def largest_margin_is_nearly_densest():
    """What local entropies miss of the densest groups', margins 0.99 κ_max and 0, four places.

    They are compared at the same overlap of the solutions counted; not too dissimilar is read as
    less than half of what is missing around typical solutions of margin 0.
    """
    loads = (0.3, 0.7)
    shares = []
    for load in loads:
        most = Margin(0.99 * typical.max_margin(BINARY, load))
        shares.append(np.max(_deficits(load, most) / _deficits(load, Margin(0.0))))
    return max(shares) < 0.5, (
        f"at most {listed(shares, 2)} of what is missing around typical solutions of margin 0, at "
        f"loads {listed(loads, 1)} and distances 0.01 and 0.1"
    )
