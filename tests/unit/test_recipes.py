"""What reaches the algorithms in every experiment at the papers' scale: each number, and no less.

The numbers are those of P1, App. D and E (fBP, eLAL, ceSGD, LAL), of App. F (shuffled pixels), of
P2, Fig. 3 and of P3, App. B 3, and for what these leave open those that the experiments' pages
state. They are written here a second time, by hand.
"""

import numpy as np
import pytest
from scipy.special import erf

from tests.recipes import recorded
from wfmlib import Activation, Binary, Committee, Perceptron, ReLU, Spherical, TreeCommittee
from wfmlib.book import experiments
from wfmlib.book.experiments import focusing, full_capacities

NAMES = tuple(name for name in experiments.names() if name != "toy")

COMMITTEE = {"xi": (1000, 999), "device": TreeCommittee(9)}
IMAGES = {"xi": (500, 784), "device": Committee(9)}

FOCUSING = {
    "protocol": "papers",  # P1's exponential one for weights on the sphere, P3's for binary ones
    "output": "exact",
    "damping": 0.5,
    "tolerance": 1e-4,
    "max_sweeps": 200,
    "stop_at_solution": None,  # which is no, but with the protocol "solve"
}
SPHERICAL = FOCUSING | {"replicas": 10, "form": "exact"}
BINARY = FOCUSING | {"device": Perceptron(), "replicas": 20}
FIRST = {"stop_at_solution": True}
EXPANDED = {"form": "expanded"}

LAL = {"eta": 5e-3, "batch": 100, "max_epochs": 20_000, "start": None}
ELAL = {
    "replicas": 20,
    "eta": 1e-2,
    "coupling": 0.5,
    "growth": 1e-4,
    "batch": 100,
    "collapse": 1e-7,
    "max_epochs": 20_000,
    "snapshots": (),
}
PLAIN = {"batch": 100, "loss": "divided", "step": "sum", "normalise": "batch", "per": "batch"}
FAST = {
    "schedule": PLAIN
    | {"eta": 1e-2, "gamma": 3.0, "beta": 1.0, "gamma_growth": 0.0, "beta_growth": 1e-3}
    | {"stop": "errors"},
    "max_epochs": 20_000,
}
SLOW = {
    "schedule": PLAIN
    | {"eta": 3e-3, "gamma": 0.1, "beta": 0.5, "gamma_growth": 4e-4, "beta_growth": 2e-4}
    | {"stop": 1e-7},
    "max_epochs": 20_000,
}
FAST_IMAGES = {
    "schedule": PLAIN
    | {"eta": 2e-4, "gamma": 5.0, "beta": 2.0, "gamma_growth": 0.0, "beta_growth": 1e-4}
    | {"stop": "errors"},
    "max_epochs": 5000,
}
SLOW_IMAGES = {
    "schedule": PLAIN
    | {"eta": 3e-5, "gamma": 0.5, "beta": 0.5, "gamma_growth": 1e-3, "beta_growth": 1e-3}
    | {"stop": 1e-7},
    "max_epochs": 5000,
}
ELAL_IMAGES = ELAL | {"eta": 2e-3, "coupling": 30.0, "growth": 5e-3, "max_epochs": 5000}
ELAL_SHUFFLED = ELAL_IMAGES | {"eta": 5e-4, "coupling": 20.0, "growth": 1e-2}
LAL_IMAGES = LAL | {"eta": 1e-4, "max_epochs": 5000}

PERCEPTRON = {"device": Perceptron(), "gamma": 1.0, "spacing": "geometric"}
ANNEALED = PERCEPTRON | {"beta": [1.0, 50.0], "sweeps": 5000, "steps": 500, "moves": "auto"}
REPLICATED = {
    "loss": "errors",
    "gamma": 1.0,
    "replicas": 20,
    "overlap": 0.85,
    "tolerance": 0.01,
    "beta": [1.0, 6.0],
    "spacing": "geometric",
    "ramp": 0.8,
    "moves": "auto",
    "stop_early": True,
}
FIGURE_3 = REPLICATED | {"sweeps": 40_000, "steps": 2000, "gain": 0.5}
CONNECTED = REPLICATED | {"sweeps": 3000, "steps": 150, "gain": 2.0}

REINFORCED = {"rate": 0.003, "lean": 0.1, "max_sweeps": 600}
AT_THOUSAND = {
    0.6: 601, 0.64: 641, 0.66: 661, 0.68: 681, 0.7: 701, 0.72: 721, 0.74: 741, 0.76: 761
}  # fmt: skip
INSTANCES = {  # of a sample, where they are not five
    "reinforced AMP, rate 0.003, 1001": 10,
    "reinforced AMP, rate 0.003, 10001": 3,
    "reinforced AMP, rate 0.05, 1001": 10,
    "reinforced AMP, rate 0.05, 100001": 1,
    "focusing BP, 10001": 3,
    "focusing BP, 30001": 1,
    "clipped rule, 10001": 1,
}
WALK = {
    "device": Perceptron(),
    "step": 0.05,
    "end": 30.0,
    "tolerance": 1e-4,
    "damping": 0.0,
    "max_sweeps": 40,
    "means": None,
    "threads": 1,
}

SOLVERS = (
    "belief_propagation",
    "binary_sgd",
    "clipped_replicas",
    "cross_entropy_sgd",
    "entropic_least_action",
    "focusing_bp",
    "learned",
    "least_action",
    "packed_reinforced",
    "potential_annealing",
    "reinforced_message_passing",
    "replicated_annealing",
    "simulated_annealing",
    "solve",
    "stochastic_localization",
)
UNSEEDED = ("full-capacities", "full-margins")  # theory: nothing is drawn
CAPACITY = {"constraint": {"kappa": 0.0}, "steps": None}  # of a continuous hierarchy


def reach(algorithm, changes):
    """Return a row of `committee-reach` at load 2.2."""
    point = {"alpha": 2.2, "algorithm": algorithm}
    return "committee-reach", point, {"xi": (2198, 999), "device": TreeCommittee(9)} | changes


def scale(algorithm, N, loads, changes):
    """Return the rows of `cluster-scale` for an algorithm and a size: patterns at each load."""
    return [
        ("cluster-scale", {"case": f"{algorithm}, {N} weights at load {load}"},
         {"packed": (P, N), "lean": 0.1, "look": 5, "threads": 1} | changes
         if "rate" in changes else {"xi": (P, N), "batch": 100, "max_epochs": 1500} | changes)
        for load, P in loads.items()
    ]  # fmt: skip


def larger(algorithm, N, loads):
    """Return the rows of `cluster-large` for an algorithm and a size."""
    told = {"epochs": 1000}
    if algorithm == "focusing BP":
        told = BINARY | FIRST | EXPANDED | {"protocol": "solve", "replicas": 10, "max_sweeps": 5}
    return [
        ("cluster-large", {"case": f"{algorithm}, {N} weights at load {load}"},
         told | {"xi": (P, N)})
        for load, P in loads.items()
    ]  # fmt: skip


def volume_and_minima(data, algorithm, changes):
    point = {"data": data, "algorithm": algorithm}
    return [(name, point, IMAGES | changes) for name in ("image-minima", "image-volume")]


ROWS = [
    ("annealing-losses", {"N": 501, "alpha": 0.6, "loss": "errors"},
     ANNEALED | {"xi": (301, 501), "loss": "errors", "start": None, "stop_at_solution": True}),
    ("annealing-losses", {"N": 1001, "alpha": 0.3, "loss": "cross-entropy"},
     ANNEALED
     | {"xi": (300, 1001), "loss": "cross-entropy", "start": None, "stop_at_solution": True}),
    ("annealing-losses", {"N": 201, "alpha": 0.7, "loss": "replicated"},
     ANNEALED
     | {"xi": (141, 201), "loss": "errors", "replicas": 7, "beta": [0.5, 3.0], "overlap": 0.998}
     | {"tolerance": 0.02, "ramp": 1.0, "gain": 2.0, "stop_early": True}),
    ("binary-networks", {"dataset": "mnist", "size": 250},
     {"xi": (250, 15), "units": [101, 101], "classes": 2, "eta": 1.0, "gamma": 1.0}),
    ("binary-networks", {"dataset": "fashion", "size": 500},
     {"xi": (500, 15), "units": [101, 101], "classes": 10, "eta": 3.0, "gamma": 3.0}),
    ("binary-networks", {"dataset": "cifar10", "size": 1000},
     {"xi": (1000, 15), "units": [101, 101, 101], "classes": 10, "eta": 1.0, "gamma": 3.0}),
    ("single-flips", {"dataset": "mnist", "size": 500},
     {"xi": (500, 15), "units": [101, 101], "classes": 2, "eta": 1.0, "gamma": 1.0}),
    ("single-flips", {"dataset": "fashion", "size": 1000},
     {"xi": (1000, 15), "units": [101, 101], "classes": 10, "eta": 3.0, "gamma": 3.0}),
    ("single-flips", {"dataset": "cifar10", "size": 2000},
     {"xi": (2000, 15), "units": [101, 101, 101], "classes": 10, "eta": 1.0, "gamma": 3.0}),
    ("band-reach", {"N": 2001, "alpha": 1.5},
     {"xi": (3002, 2001), "constraint": {"kappa": 1.0}} | REINFORCED),
    ("cluster-reach", {"N": 1001, "algorithm": "focusing BP", "alpha": 0.74},
     BINARY | FIRST | EXPANDED
     | {"xi": (741, 1001), "protocol": "solve", "replicas": 10, "max_sweeps": 5}),
    ("cluster-reach", {"N": 1001, "algorithm": "reinforced AMP", "alpha": 0.74},
     {"xi": (741, 1001), "constraint": {"kappa": 0.0}} | REINFORCED),
    ("cluster-reach", {"N": 1001, "algorithm": "clipped rule", "alpha": 0.74},
     {"xi": (741, 1001), "epochs": 2000}),
    *larger("focusing BP", 10001, {0.7: 7001, 0.72: 7201, 0.74: 7401, 0.76: 7601}),
    *larger("focusing BP", 30001, {0.7: 21001, 0.72: 21601}),
    *larger("clipped rule", 10001, {0.6: 6001, 0.65: 6501, 0.7: 7001}),
    *scale("least action", 1001, {0.3: 300, 0.4: 400, 0.45: 450, 0.5: 500},
           {"replicas": 1, "pull": 0.0, "growth": 0.0}),
    *scale("entropic least action", 1001, {0.4: 400, 0.5: 500, 0.55: 551},
           {"replicas": 7, "pull": 1e-4, "growth": 0.01, "max_epochs": 1000}),
    *scale("reinforced AMP, rate 0.003", 1001, AT_THOUSAND, {"rate": 0.003, "max_sweeps": 700}),
    *scale("reinforced AMP, rate 0.003", 10001,
           {0.72: 7201, 0.73: 7301, 0.74: 7401}, {"rate": 0.003, "max_sweeps": 700}),
    *scale("reinforced AMP, rate 0.05", 1001, AT_THOUSAND, {"rate": 0.05, "max_sweeps": 90}),
    *scale("reinforced AMP, rate 0.05", 10001,
           {0.64: 6401, 0.66: 6601, 0.68: 6801, 0.7: 7001}, {"rate": 0.05, "max_sweeps": 90}),
    *scale("reinforced AMP, rate 0.05", 100001,
           {0.64: 64001, 0.66: 66001, 0.68: 68001}, {"rate": 0.05, "max_sweeps": 90}),
    ("sampling", {"N": 501, "alpha": 0.6, "method": "uniform"},
     WALK | {"xi": (301, 501), "constraint": {"kappa": 0.0}}),
    ("sampling", {"N": 501, "alpha": 0.6, "method": "log"},
     WALK | {"xi": (301, 501), "constraint": {"exponent": 1.0, "kappa": 0.0}}),
    ("sampling", {"N": 501, "alpha": 0.7, "method": "annealing"},
     {"xi": (351, 501), "device": Perceptron(), "constraint": {"exponent": 1.0, "kappa": 0.0},
      "sweeps": 1000, "widths": 50, "first": 3.0, "last": 0.01}),
    ("bp-entropy", {"alpha": 1.65},
     {"xi": (1648, 999), "device": TreeCommittee(3), "reference": None, "coupling": 0.0,
      "form": "exact", "output": "exact", "order": "random", "damping": 0.0, "tolerance": 1e-5,
      "max_sweeps": 500}),
    reach("fBP", SPHERICAL | EXPANDED | FIRST),
    reach("eLAL", ELAL | {"max_epochs": 3000}),
    reach("eLAL, third of a step", ELAL | {"max_epochs": 3000, "eta": 1e-2 / 3}),
    reach("ceSGD slow", SLOW | {"max_epochs": 16_000}),
    reach("ceSGD fast", FAST | {"max_epochs": 5000}),
    reach("LAL", LAL | {"max_epochs": 10_000}),
    reach("LAL, third of a step", LAL | {"max_epochs": 16_000, "eta": 5e-3 / 3}),
    ("elal-replicas", {"replicas": 50},
     COMMITTEE | ELAL | {"replicas": 50, "max_epochs": 10_000}),
    *(
        ("fbp-committee", {"alpha": 2.7, "form": form},
         SPHERICAL | FIRST | {"xi": (2697, 999), "device": TreeCommittee(3), "form": form})
        for form in ("exact", "expanded")
    ),
    *(
        ("full-capacities", {"activation": name},
         CAPACITY | {"device": TreeCommittee(np.inf, unit)})
        for name, unit in (
            ("ReLU", ReLU()),
            ("erf", Activation(erf)),
            ("tanh", Activation(np.tanh)),
            ("GELU", Activation(full_capacities.gelu)),
            ("swish", Activation(full_capacities.swish)),
            ("square", Activation(np.square)),
            ("abs", Activation(np.abs)),
        )
    ),
    ("full-margins", {"kappa": -1.4},
     {"device": Perceptron(Spherical()), "constraint": {"kappa": -1.4}, "steps": None}),
    ("fbp-local-entropy", {"alpha": 1.0}, SPHERICAL | COMMITTEE | {"xi": (999, 999)}),
    ("fbp-perceptron", {"alpha": 1000 / 2001}, BINARY | {"xi": (1000, 2001), "form": "exact"}),
    ("fbp-perceptron-success", {"N": 1001, "alpha": 0.74},
     BINARY | FIRST | EXPANDED | {"xi": (741, 1001)}),
    *(
        ("fbp-reach", {"units": units, "alpha": 2.8},
         SPHERICAL | FIRST | EXPANDED | {"xi": (2797, 999), "device": TreeCommittee(units)})
        for units in (3, 9)
    ),
    ("fbp-solve", {"N": 1001, "alpha": 0.74},
     BINARY | FIRST | EXPANDED
     | {"xi": (741, 1001), "protocol": "solve", "replicas": 10, "max_sweeps": 5}),
    ("fbp-sweeps", {"alpha": 1000 / 2001},
     BINARY | EXPANDED | {"xi": (1000, 2001), "protocol": (30,)}),
    *(
        ("image-focusing", {"data": data, "damping": 0.9},
         SPHERICAL | EXPANDED | IMAGES | {"damping": 0.9})
        for data in ("original", "shuffled")
    ),
    *(
        row
        for data, elal in (("original", ELAL_IMAGES), ("shuffled", ELAL_SHUFFLED))
        for algorithm, changes in (
            ("eLAL", elal),
            ("ceSGD slow", SLOW_IMAGES),
            ("ceSGD fast", FAST_IMAGES),
            ("LAL", LAL_IMAGES),
        )
        for row in volume_and_minima(data, algorithm, changes)
    ),
    *(
        ("image-paths", {"algorithm": algorithm, "units": 9}, IMAGES | changes)
        for algorithm, changes in (
            ("eLAL", ELAL_IMAGES),
            ("ceSGD slow", SLOW_IMAGES),
            ("ceSGD fast", FAST_IMAGES),
            ("LAL", LAL_IMAGES),
        )
    ),
    ("image-paths", {"algorithm": "BinaryNet", "units": 27},
     {"xi": (500, 783), "units": [27, 27], "classes": 2, "eta": 1.0, "gamma": 1.0}),
    *(
        ("image-training-sets", {"classes": pair, "algorithm": algorithm}, IMAGES | changes)
        for pair in ("dress, coat", "bag, coat")
        for algorithm, changes in (
            ("eLAL", ELAL_IMAGES),
            ("ceSGD slow", SLOW_IMAGES),
            ("ceSGD fast", FAST_IMAGES),
            ("LAL", LAL_IMAGES),
        )
    ),
    ("replicated-annealing", {"machine": "sign"},
     FIGURE_3 | {"xi": (436, 1089), "device": TreeCommittee(33, weights=Binary())}),
    ("replicated-annealing", {"machine": "relu"},
     FIGURE_3 | {"xi": (410, 1024), "device": TreeCommittee(32, ReLU(), Binary())}),
    ("replicated-annealing-connected", {"machine": "sign", "wiring": "tree"},
     CONNECTED | {"xi": (271, 1809), "device": TreeCommittee(9, weights=Binary())}),
    ("replicated-annealing-connected", {"machine": "relu", "wiring": "connected"},
     CONNECTED | {"xi": (240, 200), "device": Committee(8, ReLU(), Binary())}),
    ("slow-growth", {"schedule": "slow, first solution"},
     COMMITTEE | SLOW | {"schedule": SLOW["schedule"] | {"stop": "errors"}}),
    *(
        ("tree-minima", {"algorithm": algorithm}, COMMITTEE | changes)
        for algorithm, changes in (
            ("fBP", SPHERICAL),
            ("eLAL", ELAL),
            ("ceSGD slow", SLOW),
            ("ceSGD fast", FAST),
            ("LAL", LAL),
        )
    ),
]  # fmt: skip
DEEP = {"momentum": 0.0, "spread": None, "batch": 100, "epochs": 300}


def calls_of(monkeypatch, name, point, sample=3):
    return recorded(monkeypatch, experiments.get(name).as_task("paper", point, sample))


@pytest.mark.parametrize(
    ("name", "point", "expected"), ROWS, ids=[f"{row[0]} {[*row[1].values()]}" for row in ROWS]
)
def test_what_solvers_are_told(monkeypatch, name, point, expected):
    assert point in experiments.get(name).scale("paper").points
    found = [told for called, told in calls_of(monkeypatch, name, point) if called in SOLVERS]
    if name == "binary-networks":
        assert found == [expected | DEEP] * 4  # solutions of one training set
    elif name == "single-flips":
        assert found == [expected | DEEP]
    elif name == "image-paths" and point["algorithm"] == "BinaryNet":
        assert found == [expected | DEEP] * 3
    elif name == "image-paths":
        assert found == [expected] * 3 + [IMAGES | ELAL_IMAGES]  # and the centre
    elif name == "image-training-sets":
        assert found == [expected] * 2  # runs on one training set
    elif name == "sampling":
        assert found == [expected] * 2  # draws for one set of patterns
    elif name in ("cluster-large", "cluster-scale"):
        count = INSTANCES.get(point["case"].partition(" weights")[0], 5)
        assert found == [expected] * count
    elif name == "fbp-sweeps":
        assert found == [expected, expected | {"max_sweeps": 5000}]  # on one instance
    else:
        assert found == [expected]


@pytest.mark.parametrize("name", NAMES)
def test_every_way_of_solving_has_a_row(name):
    """No value of a grid that is a name or a choice is without one; loads and sizes may be."""
    grid = experiments.get(name).scale("paper").grid
    rows = [point for one, point, _ in ROWS if one == name]
    for axis, values in grid.items():
        if all(isinstance(value, str) for value in values):
            assert {point[axis] for point in rows} == set(values)
    assert rows


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNSEEDED])
def test_solvers_draw_from_the_seed_of_their_sample(monkeypatch, name):
    point, seeds = experiments.get(name).scale("paper").points[0], []
    for sample in (3, 3, 4):
        seeds.append([])
        with monkeypatch.context() as patch:
            recorded(patch, experiments.get(name).as_task("paper", point, sample), seeds[-1])
    first, again, other = ([one for one in found if one[0] in SOLVERS] for found in seeds)
    assert first == again
    assert first
    for (_, one), (_, another) in zip(first, other, strict=True):
        assert one is not None
        assert one != another


@pytest.mark.parametrize(
    "name", ["bp-entropy", "fbp-committee", "fbp-perceptron-success", "fbp-solve"]
)
def test_patterns_are_those_of_the_load(monkeypatch, name):
    for point in experiments.get(name).scale("paper").points:
        with monkeypatch.context() as patch:
            (told,) = (told for _, told in calls_of(patch, name, point))
        P, N = told["xi"]
        assert point.get("N", 999) == N
        assert abs(P - point["alpha"] * N) <= 0.5


@pytest.mark.parametrize(
    ("units", "weights", "expected"),
    [
        (1, "binary", Perceptron(Binary())),
        (1, "spherical", Perceptron(Spherical())),
        (3, "binary", TreeCommittee(3, weights=Binary())),
        (9, "spherical", TreeCommittee(9, weights=Spherical())),
    ],
)
def test_the_device_that_settings_describe(units, weights, expected):
    assert focusing.device({"units": units, "weights": weights}) == expected


def measured(monkeypatch, name, point, measure):
    return [told for called, told in calls_of(monkeypatch, name, point) if called == measure]


CURVE = {"form": "exact", "output": "exact", "damping": 0.0, "tolerance": 1e-6, "max_sweeps": 500}
CURVE |= {"rng": 0}
ON_IMAGES = EXPANDED | {"output": "exact", "damping": 0.5, "tolerance": 1e-4, "max_sweeps": 200}
ON_IMAGES |= {"rng": 0}


@pytest.mark.parametrize(
    ("name", "point", "expected"),
    [
        ("fbp-local-entropy", {"alpha": 1.0},
         CURVE | {"solution": ("TreeCommittee", (9, 111)), "xi": (999, 999), "couplings": (30,)}),
        ("fbp-perceptron", {"alpha": 1000 / 2001},
         CURVE | {"solution": ("Perceptron", (2001,)), "xi": (1000, 2001), "couplings": (48,)}),
        ("elal-replicas", {"replicas": 3},
         CURVE | {"solution": ("TreeCommittee", (9, 111)), "xi": (1000, 999), "couplings": (6,)}),
        ("tree-minima", {"algorithm": "LAL"},
         CURVE | {"solution": ("TreeCommittee", (9, 111)), "xi": (1000, 999), "couplings": (30,)}),
        ("slow-growth", {"schedule": "slow, first solution"},
         CURVE | {"solution": ("TreeCommittee", (9, 111)), "xi": (1000, 999), "couplings": (8,)}),
        ("image-volume", {"data": "original", "algorithm": "LAL"},
         ON_IMAGES
         | {"solution": ("Committee", (9, 784)), "xi": (500, 784), "couplings": (24,)}),
        ("image-training-sets", {"classes": "bag, coat", "algorithm": "LAL"},
         ON_IMAGES
         | {"solution": ("Committee", (9, 784)), "xi": (500, 784), "couplings": (9,)}),
    ],
)  # fmt: skip
def test_what_the_local_entropy_is_told(monkeypatch, name, point, expected):
    assert measured(monkeypatch, name, point, "local_entropy") == [expected]


@pytest.mark.parametrize(
    ("name", "point", "betas", "kinds"),
    [
        ("tree-minima", {"algorithm": "fBP"}, [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0],
         [("square", True), ("cross-entropy", False)]),
        ("elal-replicas", {"replicas": 3}, [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0],
         [("square", False)]),
        ("image-minima", {"data": "shuffled", "algorithm": "LAL"}, [10.0, 30.0, 90.0],
         [("square", False), ("square", True)]),
    ],
)  # fmt: skip
def test_what_the_largest_eigenvalue_is_told(monkeypatch, name, point, betas, kinds):
    calls = measured(monkeypatch, name, point, "max_eigenvalue")
    found = [(told["beta"], told["loss"], told["tangent"]) for told in calls]
    assert found == [(beta, loss, tangent) for loss, tangent in kinds for beta in betas]
    kind = "Committee" if name == "image-minima" else "TreeCommittee"
    assert {told["solution"][0] for told in calls} == {kind}
    assert {(told["gamma"], told["output_beta"]) for told in calls} == {(1.0, 1.0)}


def test_spectra_are_of_the_square_loss(monkeypatch):
    calls = measured(monkeypatch, "tree-minima", {"algorithm": "LAL"}, "hessian_spectrum")
    assert [told["beta"] for told in calls] == [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0]
    assert {(told["loss"], told["solution"][0], told["gamma"]) for told in calls} == {
        ("square", "TreeCommittee", 1.0)
    }


def test_noise_on_images(monkeypatch):
    point = {"data": "original", "algorithm": "eLAL"}
    (told,) = measured(monkeypatch, "image-minima", point, "noise_robustness")
    assert (told["kind"], told["perturbations"], told["bias"]) == ("pixels", 20, None)
    assert told["noise"] == (14,)


def test_the_images_are_those_of_the_papers(monkeypatch):
    """P1, App. E: 500 dresses and coats, as many of each; App. F: five shuffled versions."""
    calls = calls_of(monkeypatch, "image-minima", {"data": "shuffled", "algorithm": "LAL"}, 7)
    (draw,) = (told for called, told in calls if called == "dress_coat")
    assert draw == {"patterns": 500, "rng": 0, "balanced": True}
    settings = experiments.get("image-minima").scale("paper").settings
    assert (settings["shuffles"], settings["shuffle_seed"]) == (5, 2020)


def test_the_training_sets_are_of_both_pairs(monkeypatch):
    """Dresses are class 3 of Fashion-MNIST, coats 4, bags 8; both official files are read."""
    for pair, classes in (("dress, coat", [3, 4]), ("bag, coat", [8, 4])):
        with monkeypatch.context() as patch:
            calls = calls_of(patch, "image-training-sets", {"classes": pair, "algorithm": "LAL"})
        read = [told for called, told in calls if called == "fashion_mnist"]
        assert read == [{"split": split, "classes": classes} for split in ("train", "test")]


def test_what_is_measured_on_binary_networks(monkeypatch):
    point = {"dataset": "fashion", "size": 500}
    calls = calls_of(monkeypatch, "binary-networks", point)
    profiles = [told for called, told in calls if called == "error_profile"]
    assert {(told["samples"], told["distances"]) for told in profiles} == {(10, (12,))}
    assert len(profiles) == 4
    matches = [told for called, told in calls if called == "match_layers"]
    assert len(matches) == 6  # pairs
    assert all(told["signs"] for told in matches)


def test_which_flips_are_tried(monkeypatch):
    """All of what was trained; 2000 of a layer of random weights of the same shapes."""
    point = {"dataset": "fashion", "size": 500}
    trained, random = measured(monkeypatch, "single-flips", point, "flipped")
    assert trained["drawn"] is None
    assert random["drawn"] == 2000
    for told in (trained, random):
        assert told["net"] == "BinaryMLP"
        assert told["xi"] == (500, 15)


def test_noise_on_replicas(monkeypatch):
    (told,) = measured(monkeypatch, "replicated-annealing", {"machine": "sign"}, "noisy_errors")
    assert told["settings"]["perturbations"] == 50
    assert told["weights"] == (21, 33, 33)  # the reference and 20 replicas
    np.testing.assert_allclose(told["settings"]["noise"], np.arange(21) * 0.025)


def test_the_ways_are_between_networks_of_one_training_set(monkeypatch):
    """For each way to match three edges and a triangle; then three geodesics from the centre."""
    point = {"algorithm": "LAL", "units": 81}
    calls = measured(monkeypatch, "image-paths", point, "simplex")
    matches = ["none", "weights", "answers"]
    found = [(told["match"], told["steps"], len(told["solutions"])) for told in calls]
    inside = [(m, *one) for m in matches for one in ((20, 2), (20, 2), (20, 2), (6, 3))]
    assert found == inside + [(m, 20, 2) for m in matches for _ in range(3)]
    nets = {str(one) for told in calls for one in told["solutions"]}
    assert len(nets) == 1
    assert {told["xi"] for told in calls} == {(500, 784)}
