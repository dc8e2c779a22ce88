"""The calculator, and what pages compute for a program: in Chromium, without a network."""

from __future__ import annotations

import functools
import http.server
import json
import math
import threading

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser import calculating
from tests.waiting import until
from tools import policy
from wfmlib import (
    Activation,
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
)
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical

NAMES = {
    "inf": math.inf,
    "np": np,
    **{
        one.__name__: one
        for one in (Activation, Binary, Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee)
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calculator")
    page = calculating.write(folder)
    forbidden = page.replace(f" {policy.COMPILING}", "")
    (folder / "forbidden.html").write_text(forbidden, "utf-8")
    alone = page.replace("worker-src blob:", "worker-src 'none'")
    (folder / "alone.html").write_text(alone, "utf-8")
    return folder


@pytest.fixture
def show(browser, folder):
    contexts = []

    def shown(name="page.html", *, ready=True, width=1200, address=None, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 1000}, offline=address is None, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(f"{address or folder.as_uri()}/{name}")
        if ready:
            page.locator("figure[data-told]").wait_for()
        context.set_offline(True)
        return page

    yield shown
    for context in contexts:
        context.close()


def after(page, act):
    """Act, and wait until the figure has told the new numbers."""
    page.evaluate("document.querySelector('figure').removeAttribute('data-told')")
    act()
    page.locator("figure[data-told]").wait_for(timeout=60_000)
    return page.evaluate("document.querySelector('figure').wfmFound")


def typed(page, label, text):
    field = page.get_by_role("textbox", name=label)
    field.fill(text)
    field.press("Enter")
    return field


def said(page):
    return page.locator(".wfm-said").text_content()


def asked(page, name, **given):
    """Return what `window.wfm.compute` gives, or raise what it rejects with."""
    found = page.evaluate(
        """async ([name, given]) => {
            try { return { found: await window.wfm.compute(name, given) }; }
            catch (error) { return { failed: error.message }; }
        }""",
        [name, given],
    )
    if "failed" in found:
        raise RuntimeError(found["failed"])
    return found["found"]


def refused(call):
    with pytest.raises((TypeError, ValueError, NotConverged, RuntimeError)) as failure:
        call()
    return str(failure.value)


def unit(page, kind):
    return after(page, lambda: page.get_by_label("hidden units").select_option(kind))


# Of spherical weights none is drawn: the package takes a minute for so many corners near q = 1.
SHOWN = [(kind, "Binary") for kind in ("none", "sign", "relu", "tanh", "gelu", "drawn")]
SHOWN += [(kind, "Spherical") for kind in ("none", "sign", "relu", "tanh", "gelu")]


@pytest.mark.parametrize(("kind", "weights"), SHOWN)
def test_the_copied_calls_give_the_numbers_shown(show, kind, weights):
    """To 1e-10, relative: of a typed or a drawn activation c has an error of 1e-11."""
    page = show()
    if kind != "none":
        unit(page, kind)
    if weights == "Spherical":
        after(page, lambda: page.get_by_label("weights").select_option(weights))
    after(page, lambda: typed(page, "margin κ, to type", "0.125"))
    found = after(page, lambda: typed(page, "load α, to type", "0.3"))
    names = {}
    exec(page.locator(".wfm-python code").text_content(), names)
    for name, value in found["point"].items():
        assert value == pytest.approx(getattr(names["point"], name), rel=1e-10), name
    capacity = names["capacity"]
    assert (found["capacity"] or math.inf) == pytest.approx(capacity, rel=1e-10)
    assert (found["unstable"] or math.inf) == pytest.approx(names["stable"], rel=1e-10)
    assert (found["largest"] or math.inf) == pytest.approx(names["largest"], rel=1e-10)
    shown = page.locator(".wfm-numbers dd").first.text_content()
    assert shown == (f"{capacity:.10g}" if math.isfinite(capacity) else "inf")
    assert page.errors == []


DEVICES = [
    "Perceptron()",
    "Perceptron(weights=Spherical())",
    "TreeCommittee(np.inf, ReLU(), Binary())",
    "TreeCommittee(inf, weights=Binary())",
    "TreeCommittee(inf, Activation(np.tanh), Spherical())",
    "TreeCommittee(inf, Activation(lambda x: np.maximum(x, 0.1*x)), Binary())",
]


@pytest.mark.parametrize("text", DEVICES)
def test_a_program_gets_the_package_s_numbers(show, text):
    page, device = show(), eval(text, NAMES)
    point = asked(page, "typical.solve", device=text, alpha=0.4, constraint="Margin(-0.25)")
    wanted = typical.solve(device, 0.4, Margin(-0.25))
    for name, value in point.items():
        assert value == pytest.approx(getattr(wanted, name), rel=1e-10), name
    for name in ("capacity", "instability"):
        found = asked(page, f"typical.{name}", device=text, constraint="Margin(kappa=0.25)")
        number = getattr(typical, name)(device, constraint=Margin(0.25))
        assert found == pytest.approx(number, rel=1e-10)
    for name in ("max_margin", "last_margin"):
        found = asked(page, f"typical.{name}", device=text, alpha=0.4)
        assert found == pytest.approx(getattr(typical, name)(device, 0.4), rel=1e-10)


@pytest.mark.parametrize(
    ("name", "given", "call"),
    [
        ("solve", {"alpha": -1.0}, lambda: typical.solve(Perceptron(), -1.0)),
        ("solve", {"alpha": "much"}, lambda: typical.solve(Perceptron(), "much")),
        ("solve", {"alpha": 1.5}, lambda: typical.solve(Perceptron(), 1.5)),
        (
            "solve",
            {"alpha": 2.5, "device": "Perceptron(Spherical())", "constraint": "Margin(0.5)"},
            lambda: typical.solve(Perceptron(Spherical()), 2.5, Margin(0.5)),
        ),
        ("capacity", {"constraint": "Margin('much')"}, lambda: Margin("much")),
        (
            "capacity",
            {"constraint": "Margin(-3.5)"},
            lambda: typical.capacity(Perceptron(), constraint=Margin(-3.5)),
        ),
        ("max_margin", {"alpha": 1e9}, lambda: typical.max_margin(Perceptron(), 1e9)),
        ("max_margin", {"alpha": 1e-9}, lambda: typical.max_margin(Perceptron(), 1e-9)),
        ("solve", {}, lambda: typical.solve(Perceptron())),
        ("capacity", {"load": 1.0}, lambda: typical.capacity(Perceptron(), load=1.0)),
    ],
)
def test_a_program_gets_the_package_s_messages(show, name, given, call):
    page = show()
    given = {"device": "Perceptron()"} | given
    assert refused(lambda: asked(page, f"typical.{name}", **given)) == refused(call)


def test_an_even_activation_gets_the_package_s_message(show):
    """But for the device, which the page knows by its text."""
    device = {"device": "TreeCommittee(inf, Activation(lambda x: x**2))"}
    told = refused(lambda: asked(show(), "typical.solve", alpha=0.5, **device))
    squares = TreeCommittee(math.inf, Activation(np.square))
    assert told == refused(lambda: typical.solve(squares, 0.5)).partition(", got")[0]


def test_nan_gets_the_package_s_message(show):
    page = show()
    script = """window.wfm.compute("typical.solve", {device: "Perceptron()", alpha: NaN})
        .catch((error) => error.message)"""
    assert page.evaluate(script) == refused(lambda: typical.solve(Perceptron(), math.nan))
    told = refused(lambda: asked(page, "typical.solve", device="Perceptrn()", alpha=1.0))
    assert told == refused_name("Perceptrn()")
    told = refused(lambda: asked(page, "typical.solv", device="Perceptron()", alpha=1.0))
    assert "'typical.solv' is not defined" in told


def refused_name(text):
    with pytest.raises(NameError) as failure:
        eval(text, {"__builtins__": {}})
    return str(failure.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x**2", "linear part"),
        ("3", "not be constant"),
        ("exp(x*x)", "grow so slowly"),
        ("sin(1e5*x)", "oscillate"),
        ("log(x)", "must be finite, got nan"),
        ("tanh(x", "needs a “)”"),
        ("alert(1)", "name 'alert' is not defined"),
        ("window", "name 'window' is not defined"),
        ("x.constructor", "sign that is not known: “.”"),
        ("max(x)", "takes 2 arguments, got 1"),
        ("", "empty"),
    ],
)
def test_a_formula_that_is_no_activation_is_refused(show, text, message):
    page = show()
    before = unit(page, "tanh")
    field = typed(page, "g(x) =", text)
    until(page, "document.querySelector('.wfm-said').textContent")
    assert message in said(page)
    assert field.get_attribute("aria-invalid") == "true"
    assert page.evaluate("document.querySelector('figure').wfmFound") == before
    assert page.errors == []


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
    page = show()
    script = """(text) => {
        const { g, python } = window.wfm.formula(text);
        return [python, [0.25, 0.75, 1.5].map(g)];
    }"""
    told, values = page.evaluate(script, text)
    assert told == python
    wanted = eval(python, {"np": np, "x": np.array([0.25, 0.75, 1.5])})
    assert values == pytest.approx(wanted.tolist(), rel=1e-14)


def test_a_new_curve_is_there_within_50_ms(show):
    """The median of twenty margins, with an activation that was typed."""
    page = show()
    unit(page, "swish")
    took = []
    for i in range(20):
        after(page, lambda i=i: typed(page, "margin κ, to type", str(0.01 * i + 0.005)))
        took.append(float(page.locator("figure").get_attribute("data-took")))
    assert np.median(took) < 50.0


def test_it_works_from_a_server_whose_network_is_gone(show, folder):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *given: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = show(address=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    found = unit(page, "erf")
    assert 0.8 < found["capacity"] < 0.95
    assert page.errors == []


def test_keys_draw_an_activation(show):
    page = show()
    before = unit(page, "drawn")
    knot = page.get_by_role("slider", name="g at x = 0.5")
    assert knot.get_attribute("aria-valuenow") == "0.5"
    found = after(page, lambda: knot.press("ArrowDown"))
    assert knot.get_attribute("aria-valuenow") == "0.45"
    assert found["capacity"] != before["capacity"]


def test_the_pointer_draws_an_activation(show):
    page = show()
    unit(page, "drawn")
    box = page.locator(".wfm-pad").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    after(
        page,
        lambda: page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.2 * box["height"]),
    )
    page.mouse.up()
    knot = page.get_by_role("slider", name="g at x = 2", exact=True)
    assert float(knot.get_attribute("aria-valuenow")) == pytest.approx(1.4, abs=0.1)


def test_sampling_can_be_stopped(show):
    """A formula with many corners that is not straight between them takes a second or more."""
    page = show()
    before = unit(page, "tanh")
    typed(page, "g(x) =", "abs(sin(4*x)) + tanh(x) + abs(x*x-2)")
    stop = page.get_by_role("button", name="Stop")
    stop.wait_for(timeout=20_000)
    stop.click()
    assert said(page).startswith("Stopped.")
    assert page.evaluate("document.querySelector('figure').wfmFound") == before
    assert not stop.is_visible()


def test_without_scripts_or_webassembly_the_figure_stands(show):
    page = show(ready=False, java_script_enabled=False)
    assert page.locator("svg[role=img] svg path").count() == 5
    assert page.locator("select").count() == 0
    page = show("forbidden.html", ready=False)
    assert page.locator("svg[role=img]").is_visible()
    assert page.locator("select").count() == 0
    assert page.errors == []


def test_without_a_worker_it_says_so(show):
    page = show("alone.html")
    assert unit(page, "relu")["capacity"] == pytest.approx(0.90398628, rel=1e-8)
    page.get_by_label("hidden units").select_option("tanh")
    until(page, "document.querySelector('.wfm-said').textContent")
    assert "no worker" in said(page)


@pytest.mark.parametrize("width", [1200, 390])
def test_it_fits_and_axe_finds_nothing(show, width):
    page = show(width=width)
    unit(page, "gelu")
    unit(page, "drawn")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []


def test_on_paper_controls_are_left_out(show):
    page = show()
    unit(page, "drawn")
    page.emulate_media(media="print")
    assert page.locator("svg[role=img]").is_visible()
    assert not any(
        one.is_visible() for one in page.locator("input, button, select, .wfm-pad").all()
    )


def test_pages_are_told_what_json_takes():
    json.dumps(calculating.figure().told, allow_nan=False)
