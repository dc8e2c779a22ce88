"""One valid call of each public function whose arguments have declared ranges; all are quick."""

from __future__ import annotations

import math

import numpy as np

from wfmlib import bench, landscape, learning, models, patterns, probe
from wfmlib.datasets import binarise, draw
from wfmlib.models import (
    Margin,
    ParityMachine,
    Perceptron,
    Spherical,
    TreeCommittee,
)
from wfmlib.numerics import comparisons, gaussian, solvers
from wfmlib.theory import (
    clusters,
    connectivity,
    cross_entropy,
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

XI, SIGMA = patterns.random(5, 9, rng=1)
INSTANCE = {"xi": XI, "sigma": SIGMA}
SEEDED = {"rng": 1}
AT = {"solution": Perceptron().network(np.ones(9)), **INSTANCE}
AWAY = {**AT, "solution": Perceptron(Spherical()).network(np.arange(9.0))}
RIGHT = {"solution": Perceptron().network(np.ones(9)), "xi": np.ones((1, 9)), "sigma": [1]}
THEORY = {"device": Perceptron(), "alpha": 0.5}
SPHERE = {"device": Perceptron(Spherical()), "alpha": 0.5}
BINARY = {"device": Perceptron(), **INSTANCE, **SEEDED}
REAL = {"device": Perceptron(Spherical()), **INSTANCE, **SEEDED}
AROUND = {**THEORY, "distance": 0.1}
WEIGHED = {"constraint": models.LogPotential(1.0)}
RELU = TreeCommittee(math.inf, models.ReLU())
DENSE = {**THEORY, "overlap": 0.9}
SHARP = {"beta": 1.0, "output_beta": 1.0, "gamma": 1.0, "loss": "square"}
SWEPT = {"damping": 0.1, "tolerance": 1e-4, "max_sweeps": 20}
FEW = {"eta": 0.1, "batch": 3, "max_epochs": 3}
SOLUTIONS = np.array([[1, 1, 1], [1, 1, -1]])
SLOPE = {"mapping": lambda x: 0.5 * x, "start": [1.0]}
BOWL = {
    "model": probe.Model(
        np.zeros(4),
        error=lambda w: float(w[0] > 0.5),
        loss=lambda w: w @ w,
        gradient=lambda w: 2.0 * w,
        examples=100,
    ),
    **SEEDED,
}

CALLS = [
    (bench.load, {"name": "binary-perceptron-17-flat"}),
    (
        bench.score,
        {
            "estimator": lambda instance, distance: 0.0,
            "names": ["binary-perceptron-17-flat"],
        },
    ),
    (models.Margin, {"kappa": 0.5}),
    (models.Band, {"kappa": 0.5}),
    (models.CrossEntropy, {"gamma": 1.0, "beta": 1.0}),
    (models.LogPotential, {"exponent": 1.0, "kappa": 0.1}),
    (models.TreeCommittee, {"units": 3}),
    (models.Committee, {"units": 3}),
    (models.ParityMachine, {"units": 3}),
    (patterns.random, {"P": 3, "N": 5, **SEEDED}),
    (patterns.teacher_student, {"P": 3, "N": 5, **SEEDED}),
    (binarise, {"images": np.zeros((2, 4)), "low": 0.0, "high": 1.0, "white": 255.0}),
    (draw, {**INSTANCE, "patterns": 1, "balanced": False, **SEEDED}),
    (comparisons.holm, {"p": [0.1, 0.2]}),
    (gaussian.grid, {"order": 16, "limit": 10.0, "tilt": 0.0}),
    (gaussian.average, {"f": np.cos, "order": 16, "limit": 10.0, "tilt": 0.0}),
    (gaussian.legendre_rule, {"order": 16}),
    (
        solvers.first_root,
        {
            "function": lambda x: math.atan(x - 0.3),
            "start": 0.0,
            "limit": 1.0,
            "step": 0.1,
            "tolerance": 1e-9,
            "accuracy": 1e-6,
        },
    ),
    (solvers.fixed_point, {**SLOPE, "tolerance": 1e-6, "max_iterations": 100, "memory": 3}),
    (typical.solve, THEORY),
    (typical.curve, {**THEORY, "alpha": [0.1]}),
    (typical.solve_1rsb, THEORY),
    (typical.max_margin, THEORY),
    (typical.last_margin, THEORY),
    (franz_parisi.solve, AROUND),
    (franz_parisi.curve, {**THEORY, "distance": [0.1]}),
    (franz_parisi.local_entropy, AROUND),
    (franz_parisi.geometric_bound, {"device": Perceptron(), "distance": 0.1}),
    (franz_parisi.gap, THEORY),
    (franz_parisi.distance_of_maximum, {**THEORY, "reference": Margin(0.1)}),
    (franz_parisi.margin_no_gap, THEORY),
    (franz_parisi.margin_monotonic, THEORY),
    (franz_parisi_1rsb.solve, {**AROUND, "m": 0.5, "start": 0.5}),
    (franz_parisi_1rsb.search, {**AROUND, "m": [0.5]}),
    (large_deviation.solve, {**DENSE, "replicas": 3.0}),
    (large_deviation.curve, {**DENSE, "overlap": [0.9], "replicas": 3.0}),
    (large_deviation.local_entropy, {**DENSE, "replicas": 3.0}),
    (large_deviation.energetic_term, {**DENSE, "replicas": 3.0}),
    (
        large_deviation.around_reference,
        {**AROUND, "reference": None, "replicas": 2.0},
    ),
    (large_deviation.overlap_range, THEORY),
    (large_deviation.zero_complexity_replicas, DENSE),
    (large_deviation.dense_threshold, {"device": Perceptron(), "replicas": 20.0}),
    (clusters.solve, {**DENSE, "replicas": 3.0}),
    (clusters.curve, {**DENSE, "overlap": [0.9], "replicas": 3.0}),
    (clusters.entropy, {**DENSE, "replicas": 3.0}),
    (clusters.last_load, {"device": Perceptron(), "overlap": 0.9, "replicas": 3.0}),
    (clusters.overlap_gap, {**THEORY, "replicas": 3.0}),
    (clusters.threshold, {"device": Perceptron(), "replicas": 3.0}),
    (clusters.first_gap, {"device": Perceptron(), "replicas": 3.0}),
    (clusters.nested_entropy, {**THEORY, "overlaps": [0.8, 0.95], "replicas": [2.0, 3.0]}),
    (clusters.nested_threshold, {"device": Perceptron(), "replicas": [2.0, 3.0]}),
    (clusters.first_nested_gap, {"device": Perceptron(), "replicas": [2.0, 3.0]}),
    (stabilities.density, {**DENSE, "stability": 0.5, "replicas": 3.0}),
    (stabilities.cumulative, {**DENSE, "stability": 0.5, "replicas": 3.0}),
    (teacher_student.solve, THEORY),
    (teacher_student.curve, {**THEORY, "distance": [0.1]}),
    (teacher_student.local_entropy, AROUND),
    (teacher_student.generalisation_error, {"overlap": 0.5}),
    (teacher_student.max_margin, THEORY),
    (margin_students.solve, {**THEORY, "teacher": 0.5}),
    (margin_students.max_margin, {**THEORY, "alpha": 0.6}),
    (margin_students.surroundings, {**AROUND, "reference": Margin(0.01)}),
    (margin_students.replicas, DENSE),
    (cross_entropy.loss, {"gamma": 1.0, "stability": 0.5}),
    (cross_entropy.zero_entropy_beta, {**THEORY, "gamma": 1.0}),
    (cross_entropy.instability_beta, {**THEORY, "gamma": 1.0}),
    (cross_entropy.working_beta, {**THEORY, "gamma": 1.0}),
    (cross_entropy.zero_temperature, {**THEORY, "gamma": 1.0}),
    (connectivity.overlap, SPHERE),
    (connectivity.error, {**SPHERE, "position": [0.5]}),
    (connectivity.convex_margin, {**SPHERE, "corners": 3}),
    (connectivity.star_margin, SPHERE),
    (full_breaking.solve, {"device": RELU, "steps": 1}),
    (full_breaking.fields, {"hierarchy": full_breaking.solve(RELU, steps=1), "nodes": 300}),
    (full_breaking.at_load, {"device": RELU, "alpha": 1.0, "steps": 1}),
    (full_breaking.slope, {"hierarchy": full_breaking.at_load(Perceptron(Spherical()), 1.0)}),
    (full_breaking.gap_onset, {"device": Perceptron(Spherical()), "steps": 1}),
    (full_breaking.finite_capacity, {"device": TreeCommittee(3)}),
    (full_breaking.wide_capacity, {"log_units": 8.0}),
    (localization.curve, {**THEORY, "points": 20}),
    (localization.threshold, {**WEIGHED, "device": Perceptron(), "points": 20}),
    (learning.all_weights, {"N": 3}),
    (learning.enumerate_solutions, {**INSTANCE, "device": Perceptron(), "keep": 1, "threads": 1}),
    (learning.solution_clusters, {"solutions": SOLUTIONS, "distance": 1, "replicas": 2}),
    (learning.surrounding_counts, {"solutions": SOLUTIONS, "distance": 1}),
    (learning.belief_propagation, {**REAL, **SWEPT, "reference": np.ones(9), "coupling": 0.5}),
    (learning.focusing_bp, {**BINARY, **SWEPT, "protocol": [0.1, 0.2], "replicas": 3.0}),
    (
        learning.approximate_message_passing,
        {**REAL, **SWEPT, "threads": 1, "reference": np.ones(9), "coupling": 0.5},
    ),
    (learning.state_evolution, {**THEORY, "sweeps": 3}),
    (
        learning.potential_annealing,
        {**BINARY, "sweeps": 20, "widths": 5, "first": 3.0, "last": 0.1},
    ),
    (
        learning.stochastic_localization,
        {**BINARY, **SWEPT, **WEIGHED, "end": 0.1, "step": 0.05, "threads": 1},
    ),
    (learning.exponential, {"first": math.ulp(0.0), "last": 30.0, "steps": 5}),
    (learning.atanh_steps, {"steps": 5, "cap": 10.0}),
    (learning.pseudo_reinforcement, {"steps": 5, "exponent": 0.3, "last": 0.5}),
    (
        learning.binary_sgd,
        {
            **INSTANCE,
            **SEEDED,
            "units": [3],
            "classes": 2,
            "eta": 0.1,
            "momentum": 0.1,
            "gamma": 1.0,
            "spread": 0.1,
            "batch": 3,
            "epochs": 2,
        },
    ),
    (learning.least_action, {**REAL, **FEW}),
    (
        learning.entropic_least_action,
        {
            **REAL,
            **FEW,
            "replicas": 3,
            "coupling": 0.5,
            "growth": 0.1,
            "collapse": 0.1,
            "snapshots": [1],
        },
    ),
    (learning.cross_entropy_sgd, {**REAL, "max_epochs": 3}),
    (
        learning.Schedule,
        {
            "eta": 0.1,
            "gamma": 1.0,
            "beta": 1.0,
            "gamma_growth": 0.1,
            "beta_growth": 0.1,
            "stop": 0.1,
            "batch": 3,
        },
    ),
    (
        learning.simulated_annealing,
        {**BINARY, "gamma": 1.0, "beta": [1.0, 5.0], "spacing": "linear", "sweeps": 9, "steps": 1},
    ),
    (
        learning.replicated_annealing,
        {
            **BINARY,
            "loss": "cross-entropy",
            "gamma": 1.0,
            "replicas": 3,
            "overlap": 0.5,
            "tolerance": 0.1,
            "beta": [1.0, 5.0],
            "spacing": "linear",
            "sweeps": 9,
            "steps": 1,
            "ramp": 0.5,
            "gain": 0.5,
        },
    ),
    (landscape.smoothed_loss, {**AT, **SHARP}),
    (landscape.gradient, {**AT, **SHARP}),
    (landscape.hessian, {**AT, **SHARP}),
    (landscape.hessian_product, {**AT, **SHARP, "direction": np.ones(9)}),
    (landscape.hessian_spectrum, {**AT, **SHARP}),
    (landscape.max_eigenvalue, {**AT, **SHARP, "tolerance": 1e-6, "max_iterations": 50}),
    (landscape.smallest_beta, {**RIGHT, "tolerance": 1e-6}),
    (landscape.error_profile, {**AT, **SEEDED, "distances": [0.1], "samples": 3}),
    (
        landscape.noise_robustness,
        {
            **AT,
            **SEEDED,
            "noise": [0.1],
            "perturbations": 3,
            "kind": "pixels",
            "bias": [0.1] * 9,
        },
    ),
    (landscape.geodesic, {"a": AT["solution"], "b": AWAY["solution"], "position": 0.5}),
    (
        landscape.blend,
        {"solutions": [AT["solution"], AWAY["solution"]], "shares": [0.5, 0.5]},
    ),
    (
        landscape.barrier,
        {"a": AT["solution"], "b": AT["solution"], **INSTANCE, "positions": 3},
    ),
    (landscape.simplex, {"solutions": [AT["solution"]] * 2, **INSTANCE, "steps": 2}),
    (landscape.local_entropy, {**AWAY, **SEEDED, **SWEPT, "couplings": [1.0]}),
    (
        landscape.excess_at,
        {"places": [0.2], "distance": [0.1, 0.3], "excess": [0.1, 0.2], "kind": "linear"},
    ),
    (probe.local_energy, {**BOWL, "noise": [0.1], "directions": 3}),
    (
        probe.local_volume,
        {
            "model": probe.Model(AWAY["solution"], XI, AWAY["solution"].output(XI)),
            **SEEDED,
            "distance": [0.1],
            "most": 0.0,
            "particles": 8,
            "runs": 2,
            "moves": 1,
            "tolerance": 1.0,
        },
    ),
    (probe.curvature, {**BOWL, "probes": 3, "tolerance": 0.1, "max_iterations": 5}),
    (
        probe.learning_coefficient,
        {**BOWL, "beta": 0.1, "localization": 0.1, "chains": 2, "draws": 200, "burn_in": 20},
    ),
    (probe.calibrate, {"sizes": [21], "rng": 1}),
]

THREE, FOUR = TreeCommittee(3), ParityMachine(4)
#: What an end needs besides: function, argument and end.
WITH = {
    (learning.binary_sgd, "classes", 127): {"sigma": [0, 1, 2, 3, 126]},
    (learning.potential_annealing, "first", 1e-3): {"last": 1e-4},
    (learning.potential_annealing, "last", 10.0): {"first": 20.0},
}
#: Calls in which a narrower range holds: function, what differs, and the name of the argument.
NARROWER = [
    (typical.solve, {"device": THREE}, "alpha", "with three units"),
    (large_deviation.solve, {"device": THREE}, "overlap", "for a committee of three"),
    (
        large_deviation.solve,
        {"device": FOUR},
        "replicas",
        "for a parity machine of more than three units",
    ),
    (stabilities.density, {}, "alpha", "with an overlap"),
    (stabilities.cumulative, {}, "alpha", "with an overlap"),
    (learning.belief_propagation, {"device": Perceptron()}, "coupling", "for binary weights"),
    (
        learning.approximate_message_passing,
        {"device": Perceptron()},
        "coupling",
        "for binary weights",
    ),
    (landscape.local_entropy, AT, "couplings", "for binary weights"),
    *(
        (one, {"spacing": "geometric"}, "beta", "where spaced geometrically")
        for one in (learning.simulated_annealing, learning.replicated_annealing)
    ),
]


def ends(allowed):
    """Return the numbers of a range that are closest to its ends, and what it allows besides."""
    found = list(allowed.also)
    if math.isfinite(allowed.low):
        found.append(_nearest(allowed.low, math.inf, allowed.low_open, allowed.whole))
    if math.isfinite(allowed.high):
        found.append(_nearest(allowed.high, -math.inf, allowed.high_open, allowed.whole))
    return found


def outside(allowed):
    """Return the numbers that are closest to a range without being in it, infinity and NaN."""
    found = [math.nan, math.inf, -math.inf]
    if math.isfinite(allowed.low):
        found.append(_nearest(allowed.low, -math.inf, not allowed.low_open, allowed.whole))
    if math.isfinite(allowed.high):
        found.append(_nearest(allowed.high, math.inf, not allowed.high_open, allowed.whole))
    same = {str(float(one)) for one in allowed.also}  # as NaN equals nothing
    return [one for one in found if str(float(one)) not in same]


def _nearest(end, towards, beyond, whole):
    """Return an end, or the number next to it."""
    if whole:
        return int(end) + (int(math.copysign(1, towards)) if beyond else 0)
    return math.nextafter(end, towards) if beyond else end
