"""The five algorithms of P1, Sec. V, under the names that its figures give them."""

from __future__ import annotations

from dataclasses import asdict

from wfmlib import learning
from wfmlib.book.runs import Agreement
from wfmlib.learning.descent.schedules import FAST, SLOW, Schedule
from wfmlib.numerics.solvers import NotConverged

ALGORITHMS = ("fBP", "eLAL", "ceSGD slow", "ceSGD fast", "LAL")  # from wide to narrow, says P1

# P1's values for random patterns, App. E and D: what the functions of `learning` are told. The
# limits of epochs and of sweeps are ours.
RECIPES = {
    "fBP": {"form": "exact", "replicas": 10, "max_sweeps": 200, "tolerance": 1e-4},
    "eLAL": {
        "replicas": 20,
        "eta": 1e-2,
        "coupling": 0.5,
        "growth": 1e-4,
        "batch": 100,
        "max_epochs": 20_000,
    },
    "ceSGD slow": {"schedule": asdict(SLOW), "max_epochs": 20_000},
    "ceSGD fast": {"schedule": asdict(FAST), "max_epochs": 20_000},
    "LAL": {"eta": 5e-3, "batch": 100, "max_epochs": 20_000},
}

# Of what the weights found by an algorithm are measured to.
AGREEMENT = Agreement(
    rtol=1e-5,
    atol=1e-7,
    why="a correction follows the sign of a sum: in another rounding training takes another path",
    chaotic=True,
)


def solve(algorithm, device, xi, sigma, rng, **recipe):
    """Run one of the algorithms.

    Parameters
    ----------
    algorithm : str
        One of `ALGORITHMS`.
    device, xi, sigma, rng
        As for the functions of `learning`.
    **recipe
        What else the function of `learning` is told; a schedule also as a dict of its values.

    Returns
    -------
    Solution or None
        None where the algorithm broke off: a message or a loss that was not a number.
    """
    if isinstance(recipe.get("schedule"), dict):
        recipe["schedule"] = Schedule(**recipe["schedule"])
    learns = {
        "fBP": learning.focusing_bp,
        "LAL": learning.least_action,
        "eLAL": learning.entropic_least_action,
        "ceSGD slow": learning.cross_entropy_sgd,
        "ceSGD fast": learning.cross_entropy_sgd,
    }
    try:
        return learns[algorithm](device, xi, sigma, rng=rng, **recipe)
    except NotConverged:
        return None
