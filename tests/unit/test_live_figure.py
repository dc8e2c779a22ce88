"""What a page that computes is told: the package's words, and a kernel for each line."""

from __future__ import annotations

import json
import math
import re

import pytest

from wfmlib import Binary, CrossEntropy, Margin, Perceptron, ReLU, Sign, TreeCommittee
from wfmlib.book import display
from wfmlib.book.display import live
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical

TEXTS = {"xlabel": "load α", "ylabel": "entropy φ", "alt": "A line."}
LINES = [("binary_curve", 1), ("binary_capacity", 2)]


def marks():
    return [
        display.Curve("entropy", [0.0, 1.0], [[0.7, 0.0], [0.7, -0.1]]),
        display.Curve("still", [0.0, 1.0], [0.1, 0.1]),
        display.Rule("capacity", [0.8, 0.5]),
    ]


def figure(lines=LINES, **given):
    given = {"live": display.typical_solutions(lines)} | given
    return display.slider("margin κ", [0.0, 0.5], marks(), **TEXTS, **given)


def told(shown):
    return json.loads(re.search(r'class="wfm-live"[^>]*>(.*?)</script>', shown.html())[1])


def test_the_page_is_told_what_to_draw_and_where():
    data = told(figure(place=0.25))
    assert data["lines"] == [[*line, None] for line in LINES]
    assert data["rules"] == [False, True]
    assert (data["start"], data["low"], data["high"], data["first"]) == (0.0, 0.0, 0.5, 0.25)
    assert data["panel"]["xlim"] == list(figure()._drawing[0].xlim)


def test_a_figure_that_does_not_compute_is_told_nothing():
    assert "wfm-live" not in figure(live=None).html().split("</style>")[1].split("<script>")[0]


@pytest.mark.parametrize("lines", [LINES[:1], [*LINES, LINES[0]]])
def test_each_line_that_moves_has_a_kernel(lines):
    with pytest.raises(ValueError, match=f"each of 2 .* got {len(lines)}"):
        figure(lines)


@pytest.mark.parametrize("wrong", ["binary", 3])
def test_live_must_be_one(wrong):
    with pytest.raises(TypeError, match="live"):
        figure(live=wrong)


def test_messages_are_those_of_the_package():
    said = display.typical_solutions(LINES)
    with pytest.raises(TypeError) as word:
        Margin("much")
    assert said.value.no_number.replace("{got}", "'much'") == str(word.value)
    with pytest.raises(ValueError, match="margin") as far:
        typical.solve(Perceptron(), 0.5, Margin(-2.5))
    assert said.value.outside.replace("{got}", "-2.5") == str(far.value)
    with pytest.raises(ValueError, match="alpha") as negative:
        typical.solve(Perceptron(), -0.5)
    assert said.place.outside.replace("{got}", "-0.5") == str(negative.value)
    with pytest.raises(NotConverged) as beyond:
        typical.solve(Perceptron(), 1.5, Margin(0.0))
    found = said.failed.replace("{last}", "1.273239545")
    assert found.replace("{alpha}", "1.5").replace("{value}", "0.0") == str(beyond.value)


def test_a_value_that_is_taken_is_no_refusal():
    with pytest.raises(AssertionError, match=r"takes 0\.5"):
        live.refusal(Margin, 0.5)


def test_a_figure_of_the_cross_entropy_is_told_a_table_and_calls():
    rows = [("row", 1), ("upright", 0)]
    data = told(figure(rows, live=display.gibbs_measure(rows, load=0.6, beta=7.0)))
    assert data["group"] == "gibbs"
    assert {one["name"]: one["start"] for one in data["more"]} == {"place": 7.0, "alpha": 0.6}
    kernels = ["gibbs_point", "gibbs_zero_entropy", "gibbs_instability"]
    assert [one["kernel"] for one in data["later"]] == kernels
    assert data["table"]["takes"] == ["value", "alpha"]
    assert data["value"]["infinite"]
    shown = figure(rows, live=display.gibbs_measure(rows)).html()
    assert 'class="wfm-live" data-worker="blob"' in shown
    assert "data-worker" not in figure().html()


def test_failures_of_the_cross_entropy_are_those_of_the_package():
    point = display.gibbs_measure(LINES).later[0]
    for beta, ended in ((3e5, "4"), (1e300, "1")):
        with pytest.raises(NotConverged) as failed:
            typical.solve(Perceptron(), 6.5, CrossEntropy(0.25, beta))
        said = str(failed.value)
        text = point.failures[ended].replace("{value}", "0.25").replace("{place}", repr(beta))
        text = text.replace("{alpha:6}", "6.5")
        energy = re.search(r"energy is ([^,]+)", said)
        assert text.replace("{7:3}", energy[1] if energy else "") == said


def test_a_call_that_does_not_fail_has_no_words_for_it():
    with pytest.raises(AssertionError, match="finds something"):
        live.failure(lambda: typical.solve(Perceptron(), 0.5), {})


def test_a_figure_of_other_devices_holds_what_kernels_take_of_them():
    sign, relu = (TreeCommittee(math.inf, unit, Binary()) for unit in (Sign(), ReLU()))
    lines = [("typical_curve", 1, sign), ("typical_capacity", 2, relu)]
    said = display.typical_solutions(lines, relu)
    assert said.lines == [("typical_curve", 1, 0), ("typical_capacity", 2, 1)]
    assert said.told == 1
    assert said.devices[0] == (0.0, [1.0, 1.0, None, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert said.devices[1][1][1:3] == [ReLU().scale, ReLU().slope_at_one]
    assert said.value.low == pytest.approx(-2.0 * ReLU().scale)
    with pytest.raises(ValueError, match="margin") as far:
        typical.solve(relu, 0.5, Margin(-1.5))
    ratio = repr(-1.5 / said.value.unit)
    assert said.value.outside.replace("{got}", ratio) == str(far.value)
    assert said.python.startswith("theory.typical.solve(TreeCommittee(inf, ReLU(), Binary()), ")
