"""Where numba keeps compiled kernels: a folder named after a hash of the package.

numba notices an edit of the file that holds a kernel, but not of another file that the kernel
calls into. A folder per state of the sources can never serve a stale kernel; those of older
states go after a month. Kernels of other packages in the same process are kept there, too. A
folder that the user chose with NUMBA_CACHE_DIR is left alone. Where the user's cache cannot be
written to, kernels are kept as long as the process lives: numba would refuse to import them.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

MONTH = 30 * 86400  # seconds


def sources_hash() -> str:
    """Return 16 hexadecimal digits that change with any Python source of the package."""
    root = Path(__file__).parent
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


def usable_folder() -> Path:
    """Return the default folder, or a temporary one where that cannot be written to."""
    try:
        folder = default_folder()
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        forget_old(folder)
    except (OSError, RuntimeError):  # a home that is read-only, or that nobody knows of
        folder = Path(tempfile.mkdtemp(prefix="wfmlib-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


if not os.environ.get("NUMBA_CACHE_DIR"):
    os.environ["NUMBA_CACHE_DIR"] = str(usable_folder())
    if "numba" in sys.modules:  # imported before us: it has read its settings already
        sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
