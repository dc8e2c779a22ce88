"""A figure that computes, in Chromium: from a file, with no network, under the pages' policy."""

from __future__ import annotations

import json
import math
import random
import re
from html import unescape

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser import calculating
from tools import policy
from wfmlib import Binary, Margin, Perceptron, ReLU, Sign, TreeCommittee, theory
from wfmlib.book import display
from wfmlib.models.activations import Linear
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical
from wfmlib.theory.saddles.replica_symmetric import last_load

LOADS = np.linspace(0.0, 1.2, 101)


def entropies(kappa):
    return typical.curve(Perceptron(), LOADS, Margin(kappa)).entropy.values


@pytest.fixture(scope="module")
def figure():
    margins = [0.0, 0.5, 1.0]
    loads = [typical.capacity(Perceptron(), constraint=Margin(kappa)) for kappa in margins]
    curves = [
        display.Curve("entropy", LOADS, [entropies(kappa) for kappa in margins], smooth=False),
        display.Rule("capacity", loads),
    ]
    return display.slider(
        "margin κ",
        margins,
        curves,
        xlabel="load α",
        ylabel="entropy φ",
        ylim=(-0.5, 0.8),
        alt="Curves that fall.",
        note=lambda kappa: "Capacity.",
        live=display.typical_solutions([("binary_curve", 1), ("binary_capacity", 2)]),
        place=0.5,
    )


@pytest.fixture(scope="module")
def address(figure, tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    page = calculating.write(folder, html=figure.html())
    (folder / "forbidden.html").write_text(page.replace(f" {policy.COMPILING}", ""), "utf-8")
    return folder.as_uri()


@pytest.fixture
def show(browser, address):
    contexts = []

    def shown(name="page.html", *, ready=True, width=1200, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(f"{address}/{name}")
        if ready:
            page.locator("figure[data-took]").wait_for()
        return page

    yield shown
    for context in contexts:
        context.close()


def typed(page, text, name="margin κ, to type"):
    field = page.get_by_role("textbox", name=name)
    field.fill(text)
    field.press("Enter")
    return field


def said(page):
    return page.locator(".wfm-said").text_content()


def numbers(text):
    """Return what a curve's path holds, (points, 2)."""
    return np.array(re.findall(r"[ML]([\d.-]+) ([\d.-]+)", text), dtype=float)


@pytest.mark.parametrize("kappa", [-1.75, 0.0, 0.1234, 2.5])
def test_the_curve_at_any_margin_is_that_of_the_package(show, figure, kappa):
    """Every tenth of its points is solved for by the package, and lies within the rounding.

    Paths are rounded to a tenth of a unit of the drawing, in both directions; in between they
    are as straight as a hundredth of the panel is.
    """
    page = show()
    typed(page, str(kappa))
    drawn = numbers(page.locator(".wfm-moves").first.get_attribute("d"))
    panel = figure._drawing[0]
    inside = drawn[(drawn[:, 0] <= panel.right) & (drawn[:, 1] <= panel.bottom)]
    width, height = panel.right - panel.left, panel.bottom - panel.top
    steps = np.abs(np.diff(inside, axis=0))
    assert len(inside) > 20
    assert np.all(steps <= [width / 100 + 0.2, height / 50 + 0.2])
    unit = np.ptp(panel.xlim) / width
    for x, y in inside[::10]:
        load = panel.xlim[0] + (x - panel.left) * unit
        if load > 0.999 * last_load(Binary(), Linear(), Margin(kappa)):
            continue  # steeper than a path tells
        ends = [
            typical.solve(Perceptron(), max(load + side * unit, 0.0), Margin(kappa)).entropy
            for side in (-0.06, 0.06)
        ]
        wanted = panel.place(load, np.array(ends))[1]
        assert wanted.min() - 0.06 <= y <= wanted.max() + 0.06, x
    assert page.errors == []


def test_the_numbers_are_those_of_the_package(show):
    page = show()
    rng = random.Random(3)
    for _ in range(5):
        kappa, alpha = round(rng.uniform(-1, 1.5), 3), round(rng.uniform(0, 0.25), 3)
        typed(page, str(kappa))
        typed(page, str(alpha), "load α, to type")
        point = typical.solve(Perceptron(), alpha, Margin(kappa))
        found = page.locator(".wfm-found").text_content().replace("−", "-")
        entropy, q = re.search(r"entropy φ = (\S+), overlap q = (\S+) \(", found).groups()
        assert float(entropy) == pytest.approx(point.entropy, rel=2e-10)
        assert float(q) == pytest.approx(point.q, rel=2e-10)
        capacity = typical.capacity(Perceptron(), constraint=Margin(kappa))
        assert page.locator(".wfm-note").text_content() == f"Capacity {capacity:.10g}."
        code = page.locator(".wfm-python code").text_content()
        assert eval(code, {"theory": theory, "Perceptron": Perceptron, "Margin": Margin}) == point


def refused(call):
    with pytest.raises((TypeError, ValueError, NotConverged)) as failure:
        call()
    return str(failure.value)


@pytest.mark.parametrize("kappa", [-3.0, 2e4, -1e300])
def test_a_margin_out_of_range_gets_the_package_s_message(show, kappa):
    page = show()
    field = typed(page, repr(kappa))
    assert said(page) == refused(lambda: typical.solve(Perceptron(), 0.5, Margin(kappa)))
    assert field.get_attribute("aria-invalid") == "true"
    field.press("Escape")
    assert said(page) == ""
    assert field.input_value() == "0"


@pytest.mark.parametrize("word", ["much", "", "nan"])
def test_a_word_gets_the_package_s_message(show, word):
    page = show()
    typed(page, word)
    assert said(page) == refused(lambda: Margin(word))
    typed(page, word, "load α, to type")
    assert said(page) == refused(lambda: typical.solve(Perceptron(), word))


def test_a_negative_load_gets_the_package_s_message(show):
    page = show()
    typed(page, "-0.5", "load α, to type")
    assert said(page) == refused(lambda: typical.solve(Perceptron(), -0.5))


@pytest.mark.parametrize(("alpha", "kappa"), [(1.5, 0.0), (2.0, 0.25), (0.75, 1.125)])
def test_above_the_last_load_the_page_says_what_notconverged_says(show, alpha, kappa):
    page = show()
    typed(page, str(kappa))
    typed(page, str(alpha), "load α, to type")
    message = refused(lambda: typical.solve(Perceptron(), alpha, Margin(kappa)))
    assert page.locator(".wfm-found").text_content() == message


def test_keys_move_it(show):
    page = show()
    slider = page.get_by_role("slider", name="margin κ")
    before = page.locator(".wfm-moves").first.get_attribute("d")
    slider.press("ArrowRight")
    assert page.locator("output").text_content() == "0.005"
    assert slider.get_attribute("aria-valuetext").startswith("0.005; Capacity 0.8")
    assert page.locator(".wfm-moves").first.get_attribute("d") != before
    slider.press("End")
    assert page.get_by_role("textbox", name="margin κ, to type").input_value() == "1"


def test_a_new_curve_is_there_within_50_ms(show):
    """The median of twenty: this machine has other work."""
    page = show()
    took = []
    for i in range(20):
        typed(page, str(0.05 * i + 0.01))
        took.append(float(page.locator("figure").get_attribute("data-took")))
    assert np.median(took) < 50.0


def test_memory_does_not_grow_with_moves(show):
    """A thousand, at the machine's own pace: what the module holds half way and at the end."""
    page = show()
    held = []
    for _ in range(2):
        page.evaluate(
            """() => {
                const range = document.querySelector('input[type=range]');
                for (let i = 0; i < 500; i++) {
                    range.value = String(i / 500);
                    range.dispatchEvent(new Event('input', {bubbles: true}));
                }
            }"""
        )
        held.append(page.evaluate("document.querySelector('figure').wfmMemory()"))
    assert held[0] == held[1] < 2**22


def test_without_scripts_or_webassembly_the_figure_stands(show, figure):
    data = json.loads(re.search(r'json">(.*?)</script>', figure.html())[1])
    first = [frames[0] for frames in data["paths"]]
    page = show(ready=False, java_script_enabled=False)
    paths = [path.get_attribute("d") for path in page.locator(".wfm-moves").all()]
    assert [unescape(path) for path in paths] == first
    page = show("forbidden.html", ready=False)
    page.get_by_role("slider").press("ArrowRight")
    assert page.locator("output").text_content() == "0.5"
    assert page.locator(".wfm-python").count() == 0
    assert page.errors == []


@pytest.mark.parametrize("width", [1200, 390])
def test_it_fits_and_axe_finds_nothing(show, width):
    page = show(width=width)
    typed(page, "0.25")
    typed(page, "2", "load α, to type")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []


def test_on_paper_controls_are_left_out(show):
    page = show()
    page.emulate_media(media="print")
    assert page.locator("svg[role=img]").is_visible()
    assert page.locator("output").is_visible()
    assert not any(one.is_visible() for one in page.locator("input, button").all())


@pytest.fixture
def many(browser, tmp_path):
    """Show a figure of several devices, which have their activations' arrays."""
    relu, sign = (TreeCommittee(math.inf, unit, Binary()) for unit in (ReLU(), Sign()))
    margins = [0.0, 0.5]
    marks = [
        display.Curve(name, LOADS, [LOADS * 0.0, LOADS], smooth=False) for name in ("one", "two")
    ]
    lines = [("typical_curve", 1, relu), ("typical_curve", 1, sign)]
    shown = display.slider(
        "margin κ", margins, marks, xlabel="load", ylabel="entropy", alt="Two curves.",
        live=display.typical_solutions(lines, relu), place=0.3,
    )  # fmt: skip
    calculating.write(tmp_path, html=shown.html())
    page = browser.new_page()
    page.goto(f"{tmp_path.as_uri()}/page.html")
    page.locator("figure[data-took]").wait_for()
    yield page, relu
    page.close()


def test_a_figure_of_any_activation_computes(many):
    page, relu = many
    typed(page, "0.25")
    point = typical.solve(relu, 0.3, Margin(0.25))
    text = page.locator(".wfm-found").text_content()
    assert text.startswith(f"entropy φ = {point.entropy:.10g}, overlap q = {point.q:.10g} (")
    names = {"theory": theory, "inf": math.inf, "Margin": Margin, "ReLU": ReLU, "Binary": Binary}
    code = page.locator(".wfm-python code").text_content()
    assert eval(code, names | {"TreeCommittee": TreeCommittee}) == point
    paths = [one.get_attribute("d") for one in page.locator(".wfm-moves").all()]
    assert len(set(paths)) == 2
    typed(page, "-1.5")
    message = refused(lambda: typical.solve(relu, 0.3, Margin(-1.5)))
    assert page.locator(".wfm-said").text_content() == message
    typed(page, "0.25")
    typed(page, "3", "load α, to type")
    message = refused(lambda: typical.solve(relu, 3.0, Margin(0.25)))
    assert page.locator(".wfm-found").text_content() == message
