"""The Gibbs measure of the cross-entropy in a page: at any sharpness, temperature and load."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from wfmlib.book.display.live import Later, Live, Moved, Number, Table, failure, number
from wfmlib.models.constraints.cross_entropy import CrossEntropy, Sharpness
from wfmlib.models.devices import Perceptron
from wfmlib.models.weights.binary import Binary
from wfmlib.numerics.arguments import Positive, Range, declared
from wfmlib.theory import cross_entropy, typical
from wfmlib.theory.saddles import pages_gibbs

SET = {"alpha": 7.25, "gamma": 0.125, "beta": 3e5}  # a point that is too cold
NOWHERE = 1e300  # a beta without a saddle point there


def gibbs_measure(lines: list[tuple[str, int]], load: float = 0.4, beta: float = 20.0) -> Live:
    """Return what a slider over sharpnesses of the cross-entropy computes, at any beta and load.

    Parameters
    ----------
    lines : sequence of (str, int)
        As of `Live`: rows of `pages_gibbs.curve`, or its numbers.
    load, beta : float
        Where the reader begins.
    """
    device, told = Perceptron(), {"gamma": "{value}", "beta": "{place}"}

    def point(inverse: float) -> Any:
        return typical.solve(device, SET["alpha"], CrossEntropy(SET["gamma"], inverse))

    def names(inverse: float) -> dict[str, str]:
        written = {"gamma": SET["gamma"], "beta": inverse}
        names = {f"{name}={number!r}": f"{name}={told[name]}" for name, number in written.items()}
        return names | {f"alpha = {SET['alpha']:.6g}": "alpha = {alpha:6}"}

    lost = failure(lambda: point(NOWHERE), names(NOWHERE))
    cold = failure(lambda: point(SET["beta"]), names(SET["beta"]))
    cold = re.sub(r"energy is [^,]+", "energy is {7:3}", cold)
    inexact = failure(
        lambda: cross_entropy.zero_entropy_beta(device, load, Range.of(Sharpness).low), {}
    )
    inexact = re.sub(r"residual is [^,]+", "residual is {1:3}", inexact)
    most = f"the entropy found, {{2}}, exceeds its bound, {Binary.entropy:.10g}"
    point_failures = {str(ended): lost for ended in (1, 2, 3)}
    point_failures |= {"4": cold, "5": most}
    end_failures = {"1": "no change of sign from 2 to -2", "3": inexact}
    shown = (
        "entropy s = {2}, energy e = {3}, error rate ε = {4}, overlap q = {5}, replicon = {6} "
        "(the load is met to {1:1})"
    )
    ends = {
        "gibbs_zero_entropy": ("The entropy vanishes at β = {2}.", "The entropy stays positive."),
        "gibbs_instability": (
            "Replica symmetry is stable below β = {2}.",
            "Replica symmetry stays stable.",
        ),
    }
    ranges = declared(CrossEntropy)

    def typed(label: str, range: Range, take: Callable[[Any], Any]) -> Number:
        return number(label, range, take, take)

    return Live(
        lines=lines,
        along=pages_gibbs.AXIS,
        value=typed("sharpness γ", Range.of(Sharpness), lambda given: CrossEntropy(given, 1.0)),
        place=typed("β", ranges["beta"][0], lambda given: CrossEntropy(1.0, given)),
        at="",
        shown=[],
        note=("", "", 0),
        last="",
        failed="",
        python="theory.typical.solve(Perceptron(), {alpha}, CrossEntropy({value}, {place}))",
        group="gibbs",
        more=[
            Moved(
                "place",
                typed("inverse temperature β", ranges["beta"][0], lambda b: CrossEntropy(1.0, b)),
                beta,
                (*pages_gibbs.AXIS, 0.01),
                power=True,
            ),
            Moved(
                "alpha",
                typed(
                    "load α",
                    Range.of(Positive),
                    lambda given: Range.of(Positive).check("alpha", given),
                ),
                load,
                (0.05, 1.5, 0.01),
            ),
        ],
        table=Table("gibbs_curve", ["value", "alpha"], pages_gibbs.ROWS, 151, mark=1),
        later=[
            Later("gibbs_point", ["place", "value", "alpha"], shown, point_failures),
            *(
                Later(kernel, ["value", "alpha"], text, end_failures | {"inf": endless})
                for kernel, (text, endless) in ends.items()
            ),
        ],
    )
