"""What must be refused, everywhere: arguments of a kind that no function takes.

Each argument of each function in turn is replaced in a valid call. The refusal is a TypeError or a
ValueError that names the argument.
"""

from __future__ import annotations

import numpy as np

from wfmlib import landscape, learning, patterns
from wfmlib.theory import (
    Margin,
    cross_entropy,
    finite_committee,
    franz_parisi,
    large_deviation,
    margin_students,
    stabilities,
    teacher_student,
    typical,
)

XI, SIGMA = patterns.random(5, 9, seed=1)
W = np.ones(9)
INSTANCE = {"xi": XI, "sigma": SIGMA}
AT = {"weights": W, **INSTANCE}

VALID = [
    (typical.solve, {"alpha": 0.5, "constraint": Margin(0.0)}),
    (typical.curve, {"alpha": [0.1, 0.2], "margin": 0.0}),
    (franz_parisi.solve, {"distance": 0.1, "alpha": 0.5, "reference": Margin(0.0), "margin": 0.0}),
    (franz_parisi.curve, {"distance": [0.1], "alpha": 0.5, "margin": 0.0}),
    (franz_parisi.geometric_bound, {"distance": 0.1}),
    (large_deviation.solve, {"overlap": 0.9, "alpha": 0.5, "replicas": 3.0, "margin": 0.0}),
    (large_deviation.curve, {"overlap": [0.9], "alpha": 0.5, "replicas": 3.0}),
    (stabilities.density, {"stability": 0.5, "alpha": 0.5, "constraint": Margin(0.0)}),
    (teacher_student.solve, {"alpha": 0.5, "constraint": Margin(0.0)}),
    (teacher_student.curve, {"distance": [0.1], "alpha": 0.5, "reference": Margin(0.0)}),
    (margin_students.solve, {"alpha": 0.5, "margin": 0.1}),
    (cross_entropy.zero_temperature, {"alpha": 0.5, "gamma": 2.0}),
    (finite_committee.solve, {"alpha": 0.5, "units": 3}),
    (patterns.random, {"P": 3, "N": 5, "seed": 1}),
    (patterns.teacher_student, {"P": 3, "N": 5, "seed": 1}),
    (learning.belief_propagation, {**INSTANCE, "units": 1, "damping": 0.1, "seed": 1}),
    (learning.focusing_bp, {**INSTANCE, "units": 1, "replicas": 3, "seed": 1}),
    (learning.least_action, {**INSTANCE, "units": 1, "eta": 0.1, "max_epochs": 3, "seed": 1}),
    (learning.entropic_least_action, {**INSTANCE, "units": 1, "replicas": 3, "seed": 1}),
    (learning.cross_entropy_sgd, {**INSTANCE, "units": 1, "schedule": "fast", "seed": 1}),
    (learning.simulated_annealing, {**INSTANCE, "sweeps": 3, "steps": 3, "seed": 1}),
    (learning.enumerate_solutions, {**INSTANCE, "margin": 0.0, "keep": 0}),
    (learning.approximate_message_passing, {**INSTANCE, "margin": 0.0, "damping": 0.1}),
    (learning.state_evolution, {"alpha": 0.5, "sweeps": 3}),
    (landscape.local_entropy, {**AT, "couplings": [1.0]}),
    (landscape.hessian, {**AT, "beta": 1.0}),
    (landscape.max_eigenvalue, {**AT, "beta": 1.0}),
    (landscape.error_profile, {"net": W, **INSTANCE, "distances": 0.1, "seed": 1, "samples": 3}),
    (landscape.noise_robustness, {"net": W, **INSTANCE, "noise": 0.1, "seed": 1}),
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


CALLED = {"net": "w"}  # weights that are given for a network are its w


def accepted(function, arguments, name):
    """Return what is wrong with how junk is met; None if it is refused as it should be."""
    try:
        found = function(**arguments)
    except (TypeError, ValueError) as error:
        named = name in str(error) or f"{CALLED.get(name, name)} must" in str(error)
        return None if named else f"{error!r} does not name {name}"
    except Exception as error:
        return f"{error!r} instead of a refusal"
    return f"it was taken, and gave {found!r:.80}"
