"""The search finds places of the book, from a file as well, and shows them readably."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.conftest import unwritten

# What somebody types, and the place that is among the first three.
QUERIES = {
    "sharpness aware minimization": "book/words.html#sharpness-aware-minimisation-sam",
    "SAM": "book/words.html#sharpness-aware-minimisation-sam",
    "dropout": "book/words.html#dropout",
    "generalization": "book/words.html#generalisation",
    "overparametrized": "book/words.html#overparameterisation-double-descent-interpolation",
    "batch size": "book/words.html#batch-size-learning-rate-noise-of-sgd",
    "sharp minima": "book/words.html#flat-minima-sharp-minima-sharpness",
    "mode connectivity": "book/words.html#mode-connectivity-loss-landscape",
    "lottery ticket": "book/words.html#pruning-quantisation-binary-networks-lottery-tickets",
    "capacity": "book/glossary.html#term-capacity",
    "local entropy": "book/glossary.html#term-local-entropy",
    "Parisi parameter": "book/glossary.html#term-Parisi-parameter",
    "belief propagation": "book/glossary.html#term-belief-propagation-BP",
    "dense regions": "book/02_3_dense.html#dense-regions",
    "one step of symmetry breaking": (
        "book/foundations_5_breaking.html#one-step-of-symmetry-breaking"
    ),
    "hessian": "book/glossary.html#term-Hessian-spectrum",
    "best gamma sharpness": "book/02_3_dense.html#the-best-sharpness",
    "wfmlib.theory.typical.capacity": (
        "book/api/theory_typical.html#wfmlib.theory.typical.capacity"
    ),
    "focussing beleif": "book/glossary.html#term-focusing-belief-propagation-fBP",
    "mode conectivity": "book/words.html#mode-connectivity-loss-landscape",
    "full RSB": "book/11_full_breaking.html",
    "1 RSB": "book/glossary.html#term-one-step-replica-symmetry-breaking-1RSB",
    "equation 1.11": "book/01_1_counting.html#equation-eq-rs-entropy",
    "figure 5.1": "book/05_relu_capacity.html#fig-effective",
    "PyTorch": "book/recipes.html#your-own-network",
    "gpu": "book/run.html#on-your-own-machine",
    "prerequisites": "book/lecturers.html#what-students-need",
    "OGP": "book/glossary.html#term-overlap-gap",
    "REM": "book/foundations_5_breaking.html#a-model-in-which-everything-can-be-done",
    "TAP equations": "book/07_2_settle.html",
    "SBPI": "book/01_3_isolation.html#the-puzzle",
    "how to cite": "book/downloads.html#how-to-cite",
    "Fashion-MNIST": "book/09_3_depth.html#larger-pictures",
    "fashion_mnist": "book/api/datasets.html#wfmlib.datasets.fashion_mnist",
    "jamming exponents": "book/11_2_marginal.html#where-it-ends",
    "local entropy definition": "book/glossary.html#term-local-entropy",
    "perceptrn capacity": "book/glossary.html#term-capacity",
    "zecchina": "book/07_3_focusing.html#from-replicas-to-focusing",
    "perceptron": "book/glossary.html#term-perceptron",
    "overfitting": "book/words.html#memorisation-random-labels-storage-capacity",
    "MNIST": "book/09_3_depth.html#larger-pictures",
    "perceptron learning rule": "book/01_binary_perceptron.html",
    "does SAM help": "book/words.html#sharpness-aware-minimisation-sam",
    "how do I measure the flatness of my network": "book/recipes.html#your-own-network",
    "energy barrier": "book/glossary.html#term-barrier",
    "linear mode connectivity": "book/words.html#mode-connectivity-loss-landscape",
    "focusing BP": "book/glossary.html#term-focusing-belief-propagation-fBP",
    "cavity method": "book/glossary.html#term-cavity",
    "Edwards-Anderson": (
        "book/foundations_1_logarithm.html#why-the-logarithm-and-what-the-trick-assumes"
    ),
    "spin glass": "book/glossary.html#term-de-Almeida-Thouless-line",
    "storage capacity 0.833": "book/01_2_capacity.html#what-we-learned",
}


@pytest.fixture(scope="module")
def page(browser, html):
    """Open the search as a file, where nothing can be fetched."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{html.as_uri()}/search.html")
    yield page
    page.close()


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_looked_for_comes_first(page, query):
    found = page.evaluate("query => wfmFind(query)", query)
    assert QUERIES[query] in [address for _, address, _ in found[:3]], found[:5]


def test_install_is_found(page, html):
    found = [address for _, address, _ in page.evaluate("wfmFind('install')")]
    assert found
    if (html / "book" / "run.html").exists():
        assert found[0].startswith("book/run.html")


def test_hits_have_headings_pages_and_marked_text(browser, html):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    unwritten(page)
    page.goto(f"{html.as_uri()}/book/index.html")
    page.goto(f"{html.as_uri()}/search.html?q=complexity+of+%CE%B1_c")
    first = page.locator("#wfm-places > li").first
    assert "places for “complexity of α_c”" in page.locator("#wfm-found").inner_text()
    assert first.locator("a").inner_text()
    assert first.locator("mark").count() >= 1
    shown = page.locator("#wfm-places").inner_text()
    assert "\\" not in shown
    assert "$" not in shown
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    first.locator("a").click()
    page.wait_for_url("**/book/**")
    assert page.locator("article h1").count() == 1
    page.close()


def test_the_dialog_of_a_page_leads_to_the_search(browser, html):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    unwritten(page)
    page.goto(f"{html.as_uri()}/book/06_margins.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("dropout")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=dropout")
    assert page.locator("#wfm-places > li a").first.inner_text() == "Dropout"
    page.close()


def test_nothing_found_is_said(page, html):
    page.goto(f"{html.as_uri()}/search.html?q=zzqqxx")
    assert page.locator("#wfm-found").inner_text() == "Nothing in the book answers “zzqqxx”."
    assert page.locator("#wfm-places > li").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_hits_are_accessible(page, html, theme):
    page.goto(f"{html.as_uri()}/search.html?q=margin")
    page.add_style_tag(content="* { transition: none !important; }")
    page.evaluate("one => { document.documentElement.dataset.theme = one; }", theme)
    assert not Axe().run(page).response["violations"]
