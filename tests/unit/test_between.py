"""Stops between computed values: straight lines between rows, and how far off they are."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from wfmlib.book import display
from wfmlib.book.display import between, printed, svg

X = np.linspace(0, 1, 21)
KNOTS = np.array([0.0, 1.0, 3.0, 4.0])
WORDS = {"xlabel": "x", "ylabel": "y", "alt": "A line."}


def figure(curves=None, knots=KNOTS, stops=(0.5, 2.0), **more):
    curves = curves or [display.Curve("line", X, np.outer(knots, X))]
    return display.slider("α", knots, curves, stops=stops, **WORDS | more)


def data(shown):
    return json.loads(re.search(r'json">(.*?)</script>', shown.html())[1])


@pytest.mark.parametrize("falling", [False, True])
def test_rows_are_linear_between_their_neighbours(falling):
    order = slice(None, None, -1 if falling else 1)
    values, stops = KNOTS[order], np.linspace(0, 4, 17)[order]
    given = np.column_stack([values, 2 * values, np.sin(values)])
    found = between.rows(values, given, stops)
    np.testing.assert_allclose(found[:, 1], 2 * found[:, 0], atol=1e-12)
    np.testing.assert_allclose(found[:, 0], stops, atol=1e-12)
    sines = np.interp(stops, KNOTS, np.sin(KNOTS))
    np.testing.assert_allclose(found[:, 2], sines, atol=1e-12)


def test_a_missing_point_spoils_no_computed_row():
    given = np.array([[1.0, np.nan], [2.0, 2.0], [3.0, 3.0]])
    found = between.rows(np.arange(3.0), given, np.array([0, 0.5, 1, 1.5, 2]))
    assert np.isnan(found[:, 1]).tolist() == [True, True, False, False, False]


def test_the_slider_stops_at_the_values_and_between_them():
    shown = figure(start=2)
    assert shown.values.tolist() == [0, 0.5, 1, 2, 3, 4]
    assert shown.values[shown.start] == 3.0
    assert display.stops_of(KNOTS[::-1], [0.5]).tolist() == [4, 3, 1, 0.5, 0]
    assert display.stops_of(KNOTS, KNOTS + 1e-12 * (KNOTS < 4)).tolist() == KNOTS.tolist()
    assert shown.marks[0].y.shape == (6, 21)
    assert len(data(shown)["paths"][0]) == 6
    assert repr(shown) == "Slider(α: 6 values from 0.0 to 4.0; line)"


def test_what_stands_still_or_moves_along_x_too():
    still = display.Curve("still", X, X)
    wide = display.Curve("wide", np.outer(1 + KNOTS, X), np.tile(X, (4, 1)))
    rule = display.Rule("edge", x=KNOTS)
    fixed = display.Rule("level", y=0.5)
    a, b, c, d = figure([still, wide, rule, fixed]).marks
    assert (a, d) == (still, fixed)
    np.testing.assert_allclose(b.x[:, -1], [1, 1.5, 2, 3, 4, 5])
    np.testing.assert_allclose(c.x, [0, 0.5, 1, 2, 3, 4])


def test_notes_have_a_word_for_each_stop():
    by_function = figure(note=lambda load: f"at {load:.1f}")
    assert data(by_function)["notes"][3] == "at 2.0"
    with pytest.raises(ValueError, match=r"one text per value \(6\), got 4"):
        figure(note=["a"] * 4)


@pytest.mark.parametrize("h", [0.5, 0.25])
def test_the_error_of_a_parabola_is_known(h):
    """Half-way between knots h apart a straight line is off by h^2 f'' / 8."""
    knots = np.arange(0, 2 + h, h)
    curve = display.Curve("parabola", X, np.outer(3 * knots**2, 1 + 0 * X))
    share = 6 * h**2 / 8 / 13
    assert between.error(knots, [curve], (0, 1), (0, 13)) == pytest.approx(share)
    shown = figure([curve], knots, stops=[0.1], ylim=(0, 13))
    said = f"linear between them (off by about {100 * share:.1g} % of an axis at most)."
    assert shown.made == f"Computed at {len(knots)} values, {said}"


def test_the_error_is_that_of_the_line_as_drawn():
    """A steep line that moves sideways is off by the way sideways, not by that along y."""
    knots = np.array([0.0, 1.0, 2.0])
    steep = display.Curve("steep", X, 100 * (X - 0.2 * knots[:, None] ** 2))
    found = between.error(knots, [steep], (0, 1), (0, 1))
    assert found == pytest.approx(2 * 0.2 / 8, rel=0.01)


def test_the_error_covers_uneven_knots_and_what_is_seen_only():
    knots = np.array([0.0, 1.0, 3.0])
    y = np.outer(knots**2, 1 + 0 * X)
    curve = display.Curve("parabola", X, y)
    assert between.error(knots, [curve], (0, 1), (0, 9)) == pytest.approx(2 * 4 / 8 / 9)
    assert between.error(knots, [curve], (0, 1), (2, 9)) == 0
    high = display.Curve("parabola", X, y, only=(2, 9))
    assert between.error(knots, [high], (0, 1), (0, 9)) == 0
    assert between.error(knots, [display.Curve("a", X, X)], (0, 1), (0, 1)) == 0
    gone = display.Curve("gone", X, np.where(y == 1, y, np.nan))
    assert between.error(knots, [gone], (0, 1), (0, 9)) == 0
    line = figure()
    assert "less than the lines are wide" in line.made
    plain = display.slider("α", KNOTS, [display.Curve("a", X, np.outer(KNOTS, X))], **WORDS)
    assert plain.made == ""
    assert "wfm-made" not in plain.html().partition("</style>")[2]


@pytest.mark.parametrize(
    ("stops", "said"),
    [([5.0], "from 0 to 4"), ([np.nan], "from 0 to 4"), ([[1.0]], "in a row")],
)
def test_a_stop_that_cannot_be_is_refused(stops, said):
    with pytest.raises(ValueError, match=said):
        figure(stops=stops)


# --- drawing ---------------------------------------------------------------------------------


def test_few_points_of_a_wave_are_drawn_smooth():
    """A polygon through 25 points of a wave bends by up to 25 degrees, its smooth curve by 8."""
    x = np.linspace(0, 1, 25)
    panel = svg.Panel((0, 1), (-1, 1))

    def bend(smooth):
        curve = display.Curve("wave", x, np.sin(6 * x), smooth=smooth)
        (stroke,), _ = panel.strokes([curve], 1)
        _, _, steps = stroke.frames[0].partition("l")
        steps = np.array([int(n) for n in re.findall(r"-?\d+", steps)]).reshape(-1, 2)
        turns = np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])))
        return np.degrees(np.abs(turns)).max()

    assert bend(False) > 15
    assert bend(True) < 10


def test_a_smooth_curve_meets_its_points_and_has_no_new_extremum():
    x, y = np.array([0.0, 100, 200, 300]), np.array([0.0, 0, 500, 500])
    fine = svg.smoothed(x, y)
    assert set(x) <= set(fine[0])
    assert (fine[1].min(), fine[1].max()) == (0, 500)
    assert np.all(np.diff(fine[1]) >= 0)
    back = svg.smoothed(x[::-1], y[::-1])
    np.testing.assert_array_equal(back, fine)
    loop = np.array([0.0, 100, 50, 0])
    assert svg.smoothed(loop, y)[0] is loop


def test_a_curve_is_cut_at_a_level():
    panel = svg.Panel((0, 1), (-1, 1))
    above = display.Curve("above", X, 1 - 2 * X, only=(0, np.inf))
    (stroke,), _ = panel.strokes([above], 1)
    left, top, width, height = stroke.window
    assert (left, top) == (panel.left, panel.top)
    assert top + height == pytest.approx(panel.place(0, 0)[1], abs=1)
    assert stroke.markup(0).startswith(f'<svg x="{left}" y="{top}" width="{width}"')
    dots = display.Curve("dots", X, 1 - 2 * X, line="archive", only=(0, np.inf))
    _, (points,) = panel.strokes([dots], 1)
    assert points.frames[0].count("M") == 11
    assert printed.png(figure([display.Curve("a", X, np.outer(KNOTS, X), only=(0, 1))]))


@pytest.mark.parametrize("only", [(1, 0), (0,), (0, np.nan)])
def test_a_part_must_have_two_ends(only):
    with pytest.raises(ValueError, match="only must be two numbers, low < high"):
        display.Curve("a", X, X, only=only)


@pytest.mark.parametrize(
    ("plain", "printed_"),
    [
        ("at -0.5", "at −0.5"),
        ("2.1e-03 of it", "2.1 × 10⁻³ of it"),
        ("1e+10, -3e4", "1 × 10¹⁰, −3 × 10⁴"),
        ("half-way, P1-2, 3-4", "half-way, P1-2, 3-4"),
        ("overlap +0.02", "overlap +0.02"),
    ],
)
def test_numbers_in_sentences_are_typeset(plain, printed_):
    from wfmlib.book.display.slider import typeset

    assert typeset(plain) == printed_


# --- live ------------------------------------------------------------------------------------


def test_a_live_slider_computes_what_the_page_interpolates():
    pytest.importorskip("ipywidgets")
    asked = []

    def compute(load):
        asked.append(load)
        return [load**2 * X]

    squares = display.Curve("square", X, np.outer(KNOTS**2, X))
    still = display.Curve("still", X, X)
    marks = [still, squares, display.Rule("edge", x=KNOTS / 4)]
    shown = figure(marks, compute=compute)
    exact = figure([still, display.Curve("square", X, np.outer([0, 4], X))], np.array([0.0, 2.0]))
    picture, control, _ = shown.widget().children
    assert asked == []
    control.children[0].value = 3
    assert asked == [2.0]
    wanted = svg.Panel(shown.xlim, shown.ylim).strokes(exact.marks[1:], 3)[0][0].frames[-1]
    assert wanted in picture.value
    assert wanted not in figure(marks).widget().children[0].value
    assert "linear between" not in picture.value
    control.children[0].value = 4  # a computed value is not computed again
    assert asked == [2.0]
    asked.clear()
    assert "linear between" in shown.html()
    assert asked == []


def test_compute_must_fit():
    with pytest.raises(TypeError, match="compute must be a function"):
        figure(compute=3)
    with pytest.raises(ValueError, match="compute must return 1 curves"):
        figure(compute=lambda load: [X, X]).figure(1, exact=True)
