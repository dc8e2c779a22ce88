"""Algorithms that run on an instance in the page: from a file, with no network, in a worker."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.test_slider import THEMES
from tools import policy, wasm
from tools.notebooks import ROOT
from wfmlib import Perceptron, landscape, learning, patterns
from wfmlib.book import display
from wfmlib.book.display import svg
from wfmlib.book.display.instance import LOADS, SEEDS, SIZE
from wfmlib.learning.pages import clipped

PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>Figure</title><meta name="viewport" content="width=device-width, initial-scale=1">
<style>{themes}</style><script src="kernels-instance.js" defer></script>
<script src="instance.js" defer></script>
</head><body><main><h1>Figure</h1>{figure}</main></body></html>"""
NAMES = {
    "pass": "belief propagation",
    "focus": "focusing",
    "clip": "the clipped rule",
    "count": "count all solutions",
}


@pytest.fixture(scope="module")
def figure():
    x = np.arange(1.0, 4.0)
    curves = [display.Curve(name, x, x / 10, smooth=False) for name in ("one", "two", "three")]
    given = {"N": 61, "load": 0.4, "seed": 3, "xlabel": "step", "alt": "Three lines that rise."}
    return display.instance(curves, **given)


@pytest.fixture(scope="module")
def address(figure, tmp_path_factory):
    folder = tmp_path_factory.mktemp("instance")
    shutil.copy(wasm.make() / "kernels-instance.js", folder)
    shutil.copyfile(ROOT / "book" / "_static" / "live" / "instance.js", folder / "instance.js")
    page = policy.protected(PAGE.format(themes=THEMES, figure=figure.html()))
    (folder / "page.html").write_text(page, "utf-8")
    (folder / "forbidden.html").write_text(page.replace("worker-src blob:", "worker-src 'none'"))
    return folder.as_uri()


@pytest.fixture
def show(browser, address):
    contexts = []

    def shown(name="page.html", *, width=1200, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 1000}, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(f"{address}/{name}")
        return page

    yield shown
    for context in contexts:
        context.close()


def typed(page, **numbers):
    for name, value in numbers.items():
        label = {"N": "weights N", "load": "load α", "seed": "seed"}[name]
        field = page.get_by_role("textbox", name=label)
        field.fill(str(value))
        field.press("Tab")


def run(page, method, **numbers):
    """Run an algorithm to its end; return what it found, and what is said of it."""
    typed(page, **numbers)
    page.get_by_role("combobox").select_option(method)
    page.evaluate("document.querySelector('figure').removeAttribute('data-took')")
    page.get_by_role("button", name="Run").click()
    page.locator("figure[data-took]").wait_for(timeout=60_000)
    return page.evaluate("document.querySelector('figure').wfmFound"), said(page)


def said(page):
    return page.locator(".wfm-said").text_content()


def python(page):
    """Return what the copied lines give."""
    *given, last = page.locator(".wfm-python code").text_content().split("\n")
    names = {"patterns": patterns, "learning": learning, "Perceptron": Perceptron}
    exec("\n".join(given), names)
    return eval(last, names), names["xi"], names["sigma"]


@pytest.mark.parametrize("seed", [3, 4])
def test_all_solutions_are_counted_in_less_than_a_second(show, seed):
    page = show()
    found, text = run(page, "count", N=21, load=0.6, seed=seed)
    wanted, *_ = python(page)
    assert found["count"] == wanted.count
    assert text.startswith(f"{wanted.count} solutions.")
    assert float(page.locator("figure").get_attribute("data-took")) < 1000.0
    assert page.errors == []


def test_messages_are_those_of_the_package(show):
    """Sweep for sweep, until they settle."""
    page = show()
    found, text = run(page, "pass", N=101, load=0.4, seed=2)
    wanted, *_ = python(page)
    assert found["sweeps"] == wanted.sweeps
    assert f"settled after {wanted.sweeps} sweeps" in text
    assert found["entropy"] == pytest.approx(wanted.entropy, abs=1e-11)
    assert found["q"] == pytest.approx(np.mean(wanted.means**2), rel=1e-11)
    assert found["wrong"] == wanted.errors
    ends = [found["wrong"] / 40, found["q"], found["entropy"]]
    paths = page.locator("svg[role=img] > svg path").all()
    heights = [float(path.get_attribute("d").split()[-1]) for path in paths]
    panel = svg.Panel((0.0, 1.0), (0.0, 1.0))
    np.testing.assert_allclose(heights, panel.place(0.0, ends)[1], atol=0.51)


def test_focusing_is_that_of_the_package(show):
    """The centre's errors and sweeps; the local entropy around it, from other first messages."""
    page = show()
    found, _ = run(page, "focus", N=61, load=0.4, seed=3)
    wanted, xi, sigma = python(page)
    assert found["wrong"] == wanted.errors == 0
    assert found["sweeps"] == wanted.epochs
    assert found["q"] == pytest.approx(wanted.history["polarisation"][-1], abs=1e-8)
    near = landscape.local_entropy(wanted.network, xi, sigma, couplings=(1.2,), rng=0)
    assert found["entropy"] == pytest.approx(float(near["local_entropy"][0]), abs=1e-5)
    assert found["distance"] == pytest.approx(float(near["distance"][0]), abs=1e-5)


def test_the_clipped_rule_is_that_of_the_package(show):
    page = show()
    found, text = run(page, "clip", N=101, load=0.4, seed=1)
    wanted, xi, sigma = python(page)
    assert found["epoch"] == wanted[1]
    assert text.startswith(f"A solution after {wanted[1]} epochs")
    assert clipped.learned(xi, sigma, seed=1)[1] == wanted[1]


def test_lines_grow_and_the_run_can_be_stopped(show):
    """Far above the capacity the rule goes on for a thousand epochs."""
    page = show()
    typed(page, N=201, load=1.5)
    page.get_by_role("combobox").select_option("clip")
    page.get_by_role("button", name="Run").click()
    line = page.locator("svg svg path").first
    drawn = [line.get_attribute("d")]
    while len(drawn) < 4:  # the page's policy forbids what waits for a function
        page.wait_for_timeout(20)
        if line.get_attribute("d") != drawn[-1]:
            drawn.append(line.get_attribute("d"))
    assert 0.0 < page.locator("progress").evaluate("one => one.value") < 1.0
    page.get_by_role("button", name="Stop").click()
    assert re.fullmatch(r"Stopped after \d+ epochs\.", said(page))
    stood = line.get_attribute("d")
    page.wait_for_timeout(200)
    assert line.get_attribute("d") == stood
    assert page.get_by_role("button", name="Run").is_enabled()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("N", "0", 0),
        ("N", "20.5", 20.5),
        ("N", "many", "many"),
        ("load", "−1", -1.0),
        ("load", "much", "much"),
        ("seed", "-2", -2),
        ("seed", "1e10", 10**10),
    ],
)
def test_what_the_package_refuses_the_page_refuses(show, name, text, value):
    page = show()
    typed(page, **{name: text})
    allowed = {"N": SIZE, "load": LOADS, "seed": SEEDS}[name]
    with pytest.raises((TypeError, ValueError)) as refused:
        allowed.check(name, value)
    assert said(page) == str(refused.value)
    assert page.locator("[aria-invalid]").count() == 1
    page.get_by_role("button", name="Run").click()
    assert page.get_by_role("button", name="Run").is_enabled()
    typed(page, **{name: "1"})
    assert said(page) == ""


def test_too_many_weights_are_not_counted(show):
    page = show()
    page.get_by_role("combobox").select_option("count")
    assert said(page).startswith("N must be from 1 to 21")


def test_without_scripts_or_workers_the_figure_stands(show):
    page = show(java_script_enabled=False)
    assert page.locator("svg svg path").count() == 3
    assert page.get_by_role("button").count() == 0
    page = show("forbidden.html")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("The browser starts no worker here.").wait_for()


@pytest.mark.parametrize("width", [1200, 390])
def test_it_fits_and_axe_finds_nothing(show, width):
    page = show(width=width)
    run(page, "count", N=13)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []


def test_on_paper_controls_are_left_out(show):
    page = show()
    page.emulate_media(media="print")
    assert page.locator("svg[role=img]").is_visible()
    assert not any(one.is_visible() for one in page.locator("input, button, select").all())
