"""Cross-entropy's Gibbs measure: one pattern, the saddle point, low temperatures, enumeration."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, optimize, special

from tests import naive_cross_entropy, naive_franz_parisi
from wfmlib import (
    Binary,
    CrossEntropy,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
    learning,
    patterns,
)
from wfmlib.models.activations import Linear
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory import cross_entropy, franz_parisi_1rsb, stabilities, teacher_student, typical

SIGN, RELU = (TreeCommittee(np.inf, unit, Binary()) for unit in (Sign(), ReLU()))
BINARY = [Perceptron(), SIGN, RELU]
SPHERICAL = [replace(device, weights=Spherical()) for device in BINARY]
OVERLAPS = {Linear(): naive_franz_parisi.perceptron}
OVERLAPS |= {Sign(): naive_franz_parisi.sign, ReLU(): naive_franz_parisi.relu}
OMEGAS = np.array([-6.0, -1.0, -0.1, 0.0, 0.3, 2.0, 5.0])


def derivative(f, x, step):
    """Five-point formula: error of order step^4."""
    return (8.0 * (f(x + step) - f(x - step)) - f(x + 2 * step) + f(x - 2 * step)) / (12.0 * step)


def measure(device, alpha, constraint):
    c, scale = OVERLAPS[device.activation], device.activation.scale
    both = constraint.gamma, constraint.beta
    return naive_cross_entropy.Measure(alpha, *both, c, scale, device.weights == Spherical())


# ------------------------------------------------------------------------------------------------
# One pattern
# ------------------------------------------------------------------------------------------------

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
LONG = np.longdouble


def panel_ends(gamma, beta, variance, omega):
    """Ends that halve towards the mode, zero and the wall of the factor; and the mode."""
    width = math.sqrt(variance)

    def pull(x):
        share = 0.5 * (1.0 - np.sign(x)) if gamma == math.inf else special.expit(-2.0 * gamma * x)
        return x - omega - beta * variance * share

    low, high = omega, omega + beta * variance
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if pull(middle) < 0.0 else (low, middle)
    finest = 1.0 / (1.0 / width + beta + (0.0 if gamma == math.inf else 2.0 * gamma))
    steps = [width * 2.0**k for k in range(4)] + [12.0 * width]
    while steps[0] > finest:
        steps.insert(0, 0.5 * steps[0])
    places = [high, 0.0]
    if gamma < math.inf and beta > 2.0 * gamma:  # the factor falls by e
        places.append(math.log(beta / (2.0 * gamma)) / (2.0 * gamma))
    ends = {place + sign * step for place in places for sign in (-1, 0, 1) for step in steps}
    return sorted(end for end in ends if abs(end - high) <= 12.0 * width), high


def literal_gibbs(gamma, beta, variance, omega):
    """The averages as quotients of integrals over the field, in 80 bits."""
    ends, mode = panel_ends(gamma, beta, variance, omega)
    ends = np.array(ends, dtype=LONG)
    half = 0.5 * np.diff(ends)[:, None]
    x = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * NODES).ravel()

    def costs(x):
        value = np.maximum(-x, LONG(0.0))
        if gamma < math.inf:
            value = value + np.log1p(np.exp(-2 * LONG(gamma) * np.abs(x))) / (2 * LONG(gamma))
        return value, beta * value + (x - omega) ** 2 / (2 * LONG(variance))

    (value, cost), (_, least) = costs(x), costs(LONG(mode))
    weight = (half * NODE_WEIGHTS).ravel() * np.exp(least - cost)
    norm = weight.sum()
    weight /= norm
    moved = weight @ (x - omega)
    spread = weight @ (x - omega - moved) ** 2
    return [
        np.log(norm / np.sqrt(2 * LONG(np.pi) * variance)) - least,
        moved / variance,
        (spread / variance - 1) / variance,
        weight @ value,
        weight @ (x < 0),
    ]


CASES = [  # gamma, beta, variance
    (1.0, 5.0, 0.64),
    (1.0, 1e-3, 0.5),
    (0.05, 20.0, 1.0),
    (0.5, 1e4, 0.3),
    (2.0, 1e12, 0.01),
    (10.0, 8.0, 0.2),
    (10.0, 300.0, 1e-6),
    (300.0, 50.0, 0.5),
    (1.0, 1e3, 1e-3),
    (math.inf, 5.0, 0.64),
    (math.inf, 1e-3, 0.5),
    (math.inf, 1e3, 0.3),
    (math.inf, 100.0, 1e-6),
    (math.inf, 1e7, 0.1),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_averages_over_one_pattern(case):
    gamma, beta, variance = case
    found = CrossEntropy(gamma, beta).gibbs(OMEGAS, variance)
    expected = np.array([literal_gibbs(*case, omega) for omega in OMEGAS]).T.astype(float)
    assert found.log_weight == pytest.approx(expected[0], rel=2e-9, abs=1e-12)
    assert found.slope == pytest.approx(expected[1], rel=2e-9, abs=1e-12 * beta)
    # in units of the curvature it would have without the loss's
    assert found.curvature * variance == pytest.approx(expected[2] * variance, rel=2e-8, abs=1e-9)
    assert found.loss == pytest.approx(expected[3], rel=2e-8, abs=1e-12 / beta)
    assert found.errors == pytest.approx(expected[4], rel=2e-8, abs=1e-9)


@pytest.mark.parametrize(
    ("case", "omega"),
    [((1.0, 5.0, 0.64), 0.3), ((0.5, 1e4, 0.3), -1.0), ((math.inf, 5.0, 0.64), -1.0)],
    ids=str,
)
def test_averages_over_one_pattern_in_mpmath(case, omega):
    gamma, beta, variance = case
    ends, mode = panel_ends(*case, omega)
    ends = sorted({*ends[::5], ends[-1], 0.0})
    with mp.workdps(25):

        def cost(x):
            value = max(-x, 0)
            if gamma < math.inf:
                value += mp.log1p(mp.exp(-2 * gamma * abs(x))) / (2 * gamma)
            return value

        def exponent(x):
            return -beta * cost(x) - (x - omega) ** 2 / (2 * mp.mpf(variance))

        def integral(f):
            def integrand(x):
                return f(x) * mp.exp(exponent(x) - exponent(mode))

            return mp.quad(integrand, ends, method="gauss-legendre", maxdegree=6)

        norm = integral(lambda _: 1)
        mean = integral(lambda x: x - omega) / norm
        square = integral(lambda x: (x - omega) ** 2) / norm
        expected = [
            mp.log(norm / mp.sqrt(2 * mp.pi * variance)) + exponent(mode),
            mean / variance,
            ((square - mean**2) / variance - 1) / variance,
            integral(cost) / norm,
            integral(lambda x: x < 0) / norm,
        ]
    assert np.array(CrossEntropy(gamma, beta).gibbs(omega, variance)) == pytest.approx(
        np.array(expected, dtype=float), rel=1e-8, abs=1e-11
    )
    assert np.array(literal_gibbs(*case, omega), dtype=float) == pytest.approx(
        np.array(expected, dtype=float), rel=1e-11, abs=1e-14
    )


@pytest.mark.parametrize("gamma", [0.3, 1.0, 20.0, math.inf])
@pytest.mark.parametrize(("beta", "variance"), [(4.0, 0.6), (30.0, 0.05)])
def test_slope_and_curvature_are_derivatives(gamma, beta, variance):
    constraint = CrossEntropy(gamma, beta)
    omega, step = np.linspace(-2.0, 2.0, 9), 0.02 * math.sqrt(variance)
    found = constraint.gibbs(omega, variance)
    slope = derivative(lambda x: constraint.log_weight(x, variance), omega, step)
    curvature = derivative(lambda x: constraint.slope(x, variance), omega, step)
    # step^4 / 30 times a fifth derivative, in units of the width: 2e-7
    assert slope == pytest.approx(found.slope, rel=1e-6, abs=1e-6)
    assert curvature * variance == pytest.approx(found.curvature * variance, rel=1e-6, abs=1e-6)


def test_loss_is_the_fall_of_the_log_weight_with_beta():
    omega = np.linspace(-2.0, 2.0, 9)
    for gamma in (0.5, 30.0, math.inf):
        by_beta = derivative(
            lambda b, g=gamma: CrossEntropy(g, b).log_weight(omega, 0.6), 3.0, 0.02
        )
        assert by_beta == pytest.approx(-CrossEntropy(gamma, 3.0).gibbs(omega, 0.6).loss, rel=1e-6)


def test_sharp_losses_tend_to_the_sharpest():
    """The loss differs from max(-x, 0) by pi^2 / 24 gamma^2 in area: so do the averages."""
    limit = np.array(CrossEntropy(math.inf, 5.0).gibbs(OMEGAS, 0.6))
    gaps = []
    for gamma in (1e2, 1e3, 1e4):
        gaps.append(np.abs(np.array(CrossEntropy(gamma, 5.0).gibbs(OMEGAS, 0.6)) - limit).max())
        assert gaps[-1] < 5.0 / gamma
    assert gaps[1] < 0.2 * gaps[0]
    by_area = CrossEntropy(1e3, 5.0).log_weight(0.1, 0.6) - CrossEntropy(math.inf, 5.0).log_weight(
        0.1, 0.6
    )
    at_zero = math.exp(-0.01 / 1.2 - CrossEntropy(math.inf, 5.0).log_weight(0.1, 0.6))
    at_zero /= math.sqrt(2.0 * math.pi * 0.6)
    assert by_area == pytest.approx(-5.0 * math.pi**2 / 24.0 / 1e6 * 2.0 * at_zero / 2.0, rel=0.02)


def test_shapes_and_scalars():
    constraint = CrossEntropy(1.0, 5.0)
    found = constraint.gibbs(OMEGAS[:6].reshape(2, 3), 0.5)
    assert all(one.shape == (2, 3) for one in found)
    alone = constraint.gibbs(OMEGAS[3], 0.5)
    assert alone.slope.shape == ()
    assert float(alone.slope) == found.slope[1, 0]


@pytest.mark.parametrize("gamma", [0.7, math.inf])
def test_rescaling_leaves_the_weight_of_a_pattern(gamma):
    x = np.linspace(-3.0, 3.0, 7)
    given, scale = CrossEntropy(gamma, 4.0), ReLU().scale
    divided = given.rescaled(scale)
    assert divided.beta * cross_entropy.loss(divided.gamma, x) == pytest.approx(
        4.0 * naive_cross_entropy.loss(gamma, scale * x), rel=1e-14
    )


def test_loss():
    x = np.array([[-800.0, -2.0, 0.0], [1e-3, 3.0, 800.0]])
    for gamma in (1e-3, 1.0, 50.0, math.inf):
        expected = naive_cross_entropy.loss(gamma, x)
        assert cross_entropy.loss(gamma, x) == pytest.approx(expected, rel=1e-12, abs=1e-18)
    assert isinstance(cross_entropy.loss(2.0, 1.0), float)


# ------------------------------------------------------------------------------------------------
# The saddle point
# ------------------------------------------------------------------------------------------------

MEASURES = [
    (Perceptron(), 0.5, CrossEntropy(1.0, 5.0)),
    (SIGN, 0.8, CrossEntropy(5.0, 20.0)),
    (RELU, 0.4, CrossEntropy(0.5, 30.0)),
    (RELU, 1.2, CrossEntropy(math.inf, 4.0)),
    (SPHERICAL[0], 1.0, CrossEntropy(1.0, 3.0)),
    (SPHERICAL[0], 2.5, CrossEntropy(math.inf, 6.0)),
    (SPHERICAL[2], 1.5, CrossEntropy(3.0, 8.0)),
]


@pytest.mark.parametrize("given", MEASURES, ids=str)
def test_free_entropy_is_stationary_at_the_solution(given):
    device, alpha, constraint = given
    point = typical.solve(device, alpha, constraint)
    literal = measure(device, alpha, constraint)
    q, q_hat = point.q, point.q_hat
    assert point.free_entropy == pytest.approx(literal.free_entropy(q, q_hat), abs=1e-9)
    step = 0.02 * q * (1.0 - q)
    by_q = derivative(lambda q: literal.free_entropy(q, q_hat), q, step)
    # a jump in the integrand or the formula's own error: of order 1e-7 relative to q_hat
    assert by_q == pytest.approx(0.0, abs=3e-6 * (1.0 + q_hat))
    if not literal.spherical:
        by_q_hat = derivative(lambda y: literal.free_entropy(q, y), q_hat, 0.02 * q_hat)
        assert by_q_hat == pytest.approx(0.0, abs=1e-7)
    else:
        assert point.q_hat == pytest.approx(q / (1.0 - q) ** 2, rel=1e-9)


@pytest.mark.parametrize("given", MEASURES, ids=str)
def test_energy_entropy_and_errors(given):
    device, alpha, constraint = given
    point = typical.solve(device, alpha, constraint)
    energy, errors, _ = measure(device, alpha, constraint).averages(point.q)
    assert point.energy == pytest.approx(energy, rel=1e-8)
    assert point.error_rate == pytest.approx(errors, rel=1e-8)
    assert point.entropy == pytest.approx(point.free_entropy + constraint.beta * energy, abs=1e-8)
    assert point.distance == pytest.approx(0.5 * (1.0 - point.q), rel=1e-12)

    def free_entropy(beta):
        return typical.solve(device, alpha, CrossEntropy(constraint.gamma, beta)).free_entropy

    by_beta = derivative(free_entropy, constraint.beta, 0.02 * constraint.beta)
    assert point.energy == pytest.approx(-by_beta, rel=2e-6)


@pytest.mark.parametrize("gamma", [1.0, math.inf])
def test_replicon_from_its_literal_formula(gamma):
    alpha, constraint = 0.7, CrossEntropy(gamma, 6.0)
    point = typical.solve(Perceptron(), alpha, constraint)
    z, weight = naive_cross_entropy.line(0.05)
    spins = weight @ np.cosh(math.sqrt(point.q_hat) * z) ** -4.0
    stiffness = measure(Perceptron(), alpha, constraint).averages(point.q)[2]
    assert point.replicon == pytest.approx(alpha * spins * stiffness, rel=1e-8)


@pytest.mark.parametrize("device", BINARY + SPHERICAL)
def test_the_coldest_sharpest_loss_counts_solutions(device):
    """Errors cost beta times their depth: what is left of them is of order 1 / beta."""
    solutions = typical.solve(device, 0.5)
    gaps = []
    for beta in (1e3, 1e4, 1e8):
        point = typical.solve(device, 0.5, CrossEntropy(math.inf, beta))
        gaps.append(abs(point.entropy - solutions.entropy))
        assert gaps[-1] < 5.0 / (beta * device.activation.scale)
        assert abs(point.q - solutions.q) < 5.0 / (beta * device.activation.scale)
        assert 0.0 < point.error_rate < 5.0 / (beta * device.activation.scale)
    assert gaps[1] < 0.15 * gaps[0]
    assert point.replicon == pytest.approx(solutions.replicon, rel=1e-6)


@pytest.mark.parametrize("device", BINARY)
@pytest.mark.parametrize("gamma", [1.0, math.inf])
def test_small_loads_leave_patterns_independent(device, gamma):
    """q = alpha c'(0) F'^2, the free entropy ln 2 + alpha F, up to order alpha^2."""
    alpha, constraint, unit = 1e-6, CrossEntropy(gamma, 4.0), device.activation
    point = typical.solve(device, alpha, constraint)

    def at(omega):
        return integrate.quad(
            lambda x: (
                math.exp(-4.0 * naive_cross_entropy.loss(gamma, unit.scale * (omega + x) + 0.0))
                * math.exp(-0.5 * x * x)
                / math.sqrt(2.0 * math.pi)
            ),
            -10.0,
            10.0,
            points=(-omega,),
            epsrel=1e-12,
        )[0]

    force = derivative(lambda omega: math.log(at(omega)), 0.0, 0.02)
    slope = 2.0 / math.pi if unit == Sign() else unit.effective_overlap(0.0).slope
    assert point.q == pytest.approx(alpha * slope * force**2, rel=2e-5)
    assert point.free_entropy - math.log(2.0) == pytest.approx(alpha * math.log(at(0.0)), rel=1e-5)
    assert point.error_rate == pytest.approx(  # of one field alone
        measure(device, 1.0, constraint).averages(1e-12)[1], rel=1e-5
    )
    assert typical.solve(device, 0.0, constraint).energy == 0.0


def test_beta_orders_energies_and_entropies():
    points = [
        typical.solve(Perceptron(), 0.9, CrossEntropy(2.0, beta)) for beta in (0.5, 2, 8, 32)
    ]
    for name in ("energy", "entropy", "error_rate", "distance"):
        assert np.all(np.diff([getattr(point, name) for point in points]) < 0.0)
    assert "GibbsPoint" in repr(points[0])
    assert "RS stable" in repr(points[0])


# ------------------------------------------------------------------------------------------------
# All weight vectors of small instances
# ------------------------------------------------------------------------------------------------

SIZES = ((9, 4, 300), (13, 6, 200), (17, 8, 24))  # weights, patterns, samples: load near 0.45
GIBBS = (CrossEntropy(1.0, 6.0), CrossEntropy(math.inf, 3.0))


def overlaps(xi, sigma):
    """Return sums over the overlaps of an instance's patterns, all of mean zero.

    Where patterns agree by chance energies are low: most of the spread of what is counted.
    """
    P, N = xi.shape
    aligned = sigma[:, None] * xi.astype(float)
    r = aligned @ aligned.T / math.sqrt(N)
    np.fill_diagonal(r, 0.0)
    cubes = np.trace(r @ r @ r) - P * (P - 1) * (P - 2) / math.sqrt(N)
    lines = np.sum(r.sum(axis=1) ** 2) - P * (P - 1)
    return r.sum(), np.sum(r * r) - P * (P - 1), cubes, lines


def excess(N, P, samples):
    """Counted minus predicted: its mean and error, shape (measures, 3); and the predictions.

    Of energy and entropy per weight and of the error rate, at the size's own load. The part that
    follows the overlaps of the patterns, whose mean is zero, is taken out.
    """
    lattice = np.arange(-N, N + 1) / math.sqrt(N)
    tables = [naive_cross_entropy.loss(constraint.gamma, lattice) for constraint in GIBBS]
    found, controls = [], []
    for seed in np.random.SeedSequence(11).generate_state(samples):
        xi, sigma = patterns.random(P, N, rng=seed)
        controls.append((1.0, *overlaps(xi, sigma)))
        place = (
            np.ascontiguousarray(learning.enumerate_fields(Perceptron(), xi, sigma).T).astype(
                np.intp
            )
            + N
        )
        wrong = np.sum(place < N, axis=0)  # there are no ties: N is odd
        for constraint, table in zip(GIBBS, tables, strict=True):
            energy = sum(table[row] for row in place)
            log_z = special.logsumexp(-constraint.beta * energy)
            share = np.exp(-constraint.beta * energy - log_z)
            mean = share @ energy
            found += [mean / N, (log_z + constraint.beta * mean) / N, share @ wrong / P]
    points = [typical.solve(Perceptron(), P / N, constraint) for constraint in GIBBS]
    theory = np.array([(point.energy, point.entropy, point.error_rate) for point in points])
    rows = np.array(found).reshape(samples, theory.size) - theory.ravel()
    controls = np.array(controls)
    fitted = np.linalg.lstsq(controls, rows, rcond=None)[0]
    variance = np.sum((rows - controls @ fitted) ** 2, axis=0) / (samples - controls.shape[1])
    error = np.sqrt(variance / samples)
    return fitted[0].reshape(theory.shape), error.reshape(theory.shape), theory


def test_enumeration_tends_to_the_replica_values():
    """The excess is a correction of order 1 / N, and vanishes with it."""
    means, errors, theory = (
        np.array(one) for one in zip(*(excess(*s) for s in SIZES), strict=True)
    )
    for place in np.ndindex(theory.shape[1:]):
        mean, error = means[:, *place], errors[:, *place]
        design = np.stack((np.ones(len(SIZES)), [1.0 / size[0] for size in SIZES]), axis=1)
        design /= error[:, None]
        covariance = np.linalg.inv(design.T @ design)
        limit, precision = (covariance @ design.T @ (mean / error))[0], math.sqrt(covariance[0, 0])
        assert precision < 0.05 * theory[-1][place]
        # the term 1 / N^2, left out, is a few percent of the one that is not
        assert abs(limit) < 4.0 * precision + 0.1 * np.abs(mean).max()
        assert np.abs(mean).max() < 0.3 * theory[-1][place]


# ------------------------------------------------------------------------------------------------
# Low temperatures
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "gamma"), [(0.4, 1.0), (0.4, 5.0)])
def test_lines_where_replica_symmetry_ends(alpha, gamma):
    silent = cross_entropy.zero_entropy_beta(Perceptron(), alpha, gamma)
    unstable = cross_entropy.instability_beta(Perceptron(), alpha, gamma)
    working = cross_entropy.working_beta(Perceptron(), alpha, gamma)
    assert working == pytest.approx(min(silent, unstable), rel=1e-12)
    at = typical.solve(Perceptron(), alpha, CrossEntropy(gamma, silent))
    assert at.entropy == pytest.approx(0.0, abs=1e-9)
    at = typical.solve(Perceptron(), alpha, CrossEntropy(gamma, unstable))
    assert at.replicon == pytest.approx(1.0, rel=1e-7)
    before = typical.solve(Perceptron(), alpha, CrossEntropy(gamma, 0.9 * min(silent, unstable)))
    beyond = typical.solve(Perceptron(), alpha, CrossEntropy(gamma, 1.1 * max(silent, unstable)))
    assert before.entropy > 0.0
    assert before.replicon < 1.0
    assert beyond.entropy < 0.0
    assert beyond.replicon > 1.0


def test_lines_of_a_committee_are_found_at_its_own_scale():
    beta = cross_entropy.zero_entropy_beta(RELU, 0.5, 2.0)
    point = typical.solve(RELU, 0.5, CrossEntropy(2.0, beta))
    assert point.entropy == pytest.approx(0.0, abs=1e-9)


def test_lines_are_infinite_while_all_solutions_have_no_energy():
    assert cross_entropy.zero_entropy_beta(Perceptron(), 0.5, math.inf) == math.inf
    assert cross_entropy.instability_beta(Perceptron(), 0.5, math.inf) == math.inf
    above = cross_entropy.zero_entropy_beta(Perceptron(), 0.9, math.inf)
    assert typical.solve(
        Perceptron(), 0.9, CrossEntropy(math.inf, above)
    ).entropy == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("gamma", "beta"), [(0.01, 1e200), (0.01, 1e23)])
def test_fields_narrower_than_their_rounding_are_refused(gamma, beta):
    with pytest.raises(NotConverged):
        typical.solve(Perceptron(), 1.0, CrossEntropy(gamma, beta))


def test_a_line_at_a_tiny_load_is_found_past_what_cannot_be_resolved():
    """The search looks at betas that are far too cold, and a secant at two equal loads."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        beta = cross_entropy.working_beta(RELU, 1.5e-5, 1.0)
        lost = cross_entropy.instability_beta(Perceptron(), 1e-4, 1.0)
    point = typical.solve(RELU, 1.5e-5, CrossEntropy(1.0, beta))
    assert point.entropy > 0.0
    assert point.replicon == pytest.approx(1.0, abs=1e-9)
    assert typical.solve(Perceptron(), 1e-4, CrossEntropy(1.0, lost)).replicon == pytest.approx(
        1.0
    )


def test_a_jump_is_not_where_a_line_ends(monkeypatch):
    """The entropy positive up to where it is lost in rounding does not vanish there."""

    def entropy(device, alpha, at, axes, report=None):
        if axes[2].beta > 50.0:
            raise NotConverged(Report(False, math.inf, 1, "too cold"), at.q_hat)
        return SimpleNamespace(entropy=0.5, q_hat=at.q_hat)

    monkeypatch.setattr(cross_entropy, "thermal_point", entropy)
    with pytest.raises(NotConverged, match="residual"):
        cross_entropy.zero_entropy_beta(Perceptron(), 0.4, 1.0)


def test_lines_over_arrays():
    found = cross_entropy.zero_entropy_beta(Perceptron(), [[0.4], [0.7]], [1.0])
    assert found.shape == (2, 1)
    assert found[1, 0] < found[0, 0]  # more patterns, fewer configurations


@pytest.mark.parametrize(("alpha", "gamma"), [(0.4, 1.0), (1.5, 3.0), (2.0, math.inf)])
def test_zero_temperature_solves_its_equations(alpha, gamma):
    found = cross_entropy.zero_temperature(Perceptron(), alpha, gamma)
    dq = found.dq

    def field(z):
        """Where ``h - z = dq s(h)``, s the share of the loss's largest slope."""
        if gamma == math.inf:
            return min(z + dq, 0.0) if z < 0.0 else z
        # of the shift, not of h: where s is 1, (z + dq) - z may be rounded to less than dq s
        return z + optimize.brentq(
            lambda shift: shift - dq * special.expit(-2.0 * gamma * (z + shift)), 0.0, dq,
            xtol=1e-13,
        )  # fmt: skip

    def average(f):
        kinks = (-dq, -0.5 * dq, 0.0)
        return integrate.quad(
            lambda z: f(z) * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi),
            -9.0, 9.0, points=[z for z in kinks if z > -9.0], epsabs=1e-9, epsrel=1e-9,
        )[0]  # fmt: skip

    assert alpha * average(lambda z: (field(z) - z) ** 2) == pytest.approx(2.0 / math.pi, rel=1e-7)
    energy = alpha * average(lambda z: naive_cross_entropy.loss(gamma, field(z)))
    assert found.energy == pytest.approx(energy, rel=1e-7)
    # the field grows with z: errors are all z below that of field 0
    last = -dq if gamma == math.inf else -0.5 * dq
    assert found.error_rate == pytest.approx(special.ndtr(last), rel=1e-12)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.7, 1.0), (1.5, 3.0), (2.0, math.inf)])
def test_cold_saddle_points_tend_to_zero_temperature(alpha, gamma):
    limit = cross_entropy.zero_temperature(Perceptron(), alpha, gamma)
    gaps = []
    for beta in (1e3, 1e4, 1e5):
        point = typical.solve(Perceptron(), alpha, CrossEntropy(gamma, beta))
        found = np.array([beta * (1.0 - point.q), point.energy])
        gaps.append(np.abs(found / (limit.dq, limit.energy) - 1.0))
        if gamma == math.inf:
            assert point.error_rate > limit.error_rate  # fields at the kink go either way
        assert point.entropy < 0.0
        assert point.replicon > 1.0
    gaps = np.array(gaps)
    assert np.all(gaps[1:] < 0.2 * gaps[:-1])
    assert np.all(gaps[-1] < 1e-3)


def test_zero_temperature_needs_the_overlap_to_reach_one():
    for alpha in (0.5, 4.0 / math.pi):
        with pytest.raises(NotConverged, match="q does not tend to 1"):
            cross_entropy.zero_temperature(Perceptron(), alpha, math.inf)
    just = cross_entropy.zero_temperature(Perceptron(), 1.001 * 4.0 / math.pi, math.inf)
    assert just.dq > 2.0
    assert cross_entropy.zero_temperature(Perceptron(), 0.5, 100.0).dq > 100.0


# ------------------------------------------------------------------------------------------------
# What is refused
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 1.0), "gamma"),
        ((-1.0, 1.0), "gamma"),
        ((math.nan, 1.0), "gamma"),
        ((-math.inf, 1.0), "gamma"),
        ((1e7, 1.0), "gamma"),
        ((1.0, 0.0), "beta"),
        ((1.0, -2.0), "beta"),
        ((1.0, math.inf), "beta"),
        ((1.0, math.nan), "beta"),
    ],
)
def test_numbers_out_of_range(arguments, name):
    with pytest.raises(ValueError, match=rf"^{name}.* must be"):
        CrossEntropy(*arguments)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("1", 1.0), "gamma"),
        ((1.0, None), "beta"),
        ((True, 1.0), "gamma"),
        (([1.0], 1.0), "gamma"),
    ],
)
def test_numbers_of_the_wrong_kind(arguments, name):
    with pytest.raises(TypeError, match=rf"^{name}.* must be"):
        CrossEntropy(*arguments)


LINES = (
    cross_entropy.zero_entropy_beta,
    cross_entropy.instability_beta,
    cross_entropy.working_beta,
    cross_entropy.zero_temperature,
)


@pytest.mark.parametrize("line", LINES)
def test_lines_refuse_by_name(line):
    for alpha in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^alpha must be"):
            line(Perceptron(), alpha, 1.0)
    for gamma in (0.0, math.nan):
        with pytest.raises(ValueError, match=r"^gamma, if not math.inf, must be"):
            line(Perceptron(), 0.5, gamma)
    with pytest.raises(TypeError, match=r"^alpha must"):
        line(Perceptron(), "1", 1.0)
    wrong = [Perceptron(Spherical()), TreeCommittee(3, weights=Binary())]
    for device in [*wrong, RELU] if line is cross_entropy.zero_temperature else wrong:
        with pytest.raises(ValueError, match=r"^device must"):
            line(device, 0.5, 1.0)
    with pytest.raises(TypeError, match=r"^device must be a device"):
        line(Sign(), 0.5, 1.0)
    if line is not cross_entropy.zero_temperature:
        with pytest.raises(ValueError, match=r"alpha and gamma must have shapes that broadcast"):
            line(Perceptron(), [0.1, 0.2], [1.0, 2.0, 3.0])


def test_loss_refuses_by_name():
    with pytest.raises(ValueError, match=r"^gamma, if not math.inf, must be"):
        cross_entropy.loss(0.0, 1.0)
    with pytest.raises(TypeError, match=r"^stability must"):
        cross_entropy.loss(1.0, "1")


def test_questions_about_solutions_refuse_a_loss():
    device, loss = Perceptron(), CrossEntropy(1.0, 5.0)
    with pytest.raises(TypeError, match="reference must be"):
        franz_parisi_1rsb.solve(device, 0.5, 0.1, reference=loss, constraint=Margin(0.0))
    with pytest.raises(TypeError, match="reference must be"):
        teacher_student.local_entropy(device, 2.0, 0.1, reference=loss)
    for refused in (
        lambda: stabilities.density(device, 0.5, 0.1, constraint=loss),
        lambda: typical.capacity(device, constraint=loss),
        lambda: typical.curve(device, 0.5, loss),
        lambda: typical.instability(device, constraint=loss),
        lambda: typical.solve_1rsb(device, 0.5, loss),
        lambda: teacher_student.solve(device, 2.0, loss),
    ):
        with pytest.raises(TypeError, match="constraint must be"):
            refused()
