"""What pages may load and run: the policy that stands in each of them."""

from __future__ import annotations

import re

import pytest

from tools import policy

PLAIN = '<html><head><meta charset="utf-8"/><title>T</title></head><body>{}</body></html>'


def said(page: str) -> dict[str, list[str]]:
    """Return the policy of a page, by directive."""
    (meta,) = policy.POLICY.findall(page)
    content = re.search(r'content="([^"]*)"', meta)[1]
    return {one.split()[0]: one.split()[1:] for one in content.split("; ")}


@pytest.fixture(scope="module")
def written(html) -> dict[str, str]:
    """Return the text of all pages, those outside of the table of contents included."""
    return {
        path.relative_to(html).as_posix(): path.read_text()
        for path in html.rglob("*.html")
        if "_static" not in path.parts
    }


def test_every_page_names_what_it_runs(written):
    assert len(written) > 40
    for name, page in written.items():
        allowed = said(page)["script-src"]
        scripts = policy.inline(page)
        named = set(allowed) - {"'self'", policy.COMPILING}
        assert set(map(policy.digest, scripts)) == named, name
        assert "<script" not in page[: page.index("Content-Security-Policy")], name


def test_no_page_loosens_its_policy(written):
    for name, page in written.items():
        directives = said(page)
        assert directives["default-src"] == ["'none'"], name
        assert directives["base-uri"] == ["'none'"], name
        scripts = [one for one in directives["script-src"] if not one.startswith("'sha256-")]
        computes = any(mark in page for mark in policy.COMPUTING)
        assert scripts == ["'self'", *([policy.COMPILING] if computes else [])], name
        starts = any(mark in page for mark in policy.STARTING)
        workers = ["blob:"] if starts else None
        assert directives.get("worker-src") == workers, name


def test_no_page_has_a_handler_in_an_attribute(written):
    for name, page in written.items():
        assert policy.without_handlers(page) == page, name


def test_a_page_with_another_script_has_another_policy():
    page = policy.protected(PLAIN.format("<script>a = 1;</script>"))
    other = policy.protected(PLAIN.format("<script>a = 2;</script>"))
    assert said(page)["script-src"] != said(other)["script-src"]
    assert policy.protected(page) == page


def test_data_and_files_need_no_digest():
    inner = '<script type="application/json">{"a": 1}</script><script src="a.js"></script>'
    assert said(policy.protected(PLAIN.format(inner)))["script-src"] == ["'self'"]


def test_only_a_page_that_computes_may_compile():
    """WebAssembly, and no text as code."""
    inner = '<script type="application/json" class="wfm-live">{}</script>'
    computing = said(policy.protected(PLAIN.format(inner)))["script-src"]
    assert computing == ["'self'", "'wasm-unsafe-eval'"]
    assert said(policy.protected(PLAIN.format("")))["script-src"] == ["'self'"]


@pytest.mark.parametrize("mark", policy.RUNNING)
def test_only_a_page_that_runs_for_long_may_start_workers(mark):
    """From its own text; and it may compile."""
    inner = f'<script type="application/json" {mark}>{{}}</script>'
    running = said(policy.protected(PLAIN.format(inner)))
    assert running["worker-src"] == ["blob:"]
    assert running["script-src"] == ["'self'", "'wasm-unsafe-eval'"]
    other = '<script type="application/json" class="wfm-live">{}</script>'
    assert "worker-src" not in said(policy.protected(PLAIN.format(other)))


def test_the_digest_is_that_of_the_specification():
    """The example of Content Security Policy Level 2, section 7.17.5: a script's own bytes."""
    wanted = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    assert policy.digest("alert('Hello, world.');") == wanted


@pytest.mark.parametrize("name", ["onclick", "onload", "onmouseover"])
def test_an_unknown_handler_ends_the_build(name):
    with pytest.raises(ValueError, match=f"forbids {name}"):
        policy.protected(PLAIN.format(f'<p {name}="steal()">a</p>'))


def test_what_looks_like_a_handler_in_a_text_or_a_script_stays():
    inner = '<p title="x > y">one="1" onclick="a"</p><script>b = \'<p onclick="c()">\';</script>'
    assert inner in policy.protected(PLAIN.format(inner))
