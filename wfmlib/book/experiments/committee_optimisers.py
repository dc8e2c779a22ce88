"""Eleven ways to train one committee on the same patterns: how flat they end, and how good.

The tree of P1, Sec. V. Labels are random, or those of a teacher of the same form with Gaussian
weights. Plain descent and the rules of `optimisers` share all but the rule: the loss, the numbers
of mini-batches and epochs, and a sharpness of the units that grows. The algorithms of the book
stop when their own aim is reached. What the rules are told was chosen by eye on an eleventh
instance. The loss of descent is the cross-entropy at gamma = 3, and the sharpness beta of units
tanh(beta x) grows from 1 to 6 in 400 epochs. fBP has no step: a rate multiplies its replicas; with
one replica it is belief propagation, and ends with some wrong answers.

Of replicas the centre is measured. The local energy is the mean training error in random
directions at a distance, each unit kept at norm one. The Hessian is that of a smooth square loss.
Of the signed preactivations the middle one decides, and is the margin. On a tree no change of
order or of signs leaves the function as it is, so that nothing is to be matched before a path
between two solutions is drawn.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from wfmlib import landscape
from wfmlib.book.experiments import optimisers
from wfmlib.book.experiments.committee_algorithms import AGREEMENT, RECIPES, solve
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.models import TreeCommittee

RULES = ("SGD", "SWA", "SAM", "ASAM", "Entropy-SGD", "replicated SGD")
OWN = ("ceSGD fast", "ceSGD slow", "LAL", "eLAL", "fBP")
LABELS = ("random", "teacher")
# Times the step of each; for fBP, times its replicas. With three times the step SAM, ASAM,
# Entropy-SGD and LAL do not learn a teacher's labels: 263 errors of 1,498 and more, on one set.
RATES = (0.1, 0.3, 1.0)
UNITS = 9
# Descent: the sum of the losses of a mini-batch, times eta. Rules: told to those of `optimisers`.
DESCENT = {
    "units": UNITS,
    "eta": 3e-3,
    "gamma": 3.0,
    "beta": 1.0,
    "beta_growth": 4.5e-3,
    "batch": 100,
    "epochs": 400,
    "shuffled": 5,  # mini-batches are drawn anew after so many epochs, their order each time
}
RULE = {
    "SWA": {"from": 0.5},  # the share of the epochs before the first weights that are averaged
    "SAM": {"rho": 0.1},
    "ASAM": {"rho": 1.0},
    "Entropy-SGD": {"steps": 5, "hold": 0.03, "noise": 0.03, "alpha": 0.75},
    "replicated SGD": {"replicas": 3, "first": 5e-3, "last": 0.5},
}
# P1's, shorter: the slow schedule grows ten times as fast, half the replicas, messages that
# settle less; the fast schedule has a third of the step, as the teacher's labels need it.
RECIPE = {
    "ceSGD fast": RECIPES["ceSGD fast"]
    | {
        "schedule": RECIPES["ceSGD fast"]["schedule"] | {"eta": 3e-3},
        "max_epochs": 2000,
    },
    "ceSGD slow": RECIPES["ceSGD slow"]
    | {
        "schedule": RECIPES["ceSGD slow"]["schedule"]
        | {"gamma_growth": 4e-3, "beta_growth": 2e-3},
        "max_epochs": 2000,
    },
    "LAL": RECIPES["LAL"] | {"max_epochs": 2000},
    "eLAL": RECIPES["eLAL"] | {"replicas": 10, "growth": 3e-3, "max_epochs": 1000},
    "fBP": RECIPES["fBP"] | {"form": "expanded", "max_sweeps": 10},
}
SETTINGS = {
    "N": 999,
    "units": UNITS,
    "loads": {"random": 1.0, "teacher": 1.5},
    "descent": DESCENT,
    "rule": RULE,
    "recipe": RECIPE,
    "inputs": 20_000,
    "samples": 10,
    "positions": 21,
    "twin_rate": 1.0,
}
DISTANCES = (0.005, 0.02, 0.05, 0.1)
BETAS = (3.0, 10.0)


def sample(settings, point, seed):
    """Return what one algorithm found on one set of patterns, and how flat and good it is."""
    return measured(settings, point["labels"], point["rate"], point["algorithm"], seed)


def measured(settings, labels, rate, algorithm, seed):
    """Train once, or twice on the same patterns, and measure."""
    drawn, noise, *runs = seed.spawn(4)
    xi, sigma, teacher = instance(settings, labels, drawn)
    train = partial(trained, settings, algorithm, rate, xi, sigma)
    w, epochs, spread = train(runs[0])
    if w is None:
        return nothing(settings)
    device = TreeCommittee(settings["units"])
    net = device.network(w)
    energy = landscape.error_profile(
        net, xi, sigma, distances=settings["distance"], samples=settings["samples"], rng=noise
    )
    x = np.sort(signed(xi, sigma, w), axis=1)[:, settings["units"] // 2]
    path = np.nan
    if rate == settings["twin_rate"]:
        other, *_ = train(runs[1])
        if other is not None:
            path = landscape.barrier(
                net, device.network(other), xi, sigma, positions=settings["positions"]
            ).attrs["barrier"]
    return {
        "errors": net.errors(xi, sigma),
        "epochs": epochs,
        "spread": spread,
        "local_energy": energy.error_rate.values,
        "largest": np.array(
            [landscape.max_eigenvalue(net, xi, sigma, beta=b) for b in settings["beta"]]
        ),
        "smallest_margin": x.min(),
        "mean_margin": x.mean(),
        "barrier": path,
        "test_error": test_error(settings, w, teacher, drawn),
        "overlap": np.sum(w * teacher) / settings["units"],
    }


def nothing(settings):
    """Return the measures where an algorithm broke off."""
    return {"errors": -1, "epochs": -1} | {
        name: np.full([len(settings[dim]) for dim in variable.dims], np.nan)
        for name, variable in VARIABLES.items()
        if variable.dtype == "float64"
    }


# ------------------------------------------------------------------------------------------------
# Patterns
# ------------------------------------------------------------------------------------------------


def instance(settings, labels, seed):
    """Return patterns, labels and a teacher of unit norm in each unit, drawn for all labels."""
    N, units = settings["N"], settings["units"]
    rng = np.random.default_rng(seed)
    teacher = unit_norm(rng.standard_normal((units, N // units)))
    random = rng.choice([-1, 1], 8 * N)
    P = round(settings["loads"][labels] * N)
    xi = rng.choice(np.array([-1, 1], dtype=np.int8), (P, N))
    sigma = random[:P] if labels == "random" else answers(xi, teacher)
    return xi, sigma, teacher


def answers(xi, w):
    """Return the sign of most units."""
    return np.sign(np.sign(fields(xi, w)).sum(axis=1)).astype(int)


def fields(xi, w):
    """Return preactivations, shape (P, units)."""
    parts = xi.reshape(len(xi), *w.shape).astype(np.float32).transpose(1, 0, 2)
    return np.matmul(parts, w.astype(np.float32)[:, :, None])[:, :, 0].T


def signed(xi, sigma, w):
    return fields(xi, w) * sigma[:, None]


def test_error(settings, w, teacher, seed):
    """Return the share of fresh inputs, packed bits, on which the teacher answers otherwise."""
    N, rng = settings["N"], np.random.default_rng(seed.spawn(1)[0])
    wrong = 0
    for start in range(0, settings["inputs"], 5000):
        rows = min(5000, settings["inputs"] - start)
        packed = np.frombuffer(rng.bytes(rows * (N // 8 + 1)), np.uint8).reshape(rows, -1)
        xi = 2 * np.unpackbits(packed, axis=1)[:, :N].astype(np.int8) - 1
        wrong += np.count_nonzero(answers(xi, w) != answers(xi, teacher))
    return wrong / settings["inputs"]


def unit_norm(w):
    return w / np.linalg.norm(w, axis=-1, keepdims=True)


# ------------------------------------------------------------------------------------------------
# Training
# ------------------------------------------------------------------------------------------------


def trained(settings, algorithm, rate, xi, sigma, seed):
    """Return weights of unit norm, epochs, and how far replicas are from their centre."""
    if algorithm in RULES:
        told = settings["rule"].get(algorithm, {})
        w, spread = descended(settings["descent"], algorithm, told, rate, xi, sigma, seed)
        return w, settings["descent"]["epochs"], spread
    recipe = dict(settings["recipe"][algorithm])
    if algorithm == "fBP":
        recipe["replicas"] = rate * recipe["replicas"]
    elif "schedule" in recipe:
        recipe["schedule"] = recipe["schedule"] | {"eta": rate * recipe["schedule"]["eta"]}
    else:
        recipe["eta"] = rate * recipe["eta"]
    if recipe.get("replicas") == 1 and algorithm == "eLAL":
        recipe = {name: recipe[name] for name in ("eta", "batch", "max_epochs")}
        algorithm = "LAL"
    result = solve(
        algorithm, TreeCommittee(settings["units"]), xi.astype(int), sigma, seed, **recipe
    )
    if result is None:
        return None, -1, np.nan
    spread = result.history["spread"][-1] if algorithm == "eLAL" else 0.0
    return unit_norm(result.weights.reshape(settings["units"], -1)), result.epochs, spread


class Data:
    """Patterns times labels in mini-batches, and the gradient of the loss of one."""

    def __init__(self, told, xi, sigma, units):
        signs = (xi * sigma[:, None]).astype(np.float32)
        self.xi = signs.reshape(len(xi), units, -1)
        self.told, self.beta = told, told["beta"]
        self.starts = range(0, len(xi), told["batch"])

    def shuffle(self, rng):
        """Compose mini-batches anew."""
        self.xi = self.xi[rng.permutation(len(self.xi))]

    def gradient(self, batch, w):
        """Return the gradient of the sum of ``ln(1 + exp(-2 gamma t)) / (2 gamma)``."""
        start = self.starts[batch]
        rows = self.xi[start : start + self.told["batch"]].transpose(1, 0, 2)
        scale = np.float32(1 / np.sqrt(len(w)))
        unit = np.tanh(np.float32(self.beta) * np.matmul(rows, w[:, :, None])[:, :, 0])
        wrong = 1 / (1 + np.exp(np.float32(2 * self.told["gamma"]) * scale * unit.sum(axis=0)))
        pull = wrong * (np.float32(self.beta) * scale) * (1 - unit**2)
        return -np.matmul(pull[:, None, :], rows)[:, 0]


def descended(told, algorithm, rule, rate, xi, sigma, seed):
    """Return what a rule of `optimisers` ends with, and the spread of its replicas."""
    rng = np.random.default_rng(seed)
    units = told["units"]
    data = Data(told, xi, sigma, units)
    eta, epochs = np.float32(rate * told["eta"]), told["epochs"]
    y = rule.get("replicas", 1) if algorithm == "replicated SGD" else 1
    shape = (y, units, xi.shape[1] // units)
    w = unit_norm(rng.uniform(-1, 1, shape).astype(np.float32))
    mean, count = np.zeros(shape[1:]), 0
    for epoch in range(epochs):
        if epoch % told["shuffled"] == 0:
            data.shuffle(rng)
        orders = [rng.permutation(len(data.starts)) for _ in range(y)]
        gradients = [[partial(data.gradient, b) for b in order] for order in orders]
        if algorithm == "replicated SGD":
            grown = (rule["last"] / rule["first"]) ** (epoch / max(epochs - 1, 1))
            spring = np.float32(rule["first"] * grown / eta)
            for together in zip(*gradients, strict=True):
                w = unit_norm(optimisers.replicated(w, together, eta, spring=spring))
        elif algorithm == "Entropy-SGD":
            w = _chains(w, gradients[0], eta, rule, rng)
        else:
            w = _steps(w, gradients[0], eta, algorithm, rule)
        if algorithm == "SWA" and epoch >= rule["from"] * epochs:
            mean, count = optimisers.averaged(mean, w[0], count), count + 1
        data.beta *= 1 + told["beta_growth"]
    centre = mean if algorithm == "SWA" else w.mean(axis=0, dtype=float)
    return unit_norm(centre), float(np.sum((w - w.mean(axis=0)) ** 2, dtype=float))


def _steps(w, gradients, eta, algorithm, rule):
    step = {"SAM": optimisers.sam, "ASAM": optimisers.asam}.get(algorithm, optimisers.sgd)
    more = rule if algorithm in ("SAM", "ASAM") else {}
    one = w[0]
    for gradient in gradients:
        one = unit_norm(step(one, gradient, eta, **more))
    return one[None]


def _chains(w, gradients, eta, rule, rng):
    """Take an outer step, all the way to the mean of the chain, for each few mini-batches."""
    scope = np.float32(rule["hold"]) / eta
    for start in range(0, len(gradients), rule["steps"]):
        few = gradients[start : start + rule["steps"]]
        inner = {"inner_eta": eta, "noise": np.float32(rule["noise"]), "alpha": rule["alpha"]}
        moved = optimisers.entropy_sgd(w[0], few, 1 / scope, scope=scope, rng=rng, **inner)
        w = unit_norm(moved)[None].astype(np.float32)
    return w


# ------------------------------------------------------------------------------------------------
# The experiment
# ------------------------------------------------------------------------------------------------

VARIABLES = {
    "errors": Variable("1", "wrong answers on the patterns; -1: broke off", dtype="int32"),
    "epochs": Variable("1", "epochs; for fBP, sweeps", dtype="int32"),
    "spread": Variable("1", "sum of squared distances of replicas from their centre"),
    "local_energy": Variable("1", "mean training error at a distance", ("distance",)),
    "largest": Variable("1", "largest eigenvalue, smoothed square loss", ("beta",)),
    "smallest_margin": Variable("1", "smallest margin: the preactivation that a majority needs"),
    "mean_margin": Variable("1", "mean margin"),
    "barrier": Variable("1", "training error on the way to a second solution, at most"),
    "test_error": Variable("1", "share of fresh inputs on which the teacher answers otherwise"),
    "overlap": Variable("1", "mean overlap of units with those of the teacher"),
}
AXES = {
    "rate": Axis("1", "factor of the learning rate, or of the replicas of fBP"),
    "distance": Axis("1", "distance, (1 - overlap) / 2"),
    "beta": Axis("1", "sharpness of the smooth units"),
}
SMALL = {
    "N": 99,
    "inputs": 500,
    "descent": DESCENT | {"epochs": 20},
    "recipe": {
        name: recipe | {"max_epochs": 100} if "max_epochs" in recipe else recipe
        for name, recipe in RECIPE.items()
    },
}
GRID = {"labels": LABELS, "algorithm": (*RULES, *OWN), "rate": RATES}
EXPERIMENT = Experiment(
    name="committee-optimisers",
    title="Flatness and generalisation of eleven algorithms, K = 9 tree committee",
    source="this book; the machine is that of P1, Sec. V",
    chapter=13,
    scales={
        "quick": Scale(
            grid=GRID | {"rate": (1.0,)},
            samples=1,
            settings=SETTINGS | SMALL,
            coordinates={"distance": (0.02, 0.1), "beta": (3.0,)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=10,
            settings=SETTINGS,
            coordinates={"distance": DISTANCES, "beta": BETAS},
        ),
    },
    variables=VARIABLES,
    axes=AXES
    | {
        "labels": Axis("1", "random, or those of a teacher"),
        "algorithm": Axis("1", "name of the algorithm"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=2025,
    paired=True,
)
