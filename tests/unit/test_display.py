"""The slider's markup, the palette and the style, without a browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from io import BytesIO
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from wfmlib.book import display
from wfmlib.book.display import palette, printed, svg, ticks

X = np.linspace(0, 2, 201)
LOADS = np.linspace(0.1, 0.8, 8)
WORDS = {
    "xlabel": "margin κ",
    "ylabel": "entropy φ (nats per weight)",
    "alt": "A parabola that sinks as the load grows.",
}


def parabola(**more):
    y = 0.7 - LOADS[:, None] * (1 + X**2)
    return display.slider("load α", LOADS, [display.Curve("entropy", X, y)], **WORDS | more)


def data(figure):
    text = re.search(r'<script type="application/json">(.*?)</script>', figure.html())[1]
    return json.loads(text)


def corners(d):
    """Return the runs of points that a path visits."""
    runs = []
    for run in filter(None, d.split("M")):
        start, _, steps = run.partition("l")
        first = np.array([int(n) for n in start.split()])
        rest = np.array([int(n) for n in re.findall(r"-?\d+", steps)]).reshape(-1, 2)
        runs.append(first + np.vstack([[0, 0], np.cumsum(rest, axis=0)]))
    return runs


def distance_to_polygon(x, y, polygon):
    """Return how far each point lies from the polygon, by brute force over its sides."""
    points = np.column_stack([x, y])[:, None]
    a, b = polygon[None, :-1], polygon[None, 1:]
    side = b - a
    t = np.clip(((points - a) * side).sum(-1) / (side**2).sum(-1), 0, 1)
    return np.linalg.norm(points - a - t[..., None] * side, axis=-1).min(axis=1)


# --- drawing ---------------------------------------------------------------------------------


def test_a_path_stays_at_its_curve():
    """Simplifying moves the line by 1.5 units at most, rounding by 0.71, of 6400 across."""
    panel = svg.Panel((0, 2), (-3, 1))
    y = np.cos(7 * X) - X
    lines, _ = panel.strokes([display.Curve("wave", X, y)], 1)
    (polygon,) = corners(lines[0].frames[0])
    px, py = panel.place(X, y)
    assert distance_to_polygon(px, py, polygon).max() < 1.5 + np.sqrt(0.5)
    assert len(polygon) < 0.6 * len(X)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=40), st.sampled_from([1.5, 60.0]))
def test_simplified_keeps_its_promise(heights, tolerance):
    x = 10.0 * np.arange(len(heights))
    y = np.array(heights, dtype=float)
    keep = svg.simplified(x, y, tolerance)
    assert keep[0]
    assert keep[-1]
    polygon = np.column_stack([x, y])[keep]
    assert distance_to_polygon(x, y, polygon).max() <= tolerance + 1e-9


def test_missing_points_break_the_line():
    y = np.where((X > 0.5) & (X < 1), np.nan, X)
    y[-1] = np.inf
    lines, _ = svg.Panel((0, 2), (0, 2)).strokes([display.Curve("gap", X, y)], 1)
    runs = corners(lines[0].frames[0])
    left, right = (
        svg.Panel((0, 2), (0, 2)).place([x0, x1], 0)[0] for x0, x1 in ((0, 0.5), (1, 1.99))
    )
    assert [run[[0, -1], 0].tolist() for run in runs] == [
        np.rint(left).tolist(),
        np.rint(right).tolist(),
    ]


def test_points_outside_of_the_panel_are_left_out_and_bars_end_at_its_edge():
    panel = svg.Panel((0, 1), (0, 1))
    x, y = np.array([0.5, 0.5, 1.5, 0.2]), np.array([0.5, 2.0, 0.5, np.nan])
    curve = display.Curve("found", x, y, line="archive", error=[0.8, 0.1, 0.1, 0.1])
    (bars,), (points,) = panel.strokes([curve], 1)
    assert points.frames[0].count("M") == 1
    u, v = panel.place(0.5, 0.5)
    assert points.frames[0] == f"M{u:.0f} {v:.0f}h0"
    assert f"M{u:.0f} {panel.bottom}V{panel.top}" in bars.frames[0]


def test_values_far_outside_are_drawn_towards_the_edge():
    lines, _ = svg.Panel((0, 2), (0, 1)).strokes(
        [display.Curve("wall", [0, 1, 2], [0, 1e300, 0])], 1
    )
    (polygon,) = corners(lines[0].frames[0])
    assert polygon[:, 1].min() < -10 * svg.HEIGHT
    assert len(str(polygon)) < 100


def test_a_rule_spans_the_panel_and_may_move():
    panel = svg.Panel((0, 2), (0, 1))
    rules = [display.Rule("still", y=0.5), display.Rule("moving", x=[0.5, np.nan])]
    (still, moving), _ = panel.strokes(rules, 2)
    assert len(still.frames) == 1
    assert corners(still.frames[0])[0][:, 0].tolist() == [panel.left, panel.right]
    assert sorted(corners(moving.frames[0])[0][:, 1]) == [panel.top, panel.bottom]
    assert moving.frames[1] == ""


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(5, 9))
def test_ticks_are_round_and_few(low, width, most):
    high = low + max(width, 1e-6 * abs(low))
    values, texts = ticks.ticks(low, high, most)
    assert 2 <= len(values) <= most
    slack = 1e-6 * (high - low)
    assert values[0] >= low - slack
    assert values[-1] <= high + slack
    step = values[1] - values[0]
    mantissa = step / 10.0 ** np.floor(np.log10(step * (1 + 1e-6)))
    assert min(abs(mantissa - m) for m in (1, 2, 2.5, 5)) < 1e-3
    read = [float(text.replace(ticks.MINUS, "-")) for text in texts]
    np.testing.assert_allclose(read, values, rtol=0, atol=0.011 * step)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.1, 0.2, 0.3], ["0.1", "0.2", "0.3"]),
        ([-0.5, 0.0, 0.25], ["−0.50", "0.00", "0.25"]),
        ([1, 2, 10], ["1", "2", "10"]),
        ([-1e-17, 1.0], ["0", "1"]),
        ([0.0, 1e-7, 2e-7], ["0", "1e−07", "2e−07"]),
        ([0.1, 0.1 + 0.7 / 29], ["0.100", "0.124"]),
    ],
)
def test_numbers_are_written_alike(values, texts):
    assert ticks.written(np.array(values, dtype=float)) == texts


# --- the static figure -----------------------------------------------------------------------


def test_the_frame_in_the_markup_is_the_frame_of_the_data():
    figure = parabola(start=3)
    (frames,) = data(figure)["paths"]
    assert len(frames) == len(set(frames)) == 8
    drawn = re.findall(r'wfm-moves"[^>]* d="([^"]+)"', figure.html())
    assert drawn == [frames[3]]
    assert 'value="3"' in figure.html()
    assert data(figure)["values"] == ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]


def test_what_does_not_move_is_stored_once():
    still = display.Curve("still", X, -X)
    y = np.outer(LOADS, X)
    figure = display.slider("load α", LOADS, [still, display.Curve("moving", X, y)], **WORDS)
    assert len(data(figure)["paths"]) == 1
    assert figure.html().count("wfm-moves") == 1 + 1  # the path, and the script's selector


def test_forty_frames_of_three_curves_stay_small():
    x, loads = np.linspace(0, 1, 200), np.linspace(0.01, 0.8, 40)
    curves = [
        display.Curve(f"{k}", x, np.cos(k * x) * loads[:, None] - np.log(1.1 - x) * k)
        for k in (1, 2, 3)
    ]
    figure = display.slider("load α", loads, curves, **WORDS)
    assert len(figure.html().encode()) < 60_000


def test_equal_figures_are_equal_bytes():
    assert parabola().html() == parabola().html()
    assert printed.png(parabola()) == printed.png(parabola())
    assert printed.png(parabola()) != printed.png(parabola(xlim=(0, 1)))


def test_two_figures_share_no_name():
    """No id, so nothing to collide; the script finds its parts inside of their own figure."""
    assert not re.search(r'\s(id|for|name)="', parabola().html())


def test_text_cannot_leave_its_place():
    nasty = '</script><b>"&'
    curve = display.Curve(nasty, X, np.outer(LOADS, X))
    words = {"xlabel": nasty, "ylabel": nasty, "alt": nasty}
    page = display.slider(nasty, LOADS, [curve], note=[nasty] * 8, **words).html()
    assert "<b>" not in page
    assert page.count("</script>") == 2
    assert (
        data(display.slider("α", LOADS, [curve], note=[nasty] * 8, **words))["notes"][0] == nasty
    )


def test_notes_come_from_a_function_or_a_list():
    by_function = parabola(note=lambda load: f"{load:.1f} patterns per weight")
    by_list = parabola(note=[f"{load:.1f} patterns per weight" for load in LOADS])
    assert by_function.html() == by_list.html()
    assert 'aria-valuetext="0.1; 0.1 patterns per weight"' in by_list.html()


def test_what_a_page_and_what_print_get(monkeypatch):
    monkeypatch.setenv("WFMLIB_DISPLAY", "static")
    bundle = parabola()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert bundle["text/plain"] == "Slider(load α: 8 values from 0.1 to 0.8; entropy)"
    assert bundle["image/png"].startswith("iVBORw")  # PNG in base64


def test_print_takes_every_kind_of_mark():
    marks = [
        display.Curve("bound", X, -X, line="bound", colour="sign"),
        display.Curve("found", X[::20], np.outer(LOADS, X[::20]), "archive", error=0.1 * X[::20]),
        display.Curve("no bars", X[::20], X[::20], line="archive"),
        display.Rule("edge", x=LOADS),
        display.Rule("level", y=0),
    ]
    assert printed.png(display.slider("load α", LOADS, marks, **WORDS)).startswith(b"\x89PNG")


def test_limits_hold_all_frames_and_bars():
    curve = display.Curve("found", [0, 1], [[0, 1], [0, 3]], line="archive", error=[0, 1])
    figure = display.slider("α", [1, 2], [curve, display.Rule("low", y=-1)], **WORDS)
    assert figure.ylim == pytest.approx((-1 - 0.25, 4 + 0.25))
    assert figure.xlim == pytest.approx((-0.03, 1.03))
    assert parabola(ylim=(0, 1)).ylim == (0, 1)


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alt": " "}, "alt must be a non-empty string"),
        ({"start": 8}, "start must be from 0 to 7, got 8"),
        ({"xlim": (1, 1)}, "xlim must be two finite numbers, low < high"),
        ({"ylim": (0, np.nan)}, "ylim must be two finite numbers"),
        ({"note": ["one"]}, r"note must hold one text per value \(8\), got 1"),
        ({"values": [1.0]}, "values must hold at least two finite numbers"),
        ({"values": [0, 2, 1]}, "rising or falling"),
        ({"values": [0, np.nan, 1]}, "values must hold at least two finite numbers"),
        ({"values": [0, np.inf]}, "values must be finite"),
        ({"curves": []}, "curves must hold at least one Curve"),
        ({"curves": [display.Rule("level", y=0)]}, "curves must hold at least one Curve"),
        (
            {"curves": [display.Curve("a", X, np.ones((7, 201)))]},
            r"y of 'a' must have .* \(8, 201\)",
        ),
        ({"curves": [display.Curve("a", X[1:], X)]}, r"x of 'a' must have shape \(201,\)"),
        ({"curves": [display.Curve("a", X, X), display.Rule("r", x=[1, 2])]}, "x of 'r' must be"),
        ({"curves": [display.Curve("a", X, np.nan * X)]}, "at least one finite point"),
    ],
)
def test_a_wrong_argument_is_named(change, message):
    given_ = {"values": LOADS, "curves": [display.Curve("entropy", X, X)]} | WORDS | change
    with pytest.raises(ValueError, match=message):
        display.slider("load α", **given_)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: display.Curve("", X, X), "name must be a non-empty string"),
        (lambda: display.Curve("a", X, X, line="wavy"), "line must be one of 'theory'"),
        (lambda: display.Curve("a", X, X, colour="red"), "colour must be '#rrggbb' or one of"),
        (lambda: display.Curve("a", X, X, error=X), "error bars need line='archive'"),
        (lambda: display.Curve("a", X, 1.0), r"y of 'a' must have shape \(points,\)"),
        (lambda: display.Rule("a"), "exactly one of x and y"),
        (lambda: display.Rule("a", x=1, y=1), "exactly one of x and y"),
        (lambda: display.Rule("a", x=[[1]]), "must be a number or a list of numbers"),
    ],
)
def test_a_wrong_mark_is_refused_at_once(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_other_things_are_no_curves():
    with pytest.raises(TypeError, match="each of curves must be Curve"):
        display.slider("α", LOADS, [X], **WORDS)
    with pytest.raises(TypeError, match="each of note must be str"):
        parabola(note=lambda load: load)
    with pytest.raises(TypeError, match=r"curves must be a sequence, got 0\.5"):
        display.slider("α", LOADS, 0.5, **WORDS)
    with pytest.raises(TypeError, match="note must be a sequence, got 'eight888'"):
        parabola(note="eight888")


@pytest.mark.parametrize("value", ["0.5", None, [1j], [True], ["a"]])
def test_what_is_no_number_is_not_drawn(value):
    with pytest.raises(TypeError, match="x of 'a' must"):
        display.Curve("a", value, X)
    with pytest.raises(TypeError, match="y of 'a' must"):
        display.Curve("a", X, value)
    with pytest.raises(TypeError, match="xlim must"):
        parabola(xlim=value or "none")
    with pytest.raises(TypeError, match="values must"):
        display.slider("α", value, [display.Curve("a", X, X)], **WORDS)
    with pytest.raises((TypeError, ValueError), match="'a' must"):
        display.Rule("a", x=value)
    for change in ({"line": value or []}, {"colour": [value]}):
        with pytest.raises(ValueError, match="must be"):
            display.Curve("a", X, X, **change)


# --- the live control ------------------------------------------------------------------------


def test_the_live_control_redraws_with_the_same_code():
    pytest.importorskip("ipywidgets")
    figure = parabola(start=2, note=lambda load: f"at {load:.1f}")
    (frames,) = data(figure)["paths"]
    picture, control, said = figure.widget().children
    choice, typed = control.children
    assert choice.value == 2
    assert choice.description == "load α"
    assert frames[2] in picture.value
    choice.value = 5
    assert frames[5] in picture.value
    assert frames[2] not in picture.value
    assert "at 0.6" in picture.value
    assert typed.value == "0.6"
    typed.value = "0.31"
    assert (choice.value, typed.value) == (2, "0.3")
    assert said.value == "0.3 is the stop nearest to 0.31."
    typed.value = "9"
    assert choice.value == 2
    assert "out of range" in said.value
    assert "application/vnd.jupyter.widget-view+json" in figure.live()._repr_mimebundle_()


NOTEBOOK = """
import numpy as np, os, sys
import matplotlib.pyplot as plt
from wfmlib.book import display
display.figures()
---
fig, ax = plt.subplots()
ax.plot([0, 1], color=display.COLOURS["sign"], **display.LINES["bound"])
ax.set(xlabel=r"margin $\\kappa$");
---
x = np.linspace(0, 1, 5)
figure = display.slider("α", [1, 2], [display.Curve("a", x, np.outer([1, 2], x))],
                        xlabel="x", ylabel="y", alt="A line.")
figure
---
list(display.progress(range(3), "samples"))
---
del os.environ["WFMLIB_DISPLAY"]
figure
---
figure.static()
"""


def test_in_a_notebook():
    """A real kernel: vector figures of fixed bytes; no bars in pages; live where it may be."""
    nbformat, nbclient = (pytest.importorskip(name) for name in ("nbformat", "nbclient"))
    cells = [nbformat.v4.new_code_cell(source) for source in NOTEBOOK.split("---")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    env = os.environ | {"WFMLIB_DISPLAY": "static"}
    nbclient.NotebookClient(notebook, timeout=120).execute(env=env)
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == []
    (drawn,) = outputs[1]
    assert set(drawn.data) == {"image/svg+xml", "image/png", "text/plain"}
    assert drawn.data["image/svg+xml"].strip() == line_in_another_process().strip()
    (static,) = outputs[2]
    assert set(static.data) == {"text/html", "image/png", "text/plain"}
    (counted,) = outputs[3]
    assert counted.data == {"text/plain": "[0, 1, 2]"}
    (live,) = outputs[4]
    assert "application/vnd.jupyter.widget-view+json" in live.data
    (forced,) = outputs[5]
    assert forced.data == static.data


def line_in_another_process():
    """Return the SVG of the notebook's line, from a process with another hash seed."""
    script = """
import sys
import matplotlib; matplotlib.use("agg")
import matplotlib.pyplot as plt
from wfmlib.book import display
display.figures()
fig, ax = plt.subplots()
ax.plot([0, 1], color=display.COLOURS["sign"], **display.LINES["bound"])
ax.set(xlabel=r"margin $\\kappa$")
fig.savefig(sys.stdout.buffer, format="svg", metadata={"Date": None, "Creator": None})
"""
    env = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=True)
    return done.stdout.decode()


# --- style and palette -----------------------------------------------------------------------


def test_the_style_is_legible_on_a_phone_and_leaves_the_ground_to_the_page():
    with mpl.style.context("wfmlib.wfm"):
        width, _ = mpl.rcParams["figure.figsize"]
        sizes = [mpl.rcParams[one] for one in ("font.size", "xtick.labelsize", "legend.fontsize")]
        assert min(sizes) / 72 * 350 / width >= 9  # pixels, where the column has 350
        assert mpl.rcParams["figure.facecolor"] == mpl.rcParams["savefig.facecolor"] == "none"
        cycle = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
        assert ["#" + colour.lstrip("#") for colour in cycle] == list(display.CYCLE)
        assert mpl.rcParams["font.sans-serif"][0] == "DejaVu Sans"  # comes with matplotlib


def test_the_salt_makes_svg_the_same():
    def drawn(**rc):
        with mpl.style.context("wfmlib.wfm"), mpl.rc_context(rc):
            figure, file = Figure(), BytesIO()
            figure.subplots().plot([0, 1], marker="o")
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
            return file.getvalue()

    assert drawn() == drawn()
    assert drawn(**{"svg.hashsalt": None}) != drawn(**{"svg.hashsalt": None})


def test_lines_are_keywords_of_plot_and_errorbar():
    assert set(display.LINES) == {"theory", "archive", "bound", "unstable"}
    looks = set()
    for look in display.LINES.values():
        plotted = Figure().subplots().plot([0, 1], color=display.COLOURS["fBP"], **look)[0]
        Figure().subplots().errorbar([0, 1], [0, 1], 0.1, **look)
        looks.add((str(plotted._unscaled_dash_pattern), plotted.get_marker()))
    assert len(looks) == 4


def test_luminance_and_contrast_of_known_colours():
    assert palette.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert palette.contrast("#ffffff", "#767676") == pytest.approx(
        4.54, abs=0.005
    )  # WCAG's example
    assert palette.luminance("#ff0000") == pytest.approx(0.2126)


DARK_PAGES = (
    "#14181e",
    "#121212",
    "#111111",
)  # pydata-sphinx-theme, sphinx-book-theme, JupyterLab
GROUPS = {
    "activations": (tuple(palette.ACTIVATIONS.values()), 13.0, 20.0),
    "algorithms": (tuple(palette.ALGORITHMS.values()), 10.0, 15.0),
    "cycle": (display.CYCLE, 10.0, 12.0),
}


def lab(linear):
    """Return CIE L*a*b* (D65) of linear sRGB."""
    xyz = linear @ np.array(
        [
            [0.4124564, 0.2126729, 0.0193339],
            [0.3575761, 0.7151522, 0.1191920],
            [0.1804375, 0.0721750, 0.9503041],
        ]
    )
    t = xyz / np.array([0.95047, 1.0, 1.08883])
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira, Fernandes (2009), severity 1: how the colour-blind see linear sRGB.
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def nearest(colours, eye):
    """Return the smallest distance in CIE L*a*b* between two of the colours."""
    seen = [lab(np.clip(EYES[eye] @ palette._linear(colour), 0, 1)) for colour in colours]
    return min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("page", ["light", "dark"])
def test_colours_survive_white_black_and_grey(group, page):
    """WCAG asks 3 of graphics; a step of L* by 10 is plain to see, 2.3 is just noticeable."""
    colours, step, _ = GROUPS[group]
    if page == "light":
        assert min(palette.contrast(colour, "#ffffff") for colour in colours) >= 3
    else:
        colours, step = [palette.on_dark(colour) for colour in colours], 0.85 * step
        assert min(palette.contrast(c, dark) for c in colours for dark in DARK_PAGES) >= 3
    grey = sorted(lab(palette._linear(colour))[0] for colour in colours)
    assert np.diff(grey).min() >= step


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("eye", EYES)
def test_colours_are_told_apart_by_all_eyes(group, eye):
    colours, _, apart = GROUPS[group]
    assert nearest(colours, eye) >= apart
    assert nearest([palette.on_dark(colour) for colour in colours], eye) >= 0.95 * apart


@pytest.mark.parametrize("eye", EYES)
def test_no_activation_looks_like_an_algorithm(eye):
    assert nearest(display.COLOURS.values(), eye) >= 15


def test_the_dark_sister_keeps_the_order():
    order = sorted(display.COLOURS, key=lambda name: palette.luminance(display.COLOURS[name]))
    for group in (palette.ACTIVATIONS, palette.ALGORITHMS):
        members = [palette.on_dark(group[name]) for name in order if name in group]
        assert sorted(members, key=palette.luminance) == members


def test_a_tint_runs_to_white():
    assert palette.tint("sign", 1.0) == display.COLOURS["sign"]
    assert palette.tint("#123456", 0.0) == "#ffffff"
    assert palette.luminance(palette.tint("sign", 0.5)) > palette.luminance("sign")


def test_a_smooth_curve_keeps_the_computed_points_and_adds_no_extremum():
    x, y = np.array([4.0, 2.0, 1.0, 0.5, 0.2]), np.array([1.0, 1.0, 5.0, 2.0, 8.0])
    for log in ("", "x", "y", "xy"):
        fine, curve = display.smooth(x, y, log=log)
        np.testing.assert_allclose(fine[::16], x)
        np.testing.assert_allclose(curve[::16], y)
        assert curve.min() > 1 - 1e-12
        assert curve.max() < 8 + 1e-12
        assert (np.diff(fine) < 0).all()


def test_a_smooth_curve_is_exact_for_powers_on_logarithmic_axes():
    x = np.geomspace(0.1, 10, 5)
    fine, curve = display.smooth(x, 3 * x**-1.5, log="xy")
    np.testing.assert_allclose(curve, 3 * fine**-1.5)


def test_a_smooth_curve_has_gaps_where_a_value_is_missing():
    fine, curve = display.smooth(range(6), [0.0, 1.0, 3.0, np.nan, 2.0, 1.0])
    assert np.isnan(curve).sum() == np.isnan(fine).sum() == 1
    assert len(curve) == 33 + 1 + 2
    assert [len(z) for z in display.smooth([1, 2], [np.nan, np.inf])] == [0, 0]


@pytest.mark.parametrize(
    "arguments",
    [([0, 1], [0]), ([[0, 1]], [[0, 1]]), ([0, 0], [1, 2]), ([0, 2, 1], [1, 2, 3])],
)
def test_what_is_no_curve_is_not_smoothed(arguments):
    with pytest.raises(ValueError, match="x "):
        display.smooth(*arguments)


def test_a_logarithm_needs_positive_values():
    with pytest.raises(ValueError, match="positive"):
        display.smooth([0, 1], [1, 2], log="x")
    with pytest.raises(ValueError, match="positive"):
        display.smooth([1, 2], [-1, 2], log="y")
    with pytest.raises(ValueError, match="log"):
        display.smooth([1, 2], [1, 2], log="z")
