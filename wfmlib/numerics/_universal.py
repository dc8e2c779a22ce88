"""Universal functions that are compiled when they are first used, not when they are imported.

numba's `vectorize` takes a tenth of a second for each signature, also where the kernel itself is
in its cache: it links the loop over arrays anew in every process.
"""

from __future__ import annotations

import functools

import numpy as np
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
    loop : callable, optional
        Kernel ``loop(x, out)`` that sets ``out[i] = function(x[i])`` for arrays of shape (n,). It
        takes the place of the universal function's own loop, of which LLVM makes no vectors,
        where the argument is one array of float64 in C order.
    """

    def __init__(self, function, signature, loop=None):
        functools.update_wrapper(self, function)
        self._signature = signature
        self._loop = loop

    @functools.cached_property
    def compiled(self):
        """The NumPy universal function."""
        return vectorize([self._signature], cache=True)(self.__wrapped__)

    def __call__(self, *args, **options):
        """Return the function's values, as a NumPy universal function does."""
        if self._loop is not None and len(args) == 1 and not options:
            (x,) = args
            plain = type(x) is np.ndarray and x.dtype == np.float64 and x.flags.c_contiguous
            if plain and x.ndim > 0:
                out = np.empty_like(x)
                self._loop(x.reshape(-1), out.reshape(-1))
                return out
            # masks compare NaN, and drop what overflowed: neither is news for the caller
            with np.errstate(invalid="ignore", over="ignore"):
                return self.compiled(x)
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


def universal(signature, loop=None):
    """Return a decorator that makes a `Universal`."""
    return functools.partial(Universal, signature=signature, loop=loop)
