"""The calculator's figure, and the table of what pages compute: what is checked and told."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from tools import wasm
from wfmlib import Binary, Margin, Perceptron, Spherical, TreeCommittee
from wfmlib.book import display
from wfmlib.book.display import doors
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical

X = np.linspace(0.0, 1.0, 5)
MARKS = [
    *(display.Curve(name, X, X, smooth=False) for name in ("one", "two", "three")),
    display.Rule("capacity", 0.8),
    display.Rule("load", 0.5),
]
GIVEN = {"margin": 0.0, "load": 0.5, "xlabel": "load", "ylabel": "y", "alt": "Lines."}


def test_the_page_is_told_where_it_begins():
    html = display.calculator(MARKS, **GIVEN).html()
    told = json.loads(re.search(r'class="wfm-calculator-data">(.*?)</script>', html)[1])
    assert (told["margin"], told["load"]) == (0.0, 0.5)
    assert told["panel"]["xlim"] == [0.0, 1.0]
    assert 'data-kernels="typical"' in html


def test_paper_and_text_have_the_figure_as_it_was_made():
    bundle = display.calculator(MARKS, **GIVEN)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "application/pdf", "text/plain"}
    assert bundle["text/plain"] == "Calculator(margin=0, load=0.5)"


@pytest.mark.parametrize(
    ("change", "error", "named"),
    [
        ({"load": -1.0}, ValueError, "load"),
        ({"load": "half"}, TypeError, "load"),
        ({"margin": math.nan}, ValueError, "margin"),
        ({"alt": ""}, ValueError, "alt"),
    ],
)
def test_arguments_are_checked(change, error, named):
    with pytest.raises(error, match=named):
        display.calculator(MARKS, **GIVEN | change)


@pytest.mark.parametrize("marks", [MARKS[:4], MARKS[::-1]])
def test_it_needs_three_curves_and_two_rules(marks):
    with pytest.raises(ValueError, match="3 curves and then 2 rules"):
        display.calculator(marks, **GIVEN)


def test_every_door_names_a_kernel_that_takes_what_it_says():
    told = json.loads(json.dumps(doors.told(), allow_nan=False))
    for name, door in told["doors"].items():
        takes = wasm.EXPORTS[door["group"]][door["kernel"]][1]
        kinds = ["a" if one == "activation" else "n" for one in door["takes"]]
        assert "".join(kinds) == takes, name
        assert callable(getattr(typical, name.removeprefix("typical.")))


def test_messages_are_those_of_the_package():
    door = doors.doors()["typical.solve"]
    for weights in (Binary(), Spherical()):
        device, margin = Perceptron(weights), Margin(0.25)
        with pytest.raises(NotConverged) as beyond:
            typical.solve(device, 3.0, margin)
        last = typical.capacity(Perceptron(Spherical()), constraint=margin)
        last *= 2.0 / math.pi if weights == Binary() else 1.0
        given = {"last": f"{last:.10g}", "alpha": "3", "device": device, "constraint": margin}
        said = door.failures[type(weights).__name__]
        assert said.format(**given) == str(beyond.value)
    margins = doors.doors()["typical.max_margin"]
    with pytest.raises(ValueError, match="so small") as far:
        typical.max_margin(TreeCommittee(math.inf, weights=Binary()), 1e9)
    assert margins.failures["10"].format(alpha6="1e+09") == str(far.value)
    with pytest.raises(ValueError, match="alpha") as low:
        typical.max_margin(Perceptron(), 1e-9)
    assert margins.numbers["alpha"].outside.format(got="1e-09") == str(low.value)
