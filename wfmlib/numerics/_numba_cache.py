"""Where numba keeps compiled kernels: a folder named after a hash of the package.

numba notices an edit of the file that holds a kernel, but not of another file that the kernel
calls into. A folder per state of the sources can never serve a stale kernel; those of older
states go after a month. Kernels of other packages in the same process are kept there, too. A
folder that the user chose with NUMBA_CACHE_DIR is left alone.

What numba reads there it runs. So the folder must belong to the user, and nobody else may write to
it; otherwise, and where it cannot be written to, kernels are kept as long as the process lives.
Files that are damaged are compiled anew (`_numba_files`).
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

MONTH = 30 * 86400  # seconds
PROBE = 1 << 20  # bytes: on a full disk an empty file can still be made
OTHERS = stat.S_IWGRP | stat.S_IWOTH
NOWHERE = Path(os.devnull, "nowhere")  # no folder can be made there
CACHING = "numba.core.caching"
OURS = "WFMLIB_NUMBA_CACHE"  # of the environment: the folder that we chose, told to workers


def sources_hash() -> str:
    """Return 16 hexadecimal digits that change with any Python source of the package."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def default_folder() -> Path:
    """Return the cache folder of this state of the package, below the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "wfmlib" / f"numba-{sources_hash()}"


def forget_old(folder: Path) -> None:
    """Remove the siblings of a cache folder that nobody has written to for a month."""
    for other in folder.parent.glob("numba-*"):
        with contextlib.suppress(OSError):  # another process may be removing it, too
            if other != folder and time.time() - other.stat().st_mtime > MONTH:
                shutil.rmtree(other)


def make_own(folder: Path) -> None:
    """Make a folder of the cache that nobody but the user can write to.

    Raises
    ------
    PermissionError
        If it or the one above belongs to another user, or if others can replace the latter.
    OSError
        If it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not hasattr(os, "getuid"):
        return
    base = folder.parent.parent.stat()
    anyone = base.st_mode & stat.S_IWOTH and not base.st_mode & stat.S_ISVTX
    if base.st_uid not in (0, os.getuid()) or anyone:
        raise PermissionError("the user's cache belongs to another user, or to anyone")
    for one in (folder.parent, folder):
        told = one.stat()
        if told.st_uid != os.getuid():
            raise PermissionError(f"{one} belongs to another user")
        if told.st_mode & OTHERS:
            one.chmod(stat.S_IMODE(told.st_mode) & ~OTHERS)
            if one == folder:  # nobody knows who wrote what is there
                shutil.rmtree(folder)
                folder.mkdir(mode=0o700)


def probe(folder: Path) -> None:
    """Find out whether a folder can be written to, and has room.

    Raises
    ------
    OSError
        If not.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(PROBE))
        file.flush()


def usable_folder() -> Path:
    """Return the default folder, or a temporary one where that must not or cannot be used.

    Where there is no room for a temporary one either, it is one that cannot be: nothing is kept.
    """
    try:
        folder = default_folder()
        make_own(folder)
        probe(folder)
        forget_old(folder)
        return folder
    except (OSError, RuntimeError):  # a home that is read-only, or that nobody knows of
        pass
    try:
        folder = Path(tempfile.mkdtemp(prefix="wfmlib-"))
    except OSError:
        return NOWHERE
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class WhenImported:
    """Makes numba's cache careful when numba is imported: to import it here would take long."""

    def find_spec(self, name, path=None, target=None):
        """Return where the module of the cache is, to be changed once it has run."""
        if name != CACHING:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            make_careful(module)

        spec.loader.exec_module = exec_module
        return spec


def make_careful(caching) -> None:
    """Give numba's cache checksums, let it go on where a disk is full; say what is waited for."""
    from wfmlib.numerics import _numba_files, _numba_words

    _numba_files.make_careful(caching)
    _numba_words.tell(importlib.import_module("numba.core.event"))


if not os.environ.get("NUMBA_CACHE_DIR"):
    os.environ["NUMBA_CACHE_DIR"] = os.environ[OURS] = str(usable_folder())
    if "numba" in sys.modules:  # imported before us: it has read its settings already
        sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
if os.environ["NUMBA_CACHE_DIR"] == os.environ.get(OURS):
    if CACHING in sys.modules:
        make_careful(sys.modules[CACHING])
    else:
        sys.meta_path.insert(0, WhenImported())
