"""What must be refused, everywhere: arguments of a kind that no function takes.

Each argument of each function in turn is replaced in a valid call. The refusal is a TypeError or a
ValueError that names the argument.
"""

from __future__ import annotations

import numpy as np

from wfmlib import landscape, learning, patterns
from wfmlib.models import Margin, Perceptron, Spherical, TreeCommittee
from wfmlib.theory import (
    cross_entropy,
    franz_parisi,
    large_deviation,
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
