"""The potential -log s: its weight, typical solutions, and what surrounds them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from wfmlib import LogPotential, Margin, Perceptron, ReLU, Spherical, TreeCommittee
from wfmlib.models.constraints.log_potential import _pushed
from wfmlib.theory import franz_parisi, typical

BINARY, SPHERE = Perceptron(), Perceptron(Spherical())


def literal(power, omega, variance):
    """f, f', f'' and the mean potential: parabolic cylinder functions, in forty digits.

    ``E (omega + sigma x)_+^b = sigma^b Gamma(b + 1) e^{-a^2/4} D_{-b-1}(-a) / sqrt(2 pi)``; the
    derivatives follow from the mean and the variance of the field.
    """
    with mpmath.workdps(40):
        b, omega, variance = map(mpmath.mpf, (power, omega, variance))
        sigma = mpmath.sqrt(variance)
        a = omega / sigma

        def moment(p):
            cylinder = mpmath.pcfd(-p - 1, -a)
            return (
                sigma**p
                * mpmath.gamma(p + 1)
                * mpmath.exp(-(a**2) / 4)
                * cylinder
                / mpmath.sqrt(2 * mpmath.pi)
            )

        norm, up, two = moment(b), moment(b + 1), moment(b + 2)
        slope = (up / norm - omega) / variance
        curvature = ((two / norm - (up / norm) ** 2) / variance - 1) / variance
        loss = -mpmath.diff(lambda p: mpmath.log(moment(p)), b)
        return np.array([mpmath.log(norm), slope, curvature, loss], dtype=float)


@pytest.mark.parametrize("power", [0.3, 1.0, 2.5, 10.0])
@pytest.mark.parametrize(("omega", "variance"), [(0.7, 0.5), (-3.0, 0.2), (0.0, 0.3), (0.5, 1e-2)])
def test_averages_are_parabolic_cylinder_functions(power, omega, variance):
    at = LogPotential(power).at(np.array([omega]), variance)
    found = [at.log_weight[0], at.slope[0], at.curvature[0], at.loss[0]]
    assert found == pytest.approx(literal(power, omega, variance), rel=1e-11, abs=1e-11)
    assert at.errors == 0.0


def test_the_closed_form_of_exponent_one_is_the_quadrature():
    omega = np.array([-30.0, -3.0, -0.1, 0.0, 0.4, 3.0, 40.0])
    at, rows = LogPotential(1.0).at(omega, 0.25), np.empty((3, 7))
    _pushed(omega, 0.5, 1.0, rows)
    np.testing.assert_allclose(at.log_weight, rows[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(at.slope, rows[1], rtol=1e-12)
    np.testing.assert_allclose(at.curvature, rows[2], rtol=1e-10)


def test_a_margin_shifts_the_field():
    omega = np.array([-0.3, 0.2, 1.0])
    moved = LogPotential(1.5, kappa=-0.4).at(omega - 0.4, 0.3)
    np.testing.assert_allclose(moved.slope, LogPotential(1.5).at(omega, 0.3).slope, rtol=1e-12)


@pytest.mark.parametrize(("device", "alpha"), [(BINARY, 0.4), (SPHERE, 0.8)])
def test_energy_is_the_derivative_of_the_free_entropy(device, alpha):
    at = typical.solve(device, alpha, LogPotential(1.0))
    step = 1e-3
    above, below = (
        typical.solve(device, alpha, LogPotential(1.0 + change)).free_entropy
        for change in (step, -step)
    )
    assert (above - below) / (2 * step) == pytest.approx(-at.energy, abs=1e-6)
    assert at.entropy < typical.solve(device, alpha).entropy, "fewer than all solutions"


def test_small_exponents_come_close_to_the_margin():
    at = [typical.solve(BINARY, 0.4, LogPotential(b)).q for b in (0.2, 0.1)]
    at.append(typical.solve(BINARY, 0.4).q)
    assert at[0] > at[1] > at[2]
    assert 2 * at[1] - at[0] == pytest.approx(at[2], abs=3e-3), "linear in the exponent"


def test_most_solutions_lie_at_the_distance_of_the_maximum():
    reference = LogPotential(1.0)
    place = franz_parisi.distance_of_maximum(BINARY, 0.4, reference=reference)
    top = franz_parisi.solve(BINARY, 0.4, place, reference=reference)
    assert top.local_entropy == pytest.approx(typical.solve(BINARY, 0.4).entropy, abs=1e-8)
    assert top.slope == pytest.approx(0.0, abs=1e-5)


def test_its_solutions_are_not_isolated_but_uniform_ones_are():
    near = franz_parisi.solve(BINARY, 0.4, 1e-3, reference=LogPotential(1.0))
    assert 0.8 * near.bound < near.local_entropy < near.bound
    assert franz_parisi.solve(BINARY, 0.4, 1e-3).local_entropy < 0.0
    curve = franz_parisi.curve(BINARY, 0.4, [0.0, 0.1], reference=LogPotential(1.0))
    assert curve.local_entropy.values[0] == 0.0, "the reference is a solution itself"


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="exponent"):
        LogPotential(0.0)
    with pytest.raises(TypeError, match="exponent"):
        LogPotential("1")
    with pytest.raises(ValueError, match="kappa"):
        LogPotential(1.0, kappa=np.nan)
    with pytest.raises(ValueError, match="LogPotential"):
        typical.solve(TreeCommittee(np.inf, ReLU()), 0.5, LogPotential())
    with pytest.raises(TypeError, match="constraint"):
        franz_parisi.solve(BINARY, 0.4, 0.1, constraint=LogPotential())
    assert Margin(0.0) == LogPotential().support
