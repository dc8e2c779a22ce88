"""How a call is judged."""

from __future__ import annotations

import copy
import time
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from hypothesis.strategies import SearchStrategy

from wfmlib import learning
from wfmlib.numerics.solvers import NotConverged

LONGEST = 120.0  # processor seconds of one call
LARGEST = 2**28  # bytes that Python and NumPy may hold at once for one call


@dataclass(frozen=True)
class Target:
    """A question to the package.

    Attributes
    ----------
    call : callable
        The public function, or several of them asked for the same.
    arguments : SearchStrategy
        Its arguments by name.
    check : callable
        Called with the answer and the arguments by name; an AssertionError says what is wrong.
    of : tuple of callable
        The public functions that it stands for, if `call` is none itself.
    """

    call: Callable
    arguments: SearchStrategy
    check: Callable
    of: tuple = ()

    @property
    def functions(self):
        """The public functions that are attacked."""
        return self.of or (self.call,)

    @property
    def name(self):
        """The functions, as one writes them."""
        return " + ".join(
            f"{one.__module__.split('.')[-1]}.{one.__name__}" for one in self.functions
        )


def judge(target, arguments):
    """Call a target; return what came of it, in a word, and the processor time.

    Raises
    ------
    AssertionError
        If the answer cannot be right.
    Exception
        Whatever else came than an answer, `NotConverged` or a refusal that names an argument.
    """
    kept, began = copy.deepcopy(arguments), time.process_time()
    try:
        with warnings.catch_warnings(), limited():
            warnings.simplefilter("error")
            for expected in (learning.NoSolution, learning.NotSettled):
                warnings.simplefilter("ignore", expected)
            warnings.filterwarnings("ignore", "(?s).*NaN there", RuntimeWarning)  # with the reason
            found = target.call(**arguments)
    except NotConverged:
        outcome = "not converged"
    except (TypeError, ValueError) as error:
        if not any(name in str(error) for name in arguments) or "must" not in str(error):
            raise
        outcome = "refused"
    else:
        target.check(found, **kept)
        outcome = "answered"
    seconds = time.process_time() - began
    assert seconds < LONGEST, f"it took {seconds:.0f} s"
    for name, value in kept.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, arguments[name], equal_nan=True), f"{name} was changed"
    return outcome, seconds


@contextmanager
def limited():
    """Hold that what is done here takes no more memory than a call may; kernels' own aside."""
    tracemalloc.start()
    try:
        yield
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < LARGEST, f"it held {held / 2**20:.0f} MiB"


def between(name, value, low, high):
    """Hold that numbers are in a range; NaN is in none."""
    assert np.all((np.asarray(value) >= low) & (np.asarray(value) <= high)), f"{name} = {value}"
