"""Store of the image files: a folder that the user names, the cache, or the official address.

The folder and the cache have the same layout (`sources.FOLDERS`), with the official names. A file
is read only after its SHA-256 has been compared; one in the user's folder is never touched, a
damaged one in the cache is downloaded again. Batches of CIFAR-10 are read out of their archive.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from wfmlib.datasets import sources

VARIABLE = "WFMLIB_DATA"  # of the environment: the folder of the official files


def read(label):
    """Return the bytes of an official file; it is downloaded if it is not here.

    Parameters
    ----------
    label : str
        Folder and name, such as ``"mnist/t10k-labels-idx1-ubyte.gz"``.

    Raises
    ------
    FileNotFoundError
        If it is not here and cannot be downloaded; the message says where to put it.
    ValueError
        If the file that was found or downloaded is not the official one.
    """
    path = find(label)
    if path.name == label.rpartition("/")[2]:
        return path.read_bytes()
    with tarfile.open(path) as archive:
        return archive.extractfile(label).read()


def find(label):
    """Return the path of an official file, or of the archive that holds it.

    It has been downloaded if it was not here, and its SHA-256 is the official one. Parameters and
    errors are those of `read`.
    """
    import pooch  # rarely needed, and slow to import

    folder = os.environ.get(VARIABLE)
    if folder and not Path(folder).is_dir():
        raise FileNotFoundError(f"{VARIABLE} must name a folder, got {folder!r}, which is none")
    remote = sources.ARCHIVE if label in sources.BATCHES else label
    for name in dict.fromkeys((label, remote)) if folder else ():
        path = Path(folder) / name
        if not path.exists():
            continue
        expected_digest = {**sources.BATCHES, **sources.REGISTRY}[name]
        if expected_digest and pooch.file_hash(path) != expected_digest:
            raise ValueError(
                f"{path} has not the SHA-256 of the official file: it is truncated, corrupted, or "
                f"another file. Put the official file there, or unset {VARIABLE}"
            )
        return path
    address = sources.ADDRESSES[remote.partition("/")[0]] + remote.partition("/")[2]
    cache = pooch.create(
        pooch.os_cache("wfmlib") / "data",
        base_url="",
        registry=sources.REGISTRY,
        urls={remote: address},
    )
    try:
        return Path(cache.fetch(remote, progressbar=True))
    except OSError as error:  # of the network (those of requests derive from it) or of the disk
        reason = error.strerror or type(error).__name__
        raise FileNotFoundError(
            f"{remote} is not here and could not be had from {address} ({reason}). Without a "
            f"network, put the official file at {remote} in a folder and let {VARIABLE} name that "
            "folder"
        ) from error
