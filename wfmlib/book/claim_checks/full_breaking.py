"""Checks of the claims on full replica symmetry breaking (chapter 11)."""

from __future__ import annotations

import numpy as np

from wfmlib.book import experiments
from wfmlib.book.claim_checks.bounds import counting_bound
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import ReLU, TreeCommittee
from wfmlib.theory import full_breaking, typical

AGREE = 1e-9  # of two exponents, whose absolute errors are below 1e-10
FEW = (3, 5, 7)  # sign units
CLOSE = 0.02  # relative, of a law for many units


def relu_one_step_capacity():
    """The capacity of infinitely many rectifiers, spherical weights, one step of breaking."""
    return typical.capacity(TreeCommittee(np.inf, ReLU()), ansatz="1RSB")


def overlap_gap_for_some_margins():
    """The breaking function at capacity, spherical perceptrons of ten negative margins."""
    table = experiments.complete("full-margins").isel(sample=0)
    gapped = np.isfinite(table.gap_low.values)
    kappa = table.kappa.values
    return bool(gapped.any() and not gapped.all()), (
        f"at capacity, a gap at margins {listed(kappa[gapped], 1)}, none at "
        f"{listed(kappa[~gapped], 1)}"
    )


def full_breaking_lowers_every_capacity():
    """Capacities of seven activations, with two steps and with the continuous hierarchy."""
    table = experiments.complete("full-capacities").isel(sample=0)
    lower = (table.two_steps - table.full).values
    return bool(np.all(lower > table.error.values)), (
        f"lower than two steps by {1e3 * lower.min():.1f} to {1e3 * lower.max():.1f} thousandths "
        f"of a pattern per weight, more than the errors, for {', '.join(table.activation.values)}"
    )


def one_step_lowers_few_units():
    """The capacity of three, five and seven sign units, with one step of breaking and without."""
    capacities = [full_breaking.finite_capacity(TreeCommittee(units)) for units in FEW]
    broken, symmetric = (
        [getattr(capacity, name) for capacity in capacities] for name in ("alpha", "symmetric")
    )
    return all(capacity.symmetric - capacity.alpha > capacity.error for capacity in capacities), (
        f"{listed(broken, 3)} with one step, {listed(symmetric, 3)} without, for K = "
        f"{', '.join(map(str, FEW))}"
    )


def symmetric_capacity_grows_as_root():
    """The replica-symmetric capacity of ten thousand and of a million sign units."""
    few, many = 10_001, 1_000_001
    growth = typical.capacity(TreeCommittee(many)) / typical.capacity(TreeCommittee(few))
    expected = (many / few) ** 0.5
    return abs(growth / expected - 1.0) < CLOSE, (
        f"a hundred times as many units store {growth:.2f} times as much: {expected:.2f} by "
        "the law"
    )


def symmetric_capacity_below_counting():
    """The replica-symmetric capacity of few sign units, and the bound by counting answers."""
    capacities = [typical.capacity(TreeCommittee(units)) for units in FEW]
    bounds = [counting_bound(units) for units in FEW]
    below = [capacity < most for capacity, most in zip(capacities, bounds, strict=True)]
    return below == [True, True, False], (
        f"{listed(capacities, 2)} at K = {', '.join(map(str, FEW))}, where counting gives "
        f"{listed(bounds, 2)}"
    )


def jamming_exponents_relation():
    """The exponents from the scaling equations, by a boundary-value problem."""
    jamming = full_breaking.exponents()
    differences = (
        abs(jamming.gaps - 1.0 / (2.0 + jamming.forces)),
        abs(jamming.overlaps - 2.0 + 2.0 / (3.0 + jamming.forces)),
    )
    return max(differences) < AGREE, (
        f"exponents {jamming.gaps:.6f}, {jamming.forces:.6f}, {jamming.overlaps:.6f}; the "
        "relations hold to nine digits"
    )
