"""The archives on the book's site, and how they get into the user's cache.

The site carries its own wheel, and in the wheel lies ``site.json``: the address that the build of
the book was given, if any, and the SHA-256 of every archive. A checkout has no such file: its
archives lie in ``book/results``.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import logging
import os
import time
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

VARIABLE = "WFMLIB_SITE"  # of the environment: the address of the built book, or its folder
CARRIED = Path(__file__).with_name("site.json")  # put into the wheel by its build
FILES = "files/"  # of the site: the wheel, and in a folder below it the archives
ARCHIVES = FILES + "archives/"
DAY = 86400  # seconds


class NotFetchedError(FileNotFoundError):
    """An archive is not here, and cannot be had from the site; the message says why."""


def address():
    """Return the address of the book's site, which ends in a slash.

    It is the one that the environment's ``WFMLIB_SITE`` gives, which may be a folder; otherwise
    the one that the package was installed from, or else the one that the build of the book was
    given.

    Returns
    -------
    str or None
        None where nothing of all that is known.

    Raises
    ------
    ValueError
        If the environment gives neither an address of the web nor a folder that exists.
    """
    chosen = os.environ.get(VARIABLE, "").strip()
    return _as_address(chosen) if chosen else _installed_from() or _carried().get("site") or None


def _as_address(chosen):
    """Return the address that a user means."""
    text = chosen.removesuffix("index.html")
    if urlsplit(text).scheme in ("http", "https"):
        return text.rstrip("/") + "/"
    if urlsplit(text).scheme == "file":
        text = url2pathname(unquote(urlsplit(text).path))
    if not Path(text).is_dir():
        raise ValueError(
            f"{VARIABLE} must be the address of the book's site (http, https) or the folder of "
            f"its pages, got {chosen!r}, which is neither"
        )
    return Path(text).resolve().as_uri() + "/"


def _installed_from():
    """Return the site whose wheel was installed, as installers note it; None for any other."""
    try:
        noted = importlib.metadata.distribution("wfmlib").read_text("direct_url.json")
        url = json.loads(noted or "{}").get("url", "")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None
    site, _, file = url.rpartition("/" + FILES)
    return site + "/" if file.endswith(".whl") and site else None


@cache
def _carried():
    """Return what the wheel knows of the site; nothing in a checkout."""
    try:
        return json.loads(CARRIED.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def known():
    """Return the SHA-256 of every file of an archive that the site has, by its name."""
    return _carried().get("files", {})


def has(name):
    """Say whether the site has the archive of an experiment."""
    return f"{name}.nc" in known()


def cache_folder():
    """Return the folder of the archives that were fetched, below the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "wfmlib" / "archives"


def cached(name):
    """Say whether the archive of an experiment is in the cache, as the site has it."""
    import pooch

    folder = cache_folder()
    return has(name) and all(
        (folder / file).exists() and pooch.file_hash(folder / file) == known()[file]
        for file in _files(name)
    )


def fetch(name):
    """Return the archive of an experiment in the user's cache, fetched if it is not there.

    Parameters
    ----------
    name : str
        Name of the experiment; the site must have its archive (`has`).

    Returns
    -------
    pathlib.Path
        The archive; its provenance lies beside it. Both have the SHA-256 that the wheel names.

    Raises
    ------
    NotFetchedError
        If one of the two cannot be had, or is another file than the wheel names.
    """
    import pooch

    if not cached(name):
        try:
            site = address()
        except ValueError as error:
            raise NotFetchedError(f"{name}.nc is not here, and {error}") from None
        if site is None:
            raise NotFetchedError(
                f"{name}.nc is not here: set {VARIABLE} to the address of the book's site, or to "
                "the folder of its pages, to fetch it from there"
            )
        _forget_old()
        keeper = pooch.create(cache_folder(), site + ARCHIVES, registry=known())
        for file in _files(name):
            _fetch(keeper, file)
    return cache_folder() / f"{name}.nc"


def _files(name):
    """Return the names of what belongs to an archive."""
    return [file for file in (f"{name}.nc", f"{name}.provenance.json") if file in known()]


def _forget_old():
    """Remove what downloads that were killed have left, not those of a process beside us."""
    for left in cache_folder().glob("tmp*"):  # as pooch has them named by `tempfile`
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > DAY:
                left.unlink()


def _fetch(keeper, file):
    """Fetch one file with pooch, and say plainly what is wrong if that fails."""
    import pooch
    from requests import RequestException

    url = keeper.get_url(file)
    local = urlsplit(url).scheme == "file"
    try:
        with _quiet():
            keeper.fetch(file, downloader=_copy if local else pooch.HTTPDownloader())
    except RequestException as error:
        why = f"cannot be had ({error})"
    except FileNotFoundError:
        why = "is not there"
    except OSError as error:
        why = f"cannot be kept in {cache_folder()} ({error.strerror or error})"
    except ValueError:  # by pooch: another SHA-256
        why = (
            "is another file than this version of wfmlib knows; install the wheel that the site "
            "has now"
        )
    else:
        return
    raise NotFetchedError(
        f"{file} is not here, and {url} {why}. {VARIABLE} may name another address of the book's "
        "site, or the folder of its pages"
    )


def _copy(url, output, _):
    """Copy a file from a folder: a downloader of pooch."""
    Path(output).write_bytes(Path(url2pathname(unquote(urlsplit(url).path))).read_bytes())


@contextlib.contextmanager
def _quiet():
    """Keep pooch from telling every file on stderr, which a page of the book would show."""
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
