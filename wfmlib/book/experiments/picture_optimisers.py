"""Six rules that train small convolutional networks on pictures: test error against flatness.

At one number the training set, the first weights and the order of the batches are the same under
every rule, at every rate. The first six rules have the same number of gradients. The last three
change one thing of replicated SGD, the number of its replicas, at its number of steps.

The trace of the Hessian is taken on pictures that no network of the sample has learned: for
Fashion-MNIST the first 500 of its test set, in all samples. Moves are relative to the weights, and
so it is the same where a rectifier is rescaled. At one rate every rule trains a second network on
the same set, from other first weights with other batches. A barrier is the largest training error
on the straight line of weights from the one to the other, less that of the worse end: as they are,
and when the filters and units of the second are matched with those of the first by what they
answer. The archive was computed with torch 2.15 on one thread.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from wfmlib import probe
from wfmlib.book.experiments import picture_rules as rules
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable

NOISES = (0.1, 0.2, 0.3, 0.5)
RATES = (0.02, 0.03, 0.04)
ALL = (*rules.RULES, "1 replica", "10 replicas", "20 replicas")
TOGETHER = (ALL[:8], ALL[8:])  # which rules are trained side by side
MATCHES = ("none", "answers")
SETTINGS = {
    "P": 200,
    "gradients": 1000,
    "batch": 20,
    "momentum": 0.9,
    "rho": {"SAM": 0.05, "ASAM": 0.5},
    "eta": 0.01,
    "inner": 5,
    "heat": 1e-4,
    "keep": 0.75,
    "gamma": (0.1, 10.0),
    "replicas": 3,
    "others": (1, 10, 20),
    "pull": (1e-3, 0.5),
    "directions": 20,
    "fresh": 500,
    "probes": 10,
    "twin_rate": 0.03,
    "positions": 21,
}
EACH = ("rule", "rate")
VARIABLES = {
    "train_error": Variable("1", "share of wrong answers on the training pictures", EACH),
    "train_loss": Variable("1", "mean cross-entropy of the training pictures", EACH),
    "test_error": Variable("1", "share of wrong answers on the test pictures", EACH),
    "test_loss": Variable("1", "mean cross-entropy of the test pictures", EACH),
    "local_energy": Variable(
        "1", "training error when each weight is multiplied by 1 + noise z", (*EACH, "noise")
    ),
    "largest": Variable("1", "largest eigenvalue of the Hessian of the loss", EACH),
    "trace": Variable(
        "1", "trace of the Hessian relative to each weight, on pictures not learned", EACH
    ),
    "barrier": Variable(
        "1",
        "training error on the way to a second network, less the larger end",
        ("rule", "match"),
    ),
    "length": Variable("1", "length of the row of weights", EACH),
    "spread": Variable("1", "distance of the replicas from their centre, over its length", EACH),
    "steps": Variable("1", "steps of each network", ("rule",), "int32"),
    "used": Variable("1", "gradients in all", ("rule",), "int32"),
}


def sample(settings, point, seed):
    """Return how good and how flat the networks are that all rules have trained on one set."""
    set_seed, start_seed, batch_seed, noise_seed, *twin_seeds = seed.spawn(6)
    rates, names = settings["rate"].tolist(), settings["rule"].tolist()
    with rules.one_thread():
        train, test = rules.drawn(point["data"], settings["P"], set_seed)
        found = trained(settings, rates, train, start_seed, batch_seed)
        twins = trained(settings, [settings["twin_rate"]], train, *twin_seeds)
        rows = [
            measured(settings, found[rule][0][k], train, test, noise_seed)
            | {"spread": float(found[rule][1][k])}
            for rule in names
            for k in range(len(rates))
        ]
        k = rates.index(settings["twin_rate"])
        barriers = [
            between(settings, found[rule][0][k], twins[rule][0][0], train) for rule in names
        ]
    shape = len(names), len(rates)
    result = {
        name: np.array([row[name] for row in rows]).reshape(*shape, *np.shape(rows[0][name]))
        for name in rows[0]
    }
    for place, name in enumerate(("steps", "used"), 2):
        result[name] = np.array([found[rule][place] for rule in names])
    return result | {"barrier": np.array(barriers)}


def trained(settings, rates, train, start_seed, batch_seed):
    """Return what `picture_rules.train` does, for all rules."""
    generator = rules.torch().Generator().manual_seed(int(start_seed.generate_state(1)[0]))
    first = rules.start(generator)
    words = tuple(int(word) for word in batch_seed.generate_state(4))
    found = {}
    for names in TOGETHER:
        found |= rules.train(settings, rates, first, *train, words, names)
    return found


def between(settings, w, other, train):
    """Return the barriers on the straight line to another row of weights, for each matching."""
    t = rules.torch()
    if not (w.isfinite().all() and other.isfinite().all()):
        return np.full(len(MATCHES), np.nan)
    shares, found = t.linspace(0, 1, settings["positions"])[:, None], []
    for end in (other, rules.matched(w, other, train[0])):
        with t.no_grad():
            chosen = rules.answers(w + shares * (end - w), train[0]).argmax(dim=2)
        errors = (chosen != train[1]).double().mean(dim=1)
        found.append(float(errors.max() - max(errors[0], errors[-1])))
    return found


def measured(settings, w, train, test, rng):
    """Return errors, local energy and curvature of a row of weights; NaN if these are no numbers.

    The noise is the same for every network of a sample.
    """
    numbers = (
        *("train_error", "train_loss", "test_error", "test_loss"),
        *("largest", "trace", "length"),
    )
    if not np.isfinite(w.numpy()).all():
        missing = np.full(len(settings["noise"]), np.nan)
        return dict.fromkeys(numbers, np.nan) | {"local_energy": missing}
    model = probe.Model(
        w.double().numpy(),
        error=lambda one: _wrong(rules.torch().from_numpy(np.float32(one)), *train)[0],
        classes=rules.CLASSES,
    )
    directions = settings["directions"]
    noisy = probe.local_energy(
        model, noise=settings["noise"], directions=directions, rng=np.random.default_rng(rng)
    )
    fresh = [one[: settings["fresh"]] for one in test]
    values = (
        *(*_wrong(w, *train), *_wrong(w, *test)),
        *(_largest(w, *train), _trace(w, *fresh, settings["probes"]), float(w.norm())),
    )
    return dict(zip(numbers, values, strict=True)) | {"local_energy": noisy.error_rate.values}


def _wrong(w, x, y):
    """Return the share of wrong answers and the mean loss of one row of weights."""
    with rules.torch().no_grad():
        found = rules.answers(w[None], x)[0]
        loss = rules.torch().nn.functional.cross_entropy(found, y)
        return float((found.argmax(dim=1) != y).double().mean()), float(loss)


def _largest(w, x, y):
    """Return the largest eigenvalue of the Hessian, by Lanczos' method to a few per cent."""
    product = _hessian(w, x, y)
    operator = LinearOperator((len(w), len(w)), matvec=product, dtype=np.float32)
    first = np.random.default_rng(0).standard_normal(len(w)).astype(np.float32)
    options = {"v0": first, "tol": 0.03, "ncv": 8, "return_eigenvectors": False}
    try:
        return float(eigsh(operator, 1, which="LA", maxiter=20, **options)[0])
    except ArpackError:
        return np.nan


def _trace(w, x, y, probes):
    """Return the trace of the Hessian relative to each weight, with random signs (Hutchinson).

    The signs are the same for every network.
    """
    product = _hessian(w, x, y)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (probes, len(w))) * w.numpy()
    return float(np.mean([v @ product(v) for v in signs]))


def _hessian(w, x, y):
    """Return the product of the Hessian of the mean cross-entropy with a vector, as a function."""
    t = rules.torch()
    leaf = w.detach()[None].requires_grad_()
    (slope,) = t.autograd.grad(rules.loss(leaf, x, y), leaf, create_graph=True)

    def product(v):
        move = t.from_numpy(np.asarray(v, np.float32).ravel())[None]
        return t.autograd.grad(slope, leaf, move, retain_graph=True)[0][0].numpy()

    return product


EXPERIMENT = Experiment(
    name="picture-optimisers",
    title="Test error and flatness of small convolutional networks, trained by six rules",
    source="this book",
    chapter=13,
    scales={
        "quick": Scale(
            grid={"data": ("digits",)},
            samples=2,
            settings=SETTINGS | {"P": 100, "gradients": 60, "directions": 3},
            coordinates={"rule": ALL, "rate": RATES[1:2], "noise": NOISES[:2], "match": MATCHES},
        ),
        "paper": Scale(
            grid={"data": ("digits", "fashion")},
            samples=10,
            settings=SETTINGS,
            coordinates={"rule": ALL, "rate": RATES, "noise": NOISES, "match": MATCHES},
        ),
    },
    variables=VARIABLES,
    axes={
        "data": Axis("1", "the pictures"),
        "rule": Axis("1", "name of the rule, or number of replicas"),
        "rate": Axis("1", "rate of learning"),
        "noise": Axis("1", "size of the noise, relative to each weight"),
        "match": Axis("1", "how filters and units of two networks are matched"),
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
