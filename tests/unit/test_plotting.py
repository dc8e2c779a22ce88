"""Lines of sweeps: labels, units, gaps, one line for each value besides."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from wfmlib import Margin, Perceptron, Spherical, theory
from wfmlib.book import display


def drawn(*args, **options):
    return display.plot(*args, ax=Figure().add_subplot(), **options)


def test_a_curve_has_labels_and_a_gap_where_nothing_converged():
    curve = theory.typical.curve(Perceptron(Spherical()), [0.5, 1.0, 2.5, 1.5])
    ax = drawn(curve)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "load (patterns per weight)",
        "entropy (nats per weight)",
    )
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), curve.alpha)
    np.testing.assert_array_equal(np.isnan(line.get_ydata()), [False, False, True, False])


def test_a_line_for_each_value_besides():
    margins = [Margin(0.0), Margin(0.2)]
    curve = theory.typical.curve(Perceptron(), np.linspace(0, 0.4, 3), margins)
    ax = drawn(curve, "q", c="k")
    assert [line.get_label() for line in ax.lines] == ["kappa 0", "kappa 0.2"]
    assert {line.get_color() for line in ax.lines} == {"k"}
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), curve.q[:, 1])
    assert [line.get_label() for line in drawn(curve, "q", "kappa").lines] == [
        "alpha 0",
        "alpha 0.2",
        "alpha 0.4",
    ]


def test_refusals():
    curve = theory.typical.curve(Perceptron(), [0.1, 0.2])
    with pytest.raises(ValueError, match=r"^y must be one of alpha, converged, .*, got 'energy'"):
        drawn(curve, "energy")
    with pytest.raises(TypeError, match=r"^data must be Dataset"):
        drawn(np.zeros(3))
