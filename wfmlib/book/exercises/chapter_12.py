"""Answers of chapter 12, sampling and connectivity."""

from __future__ import annotations

import math

from wfmlib.book.exercises.answers import Function


def overlap_alone(time):
    """Overlap at a time of the walk, on the sphere without patterns."""
    return time / (1.0 + time)


def centre(overlap):
    """Least margin of the centre of a star of solutions of margin -1, at an overlap."""
    return -overlap


def edge(overlap):
    """Least margin of both ends of an edge: a usual mistake."""
    return -math.sqrt(0.5 * (1.0 + overlap))


QUESTIONS = {
    "12.1": Function(
        "the overlap along the walk, at a time",
        "ex-walk-alone",
        overlap_alone,
        [
            (
                lambda time: 1.0 / (1.0 + time),
                "This is the variance that is left. Which overlap belongs to it?",
            ),
            (
                lambda time: time**2 / (1.0 + time**2),
                "The field h has noise of variance t. How precise is h / t?",
            ),
            (
                lambda time: 1.0 - math.exp(-time),
                "A posterior of Gaussians adds precisions, it does not multiply shares.",
            ),
        ],
        1e-6,  # a closed form
        (0.2, 1.0, 7.0),
    ),
    "12.2": Function(
        "the least margin of the centre, at an overlap",
        "ex-star-centre",
        centre,
        [
            (edge, "This is for two ends of one margin. Here the other end has margin -1."),
            (
                lambda overlap: 1.0 - 2.0 * math.sqrt(0.5 * (1.0 + overlap)),
                "This is the condition in the middle. Where along the way is it strictest?",
            ),
        ],
        1e-6,  # a closed form
        (0.1, 0.4, 0.8),
    ),
}
