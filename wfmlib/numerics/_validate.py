"""The names that modules import from here until they import them from `arguments`."""

from wfmlib.numerics.arguments import (
    array,
    broadcast,
    choice,
    function,
    generator,
    integer,
    member,
    patterns,
    real,
    reals,
    signs,
    together,
)

__all__ = [
    "array",
    "broadcast",
    "choice",
    "function",
    "generator",
    "integer",
    "member",
    "patterns",
    "real",
    "reals",
    "signs",
    "together",
]
