"""What an experiment's sample asks of the algorithms: its calls, recorded, and nothing computed.

Solvers answer with weights of the right shape that count as a solution, measures with zeros.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from wfmlib import datasets, landscape, learning, networks
from wfmlib.book.experiments import (
    annealing_losses,
    band_reach,
    binary_networks,
    cluster_large,
    cluster_reach,
    cluster_scale,
    image_paths,
    image_task,
    image_training_sets,
    replicated_annealing,
    single_flips,
)
from wfmlib.models.devices import Device
from wfmlib.networks._machines import Machine
from wfmlib.theory import full_breaking, typical

NOT_TOLD = ("rng", "seed", "progress", "sigma", "messages")  # of a recipe
STEPS = 30  # of a protocol, in the history of what focusing found


def recorded(monkeypatch, task, seeds=None):
    """Compute a task with recorders in the place of the algorithms; return the calls.

    Parameters
    ----------
    monkeypatch : pytest.MonkeyPatch
    task : Task
    seeds : list, optional
        Gets the name and the state of the randomness that each call is given, None for none.

    Returns
    -------
    list of (str, dict)
        Each function's name, and all its arguments, defaults included, as plain values: an array
        as its shape, a schedule as a dict, a device as it is, a solution as its network, and a
        network as its class and the shape of its weights.
    """
    calls = []

    def record(module, name, answer):
        signature = inspect.signature(getattr(module, name))

        def recorder(*args, **options):
            bound = signature.bind(*args, **options)
            bound.apply_defaults()
            told = bound.arguments
            kept = {k: _plain(v) for k, v in told.items() if k not in NOT_TOLD}
            if isinstance(told.get("rng"), int):
                kept["rng"] = told["rng"]
            calls.append((name, kept))
            if seeds is not None and "rng" in told:
                seeds.append((name, _state(told["rng"])))
            return answer(told)

        monkeypatch.setattr(module, name, recorder)

    for name in ("focusing_bp", "least_action", "entropic_least_action", "cross_entropy_sgd"):
        record(learning, name, _committee)
    record(learning, "belief_propagation", _believed)
    record(annealing_losses, "simulated_annealing", _committee)
    record(annealing_losses, "replicated_annealing", _annealed)
    record(replicated_annealing, "replicated_annealing", _annealed)
    record(replicated_annealing, "noisy_errors", _noisy)
    record(band_reach, "reinforced_message_passing", _reinforced)
    record(cluster_reach, "reinforced_message_passing", _reinforced)
    record(cluster_reach, "learned", lambda told: (_reinforced(told).weights, 1))
    record(cluster_large, "learned", lambda told: (_reinforced(told).weights, 1))
    monkeypatch.setattr(cluster_scale, "PackedPatterns", _Packed)
    record(cluster_scale, "packed_reinforced", _reinforced_packed)
    record(cluster_scale, "clipped_replicas", _clipped)
    record(learning, "potential_annealing", _drawn)
    record(learning, "stochastic_localization", _drawn)
    record(binary_networks, "binary_sgd", _deep)
    record(binary_networks, "images", _images)
    record(image_paths, "binary_sgd", _deep)
    record(single_flips, "flipped", lambda told: np.zeros((2, single_flips.LAYERS)))
    record(image_task, "dress_coat", _dress_coat)
    record(datasets, "fashion_mnist", _fashion)
    record(image_task, "shuffle_pixels", lambda told: told["xi"])
    record(full_breaking, "solve", _hierarchy)
    record(typical, "capacity", lambda told: 0.0)
    for measure, answer in {
        "local_entropy": _curve,
        "max_eigenvalue": lambda told: 0.0,
        "hessian_spectrum": lambda told: np.zeros(told["xi"].shape[1]),
        "smallest_beta": lambda told: 0.0,
        "noise_robustness": lambda told: {"accuracy": _holds(len(told["noise"]))},
        "error_profile": lambda told: {
            name: _holds(len(told["distances"])) for name in ("error_rate", "realised")
        },
        "overlap": lambda told: 0.0,
        "simplex": _simplex,
        "match_layers": lambda told: told["w2"].weights,
    }.items():
        record(landscape, measure, answer)
    modules = image_task, image_training_sets
    try:
        for module in modules:
            module._patterns.cache_clear()
        task.compute()
    finally:
        for module in modules:
            module._patterns.cache_clear()
    return calls


def _state(rng):
    """Return where randomness comes from as a value."""
    if isinstance(rng, np.random.Generator):
        return repr(rng.bit_generator.state)
    if isinstance(rng, np.random.SeedSequence):
        return rng.entropy, rng.spawn_key
    return rng


def _plain(value):
    """Return an argument as a value that can be written down."""
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, Device):
        return value
    if hasattr(value, "network"):
        return _plain(value.network)
    if isinstance(value, Machine):
        return type(value).__name__, value.w.shape
    if dataclasses.is_dataclass(value):
        told = dataclasses.asdict(value)
        return told or type(value).__name__
    if isinstance(value, (list, tuple)) and any(isinstance(one, np.ndarray) for one in value):
        return [one.shape for one in value]
    if isinstance(value, (bool, int, float, str, list, tuple, dict, type(None))):
        return value
    return type(value).__name__


def _simplex(told):
    count = math.comb(told["steps"] + len(told["solutions"]) - 1, told["steps"])
    return SimpleNamespace(error_rate=_holds(count), attrs={"barrier": 0.0})


def _holds(size, dtype=float):
    return SimpleNamespace(values=np.zeros(size, dtype))


def _committee(told):
    """Return a solution of the right shape: all weights +1."""
    device = told["device"]
    weights = np.ones(device.shape(told["xi"].shape[1]))
    history = {name: np.zeros(STEPS) for name in ("residual", "beta", "gamma")}
    history |= {name: np.zeros(STEPS, int) for name in ("errors", "sweeps")}
    return SimpleNamespace(
        device=device,
        weights=weights,
        network=device.network(weights),
        errors=0,
        converged=True,
        epochs=1,
        history=history | {"settled": np.ones(STEPS, bool)},
    )


def _annealed(told):
    found = _committee(told)
    found.weights = found.weights.astype(np.int8)
    found.replicas = [found.weights] * told["replicas"]
    found.replica_errors = np.zeros(told["replicas"], int)
    found.overlap, found.history = 1.0, {"coupling": np.zeros(1)}
    return found


def _reinforced(told):
    return SimpleNamespace(weights=np.ones(told["xi"].shape[1], np.int8), errors=0, sweeps=1)


class _Packed(NamedTuple):
    """Packed patterns that are nowhere."""

    P: int
    N: int

    @classmethod
    def random(cls, P, N, *, rng):
        return cls(P, N)

    def unpack(self):
        return np.ones((self.P, self.N), np.int8)


def _reinforced_packed(told):
    return SimpleNamespace(errors=0, sweeps=1)


def _clipped(told):
    return SimpleNamespace(errors=0, epochs=1)


def _drawn(told):
    weights = np.ones(told["xi"].shape[1], np.int8)
    return SimpleNamespace(weights=weights, errors=0, converged=True)


def _believed(told):
    means = np.zeros(told["device"].shape(told["xi"].shape[1]))
    return SimpleNamespace(entropy=0.0, means=means, converged=True, sweeps=1, residual=0.0)


def _hierarchy(told):
    overlaps = np.zeros(32)
    return SimpleNamespace(
        alpha=0.0, error=0.0, smallest_overlap=0.0, gap=None, overlaps=overlaps, heights=overlaps
    )


def _noisy(told):
    return np.zeros((len(told["settings"]["noise"]), len(told["weights"])))


def _deep(told):
    sizes = [told["xi"].shape[1], *told["units"], 1 if told["classes"] == 2 else told["classes"]]
    shapes = zip(sizes[1:], sizes[:-1], strict=True)
    weights = [np.ones(shape, np.int8) for shape in shapes]
    net = networks.BinaryMLP(weights)
    return SimpleNamespace(weights=weights, network=net, errors=0, fewest_errors=0)


def _images(told):
    labels = np.arange(8000) % 10
    if told["name"] == "mnist":
        labels = 2 * (labels % 2) - 1
    xi = np.ones((8000, 15), np.int8)
    return (xi, labels), (xi[:100], labels[:100])


def _dress_coat(told):
    P = told["patterns"]
    sigma = np.where(np.arange(P) % 2, 1, -1).astype(np.int8)
    xi = np.ones((P, 784), np.int8)
    return xi, sigma, xi, sigma


def _fashion(told):
    """Return 300 images of each class, whose medians are those of images that are kept."""
    labels = np.repeat(told["classes"], 300)
    shades = np.where(np.arange(28 * 28) % 2, 160, 100).astype(np.uint8)
    return np.tile(shades.reshape(28, 28), (len(labels), 1, 1)), labels


def _curve(told):
    size = len(told["couplings"])
    names = {"distance": float, "local_entropy": float, "excess": float, "residual": float}
    kinds = names | {"converged": bool, "sweeps": int}
    return {name: _holds(size, kind) for name, kind in kinds.items()}
