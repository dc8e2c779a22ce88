"""Plain Python in place of compiler instructions, where numba is told not to compile."""

from __future__ import annotations

import functools

from numba import config


def plain(body):
    """Return a decorator of an intrinsic: with ``NUMBA_DISABLE_JIT=1``, `body` is the function."""

    def decorate(intrinsic):
        if not config.DISABLE_JIT:
            return intrinsic
        return functools.update_wrapper(lambda *arguments: body(*arguments), intrinsic)

    return decorate
