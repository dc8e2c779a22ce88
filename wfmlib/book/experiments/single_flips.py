"""Every single flip of deep networks with binary weights: how many leave a solution (P3, SM IV).

A solution is isolated if every flip of one weight makes an error. Each weight of each layer is
flipped, one at a time, and the answers to all training pictures are counted anew. Beside it stands
a network of random weights, which is a solution of its own answers to the same pictures, but for
those on which its classes tie; of its flips some are drawn.

The networks are those of `binary_networks`, trained in the same way on training sets of their own.
"""

from __future__ import annotations

import numpy as np

from wfmlib.book.experiments import binary_networks
from wfmlib.book.experiments.binary_networks import LAYERS
from wfmlib.book.experiments.committee_algorithms import AGREEMENT
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.networks.binary_mlp import BinaryMLP

SETTINGS = binary_networks.SETTINGS | {"drawn": 2000}
QUICK = binary_networks.QUICK | {"drawn": 200}


def sample(settings, point, seed):
    """Return what the flips of a trained network and of a random one do."""
    data_seed, order_seed, random_seed, training_seed = seed.spawn(4)
    name = point["dataset"]
    if name == "teacher":
        (xi, sigma), _ = binary_networks.teacher(settings["teacher"], data_seed)
    else:
        (xi, sigma), _ = binary_networks.images(name)
    order = np.random.default_rng(order_seed).permutation(len(xi))[: point["size"]]
    xi, sigma = xi[order], sigma[order]
    trained = binary_networks.train(settings, name, xi, sigma, training_seed)
    rng = np.random.default_rng(random_seed)
    control = BinaryMLP([rng.choice([-1, 1], w.shape) for w in trained.weights])
    harmless, most = np.full((2, LAYERS), np.nan)
    if trained.errors == 0:
        harmless, most = flipped(trained.network, xi, sigma)
    return {
        "errors": trained.errors,
        "weights": _padded([w.size for w in trained.weights], 0),
        "harmless": harmless,
        "most_errors": most,
        "harmless_random": flipped(control, *_own(control, xi), settings["drawn"], rng)[0],
    }


def _own(net, xi):
    """Return the patterns that a network answers without a tie, and its answers."""
    answers = net.output(xi)
    decided = answers != (0 if net.classes == 2 else -1)
    return xi[decided], answers[decided]


def flipped(net, xi, sigma, drawn=None, rng=None):
    """Return, layer by layer, the share of single flips without an error, and the most errors.

    Parameters
    ----------
    net : BinaryMLP
        Which answers all patterns rightly; its weights are flipped in place, and back.
    xi, sigma : numpy.ndarray
        Patterns and labels.
    drawn : int, optional
        How many flips of a layer are drawn at random; all are tried if there are no more, or if
        it is not given.
    rng : numpy.random.Generator, optional
        For them.
    """
    prepared = net.prepared(xi)
    shares, most = [], []
    for layer in net.w:
        places = np.arange(layer.size)
        if drawn is not None and drawn < layer.size:
            places = rng.choice(layer.size, drawn, replace=False)
        wrong = np.empty(len(places), int)
        for k, place in enumerate(places):
            layer.flat[place] *= -1
            wrong[k] = net.errors(prepared, sigma)
            layer.flat[place] *= -1
        shares.append(np.mean(wrong == 0))
        most.append(wrong.max())
    return _padded(shares, np.nan), _padded(most, np.nan)


def _padded(values, absent):
    return np.array([*values, *[absent] * (LAYERS - len(values))])


EXPERIMENT = Experiment(
    name="single-flips",
    title="Single flips of deep networks with binary weights",
    source="P3, SM, Sec. IV",
    chapter=9,
    scales={
        "quick": Scale(
            grid={"dataset": ("teacher",), "size": (50, 200)},
            samples=1,
            settings=QUICK,
            coordinates={"layer": range(LAYERS)},
        ),
        "paper": Scale(
            grid={"dataset": ("mnist", "fashion", "cifar10"), "size": (500, 1000, 2000)},
            samples=4,
            settings=SETTINGS,
            coordinates={"layer": range(LAYERS)},
        ),
    },
    variables={
        "errors": Variable("1", "wrong answers on the training set", dtype="int32"),
        "weights": Variable("1", "number of weights of each layer", ("layer",), "int32"),
        "harmless": Variable("1", "share of single flips that leave a solution", ("layer",)),
        "most_errors": Variable("1", "the most errors after one flip", ("layer",)),
        "harmless_random": Variable(
            "1", "share of harmless flips with random weights and their own answers", ("layer",)
        ),
    },
    axes={
        "dataset": Axis("1", "data set"),
        "size": Axis("images", "images to train on"),
        "layer": Axis("1", "layer of weights, from the inputs on"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=2108,
    paired=True,
)
