"""Archives from the book's site: fetched once, with their SHA-256, and what is said if not."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests import toy_experiment as toy
from wfmlib.book import cli, experiments
from wfmlib.book.experiments import ArchiveError, NotFetchedError, registry
from wfmlib.runs import archive, site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a built site with the archive of the toy, and what its wheel says of it."""
    pages = tmp_path_factory.mktemp("site")
    folder = pages / "files" / "archives"
    folder.mkdir(parents=True)
    path = archive.write(toy.EXPERIMENT, "paper", {}, {}, folder)
    files = {one.name: one for one in (path, archive.provenance_path(path))}
    sums = {name: hashlib.sha256(one.read_bytes()).hexdigest() for name, one in files.items()}
    return SimpleNamespace(pages=pages, path=path, carried={"site": "", "files": sums})


@pytest.fixture(autouse=True)
def places(made, tmp_path, monkeypatch):
    """Run as if installed from the wheel, in an empty folder with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("WFMLIB_RESULTS", raising=False)
    monkeypatch.delenv("WFMLIB_SITE", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(experiments.MODULES, "toy", "tests.toy_experiment")
    monkeypatch.setattr(site, "_carried", lambda: made.carried)


@pytest.fixture
def server(made):
    """Serve the site; yield its address and what was asked for."""
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, form, *args):
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=made.pages)) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield SimpleNamespace(address=f"http://127.0.0.1:{httpd.server_port}", asked=asked)
        httpd.shutdown()


def test_archive_is_fetched_once(server, made, monkeypatch, capsys):
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    assert experiments.load("toy").identical(archive.read(made.path))
    assert server.asked == [f"/files/archives/toy{end}" for end in (".nc", ".provenance.json")]
    monkeypatch.setenv("WFMLIB_SITE", "http://127.0.0.1:1")  # from here on nobody listens
    assert experiments.load("toy").identical(archive.read(made.path))
    assert experiments.find("toy").parent == site.cache_folder()
    assert experiments.fetch("toy") is None
    assert capsys.readouterr() == ("", ""), "nothing is said while all goes well"
    assert len(server.asked) == 2


@pytest.mark.parametrize("given", ["path", "uri", "relative", "page"])
def test_site_may_be_a_folder(made, monkeypatch, given):
    monkeypatch.chdir(made.pages.parent)
    named = {
        "path": str(made.pages),
        "uri": made.pages.as_uri(),
        "relative": made.pages.name,
        "page": str(made.pages / "index.html"),
    }
    monkeypatch.setenv("WFMLIB_SITE", named[given])
    assert experiments.load("toy").identical(archive.read(made.path))


def test_own_archive_comes_first(server, made, tmp_path, monkeypatch):
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "mine"))
    (tmp_path / "mine").mkdir()
    mine = archive.write(toy.EXPERIMENT, "paper", {}, {}, tmp_path / "mine")
    assert experiments.find("toy") == mine
    assert server.asked == []
    mine.unlink()
    assert experiments.find("toy").parent == site.cache_folder(), "the site has it as well"


def test_address_is_that_of_the_environment_or_of_the_wheel_or_of_the_build(made, monkeypatch):
    noted = {"url": "https://host/book/files/wfmlib-1-py3-none-any.whl"}
    told = SimpleNamespace(read_text=lambda name: json.dumps(noted))
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: told)
    monkeypatch.setitem(made.carried, "site", "https://build/")
    assert site.address() == "https://host/book/"
    monkeypatch.setenv("WFMLIB_SITE", "https://mirror/x")
    assert site.address() == "https://mirror/x/"
    monkeypatch.delenv("WFMLIB_SITE")
    for url in ("file:///home/me/dist/wfmlib-1-py3-none-any.whl", "file:///home/me/files/src"):
        noted["url"] = url  # installed from elsewhere: that is no site
        assert site.address() == "https://build/"
    monkeypatch.setitem(made.carried, "site", "")
    assert site.address() is None


def test_what_is_wrong_is_said(server, made, tmp_path, monkeypatch, capsys):
    with pytest.raises(NotFetchedError, match=r"^toy\.nc is not here: set WFMLIB_SITE to the add"):
        experiments.load("toy")
    monkeypatch.setenv("WFMLIB_SITE", "http://127.0.0.1:1")
    with pytest.raises(NotFetchedError) as caught:
        experiments.load("toy")
    said = str(caught.value)
    assert said.startswith("toy.nc is not here, and http://127.0.0.1:1/files/archives/toy.nc can")
    assert said.endswith(
        "WFMLIB_SITE may name another address of the book's site, or the folder of its pages. Or "
        "`wfm run toy --scale paper` makes it"
    )
    monkeypatch.setenv("WFMLIB_SITE", f"{server.address}/book")
    with pytest.raises(NotFetchedError, match="404 Client Error"):
        experiments.load("toy")
    monkeypatch.setenv("WFMLIB_SITE", str(tmp_path))
    with pytest.raises(NotFetchedError, match=r"file://\S+/files/archives/toy\.nc is not there"):
        experiments.load("toy")
    monkeypatch.setenv("WFMLIB_SITE", "ftp://host")
    with pytest.raises(NotFetchedError, match=r"WFMLIB_SITE must be .* got 'ftp://host', which"):
        experiments.load("toy")
    assert experiments.fetch("toy") is None, "a notebook goes on"
    assert "WFMLIB_SITE must be" in capsys.readouterr().out


def test_other_file_than_the_wheel_knows_is_refused(server, made, monkeypatch):
    sums = dict.fromkeys(made.carried["files"], "0" * 64)
    monkeypatch.setattr(site, "_carried", lambda: {"files": sums})
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    with pytest.raises(NotFetchedError, match=r"is another file than this version of wfmlib kn"):
        experiments.load("toy")
    assert not list(site.cache_folder().glob("*.nc"))


def test_damaged_file_in_the_cache_is_fetched_again(server, made, monkeypatch):
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    path = experiments.find("toy")
    path.write_bytes(path.read_bytes()[:-1])
    assert experiments.load("toy").identical(archive.read(made.path))
    assert server.asked.count("/files/archives/toy.nc") == 2


def test_cache_that_cannot_be_written_to(server, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    with pytest.raises(NotFetchedError, match=r"cannot be kept in \S+/file/wfmlib/archives"):
        experiments.load("toy")


def test_flipped_bits_in_the_cache_are_noticed(server, made, monkeypatch):
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    experiments.find("toy")
    for path in site.cache_folder().iterdir():
        content = path.read_bytes()
        for bit in np.linspace(0, 8 * len(content) - 1, 60).astype(int):
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            assert not site.cached("toy")
        path.write_bytes(content)
        assert site.cached("toy")


def test_two_downloads_at_once_make_one_archive(server, made, monkeypatch):
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(site.fetch, ["toy"] * 4))
    assert {path.read_bytes() for path in found} == {made.path.read_bytes()}


def test_what_the_site_has_not_is_not_asked_for(server, monkeypatch):
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    for options in ({"scale": "quick"}, {"folder": "."}):
        with pytest.raises(FileNotFoundError) as caught:
            experiments.load("toy", **options)
        assert not isinstance(caught.value, NotFetchedError)
    monkeypatch.setattr(site, "_carried", dict)  # a checkout
    with pytest.raises(FileNotFoundError, match="the wheel on the book's site fetches"):
        experiments.load("toy")
    assert server.asked == []


def test_commands_read_from_the_site(server, monkeypatch, capsys):
    monkeypatch.setenv("WFMLIB_SITE", server.address)
    monkeypatch.setattr(registry, "MODULES", {"toy": "tests.toy_experiment"})
    assert cli.main(["list"]) == 0
    assert "on the site" in capsys.readouterr().out
    assert server.asked == [], "to list fetches nothing"
    assert cli.main(["show", "toy"]) == 0
    assert "0 of 30, paper scale" in capsys.readouterr().out
    assert len(server.asked) == 2
    assert cli.main(["list"]) == 0
    assert "0 of 30" in capsys.readouterr().out


def test_claim_says_why_its_archive_is_missing(monkeypatch):
    monkeypatch.setenv("WFMLIB_SITE", "http://127.0.0.1:1")
    with pytest.raises(
        ArchiveError, match=r"^its archive toy\.nc is not here, and http"
    ) as caught:
        experiments.complete("toy")
    assert caught.value.absent
