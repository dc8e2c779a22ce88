"""The five algorithms of P1, Sec. V, under the names that its figures give them."""

from __future__ import annotations

from wfmlib import learning
from wfmlib.solvers import NotConverged
from wfmlib.theory import Spherical

ALGORITHMS = ("fBP", "eLAL", "ceSGD slow", "ceSGD fast", "LAL")  # from wide to narrow, says P1


def solve(algorithm, xi, sigma, units, seed, *, tree=True, max_epochs=20_000, **options):
    """Run one of the algorithms with P1's parameters for random patterns.

    Parameters
    ----------
    algorithm : str
        One of `ALGORITHMS`.
    xi, sigma, units, seed, tree
        As for the functions of `learning`.
    max_epochs : int, optional
        Where all but fBP give up.
    **options
        What else the function of `learning` is told.

    Returns
    -------
    Solution or None
        None where the algorithm broke off: a message or a loss that was not a number.
    """
    options |= {"units": units, "tree": tree, "seed": seed}
    try:
        if algorithm == "fBP":
            defaults = {"replicas": 10, "max_sweeps": 200, "tolerance": 1e-4}
            options = defaults | options | {"weights": Spherical()}
            return learning.focusing_bp(xi, sigma, **options)
        options["max_epochs"] = max_epochs
        if algorithm == "LAL":
            return learning.least_action(xi, sigma, **options)
        if algorithm == "eLAL":
            return learning.entropic_least_action(xi, sigma, **options)
        schedule = algorithm.removeprefix("ceSGD ")
        return learning.cross_entropy_sgd(xi, sigma, **({"schedule": schedule} | options))
    except NotConverged:
        return None
