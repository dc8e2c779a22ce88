"""Defaults of the numerics, written down a second time: one that moves, moves others' numbers.

A default is part of what a function says to those who leave it out, in a chapter, an archive or
code of their own. Whoever changes one changes it here too, and says so in the changelog.
"""

from __future__ import annotations

import inspect
import math

import pytest

from wfmlib import gaussian, landscape, learning, networks, patterns, solvers, theory
from wfmlib.landscape.local_entropy import excess_at
from wfmlib.theory import (
    Binary,
    Margin,
    Perceptron,
    Sign,
    Spherical,
    cross_entropy,
    finite_committee,
    franz_parisi,
    large_deviation,
    margin_students,
    stabilities,
    teacher_student,
    typical,
)

GRID = {"order": 16, "limit": 10.0, "tilt": 0.0}
BINARY = {"weights": Binary(), "activation": Perceptron()}
AROUND = {"reference": Margin(0.0), "margin": 0.0}
DENSE = {"weights": Spherical(), "activation": Sign(), "margin": 0.0}
MACHINE = {"units": 1, "tree": True}
QUIET = {"seed": 0, "progress": False}
MESSAGES = {"form": "exact", "output": "exact"}
LOSS = {"tree": True, "loss": "square", "output_beta": 1.0, "gamma": 1.0}
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
    (
        learning.approximate_message_passing,
        {"sigma": None, "weights": Binary(), "margin": 0.0, "damping": 0.0, "tolerance": 1e-6}
        | {"max_sweeps": 1000, "messages": None, "seed": None, "progress": False, "threads": None},
    ),
    (learning.atanh_steps, {"steps": 30, "cap": 10.0}),
    (
        learning.belief_propagation,
        MACHINE
        | MESSAGES
        | QUIET
        | {"weights": Binary(), "reference": None, "coupling": 0.0, "order": "random"}
        | {"damping": 0.0, "tolerance": 1e-6, "max_sweeps": 1000, "messages": None},
    ),
    (
        learning.binary_sgd,
        {"classes": 2, "eta": 0.1, "momentum": 0.0, "gamma": 1.0, "spread": None}
        | {"batch": 100, "epochs": 100}
        | QUIET,
    ),
    (
        learning.cross_entropy_sgd,
        {"tree": True, "schedule": "fast", "max_epochs": 20_000} | QUIET,
    ),
    (
        learning.entropic_least_action,
        {"tree": True, "replicas": 20, "eta": 1e-2, "coupling": 0.5, "growth": 1e-4}
        | {"batch": 100, "collapse": 1e-7, "max_epochs": 10_000}
        | QUIET,
    ),
    (learning.enumerate_fields, {"units": 1}),
    (
        learning.enumerate_solutions,
        {"margin": 0.0, "units": 1, "machine": "committee", "reference": None, "keep": 0}
        | {"force": False, "progress": None, "threads": None},
    ),
    (learning.exponential, {"first": 0.5, "last": 30.0, "steps": 30}),
    (
        learning.focusing_bp,
        MACHINE
        | MESSAGES
        | QUIET
        | {"weights": Binary(), "replicas": 10, "protocol": None, "damping": 0.5}
        | {"tolerance": 1e-4, "max_sweeps": 200, "stop_at_solution": False, "messages": None},
    ),
    (
        learning.least_action,
        {"tree": True, "eta": 5e-3, "batch": 100, "max_epochs": 10_000, "weights": None} | QUIET,
    ),
    (learning.pseudo_reinforcement, {"steps": 30, "exponent": 0.5, "last": 0.99}),
    (
        learning.replicated_annealing,
        MACHINE
        | QUIET
        | {"activation": "sign", "loss": "errors", "gamma": 1.0, "replicas": 20}
        | {"overlap": 0.85, "tolerance": 0.01, "beta": (1.0, 6.0), "spacing": "geometric"}
        | {"sweeps": 10_000, "steps": 1000, "ramp": 0.8, "gain": 0.5, "moves": "auto"}
        | {"stop_early": True},
    ),
    (
        learning.simulated_annealing,
        MACHINE
        | QUIET
        | {"activation": "sign", "loss": "cross-entropy", "gamma": 1.0, "beta": (1.0, 50.0)}
        | {"spacing": "geometric", "sweeps": 1000, "steps": 100, "moves": "auto"}
        | {"weights": None, "stop_at_solution": True},
    ),
    (learning.state_evolution, {"weights": Binary(), "margin": 0.0}),
    (learning.surrounding_counts, {"centres": "all"}),
    (landscape.error_profile, {"samples": 20, "tree": True}),
    (excess_at, {"kind": "cubic"}),
    (landscape.gradient, TANGENT),
    (landscape.hessian, TANGENT),
    (landscape.hessian_product, TANGENT),
    (landscape.hessian_spectrum, TANGENT),
    (
        landscape.local_entropy,
        MESSAGES
        | QUIET
        | {"couplings": None, "tree": True, "damping": 0.0, "tolerance": 1e-6}
        | {"max_sweeps": 500},
    ),
    (landscape.match_layers, {"signs": True}),
    (landscape.match_units, {"signs": True}),
    (landscape.max_eigenvalue, TANGENT | {"tolerance": 1e-9, "max_iterations": 1000}),
    (
        landscape.noise_robustness,
        {"perturbations": 50, "kind": "flips", "bias": None, "tree": True},
    ),
    (landscape.overlap, {"match": False, "signs": True}),
    (landscape.smallest_beta, {"tree": True, "tolerance": 1e-10}),
    (landscape.smoothed_loss, LOSS),
    (typical.capacity, {"margin": 0.0, "ansatz": "RS"}),
    (typical.curve, BINARY | {"margin": 0.0, "progress": False}),
    (typical.instability, {"margin": 0.0}),
    (typical.last_margin, BINARY),
    (typical.max_margin, BINARY),
    (typical.solve, BINARY | {"constraint": Margin(0.0)}),
    (typical.solve_1rsb, {"margin": 0.0}),
    (franz_parisi.curve, BINARY | AROUND | {"progress": False}),
    (franz_parisi.dense_threshold, {"activation": Perceptron(), "margin": 0.0}),
    (franz_parisi.distance_of_maximum, BINARY | AROUND),
    (franz_parisi.gap, AROUND | {"activation": Perceptron()}),
    (franz_parisi.gapless_threshold, {"activation": Perceptron(), "margin": 0.0}),
    (franz_parisi.geometric_bound, {"weights": Binary()}),
    (franz_parisi.local_entropy, BINARY | AROUND),
    (franz_parisi.margin_monotonic, {"activation": Perceptron(), "margin": 0.0}),
    (franz_parisi.margin_no_gap, {"activation": Perceptron(), "margin": 0.0}),
    (franz_parisi.solve, BINARY | AROUND),
    (large_deviation.curve, DENSE | {"replicas": math.inf, "progress": False}),
    (
        large_deviation.dense_threshold,
        {"activation": Perceptron(), "replicas": math.inf, "margin": 0.0},
    ),
    (large_deviation.energetic_term, DENSE | {"replicas": math.inf}),
    (large_deviation.local_entropy, DENSE | {"replicas": math.inf}),
    (large_deviation.overlap_range, DENSE),
    (large_deviation.solve, DENSE | {"replicas": math.inf}),
    (large_deviation.zero_complexity_replicas, DENSE),
    (cross_entropy.instability_beta, {"activation": Perceptron()}),
    (cross_entropy.working_beta, {"activation": Perceptron()}),
    (cross_entropy.zero_entropy_beta, {"activation": Perceptron()}),
    (
        stabilities.cumulative,
        BINARY | {"constraint": Margin(0.0), "overlap": None, "replicas": None},
    ),
    (
        stabilities.density,
        BINARY | {"constraint": Margin(0.0), "overlap": None, "replicas": None},
    ),
    (teacher_student.curve, AROUND | {"activation": Perceptron(), "progress": False}),
    (teacher_student.dense_threshold, {"activation": Perceptron(), "margin": 0.0}),
    (teacher_student.local_entropy, AROUND | {"activation": Perceptron()}),
    (teacher_student.max_margin, {"activation": Perceptron()}),
    (teacher_student.perfect_learning, {"activation": Perceptron(), "margin": 0.0}),
    (teacher_student.solve, {"activation": Perceptron(), "constraint": Margin(0.0)}),
    (margin_students.solve, {"margin": 0.0}),
    (margin_students.surroundings, {"margin": 0.0}),
    (finite_committee.instability, {"units": 3}),
    (finite_committee.rsb_capacity, {"units": 3, "steps": 1}),
    (finite_committee.solve, {"units": 3}),
]
MODULES = [gaussian, solvers, patterns, networks, learning, landscape, theory]
MODULES += [cross_entropy, finite_committee, franz_parisi, large_deviation, margin_students]
MODULES += [stabilities, teacher_student, typical]


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
