"""Dense solutions of tree committees by replicated annealing, and their robustness (P2, Fig. 3).

Binary weights, K = 33 sign units or K = 32 rectified ones, N = K^2, alpha = 0.4, 20 replicas at
mean overlap 0.85, each of which is to be a solution: `solved` says so. The schedule is ours: the
paper says only that it was slow enough.
"""

from __future__ import annotations

import numpy as np

from wfmlib import patterns
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.learning.annealing.replicated import replicated_annealing
from wfmlib.models import Binary, Committee, ReLU, Sign, TreeCommittee

SETTINGS = {
    "units": {"sign": 33, "relu": 32},
    "alpha": 0.4,
    "replicas": 20,
    "overlap": 0.85,
    "tolerance": 0.01,
    "beta": (1.0, 6.0),
    "sweeps": 40_000,
    "steps": 2000,
    "gain": 0.5,
    "perturbations": 50,
}
ACTIVATIONS = {"sign": Sign(), "relu": ReLU()}
COORDINATES = {
    "stability": tuple(np.round(np.arange(-1.975, 6.0, 0.05), 3).tolist()),
    "noise": tuple(np.round(np.arange(0.0, 0.51, 0.025), 3).tolist()),
}


def sample(settings, point, seed):
    """Return how one run ended, its stabilities, and its errors on noisy patterns."""
    patterns_seed, moves_seed, noise_seed = seed.spawn(3)
    machine, tree = point["machine"], point.get("wiring", "tree") == "tree"
    units = settings["units"][machine]
    inside = settings["inputs"][machine] if "inputs" in settings else units  # of a unit
    N = units * inside if tree else inside
    xi, sigma = patterns.random(round(settings["alpha"] * units * inside), N, rng=patterns_seed)
    wired = TreeCommittee if tree else Committee
    device = wired(units, ACTIVATIONS[machine], Binary())
    result = replicated_annealing(
        device,
        xi,
        sigma,
        replicas=settings["replicas"],
        overlap=settings["overlap"],
        tolerance=settings["tolerance"],
        beta=settings["beta"],
        sweeps=settings["sweeps"],
        steps=settings["steps"],
        gain=settings["gain"],
        rng=moves_seed,
    )
    nets = [device.network(w) for w in (result.weights, *result.replicas)]
    stabilities = np.array([net.stabilities(xi, sigma) for net in nets])
    failures = noisy_errors(
        device,
        np.array([net.w for net in nets]),
        xi,
        sigma,
        settings,
        np.random.default_rng(noise_seed),
    )
    return {
        "solved": result.converged,
        "overlap": result.overlap,
        "reference_errors": result.errors,
        "worst_errors": int(result.replica_errors.max()),
        "coupling": float(result.history["coupling"][-1]),
        "sweeps": result.epochs,
        "reference_stabilities": histogram(stabilities[0], settings["stability"]),
        "replica_stabilities": histogram(stabilities[1:].ravel(), settings["stability"]),
        "reference_stability": float(stabilities[0].mean()),
        "replica_stability": float(stabilities[1:].mean()),
        "reference_failures": failures[:, 0],
        "replica_failures": failures[:, 1:].mean(axis=1),
    }


def histogram(values, centres):
    """Return the share of the values in the bin around each centre; the outer bins are open."""
    edges = (centres[1:] + centres[:-1]) / 2
    return np.bincount(np.searchsorted(edges, values), minlength=len(centres)) / values.size


def noisy_errors(device, weights, xi, sigma, settings, rng):
    """Return the share of wrong answers where a share of the inputs is flipped: (noise, nets).

    Exactly ``round(noise N)`` inputs of each pattern are flipped, anew in each perturbation; all
    networks, weights (nets, K, n), see the same, and are asked at once.
    """
    (P, N), (nets, K, n) = xi.shape, weights.shape
    columns = np.ascontiguousarray(weights.transpose(1, 2, 0), dtype=np.float32)
    wrong = np.zeros((len(settings["noise"]), nets))
    for _ in range(settings["perturbations"]):
        rank = rng.permuted(np.broadcast_to(np.arange(N, dtype=np.int16), (P, N)), axis=1)
        for row, noise in zip(wrong, settings["noise"], strict=True):
            noisy = np.where(rank < round(noise * N), -xi, xi).astype(np.float32)
            inputs = noisy.reshape(P, K, n).transpose(1, 0, 2) if device.tree else noisy
            fields = np.matmul(inputs, columns)
            if device.activation == Sign():
                votes = np.sign(fields).sum(axis=0)  # n is odd: no unit is undecided
            else:
                gains = np.maximum(fields, 0.0)
                votes = gains[: K // 2].sum(axis=0) - gains[K // 2 :].sum(axis=0)
            row += np.count_nonzero(sigma[:, None] * votes <= 0, axis=0)
    return wrong / (settings["perturbations"] * P)


AGREEMENT = Agreement(rtol=1e-9, why="energies are whole numbers, and only means are rounded")
STABILITIES = "share of the stabilities in bins around `stability`"
VARIABLES = {
    "solved": Variable("1", "whether all replicas solve, at the overlap", dtype="bool"),
    "overlap": Variable("1", "mean overlap of two replicas"),
    "reference_errors": Variable("1", "errors of the reference", dtype="int32"),
    "worst_errors": Variable("1", "errors of the worst replica", dtype="int32"),
    "coupling": Variable("1", "coupling at the end"),
    "sweeps": Variable("1", "sweeps of each replica", dtype="int32"),
    "reference_stabilities": Variable("1", f"reference: {STABILITIES}", ("stability",)),
    "replica_stabilities": Variable("1", f"replicas: {STABILITIES}", ("stability",)),
    "reference_stability": Variable("1", "mean stability of the reference"),
    "replica_stability": Variable("1", "mean stability of the replicas"),
    "reference_failures": Variable("1", "reference: share of noisy errors", ("noise",)),
    "replica_failures": Variable("1", "replicas: share of noisy errors", ("noise",)),
}
AXES = {
    "machine": Axis("1", "activation of the units"),
    "stability": Axis("1", "centre of a bin"),
    "noise": Axis("1", "share of inputs that are flipped"),
}
EXPERIMENT = Experiment(
    name="replicated-annealing",
    title="Replicated annealing of tree committees: overlap, stabilities, robustness",
    source="P2, Fig. 3",
    chapter=5,
    scales={
        "quick": Scale(
            grid={"machine": ("sign", "relu")},
            samples=1,
            settings=SETTINGS
            | {
                "units": {"sign": 9, "relu": 8},
                "replicas": 8,
                "sweeps": 2000,
                "steps": 200,
                "perturbations": 5,
            },
            coordinates=COORDINATES,
        ),
        "paper": Scale(
            grid={"machine": ("sign", "relu")},
            samples=20,
            settings=SETTINGS,
            coordinates=COORDINATES,
        ),
    },
    variables=VARIABLES,
    axes=AXES,
    sample=sample,
    agreement=AGREEMENT,
    seed=1907,
)
