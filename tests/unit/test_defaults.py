"""Defaults of the numerics, written down a second time: one that moves, moves others' numbers.

A default is part of what a function says to those who leave it out, in a chapter, an archive or
code of their own. Whoever changes one changes it here too, and says so in the changelog.
"""

from __future__ import annotations

import inspect
import math

import pytest

from wfmlib import landscape, learning, networks, patterns, theory
from wfmlib.landscape.local_entropy import excess_at
from wfmlib.models import LogPotential, Margin
from wfmlib.numerics import gaussian, solvers
from wfmlib.theory import (
    clusters,
    connectivity,
    franz_parisi,
    franz_parisi_1rsb,
    full_breaking,
    large_deviation,
    localization,
    margin_students,
    stabilities,
    teacher_student,
    typical,
)

GRID = {"order": 16, "limit": 10.0, "tilt": 0.0}
COUNTED = {"constraint": Margin(0.0)}
AROUND = {"reference": Margin(0.0)} | COUNTED
DENSE = {"replicas": math.inf} | COUNTED
GROUPED = COUNTED | {"average": "annealed"}
DRAWN = {"rng": None}
QUIET = DRAWN | {"progress": False}
MESSAGES = {"form": "exact", "output": "exact"}
LOSS = {"loss": "square", "output_beta": 1.0, "gamma": 1.0}
TANGENT = LOSS | {"tangent": False}

DEFAULTS = [
    (gaussian.average, GRID),
    (gaussian.grid, GRID),
    (gaussian.legendre_rule, {"order": 16}),
    (solvers.continuation, {"failed": "raise", "progress": False}),
    (solvers.first_root, {"step": 1.0, "tolerance": 1e-14, "accuracy": 1e-6}),
    (solvers.accepted, {"state": None}),
    (solvers.bounded, {"report": None}),
    (solvers.fixed_point, {"tolerance": 1e-12, "max_iterations": 200, "memory": 5}),
    (patterns.random, DRAWN),
    (patterns.teacher_student, DRAWN),
    (
        learning.approximate_message_passing,
        COUNTED
        | QUIET
        | {"sigma": None, "damping": 0.0, "tolerance": 1e-6, "max_sweeps": 1000}
        | {"messages": None, "threads": None, "reference": None, "coupling": 0.0},
    ),
    (landscape.barrier, COUNTED | {"positions": 51, "match": False}),
    (landscape.simplex, {"steps": 20, "match": "none"}),
    (localization.curve, COUNTED | {"points": 100}),
    (localization.threshold, COUNTED | {"points": 60}),
    (connectivity.overlap, {"first": Margin(0.0), "second": Margin(0.0)}),
    (connectivity.error, {"first": Margin(0.0), "second": Margin(0.0)} | COUNTED),
    (connectivity.convex_margin, {"corners": 2, "constraint": Margin(-0.5)}),
    (connectivity.star_margin, {"constraint": Margin(-0.5)}),
    (
        learning.potential_annealing,
        {"constraint": LogPotential(1.0), "sweeps": 1000, "widths": 50, "first": 3.0}
        | {"last": 0.01}
        | QUIET,
    ),
    (
        learning.stochastic_localization,
        COUNTED
        | QUIET
        | {"sigma": None, "means": None, "end": None, "step": 0.05, "tolerance": 1e-4}
        | {"damping": 0.0, "max_sweeps": 100, "threads": None},
    ),
    (learning.atanh_steps, {"steps": 30, "cap": 10.0}),
    (
        learning.belief_propagation,
        MESSAGES
        | QUIET
        | {"reference": None, "coupling": 0.0, "order": "random"}
        | {"damping": 0.0, "tolerance": 1e-6, "max_sweeps": 1000, "messages": None},
    ),
    (
        learning.binary_sgd,
        {"classes": 2, "eta": 0.1, "momentum": 0.0, "gamma": 1.0, "spread": None}
        | {"batch": 100, "epochs": 100}
        | QUIET,
    ),
    (learning.cross_entropy_sgd, {"schedule": "fast", "max_epochs": 20_000} | QUIET),
    (
        learning.entropic_least_action,
        {"replicas": 20, "eta": 1e-2, "coupling": 0.5, "growth": 1e-4}
        | {"batch": 100, "collapse": 1e-7, "max_epochs": 10_000, "snapshots": ()}
        | QUIET,
    ),
    (
        learning.enumerate_solutions,
        COUNTED
        | {"reference": None, "keep": 0, "force": False, "progress": None, "threads": None},
    ),
    (learning.exponential, {"first": 0.5, "last": 30.0, "steps": 30}),
    (
        learning.focusing_bp,
        MESSAGES
        | QUIET
        | {"replicas": 10, "protocol": "papers", "damping": 0.5, "tolerance": 1e-4}
        | {"form": None, "max_sweeps": None, "stop_at_solution": None, "messages": None},
    ),
    (
        learning.least_action,
        {"eta": 5e-3, "batch": 100, "max_epochs": 10_000, "start": None} | QUIET,
    ),
    (learning.pseudo_reinforcement, {"steps": 30, "exponent": 0.5, "last": 0.99}),
    (
        learning.replicated_annealing,
        QUIET
        | {"loss": "errors", "gamma": 1.0, "replicas": 20, "overlap": 0.85, "tolerance": 0.01}
        | {"beta": (1.0, 6.0), "spacing": "geometric", "sweeps": 10_000, "steps": 1000}
        | {"ramp": 0.8, "gain": 0.5, "moves": "auto", "stop_early": True},
    ),
    (
        learning.simulated_annealing,
        QUIET
        | {"loss": "cross-entropy", "gamma": 1.0, "beta": (1.0, 50.0), "spacing": "geometric"}
        | {"sweeps": 1000, "steps": 100, "moves": "auto", "start": None}
        | {"stop_at_solution": True},
    ),
    (learning.state_evolution, COUNTED),
    (learning.surrounding_counts, {"centres": "all"}),
    (landscape.error_profile, {"samples": 20} | DRAWN),
    (excess_at, {"kind": "cubic"}),
    (landscape.gradient, TANGENT),
    (landscape.hessian, TANGENT),
    (landscape.hessian_product, TANGENT),
    (landscape.hessian_spectrum, TANGENT),
    (
        landscape.local_entropy,
        MESSAGES
        | QUIET
        | {"couplings": None, "damping": 0.0, "tolerance": 1e-6, "max_sweeps": 500},
    ),
    (landscape.match_layers, {"signs": True}),
    (landscape.match_units, {"signs": True}),
    (landscape.max_eigenvalue, TANGENT | {"tolerance": 1e-9, "max_iterations": 1000}),
    (landscape.noise_robustness, {"perturbations": 50, "kind": "flips", "bias": None} | DRAWN),
    (landscape.overlap, {"match": False, "signs": True}),
    (landscape.smallest_beta, {"tolerance": 1e-10}),
    (landscape.smoothed_loss, LOSS),
    (typical.capacity, COUNTED | {"ansatz": "RS"}),
    (typical.curve, COUNTED | {"progress": False}),
    (typical.instability, COUNTED),
    (typical.solve, COUNTED),
    (typical.solve_1rsb, COUNTED),
    (franz_parisi.curve, AROUND | {"progress": False}),
    (franz_parisi.dense_threshold, COUNTED),
    (franz_parisi.distance_of_maximum, AROUND),
    (franz_parisi.gap, AROUND),
    (franz_parisi.gapless_threshold, COUNTED),
    (franz_parisi.local_entropy, AROUND),
    (franz_parisi.margin_monotonic, COUNTED),
    (franz_parisi.margin_no_gap, COUNTED),
    (franz_parisi.solve, AROUND),
    (franz_parisi_1rsb.search, AROUND | {"m": (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0)}),
    (franz_parisi_1rsb.solve, AROUND | {"m": None, "start": None}),
    (clusters.breakup, COUNTED),
    (clusters.curve, GROUPED | {"progress": False}),
    (clusters.entropy, GROUPED),
    (clusters.first_gap, GROUPED),
    (clusters.first_nested_gap, GROUPED),
    (clusters.last_load, GROUPED),
    (clusters.nested_entropy, GROUPED),
    (clusters.nested_threshold, GROUPED),
    (clusters.overlap_gap, GROUPED),
    (clusters.solve, GROUPED),
    (clusters.threshold, GROUPED),
    (full_breaking.at_load, COUNTED | {"steps": 2}),
    (full_breaking.fields, {"nodes": 1200}),
    (full_breaking.finite_capacity, COUNTED),
    (full_breaking.gap_onset, COUNTED | {"steps": 3}),
    (full_breaking.solve, COUNTED | {"steps": None}),
    (large_deviation.curve, DENSE | {"progress": False}),
    (large_deviation.dense_threshold, DENSE),
    (large_deviation.energetic_term, DENSE),
    (large_deviation.local_entropy, DENSE),
    (large_deviation.overlap_range, COUNTED),
    (large_deviation.solve, DENSE),
    (large_deviation.zero_complexity_replicas, COUNTED),
    (stabilities.cumulative, COUNTED | {"overlap": None, "replicas": None}),
    (stabilities.density, COUNTED | {"overlap": None, "replicas": None}),
    (teacher_student.curve, AROUND | {"progress": False}),
    (teacher_student.dense_threshold, COUNTED),
    (teacher_student.local_entropy, AROUND),
    (teacher_student.perfect_learning, COUNTED),
    (teacher_student.solve, COUNTED),
    (margin_students.solve, COUNTED),
    (margin_students.surroundings, COUNTED),
]
MODULES = [gaussian, solvers, patterns, networks, learning, landscape]
MODULES += [getattr(theory, name) for name in theory.__all__]


def defaults(function):
    """Return what a function takes where nothing is said."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


@pytest.mark.parametrize(
    ("function", "expected"),
    DEFAULTS,
    ids=[f"{one.__module__.rpartition('.')[2]}.{one.__name__}" for one, _ in DEFAULTS],
)
def test_defaults_are_those_written_down(function, expected):
    found = defaults(function)
    assert found == expected
    assert {name: type(one) for name, one in found.items()} == {
        name: type(one) for name, one in expected.items()
    }


def test_no_default_is_left_out():
    public = {getattr(module, name) for module in MODULES for name in module.__all__}
    having = {one for one in public if inspect.isfunction(one) and defaults(one)}
    assert having <= {one for one, _ in DEFAULTS}
