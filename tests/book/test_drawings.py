"""The versions of a figure: of the dark theme, and of a phone."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from io import BytesIO, StringIO

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from tools.drawings import Drawing
from wfmlib.book.display.palette import COLOURS, CYCLE, NIGHT, by_night, contrast


def drawn(figure) -> str:
    """Return a figure as the notebooks emit it."""
    file = StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return file.getvalue()


@pytest.fixture(autouse=True)
def style():
    with plt.style.context("wfmlib.wfm"):
        yield


def two_panels(**how):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.4), **how)
    x = np.linspace(0, 1, 200)
    left.plot(x, np.sin(9 * x), label="a wave")
    right.plot(x, 1e3 * x, "o", c="#b75520", mfc="w")
    left.set(xlabel="x", ylabel="y")
    left.legend()
    return Drawing(drawn(figure))


def view(svg: str) -> list[float]:
    return [float(one) for one in re.search(r'viewBox="([^"]+)"', svg)[1].split()]


def test_half_of_the_file_and_the_same_drawing():
    figure, axes = plt.subplots()
    axes.plot(np.linspace(0, 1, 300), np.random.default_rng(1).normal(size=300))
    text = drawn(figure)
    light = Drawing(text).light
    assert len(light) < 0.75 * len(text)
    assert light.count("<use") == text.count("<use")
    assert view(light) == view(text)
    assert "metadata" not in light
    for name in set(re.findall(r'(?:href="#|url\(#)([^")]+)', light)):
        assert light.count(f'id="{name}"') == 1


def test_neither_version_has_a_ground():
    drawing = two_panels()
    assert drawing.light.count("#ffffff") == drawing.dark.count(NIGHT) > 0, "the open markers"
    full = re.compile(r'<path d="M0 \d+[.\d]*L518')
    assert not full.search(drawing.light)
    assert not full.search(drawing.dark)


def test_a_panel_in_a_panel_keeps_its_ground():
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1])
    axes.inset_axes([0.1, 0.6, 0.3, 0.3]).plot([0, 1], [1, 0])
    assert Drawing(drawn(figure)).light.count("fill:#ffffff") == 1


def test_only_a_legend_has_a_ground():
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], label="a line")
    assert "<rect" not in re.sub(r"<clipPath.*?</clipPath>", "", Drawing(drawn(figure)).light)
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], label="a line")
    axes.legend(loc="upper left")
    drawing = Drawing(drawn(figure))
    for text, colour in ((drawing.light, "#ffffff"), (drawing.dark, NIGHT)):
        left, top, width, height, fill = re.search(
            r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)" style="fill:(#\w+);', text
        ).groups()
        assert fill == colour
        assert 30 < float(left) < 120
        assert 0 < float(top) < 60
        assert 60 < float(width) < 130
        assert 12 < float(height) < 32


def test_panels_in_a_panel_stand_in_a_row_below_it_on_a_phone():
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1])
    axes.set(xlabel="load", ylabel="entropy")
    for place in (0.1, 0.6):
        inset = axes.inset_axes([place, 0.6, 0.3, 0.3])
        inset.plot([0, 1], [1, 0])
        inset.tick_params(labelsize=8)
    drawing = Drawing(drawn(figure))
    light, _ = drawing.phone
    assert view(light)[3] > 1.25 * view(drawing.light)[3]
    root = ET.fromstring(light)
    holders = [one for one in root if "scale" in one.get("transform", "")]
    assert len(holders) == 2
    boxes = [drawing._box(one) for one in holders]
    panel = drawing._box(next(one for one in root if one.tag.endswith("}g")))
    assert all(box.top > panel.bottom for box in boxes)
    assert boxes[0].right < boxes[1].left
    left, top, width, height = view(light)
    assert left <= boxes[0].left
    assert boxes[1].right <= left + width
    assert max(box.bottom for box in boxes) <= top + height + 0.1


def test_a_scale_of_colours_stays_beside_its_panel():
    figure, axes = plt.subplots()
    figure.colorbar(axes.contourf(np.arange(16.0).reshape(4, 4)), label="entropy")
    light, _ = Drawing(drawn(figure)).phone
    *_, width, height = view(light)
    assert width > 1.2 * height


def test_a_narrow_panel_is_not_blown_up():
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 3))
    for one in axes:
        one.plot([0, 1], [0, 1])
    assert view(Drawing(drawn(figure)).phone[0])[2] >= 278


def test_dark_lines_are_clear():
    """Text has a contrast of seven with the dark ground, lines of three, as on white."""
    for ink in ("#000000", "#222222"):
        assert contrast(by_night(ink), NIGHT) >= 7
    for line in ("#555555", "#737373", *CYCLE, *COLOURS.values()):
        assert contrast(by_night(line), NIGHT) >= 3
    assert 1.1 < contrast(by_night("#e4e4e4"), NIGHT) < 1.5, "the grid stays behind"
    assert by_night("#ffffff") == NIGHT


def test_the_order_of_a_scale_stays():
    """Shades of matplotlib's viridis, from dark to light, are so in the dark theme as well."""
    shades = [
        "#" + "".join(f"{round(255 * v):02x}" for v in plt.cm.viridis(t)[:3])
        for t in np.linspace(0, 1, 9)
    ]
    bright = [contrast(by_night(one), "#000000") for one in shades]
    assert bright == sorted(bright)


@pytest.mark.parametrize(("cmap", "changes"), [("viridis", True), ("gray", False)])
def test_a_picture_in_grey_is_shown_as_it_is(cmap, changes):
    figure, axes = plt.subplots()
    axes.imshow(np.arange(16).reshape(4, 4), cmap=cmap)
    drawing = Drawing(drawn(figure))
    pixels = [
        np.asarray(
            Image.open(BytesIO(base64.b64decode("".join(found.split())))).convert("RGB"), int
        )
        for found in re.findall(r'base64,([^"]+)"', drawing.light + drawing.dark)
    ]
    assert len(pixels) == 2
    assert np.any(pixels[0] != pixels[1]) == changes


def test_panels_stand_below_each_other_on_a_phone():
    light, dark = two_panels().phone
    _, _, width, height = view(light)
    assert width < 290
    assert height > 430
    assert view(dark) == view(light)
    assert len(re.findall("<svg ", light)) == 3, "the drawing, and a window on each panel"
    assert light.count('<use xlink:href="#f"') == 2


def test_a_panel_that_shares_an_axis_brings_its_numbers():
    light, _ = two_panels(sharey=True).phone
    windows = [view(one) for one in re.findall(r"<svg x=[^>]*>", light)]
    assert len(windows) == 3
    left, numbers, right = windows
    assert numbers[0] == left[0]
    assert numbers[2] < 60 < right[2]


def test_text_grows_where_a_figure_stands_alone():
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], label="a line")
    axes.set(xlabel="load", ylabel="entropy")
    axes.legend(fontsize=8, loc="upper left")
    light, _ = Drawing(drawn(figure)).phone
    grown = [float(one) for one in re.findall(r'translate\(\S+ \S+\) scale\((1\.\d+)\)"', light)]
    assert max(grown) == pytest.approx(0.0262 * 460.8 / 8, rel=0.01), "the legend, of 8 points"
    assert min(grown) == pytest.approx(0.0262 * 460.8 / 10.5, rel=0.01)
    *_, width, height = view(light)
    assert 460 < width < 510
    assert 275 < height < 310


def test_a_small_figure_is_its_own_phone_version():
    figure, axes = plt.subplots(figsize=(3.5, 3))
    axes.plot([0, 1], [0, 1])
    assert Drawing(drawn(figure)).phone is None


def test_no_figure_of_matplotlib():
    with pytest.raises(ValueError, match="no figure of matplotlib"):
        Drawing('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>')
