"""A page with a figure that computes loads the kernels; the others do not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tools import assets, live, policy, wasm
from tools.notebooks import ROOT

CONF = """
import sys
sys.path[:0] = [{root!r}, {tools!r}]
extensions = ["live", "policy"]
html_static_path = [{static!r}]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Four pages, three of them with the data of such a figure, made by Sphinx."""
    folder = tmp_path_factory.mktemp("pages")
    given = {"root": str(ROOT), "tools": str(ROOT / "tools")}
    conf = CONF.format(**given, static=str(ROOT / "book" / "_static"))
    (folder / "conf.py").write_text(conf)
    toc = ".. toctree::\n\n   computing\n   running\n   following\n"
    (folder / "index.rst").write_text(f"Plain\n=====\n\n{toc}")
    kinds = [("Computing", live.MARK, "typical"), ("Running", policy.RUNNING[0], "instance")]
    kinds.append(("Following", live.FOLLOWED, "replicas"))
    for name, kind, group in kinds:
        data = f'<script type="application/json" data-kernels="{group}" {kind}>{{}}</script>'
        text = f"{name}\n=========\n\n.. raw:: html\n\n   {data}\n"
        (folder / f"{name.lower()}.rst").write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(folder), str(folder / "html")]
    subprocess.run(command, check=True)
    return folder / "html"


def test_a_page_loads_the_kernels_if_it_computes(site):
    plain, computing = ((site / f"{name}.html").read_text() for name in ("index", "computing"))
    for script in (*live.COMPUTE, "live.js"):
        assert f"_static/live/{script}" in computing
        assert f"_static/live/{script}" not in plain
        assert (site / "_static" / "live" / script).exists()
    assert policy.COMPILING in computing
    assert policy.COMPILING not in plain


def test_a_page_that_runs_algorithms_loads_their_script(site):
    running = (site / "running.html").read_text()
    for script in ("kernels-instance.js", *live.COMPUTE, "instance.js"):
        assert f"_static/live/{script}" in running
        assert (site / "_static" / "live" / script).exists()
    assert "_static/live/instance.js" not in (site / "computing.html").read_text()
    assert "worker-src blob:" in running


def test_a_page_whose_curves_are_followed_loads_what_they_share(site):
    following = (site / "following.html").read_text()
    places = [following.index(f"_static/live/{one}") for one in ("live.js", "follow.js")]
    assert places == sorted(places)  # the second takes from the first
    assert "_static/live/kernels-replicas.js" in following
    assert "worker-src blob:" in following
    assert "_static/live/follow.js" not in (site / "computing.html").read_text()


def test_the_kernels_are_not_joined_with_what_every_page_loads():
    parts = assets.Parts()
    tags = '<script defer="defer" src="../_static/live/kernels-typical.js?v=1"></script>'
    assert parts.take(tags) == tags
    assert not parts.scripts


def test_the_kernels_are_those_that_were_compiled(site):
    assert (site / "_static" / "live" / "doors.js").read_text() == live.table()
    for group in wasm.EXPORTS:
        made = (wasm.make() / f"kernels-{group}.js").read_bytes()
        assert (site / "_static" / "live" / f"kernels-{group}.js").read_bytes() == made


def test_a_page_holds_less_than_300_kb_of_kernels():
    for group in wasm.EXPORTS:
        page = f'<script data-kernels="{group}" {live.MARK}></script>'
        kernels = [name for name in live.loaded(page) if name.startswith("kernels-")]
        assert sum((wasm.make() / name).stat().st_size for name in kernels) < 300_000
