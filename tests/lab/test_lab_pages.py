"""The two figures that compute, in Chromium, from files and without a network."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from wfmlib import (
    Activation,
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
    landscape,
)
from wfmlib.book import display, lab
from wfmlib.book.display import svg
from wfmlib.book.lab import build
from wfmlib.theory import typical

ROOT = Path(__file__).resolve().parents[2]
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>Figure</title><meta name="viewport" content="width=device-width, initial-scale=1">
<style>[hidden] { display: none !important; } main { max-width: 45rem; margin: 0 auto; }</style>
</head><body><main><h1>Figure</h1>{figure}</main></body></html>"""
DEVICES = (Activation, Binary, Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee)
NAMES = {"inf": math.inf, "np": np} | {one.__name__: one for one in DEVICES}


def calculator():
    loads = np.linspace(0.0, 1.0, 51)
    found = typical.curve(Perceptron(), loads)
    marks = [
        display.Curve("overlap q", loads, found.q),
        display.Curve("entropy φ", loads, found.entropy),
        display.Curve("replicon", loads, found.replicon, line="unstable"),
        display.Rule("capacity", typical.capacity(Perceptron())),
        display.Rule("the load below", 0.5),
    ]
    texts = {"xlabel": "load α", "ylabel": "overlap, entropy, replicon", "alt": "Three curves."}
    return lab.calculator(marks, margin=0.0, load=0.5, **texts)


def instance():
    x = np.arange(1.0, 4.0)
    curves = [display.Curve(name, x, x / 10, smooth=False) for name in ("one", "two", "three")]
    return lab.instance(
        curves, N=61, load=0.4, seed=3, xlabel="step", alt="Three lines that rise."
    )


def write(folder):
    """Write a page of each figure where the figures expect it: beside the scripts' folder."""
    (folder / "book").mkdir()
    for figure in (calculator(), instance()):
        text = PAGE.replace("{figure}", figure.html())
        (folder / "book" / f"{figure.kind}.html").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not build.can_compile():
        pytest.skip("the compiler of the pages' kernels (the group `lab`) is not installed")
    folder = write(tmp_path_factory.mktemp("lab"))
    made = ROOT / build.STATIC  # as `make book` leaves it, where nothing changed since
    build.make(made)
    shutil.copytree(made, folder / "_static" / "lab")
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The same pages, built without the compiler."""
    folder = write(tmp_path_factory.mktemp("plain"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(build, "can_compile", lambda: False)
        assert not build.make(folder / "_static" / "lab")
    return folder


@pytest.fixture
def show(browser, request):
    contexts = []

    def shown(name, *, built="folder", width=1200, **options):
        viewport = {"width": width, "height": 1000}
        context = browser.new_context(viewport=viewport, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda said: page.errors.append(said.text))
        folder = request.getfixturevalue(built)
        page.goto(f"{folder.as_uri()}/book/{name}.html")
        if built == "folder" and options.get("java_script_enabled", True):
            ready = "figure[data-told]" if name == "calculator" else ".wfm-python"
            page.locator(ready).wait_for()
        return page

    yield shown
    for context in contexts:
        context.close()


def typed(page, label, text):
    field = page.get_by_role("textbox", name=label, exact=True)
    field.fill(str(text))
    field.press("Tab")
    return field


def after(page, act):
    """Act, and wait until the calculator has told the new numbers, or why there are none."""
    page.evaluate("document.querySelector('figure').removeAttribute('data-told')")
    act()
    page.locator("figure[data-told]").wait_for(timeout=60_000)
    return page.evaluate("document.querySelector('figure').wfmFound")


def unit(page, kind):
    return after(page, lambda: page.get_by_label("hidden units").select_option(kind))


def said(page):
    return page.locator(".wfm-said").text_content()


def code(page):
    return page.locator(".wfm-python code").text_content()


def asked(page, name, **given):
    """Return what `window.wfm.compute` gives, or raise what it rejects with."""
    script = """async ([name, given]) => {
        try { return { found: await window.wfm.compute(name, given) }; }
        catch (error) { return { failed: error.message }; }
    }"""
    found = page.evaluate(script, [name, given])
    if "failed" in found:
        raise RuntimeError(found["failed"])
    return found["found"]


# --- the calculator ------------------------------------------------------------------------------

# Of spherical weights none is drawn: the package takes a minute for so many corners near q = 1.
SHOWN = [(kind, "Binary") for kind in ("none", "sign", "relu", "gelu", "drawn")]
SHOWN += [(kind, "Spherical") for kind in ("none", "sign", "tanh")]


@pytest.mark.parametrize(("kind", "weights"), SHOWN)
def test_the_copied_lines_give_the_numbers_shown(show, kind, weights):
    """To 1e-10, relative: of a typed or a drawn activation c has an error of 1e-11."""
    page = show("calculator")
    if kind != "none":
        unit(page, kind)
    if weights == "Spherical":
        after(page, lambda: page.locator("select").first.select_option(weights))
    after(page, lambda: typed(page, "margin κ, to type", "0.125"))
    found = after(page, lambda: typed(page, "load α, to type", "0.3"))
    names = {}
    exec(code(page), names)
    for name, value in found["point"].items():
        assert value == pytest.approx(getattr(names["point"], name), rel=1e-10), name
    for shown, name in (("capacity", "capacity"), ("unstable", "stable"), ("largest", "largest")):
        number = math.inf if found[shown] is None else found[shown]  # as Playwright has infinity
        assert number == pytest.approx(names[name], rel=1e-10), name
    shown = page.locator(".wfm-numbers dd").first.text_content()
    capacity = names["capacity"]
    assert shown == (f"{capacity:.10g}" if math.isfinite(capacity) else "inf")
    assert page.errors == []


@pytest.mark.parametrize(
    "text",
    [
        "Perceptron()",
        "Perceptron(weights=Spherical())",
        "TreeCommittee(np.inf, ReLU(), Binary())",
        "TreeCommittee(inf, Activation(np.tanh), Spherical())",
        "TreeCommittee(inf, Activation(lambda x: np.maximum(x, 0.1*x)), Binary())",
        "TreeCommittee(inf, Activation(lambda x: np.where(x > 0, x, np.expm1(x))), Binary())",
        "TreeCommittee(inf, Activation(lambda x: np.sign(x) + x), Binary())",
    ],
)
def test_a_program_gets_the_package_s_numbers(show, text):
    page, device = show("calculator"), eval(text, NAMES)
    point = asked(page, "typical.solve", device=text, alpha=0.4, constraint="Margin(-0.25)")
    wanted = typical.solve(device, 0.4, Margin(-0.25))
    for name, value in point.items():
        assert value == pytest.approx(getattr(wanted, name), rel=1e-9), name
    for name in ("capacity", "instability"):
        found = asked(page, f"typical.{name}", device=text, constraint="Margin(kappa=0.25)")
        number = getattr(typical, name)(device, constraint=Margin(0.25))
        assert found == pytest.approx(number, rel=1e-9), name
    for name in ("max_margin", "last_margin"):
        found = asked(page, f"typical.{name}", device=text, alpha=0.4)
        assert found == pytest.approx(getattr(typical, name)(device, 0.4), rel=1e-9), name


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("solve", {"alpha": -1.0}, "load α: type a number, at least 0, not “−1”."),
        ("solve", {"alpha": 1.5}, "load α: the overlap q reaches 1 at 1.27"),
        ("solve", {}, "load α: type a number"),
        ("capacity", {"constraint": "Margin(-3.5)"}, "margin κ: type a number from −2 to 10000"),
        ("capacity", {"constraint": "Band(1)"}, "a page takes Margin(...) here, not Band(1)"),
        ("capacity", {"load": 1.0}, "takes device, constraint in a page, not load"),
        ("max_margin", {"alpha": 1e9}, "load α: even the margin -2"),
        ("solve", {"device": "Perceptrn()", "alpha": 1.0}, "not Perceptrn()"),
        ("solve", {"device": "TreeCommittee(3)", "alpha": 1.0}, "units must be inf"),
        ("guess", {}, "a page computes typical.solve"),
    ],
)
def test_a_program_is_told_what_to_ask(show, name, given, message):
    page = show("calculator")
    with pytest.raises(RuntimeError) as refused:
        asked(page, f"typical.{name}", **{"device": "Perceptron()"} | given)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("label", "text", "message"),
    [
        ("margin κ, to type", "much", "margin κ: type a number from −1.256 to 6279, not “much”."),
        ("load α, to type", "-1", "load α: type a number, at least 0, not “−1”."),
        ("g(x) =", "x**2", "no linear part"),
        ("g(x) =", "3", "constant"),
        ("g(x) =", "exp(x*x)", "grows too fast"),
        ("g(x) =", "sin(1e5*x)", "oscillates"),
        ("g(x) =", "log(x)", "finite"),
        ("g(x) =", "tanh(x", "needs a “)”"),
        ("g(x) =", "window", "name 'window' is not defined"),
        ("g(x) =", "", "empty"),
    ],
)
def test_an_error_clears_old_numbers(show, label, text, message):
    """Nothing stays that belongs to what was asked before, and mending it brings all back."""
    page = show("calculator")
    before = unit(page, "tanh")
    assert page.locator(".wfm-numbers dd").count() == 6
    assert after(page, lambda: typed(page, label, text)) is None
    assert message in said(page)
    assert page.locator("[aria-invalid]").get_attribute("aria-label") in (label, None)
    assert page.locator("[aria-invalid]").count() == 1
    assert page.locator(".wfm-numbers dd").count() == 0
    assert code(page) == page.locator(".wfm-found").text_content() == ""
    assert page.get_by_role("button", name="Copy as Python").is_disabled()
    paths = page.locator("svg[role=img] > svg path").all()
    assert [path.get_attribute("d") for path in paths] == [""] * 5
    good = {"margin κ, to type": "0", "load α, to type": "0.5"}.get(label, "tanh(x)")
    assert after(page, lambda: typed(page, label, good)) == before
    assert said(page) == ""
    assert page.errors == []


def test_past_the_last_load_the_capacity_stays(show):
    page = show("calculator")
    found = after(page, lambda: typed(page, "load α, to type", "1.5"))
    assert found["point"] is None
    assert found["capacity"] == pytest.approx(0.8330785997, rel=1e-9)
    assert "reaches 1 at 1.27" in page.locator(".wfm-found").text_content()
    assert "solve" not in code(page)


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("-x^2*x + 2*(x-1)-(1-x)", "-x**2 * x + 2 * (x - 1) - (1 - x)"),
        ("2^-x", "2**-x"),
        ("(x^2)^x/(3/x)", "(x**2)**x / (3 / x)"),
        ("np.tanh(x) + max(0, x)", "np.tanh(x) + np.maximum(0, x)"),
        ("(x>0.5)*x", "(x > 0.5) * x"),
    ],
)
def test_a_formula_is_the_same_in_python(show, text, python):
    script = """(text) => {
        const { g, python } = window.wfmLab.formula(text);
        return [python, [0.25, 0.75, 1.5].map(g)];
    }"""
    told, values = show("calculator").evaluate(script, text)
    assert told == python
    wanted = eval(python, {"np": np, "x": np.array([0.25, 0.75, 1.5])})
    assert values == pytest.approx(wanted.tolist(), rel=1e-14)


def test_keys_and_pointer_draw_an_activation(show):
    page = show("calculator")
    before = unit(page, "drawn")
    knot = page.get_by_role("slider", name="g at x = 0.5")
    found = after(page, lambda: knot.press("ArrowDown"))
    assert knot.get_attribute("aria-valuenow") == "0.45"
    assert found["capacity"] != before["capacity"]
    box = page.locator(".wfm-pad").bounding_box()
    across, up = box["x"] + 0.75 * box["width"], box["y"] + 0.2 * box["height"]
    after(page, lambda: page.mouse.click(across, up))
    knot = page.get_by_role("slider", name="g at x = 2", exact=True)
    assert float(knot.get_attribute("aria-valuenow")) == pytest.approx(1.4, abs=0.1)


def test_sampling_can_be_stopped(show):
    """A formula with many corners that is not straight between them takes a second or more."""
    page = show("calculator")
    unit(page, "tanh")
    typed(page, "g(x) =", "abs(sin(4*x)) + tanh(x) + abs(x*x-2)")
    stop = page.get_by_role("button", name="Stop")
    stop.wait_for(timeout=20_000)
    stop.click()
    assert said(page).startswith("Stopped.")
    assert code(page) == ""
    assert not stop.is_visible()


# --- the instance --------------------------------------------------------------------------------


def run(page, method, **numbers):
    """Run an algorithm to its end; return what it found, what is said, and Python's answer."""
    for name, value in numbers.items():
        typed(page, {"N": "weights N", "load": "load α", "seed": "seed"}[name], value)
    page.get_by_role("combobox").select_option(method)
    page.evaluate("document.querySelector('figure').removeAttribute('data-took')")
    page.get_by_role("button", name="Run").click()
    page.locator("figure[data-took]").wait_for(timeout=60_000)
    found = page.evaluate("document.querySelector('figure').wfmFound")
    *given, last = code(page).split("\n")
    names = {}
    exec("\n".join(given), names)
    assert page.errors == []
    return found, said(page), eval(last, names), names


@pytest.mark.parametrize("seed", [3, 4])
def test_all_solutions_are_counted(show, seed):
    found, text, wanted, _ = run(show("instance"), "count", N=21, load=0.6, seed=seed)
    assert found["count"] == wanted.count
    assert text.startswith(f"{wanted.count} solutions.")


def test_messages_are_those_of_the_package(show):
    """Sweep for sweep, until they settle."""
    page = show("instance")
    found, text, wanted, _ = run(page, "pass", N=101, load=0.4, seed=2)
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
    found, _, wanted, names = run(show("instance"), "focus", N=61, load=0.4, seed=3)
    assert found["wrong"] == wanted.errors == 0
    assert found["sweeps"] == wanted.epochs
    assert found["q"] == pytest.approx(wanted.history["polarisation"][-1], abs=1e-8)
    given = names["xi"], names["sigma"]
    near = landscape.local_entropy(wanted.network, *given, couplings=(1.2,), rng=0)
    assert found["entropy"] == pytest.approx(float(near["local_entropy"][0]), abs=1e-5)
    assert found["distance"] == pytest.approx(float(near["distance"][0]), abs=1e-5)


def test_the_clipped_rule_is_that_of_the_package(show):
    found, text, wanted, _ = run(show("instance"), "clip", N=101, load=0.4, seed=1)
    assert found["epoch"] == wanted[1]
    assert text.startswith(f"A solution after {wanted[1]} epochs")


def test_lines_grow_and_the_run_can_be_stopped(show):
    """Far above the capacity the rule goes on for a thousand epochs."""
    page = show("instance")
    typed(page, "weights N", 201)
    typed(page, "load α", 1.5)
    page.get_by_role("combobox").select_option("clip")
    page.get_by_role("button", name="Run").click()
    line = page.locator("svg svg path").first
    drawn = {line.get_attribute("d")}
    while len(drawn) < 4:
        page.wait_for_timeout(20)
        drawn.add(line.get_attribute("d"))
    page.get_by_role("button", name="Stop").click()
    assert re.fullmatch(r"Stopped after \d+ epochs\.", said(page))
    stood = line.get_attribute("d")
    page.wait_for_timeout(200)
    assert line.get_attribute("d") == stood
    assert page.get_by_role("button", name="Run").is_enabled()


@pytest.mark.parametrize(
    ("label", "text", "message"),
    [
        ("weights N", "0", "weights N: type a whole number from 1 to 201, not “0”."),
        ("weights N", "20.5", "weights N: type a whole number from 1 to 201, not “20.5”."),
        ("load α", "−1", "load α: type a number from 0 to 3, not “−1”."),
        ("seed", "1e10", "seed: type a whole number from 0 to 4294967295, not “1e10”."),
    ],
)
def test_a_wrong_field_clears_the_run_before(show, label, text, message):
    page = show("instance")
    run(page, "pass", N=21)
    typed(page, label, text)
    assert said(page) == message
    assert page.locator("[aria-invalid]").count() == 1
    assert code(page) == ""
    paths = page.locator("svg[role=img] > svg path").all()
    assert [path.get_attribute("d") for path in paths] == [""] * 3
    typed(page, label, "1")
    assert said(page) == ""
    assert "belief_propagation" in code(page)


def test_too_many_weights_are_not_counted(show):
    page = show("instance")
    page.get_by_role("combobox").select_option("count")
    assert said(page).startswith(
        "weights N, to count all solutions: type a whole number from 1 to 21"
    )


# --- both ----------------------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("name", ["calculator", "instance"])


@BOTH
def test_without_scripts_or_compiler_the_figure_stands_and_says_so(show, name):
    for page in (show(name, java_script_enabled=False), show(name, built="plain")):
        assert page.locator("svg[role=img] svg path").count() >= 3
        assert page.locator("select, button").count() == 0
        assert page.locator(".wfm-off").is_visible()
        assert page.errors == []
    assert show(name).locator(".wfm-off").count() == 0


@BOTH
@pytest.mark.parametrize("width", [1200, 390])
def test_it_fits_and_axe_finds_nothing(show, name, width):
    page = show(name, width=width)
    if name == "calculator":
        unit(page, "drawn")
    else:
        run(page, "count", N=13)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []


@BOTH
def test_on_paper_controls_are_left_out(show, name):
    page = show(name)
    page.emulate_media(media="print")
    assert page.locator("svg[role=img]").is_visible()
    assert not any(
        one.is_visible() for one in page.locator("input, button, select, .wfm-pad").all()
    )
