"""Universal functions that are compiled when they are first used, not when they are imported.

numba's `vectorize` takes a tenth of a second for each signature, also where the kernel itself is
in its cache: it links the loop over arrays anew in every process.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import njit, vectorize
from numba.core.registry import cpu_target

PLAIN = (float, int, np.ndarray, list, tuple)  # what is not asked for a way of its own


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
        takes the place of the universal function, of whose own loop LLVM makes no vectors and
        which is long to compile, where the only argument is a number or a plain array; and
        kernels, which may call `function` of numbers only, compile it by itself.
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
        if self._loop is None and not options and all(isinstance(x, float) for x in args):
            return self.__wrapped__(*args)
        if self._loop is not None and len(args) == 1 and not options:
            (x,) = args
            if type(x) in PLAIN or isinstance(x, np.generic):
                array = np.asarray(x)
                if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
                    array = array.astype(np.float64, order="C", copy=False)
                    out = np.empty_like(array)
                    self._loop(array.reshape(-1), out.reshape(-1))
                    return out[()]  # a number for a number
            # masks compare NaN, and drop what overflowed: neither is news for the caller
            with np.errstate(invalid="ignore", over="ignore"):
                return self.compiled(x)
        return self.compiled(*args, **options)

    def __getattr__(self, name):  # reduce, outer, nin, ...
        if name.startswith("_"):
            raise AttributeError(f"{self.__qualname__} has no attribute {name!r}")
        return getattr(self.compiled, name)

    @functools.cached_property
    def _kernel(self):
        """What kernels call."""
        if self._loop is None:
            return self.compiled
        return njit(cache=True, nogil=True, error_model="numpy")(self.__wrapped__)

    @property
    def _numba_type_(self):  # what numba asks of a name that it meets in a kernel
        return cpu_target.typing_context.resolve_value_type(self._kernel)

    def __reduce__(self):  # its module and name: nothing else travels to another process
        return self.__qualname__


def universal(signature, loop=None):
    """Return a decorator that makes a `Universal`."""
    return functools.partial(Universal, signature=signature, loop=loop)
