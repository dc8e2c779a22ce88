"""What can go wrong with a file of a data set."""

from __future__ import annotations


class DamagedDataError(ValueError):
    """A file is not the official one: truncated, too large, changed, or another file."""


class MissingDataError(FileNotFoundError):
    """A file is not here and cannot be had; the message says where to put it."""
