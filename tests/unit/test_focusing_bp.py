"""Focusing: the star against explicit sums and Gaussians, the solutions it finds, its record."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfmlib import Binary, Committee, ParityMachine, Perceptron, Spherical, TreeCommittee, patterns
from wfmlib.learning import (
    atanh_steps,
    belief_propagation,
    exponential,
    focusing_bp,
    pseudo_reinforcement,
)
from wfmlib.learning.messages.factor_graph import BinaryStar, Star

BOTH = pytest.mark.parametrize("weights", [Binary(), Spherical()], ids=["binary", "spherical"])
FORMS = pytest.mark.parametrize("form", ["exact", "expanded"])


# ------------------------------------------------------------------------------------------------
# The star
# ------------------------------------------------------------------------------------------------


def summed_star(h, coupling, replicas):
    """Return the field on one replica's weight by a sum over all others and the centre."""
    total = {1: 0.0, -1: 0.0}
    for w in (1, -1):
        for spins in itertools.product((1, -1), repeat=replicas):
            center, *others = spins
            total[w] += math.exp(coupling * center * (w + sum(others)) + h * sum(others))
    return 0.5 * math.log(total[1] / total[-1])


def summed_center(h, coupling, replicas):
    """Return the mean of the centre that `replicas` weights with field h are coupled to."""
    weight = {
        center: sum(
            math.exp((coupling * center + h) * sum(spins))
            for spins in itertools.product((1, -1), repeat=replicas)
        )
        for center in (1, -1)
    }
    return (weight[1] - weight[-1]) / (weight[1] + weight[-1])


@given(st.floats(-3, 3), st.floats(0, 3), st.integers(1, 7))
def test_binary_star_against_a_sum(h, coupling, replicas):
    star = BinaryStar((1, 1))
    star.coupling, star.replicas = coupling, float(replicas)
    star.renew(np.array([[h]]))
    assert star.u[0, 0] == pytest.approx(summed_star(h, coupling, replicas), abs=1e-12)
    assert star.means[0, 0] == pytest.approx(summed_center(h, coupling, replicas), abs=1e-12)


@given(st.floats(-250, 250), st.floats(0, 10), st.floats(1, 50))
def test_binary_star_against_its_formula(h, coupling, replicas):
    star = BinaryStar((1, 1))
    star.coupling, star.replicas = coupling, replicas
    star.renew(np.array([[h]]))
    u = star.u[0, 0]
    assert abs(u) <= coupling + 1e-12
    assert u * h >= 0 or abs(u) < 1e-12
    if abs(h) < 2 and coupling < 2 and replicas < 3:
        inner = math.atanh(math.tanh(coupling) * math.tanh(h))
        expected = math.atanh(math.tanh(coupling) * math.tanh((replicas - 1) * inner))
        assert u == pytest.approx(expected, abs=1e-11)


def marginal(precision, field, keep):
    """Return precision and field of one Gaussian variable, the others integrated out."""
    rest = np.delete(np.arange(len(field)), keep)
    solved = np.linalg.solve(
        precision[np.ix_(rest, rest)], np.column_stack([precision[rest, keep], field[rest]])
    )
    return (
        precision[keep, keep] - precision[keep, rest] @ solved[:, 0],
        field[keep] - precision[keep, rest] @ solved[:, 1],
    )


def joint(mu, zeta, coupling, chi, copies, others_mu, others_zeta):
    """Return precision and field of (first weight, centre, `copies` more weights)."""
    size = 2 + copies
    precision, field = np.zeros((size, size)), np.zeros(size)
    precision[1, 1] = chi
    for k in [0, *range(2, size)]:
        precision[k, k] += coupling
        precision[1, 1] += coupling
        precision[1, k] = precision[k, 1] = -coupling
    precision[0, 0] += zeta
    field[0] = mu
    for k in range(2, size):
        precision[k, k] += others_zeta
        field[k] = others_mu
    return precision, field


@pytest.mark.parametrize(("replicas", "coupling"), [(2, 0.5), (4, 3.0), (10, 30.0)])
def test_spherical_star_against_explicit_gaussians(replicas, coupling):
    rng = np.random.default_rng(replicas)
    M = 25
    mu, zeta = 2 * rng.standard_normal((1, M)), 1.0 + rng.random((1, M))
    star = Star((1, M), (1, M))
    star.coupling, star.replicas = coupling, float(replicas)
    star.renew(mu, zeta)
    # The centre's norm field, from the field that it hands on.
    V1 = zeta * coupling / (zeta + coupling)
    V2 = star.V * coupling / (coupling - star.V)
    chi = V2 - (replicas - 1) * V1
    assert np.ptp(chi) < 1e-9
    chi = chi[0, 0]
    norms = []
    for i in range(M):
        own = (mu[0, i], zeta[0, i])
        full = joint(*own, coupling, chi, replicas - 1, *own)
        precision, field = marginal(*full, 0)
        # the first weight's marginal is its own parameters and the star's field
        assert precision - zeta[0, i] == pytest.approx(star.V[0, i], rel=1e-8)
        assert field - mu[0, i] == pytest.approx(star.U[0, i], rel=1e-8, abs=1e-9)
        precision, field = marginal(*full, 1)
        assert field / precision == pytest.approx(star.means[0, i], rel=1e-8, abs=1e-9)
        norms.append(1 / precision + (field / precision) ** 2)
    assert np.mean(norms) == pytest.approx(1.0, rel=1e-9)


def test_one_replica_and_no_coupling_leave_belief_propagation():
    xi, sigma = patterns.random(30, 61, rng=1)
    plain = belief_propagation(Perceptron(), xi, sigma, tolerance=1e-9, rng=0)
    for options in ({"protocol": [0.0]}, {"protocol": [2.0], "replicas": 1}):
        found = focusing_bp(Perceptron(), xi, sigma, tolerance=1e-9, damping=0.0, rng=0, **options)
        np.testing.assert_allclose(
            np.tanh(found.messages["u"].sum(axis=0)[0]), plain.means, atol=1e-7
        )


# ------------------------------------------------------------------------------------------------
# Protocols
# ------------------------------------------------------------------------------------------------


def test_protocols():
    couplings = exponential(0.5, 30, 30)
    assert couplings[[0, -1]] == pytest.approx([0.5, 30])
    np.testing.assert_allclose(np.diff(np.log(couplings)), math.log(60) / 29)
    steps = atanh_steps(30, cap=10.0)
    np.testing.assert_allclose(np.tanh(steps[:-1]), np.arange(29) / 29, atol=1e-15)
    assert steps[-1] == 10.0
    assert atanh_steps(5, cap=0.5).max() == 0.5
    for x in (0.5, 0.3):
        coupling, replicas = pseudo_reinforcement(11, x, 0.9).T
        rates = np.linspace(0, 0.9, 11)
        np.testing.assert_allclose(np.tanh(coupling), rates**x)
        # weak fields: tanh^2(coupling) (replicas - 1) = r / (1 - r)
        np.testing.assert_allclose(
            np.tanh(coupling) ** 2 * (replicas - 1), rates / (1 - rates), atol=1e-14
        )
        assert np.all(replicas >= 1)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: exponential(0.0), "first must be"),
        (lambda: exponential(2.0, 1.0), "last must be"),
        (lambda: exponential(steps=1), "steps must be"),
        (lambda: atanh_steps(1), "steps must be"),
        (lambda: atanh_steps(cap=0.0), "cap must be"),
        (lambda: pseudo_reinforcement(exponent=0.6), "exponent must be"),
        (
            lambda: pseudo_reinforcement(exponent=1e-150),
            "exponent must be",
        ),  # an infinite coupling
        (lambda: pseudo_reinforcement(last=1.0), "last must be"),
    ],
)
def test_protocols_refuse(make, match):
    with pytest.raises(ValueError, match=match):
        make()


# ------------------------------------------------------------------------------------------------
# Solutions
# ------------------------------------------------------------------------------------------------


VOTING = TreeCommittee(3, weights=Binary())


def recount(found, xi, sigma):
    """Count the errors of the weights that came back."""
    return np.count_nonzero(found.network.output(xi) != sigma)


@pytest.mark.parametrize(
    ("device", "N", "P", "options"),
    [
        (Perceptron(), 201, 100, {"form": "expanded"}),
        (Perceptron(), 501, 250, {"form": "expanded"}),
        (Perceptron(), 201, 80, {"form": "exact", "replicas": 20}),
        (VOTING, 201, 80, {"form": "expanded"}),
        (Committee(3, weights=Binary()), 201, 80, {"form": "expanded"}),
        (TreeCommittee(3), 201, 201, {"form": "exact"}),
        (TreeCommittee(3), 501, 400, {"form": "expanded"}),
        (Committee(3), 201, 201, {"form": "expanded"}),
        (Perceptron(Spherical()), 201, 140, {"form": "exact"}),
        (Perceptron(), 201, 100, {"form": "expanded", "protocol": pseudo_reinforcement()}),
    ],
)
def test_instances_are_solved(device, N, P, options):
    xi, sigma = patterns.random(P, N, rng=1)
    found = focusing_bp(device, xi, sigma, stop_at_solution=True, max_sweeps=60, rng=1, **options)
    assert found.device == device
    assert found.errors == 0
    assert found.converged
    assert recount(found, xi, sigma) == 0
    if device.weights.discrete:
        assert set(np.unique(found.weights)) == {-1, 1}
    else:
        np.testing.assert_allclose(np.mean(found.weights**2, axis=-1), 1.0, rtol=1e-12)


def test_the_protocol_made_to_solve_brings_its_other_settings():
    xi, sigma = patterns.random(120, 201, rng=1)
    found = focusing_bp(Perceptron(), xi, sigma, protocol="solve", rng=1)
    told = {"form": "expanded", "max_sweeps": 5, "stop_at_solution": True}
    same = focusing_bp(Perceptron(), xi, sigma, protocol=pseudo_reinforcement(), rng=1, **told)
    assert found.errors == 0
    assert len(found.history["errors"]) < 30
    np.testing.assert_array_equal(found.messages["u"], same.messages["u"])
    other = {"form": "exact", "max_sweeps": 7, "stop_at_solution": False}
    given = focusing_bp(Perceptron(), xi, sigma, protocol="solve", rng=1, **other)
    assert len(given.history["errors"]) == 30
    assert given.history["sweeps"].max() == 7
    papers = focusing_bp(Perceptron(), xi, sigma, protocol="papers", rng=1)
    assert len(papers.history["errors"]) == 30
    assert 7 < papers.history["sweeps"].max() <= 200


@BOTH
def test_the_replicas_close_in(weights):
    """The centre polarises along the whole protocol, and ends at a solution."""
    xi, sigma = patterns.random(60, 101, rng=3)
    found = focusing_bp(Perceptron(weights), xi, sigma, form="expanded", max_sweeps=60, rng=0)
    polarisation = found.history["polarisation"]
    assert polarisation[-1] > (0.9 if weights.discrete else 0.75)
    assert np.all(np.diff(polarisation[:20]) > -1e-3)
    assert found.errors == 0


@BOTH
@FORMS
def test_the_record_is_consistent(weights, form):
    xi, sigma = patterns.random(40, 63, rng=2)
    protocol = [0.3, 0.6, 1.2]
    device, options = TreeCommittee(3, weights=weights), {"form": form, "max_sweeps": 30}
    found = focusing_bp(device, xi, sigma, protocol=protocol, rng=0, **options)
    history = found.history
    assert set(history) == {
        "coupling", "replicas", "sweeps", "residual", "settled", "errors", "polarisation",
    }  # fmt: skip
    assert all(len(column) == 3 for column in history.values())
    np.testing.assert_array_equal(history["coupling"], protocol)
    np.testing.assert_array_equal(history["replicas"], 10.0)
    np.testing.assert_array_equal(history["settled"], history["residual"] <= 1e-4)
    assert np.all(history["settled"] | (history["sweeps"] == 30))
    assert found.epochs == history["sweeps"].sum()
    assert found.errors == history["errors"][-1] == recount(found, xi, sigma)
    assert found.converged == (found.errors == 0)
    pairs = [[coupling, 10] for coupling in protocol]
    again = focusing_bp(device, xi, sigma, protocol=pairs, rng=0, **options)
    np.testing.assert_array_equal(again.weights, found.weights)
    for name, column in history.items():
        np.testing.assert_array_equal(again.history[name], column)
    other = focusing_bp(device, xi, sigma, protocol=protocol, rng=1, **options)
    assert not np.array_equal(other.history["residual"], history["residual"])


@BOTH
def test_stop_and_go_on(weights):
    """Messages of a first part are a start for the second."""
    xi, sigma = patterns.random(40, 101, rng=2)
    device, options = Perceptron(weights), {"tolerance": 1e-6, "max_sweeps": 300, "rng": 0}
    first = focusing_bp(device, xi, sigma, protocol=[0.5, 1.0], **options)
    cold = focusing_bp(device, xi, sigma, protocol=[1.0], **options)
    warm = focusing_bp(device, xi, sigma, protocol=[1.0], messages=first.messages, **options)
    assert warm.epochs < cold.epochs
    np.testing.assert_array_equal(warm.weights.shape, first.weights.shape)
    assert warm.history["polarisation"][0] == pytest.approx(
        first.history["polarisation"][1], abs=1e-4
    )
    stopped = focusing_bp(device, xi, sigma, stop_at_solution=True, rng=0)
    errors = stopped.history["errors"]
    assert errors[-1] == 0
    assert np.all(errors[:-1] > 0)


@given(st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_gauge_symmetry(seed):
    """A change of signs changes nothing else, but for rounding and the first messages' signs."""
    xi, sigma = patterns.random(25, 51, rng=2)
    gauge = np.random.default_rng(seed).choice([-1, 1], 51)
    first = belief_propagation(Perceptron(), xi, sigma, rng=0).messages
    protocol = [0.2, 0.5]
    plain = focusing_bp(Perceptron(), xi, sigma, protocol=protocol, messages=first, rng=0)
    first["u"] *= gauge
    turned = focusing_bp(Perceptron(), xi * gauge, sigma, protocol=protocol, messages=first, rng=0)
    np.testing.assert_allclose(
        turned.history["polarisation"], plain.history["polarisation"], atol=1e-8
    )
    assert turned.epochs == plain.epochs
    np.testing.assert_array_equal(turned.weights, plain.weights * gauge)


def test_refusals():
    xi, sigma = patterns.random(4, 6, rng=1)
    for error, match, options in (
        (ValueError, "replicas must be finite and >= 1", {"replicas": 0.5}),
        (ValueError, "replicas must be finite and >= 1", {"replicas": math.inf}),
        (ValueError, "protocol must hold couplings", {"protocol": []}),
        (ValueError, "protocol must hold couplings", {"protocol": 3.0}),
        (ValueError, "protocol must hold couplings", {"protocol": [[1.0, 2.0, 3.0]]}),
        (ValueError, "protocol must hold couplings from 0", {"protocol": [-1.0]}),
        (ValueError, "protocol must hold couplings from 0", {"protocol": [math.inf]}),
        (ValueError, "replicas >= 1", {"protocol": [[1.0, 0.5]]}),
        (ValueError, "protocol must be a rectangular array", {"protocol": [[1.0], [1.0, 2.0]]}),
        (ValueError, "protocol must be one of", {"protocol": "exponential"}),
        (ValueError, "damping must be", {"damping": -0.1}),
        (ValueError, "tolerance must be", {"tolerance": 0.0}),
        (ValueError, "max_sweeps must be", {"max_sweeps": 0}),
        (ValueError, "device must be a Perceptron or", {"device": ParityMachine(3)}),
        (TypeError, "device must be a device", {"device": "perceptron"}),
        (ValueError, "rng must be a non-negative integer", {"rng": -1}),
        (ValueError, "messages", {"messages": {"u": np.zeros((4, 1, 5))}}),
    ):
        with pytest.raises(error, match=match):
            focusing_bp(**({"device": Perceptron(), "xi": xi, "sigma": sigma} | options))


def test_protocols_have_names():
    """A name gives what the array gives, bit for bit."""
    xi, sigma = patterns.random(60, 101, rng=3)
    for device, name, protocol in (
        (Perceptron(), "papers", atanh_steps()),
        (Perceptron(), "solve", pseudo_reinforcement()),
        (Perceptron(Spherical()), "papers", exponential()),
    ):
        options = {"form": "exact", "max_sweeps": 5, "stop_at_solution": False, "rng": 1}
        one = focusing_bp(device, xi, sigma, protocol=name, **options)
        other = focusing_bp(device, xi, sigma, protocol=protocol, **options)
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.history["coupling"], other.history["coupling"])
    with pytest.raises(ValueError, match=r"^protocol must be one of 'papers', 'solve', got"):
        focusing_bp(Perceptron(), xi, sigma, protocol="PNAS")
    with pytest.raises(ValueError, match=r"^protocol must be 'papers' or an array on the sphere"):
        focusing_bp(Perceptron(Spherical()), xi, sigma, protocol="solve")
