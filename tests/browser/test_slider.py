"""The slider on a stand-alone page in Chromium, with no network and no kernel."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from wfmlib.book import display
from wfmlib.book.display.palette import on_dark

# The variables of pydata-sphinx-theme that the figure uses, and the ground they stand on.
THEMES = """
html[data-theme=light] { --pst-color-text-base: #222832; --pst-color-primary: #0a7d91;
  background: #ffffff; }
html[data-theme=dark] { --pst-color-text-base: #ced6dd; --pst-color-primary: #3fb1c5;
  background: #14181e; color-scheme: dark; }
[hidden] { display: none !important; }  /* as Bootstrap has it */
main { max-width: 45rem; margin: 0 auto; font-family: 'DejaVu Sans', sans-serif; }
"""


def one(start=0):
    x, loads = np.linspace(0, 1.5, 151), np.linspace(-0.4, 0.8, 13)
    curves = [
        display.Curve("theory", x, 0.5 - loads[:, None] * x**2, colour="perceptron"),
        display.Curve("bound", x, 0.6 - 0.1 * x, line="bound", colour="sign"),
        display.Curve("past it", x, np.where(x > 1, -x, np.nan), line="unstable", colour="relu"),
        display.Curve(
            "found, N = 25",
            x[::15],
            0.5 - loads[:, None] * x[::15] ** 2,
            "archive",
            "parity",
            0.1 * np.ones(11),
        ),
        display.Rule("largest margin", x=1 - loads / 2),
    ]
    return display.slider(
        "load α",
        loads,
        curves,
        xlabel="margin κ",
        ylabel="entropy φ (nats per weight)",
        alt="Parabolas that sink as the load grows.",
        start=start,
        note=lambda load: f"At load {load:.1f} & margin 0.",
    )


def other():
    x = np.linspace(-1, 1, 50)
    y = np.outer([1, 2, 3], 1e-3 * np.sin(3 * x))
    return display.slider(
        "replicas y",
        [1, 2, 3],
        [display.Curve("wave", x, y)],
        xlabel="overlap q",
        ylabel="difference",
        alt="A wave that grows with the number of replicas.",
    )


def data(figure):
    return json.loads(re.search(r'json">(.*?)</script>', figure.html())[1])


@pytest.fixture
def show(browser):
    """Open a page with two figures; collect what goes wrong on it."""
    contexts = []

    def page_of(*figures, theme="light", width=1200, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda message: page.errors.append(message.text))
        page.on("request", lambda request: page.errors.append(request.url))
        page.set_content(
            f'<!doctype html><html lang="en" data-theme="{theme}"><head><title>Figures</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<style>{THEMES}</style></head><body><main><h1>Figures</h1>"
            f"{'<p></p>'.join(figure.html() for figure in figures)}</main></body></html>"
        )
        return page

    yield page_of
    for context in contexts:
        context.close()


def paths(page, nth=0):
    moving = page.locator(".wfm-slider").nth(nth).locator(".wfm-moves")
    return [path.get_attribute("d") for path in moving.all()]


def test_keys_move_the_curves_of_their_own_figure(show):
    page = show(one(), other())
    first, second = data(one())["paths"], data(other())["paths"]
    assert paths(page) == [frames[0] for frames in first]
    slider = page.get_by_role("slider", name="load α")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    assert paths(page) == [frames[2] for frames in first]
    assert paths(page, 1) == [frames[0] for frames in second]
    assert page.locator("output").first.text_content() == "−0.2"
    assert slider.get_attribute("aria-valuetext") == "−0.2; At load −0.2 & margin 0."
    assert page.locator(".wfm-note").text_content() == "At load −0.2 & margin 0."
    page.get_by_role("slider", name="replicas y").press("End")
    assert paths(page, 1) == [frames[-1] for frames in second]
    assert page.get_by_role("slider").nth(1).get_attribute("aria-valuetext") == "3"
    assert paths(page) == [frames[2] for frames in first]
    slider.press("Home")
    assert paths(page) == [frames[0] for frames in first]
    assert page.errors == []


@pytest.mark.parametrize(
    ("text", "frame", "said"),
    [
        ("0.3", 7, ""),
        ("-0,1", 3, ""),
        ("−0.1", 3, ""),
        ("0.34", 7, "0.3 is the stop nearest to 0.34."),
        ("0.9", 2, "0.9 is out of range: type a number from −0.4 to 0.8."),
        ("-1e3", 2, "-1e3 is out of range: type a number from −0.4 to 0.8."),
        ("much", 2, "“much” is not a number: type one from −0.4 to 0.8."),
        ("", 2, "“” is not a number: type one from −0.4 to 0.8."),
    ],
)
def test_a_typed_value_goes_to_its_stop(show, text, frame, said):
    """The page's script and the live control say the same."""
    page, figure = show(one(start=2)), one(start=2)
    field = page.get_by_role("textbox", name="load α, to type")
    field.fill(text)
    field.press("Enter")
    assert paths(page) == [frames[frame] for frames in data(figure)["paths"]]
    assert page.locator(".wfm-said").text_content() == said
    assert page.get_by_role("slider").input_value() == str(frame)
    wrong = "type" in said
    assert field.get_attribute("aria-invalid") == ("true" if wrong else None)
    assert figure.nearest(text) == (None if wrong else frame, said)
    if wrong:
        field.press("Escape")
        assert field.input_value() == "−0.2"
        assert page.locator(".wfm-said").text_content() == ""
        assert field.get_attribute("aria-invalid") is None
    else:
        assert field.input_value() == figure.texts[frame]
    assert page.errors == []


def test_one_curve_in_two_looks_moves_in_both(show):
    x, loads = np.linspace(0, 1, 21), np.array([1.0, 2.0])
    y = 0.5 - np.outer(loads, x**2)
    curves = [
        display.Curve("above", x, y, only=(0, np.inf)),
        display.Curve("below", x, y, "unstable", only=(-np.inf, 0)),
    ]
    words = {"xlabel": "x", "ylabel": "y", "alt": "A parabola, dotted below zero."}
    figure = display.slider("load α", loads, curves, stops=[1.5], **words)
    page = show(figure)
    assert data(figure)["paths"][1] == 0
    for _ in range(2):
        page.get_by_role("slider").press("ArrowRight")
    above, below = paths(page)
    assert above == below == data(figure)["paths"][0][2]
    first, second = (
        {name: float(cut.get_attribute(name)) for name in ("y", "height")}
        for cut in page.locator("svg:has(> .wfm-moves)").all()
    )
    assert first["y"] + first["height"] == second["y"]
    assert page.locator(".wfm-made").text_content().startswith("Computed at 2 values, linear")


def test_the_same_figure_twice_moves_apart(show):
    page = show(one(), one())
    page.get_by_role("slider").nth(1).press("End")
    assert page.locator("output").all_text_contents() == ["−0.4", "0.8"]
    assert paths(page, 0) != paths(page, 1)


def test_the_mouse_drags_it(show):
    page = show(one())
    box = page.get_by_role("slider").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, middle, steps=5)
    page.mouse.up()
    assert page.locator("output").text_content() == "0.8"
    assert page.get_by_role("textbox").input_value() == "0.8"


def test_without_scripts_the_figure_stands_and_nothing_pretends_to_move(show):
    page = show(one(start=6), java_script_enabled=False)
    figure = one(start=6)
    assert page.locator("svg[role=img]").is_visible()
    assert [unescape(path) for path in paths(page)] == [f[6] for f in data(figure)["paths"]]
    assert [one.is_visible() for one in page.locator("input").all()] == [False, False]
    assert page.locator("output").text_content() == "0.2"
    assert page.locator("output").is_visible()


def test_on_paper(show):
    page = show(one())
    page.emulate_media(media="print")
    assert page.locator("svg[role=img]").is_visible()
    assert page.locator("output").is_visible()
    assert [one.is_visible() for one in page.locator("input").all()] == [False, False]


@pytest.mark.parametrize("width", [1200, 600, 390])
def test_it_fits_and_its_ticks_can_be_read(show, width):
    page = show(one(), other(), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('.wfm-slider')].map(figure =>
            [...figure.querySelectorAll('svg[role=img] text')].map(text => {
                const {left, right, top, bottom} = text.getBoundingClientRect();
                const scale = text.getScreenCTM().a;
                const size = parseFloat(getComputedStyle(text).fontSize) * scale;
                return {text: text.textContent, left, right, top, bottom, size};
            }))"""
    )
    for ticks in boxes:
        assert len(ticks) >= 8
        assert all(11 <= tick["size"] <= 16 for tick in ticks), ticks
        assert all(tick["left"] >= 0 and tick["right"] <= width for tick in ticks), ticks
        for i, a in enumerate(ticks):
            for b in ticks[:i]:
                apart = (
                    a["right"] < b["left"]
                    or b["right"] < a["left"]
                    or a["bottom"] <= b["top"] + 2  # line boxes are taller than digits
                    or b["bottom"] <= a["top"] + 2
                )
                assert apart, (a, b)


def test_the_longest_label_has_room(show):
    """Tick labels of six characters, in the largest type, start inside of the figure."""
    x = np.linspace(0, 1, 20)
    curve = display.Curve("small", x, np.outer([1, 2], -0.01 * x))
    figure = display.slider("α", [1, 2], [curve], xlabel="x", ylabel="y", alt="A line.")
    page = show(figure, width=390)
    left, edge = page.evaluate(
        """() => [Math.min(...[...document.querySelectorAll('.wfm-y')]
            .map(text => text.getBoundingClientRect().left)),
            document.querySelector('.wfm-slider').getBoundingClientRect().left]"""
    )
    assert left >= edge - 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_follow_the_theme(show, theme):
    page = show(one(), theme=theme)
    line, text = page.evaluate(
        """() => [['.wfm-theory', 'stroke'], ['text', 'fill']].map(([part, what]) =>
            getComputedStyle(document.querySelector('svg[role=img] ' + part))[what])"""
    )
    code = display.COLOURS["perceptron"]
    assert line == rgb(code if theme == "light" else on_dark(code))
    assert text == rgb("#222832" if theme == "light" else "#ced6dd")


def test_jupyterlab_at_night(show):
    page = show(one())
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    line = page.evaluate("getComputedStyle(document.querySelector('svg .wfm-theory')).stroke")
    assert line == rgb(on_dark(display.COLOURS["perceptron"]))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing(show, theme, width):
    page = show(one(), other(), theme=theme, width=width)
    found = Axe().run(page).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []


def rgb(code):
    return f"rgb({', '.join(str(int(code[i : i + 2], 16)) for i in (1, 3, 5))})"
