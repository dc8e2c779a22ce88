"""The entropic term against mpmath, its plain statement, and its limits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from wfmlib import Binary, Spherical
from wfmlib.models.weights import spin_groups
from wfmlib.numerics import gaussian


def literal(q_hat):
    """The averages over the field, term by term as in the chapter."""
    edges = [-12, -8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12]
    if q_hat > 1:  # the sharp features lie within a few 1 / sqrt(q_hat)
        width = 1 / mp.sqrt(q_hat)
        edges = sorted({*edges, *(s * width * 2**k for s in (-1, 1) for k in range(8))})

    def average(f):
        root = mp.sqrt(q_hat)
        return mp.quad(lambda x: f(root * x) * mp.npdf(x), edges, method="gauss-legendre")

    return (
        average(lambda h: mp.tanh(h) ** 2),
        average(lambda h: mp.sech(h) ** 2),
        average(lambda h: mp.log(2 * mp.cosh(h))),
        average(lambda h: mp.sech(h) ** 4),
    )


def test_what_kinds_of_weights_say_of_themselves():
    """Without patterns; and the limit of ``q_hat (1 - q)^2`` as solutions become one."""
    assert Binary().discrete
    assert not Spherical().discrete
    assert Binary().entropy == pytest.approx(math.log(2.0), rel=1e-15)
    for weights in (Binary(), Spherical()):
        at = weights.entropic(1e12)
        assert 1e12 * at.complement**2 == pytest.approx(weights.collapse, rel=1e-5)
        free = weights.entropic(0.0)
        assert (free.q, free.complement) == (0.0, 1.0)
        assert free.term == pytest.approx(weights.entropy, abs=1e-15)


@pytest.mark.parametrize("q_hat", [1e-8, 0.3, 2.576, 400.0])
def test_binary_averages(q_hat):
    with mp.workdps(20):
        tanh2, sech2, log_2cosh, sech4 = map(float, literal(mp.mpf(q_hat)))
    found = Binary().entropic(q_hat)
    assert found.q == pytest.approx(tanh2, rel=1e-13)
    assert found.complement == pytest.approx(sech2, rel=1e-13)
    assert found.fluctuation == pytest.approx(sech4, rel=1e-13)
    assert found.term == pytest.approx(log_2cosh - 0.5 * q_hat * sech2, rel=1e-13)


@pytest.mark.parametrize("exponent", [-60.0, -3.0, 0.0, 5.0, 20.0, 60.0])
def test_binary_averages_obey_gaussian_integration_by_parts(exponent):
    """Derivatives by q_hat: of E ln 2 cosh it is half of E sech^2, wherever we look."""
    q_hat, step = math.exp(exponent), 1e-3

    def log_2cosh(shift):
        at = q_hat * math.exp(shift)
        found = Binary().entropic(at)
        return found.term + 0.5 * at * found.complement - math.log(2.0)

    slope = 8.0 * (log_2cosh(step) - log_2cosh(-step)) - log_2cosh(2 * step) + log_2cosh(-2 * step)
    expected = 0.5 * q_hat * Binary().entropic(q_hat).complement
    # five-point formula: relative error step^4, and the rounding of values near sqrt(q_hat)
    rounding = 1e-15 * (1.0 + math.sqrt(q_hat)) / step
    assert slope / (12.0 * step) == pytest.approx(expected, rel=1e-10, abs=rounding)


def test_binary_overlap_and_complement_are_accurate_at_their_ends():
    assert Binary().entropic(1e-40).q == pytest.approx(1e-40, rel=1e-14)
    free = (0.0, 1.0, math.log(2.0), 1.0)
    assert Binary().entropic(0.0) == pytest.approx(free, rel=1e-15)
    tiny = Binary().entropic(1e30)
    assert tiny.complement == pytest.approx(math.sqrt(2.0 / math.pi) * 1e-15, rel=1e-13)
    assert tiny.q <= 1.0


@pytest.mark.parametrize("q", [0.0, 1e-12, 0.3, 0.999999])
def test_spherical_overlap_solves_its_saddle_point(q):
    found = Spherical().entropic(q / (1.0 - q) ** 2)
    assert found.q == pytest.approx(q, rel=1e-9, abs=0.0)  # 1 - q loses digits in the test's line
    assert found.complement == pytest.approx(1.0 - q, rel=1e-10)
    assert found.fluctuation == pytest.approx((1.0 - q) ** 2, rel=1e-10)
    expected = 0.5 * (math.log(1.0 - q) + q / (1.0 - q))
    assert found.term == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("weights", [Binary(), Spherical()])
def test_weights_collapse_as_stated(weights):
    """q_hat (1 - q)^2 tends to `collapse`, with corrections of order 1 - q."""
    for q_hat in (1e6, 1e12, 1e20):
        complement = weights.entropic(q_hat).complement
        assert q_hat * complement**2 == pytest.approx(weights.collapse, rel=2.0 * complement)


@pytest.mark.parametrize("weights", [Binary(), Spherical()])
def test_without_a_field_all_weights_count(weights):
    free = weights.entropic(0.0)
    assert free.q == 0.0
    assert free.term == pytest.approx(weights.entropy, rel=1e-15)


def test_the_plain_statement_of_the_kernel():
    """What `field_averages` sums, in NumPy, by the trapezoidal rule (spectral on the line)."""
    q_hat = 1.7
    x = np.arange(-12.0, 12.0, 0.05)
    density = 0.05 * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    field = math.sqrt(q_hat) * x
    found = Binary().entropic(q_hat)
    assert found.q == pytest.approx(density @ np.tanh(field) ** 2, rel=1e-13)
    assert found.fluctuation == pytest.approx(density @ np.cosh(field) ** -4.0, rel=1e-13)


def test_weights_are_values():
    assert Binary() == Binary()
    assert len({Binary(), Binary(), Spherical()}) == 2
    assert repr((Binary(), Spherical())) == "(Binary(), Spherical())"


def test_binary_weights_run_out_where_their_entropy_vanishes():
    """One configuration has entropy 0; a volume has no least one."""
    assert Binary().discrete
    assert not Spherical().discrete
    for q_hat in (1e4, 1e6):
        found = Binary().entropic(q_hat)  # in a field h a weight has ln 2 cosh h - h tanh h
        entropy = found.term - 0.5 * q_hat * found.complement
        assert 0.0 < entropy < 1.0 / math.sqrt(q_hat)


@pytest.mark.parametrize("overlap", [0.01, 0.3, 0.85, 0.99])
def test_the_conjugate_of_an_overlap_leaves_rounding_alone(overlap):
    found = Binary().entropic(Binary().conjugate(overlap))
    assert found.complement == pytest.approx(1.0 - overlap, rel=4e-15)


@pytest.mark.parametrize(("split", "m"), [(1.6, 1.0), (3.98, 0.5), (2.01, 1.0), (20.0, 0.3)])
@pytest.mark.parametrize("width", [0.3, 2.0])
def test_groups_by_sums_over_equal_distances(width, split, m):
    """On either side of the tilt beyond which averages are taken about the tilted middle."""
    reach = 10.0 + m * split
    x, outer = gaussian.spaced(0.3 / max(width, 1.0), -9.0, 9.0, 10**4)
    y = gaussian.spaced(1.0 / split, -reach, reach, 10**4)[0]
    field = width * x[:, None] + split * y
    size = np.abs(field)
    log = size + np.log1p(np.exp(-2.0 * size)) - math.log(2.0)
    weight = np.exp(m * log - 0.5 * y * y) * (y[1] - y[0]) / math.sqrt(2.0 * math.pi)
    norm = weight.sum(axis=1)
    weight /= norm[:, None]
    first = (weight * np.tanh(field)).sum(axis=1)
    spread = (weight * (np.tanh(field) - first[:, None]) ** 2).sum(axis=1)
    complement = (weight / np.cosh(field) ** 2).sum(axis=1)
    information = m * (weight * log).sum(axis=1) - np.log(norm)
    term = math.log(2.0) + np.log(norm) / m
    expected = [outer @ one for one in (first**2, spread, complement, term, information)]
    found = spin_groups.mild(width, split, m, gaussian.legendre_rule(12))
    np.testing.assert_allclose(found, expected, rtol=3e-14)
