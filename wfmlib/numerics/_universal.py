"""Universal functions that are compiled when they are first used, not when they are imported.

numba's `vectorize` takes a tenth of a second for each signature, also where the kernel itself is
in its cache: it links the loop over arrays anew in every process.
"""

from __future__ import annotations

import functools

from numba import vectorize
from numba.core.registry import cpu_target


class Universal:
    """A function of numbers that takes arrays too, and that kernels may call.

    Parameters
    ----------
    function : callable
        Of numbers.
    signature : str
        As numba writes it.
    """

    def __init__(self, function, signature):
        functools.update_wrapper(self, function)
        self._signature = signature

    @functools.cached_property
    def compiled(self):
        """The NumPy universal function."""
        return vectorize([self._signature], cache=True)(self.__wrapped__)

    def __call__(self, *args, **options):
        """Return the function's values, as a NumPy universal function does."""
        return self.compiled(*args, **options)

    def __getattr__(self, name):  # reduce, outer, nin, ...
        if name.startswith("_"):
            raise AttributeError(f"{self.__qualname__} has no attribute {name!r}")
        return getattr(self.compiled, name)

    @property
    def _numba_type_(self):  # what numba asks of a name that it meets in a kernel
        return cpu_target.typing_context.resolve_value_type(self.compiled)

    def __reduce__(self):  # its module and name: nothing else travels to another process
        return self.__qualname__


def universal(signature):
    """Return a decorator that makes a `Universal`."""
    return functools.partial(Universal, signature=signature)
