"""Where the files are: a folder that the user names, the cache, or else the official address.

The folder and the cache have the same layout: ``fashion-mnist``, ``mnist`` and
``cifar-10-batches-bin``, with the official names. A file is read only after its size and its
SHA-256 have been checked. One in the user's folder is never touched; one in the cache that turns
out to be damaged is removed.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from wfmlib.datasets import sources
from wfmlib.datasets.errors import DamagedDataError, MissingDataError

VARIABLE = "WFMLIB_DATA"  # of the environment: the folder of the official files
SUMS = "SHA256SUMS"  # digests of what an archive held, beside it in the cache


def data_folder():
    """Return the folder that the environment's ``WFMLIB_DATA`` names, or None.

    Raises
    ------
    MissingDataError
        If it names one that is not there.
    """
    chosen = os.environ.get(VARIABLE)
    if not chosen:
        return None
    folder = Path(chosen)
    if not folder.is_dir():
        raise MissingDataError(f"{VARIABLE} must name a folder, got {chosen!r}, which is none")
    return folder


def cache_folder():
    """Return the folder of the downloaded files, below the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "wfmlib" / "data"


def find(file):
    """Say where a file is.

    Returns
    -------
    path : pathlib.Path or None
        None where it is not here. It has not been checked.
    origin : str
        ``"folder"``, ``"cache"``, or ``"not here"``.
    """
    for base, origin in ((data_folder(), "folder"), (cache_folder(), "cache")):
        if base is not None and (path := base / file.folder / file.name).exists():
            return path, origin
    return None, "not here"


def load(source, file):
    """Return what a file holds; it is downloaded if it is not here.

    Parameters
    ----------
    source : sources.Source
        The data set.
    file : sources.File
        One of its files.

    Raises
    ------
    DamagedDataError
        If the file is not the official one; the message names it and says what is wrong. A
        damaged file in the cache has then been removed.
    MissingDataError
        If it is not here and cannot be downloaded; the message says where to put it.
    """
    path, origin = find(file)
    if path is None:
        from wfmlib.datasets import download  # rarely needed

        download.get(source, file)
        path, origin = cache_folder() / file.folder / file.name, "cache"
    try:
        return file.parse(contents(path, file), str(path))
    except DamagedDataError as error:
        if not path.is_file():
            raise
        if origin == "folder":
            raise DamagedDataError(
                f"{error}. Put the official file there, or unset {VARIABLE}"
            ) from None
        path.unlink(missing_ok=True)  # another process may have done it
        raise DamagedDataError(
            f"{error}. It has been removed from the cache; the next call downloads it again"
        ) from None


def contents(path, file):
    """Return the bytes of a file after checking its size and its SHA-256.

    Raises
    ------
    DamagedDataError
        If it is not the official one.
    """
    if not path.is_file():
        raise DamagedDataError(f"{path} is not a file")
    size = path.stat().st_size
    if size == file.size:  # or it might be huge
        data = path.read_bytes()
        wanted = file.sha256 or noted(path)
        if wanted in (None, hashlib.sha256(data).hexdigest()):
            return data
    raise DamagedDataError(f"{path} {complaint(path, file)}")


def check(path, file):
    """Check size and SHA-256 of a file of any size, without reading it into memory at once.

    Raises
    ------
    DamagedDataError
        If it is not the official one; the message starts with what is wrong.
    """
    if path.stat().st_size != file.size or (file.sha256 and digest(path) != file.sha256):
        raise DamagedDataError(complaint(path, file))


def complaint(path, file):
    """Say what is wrong with a file that is not the official one."""
    size = path.stat().st_size
    if size < file.size:
        wrong = f"has {size} bytes of {file.size}: it is truncated, or another file"
    elif size > file.size:
        wrong = f"has {size} bytes instead of {file.size}: it is too large, or another file"
    else:
        wrong = "has the right size, but not the SHA-256 of the official file: it is corrupted"
    twins = [
        one
        for source in sources.SOURCES.values()
        for one in source.files
        if one.size == size and one.sha256
    ]
    if twins:
        found = digest(path)
        for twin in twins:
            if twin.sha256 == found:
                return f"is another file: {twin.label}"
    with path.open("rb") as opened:
        begins = opened.read(64).lstrip()
    return wrong + (" (it begins like a web page)" if begins.startswith(b"<") else "")


def digest(path):
    """Return the SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def noted(path):
    """Return the SHA-256 that was noted when a file was unpacked, None where there is no note.

    In the cache we wrote the notes, of all files of a folder: where one is missing there, or
    cannot be read, they are damaged, and what is returned is no SHA-256.
    """
    missing = "" if path.parent.parent == cache_folder() else None
    try:
        lines = (path.parent / SUMS).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return missing
    except OSError:  # somebody put the file there
        return None
    return next((line[:64] for line in lines if line[66:] == path.name), missing)
