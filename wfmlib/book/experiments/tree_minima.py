"""Volume and curvature around what five algorithms find, K = 9 tree committee (P1, Fig. 5, 6)."""

from __future__ import annotations

import numpy as np

from wfmlib import landscape, patterns
from wfmlib.book.experiments.committee_algorithms import AGREEMENT, ALGORITHMS, RECIPES, solve
from wfmlib.book.experiments.focusing import AXES, CURVE, curve, no_curve
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.models import TreeCommittee

VARIABLES = {
    "errors": Variable("1", "wrong answers of the weights; -1: not a number", dtype="int32"),
    "converged": Variable("1", "whether the algorithm reached its own aim", dtype="bool"),
    "epochs": Variable("1", "epochs; for fBP, sweeps", dtype="int32"),
    "weights": Variable("1", "the weights, each unit of norm one", ("unit", "input")),
    "smallest_beta": Variable("1", "smallest sharpness at which smooth units make no error"),
    "spectrum": Variable(
        "1", "eigenvalues of the Hessian of the smoothed square loss", ("beta", "mode")
    ),
    "largest": Variable("1", "largest eigenvalue, smoothed square loss", ("beta",)),
    "largest_tangent": Variable("1", "the same on the tangent space", ("beta",)),
    "largest_cross_entropy": Variable("1", "the same, smoothed cross-entropy", ("beta",)),
}
CURVES = {f"around_{name}": variable for name, variable in CURVE.items()}
TASK = {"N": 999, "units": 9, "P": 1000}
SETTINGS = TASK | {"recipes": RECIPES}
SEED = 2021
COUPLINGS = tuple(np.geomspace(0.1, 200.0, 30).round(6).tolist())
BETAS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0)  # those of the figure are among them


def sample(settings, point, seed):
    """Return what one algorithm found on one set of patterns, and what surrounds it."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    xi, sigma = patterns.random(settings["P"], settings["N"], rng=patterns_seed)
    name = point["algorithm"]
    recipe, device = settings["recipes"][name], TreeCommittee(settings["units"])
    result = solve(name, device, xi, sigma, algorithm_seed, **recipe)
    if result is None or result.errors > 0:
        return _ending(settings, result) | _nothing(settings)
    w = result.weights / np.linalg.norm(result.weights, axis=1, keepdims=True)
    net = device.network(w)
    around = curve(settings, net, xi, sigma)
    return (
        _ending(settings, result)
        | {f"around_{name}": values for name, values in around.items()}
        | {"weights": w}
        | _curvature(net, xi, sigma, settings["beta"])
    )


def _ending(settings, result):
    if result is None:
        return {"errors": -1, "converged": False, "epochs": -1}
    return {"errors": result.errors, "converged": result.converged, "epochs": result.epochs}


def _curvature(net, xi, sigma, betas):
    """Return what the second derivatives say at each sharpness."""
    spectra = [landscape.hessian_spectrum(net, xi, sigma, beta=beta) for beta in betas]
    return {
        "smallest_beta": landscape.smallest_beta(net, xi, sigma),
        "spectrum": np.array(spectra),
        "largest": np.array([eigenvalues[-1] for eigenvalues in spectra]),
        "largest_tangent": _largest(net, xi, sigma, betas, tangent=True),
        "largest_cross_entropy": _largest(net, xi, sigma, betas, loss="cross-entropy"),
    }


def _largest(net, xi, sigma, betas, **options):
    return np.array(
        [landscape.max_eigenvalue(net, xi, sigma, beta=beta, **options) for beta in betas]
    )


def _nothing(settings):
    """Return the measures where there is no solution to measure at."""
    shapes = {
        "weights": ("unit", "input"),
        "smallest_beta": (),
        "spectrum": ("beta", "mode"),
        "largest": ("beta",),
        "largest_tangent": ("beta",),
        "largest_cross_entropy": ("beta",),
    }
    missing = {
        name: np.full([len(settings[dim]) for dim in dims], np.nan)
        for name, dims in shapes.items()
    }
    around = no_curve(settings)
    return missing | {f"around_{name}": values for name, values in around.items()}


def _coordinates(couplings, betas, settings):
    inputs = settings["N"] // settings["units"]
    return {
        "coupling": couplings,
        "beta": betas,
        "unit": range(settings["units"]),
        "input": range(inputs),
        "mode": range(settings["N"]),
    }


QUICK = SETTINGS | {"N": 99, "P": 50}
EXPERIMENT = Experiment(
    name="tree-minima",
    title="Volume and curvature around the solutions of five algorithms, K = 9 tree committee",
    source="P1, Figs. 5 and 6",
    chapter=8,
    scales={
        "quick": Scale(
            grid={"algorithm": ALGORITHMS},
            samples=2,
            settings=QUICK,
            coordinates=_coordinates((1.0, 10.0), (2.0, 8.0), QUICK),
        ),
        "paper": Scale(
            grid={"algorithm": ALGORITHMS},
            samples=10,
            settings=SETTINGS,
            coordinates=_coordinates(COUPLINGS, BETAS, SETTINGS),
        ),
    },
    variables=VARIABLES | CURVES,
    axes={
        "coupling": AXES["coupling"],
        "algorithm": Axis("1", "name of the algorithm"),
        "beta": Axis("1", "sharpness of the smooth units"),
        "mode": Axis("1", "number of the eigenvalue, ascending"),
        "unit": Axis("1", "hidden unit"),
        "input": Axis("1", "input of the unit"),
    },
    sample=sample,
    version=2,  # distances are (1 - overlap) / 2
    agreement=AGREEMENT,
    seed=SEED,
    paired=True,
)
