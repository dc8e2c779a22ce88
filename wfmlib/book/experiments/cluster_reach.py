"""Reach in load of three algorithms on the binary perceptron, two of them at two speeds."""

from __future__ import annotations

from wfmlib import Perceptron, learning, patterns
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.learning.descent.clipped_rule import clipped_rule
from wfmlib.learning.messages.reinforced import reinforced_message_passing
from wfmlib.learning.solution import outcome

SETTINGS = {
    "replicas": 10,
    "steps": {"focusing BP": 30, "slow focusing BP": 300},  # of `pseudo_reinforcement`
    "max_sweeps": 5,
    "tolerance": 1e-4,
    "form": "expanded",
    "rate": {"reinforced AMP": 0.003, "slow reinforced AMP": 0.0003},
    "most_sweeps": {"reinforced AMP": 600, "slow reinforced AMP": 6000},
    "lean": 0.1,
    "epochs": 2000,  # of the clipped rule
}
ALGORITHMS = (
    "focusing BP",
    "slow focusing BP",
    "reinforced AMP",
    "slow reinforced AMP",
    "clipped rule",
)


def sample(settings, point, seed):
    """Return how one run ended."""
    patterns_seed, start = seed.spawn(2)
    N, algorithm = point["N"], point["algorithm"]
    xi, sigma = patterns.random(round(point["alpha"] * N), N, rng=patterns_seed)
    if algorithm == "clipped rule":
        number, epochs = int(start.generate_state(1)[0]), settings["epochs"]
        weights, sweeps = clipped_rule(xi, sigma, seed=number, epochs=epochs)
        errors = Perceptron().network(weights).errors(xi, sigma)
        return _outcome(errors, sweeps, outcome(errors, settled=False))
    if "focusing" in algorithm:
        result = learning.focusing_bp(
            Perceptron(),
            xi,
            sigma,
            protocol=learning.pseudo_reinforcement(settings["steps"][algorithm]),
            stop_at_solution=True,
            rng=start,
            **{name: settings[name] for name in ("replicas", "max_sweeps", "tolerance", "form")},
        )
        return _outcome(result.errors, result.epochs, result.outcome)
    reinforced = reinforced_message_passing(
        xi,
        sigma,
        rate=settings["rate"][algorithm],
        max_sweeps=settings["most_sweeps"][algorithm],
        lean=settings["lean"],
        rng=start,
    )
    return _outcome(reinforced.errors, reinforced.sweeps, reinforced.outcome)


def _outcome(errors, sweeps, ending_name):
    ending = learning.ENDINGS.index(ending_name)
    return {"solved": errors == 0, "errors": errors, "sweeps": sweeps, "ending": ending}


EXPERIMENT = Experiment(
    name="cluster-reach",
    title="Three algorithms on the binary perceptron, two of them at two speeds: success by load",
    source="Baldassi et al., PNAS 113, E7655 (2016); Baldassi, J. Stat. Phys. 136, 902 (2009)",
    chapter=10,
    scales={
        "quick": Scale(
            grid={"N": (101,), "algorithm": ALGORITHMS, "alpha": (0.4, 0.6)},
            samples=2,
            settings=SETTINGS,
        ),
        "paper": Scale(
            grid={
                "N": (1001,),
                "algorithm": ALGORITHMS,
                "alpha": (0.6, 0.65, 0.7, 0.72, 0.74, 0.76, 0.78),
            },
            samples=20,
            settings=SETTINGS,
        ),
    },
    variables={
        "solved": Variable("1", "whether a solution was found", dtype="bool"),
        "errors": Variable("1", "wrong answers of the best weights seen", dtype="int32"),
        "sweeps": Variable("1", "times through all patterns", dtype="int32"),
        "ending": Variable("1", "place in wfmlib.learning.ENDINGS", dtype="int32"),
    },
    axes={"alpha": Axis("1", "load P / N"), "N": Axis("1", "number of weights")},
    sample=sample,
    paired=True,
    agreement=Agreement(
        rtol=1e-5,
        atol=1e-7,
        why="messages that have not settled and single precision amplify roundings",
        chaotic=True,
    ),
    seed=1016,
)
