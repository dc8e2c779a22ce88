"""What is run at the papers' scale: every axis of every experiment, written a second time.

Loads, sizes and distances as the papers give them, and for what these leave open as the pages of
the experiments state them. How close a sample must come that is computed anew stands here, too.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from wfmlib.book import experiments
from wfmlib.book.experiments import bp_entropy, focusing
from wfmlib.numerics.solvers import NotConverged, Report

FIVE = ["fBP", "eLAL", "ceSGD slow", "ceSGD fast", "LAL"]
FOUR = FIVE[1:]
ON_IMAGES = {"data": ["original", "shuffled"], "algorithm": FOUR}
BETAS = [1, 2, 3, 5, 10, 20, 50, 100, 300]
FLIPS = {
    "noise": np.linspace(0.0, 0.5, 21),
    "stability": np.linspace(-1.975, 5.975, 160),
}
HALF = 1000 / 2001
AROUND = np.geomspace(0.1, 200.0, 30)

EVEN = (0.6, 0.64, 0.66, 0.68, 0.7, 0.72, 0.74, 0.76)
GRIDS = {
    "annealing-losses": {
        "N": [201, 501, 1001],
        "alpha": [0.3, 0.4, 0.5, 0.6, 0.7],
        "loss": ["errors", "cross-entropy", "replicated"],
    },
    "band-reach": {
        "N": [501, 1001, 2001],
        "rate": [0.003, 0.001],
        "alpha": [1.2, 1.3, 1.4, 1.45, 1.5, 1.55, 1.6, 1.65],
    },
    "binary-networks": {
        "dataset": ["mnist", "fashion", "cifar10"],
        "size": [250, 500, 1000, 2000, 4000, 8000],
    },
    "bp-entropy": {
        "alpha": [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.5, 1.6, 1.65, 1.7, 1.75, 1.8, 1.9, 2.0]
    },
    "cluster-large": {
        "case": [
            f"{run} weights at load {load}"
            for run, loads in {
                "focusing BP, 10001": (0.7, 0.72, 0.74, 0.76),
                "slow focusing BP, 10001": (0.72, 0.74),
                "focusing BP, 30001": (0.72,),
                "clipped rule, 10001": (0.6, 0.65, 0.7),
            }.items()
            for load in loads
        ]
    },
    "cluster-reach": {
        "N": [1001],
        "algorithm": [
            "focusing BP",
            "slow focusing BP",
            "reinforced AMP",
            "slow reinforced AMP",
            "clipped rule",
        ],
        "alpha": [0.6, 0.65, 0.7, 0.72, 0.74, 0.76, 0.78],
    },
    "cluster-scale": {
        "case": [
            f"{run} weights at load {load}"
            for run, loads in {
                "least action, 1001": (0.3, 0.4, 0.45, 0.5),
                "entropic least action, 1001": (0.4, 0.5, 0.55),
                "reinforced AMP, rate 0.003, 1001": EVEN,
                "reinforced AMP, rate 0.003, 10001": (0.72, 0.73, 0.74),
                "reinforced AMP, rate 0.05, 1001": EVEN,
                "reinforced AMP, rate 0.05, 10001": (0.64, 0.66, 0.68, 0.7),
                "reinforced AMP, rate 0.05, 100001": (0.64, 0.66, 0.68),
            }.items()
            for load in loads
        ]
    },
    "committee-optimisers": {
        "labels": ["random", "teacher"],
        "algorithm": [
            *("SGD", "SWA", "SAM", "ASAM", "Entropy-SGD", "replicated SGD"),
            *("ceSGD fast", "ceSGD slow", "LAL", "eLAL", "fBP"),
        ],
        "rate": [0.1, 0.3, 1.0],
    },
    "committee-reach": {
        "alpha": [1.4, 1.6, 1.8, 2.0, 2.2],
        "algorithm": [*FIVE, "LAL, third of a step", "eLAL, third of a step"],
    },
    "elal-replicas": {"replicas": [3, 10, 20, 50, 100]},
    "exact-flatness": {
        "machine": ["perceptron", "committee"],
        "N": [15, 21],
        "alpha": [0.4, 0.6, 0.8, 1.0, 1.2],
    },
    "fbp-committee": {"alpha": [1.5, 2.6, 2.7, 2.8], "form": ["exact", "expanded"]},
    "fbp-local-entropy": {"alpha": [1.0]},
    "fbp-perceptron": {"alpha": [HALF]},
    "fbp-perceptron-success": {
        "N": [1001, 2001],
        "alpha": [0.5, 0.6, 0.65, 0.7, 0.72, 0.74, 0.76],
    },
    "fbp-reach": {"units": [3, 9], "alpha": [2.6, 2.8, 3.0]},
    "fbp-solve": {"N": [501, 1001, 2001], "alpha": [0.5, 0.6, 0.65, 0.7, 0.72, 0.74, 0.75]},
    "fbp-sweeps": {"alpha": [HALF]},
    "free-norms": {"start": ["soft", "one"], "eta": [0.005, 0.01, 0.02]},
    "full-capacities": {
        "activation": ["ReLU", "erf", "tanh", "GELU", "swish", "square", "abs"],
    },
    "full-margins": {"kappa": [-2.0, -1.8, -1.6, -1.4, -1.2, -1.0, -0.8, -0.6, -0.4, -0.2]},
    "image-focusing": {"data": ["original", "shuffled"], "damping": [0.5, 0.9]},
    "image-minima": ON_IMAGES,
    "image-paths": {"algorithm": [*FOUR, "BinaryNet"], "units": [9, 27, 81]},
    "image-training-sets": {"classes": ["dress, coat", "bag, coat"], "algorithm": FOUR},
    "image-volume": ON_IMAGES,
    "picture-optimisers": {"data": ["digits", "fashion"]},
    "replicated-annealing": {"machine": ["sign", "relu"]},
    "replicated-annealing-connected": {
        "machine": ["sign", "relu"],
        "wiring": ["tree", "connected"],
    },
    "sampling": {
        "N": [501],
        "alpha": [0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7],
        "method": ["uniform", "log", "annealing"],
    },
    "single-flips": {"dataset": ["mnist", "fashion", "cifar10"], "size": [500, 1000, 2000]},
    "slow-growth": {
        "schedule": ["slow, first solution"]
        + [f"fast, gamma grows by {rate}" for rate in ("0.0003", "0.0006")]
        + [
            f"{v} to the {end} end"
            for end in ("soft", "sharp")
            for v in ("slow", "ten times faster")
        ]
    },
    "springs": {
        "algorithm": ["replicated SGD", "eLAL"],
        "replicas": [1, 3, 10, 20],
        "rate": [0.3, 1.0, 3.0],
    },
    "three-units": {"algorithm": FIVE},
    "three-units-reach": {
        "alpha": [1.2, 1.5, 1.8],
        "algorithm": ["LAL", "LAL, third of a step", "eLAL", "ceSGD fast"],
    },
    "tree-minima": {"algorithm": FIVE},
}
COORDINATES = {
    "cluster-large": {"instance": range(3)},
    "cluster-scale": {"instance": range(10)},
    "binary-networks": {
        "solution": range(4),
        "distance": [0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4],
        "layer": range(4),
    },
    "committee-optimisers": {"distance": [0.005, 0.02, 0.05, 0.1], "beta": [3, 10]},
    "elal-replicas": {"coupling": AROUND[[6, 10, 14, 18, 22, 26]], "beta": BETAS},
    "exact-flatness": {
        "measure": [f"volume {d}" for d in (1, 2, 3, 4, 6, 8)]
        + ["posterior", "barycentre"]
        + [f"local energy {p}" for p in (0.05, 0.1, 0.2)]
        + [f"{loss} {g}" for loss in ("cross-entropy", "curvature") for g in (0.5, 2.0, 5.0)]
        + ["smallest margin", "mean margin"]
    },
    "fbp-local-entropy": {"coupling": AROUND},
    "free-norms": {"coupling": AROUND[[8, 10, 12, 14, 16, 18, 20, 22]]},
    "full-capacities": {"level": range(33)},
    "full-margins": {"level": range(33)},
    # the steps of P3's protocol, but for the first, which does not pull, and the last
    "fbp-perceptron": {
        "coupling": np.arctanh(np.arange(1, 49) / 49),
        "stability": np.linspace(0.05, 3.95, 40),
    },
    "fbp-sweeps": {"limit": [200, 5000], "step": range(30), "coupling": [0.1, 0.5, 1.0, 1.5]},
    "image-focusing": {"step": range(30)},
    "image-minima": {
        "beta": [10, 30, 90],
        "noise": [0, 0.02, *np.linspace(0.05, 0.4, 8), 0.5, 0.6, 0.8, 1.0],
    },
    "image-paths": {
        "solution": range(3),
        "pair": range(3),
        "match": ["none", "weights", "answers"],
        "position": np.linspace(0, 1, 21),
        "place": range(28),
    },
    "image-training-sets": {
        "run": range(2),
        "label": [-1, 1],
        "beta": [10, 90],
        "coupling": np.geomspace(0.7, 30.0, 9),
    },
    "image-volume": {"coupling": np.geomspace(0.03, 1000.0, 24)},
    "picture-optimisers": {
        "rule": [
            *("SGD", "SWA", "SAM", "ASAM", "Entropy-SGD", "replicated SGD"),
            *("1 replica", "10 replicas", "20 replicas"),
        ],
        "rate": [0.02, 0.03, 0.04],
        "noise": [0.1, 0.2, 0.3, 0.5],
        "match": ["none", "answers"],
    },
    "replicated-annealing": FLIPS,
    "replicated-annealing-connected": FLIPS,
    "sampling": {"draw": range(2)},
    "single-flips": {"layer": range(4)},
    "slow-growth": {"coupling": AROUND[[8, 10, 12, 14, 16, 18, 20, 22]], "beta": [2, 3, 5, 10]},
    "springs": {"distance": [0.005, 0.02, 0.05, 0.1], "beta": [3, 10]},
    "three-units": {"coupling": AROUND[[8, 10, 12, 14, 16, 18, 20, 22]]},
    "tree-minima": {
        "coupling": AROUND,
        "beta": BETAS,
        "unit": range(9),
        "input": range(999 // 9),
        "mode": range(999),
    },
}
SAMPLES = dict.fromkeys(GRIDS, 10) | {
    "binary-networks": 3,
    "cluster-large": 2,
    "cluster-reach": 20,
    "cluster-scale": 4,
    "exact-flatness": 100,
    "fbp-reach": 2,
    "fbp-solve": 30,
    "free-norms": 6,
    "full-capacities": 1,
    "full-margins": 1,
    "image-focusing": 3,
    "image-minima": 50,  # P1, App. E
    "image-volume": 50,
    "replicated-annealing": 20,  # P2, Fig. 3
    "sampling": 5,
    "single-flips": 4,
    "three-units": 6,
    "three-units-reach": 6,
}
# on the same patterns at all points of a grid: what is compared there
PAIRED = set(GRIDS) - {
    "bp-entropy",
    "fbp-local-entropy",
    "fbp-perceptron",
    "fbp-perceptron-success",
    "fbp-solve",
    "fbp-sweeps",
    "full-capacities",
    "full-margins",
    "replicated-annealing",
    "replicated-annealing-connected",
}
# whole numbers, so that only means are rounded
COUNTED = {"annealing-losses", "replicated-annealing", "replicated-annealing-connected"}
# a minimiser stops where rounding lets it
SEARCHED = {"full-capacities", "full-margins"}
# training, or reinforcement, follows signs of sums, which another rounding turns
TRAINED = {
    "band-reach",
    "binary-networks",
    "cluster-large",
    "cluster-reach",
    "cluster-scale",
    "committee-optimisers",
    "committee-reach",
    "elal-replicas",
    "free-norms",
    "image-minima",
    "image-paths",
    "image-training-sets",
    "image-volume",
    "picture-optimisers",
    "single-flips",
    "slow-growth",
    "springs",
    "three-units",
    "three-units-reach",
    "tree-minima",
}


def test_every_experiment_has_a_row():
    assert set(experiments.names()) - {"toy"} == set(GRIDS)


@pytest.mark.parametrize("name", GRIDS)
def test_what_is_run(name):
    paper = experiments.get(name).scale("paper")
    for found, expected in ((paper.grid, GRIDS[name]), (paper.coordinates, COORDINATES.get(name))):
        expected = expected or {}
        assert list(found) == list(expected) or set(found) == set(expected)
        for axis, values in expected.items():
            if isinstance(next(iter(values)), str):
                assert list(found[axis]) == values
            else:  # written down to nine digits, or to six behind the point
                wanted = np.array(values, dtype=float)
                np.testing.assert_allclose(list(found[axis]), wanted, rtol=1e-6, atol=6e-7)
    assert paper.samples == SAMPLES[name]


@pytest.mark.parametrize("name", COORDINATES)
def test_coordinates_have_few_digits(name):
    """So few that they do not depend on a processor's logarithm."""
    digits = 9 if name == "fbp-perceptron" else 6
    for values in experiments.get(name).scale("paper").coordinates.values():
        numbers = [value for value in values if not isinstance(value, str)]
        assert [round(value, digits) for value in numbers] == numbers


@pytest.mark.parametrize("name", GRIDS)
def test_what_is_compared_with_what(name):
    experiment = experiments.get(name)
    assert experiment.paired == (name in PAIRED)
    agreement = experiment.agreement
    if name in COUNTED:
        assert (agreement.rtol, agreement.atol, agreement.chaotic) == (1e-9, 0.0, False)
        return
    if name in SEARCHED:
        assert (agreement.rtol, agreement.atol, agreement.chaotic) == (1e-2, 1e-3, False)
        return
    assert (agreement.rtol, agreement.atol) == (1e-5, 1e-7)
    assert (agreement.chaotic is True) == (name in TRAINED)


@pytest.mark.parametrize(
    ("name", "settled", "not_settled"),
    [
        ("fbp-reach", {"unsettled": np.array(0)}, {"unsettled": np.array(1)}),
        ("fbp-committee", {"unsettled": np.array(0)}, {"unsettled": np.array(-1)}),
        ("fbp-sweeps", {"settled": np.ones((2, 3), bool)}, {"settled": np.eye(3) > 0}),
        ("bp-entropy", {"converged": np.array(True)}, {"converged": np.array(False)}),
    ],
)
def test_messages_that_do_not_settle_are_chaotic(name, settled, not_settled):
    agreement = experiments.get(name).agreement
    assert not agreement.is_chaotic(settled)
    assert agreement.is_chaotic(not_settled)


# --- how a run ended ----------------------------------------------------------------------------


def test_how_focusing_ended():
    """Of three steps the second solves, and two do not settle."""
    history = {"errors": np.array([3, 0, 4]), "settled": np.array([True, False, False])}
    found = SimpleNamespace(errors=4, epochs=17, history=history)
    assert focusing.outcome(found) == {
        "solved": True,
        "errors": 4,
        "first": 1,
        "sweeps": 17,
        "unsettled": 2,
    }
    history["errors"] = np.array([3, 2, 1])
    assert focusing.outcome(found)["first"] == -1
    assert focusing.outcome(found)["solved"] is False
    broken = {"errors": -1, "first": -1, "sweeps": -1, "unsettled": -1}
    assert focusing.outcome(None) == broken | {"solved": False}


def test_no_curve_is_not_a_number_anywhere():
    found = focusing.no_curve({"coupling": (1.0, 2.0, 3.0)})
    assert not found.pop("converged").any()
    assert set(found) == {"distance", "local_entropy", "excess"}
    assert all(np.isnan(one).all() and one.shape == (3,) for one in found.values())


def test_messages_that_ceased_to_be_numbers(monkeypatch):
    def fail(*_, **__):
        raise NotConverged(Report(False, math.inf, 7, "not a number"))

    monkeypatch.setattr(bp_entropy.learning, "belief_propagation", fail)
    found = experiments.get("bp-entropy").as_task("quick", {"alpha": 0.5}, 0).compute()
    assert (found["sweeps"], found["converged"], found["residual"]) == (7, False, math.inf)
    assert math.isnan(found["entropy"])
    assert math.isnan(found["overlap"])
    for name, point in (
        ("fbp-committee", {"alpha": 1.0, "form": "exact"}),
        ("fbp-perceptron", {"alpha": 0.5}),
        ("fbp-local-entropy", {"alpha": 1.0}),
        ("image-focusing", {"data": "original", "damping": 0.5}),
    ):
        monkeypatch.setattr(bp_entropy.learning, "focusing_bp", fail)
        found = experiments.get(name).as_task("quick", point, 0).compute()
        assert (found["errors"], found["sweeps"], found["first"]) == (-1, -1, -1)
        assert not found["solved"]
        missing = [one for one in found.values() if one.dtype == float]
        assert all(np.isnan(one).all() for one in missing)
        assert bool(missing) == (name != "fbp-committee")
    monkeypatch.setattr(bp_entropy.learning, "focusing_bp", fail)
    with pytest.raises(FloatingPointError, match="ceased to be a number"):
        experiments.get("fbp-sweeps").as_task("quick", {"alpha": 0.5}, 0).compute()
