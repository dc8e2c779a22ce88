"""Executed notebooks in jupyter-cache, each with its SHA-256.

jupyter-cache notes an execution before it writes it. A build that was killed in between, or had no
room left, would be told ever after that the page is done; and a bit that flips in a number would
be shown. What has not its SHA-256 counts as never executed.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import nbformat
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract


def place(cache: JupyterCacheAbstract, key: str) -> Path:
    """Return the file of an execution; jupyter-cache has no public name for it."""
    return Path(cache.path) / "executed" / key / "base.ipynb"


def keep(
    cache: JupyterCacheAbstract, notebook, uri: str, seconds: float, check_validity: bool = True
) -> None:
    """Put an executed notebook into a cache, in place of what is there.

    Raises
    ------
    jupyter_cache.base.NbValidityError
        With `check_validity`, if its cells were not executed in order.
    """
    written, key = cache.create_hashed_notebook(notebook)
    text = nbformat.writes(written, nbformat.NO_CONVERT)
    digest = hashlib.sha256(text.encode()).hexdigest()
    # What a kill left there would be in the way.
    shutil.rmtree(place(cache, key).parent, ignore_errors=True)
    data = {"execution_seconds": seconds, "sha256": digest}
    bundle = CacheBundleIn(notebook, uri, data=data)
    cache.cache_notebook_bundle(bundle, check_validity=check_validity)


def has(cache: JupyterCacheAbstract, notebook) -> bool:
    """Say whether a notebook of these cells was executed, and is whole."""
    try:
        record = cache.match_cache_notebook(notebook)
        content = place(cache, record.hashkey).read_bytes()
    except (KeyError, FileNotFoundError):
        return False
    return (record.data or {}).get("sha256") == hashlib.sha256(content).hexdigest()
