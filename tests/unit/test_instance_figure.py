"""The figure in which a reader draws an instance: what it checks, and what it tells the page."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from wfmlib import learning
from wfmlib.book import display
from wfmlib.book.display.instance import LOADS, SEEDS, SIZE
from wfmlib.learning.pages import clipped

X = np.arange(1.0, 6.0)
CURVES = [display.Curve(name, X, X / 10) for name in ("one", "two", "three")]
GIVEN = {"N": 61, "load": 0.4, "seed": 3, "xlabel": "step", "alt": "Lines that rise."}


def test_the_page_is_told_what_to_run():
    html = display.instance(CURVES, **GIVEN).html()
    told = json.loads(re.search(r'class="wfm-instance-data">(.*?)</script>', html)[1])
    assert [one["value"] for one in told["fields"]] == [61, 0.4, 3]
    assert told["protocol"] == learning.atanh_steps().tolist()
    assert told["panel"]["xlim"] == [0.0, 5.0]
    assert html.count('class="wfm-theory"') == 6  # with the legend
    assert "<script>" not in html


def test_messages_are_those_of_the_ranges():
    fields = display.instance(CURVES, **GIVEN).told["fields"]
    for one, allowed, name in zip(
        fields, (SIZE, LOADS, SEEDS), ("N", "load", "seed"), strict=True
    ):
        for given, message in (("?", "no_number"), (-7 if one["whole"] else -7.0, "outside")):
            with pytest.raises((TypeError, ValueError)) as refused:
                allowed.check(name, given)
            assert one[message].replace("{got}", repr(given)) == str(refused.value)


def test_it_is_printed_with_its_three_lines():
    bundle = display.instance(CURVES, **GIVEN)._repr_mimebundle_()
    assert base64.b64decode(bundle["application/pdf"]).startswith(b"%PDF")
    assert bundle["text/plain"] == "Instance(N=61, load=0.4, seed=3)"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"N": 202}, "N must be from 1 to 201, got 202"),
        ({"load": -0.5}, "load must be .* got -0.5"),
        ({"seed": 2**32}, "seed must be from 0 to 4294967295"),
        ({"alt": ""}, "alt"),
        ({"xlabel": " "}, "xlabel"),
    ],
)
def test_what_is_wrong_is_named(change, match):
    with pytest.raises(ValueError, match=match):
        display.instance(CURVES, **GIVEN | change)


def test_there_are_three_lines():
    with pytest.raises(ValueError, match="curves must hold 3 lines, got 2"):
        display.instance(CURVES[:2], **GIVEN)
    with pytest.raises(TypeError, match="each of curves"):
        display.instance([*CURVES[:2], "three"], **GIVEN)


def test_the_rule_stops_after_its_epochs_and_checks_what_it_is_given():
    xi, sigma = np.ones((2, 5), dtype=np.int8), np.array([1, -1])  # one pattern, both labels
    weights, epochs = clipped.learned(xi, sigma, seed=1, epochs=7)
    assert epochs == 7
    assert set(weights) <= {-1, 1}
    with pytest.raises(ValueError, match="seed must be from 0"):
        clipped.learned(xi, sigma, seed=-1)
    with pytest.raises(ValueError, match="epochs must be >= 1"):
        clipped.learned(xi, sigma, seed=1, epochs=0)
