"""The names that modules import from here until they import them from `arguments`."""

from wfmlib.numerics.arguments import Distance, Narrower, Positive, Range, declared

__all__ = ["APART", "POSITIVE", "Narrower", "Range", "declared"]

APART, POSITIVE = Range.of(Distance), Range.of(Positive)
