"""What must be refused, everywhere: arguments of a kind that no function takes.

Each argument of each function in turn is replaced in a valid call. The refusal is a TypeError or a
ValueError that names the argument.
"""

from __future__ import annotations

import numpy as np

from wfmlib import landscape, learning, patterns
from wfmlib.models import Margin, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import solvers
from wfmlib.theory import (
    clusters,
    connectivity,
    cross_entropy,
    franz_parisi,
    full_breaking,
    large_deviation,
    localization,
    margin_students,
    stabilities,
    teacher_student,
    typical,
)

XI, SIGMA = patterns.random(5, 9, rng=1)
INSTANCE = {"xi": XI, "sigma": SIGMA}
W = np.ones(9)
AT = {"solution": Perceptron().network(W), **INSTANCE}
MARGIN = {"constraint": Margin(0.0)}
THEORY = {"device": Perceptron(), "alpha": 0.5}
COUNTED = {"device": Perceptron(), **INSTANCE}
REAL = {"device": Perceptron(Spherical()), **INSTANCE}
SPHERE = {"device": Perceptron(Spherical()), "alpha": 0.5}
PAIRS = {"overlap": 0.9, "replicas": 3.0, **MARGIN}
GROUPS = {"device": Perceptron(), "replicas": 3.0, **MARGIN}
NESTED = {"device": Perceptron(), "replicas": [2.0, 3.0], **MARGIN}
ENDS = {
    "a": Perceptron(Spherical()).network(W),
    "b": Perceptron(Spherical()).network(np.arange(9.0)),
}
ALIKE = {
    "steps": None,
    "alpha": 2.0,
    "error": 0.0,
    "overlaps": np.empty(0),
    "heights": np.empty(0),
}
SYMMETRIC = full_breaking.Hierarchy(
    Perceptron(Spherical()),
    Margin(0.0),
    **ALIKE,
    chi=1.0,
    gap=None,
    report=solvers.Report(True, 0.0, 1, ""),
)

VALID = [
    (typical.solve, {**THEORY, **MARGIN}),
    (typical.curve, {**THEORY, "alpha": [0.1, 0.2], **MARGIN}),
    (franz_parisi.solve, {**THEORY, "distance": 0.1, "reference": Margin(0.0), **MARGIN}),
    (franz_parisi.curve, {**THEORY, "distance": [0.1], **MARGIN}),
    (franz_parisi.geometric_bound, {"device": Perceptron(), "distance": 0.1}),
    (large_deviation.solve, {**THEORY, "overlap": 0.9, "replicas": 3.0, **MARGIN}),
    (large_deviation.curve, {**THEORY, "overlap": [0.9], "replicas": 3.0}),
    (stabilities.density, {**THEORY, "stability": 0.5, **MARGIN}),
    (teacher_student.solve, {**THEORY, **MARGIN}),
    (teacher_student.curve, {**THEORY, "distance": [0.1], "reference": Margin(0.0)}),
    (margin_students.solve, {**THEORY, "constraint": Margin(0.1)}),
    (margin_students.dense_threshold, {"device": Perceptron()}),  # no other device is solved
    (margin_students.replica_threshold, {"device": Perceptron()}),
    (cross_entropy.zero_temperature, {**THEORY, "gamma": 2.0}),
    (typical.solve, {"device": TreeCommittee(3), "alpha": 0.5}),
    (patterns.random, {"P": 3, "N": 5, "rng": 1}),
    (patterns.teacher_student, {"P": 3, "N": 5, "rng": 1}),
    (learning.belief_propagation, {**COUNTED, "damping": 0.1, "rng": 1}),
    (learning.focusing_bp, {**COUNTED, "replicas": 3, "rng": 1}),
    (learning.least_action, {**REAL, "eta": 0.1, "max_epochs": 3, "rng": 1}),
    (learning.entropic_least_action, {**REAL, "replicas": 3, "rng": 1}),
    (learning.cross_entropy_sgd, {**REAL, "schedule": "fast", "rng": 1}),
    (learning.simulated_annealing, {**COUNTED, "sweeps": 3, "steps": 3, "rng": 1}),
    (learning.enumerate_solutions, {**COUNTED, **MARGIN, "keep": 0}),
    (learning.approximate_message_passing, {**COUNTED, **MARGIN, "damping": 0.1}),
    (learning.state_evolution, {**THEORY, "sweeps": 3}),
    (landscape.local_entropy, {**AT, "couplings": [1.0]}),
    (landscape.hessian, {**AT, "beta": 1.0}),
    (landscape.max_eigenvalue, {**AT, "beta": 1.0}),
    (landscape.error_profile, {**AT, "distances": 0.1, "rng": 1, "samples": 3}),
    (landscape.noise_robustness, {**AT, "noise": 0.1, "rng": 1}),
    (landscape.overlap, {"w1": W, "w2": W}),
    (landscape.geodesic, {**ENDS, "position": 0.5}),
    (landscape.blend, {"solutions": list(ENDS.values()), "shares": [0.5, 0.5]}),
    (landscape.barrier, {**ENDS, **INSTANCE, **MARGIN, "positions": 3, "match": False}),
    (landscape.simplex, {"solutions": list(ENDS.values()), **INSTANCE, "steps": 2}),
    (clusters.solve, {**THEORY, **PAIRS}),
    (clusters.curve, {**THEORY, **PAIRS, "overlap": [0.9]}),
    (clusters.entropy, {**THEORY, **PAIRS}),
    (clusters.last_load, {"device": Perceptron(), **PAIRS}),
    (clusters.overlap_gap, {**THEORY, **GROUPS}),
    (clusters.threshold, GROUPS),
    (clusters.first_gap, GROUPS),
    (clusters.nested_entropy, {**THEORY, **NESTED, "overlaps": [0.8, 0.95]}),
    (clusters.nested_threshold, NESTED),
    (clusters.first_nested_gap, NESTED),
    (clusters.breakup, {"device": Perceptron(), **MARGIN}),
    (connectivity.overlap, {**SPHERE, "first": Margin(0.0), "second": Margin(0.0)}),
    (connectivity.error, {**SPHERE, "position": 0.5, **MARGIN}),
    (connectivity.convex_margin, {**SPHERE, "corners": 2, "constraint": Margin(-0.5)}),
    (connectivity.star_margin, {**SPHERE, "constraint": Margin(-0.5)}),
    (full_breaking.solve, {"device": Perceptron(Spherical()), **MARGIN, "steps": 1}),
    (full_breaking.fields, {"hierarchy": SYMMETRIC, "nodes": 400}),
    (full_breaking.at_load, {**THEORY, "device": Perceptron(Spherical()), **MARGIN, "steps": 1}),
    (full_breaking.slope, {"hierarchy": SYMMETRIC}),
    (full_breaking.gap_onset, {"device": Perceptron(Spherical()), **MARGIN, "steps": 1}),
    (full_breaking.finite_capacity, {"device": TreeCommittee(3), **MARGIN}),
    (full_breaking.wide_capacity, {"log_units": 8.0}),
    (localization.curve, {**THEORY, **MARGIN, "points": 20}),
    (localization.threshold, {"device": Perceptron(), **MARGIN, "points": 20}),
    (learning.stochastic_localization, {**COUNTED, "step": 0.5, "rng": 1}),
    (learning.potential_annealing, {**COUNTED, "sweeps": 3, "widths": 2, "rng": 1}),
]
JUNK = [object(), "word", 1.0 + 1.0j, float("nan"), [[1.0], [1.0, 2.0]], {}, np.ma.masked]


def cases():
    """Return functions with one argument of no use: function, arguments, name."""
    return [
        (function, arguments | {name: junk}, name)
        for function, arguments in VALID
        for name in arguments
        for junk in JUNK
    ]


def accepted(function, arguments, name):
    """Return what is wrong with how junk is met; None if it is refused as it should be."""
    try:
        found = function(**arguments)
    except (TypeError, ValueError) as error:
        return None if name in str(error) else f"{error!r} does not name {name}"
    except Exception as error:
        return f"{error!r} instead of a refusal"
    return f"it was taken, and gave {found!r:.80}"
