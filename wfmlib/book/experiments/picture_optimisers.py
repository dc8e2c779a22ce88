"""Six rules that train small convolutional networks on pictures: test error against flatness.

At one number the training set, the first weights and the order of the batches are the same under
every rule, at every rate. The first six rules have the same number of gradients. The last two
change one thing of replicated SGD, the number of its replicas, at its number of steps.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from wfmlib import probe
from wfmlib.book.experiments import picture_rules as rules
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable

NOISES = (0.1, 0.2, 0.3, 0.5)
SETTINGS = {
    "P": 500,
    "gradients": 1500,
    "batch": 25,
    "momentum": 0.9,
    "rho": {"SAM": 0.05, "ASAM": 0.5},
    "eta": 0.01,
    "inner": 5,
    "heat": 1e-4,
    "keep": 0.75,
    "gamma": (0.1, 10.0),
    "replicas": 3,
    "pull": (1e-3, 0.5),
    "directions": 20,
}
VARIABLES = {
    "train_error": Variable("1", "share of wrong answers on the training pictures"),
    "train_loss": Variable("1", "mean cross-entropy of the training pictures"),
    "test_error": Variable("1", "share of wrong answers on the test pictures"),
    "test_loss": Variable("1", "mean cross-entropy of the test pictures"),
    "local_energy": Variable(
        "1", "training error when each weight is multiplied by 1 + noise z", ("noise",)
    ),
    "largest": Variable("1", "largest eigenvalue of the Hessian of the loss"),
    "largest_relative": Variable("1", "the same for moves relative to each weight"),
    "length": Variable("1", "length of the row of weights"),
    "spread": Variable("1", "distance of the replicas from their centre, over its length"),
    "steps": Variable("1", "steps of each network", dtype="int32"),
    "used": Variable("1", "gradients in all", dtype="int32"),
}


def sample(settings, point, seed):
    """Return how good and how flat a network is that one rule has trained."""
    set_seed, start_seed, batch_seed, noise_seed = seed.spawn(4)
    with rules.one_thread():
        train, test = rules.drawn(point["data"], settings["P"], set_seed)
        side = 8 if point["data"] == "digits" else 14
        generator = rules.torch().Generator().manual_seed(int(start_seed.generate_state(1)[0]))
        first = rules.start(side, generator)
        words = tuple(int(word) for word in batch_seed.generate_state(4))
        w, told = rules.train(point["rule"], settings, point["rate"], first, *train, words)
        if not np.isfinite(w.numpy()).all():
            return _nothing(settings) | told
        return told | measured(settings, w, train, test, noise_seed)


def measured(settings, w, train, test, rng):
    """Return errors, local energy and curvature of a row of weights."""
    error, loss = _wrong(w, *train)
    test_error, test_loss = _wrong(w, *test)
    model = probe.Model(
        w.double().numpy(),
        error=lambda one: _wrong(rules.torch().from_numpy(np.float32(one)), *train)[0],
        classes=rules.CLASSES,
    )
    directions = settings["directions"]
    noisy = probe.local_energy(model, noise=settings["noise"], directions=directions, rng=rng)
    return {
        "train_error": error,
        "train_loss": loss,
        "test_error": test_error,
        "test_loss": test_loss,
        "local_energy": noisy.error_rate.values,
        "largest": _largest(w, rules.torch().ones_like(w), *train),
        "largest_relative": _largest(w, w.abs(), *train),
        "length": float(w.norm()),
    }


def _wrong(w, x, y):
    """Return the share of wrong answers and the mean loss of one row of weights."""
    with rules.torch().no_grad():
        found = rules.answers(w[None], x)[0]
        loss = rules.torch().nn.functional.cross_entropy(found, y)
        return float((found.argmax(dim=1) != y).double().mean()), float(loss)


def _largest(w, scale, x, y):
    """Return the largest eigenvalue of D H D, D the scale, by Lanczos' method to two per cent."""
    t = rules.torch()
    leaf = w.detach()[None].requires_grad_()
    (slope,) = t.autograd.grad(rules.losses(leaf, x, y), leaf, create_graph=True)

    def product(v):
        move = t.from_numpy(np.asarray(v, np.float32).ravel())[None] * scale
        return (t.autograd.grad(slope, leaf, move, retain_graph=True)[0] * scale)[0].numpy()

    operator = LinearOperator((len(w), len(w)), matvec=product, dtype=np.float32)
    first = np.random.default_rng(0).standard_normal(len(w)).astype(np.float32)
    try:
        options = {"v0": first, "tol": 2e-2, "ncv": 8, "return_eigenvectors": False}
        return float(eigsh(operator, 1, which="LA", maxiter=20, **options)[0])
    except ArpackError:
        return np.nan


def _nothing(settings):
    """Return the measures of a network whose weights ceased to be numbers."""
    missing = {name: np.nan for name, one in VARIABLES.items() if one.dtype == "float64"}
    return missing | {"local_energy": np.full(len(settings["noise"]), np.nan)}


GRID = {
    "data": ("digits", "fashion"),
    "rule": (*rules.RULES, "1 replica", "10 replicas"),
    "rate": (0.03, 0.05, 0.08),
}
EXPERIMENT = Experiment(
    name="picture-optimisers",
    title="Test error and flatness of small convolutional networks, trained by six rules",
    source="this book",
    chapter=13,
    scales={
        "quick": Scale(
            grid=GRID | {"data": ("digits",), "rate": (0.05,)},
            samples=2,
            settings=SETTINGS | {"P": 100, "gradients": 60, "directions": 3},
            coordinates={"noise": NOISES[:2]},
        ),
        "paper": Scale(grid=GRID, samples=10, settings=SETTINGS, coordinates={"noise": NOISES}),
    },
    variables=VARIABLES,
    axes={
        "data": Axis("1", "the pictures"),
        "rule": Axis("1", "name of the rule, or number of replicas"),
        "rate": Axis("1", "rate of learning"),
        "noise": Axis("1", "size of the noise, relative to each weight"),
    },
    sample=sample,
    agreement=Agreement(
        rtol=1e-5,
        atol=1e-7,
        why="steps follow gradients in single precision: in another rounding training takes "
        "another path",
        chaotic=True,
    ),
    seed=2007,
    paired=True,
)
