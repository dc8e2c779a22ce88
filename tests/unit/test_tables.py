"""Tables of the pages: the same numbers as text and as HTML."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bs4 import BeautifulSoup

from wfmlib.book import display

COLUMNS = {"unit": "", "load": "", "q": ".2f", "share": "{:.0%} ± {:.0%}", "left": "d"}
ROWS = [
    ("sign", 0.4, np.float64(1 / 3), (0.5, 0.01), None),
    ("a < b", 1.0, math.nan, "none", 12),
]


def test_text_is_aligned():
    assert repr(display.table(ROWS, COLUMNS)) == (
        "unit   load     q     share  left\n"
        "sign    0.4  0.33  50% ± 1%\n"
        "a < b   1.0   nan      none    12"
    )


def test_html_holds_what_the_text_holds():
    table = display.table(iter(ROWS), COLUMNS)
    soup = BeautifulSoup(table._repr_html_(), "html.parser")
    rows = [[cell.get_text() for cell in row("th") + row("td")] for row in soup("tr")]
    assert rows == [table.columns, *table.rows]
    assert [one["scope"] for one in soup("th")] == ["col"] * 5 + ["row"] * 2
    assert {one["style"] for one in soup("th")[:1]} == {"text-align: left"}  # texts
    assert {one["style"] for one in soup("th")[1:5]} == {"text-align: right"}  # numbers
    assert "overflow-x: auto" in soup.div["style"]


def test_rows_have_a_value_for_each_column():
    with pytest.raises(ValueError, match="one for each column, got 1"):
        display.table([(1, 2), (3,)], {"a": "d", "b": "d"})
    with pytest.raises(TypeError, match="columns must be Mapping"):
        display.table([(1,)], ["a"])
    assert repr(display.table([], {"a": "d"})) == "a"
