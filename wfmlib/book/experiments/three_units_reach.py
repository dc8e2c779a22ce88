"""How far in load least action, with and without replicas, solves three units (P1, Sec. IV).

With 501 weights, half of P1's number, because runs that fail are long. A unit has 167 inputs, each
of P1's nine units 111: steps are two thirds of P1's, so that a correction changes a field by the
same amount, or two ninths.
"""

from __future__ import annotations

from wfmlib.book.experiments.committee_algorithms import AGREEMENT, RECIPES
from wfmlib.book.experiments.committee_reach import EXPERIMENT as NINE
from wfmlib.book.experiments.committee_reach import sample
from wfmlib.book.runs import Experiment, Scale

INPUTS = 111 / 167  # of a unit, P1's over ours
FAST = RECIPES["ceSGD fast"]["schedule"]
CHOSEN = {
    "LAL": {"eta": INPUTS * 5e-3, "batch": 100, "max_epochs": 16_000},
    "LAL, third of a step": {"eta": INPUTS * 5e-3 / 3, "batch": 100, "max_epochs": 16_000},
    "eLAL": RECIPES["eLAL"] | {"eta": INPUTS * 1e-2, "max_epochs": 2000},
    "ceSGD fast": {"schedule": FAST | {"eta": INPUTS * 1e-2}, "max_epochs": 3000},
}
QUICK = {name: recipe | {"max_epochs": 500} for name, recipe in CHOSEN.items()}
SETTINGS = {"N": 501, "units": 3, "recipes": CHOSEN}
EXPERIMENT = Experiment(
    name="three-units-reach",
    title="Least action on the K = 3 tree committee: success against load",
    source="P1, Sec. IV",
    chapter=8,
    scales={
        "quick": Scale(
            grid={"alpha": (0.5, 0.8), "algorithm": tuple(CHOSEN)},
            samples=2,
            settings=SETTINGS | {"N": 99, "recipes": QUICK},
        ),
        "paper": Scale(
            grid={"alpha": (1.2, 1.5, 1.8), "algorithm": tuple(CHOSEN)},
            samples=6,
            settings=SETTINGS,
        ),
    },
    variables=NINE.variables,
    axes=NINE.axes,
    sample=sample,
    agreement=AGREEMENT,
    seed=1904,
    paired=True,
)
