"""Where numba keeps compiled kernels: a folder named after a hash of the package.

numba notices an edit of the file that holds a kernel, but not of another file that the kernel
calls into. A folder per state of the sources can never serve a stale kernel. A folder that the
user chose with NUMBA_CACHE_DIR is left alone.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path


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


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(default_folder())
    if "numba" in sys.modules:  # imported before us: it has read its settings already
        sys.modules["numba"].config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
