"""Downloads end: a server that stalls, drips or sends without end is given up, and told so."""

from __future__ import annotations

import io
import re
import socket
import threading
import time
from types import SimpleNamespace

import pytest
import requests

from wfmlib.book.experiments import NotFetchedError
from wfmlib.datasets import DamagedDataError, MissingDataError, download, sources, transfer
from wfmlib.datasets.transfer import BrokenDownloadError, TooLargeError, Writer
from wfmlib.runs import site

HEAD = b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture
def server(monkeypatch):
    """Run a server whose conversation a test chooses; return its address.

    `parts` are sent one after the other, with a pause before each but the first.
    """
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    told = SimpleNamespace(parts=[], pause=0.0, ended=threading.Event())
    listening = socket.create_server(("127.0.0.1", 0))
    told.url = f"http://127.0.0.1:{listening.getsockname()[1]}/file.gz"

    def talk(connection):
        try:
            connection.recv(4096)
            for part in told.parts:
                connection.sendall(part)
                if told.ended.wait(told.pause):
                    return
            if told.pause:
                told.ended.wait(10)
        except OSError:
            told.refused = True  # the client has hung up
        finally:
            connection.close()

    def serve():
        while not told.ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield told
    told.ended.set()
    listening.close()


def fetch(server, seconds=10.0, most=1000):
    """Fetch what the server gives; return the bytes, or the error and how long it took."""
    held = io.BytesIO()
    start = time.monotonic()
    try:
        transfer.fetch(server.url, Writer(held, most), seconds)
    except (BrokenDownloadError, TooLargeError) as error:
        return error, time.monotonic() - start
    return held.getvalue()


def test_what_comes_whole_is_written(server):
    server.parts = [HEAD, bytes(400), bytes(600)]
    assert fetch(server) == bytes(1000)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([HEAD, b"abc"], "stalled: nothing came for 0.2 s"),
        ([HEAD], "stalled: nothing came for 0.2 s"),
        ([b"HTTP/1.0 200"], "stalled: nothing came for 0.2 s"),
        ([b""], "stalled: nothing came for 0.2 s"),
    ],
    ids=["in the body", "before the body", "in the head", "before the head"],
)
def test_a_stall_is_called_a_stall(server, monkeypatch, parts, said):
    monkeypatch.setattr(transfer, "STALL", 0.2)
    server.parts, server.pause = parts, 1e-3
    error, took = fetch(server)
    assert str(error) == said
    assert took < 5.0


@pytest.mark.parametrize("head", [HEAD, b"HTTP/1.0 200 OK\r\nX: "], ids=["body", "head"])
def test_a_server_that_drips_is_given_up(server, head):
    """Each byte comes in time: only a limit on the whole ends it."""
    server.parts, server.pause = [head, *[b"x"] * 1000], 0.02
    error, took = fetch(server, seconds=0.4)
    assert str(error).startswith("is too slow: ")
    assert "bytes came in 0.4 s, and it was given up" in str(error)
    assert took < 5.0


def test_the_thread_of_a_download_that_was_given_up_ends(server):
    before = threading.active_count()
    server.parts, server.pause = [HEAD, *[b"x"] * 1000], 0.02
    fetch(server, seconds=0.2)
    server.ended.set()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.02)
    assert threading.active_count() <= before


def test_more_than_there_may_be_is_refused(server):
    server.parts = [b"HTTP/1.0 200 OK\r\n\r\n", bytes(100_000)]
    error, _ = fetch(server)
    assert isinstance(error, TooLargeError)


def test_what_breaks_off_is_told(server):
    server.parts = [HEAD, b"abc"]
    error, _ = fetch(server)
    assert str(error).startswith("broke off after ")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (requests.ConnectTimeout(), r"cannot be reached \(no answer within \S+ s\)"),
        (requests.exceptions.SSLError(), r"cannot be reached \(its certificate is not accepted\)"),
        (requests.ConnectionError(), r"cannot be reached \(no connection\)"),
        (requests.TooManyRedirects(), r"cannot be reached \(TooManyRedirects\)"),
    ],
)
def test_why_an_address_cannot_be_reached(monkeypatch, server, error, said):
    def get(*_, **__):
        raise error

    monkeypatch.setattr(requests, "get", get)
    found, _ = fetch(server)
    assert isinstance(found, BrokenDownloadError)
    assert re.fullmatch(said, str(found))


def test_nothing_is_written_after_a_download_was_given_up():
    opened = io.BytesIO()
    writer = Writer(opened, 10)
    writer.write(b"abc")
    writer.given_up = True
    with pytest.raises(BrokenDownloadError):
        writer.write(b"def")
    assert opened.getvalue() == b"abc"


def test_patience_grows_with_the_file():
    assert transfer.patience(0) == transfer.AT_LEAST
    assert transfer.patience(sources.CIFAR10.archive.size) < 3 * 3600.0


def test_data_sets_say_it(server, monkeypatch, tmp_path):
    monkeypatch.delenv("WFMLIB_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(transfer, "patience", lambda size: 0.3)
    file = sources.File("mnist", "file.gz", 1000, "0" * 64, server.url)
    source = SimpleNamespace(archive=None)
    server.parts, server.pause = [HEAD, *[b"x"] * 1000], 0.02
    with pytest.raises(
        MissingDataError, match=r"mnist/file.gz is not here, and \S+ is too slow: "
    ):
        download.get(source, file)
    server.parts, server.pause = [b"HTTP/1.0 200 OK\r\n\r\n", bytes(100_000)], 0.0
    with pytest.raises(DamagedDataError, match="more than the 1000 bytes of the official file"):
        download.get(source, file)
    assert not list(tmp_path.rglob("*.*"))


def test_the_site_says_it(server, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("WFMLIB_SITE", server.url.rpartition("/")[0])
    monkeypatch.setattr(site, "_carried", lambda: {"files": {"toy.nc": "0" * 64}})
    monkeypatch.setattr(site, "LIMIT", 0.3)
    monkeypatch.setattr(site, "LARGEST", 2000)
    server.parts, server.pause = [HEAD, *[b"x"] * 1000], 0.02
    with pytest.raises(NotFetchedError, match=r"toy\.nc is not here, and \S+ is too slow: "):
        site.fetch("toy")
    monkeypatch.setattr(site, "LIMIT", 10.0)
    monkeypatch.setattr(transfer, "STALL", 0.2)
    server.parts = [HEAD]
    with pytest.raises(NotFetchedError, match=r"\S+ stalled: nothing came for 0\.2 s"):
        site.fetch("toy")
    server.parts, server.pause = [b"HTTP/1.0 200 OK\r\n\r\n", bytes(100_000)], 0.0
    with pytest.raises(NotFetchedError, match="has more than 2000 bytes, and was given up"):
        site.fetch("toy")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
