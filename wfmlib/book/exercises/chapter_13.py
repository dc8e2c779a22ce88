"""Answers of chapter 13, what flatness means."""

from __future__ import annotations

import math

from wfmlib.book.exercises.answers import Function, Number

WEIGHTS, AGREE = 21, 11  # of which this many agree with a pattern whose field is 1


def wrong_after(flips):
    """Probability that a pattern of field 1 is wrong after so many flips."""
    ways = sum(
        math.comb(AGREE, j) * math.comb(WEIGHTS - AGREE, int(flips) - j)
        for j in range(int(flips) + 1)
        if 4 * j > 1 + 2 * flips
    )
    return ways / math.comb(WEIGHTS, int(flips))


def drawn_again(flips):
    """The same where a weight may be drawn twice: a usual mistake."""
    p = AGREE / WEIGHTS
    return sum(
        math.comb(int(flips), j) * p**j * (1 - p) ** (int(flips) - j)
        for j in range(int(flips) + 1)
        if 4 * j > 1 + 2 * flips
    )


QUESTIONS = {
    "13.1": Number(
        "the largest expected overlap",
        "ex-best-guess",
        lambda: 1 / 3,
        [(lambda: 1 / 9, "This is that of each of the three. Which vector is best of all eight?")],
        1e-3,  # a fraction
    ),
    "13.2": Function(
        "the probability that the pattern is wrong, after d flips",
        "ex-odd-distances",
        wrong_after,
        [(drawn_again, "The flipped weights differ: they are drawn without putting back.")],
        1e-3,  # of a few figures
        (1.0, 2.0, 3.0, 4.0),
    ),
    "13.3": Function(
        "the smallest trace, at the trace of the third layer",
        "ex-flattest-scale",
        lambda t: 3.0 * t ** (1.0 / 3.0),
        [
            (lambda t: 2.0 + t, "This is the trace before the layers are multiplied."),
            (lambda t: t ** (1.0 / 3.0), "This is one of three equal terms."),
            (
                lambda t: 2.0 + 2.0 * math.sqrt(t),
                "Here one layer keeps its factor. All three may change.",
            ),
        ],
        1e-6,  # a closed form
        (0.2, 5.0, 27.0),
    ),
}
