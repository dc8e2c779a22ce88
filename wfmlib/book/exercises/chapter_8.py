"""Answers of chapter 8, least action."""

from __future__ import annotations

import math

from wfmlib.book.exercises.answers import Function, Number

FIELDS = (-0.1, -0.3, -2.0)  # of the three units
BATCHES = 4  # in an epoch of the chapter's run


def least_cosine(share):
    """Lower bound on the cosine of the angle to a solution.

    After t corrections the projection is at least ``t eta kappa``, and the norm at most
    ``eta sqrt(t N)``. So the cosine is at least ``kappa sqrt(t / N)``, the root of the share
    ``t kappa^2 / N`` of the corrections that there can be.
    """
    return math.sqrt(share)


def nearest(units=2):
    """Distance, times the root of n, that corrects the `units` nearest to zero."""
    return math.hypot(*sorted(FIELDS, key=abs)[:units])


def collapse(pull):
    """Amount by which ln S falls in an epoch: each batch multiplies distances by ``1 - pull``."""
    return -2.0 * BATCHES * math.log1p(-pull)


QUESTIONS = {
    "8.1": Function(
        "the lower bound on the cosine, at a share of the corrections",
        "ex-novikoff",
        least_cosine,
        [
            (
                lambda share: share,
                "Does the norm grow as the number of corrections? A corrected pattern was wrong, "
                "so that the correction does not point along the weights.",
            ),
            (
                lambda share: 1.0 / math.sqrt(share),
                "A cosine is at most one: what is divided by what?",
            ),
            (
                lambda share: math.sqrt(share / (1.0 + share)),
                "The cosine has the whole norm below, not only what is across the solution.",
            ),
        ],
        1e-9,  # a closed form: what is left is rounding
        (0.1, 0.4, 0.9),
    ),
    "8.2": Number(
        "the distance times the root of n",
        "ex-cheapest",
        nearest,
        [
            (
                lambda: nearest(1),
                "This is the loss, which is of the first correction only. How many units have to "
                "be right?",
            ),
            (
                lambda: nearest(3),
                "More units are corrected than a majority needs.",
            ),
            (
                lambda: sum(sorted(abs(x) for x in FIELDS)[:2]),
                "The units have different weights: their changes are at right angles.",
            ),
            (
                lambda: sorted(abs(x) for x in FIELDS)[1],
                "The first unit has to be corrected too.",
            ),
        ],
        2e-2,  # two figures; the nearest mistake is a twentieth away
    ),
    "8.4": Function(
        "the amount by which ln S falls in an epoch, at a pull times the step",
        "ex-collapse",
        collapse,
        [
            (
                lambda pull: 2.0 * BATCHES * pull,
                "This is the first order, as in the text. What is it for larger steps?",
            ),
            (
                lambda pull: -BATCHES * math.log1p(-pull),
                "This is how distances shrink; the spread is a sum of squares of them.",
            ),
            (
                lambda pull: -2.0 * math.log1p(-pull),
                "This is a mini-batch; how many are there in an epoch?",
            ),
        ],
        1e-6,  # a closed form
        (0.05, 0.2, 0.5),
        nats=True,
    ),
}
