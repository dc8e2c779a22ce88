"""Figures whose curves are followed, in Chromium: from a file and a server, with no network."""

from __future__ import annotations

import functools
import json
import math
import random
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser import calculating
from tests.waiting import until
from wfmlib import Margin, Perceptron, TreeCommittee, theory
from wfmlib.book import display
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi, large_deviation, typical

PERCEPTRON, SIGNS = Perceptron(), TreeCommittee(math.inf)
NAMES = {"theory": theory, "np": np, "Margin": Margin} | {
    one.__name__: one for one in (Perceptron, TreeCommittee)
}


@pytest.fixture(scope="module")
def figures():
    distances, overlaps = np.geomspace(0.012, 1e-4, 9), np.linspace(0.5, 0.99, 9)
    heights = [np.linspace(0.02, 0.001, 9), np.linspace(0.025, 0.001, 9)]
    solutions = display.Curve("solutions", distances, heights, only=(0, 1))
    none = display.Curve("none", distances, heights, "unstable", only=(-1, 0))
    texts = {"note": lambda value: "A note.", "alt": "A line that moves."}
    numbers = [1, 2, math.inf]
    groups = [display.Curve(f"y = {y}", overlaps, [-overlaps, -overlaps]) for y in numbers]
    return {
        "surroundings": display.slider(
            "reference margin κ̃",
            [0.0, 0.4],
            [solutions, none],
            xlabel="distance d",
            ylabel="local entropy φ",
            xlim=(0.0, 0.012),
            ylim=(-0.012, 0.03),
            live=display.surroundings(
                2, load=0.5, farthest=0.012, margins=(0.0, 0.4, 0.002), place=0.003
            ),
            **texts,
        ),
        "replicas": display.slider(
            "load α",
            [0.5, 0.7],
            [display.Curve("y = ∞", np.linspace(0.15, 0.0, 9), [overlaps, overlaps])],
            xlabel="distance d",
            ylabel="free entropy V",
            ylim=(-0.05, 0.62),
            start=1,
            live=display.replicas([math.inf], load=0.7, place=0.9),
            **texts,
        ),
        "committees": display.slider(
            "load α",
            [1.0, 1.5],
            [*groups, display.Rule("typical", x=[0.3, 0.4])],
            xlabel="overlap q₁",
            ylabel="log fraction",
            ylim=(-3, 0),
            start=1,
            live=display.committees(numbers, load=1.5, place=0.9),
            **texts,
        ),
    }


@pytest.fixture(scope="module")
def folder(figures, tmp_path_factory):
    folder = tmp_path_factory.mktemp("followed")
    for name, figure in figures.items():
        page = calculating.write(folder, html=figure.html(), name=name)
        (folder / f"{name}-forbidden.html").write_text(
            page.replace("worker-src blob:", "worker-src 'none'"), "utf-8"
        )
    return folder


@pytest.fixture
def show(browser, folder):
    contexts = []

    def shown(name, *, ready=True, width=1200, address=None, **options):
        given = {"offline": address is None} | options
        context = browser.new_context(viewport={"width": width, "height": 900}, **given)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(f"{address or folder.as_uri()}/{name}.html")
        if ready:
            drawn(page)
        return page

    yield shown
    for context in contexts:
        context.close()


def drawn(page):
    """Wait until the curve of what was asked last is there with all digits."""
    page.locator("figure[data-drawn][data-found]").wait_for()
    until(
        page,
        """(({drawn, asked, found, pointed}) => drawn === asked && found === pointed)(
            document.querySelector('figure').dataset)""",
    )


def typed(page, text, name):
    field = page.get_by_role("textbox", name=f"{name}, to type")
    field.fill(text)
    field.press("Enter")
    return field


def numbers(page):
    return page.evaluate("document.querySelector('figure').wfmFound")


def text(page, one):
    return page.locator(one).text_content()


def refused(call):
    with pytest.raises((TypeError, ValueError, NotConverged)) as failure:
        call()
    return str(failure.value)


def ends(path):
    """Return where the pieces of a path end, (points, 2)."""
    found = re.findall(r"([MLC])([^MLC]*)", path)
    return np.array([[float(x) for x in piece.split()[-2:]] for _, piece in found])


def test_curve_and_numbers_are_those_of_the_package(show, figures):
    """At a load and margins that are typed; every fifth point of the curve is solved for."""
    page = show("surroundings")
    typed(page, "0.62", "load α")
    typed(page, "0.05", "reference margin κ̃")
    typed(page, "0.0041", "distance d")
    drawn(page)
    given = {"reference": Margin(0.05)}
    point = franz_parisi.solve(PERCEPTRON, 0.62, 0.0041, **given)
    found = numbers(page)
    assert found[3] == pytest.approx(point.local_entropy, rel=1e-12)
    assert f"φ = {point.local_entropy:.10g}" in text(page, ".wfm-found").replace("−", "-")
    assert eval(text(page, ".wfm-python code"), NAMES) == point
    panel = figures["surroundings"]._drawing[0]
    places = ends(page.locator(".wfm-moves").first.get_attribute("d"))
    inside = places[(places[:, 0] <= panel.right) & (places[:, 0] > panel.left + 20)]
    assert len(inside) > 10
    unit = np.ptp(panel.xlim) / (panel.right - panel.left)
    for x, y in inside[::5]:
        distance = panel.xlim[0] + (x - panel.left) * unit
        around = [
            franz_parisi.local_entropy(PERCEPTRON, 0.62, distance + side * unit, **given)
            for side in (-0.06, 0.06)
        ]
        wanted = panel.place(distance, np.array(around))[1]
        assert wanted.min() - 0.06 <= y <= wanted.max() + 0.06, distance
    assert page.errors == []


def test_the_note_names_the_phase_and_its_margins(show):
    page = show("surroundings")
    typed(page, "0.02", "reference margin κ̃")
    drawn(page)
    until(page, "document.querySelector('.wfm-note').textContent.startsWith('A ball')")
    inner, outer = franz_parisi.gap(PERCEPTRON, 0.5, reference=Margin(0.02))
    note = text(page, ".wfm-note")
    assert f"no solutions from {inner:.4g} to {outer:.4g}" in note
    assert f"closes at {franz_parisi.margin_no_gap(PERCEPTRON, 0.5):.4g}" in note
    assert f"dip ends at {franz_parisi.margin_monotonic(PERCEPTRON, 0.5):.4g}" in note


@pytest.mark.parametrize(
    ("name", "device", "which"), [("replicas", PERCEPTRON, 2), ("committees", SIGNS, 2)]
)
def test_replicas_are_those_of_the_package(show, name, device, which):
    page = show(name)
    rng = random.Random(5)
    for replicas in ("7", "2.5", "inf", "∞"):
        overlap = round(rng.uniform(0.8, 0.99), 3)
        typed(page, replicas, "replicas y")
        typed(page, str(overlap), "overlap q₁")
        drawn(page)
        load = 0.7 if device is PERCEPTRON else 1.5
        y = math.inf if replicas in ("inf", "∞") else float(replicas)
        point = large_deviation.solve(device, load, overlap, replicas=y)
        assert numbers(page)[which] == pytest.approx(point.entropy, rel=1e-12)
        assert eval(text(page, ".wfm-python code"), NAMES) == point
    assert page.errors == []


def test_the_slider_s_end_is_infinity(show):
    page = show("committees")
    slider = page.get_by_role("slider", name="replicas y")
    slider.press("End")
    drawn(page)
    assert page.get_by_role("textbox", name="replicas y, to type").input_value() == "∞"
    assert slider.get_attribute("aria-valuetext") == "∞"
    assert "replicas=np.inf" in text(page, ".wfm-python code")
    moved = [one.get_attribute("d") for one in page.locator(".wfm-moves").all()]
    assert moved[-1] == moved[2] != ""  # the curve of y = ∞ that stood there


@pytest.mark.parametrize("word", ["much", "", "nan"])
def test_a_word_gets_the_package_s_message(show, word):
    page = show("surroundings")
    field = typed(page, word, "load α")
    assert text(page, ".wfm-said") == refused(lambda: franz_parisi.solve(PERCEPTRON, word, 0.1))
    assert field.get_attribute("aria-invalid") == "true"
    field.press("Escape")
    assert text(page, ".wfm-said") == ""
    assert field.input_value() == "0.5"
    typed(page, word, "distance d")
    assert text(page, ".wfm-said") == refused(lambda: franz_parisi.solve(PERCEPTRON, 0.5, word))


def test_numbers_out_of_range_get_the_package_s_message(show):
    page = show("replicas")
    typed(page, "0.5", "replicas y")
    wanted = refused(lambda: large_deviation.solve(PERCEPTRON, 0.5, 0.9, replicas=0.5))
    assert text(page, ".wfm-said") == wanted
    typed(page, "1", "overlap q₁")
    wanted = refused(lambda: large_deviation.solve(PERCEPTRON, 0.5, 1.0))
    assert text(page, ".wfm-said") == wanted
    typed(page, "1e-9", "load α")
    wanted = refused(lambda: large_deviation.solve(PERCEPTRON, 1e-9, 0.9))
    assert text(page, ".wfm-said") == wanted
    typed(page, "0", "load α")
    assert text(page, ".wfm-said") == ""


@pytest.mark.parametrize("load", [0.84, 0.9, 1e5])
def test_above_the_capacity_the_page_says_what_the_package_says(show, load):
    page = show("surroundings")
    typed(page, str(load), "load α")
    drawn(page)
    wanted = refused(lambda: franz_parisi.solve(PERCEPTRON, load, 0.003))
    assert text(page, ".wfm-found") == wanted
    assert [one.get_attribute("d") for one in page.locator(".wfm-moves").all()] == ["", ""]


def test_where_a_solver_fails_the_page_says_what_notconverged_says(show):
    page = show("surroundings")
    typed(page, "0.0001", "distance d")
    drawn(page)
    wanted = refused(lambda: franz_parisi.solve(PERCEPTRON, 0.5, 0.0001))
    assert text(page, ".wfm-found") == wanted
    page = show("replicas")
    typed(page, "0.25", "overlap q₁")
    drawn(page)
    wanted = refused(lambda: large_deviation.solve(PERCEPTRON, 0.7, 0.25, replicas=3))
    assert text(page, ".wfm-found") == wanted


def test_keys_move_it(show):
    page = show("surroundings")
    slider = page.get_by_role("slider", name="reference margin κ̃")
    before = page.locator(".wfm-moves").first.get_attribute("d")
    slider.press("ArrowRight")
    drawn(page)
    assert text(page, "output") == "0.002"
    assert page.locator(".wfm-moves").first.get_attribute("d") != before
    page.get_by_role("slider", name="load α").press("ArrowLeft")
    drawn(page)
    assert page.get_by_role("textbox", name="load α, to type").input_value() == "0.495"


def test_memory_does_not_grow_with_moves(show):
    page = show("replicas")
    held = []
    for _ in range(2):
        for load in (0.5, 0.6, 0.7):
            typed(page, str(load), "load α")
            drawn(page)
        held.append(page.evaluate("document.querySelector('figure').wfmMemory"))
    assert held[0] == held[1] < 2**22


def test_stop_ends_the_work(show):
    page = show("surroundings")
    page.locator(".wfm-waits").evaluate("one => { one.style.visibility = ''; }")
    typed(page, "0.61", "load α")
    page.get_by_role("button", name="Stop").click()
    assert text(page, ".wfm-said") == "Stopped."
    typed(page, "0.6", "load α")
    drawn(page)
    assert text(page, ".wfm-said") == ""


def test_it_works_from_a_server(show, folder):
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *given: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = show("committees", address=f"http://127.0.0.1:{server.server_port}")
        page.context.set_offline(True)
        typed(page, "1.2", "load α")
        drawn(page)
        point = large_deviation.solve(SIGNS, 1.2, 0.9, replicas=3)
        server.shutdown()
    assert numbers(page)[2] == pytest.approx(point.entropy, rel=1e-12)
    assert page.errors == []


def test_without_scripts_or_workers_the_figure_stands(show, figures):
    for name, figure in figures.items():
        data = json.loads(re.search(r'json">(.*?)</script>', figure.html())[1])
        first = figure.start
        wanted = [
            data["paths"][frames][first] if isinstance(frames, int) else frames[first]
            for frames in data["paths"]
        ]
        page = show(name, ready=False, java_script_enabled=False)
        assert [one.get_attribute("d") for one in page.locator(".wfm-moves").all()] == wanted


def test_where_no_worker_may_start_the_slider_stays_as_it_was(show):
    page = show("surroundings-forbidden", ready=False)
    page.get_by_role("slider").press("ArrowRight")
    assert text(page, "output") == "0.4"
    assert page.locator(".wfm-python").count() == 0
    assert page.errors == []


@pytest.mark.parametrize("name", ["surroundings", "replicas", "committees"])
@pytest.mark.parametrize("width", [1200, 390])
def test_it_fits_and_axe_finds_nothing(show, name, width):
    page = show(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], node["html"][:160]) for one in found for node in one["nodes"]] == []


def test_on_paper_controls_are_left_out(show):
    page = show("committees")
    page.emulate_media(media="print")
    assert page.locator("svg[role=img]").is_visible()
    controls = page.locator("input, button, progress").all()
    assert not any(one.is_visible() for one in controls)


def test_typical_overlaps_are_those_of_the_package(show):
    page = show("committees")
    wanted = typical.solve(SIGNS, 1.5).q
    assert text(page, ".wfm-note") == f"Typical solutions have the overlap {wanted:.6g}."
