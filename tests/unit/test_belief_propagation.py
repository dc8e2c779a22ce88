"""Belief propagation against exact enumeration, closed forms, replica values and its symmetries.

What separates it from the truth is one step: a unit's sum is taken as Gaussian. One pattern
isolates it, and the error falls as 1/N. Several patterns add the loops of the graph, of which
single instances of 15 to 21 weights say little; averages over 200 instances are compared.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from wfmlib import (
    Binary,
    Committee,
    ParityMachine,
    Perceptron,
    ReLU,
    Spherical,
    TreeCommittee,
    patterns,
)
from wfmlib.learning import all_weights, belief_propagation, enumerate_solutions
from wfmlib.learning.messages.belief_propagation import prepare
from wfmlib.learning.messages.factor_graph import BinaryMessages, SphericalMessages
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical

BOTH = pytest.mark.parametrize("weights", [Binary(), Spherical()], ids=["binary", "spherical"])
FORMS = pytest.mark.parametrize("form", ["exact", "expanded"])
DEVICES = [
    device
    for W in (Binary(), Spherical())
    for device in (Perceptron(W), TreeCommittee(3, weights=W), Committee(3, weights=W))
]
TREES = pytest.mark.parametrize("device", [one for one in DEVICES if one.tree], ids=repr)
TIGHT = {"tolerance": 1e-11, "max_sweeps": 3000}


# ------------------------------------------------------------------------------------------------
# One pattern: the Gaussian step alone
# ------------------------------------------------------------------------------------------------


@FORMS
def test_binary_marginals_of_one_pattern(form):
    """The exact mean is ``xi_i C(N - 1, (N - 1) / 2) / 2^(N - 1)``; the error is stated."""
    errors = []
    for N in (15, 31, 61, 121, 241):
        xi, sigma = patterns.random(1, N, rng=1)
        found = belief_propagation(Perceptron(), xi, sigma, form=form, rng=0, **TIGHT)
        half = math.lgamma(N) - 2 * math.lgamma((N + 1) / 2) - (N - 1) * math.log(2)
        ratio = found.means * xi[0] * sigma[0] / math.exp(half)
        assert np.ptp(ratio) < 1e-12
        assert found.entropy == pytest.approx((N - 1) / N * math.log(2), rel=1e-13)
        errors.append((ratio[0] - 1) * N)
    # 1/12 is what the normal law errs by at its centre; the other adds that v is N, not N - 1,
    # and what the tanh and the means to second order leave out.
    limit = 1 / 12 if form == "exact" else -0.327
    assert np.all(np.abs(np.array(errors) - limit) * [15, 31, 61, 121, 241] < 0.35)


@FORMS
def test_spherical_marginals_of_one_pattern(form):
    """On a half sphere the mean along the pattern is that of ``|w_1|`` on the sphere."""
    errors = []
    for N in (15, 31, 61, 121, 241):
        xi, sigma = patterns.random(1, N, rng=1)
        found = belief_propagation(Perceptron(Spherical()), xi, sigma, form=form, rng=0, **TIGHT)
        expected = math.exp(gammaln(N / 2) - gammaln((N + 1) / 2)) / math.sqrt(math.pi)
        errors.append((np.mean(found.means * xi[0] * sigma[0]) / expected - 1) * N)
        # half of the sphere, exactly; the entropy's error is of third order
        assert abs(found.entropy * N + math.log(2)) < 0.06 / N**3
    limit = -0.386 if form == "exact" else -0.885
    assert np.allclose(errors, limit, atol=1.5 / np.array([15, 31, 61, 121, 241]) ** 1.0 + 0.01)


def exact_around(N, coupling, overlap):
    """Return log of the sum of ``exp(coupling w . r)`` over solutions of one pattern, and <w.r>.

    `overlap` weights of the reference r agree with the pattern, the others do not.
    """
    up, down = 1 / (1 + math.exp(-2 * coupling)), 1 / (1 + math.exp(2 * coupling))
    law = np.ones(1)  # of the number of weights along the pattern
    moments = np.zeros(1)  # the same with w . r
    for i in range(N):
        along, sign = (up, 1) if i < overlap else (down, -1)
        step, turned = np.array([1 - along, along]), np.array([-(1 - along), along])
        moments = np.convolve(moments, step) + sign * np.convolve(law, turned)
        law = np.convolve(law, step)
    right = np.arange(N + 1) > N / 2
    total = law[right].sum()
    return math.log(total) + N * math.log(2 * math.cosh(coupling)), moments[right].sum() / total


@FORMS
def test_one_pattern_around_a_reference(form):
    """Free entropy, distance and entropy of P = 1 with a pull: errors of 1/N^2, N of them too."""
    coupling = 0.5
    errors = []
    for N in (21, 41, 81, 161, 321):
        ahead = (N + 3) // 2  # stability 3 / sqrt(N): the pattern matters
        reference = np.ones(N)
        reference[ahead:] = -1
        found = belief_propagation(
            Perceptron(),
            np.ones((1, N)),
            [1],
            reference=reference,
            coupling=coupling,
            form=form,
            rng=0,
            **TIGHT,
        )
        free, overlap = exact_around(N, coupling, ahead)
        assert found.distance == pytest.approx(
            0.5 * (1 - np.mean(found.means * reference)), abs=1e-14
        )
        assert found.entropy == pytest.approx(
            found.free_entropy - coupling * (1 - 2 * found.distance), abs=1e-14
        )
        entropy = free / N - coupling * overlap / N
        errors.append(
            [
                (found.free_entropy - free / N) * N**2,
                (found.distance - 0.5 * (1 - overlap / N)) * N**2,
                (found.entropy - entropy) * N**2,
            ]
        )
    errors = np.abs(errors)
    assert errors.max() < 0.3
    assert np.all(errors.max(axis=0) > 1e-3), "nothing was compared"


# ------------------------------------------------------------------------------------------------
# Several patterns: enumeration
# ------------------------------------------------------------------------------------------------


@functools.cache
def whole_space(N):
    """Return all binary weight vectors as floats."""
    return all_weights(N).astype(np.float32)


def solutions(xi, sigma, units):
    """Return all binary weight vectors that are right on all patterns."""
    w = whole_space(xi.shape[1])
    parts = (xi * sigma[:, None]).astype(np.float32).reshape(len(xi), units, -1)
    votes = sum(np.sign(w.reshape(len(w), units, -1)[:, k] @ parts[:, k].T) for k in range(units))
    return w[np.all(votes > 0, axis=1)]


@functools.cache
def enumerated(N, P, units, seed):
    """Return an instance, the number of its solutions and their mean."""
    xi, sigma = patterns.random(P, N, rng=seed)
    exact = solutions(xi, sigma, units)
    return xi, sigma, len(exact), exact.sum(axis=0) / max(len(exact), 1)


def compare(device, N, P, form, samples=200):
    """Return errors of entropy and means over instances, and how many were left out.

    Where few solutions are left, messages may freeze at a vertex that is none: the entropy is
    then far below zero. Such ends, and those that do not settle, are counted apart.
    """
    entropies, means, sizes = [], [], []
    lost = 0
    for seed in range(samples):
        xi, sigma, number, mean = enumerated(N, P, device.units, seed)
        if number == 0:
            continue
        try:
            with np.errstate(all="ignore"):
                found = belief_propagation(
                    device, xi, sigma, form=form, tolerance=1e-8, max_sweeps=300, rng=0
                )
        except NotConverged:
            lost += 1
            continue
        if not found.converged or found.entropy < -0.2:
            lost += 1
            continue
        entropies.append(found.entropy - math.log(number) / N)
        means.append(np.sqrt(np.mean((found.means.ravel() - mean) ** 2)))
        sizes.append(np.sqrt(np.mean(mean**2)))
    return np.array(entropies), np.mean(means), np.mean(sizes), lost


@pytest.mark.parametrize(
    ("device", "N", "P", "form", "entropy", "mean", "few"),
    [
        (Perceptron(), 15, 3, "exact", 0.001, 0.03, 5),
        (Perceptron(), 15, 3, "expanded", 0.001, 0.03, 5),
        (Perceptron(), 15, 6, "exact", 0.003, 0.08, 25),
        (TreeCommittee(3, weights=Binary()), 15, 6, "exact", 0.006, 0.12, 5),
        (TreeCommittee(3, weights=Binary()), 15, 6, "expanded", 0.006, 0.13, 15),
    ],
)
def test_entropy_and_marginals_against_enumeration(device, N, P, form, entropy, mean, few):
    """The mean error of the entropy is below 1 % of it, that of a marginal below 25 %."""
    errors, off, size, lost = compare(device, N, P, form)
    assert lost <= few
    assert len(errors) > 150
    scatter = errors.std() / math.sqrt(len(errors))
    assert abs(errors.mean()) < entropy + 3 * scatter
    assert scatter < entropy, "nothing is resolved"
    assert off < mean < size / 2


def test_entropy_against_enumeration_at_21_weights():
    errors = []
    for seed in range(20):
        xi, sigma = patterns.random(7, 21, rng=seed)
        found = belief_propagation(Perceptron(), xi, sigma, max_sweeps=300, rng=0)
        if found.converged and found.entropy > -0.2:
            errors.append(found.entropy - enumerate_solutions(Perceptron(), xi, sigma).entropy)
    assert len(errors) > 16
    assert abs(np.mean(errors)) < 0.004
    assert np.max(np.abs(errors)) < 0.06


# ------------------------------------------------------------------------------------------------
# Replica values
# ------------------------------------------------------------------------------------------------


def average(device, N, alpha, samples=10):
    """Return mean and standard error of entropy and overlap over instances."""
    found = []
    for seed in range(samples):
        xi, sigma = patterns.random(round(alpha * N), N, rng=seed)
        one = belief_propagation(device, xi, sigma, rng=0)
        assert one.converged
        assert one.errors == recount(one, xi, sigma)
        found.append([one.entropy, np.mean(one.means**2)])
    return np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / math.sqrt(samples)


def recount(found, xi, sigma):
    """Count the errors of the weights that came back."""
    return np.count_nonzero(found.network.output(xi) != sigma)


@pytest.mark.parametrize(
    ("device", "N", "alpha"),
    [
        (Perceptron(), 501, 0.5),
        (Perceptron(Spherical()), 501, 1.0),
        (TreeCommittee(3), 501, 1.0),
    ],
)
def test_replica_values(device, N, alpha):
    point = typical.solve(device, alpha)
    expected = np.array([point.entropy, point.q])
    mean, error = average(device, N, alpha)
    # 3.5 standard errors of ten instances, scatter below 0.7 / sqrt(N); 2 / N of finite size
    assert np.all(error < 0.7 / math.sqrt(10 * N))
    assert np.all(np.abs(mean - expected) < 3.5 * error + 2 / N)


@TREES
def test_the_forms_and_the_outputs_differ_by_terms_that_vanish(device):
    """Expanded against exact: means apart by c / N."""
    scaled = []
    for N in (99, 399):
        xi, sigma = patterns.random(N // 2, N, rng=3)
        both = [
            belief_propagation(device, xi, sigma, form=form, tolerance=1e-9, rng=0)
            for form in ("exact", "expanded")
        ]
        difference = np.sqrt(np.mean((both[0].means - both[1].means) ** 2))
        assert abs(both[0].entropy - both[1].entropy) < 0.3 / N
        scaled.append(difference * N)
    assert min(scaled) > 0.05
    assert max(scaled) < 2.0
    if device.units == 3:
        gaussian = belief_propagation(device, xi, sigma, output="gaussian", tolerance=1e-9, rng=0)
        assert 1e-4 < abs(gaussian.entropy - both[0].entropy) < 0.05 / 3


# ------------------------------------------------------------------------------------------------
# Symmetries and fixed points
# ------------------------------------------------------------------------------------------------


@st.composite
def instances(draw):
    """Draw a device, an instance and a form, small enough for a few milliseconds."""
    device = draw(st.sampled_from(DEVICES))
    form = draw(st.sampled_from(["exact", "expanded"]))
    seed = draw(st.integers(0, 2**32))
    return device, *patterns.random(12, 45, rng=seed), form


def run(device, xi, sigma, form, **more):
    """Run a fixed number of sweeps."""
    return belief_propagation(
        device, xi, sigma, form=form, tolerance=1e-300, max_sweeps=6, rng=0, **more
    )


def start(device, P, form, seed=5):
    """Return first messages that do not depend on the generator of a run."""
    shape = (P, *(1, *device.shape(45))[-2:])
    u = 0.05 * np.random.default_rng(seed).standard_normal(shape)
    if device.weights.discrete:
        return {"u": u}
    several = 1 if form == "expanded" else shape[2]
    return {"U": u, "V": np.zeros((*shape[:2], several)), "chi": np.ones((shape[1], 1))}


def change(messages, how):
    """Apply a function to the fields among the messages."""
    name = "u" if "u" in messages else "U"
    return messages | {name: how(messages[name])}


@given(instances(), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_gauge_symmetry(case, seed):
    """Turning xi_i over turns the means of weight i over, and nothing else.

    But for rounding: odds of +1 and of -1 are not kept to the same relative precision.
    """
    device, xi, sigma, form = case
    gauge = np.random.default_rng(seed).choice([-1, 1], 45)
    first = start(device, len(xi), form)
    parts = gauge.reshape(device.shape(45)) if device.tree else gauge
    plain = run(device, xi, sigma, form, messages=first)
    turned = run(device, xi * gauge, sigma, form, messages=change(first, lambda u: u * parts))
    np.testing.assert_allclose(turned.means, plain.means * parts, atol=1e-9)
    assert turned.entropy == pytest.approx(plain.entropy, abs=1e-9)
    np.testing.assert_allclose(turned.history["residual"], plain.history["residual"], atol=1e-9)


@given(instances())
@settings(max_examples=10, deadline=None)
def test_a_label_belongs_to_its_pattern(case):
    device, xi, sigma, form = case
    plain = run(device, xi, sigma, form)
    joined = run(device, xi * sigma[:, None], np.ones(len(xi)), form)
    np.testing.assert_array_equal(plain.means, joined.means)


@given(instances(), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_the_numbering_of_patterns_and_units_does_not_matter(case, seed):
    """Parallel order: up to the rounding of sums, which six sweeps may amplify."""
    device, xi, sigma, form = case
    rng = np.random.default_rng(seed)
    first = start(device, len(xi), form)
    plain = run(device, xi, sigma, form, messages=first, order="parallel", damping=0.3)
    moved = rng.permutation(len(xi))
    again = run(
        device,
        xi[moved],
        sigma[moved],
        form,
        messages={name: one if name == "chi" else one[moved] for name, one in first.items()},
        order="parallel",
        damping=0.3,
    )
    np.testing.assert_allclose(again.means, plain.means, atol=1e-8)
    assert again.entropy == pytest.approx(plain.entropy, abs=1e-8)
    units = rng.permutation(device.units)
    columns = np.arange(45)
    if device.tree:
        columns = columns.reshape(device.units, -1)[units].ravel()
    again = run(
        device,
        xi[:, columns],
        sigma,
        form,
        messages={
            name: one[units] if name == "chi" else one[:, units] for name, one in first.items()
        },
        order="parallel",
        damping=0.3,
    )
    expected = plain.means if plain.means.ndim == 1 else plain.means[units]
    np.testing.assert_allclose(again.means, expected, atol=1e-8)
    assert again.entropy == pytest.approx(plain.entropy, abs=1e-8)


@BOTH
@FORMS
def test_one_seed_one_result(weights, form):
    xi, sigma = patterns.random(30, 99, rng=1)
    device = TreeCommittee(3, weights=weights)
    one, same, other = (
        belief_propagation(device, xi, sigma, form=form, rng=seed) for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(one.means, same.means)
    np.testing.assert_array_equal(one.history["residual"], same.history["residual"])
    assert one.entropy == same.entropy
    for name, array in one.messages.items():
        np.testing.assert_array_equal(array, same.messages[name])
    assert not np.array_equal(one.history["residual"], other.history["residual"])


@TREES
@FORMS
def test_one_fixed_point_from_every_way(device, form):
    """Order, damping and the first messages lead to it at different speeds."""
    xi, sigma = patterns.random(40, 99, rng=2)
    options = {"form": form, "rng": 0, **TIGHT}
    plain = belief_propagation(device, xi, sigma, **options)
    assert plain.converged
    for other in (
        {"order": "parallel", "damping": 0.5},
        {"damping": 0.6},
        {"rng": 3},
    ):
        found = belief_propagation(device, xi, sigma, **(options | other))
        assert found.converged
        assert found.residual <= 1e-11
        np.testing.assert_allclose(found.means, plain.means, atol=1e-8)
        assert found.entropy == pytest.approx(plain.entropy, abs=1e-9)
    slower = belief_propagation(device, xi, sigma, **options, damping=0.6)
    assert slower.sweeps > plain.sweeps


@pytest.mark.parametrize("device", DEVICES, ids=repr)
@FORMS
def test_messages_taken_up_again(device, form):
    xi, sigma = patterns.random(30, 99, rng=2)
    options = {"tolerance": 1e-9, "damping": 0.0 if device.tree else 0.5}
    done = belief_propagation(device, xi, sigma, form=form, rng=0, **options)
    assert done.converged
    again = belief_propagation(
        device, xi, sigma, form=form, messages=done.messages, rng=9, **options
    )
    assert again.sweeps == 1
    np.testing.assert_allclose(again.means, done.means, atol=1e-8)
    # What comes back is the caller's own.
    kept = {name: array.copy() for name, array in done.messages.items()}
    belief_propagation(device, xi, sigma, form=form, messages=done.messages, rng=9, **options)
    for name, array in kept.items():
        np.testing.assert_array_equal(done.messages[name], array)
    # Those of the other form are a start: nearer than none.
    other = "exact" if form == "expanded" else "expanded"
    cold = belief_propagation(device, xi, sigma, form=other, rng=0, **options)
    warm = belief_propagation(
        device, xi, sigma, form=other, messages=done.messages, rng=0, **options
    )
    assert cold.converged
    assert warm.converged
    if device.tree:
        np.testing.assert_allclose(warm.means, cold.means, atol=1e-6)
        assert warm.history["residual"][0] < 0.3 * cold.history["residual"][0]


# ------------------------------------------------------------------------------------------------
# The free entropy
# ------------------------------------------------------------------------------------------------


def bethe(engine, arrays):
    """Return the free entropy per weight of given messages, at the norm field that they have.

    On the sphere the norm field's energy is added: only then may it follow the messages.
    """
    engine.load(arrays)
    energy = 0.5 * float(np.mean(engine.chi)) if isinstance(engine, SphericalMessages) else 0.0
    return engine.free_entropy() + energy


@BOTH
def test_free_entropy_is_stationary_in_the_messages(weights):
    """Its slope along any change of messages, against that of a part of it, falls as 1/N.

    Messages are read off at one value of a weight and not averaged over its cavity distribution:
    that is where they are stationary to leading order only.
    """
    name = "u" if weights.discrete else "U"
    ratios = []
    for N in (51, 201, 801):
        xi, sigma = patterns.random(N // 2, N, rng=4)
        found = belief_propagation(Perceptron(weights), xi, sigma, tolerance=1e-12, rng=0)
        engine = prepare(Perceptron(weights), xi, sigma, rng=1)
        # all messages grow, the direction in which most of it would change
        slopes = []
        for fields_only in (False, True):
            values = []
            for step in (1e-4, -1e-4):
                moved = dict(found.messages)
                moved[name] = moved[name] * (1 + step)
                if fields_only:
                    engine.load(moved)
                    values.append(fields_part(engine, found.messages[name]))
                else:
                    values.append(bethe(engine, moved))
            slopes.append((values[0] - values[1]) / 2e-4)
        ratios.append(abs(slopes[0] / slopes[1]) * N)
    assert max(ratios) < 0.3


def fields_part(engine, messages):
    """Return the part of the free entropy that single weights make, per weight."""
    if isinstance(engine, BinaryMessages):
        return float(np.mean(np.logaddexp(engine.fields, -engine.fields)))
    return float(np.mean(0.5 * engine.mu**2 / engine.zeta))


def test_without_patterns_that_constrain_the_norm_field_is_exactly_stationary():
    """Only the norm field and the pull act: ``free entropy + chi / 2`` has its minimum there."""
    N = 41
    rng = np.random.default_rng(1)
    reference = rng.standard_normal(N)
    xi = np.where(reference > 0, 1, -1)[None].astype(np.int8)
    engine = prepare(Perceptron(Spherical()), xi, [1], rng=1)
    engine.load({"U": np.zeros((1, 1, N)), "V": np.zeros((1, 1, N)), "chi": np.ones((1, 1))})
    engine.pull(reference, 5.0)
    zeta, chi = engine.zeta.copy(), engine.chi.copy()

    def value(step):
        engine.zeta, engine.chi = zeta + step, chi + step
        return engine.free_entropy() + 0.5 * float(engine.chi[0, 0])

    slope = (value(1e-4) - value(-1e-4)) / 2e-4
    curvature = (value(1e-4) + value(-1e-4) - 2 * value(0.0)) / 1e-8
    assert abs(slope) < 1e-9
    assert curvature > 1e-3


@BOTH
def test_the_free_entropys_slope_in_the_coupling_is_the_overlap(weights):
    """It need only follow where the free entropy is stationary: to order 1/N."""
    errors = []
    for N in (101, 401):
        xi, sigma = patterns.random(N // 2, N, rng=4)
        start = belief_propagation(Perceptron(weights), xi, sigma, rng=0)
        reference = start.weights
        low, mid, high = (
            belief_propagation(
                Perceptron(weights),
                xi,
                sigma,
                reference=reference,
                coupling=coupling,
                tolerance=1e-11,
                rng=0,
            )
            for coupling in (0.29, 0.30, 0.31)
        )
        if weights.discrete:
            values = [one.free_entropy for one in (low, high)]
            expected = 1 - 2 * mid.distance
        else:  # what the pull costs, without the norm field's energy
            values = [one.entropy - 2 * c * one.distance for one, c in ((low, 0.29), (high, 0.31))]
            expected = -2 * mid.distance
        errors.append(abs((values[1] - values[0]) / 0.02 - expected) * N)
    assert max(errors) < 0.3


# ------------------------------------------------------------------------------------------------
# Results, flags and refusals
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", [one for one in DEVICES if one.units == 3], ids=repr)
def test_what_comes_back(device):
    xi, sigma = patterns.random(20, 45, rng=1)
    found = belief_propagation(device, xi, sigma, damping=0.3, rng=0)
    assert found.device == device
    shape = (3, 15) if device.tree else (3, 45)
    assert found.weights.shape == found.means.shape == found.variances.shape == shape
    assert found.errors == recount(found, xi, sigma)
    assert found.sweeps == found.epochs == len(found.history["residual"])
    assert found.residual == found.history["residual"][-1]
    assert math.isnan(found.distance)
    if device.weights.discrete:
        assert found.weights.dtype == np.int64
        np.testing.assert_array_equal(found.weights, np.where(found.means < 0, -1, 1))
        np.testing.assert_allclose(found.variances, 1 - found.means**2, atol=1e-12)
        assert 0 < found.entropy < math.log(2)
    else:
        np.testing.assert_allclose(np.mean(found.weights**2, axis=1), 1.0, rtol=1e-13)
        directions = found.weights / found.means
        np.testing.assert_allclose(directions, np.broadcast_to(directions[:, :1], shape))
        norm = np.mean(found.variances + found.means**2, axis=1)
        np.testing.assert_allclose(norm, 1.0, rtol=1e-12)
        assert found.entropy < 0


def test_stopped_early_says_so():
    xi, sigma = patterns.random(40, 101, rng=1)
    found = belief_propagation(Perceptron(), xi, sigma, max_sweeps=2, rng=0)
    assert not found.converged
    assert found.sweeps == 2
    assert found.residual > 1e-6


def test_many_sweeps_do_not_drift():
    """Totals are carried through the sweeps; after 300 they still are those of the messages."""
    xi, sigma = patterns.random(30, 61, rng=1)
    for weights, form in itertools.product((Binary(), Spherical()), ("exact", "expanded")):
        engine = prepare(Perceptron(weights), xi, sigma, form, rng=1)
        engine.pull(np.ones(61), 0.2)
        for _ in range(300):
            engine.sweep(damping=0.2, in_place=True)
        fresh = prepare(Perceptron(weights), xi, sigma, form, messages=engine.arrays(), rng=2)
        fresh.pull(np.ones(61), 0.2)
        np.testing.assert_allclose(engine.means(), fresh.means(), atol=1e-12)
        assert engine.entropy() == pytest.approx(fresh.entropy(), abs=1e-12)


@BOTH
def test_messages_that_are_no_numbers_are_told(weights):
    xi, sigma = patterns.random(5, 31, rng=1)
    first = belief_propagation(Perceptron(weights), xi, sigma, rng=0).messages
    name = "u" if "u" in first else "U"
    broken = first[name].copy()
    broken[2, 0, 3] = math.nan
    with pytest.raises((NotConverged, ValueError), match=r"messages|not a number"):
        belief_propagation(Perceptron(weights), xi, sigma, messages=first | {name: broken}, rng=0)


@pytest.mark.parametrize("labels", [(1, -1), (-1, 1)])
def test_a_pattern_with_both_labels_never_looks_like_a_result(labels):
    """No weights satisfy both: what comes back has not converged, or an error says so."""
    xi, _ = patterns.random(1, 51, rng=1)
    try:
        found = belief_propagation(
            Perceptron(Spherical()), np.r_[xi, xi], labels, max_sweeps=50, rng=0
        )
    except NotConverged:
        return
    assert found.errors >= 1
    assert not found.converged


def test_refusals():
    xi, sigma = patterns.random(4, 6, rng=1)
    good = belief_propagation(Perceptron(), xi, sigma, rng=0).messages
    for error, match, options in (
        (ValueError, "units must divide N, got 4 units with N = 6", {"device": TreeCommittee(4)}),
        (ValueError, "output='exact' takes up to 35 units", {"device": Committee(37)}),
        (ValueError, "device must be .* got TreeCommittee", {"device": TreeCommittee(np.inf)}),
        (ValueError, "device must be .* Sign", {"device": TreeCommittee(2, ReLU())}),
        (ValueError, "device must be a Perceptron or", {"device": ParityMachine(3)}),
        (TypeError, "device must be a device", {"device": Binary()}),
        (ValueError, "form must be one of", {"form": "tap"}),
        (ValueError, "output must be one of", {"output": None}),
        (ValueError, "order must be one of", {"order": "serial"}),
        (ValueError, "damping must be", {"damping": 1.0}),
        (ValueError, "tolerance must be", {"tolerance": 0.0}),
        (ValueError, "max_sweeps must be", {"max_sweeps": 0}),
        (ValueError, "coupling must be", {"coupling": -1.0}),
        (ValueError, "coupling needs a reference", {"coupling": 1.0}),
        (ValueError, r"reference must .* got shape \(5,\)", {"reference": np.ones(5)}),
        (ValueError, "reference must hold finite", {"reference": np.full(6, np.nan)}),
        (TypeError, "rng must be None, a non-negative integer", {"rng": 0.5}),
        ((TypeError, ValueError), "messages", {"messages": (good["u"],)}),
        (ValueError, "messages", {"messages": {}}),
        (ValueError, "messages", {"messages": {"u": good["u"][:1]}}),
        (ValueError, "messages", {"messages": good, "device": TreeCommittee(3, weights=Binary())}),
        (ValueError, "messages", {"messages": good, "device": Perceptron(Spherical())}),
    ):
        with pytest.raises(error, match=match):
            belief_propagation(**({"device": Perceptron(), "xi": xi, "sigma": sigma} | options))
    with pytest.raises(ValueError, match="xi must hold -1 and"):
        belief_propagation(Perceptron(), np.zeros((2, 3)), [1, 1], rng=0)
    with pytest.raises(ValueError, match="sigma must have one label per pattern"):
        belief_propagation(Perceptron(), xi, sigma[:2], rng=0)
