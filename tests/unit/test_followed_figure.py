"""What a page is told whose curves are followed: settings, the package's words, the lines."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from wfmlib import Margin, Perceptron, TreeCommittee
from wfmlib.book import display
from wfmlib.book.display import followed
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi, large_deviation

TEXTS = {"xlabel": "distance d", "ylabel": "local entropy φ", "alt": "A line."}
FIGURES = {
    "surroundings": display.surroundings(
        1, load=0.5, farthest=0.1, margins=(0.0, 0.4, 0.01), place=0.003
    ),
    "replicas": display.replicas([math.inf], load=0.7, place=0.9),
    "committees": display.committees([2.0, math.inf], load=1.5, place=0.9),
}


def told(live):
    marks = [display.Curve("a", [0.0, 0.1], [[0.0, 0.1], [0.0, 0.2]])] * (len(live.lines))
    shown = display.slider("margin", [0.0, 0.4], marks, live=live, **TEXTS).html()
    return json.loads(re.search(r'class="wfm-followed">(.*?)</script>', shown)[1]), shown


@pytest.mark.parametrize("name", FIGURES)
def test_the_page_is_told_what_to_follow(name):
    live = FIGURES[name]
    data, shown = told(live)
    assert f'data-kernels="{name}"' in shown
    assert data["own"] in [one["name"] for one in data["settings"]]
    assert len(data["lines"]) == len(live.lines)
    assert len(data["coarse"]) == len(data["fine"]) == len(data["ends"]) - 1
    assert {"left", "right", "top", "bottom", "xlim", "ylim"} == set(data["panel"])


def test_infinite_replicas_are_written_as_json_writes_them():
    (line,) = told(FIGURES["replicas"])[0]["lines"]
    assert line["given"] == {"replicas": None}
    replicas = told(FIGURES["replicas"])[0]["settings"][2]
    assert replicas["infinite"]
    assert replicas["number"]["high"] == 1e5


def test_each_line_that_moves_has_its_own():
    curve = display.Curve("a", [0.0, 0.1], [[0.0, 0.1], [0.0, 0.2]])
    live = display.surroundings(2, load=0.5, farthest=0.1, margins=(0.0, 0.4, 0.01), place=0.003)
    with pytest.raises(ValueError, match=r"each of 1 .* got 2"):
        display.slider("margin", [0.0, 0.4], [curve], live=live, **TEXTS)


def filled(text, **values):
    """Return a message as the page fills it in."""
    return re.sub(r"\{(\w+)(?::\d+)?\}", lambda found: str(values[found[1]]), text)


def test_messages_are_those_of_the_package():
    device, live = Perceptron(), FIGURES["surroundings"]
    with pytest.raises(ValueError, match="reference must") as empty:
        franz_parisi.solve(device, 0.7, 0.1, reference=Margin(0.6))
    largest = re.search(r"at most ([\d.]+)", str(empty.value))[1]
    said = live.failures[followed.EMPTY]
    assert filled(said, largest=largest, alpha=0.7, kt=0.6) == str(empty.value)
    with pytest.raises(NotConverged) as near:
        franz_parisi.solve(device, 0.6, 0.00025)
    said = live.failures[followed.COLLAPSED].replace("{why}", live.why[0])
    assert filled(said, place=0.00025, alpha=0.6) == str(near.value)
    for name, devices in (("replicas", device), ("committees", TreeCommittee(np.inf))):
        with pytest.raises(NotConverged) as apart:
            large_deviation.solve(devices, 3.5, 0.25)
        said = FIGURES[name].failures[followed.DISSOLVED]
        assert filled(said, place=0.25, alpha=3.5) == str(apart.value)


def test_what_may_be_typed_is_what_the_package_takes():
    load, _, replicas = FIGURES["replicas"].settings
    assert (load.number.low, load.also) == (1e-7, (0.0,))
    assert (replicas.number.low, replicas.infinite) == (1.0, True)
    assert FIGURES["replicas"].place.number.high < 1.0
    assert FIGURES["surroundings"].place.number.low > 0.0
    with pytest.raises(ValueError, match="replicas") as few:
        large_deviation.solve(Perceptron(), 0.5, 0.9, replicas=0.5)
    assert replicas.number.outside.replace("{got}", "0.5") == str(few.value)


def test_a_message_without_its_numbers_is_noticed():
    with pytest.raises(AssertionError, match="stands 0 times"):
        followed._failure(
            lambda: large_deviation.solve(Perceptron(), 7.25, 0.125), {"0.5": "{alpha}"}
        )
    with pytest.raises(AssertionError, match="does not fail"):
        followed._failure(lambda: None, {})
