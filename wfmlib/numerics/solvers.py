"""Solvers that report: a scalar root, an accelerated fixed point, continuation along a parameter.

A solver that does not reach its tolerance raises `NotConverged`, which carries the report and the
last state; a sweep may ask for NaN and a flag instead. No solver here returns a wrong number in
silence: whether something has converged is computed from what is left of its equations, in
`accepted`, and what is counted stays below its bound, in `bounded`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Finite, NotNegative, Positive
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Array

__all__ = [
    "NoZero",
    "NotConverged",
    "Report",
    "continuation",
    "first_root",
    "fixed_point",
]


def __dir__():
    return __all__


ACCURACY = 1e-6  # of a function at its zero: at a jump or a pole its sign changes too
EXCESS = 1e-8  # by which rounding may lift an entropy above its bound


@dataclass(frozen=True)
class Report:
    """How a solver ended.

    Attributes
    ----------
    converged : bool
        Whether the tolerance was reached.
    residual : float
        What is left of the equation at the last state, in the unit of the equation.
    iterations : int
        How often the equation was evaluated.
    message : str
        The same in words.

    Examples
    --------
    >>> Report(True, 1e-13, 7, 'fixed point').iterations
    7
    """

    converged: bool
    residual: float
    iterations: int
    message: str


class NotConverged(RuntimeError):
    """A solver stopped short of its tolerance.

    Attributes
    ----------
    report : Report
        How it ended; `residual` is its residual.
    state : float or ndarray or None
        Where it ended.

    Examples
    --------
    >>> try:
    ...     first_root(lambda x: 1.0 + x * x, 0.0, 2.0)
    ... except NotConverged as failure:
    ...     print(failure.residual)
    5.0
    """

    def __init__(self, report: Report, state: object | None = None) -> None:
        super().__init__(report.message)
        self.report = report
        self.state = state

    @property
    def residual(self) -> float:
        """What is left of the equation at `state`."""
        return self.report.residual

    def __reduce__(self):  # an exception is rebuilt from its arguments: keep ours across processes
        return type(self), (self.report, self.state)


class NoZero(NotConverged):
    """A function keeps its sign where a zero was looked for: there is none, or two as one.

    Examples
    --------
    >>> try:
    ...     first_root(lambda x: 1.0 + x * x, 0.0, 2.0)
    ... except NoZero as failure:
    ...     print(failure)
    no change of sign from 0 to 2
    """


def accepted(
    residual: float, tolerance: float, iterations: int, message: str, state: object | None = None
) -> Report:
    """Return the report of a state, if what is left of its equations is within the tolerance.

    Whoever claims to have converged says so through this function.

    Parameters
    ----------
    residual, tolerance : float
        What is left, 0 for a closed form, and how much of it is accepted.
    iterations : int
    message : str
        How the solver ended, if it is accepted.
    state : object
        For the exception.

    Returns
    -------
    Report

    Raises
    ------
    NotConverged
        If the residual exceeds the tolerance, or is NaN.
    """
    residual = float(residual)
    converged = residual <= tolerance  # NaN is not
    if not converged:
        message = f"{message}, but the residual is {residual:.3g}, above {tolerance:.3g}"
        raise NotConverged(Report(False, residual, iterations, message), state)
    return Report(converged, residual, iterations, message)


def bounded(name: str, value: float, bound: float, report: Report | None = None) -> float:
    """Return an entropy, if it does not exceed its bound by more than rounding.

    Parameters
    ----------
    name : str
        Of the entropy, for the message.
    value, bound : float
    report : Report, optional
        Of the state that it belongs to.

    Returns
    -------
    float
        `value`.

    Raises
    ------
    NotConverged
        If the value exceeds the bound by more than 1e-8, or is NaN: the state describes nothing.
    """
    if value <= bound + EXCESS:
        return value
    message = f"the {name} found, {value:.10g}, exceeds its bound, {bound:.10g}"
    iterations = 0 if report is None else report.iterations
    raise NotConverged(Report(False, float(value - bound), iterations, message))


@arguments.checked
def first_root(
    function: Callable[..., Any],
    start: Finite,
    limit: Finite,
    *,
    step: Positive = 1.0,
    tolerance: Positive = 1e-14,
    accuracy: Positive = ACCURACY,
) -> tuple[float, Report]:
    """Find the zero of a scalar function that is met first on the way from `start` to `limit`.

    The walk leaves `start` by `step` and lengthens its stride by half each time; the first change
    of sign is then closed in upon by Chandrupatla's method (Adv. Eng. Softw. 28, 145 (1997)), a
    variant of Brent's with fewer evaluations, and without a third of a second that the import of
    `scipy.optimize` takes in a fresh process. Two zeros within
    one stride hide each other.

    Parameters
    ----------
    function : callable
        From float to float.
    start, limit : float
        Where the walk begins, and the last place that it tries; finite.
    step : float
        Length of the first stride, positive.
    tolerance : float
        Absolute error allowed in the zero, positive.
    accuracy : float
        Largest absolute value of the function that is accepted at the zero, positive: at a jump
        or a pole its sign changes too.

    Returns
    -------
    root : float
    report : Report
        `residual` is ``abs(function(root))``.

    Raises
    ------
    NoZero
        Where the function keeps its sign all the way; `state` is `limit`.
    NotConverged
        Where the function is NaN, or divides by zero or overflows, or where its sign changes
        without a zero.
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> root, report = first_root(lambda x: x * x - 2.0, 0.0, 2.0)
    >>> round(root, 10), report.converged
    (1.4142135624, True)
    """
    arguments.function("function", function)
    values = {}

    def remember(x):
        if x not in values:  # Brent's method asks for the two ends again
            try:
                values[x] = float(function(x))
            except ArithmeticError:  # outside of what can be resolved
                values[x] = math.nan
        return values[x]

    def within(x):
        if math.isnan(remember(x)):
            message = f"the function is NaN at {x:.6g}"
            raise NotConverged(Report(False, math.nan, len(values), message), x)
        return values[x]

    near, stride = start, math.copysign(step, limit - start)
    side = remember(near)
    while side != 0.0:
        far = near + stride
        if (limit - far) * stride <= 0.0:
            far = limit
        other = remember(far)
        if other <= 0.0 <= side or side <= 0.0 <= other:  # a product might underflow
            break
        if math.isnan(other) or math.isnan(side):
            within(far if math.isnan(other) else near)
        if far == limit:
            message = f"no change of sign from {start:.6g} to {far:.6g}"
            raise NoZero(Report(False, abs(other), len(values), message), far)
        near, side, stride = far, other, 1.5 * stride
    else:
        return near, accepted(0.0, accuracy, len(values), "the start is a root")
    root = _closed_in(within, (near, side), (far, other), tolerance)
    residual = abs(within(root))
    return root, accepted(residual, accuracy, len(values), f"root within {tolerance:g}", root)


def _closed_in(function, near, far, tolerance):
    """Return the zero between two places of opposite sign, each with its value."""
    (a, at_a), (b, at_b) = near, far
    share = at_a / (at_a - at_b)
    while True:
        best, at_best = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        least = 0.5 * (tolerance + 8.9e-16 * abs(best)) / abs(b - a)
        if at_best == 0.0 or least >= 0.5:
            return best
        if not 0.0 < share < 1.0:  # NaN, where a value is infinite
            share = 0.5
        x = a + min(max(share, least), 1.0 - least) * (b - a)
        at_x = function(x)
        if (at_x > 0.0) == (at_a > 0.0):
            c, at_c = a, at_a
        else:
            b, at_b, c, at_c = a, at_a, b, at_b
        a, at_a = x, at_x
        # inverse quadratic interpolation, where it is monotonic between a and b
        reach, rise = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        share = 0.5
        if rise * rise < reach and (1.0 - rise) ** 2 < 1.0 - reach:
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)


def increasing_root(function, start, limits, step, slope=1.0, tolerance=1e-13, accuracy=1e-6):
    """Find the zero of an increasing function, close to a guess if there is one.

    The secant method, from `start`; where that fails, or `start` is None, the first zero on the
    way from it (or 0) to the limit on its side.

    Parameters
    ----------
    function : callable
        From float to float, increasing.
    start : float or None
    limits : (float, float)
        Where the zero is looked for.
    step : float
        Longest step, and the first one of the walk; positive.
    slope : float
        Of the function at `start`, a guess.
    tolerance : float
        Largest absolute value of the function that ends the secant method.
    accuracy : float
        Largest one that is accepted at the end, of a function that may jump.

    Returns
    -------
    float

    Raises
    ------
    NotConverged
        As `first_root`; its subclass `NoZero` with the limit on that side as `state`.
    """
    if start is not None and limits[0] < start < limits[1]:
        x, value = start, function(start)
        for _ in range(12):
            if abs(value) <= tolerance:
                return x
            move = min(max(-value / slope, -step), step)
            far = min(max(x + move, limits[0]), limits[1])
            before, value, x = value, function(far), far
            slope = (value - before) / move
            if not slope > 0.0:
                break
    else:
        start = 0.0
    limit = limits[1] if function(start) < 0.0 else limits[0]
    settings = {"tolerance": tolerance, "accuracy": max(accuracy, 10.0 * tolerance)}
    return first_root(function, start, limit, step=step, **settings)[0]


@arguments.checked
def fixed_point(
    mapping: Callable[..., Any],
    start: ArrayLike,
    *,
    tolerance: NotNegative = 1e-12,
    max_iterations: Count = 200,
    memory: Annotated[int, Ge(0)] = 5,
) -> tuple[Array, Report]:
    """Solve ``x = mapping(x)`` by Anderson's accelerated iteration.

    The next state is the combination of the last images whose residuals cancel best. Where it
    falls outside the mapping's domain (an image that is not finite), the memory is dropped and
    half of the last plain step is taken instead.

    SciPy's `scipy.optimize.anderson` solves the same normal equations without a report, warns of
    their ill-conditioning each time that it converges, and has no way back into the domain; a
    least-squares solution needs none of the three.

    Parameters
    ----------
    mapping : callable
        From an array ``(n,)`` to an array ``(n,)``.
    start : array_like, shape (n,)
        First state. Scale the unknowns so that one tolerance fits all.
    tolerance : float
        Largest component of ``mapping(x) - x`` that is accepted, not negative.
    max_iterations : int
        How many images may be computed, at least 1.
    memory : int
        How many differences are kept, not negative; 0 is the plain iteration.

    Returns
    -------
    state : ndarray, shape (n,)
    report : Report

    Raises
    ------
    NotConverged
        After `max_iterations`, or where the mapping is not finite at `start`.
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or an image has not the
        shape of its argument; the message names it.

    Examples
    --------
    >>> state, report = fixed_point(np.cos, [0.5])
    >>> state.round(10).tolist(), report.converged
    ([0.7390851332], True)
    """
    arguments.function("mapping", mapping)
    state = arguments.reals("start", start)
    if state.ndim != 1 or state.size == 0 or not np.all(np.isfinite(state)):
        raise ValueError(f"start must hold finite numbers in one row, got {start!r}")
    states, residuals = [], []
    stride, best, best_state = 1.0, np.inf, state
    for iteration in range(1, max_iterations + 1):
        try:
            image = np.asarray(mapping(state), dtype=float)
        except ArithmeticError:  # outside of its domain
            image = np.full_like(state, np.nan)
        if image.shape != state.shape:
            raise ValueError(f"mapping must return shape {state.shape}, got shape {image.shape}")
        residual = image - state
        size = float(np.max(np.abs(residual)))
        if np.isfinite(size):
            if size < best:
                best, best_state = size, state
            if size <= tolerance:
                message = f"fixed point within {tolerance:g}"
                return state, accepted(size, tolerance, iteration, message)
            states = [*states[-memory:], state] if memory else [state]
            residuals = [*residuals[-memory:], residual] if memory else [residual]
            stride = 1.0
            state = state + residual
            if len(states) > 1:
                past, images = np.array(states), np.array(residuals)
                differences = (images[1:] - images[:-1]).T
                mixture = np.linalg.lstsq(differences, residual, rcond=None)[0]
                state = state - ((past[1:] - past[:-1]).T + differences) @ mixture
        elif states:
            states, residuals, stride = states[-1:], residuals[-1:], 0.5 * stride
            state = states[0] + stride * residuals[0]
        else:
            message = "the mapping is not finite at the start"
            raise NotConverged(Report(False, np.inf, iteration, message), state)
    message = f"residual {best:.3g} after {max_iterations} iterations, above {tolerance:g}"
    raise NotConverged(Report(False, best, max_iterations, message), best_state)


@arguments.checked
def continuation(
    solve: Callable[..., Any],
    values: Iterable[Any],
    start: object,
    *,
    failed: Literal["raise", "nan"] = "raise",
    progress: bool | None = False,
) -> tuple[Array, Array, Array]:
    """Follow a solution along a parameter, each one the start of the next.

    Parameters
    ----------
    solve : callable
        ``solve(value, start)`` returns the state, a float or an array of fixed shape, at `value`.
    values : iterable
        Values of the parameter, in the order in which they are visited.
    start : object
        What `solve` is given at the first value.
    failed : {"raise", "nan"}
        What to do where `solve` raises `NotConverged`, a ValueError as the value is out of range,
        or an ArithmeticError: let it pass, or leave NaN there and go on from the last good state.
    progress : bool, optional
        Show a bar, once two seconds have passed.

    Returns
    -------
    states : ndarray, shape (len(values), ...)
        NaN where not converged.
    converged : ndarray of bool, shape (len(values),)
    reasons : ndarray of str, shape (len(values),)
        Why there is NaN; empty where converged.

    Raises
    ------
    NotConverged
        Where `solve` does, unless `failed` is ``"nan"``.
    TypeError, ValueError
        If `solve` is not a function, `failed` neither of the two, or every value out of range.

    Examples
    --------
    >>> roots, *_ = continuation(lambda a, start: np.array([a**0.5]), [1.0, 4.0], None)
    >>> roots.ravel().tolist()
    [1.0, 2.0]
    """
    arguments.function("solve", solve)
    states: list[Array | None] = []
    errors: list[Exception | None] = []
    for value in progress_bar(progress, values, unit="point"):
        try:
            start = solve(value, start)
            states.append(np.asarray(start, dtype=float))
            errors.append(None)
        except (NotConverged, ValueError, ArithmeticError) as error:
            if failed == "raise":
                raise
            states.append(None)
            errors.append(error)
    first = errors[0] if errors else None
    if first is not None and all(isinstance(error, ValueError) for error in errors):
        raise first
    converged = np.array([state is not None for state in states], dtype=bool)
    shape = next((state.shape for state in states if state is not None), ())
    missing = np.full(shape, np.nan)
    rows = [missing if state is None else state for state in states]
    reasons = np.array(["" if error is None else str(error) for error in errors], dtype=str)
    return np.array(rows, dtype=float).reshape(len(rows), *shape), converged, reasons
