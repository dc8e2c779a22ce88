"""Official files into the cache: a file appears under its name only when it has been checked."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tarfile
import time
import zlib

from wfmlib.datasets import store, transfer
from wfmlib.datasets.errors import DamagedDataError, MissingDataError

PATIENCE = 1.0  # seconds before the bar shows
DAY = 86400  # seconds


def get(source, file):
    """Download a file of a data set into the cache; of an archive, all that it holds.

    Raises
    ------
    DamagedDataError
        If what came is not the official file.
    MissingDataError
        If it cannot be downloaded or kept; the message says where to put it.
    """
    folder = store.cache_folder() / file.folder
    remote = source.archive or file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _forget_old(folder)
        with _part(folder, remote.name) as part:
            _download(remote, part)
            try:
                store.check(part, remote)
            except DamagedDataError as error:
                raise DamagedDataError(
                    f"{remote.name}, downloaded from {remote.url}, {error}"
                ) from None
            if source.archive is None:
                os.replace(part, folder / file.name)
            else:
                _unpack(part, source, folder)
    except transfer.BrokenDownloadError as error:
        raise MissingDataError(
            f"{file.label} is not here, and {remote.url} {error}. {_where(source, file)}"
        ) from None
    except MissingDataError:
        raise
    except OSError as error:
        raise MissingDataError(
            f"{file.label} is not here, and the cache {folder} cannot keep it "
            f"({error.strerror or error}). {_where(source, file)}"
        ) from None


def _where(source, file):
    """Say where to put a file by hand."""
    chosen = store.data_folder()
    place = f"{file.label} in a folder that {store.VARIABLE} names"
    if chosen is not None:
        place = str(chosen / file.folder / file.name)
    archive = f", unpacked from {source.archive.name}," if source.archive else ""
    cached = store.cache_folder() / file.folder / file.name
    return f"Put the official file{archive} at {place}, or at {cached}"


@contextlib.contextmanager
def _part(folder, name):
    """Yield the path of a file to be written, which is removed unless it has been renamed."""
    path = folder / f"{name}-{secrets.token_hex(4)}.part"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _forget_old(folder):
    """Remove what downloads that were killed have left, not those of a process beside us."""
    for left in folder.glob("*.part"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > DAY:
                left.unlink()


def _download(remote, path):
    """Write what the address of a file gives to a path, with a bar."""
    from tqdm.auto import tqdm

    bar = tqdm(
        total=remote.size,
        desc=remote.name,
        unit="B",
        unit_scale=True,
        leave=False,
        delay=PATIENCE,
    )
    with path.open("wb") as opened, bar:
        writer = transfer.Writer(opened, remote.size, bar)
        try:
            transfer.fetch(remote.url, writer, transfer.patience(remote.size))
        except transfer.TooLargeError:
            raise DamagedDataError(
                f"{remote.name}, downloaded from {remote.url}, has more than the {remote.size} "
                "bytes of the official file; the download was given up"
            ) from None


def _unpack(path, source, folder):
    """Put the files of an archive into the cache, and their digests beside them.

    Only members with the names that we look for are read, as bytes, and they go where we say:
    whatever else an archive holds (links, devices, paths that lead elsewhere) has no effect.
    """
    wanted = {file.label: file for file in source.files}
    digests = {}
    with contextlib.ExitStack() as stack:
        parts = {}
        try:
            with tarfile.open(path, "r:gz") as archive:
                for member in archive:
                    file = wanted.get(member.name)
                    if file is None or file.name in parts:
                        continue
                    if not member.isreg() or member.size != file.size:
                        raise DamagedDataError(
                            f"{source.archive.name}: {file.label} in it has {member.size} bytes "
                            f"instead of {file.size}, or is no file"
                        )
                    data = archive.extractfile(member).read()
                    digests[file.name] = hashlib.sha256(data).hexdigest()
                    if file.sha256 not in (None, digests[file.name]):
                        raise DamagedDataError(
                            f"{source.archive.name}: {file.label} in it has not the SHA-256 of "
                            "the official file"
                        )
                    parts[file.name] = stack.enter_context(_part(folder, file.name))
                    parts[file.name].write_bytes(data)
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise DamagedDataError(f"{source.archive.name} cannot be unpacked: {error}") from None
        missing = [file.name for file in source.files if file.name not in parts]
        if missing:
            raise DamagedDataError(f"{source.archive.name} does not hold {', '.join(missing)}")
        sums = stack.enter_context(_part(folder, store.SUMS))
        sums.write_text("".join(f"{value}  {name}\n" for name, value in digests.items()))
        os.replace(sums, folder / store.SUMS)  # first: no file is ever there without its digest
        for name, part in parts.items():
            os.replace(part, folder / name)
