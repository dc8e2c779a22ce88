"""Focusing belief propagation in experiments: the settings and variables that several share."""

from __future__ import annotations

import numpy as np

from wfmlib import Binary, Perceptron, Spherical, TreeCommittee, landscape, learning, patterns
from wfmlib.book.runs import Agreement, Axis, Variable
from wfmlib.numerics.solvers import NotConverged

WEIGHTS = {"binary": Binary(), "spherical": Spherical()}

OUTCOME = {
    "solved": Variable("1", "whether a solution was found", dtype="bool"),
    "errors": Variable("1", "wrong answers of the last weights; -1: not a number", dtype="int32"),
    "first": Variable("1", "step of the first solution, from 0; -1: none", dtype="int32"),
    "sweeps": Variable("1", "sweeps in all steps", dtype="int32"),
    "unsettled": Variable("1", "steps whose messages did not settle", dtype="int32"),
}
CURVE = {
    "distance": Variable("1", "distance from the solution", ("coupling",)),
    "local_entropy": Variable("nats per weight", "local entropy", ("coupling",)),
    "excess": Variable("nats per weight", "local entropy minus its bound", ("coupling",)),
    "converged": Variable("1", "whether messages settled", ("coupling",), dtype="bool"),
}
AXES = {
    "alpha": Axis("1", "load P / N"),
    "coupling": Axis("1", "strength of the pull towards the solution"),
}


def unsettled(values):
    """Say whether messages did not settle in a step: roundings then grow to differences."""
    return bool(values["unsettled"] != 0)


AGREEMENT = Agreement(
    rtol=1e-5,
    atol=1e-7,
    why="settled messages forget roundings up to their tolerance; unsettled ones amplify them",
    chaotic=unsettled,
)


def device(settings):
    """Return the perceptron or the tree that settings describe."""
    weights = WEIGHTS[settings["weights"]]
    if settings["units"] == 1:
        return Perceptron(weights)
    return TreeCommittee(settings["units"], weights=weights)


def focus(settings, alpha, seed, **options):
    """Draw patterns, and run focusing on them; return patterns, labels and what was found.

    What was found is None where a message ceased to be a number.
    """
    patterns_seed, messages_seed = seed.spawn(2)
    N = settings["N"]
    xi, sigma = patterns.random(round(alpha * N), N, rng=patterns_seed, dtype=np.int8)
    try:
        result = learning.focusing_bp(
            device(settings),
            xi,
            sigma,
            replicas=settings["replicas"],
            max_sweeps=settings["max_sweeps"],
            tolerance=settings["tolerance"],
            rng=messages_seed,
            **options,
        )
    except NotConverged:
        result = None
    return xi, sigma, result


def outcome(result):
    """Return how a run of focusing ended, as the variables of `OUTCOME`."""
    if result is None:
        return {"solved": False, "errors": -1, "first": -1, "sweeps": -1, "unsettled": -1}
    errors = result.history["errors"]
    return {
        "solved": bool(np.any(errors == 0)),
        "errors": result.errors,
        "first": int(np.argmax(errors == 0)) if np.any(errors == 0) else -1,
        "sweeps": result.epochs,
        "unsettled": int(np.count_nonzero(~result.history["settled"])),
    }


def success(settings, point, seed):
    """Return how one run ended; a point of the grid says what varies of the settings.

    The `sample` of experiments that ask how far in load, size or units focusing goes.
    """
    chosen = settings | point
    stop = chosen["stop_at_solution"]
    *_, result = focus(chosen, chosen["alpha"], seed, form=chosen["form"], stop_at_solution=stop)
    return outcome(result)


def curve(settings, solution, xi, sigma):
    """Return the local entropy around a solution, or a network, as the variables of `CURVE`."""
    around = landscape.local_entropy(solution, xi, sigma, couplings=settings["coupling"], rng=0)
    return {name: around[name].values for name in CURVE}


def no_curve(settings):
    """Return the variables of `CURVE` where no solution was found."""
    missing = np.full(len(settings["coupling"]), np.nan)
    return dict.fromkeys(CURVE, missing) | {"converged": np.zeros(len(missing), dtype=bool)}
