"""The living pages in Firefox: the built book, from files and from a server, held to the package.

A page is a line of `PAGES`: what is typed into its figure, or what its script computes, and what
the package says.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest

from tests.browser.test_policy_acts import INJECT, LISTEN
from wfmlib import Binary, CrossEntropy, Margin, Perceptron, learning, patterns, theory
from wfmlib.learning.pages import clipped

NAMES = {
    "theory": theory,
    "learning": learning,
    "patterns": patterns,
    "clipped": clipped,
    "Binary": Binary,
    "CrossEntropy": CrossEntropy,
    "Margin": Margin,
    "Perceptron": Perceptron,
}


class Figure(NamedTuple):
    """A figure with sliders: numbers that are typed, and which of the package's are told."""

    typed: dict[str, str]
    told: dict[str, str]

    def held(self, tab):
        """Compare with what the copied call gives: it is told to ten digits."""
        root = "figure.wfm-slider:has(script.wfm-live)"
        tab.until(f"!!document.querySelector('{root}[data-took]')")
        for label, text in self.typed.items():
            tab.evaluate(
                f"""(() => {{
                    const field = document.querySelector(
                        {json.dumps(f'{root} input[aria-label="{label}, to type"]')});
                    field.value = {json.dumps(text)};
                    field.dispatchEvent(new Event("change", {{ bubbles: true }}));
                }})()"""
            )
        code = tab.evaluate(f"document.querySelector('{root} .wfm-python code').textContent")
        wanted = eval(code, dict(NAMES))
        first = f"{next(iter(self.told))} = "
        settled = f"document.querySelector('{root} .wfm-found').textContent"
        tab.until(f"{settled}.startsWith({json.dumps(first)})")
        waits = f"document.querySelector('{root}').matches(':not(:has(.wfm-waits)), [data-told]')"
        tab.until(waits)
        text = tab.evaluate(settled).replace("−", "-")
        for name, attribute in self.told.items():
            number = float(re.search(rf"{name} = ([^\s,]+)", text)[1])
            assert number == pytest.approx(getattr(wanted, attribute), rel=2e-9, abs=1e-12), name


class Run(NamedTuple):
    """An algorithm that runs in a worker, and which of its numbers is the package's."""

    method: str
    fields: tuple[str, ...]
    told: dict[str, str]

    def held(self, tab):
        """Run it, and run the copied lines."""
        root = "figure.wfm-instance"
        tab.until(f"!!document.querySelector('{root} select')")
        tab.evaluate(
            f"""(() => {{
                const figure = document.querySelector("{root}");
                const fields = figure.querySelectorAll("input[type=text], input:not([type])");
                {json.dumps(self.fields)}.forEach((text, i) => {{ fields[i].value = text; }});
                const choice = figure.querySelector("select");
                choice.value = "{self.method}";
                choice.dispatchEvent(new Event("change", {{ bubbles: true }}));
                [...figure.querySelectorAll("button")].find(
                    (one) => one.textContent === "Run").click();
            }})()"""
        )
        tab.until(f"!!document.querySelector('{root}[data-took]')")
        found = tab.evaluate(f"document.querySelector('{root}').wfmFound")
        code = tab.evaluate(f"document.querySelector('{root} .wfm-python code').textContent")
        *given, last = code.split("\n")
        names = dict(NAMES)
        exec("\n".join(given), names)
        wanted = eval(last, names)
        for name, attribute in self.told.items():
            assert found[name] == pytest.approx(getattr(wanted, attribute), abs=1e-11), name


class Call(NamedTuple):
    """What a page's `window.wfm.compute` gives, and the package's call."""

    name: str
    given: dict[str, str]
    python: str

    def held(self, tab):
        """Compare the two numbers."""
        tab.until("!!window.wfm?.compute")
        found = tab.evaluate(f"window.wfm.compute('{self.name}', {json.dumps(self.given)})")
        assert found == pytest.approx(eval(self.python, dict(NAMES)), rel=1e-9)


CAPACITY = {"device": "Perceptron(Binary())", "constraint": "Margin(0.25)"}
PAGES = {
    "01_2_capacity": Figure(
        {"margin κ": "0.3", "load α": "0.4"}, {"entropy φ": "entropy", "overlap q": "q"}
    ),
    "02_2_minima": Figure(
        {"sharpness γ": "1.25", "inverse temperature β": "31", "load α": "0.55"},
        {"entropy s": "entropy", "energy e": "energy", "error rate ε": "error_rate",
         "overlap q": "q", "replicon": "replicon"},
    ),
    "instance": Run("count", ("15", "0.6", "4"), {"count": "count"}),
    "calculator": Call(
        "typical.capacity", CAPACITY,
        "theory.typical.capacity(Perceptron(Binary()), constraint=Margin(0.25))",
    ),
}  # fmt: skip


@pytest.fixture(params=["file", "server"])
def site(request, html):
    """The address of the pages: as files, and as a server gives them."""
    return html.as_uri() if request.param == "file" else request.getfixturevalue("server")


@pytest.mark.parametrize("name", PAGES)
def test_a_living_page_gives_the_package_s_numbers(firefox, html, site, name):
    """Names are not looked up in this Firefox: from a file, nothing can come from elsewhere."""
    if not (html / "book" / f"{name}.html").exists():
        pytest.skip(f"this book has no page {name}")
    firefox.goto(f"{site}/book/{name}.html")
    PAGES[name].held(firefox)


@pytest.mark.parametrize("name", ["01_2_capacity", "02_2_minima"])
def test_memory_does_not_grow_with_moves(firefox, html, name):
    """The module's, over two times two hundred moves of a slider."""
    firefox.goto((html / "book" / f"{name}.html").as_uri())
    root = "figure.wfm-slider:has(script.wfm-live)"
    firefox.until(f"!!document.querySelector('{root}[data-took]')")
    moves = f"""(() => {{
        const figure = document.querySelector('{root}');
        const range = figure.querySelector('input[type=range]');
        for (let i = 0; i < 200; i += 1) {{
            const share = (37 * i % 200) / 200;
            range.value = String(Number(range.min) + share * (range.max - range.min));
            range.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }}
        return figure.wfmMemory();
    }})()"""
    held = [firefox.evaluate(moves) for _ in range(2)]
    assert held[0] == held[1]


def test_what_is_brought_into_a_page_does_not_run(firefox, site):
    """As in Chromium: neither a script of the page's own, nor a handler, nor another site's.

    Firefox fetches the next page ahead once it is idle; that the policy refuses, too.
    """
    firefox.goto(f"{site}/book/01_2_capacity.html")
    firefox.evaluate(f"(() => {{ {LISTEN} }})()")
    firefox.evaluate(f"({INJECT})()")
    firefox.until("window.refused.length >= 3")
    assert firefox.evaluate("[window.injected ?? null, window.handled ?? null]") == [None, None]
    refused = {tuple(one.split()) for one in firefox.evaluate("window.refused")}
    ahead = {one for one in refused if one[0] == "default-src"}
    assert {name for name, _ in refused - ahead} == {"script-src-attr", "script-src-elem"}
    assert all(address.startswith(f"{site}/book/") for _, address in ahead)


def test_workers_start_where_a_page_needs_them_alone(firefox, html):
    start = """new Promise((done) => {
        try {
            const text = new Blob(["self.postMessage(1)"], { type: "text/javascript" });
            const worker = new Worker(URL.createObjectURL(text));
            worker.onmessage = () => done(true);
            worker.onerror = () => done(false);
        } catch { done(false); }
    })"""
    for name, starts in (("01_2_capacity", False), ("02_2_minima", True), ("instance", True)):
        firefox.goto((html / "book" / f"{name}.html").as_uri())
        assert firefox.evaluate(start) is starts, name
