"""Two instructions on a 64-bit word that numba does not offer."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from wfmlib.numerics._plain import plain


@plain(lambda word: np.uint64((int(word) & -int(word)).bit_length() - 1))
@intrinsic
def trailing_zeros(context, word):
    """Return the number of zeros below the lowest one of a uint64 that is not zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@plain(lambda word: np.uint64(int(word).bit_count()))
@intrinsic
def ones(context, word):
    """Return the number of ones in a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate
