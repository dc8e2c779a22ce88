"""Files of compiled kernels with a checksum, in a cache whose trouble never stops a calculation.

numba unpickles what it finds, so that a flipped bit ends in a traceback, or in other machine code.
Here a SHA-256 follows the contents of each file; a file without the right one counts as missing,
and its kernel is compiled anew. Where a kernel cannot be kept, since the disk is full, say, it is
used all the same. The files stay such that numba by itself can read them.

This changes classes of numba that are none of its public interface. Where a version has others,
its cache is left as it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from pathlib import Path

DIGEST = 32  # bytes
# Of a folder that was named to numba: its class, by its name now and in numba 0.60.
LOCATORS = "UserProvidedCacheLocator", "_UserProvidedCacheLocator"


def make_careful(caching):
    """Change numba's cache.

    Parameters
    ----------
    caching : module
        ``numba.core.caching``.
    """
    locator = next((vars(caching)[name] for name in LOCATORS if hasattr(caching, name)), None)
    names = ("IndexDataCacheFile", "Cache", "CacheImpl")
    if locator is None or not all(hasattr(caching, name) for name in names):
        return
    caching.IndexDataCacheFile = _checked(caching.IndexDataCacheFile)
    caching.Cache._guard_against_spurious_io_errors = lambda cache: contextlib.suppress(OSError)
    caching.CacheImpl._locator_classes.insert(1, _nowhere(locator))


def _checked(files):
    """Return the class of a kernel's files, with checksums."""

    class CheckedFile(files):
        @contextlib.contextmanager
        def _open_for_write(self, path):
            with super()._open_for_write(path) as file:
                held = io.BytesIO()
                yield held
                content = held.getvalue()
                file.write(content + hashlib.sha256(content).digest())

        def _load_index(self):
            return super()._load_index() if _is_whole(self._index_path) else {}

        def _load_data(self, name):
            if not _is_whole(self._data_path(name)):
                raise OSError("damaged")  # which numba takes for a file that is not there
            return super()._load_data(name)

    return CheckedFile


def _is_whole(path):
    """Say whether a file is there, and as it was written."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-DIGEST]).digest() == content[-DIGEST:]


def _nowhere(locator):
    """Return the class of a place for files where no folder can be made; nothing is found there.

    Without any place numba would refuse to import the kernel.
    """

    class Nowhere(locator):
        @classmethod
        def from_function(cls, function, file):
            return cls(function, file) if os.path.exists(file) else None

    return Nowhere
