"""Approximate message passing against dense statements, belief propagation and replica values.

Two kinds of distance are stated. Between instances, entropy and overlap scatter by c / sqrt(N);
where a replica value is compared, c is measured on small instances, and the mean over instances
may be off by a few 1 / N. On one instance, the messages to single neighbours are expanded in
1 / sqrt(N) to second order; what is left out is of order 1 / N once summed. That is the distance
to belief propagation, of means (root mean square) and of the entropy per weight.
"""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp

from wfmlib import Margin, Perceptron, Spherical, TreeCommittee, patterns
from wfmlib.learning import belief_propagation, focusing_bp
from wfmlib.learning.messages import packed_patterns
from wfmlib.learning.messages.approximate import approximate_message_passing, state_evolution
from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.learning.solution import ENDINGS, NotSettled
from wfmlib.numerics import progress
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical

BOTH = pytest.mark.parametrize("device", [Perceptron(), Perceptron(Spherical())], ids=repr)


# ------------------------------------------------------------------------------------------------
# Slow and obvious statements
# ------------------------------------------------------------------------------------------------


def dense_sweeps(xi, sigma, binary, margin, sweeps):
    """The module's NumPy statement on a matrix of floats, SciPy's tail functions."""
    P, N = xi.shape
    F = sigma[:, None] * xi / np.sqrt(N)
    m, g = np.zeros(N), np.zeros(P)
    for _ in range(sweeps):
        V = np.mean(1 - m**2)
        omega = F @ m - V * g
        u = (margin - omega) / np.sqrt(V)
        hazard = np.exp(-(u**2) / 2 - log_ndtr(-u)) / np.sqrt(2 * np.pi)
        g_old, g = g, hazard / np.sqrt(V)
        stiffness = np.sum(hazard * (hazard - u)) / (N * V)
        B = F.T @ g + stiffness * m
        if binary:
            m = np.tanh(B)
            entropy = np.sum(np.log(2 * np.cosh(B)) - B * m)
        else:
            D = np.roots([1.0, -1.0, -np.mean(B**2)]).max()
            m = B / D
            # chi / 2 + ln int dw exp(-(chi + A) w^2 / 2 + B w) + A / 2 - B m - ln(2 pi e) / 2
            chi = D - stiffness
            entropy = N * (chi / 2 + np.log(2 * np.pi / D) / 2 + stiffness / 2)
            entropy += np.sum(B**2 / (2 * D) - B * m) - N * np.log(2 * np.pi * np.e) / 2
        entropy += np.sum(log_ndtr(-u) + V * g_old**2 / 2)
    return m, g, entropy / N


def dense_belief_propagation(xi, sigma, margin, sweeps):
    """Means and entropy by belief propagation for binary weights: a message for each pair.

    A pattern sees the sum of the other weights as normal; the hidden weight itself is summed
    over its two values.
    """
    P, N = xi.shape
    F = sigma[:, None] * xi / np.sqrt(N)
    means = np.zeros((P, N))  # of weight i without pattern a
    for _ in range(sweeps):
        terms, variances = F * means, (1 - means**2) / N
        omega = terms.sum(axis=1, keepdims=True) - terms
        width = np.sqrt(variances.sum(axis=1, keepdims=True) - variances)
        log_up, log_down = (log_ndtr((omega + s * F - margin) / width) for s in (1, -1))
        fields = (log_up - log_down) / 2
        cavity = fields.sum(axis=0) - fields
        residual = np.abs(np.tanh(cavity) - means).max()
        means = np.tanh(cavity)
    assert residual < 1e-6
    log_weights = logsumexp([log_up.sum(axis=0), log_down.sum(axis=0)], axis=0)
    log_patterns = log_ndtr(((F * means).sum(axis=1) - margin) / np.sqrt((1 - means**2).mean(1)))
    log_pairs = logsumexp(
        [log_up + np.log((1 + means) / 2), log_down + np.log((1 - means) / 2)], axis=0
    )
    entropy = log_weights.sum() + log_patterns.sum() - log_pairs.sum()
    return np.tanh(fields.sum(axis=0)), entropy / N


@BOTH
@pytest.mark.parametrize("margin", [0.0, 0.3, -0.5])
def test_sweep_by_sweep_against_the_dense_statement(device, margin):
    xi, sigma = patterns.random(150, 301, rng=1)
    for sweeps in (1, 2, 7):
        m, g, entropy = dense_sweeps(xi, sigma, device.weights.discrete, margin, sweeps)
        found = approximate_message_passing(
            device, xi, sigma, constraint=Margin(margin), max_sweeps=sweeps
        )
        assert found.sweeps == found.epochs == sweeps
        assert not found.converged
        # rounding: sums of some 300 terms of order 1
        np.testing.assert_allclose(found.means, m, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.messages["pulls"], g, rtol=0, atol=1e-12)
        assert found.entropy == pytest.approx(entropy, abs=1e-12)
        assert found.q == found.history["overlap"][-1] == pytest.approx(np.mean(m**2), abs=1e-12)


@pytest.mark.parametrize(
    ("N", "alpha", "margin"), [(201, 0.5, 0.0), (601, 0.5, 0.0), (301, 0.4, 0.3)]
)
def test_beside_dense_belief_propagation(N, alpha, margin):
    xi, sigma = patterns.random(round(alpha * N), N, rng=N)
    means, entropy = dense_belief_propagation(xi, sigma, margin, sweeps=40)
    found = approximate_message_passing(Perceptron(), xi, sigma, constraint=Margin(margin))
    assert np.sqrt(np.mean((found.means - means) ** 2)) < 2 / N
    assert abs(found.entropy - entropy) < 0.5 / N
    assert found.q > 0.3, "the means compared are all small"


@BOTH
def test_beside_belief_propagation(device):
    N = 301
    xi, sigma = patterns.random(150, N, rng=2)
    expected = belief_propagation(device, xi, sigma, rng=0)
    found = approximate_message_passing(device, xi, sigma)
    assert expected.converged
    assert np.sqrt(np.mean((found.means - expected.means) ** 2)) < 2 / N
    assert np.abs(found.variances - expected.variances).mean() < 2 / N
    assert abs(found.entropy - expected.entropy) < 0.5 / N


@BOTH
@pytest.mark.parametrize("coupling", [0.0, 0.3, 1.5])
def test_around_a_reference_beside_belief_propagation(device, coupling):
    """The local entropy of a solution, and the distance that a coupling selects."""
    N = 501
    xi, sigma = patterns.random(150, N, rng=2)
    reference = focusing_bp(Perceptron(), xi, sigma, protocol="solve", rng=1).weights
    given = {"reference": reference, "coupling": coupling}
    expected = belief_propagation(device, xi, sigma, **given, rng=0)
    found = approximate_message_passing(device, PackedPatterns(xi, sigma), **given)
    assert expected.converged
    assert found.converged
    assert np.sqrt(np.mean((found.means - expected.means) ** 2)) < 2 / N
    assert abs(found.distance - expected.distance) < 1 / N
    assert abs(found.entropy - expected.entropy) < 1 / N
    alone = approximate_message_passing(device, xi, sigma)
    assert math.isnan(alone.distance)
    if coupling == 0.0:
        np.testing.assert_array_equal(found.means, alone.means)
        assert found.entropy == alone.entropy
    else:
        assert found.entropy < alone.entropy


def test_messages_do_not_settle_around_what_is_no_solution():
    """The opposite of a solution; belief propagation does not settle there either."""
    xi, sigma = patterns.random(300, 401, rng=2)
    reference = -focusing_bp(Perceptron(), xi, sigma, protocol="solve", rng=1).weights
    with pytest.warns(NotSettled):
        found = approximate_message_passing(
            Perceptron(), xi, sigma, reference=reference, coupling=3.0, damping=0.5
        )
    assert not found.converged


@BOTH
def test_a_single_pattern_halves_the_space(device):
    N = 1001
    found = approximate_message_passing(device, *patterns.random(1, N, rng=1))
    whole = math.log(2) if device.weights.discrete else 0.0
    # the field on the only pattern is normal with mean 0, up to 1 / N relative
    assert (found.entropy - whole) * N == pytest.approx(-math.log(2), abs=3 / N)
    assert found.errors == 0


# ------------------------------------------------------------------------------------------------
# Random patterns at large N
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "alpha", "margin"),
    [
        (Perceptron(), 0.5, 0.0),
        (Perceptron(), 0.7, 0.0),
        (Perceptron(), 0.3, 0.5),
        (Perceptron(Spherical()), 1.0, 0.0),
        (Perceptron(Spherical()), 0.5, 0.5),
    ],
)
def test_replica_values(device, alpha, margin):
    def run(N, seed):
        packed = PackedPatterns.random(round(alpha * N), N, rng=seed)
        found = approximate_message_passing(device, packed, constraint=Margin(margin))
        assert found.converged
        return np.array([found.entropy, found.q])

    point = typical.solve(device, alpha, Margin(margin))
    assert point.replicon < 1
    expected = np.array([point.entropy, point.q])
    N, samples = 501, 24
    small = np.array([run(N, seed) for seed in range(samples)])
    scatter = small.std(axis=0, ddof=1)
    assert np.all(scatter < 1.2 / np.sqrt(N))
    error = 4 * scatter / np.sqrt(samples) + 5 / N
    assert np.all(np.abs(small.mean(axis=0) - expected) < error)
    error = 4 * scatter * np.sqrt(N / 10_001) + 5 / 10_001
    assert np.all(np.abs(run(10_001, seed=100) - expected) < error)


@BOTH
@pytest.mark.parametrize("margin", [0.0, 0.4, -0.4])
def test_state_evolution_ends_at_the_saddle_point(device, margin):
    alpha = 0.3
    point = typical.solve(device, alpha, Margin(margin))
    predicted = state_evolution(device, alpha, 80, constraint=Margin(margin))
    assert predicted[-1] == pytest.approx(point.q, abs=1e-11)
    assert abs(predicted[0] - point.q) > 1e-3


def test_first_step_of_state_evolution():
    # all pulls are h(0) = sqrt(2 / pi): q_hat = 2 alpha / pi, and q = q_hat (1 - q)^2
    (q,) = state_evolution(Perceptron(Spherical()), 0.8, 1)
    assert q / (1 - q) ** 2 == pytest.approx(1.6 / np.pi, rel=1e-12)
    assert np.all(state_evolution(Perceptron(), 0.0, 3) == 0.0)


@pytest.mark.parametrize(
    ("device", "alpha"),
    [(Perceptron(), 5.0), (Perceptron(Spherical()), 20.0), (Perceptron(), 1e300)],
)
def test_state_evolution_says_where_the_overlap_reaches_one(device, alpha):
    with pytest.raises(NotConverged, match="the overlap reaches 1 in sweep") as failure:
        state_evolution(device, alpha, 500)
    before = failure.value.state
    assert len(before) == failure.value.report.iterations - 1
    assert np.all((before > 0.0) & (before <= 1.0))
    assert np.all(np.diff(before) >= 0.0)
    if len(before):
        np.testing.assert_array_equal(state_evolution(device, alpha, len(before)), before)


@pytest.mark.parametrize("seed", range(3))
def test_messages_that_settle_on_more_than_all_weights_are_refused(seed):
    """One weight, contradictory patterns: the fixed point has an entropy of order 1e7."""
    rng = np.random.default_rng(seed)
    xi, sigma = rng.choice([-1, 1], (8, 1)), rng.choice([-1, 1], 8)
    with pytest.raises(NotConverged, match="settled on no set of solutions"):
        approximate_message_passing(Perceptron(Spherical()), xi, sigma)


@BOTH
def test_sweeps_follow_state_evolution(device):
    N, alpha, margin, samples = 2001, 0.6, 0.1, 16
    overlaps = np.array(
        [
            approximate_message_passing(
                device,
                PackedPatterns.random(round(alpha * N), N, rng=seed),
                constraint=Margin(margin),
                max_sweeps=8,
            ).history["overlap"]
            for seed in range(samples)
        ]
    )
    predicted = state_evolution(device, alpha, 8, constraint=Margin(margin))
    error = overlaps.std(axis=0, ddof=1) / np.sqrt(samples)
    assert np.all(error < 0.003), "nothing is resolved"
    assert np.all(np.abs(overlaps.mean(axis=0) - predicted) < 4.5 * error + 5 / N)


@BOTH
@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_the_means_store_the_patterns(device, margin):
    """At a fixed point ``F m = omega + V g``: the mean of a normal field cut off at the margin."""
    packed = PackedPatterns.random(300, 601, rng=1)
    found = approximate_message_passing(device, packed, constraint=Margin(margin), tolerance=1e-10)
    assert np.all(packed.fields(found.means) > margin * np.sqrt(601))
    if device.weights.discrete:
        np.testing.assert_array_equal(found.weights == 1, found.weights > 0)
        assert found.errors == min(found.history["errors"])
        assert found.weights.dtype == np.int64
    else:
        assert found.errors == 0
        assert np.mean(found.weights**2) == pytest.approx(1.0, rel=1e-14)
        np.testing.assert_allclose(found.weights, found.means / np.sqrt(found.q), rtol=1e-12)


@BOTH
def test_errors_are_the_networks(device):
    xi, sigma = patterns.random(300, 401, rng=1)
    found = approximate_message_passing(device, xi, sigma, constraint=Margin(-0.2), max_sweeps=1)
    assert found.device == device
    stabilities = found.network.stabilities(xi, sigma)
    assert found.errors == np.count_nonzero(stabilities <= -0.2) > 0
    expected = 1 - found.means**2 if device.weights.discrete else np.full(401, 1 - found.q)
    np.testing.assert_allclose(found.variances, expected, rtol=1e-14)


@BOTH
def test_a_change_of_signs_changes_nothing_else(device):
    xi, sigma = patterns.random(200, 401, rng=1)
    flips = patterns.random(1, 401, rng=2)[0][0]
    plain, gauged = (
        approximate_message_passing(device, x, sigma, tolerance=1e-12) for x in (xi, xi * flips)
    )
    np.testing.assert_allclose(gauged.means, plain.means * flips, rtol=0, atol=1e-10)
    assert gauged.entropy == pytest.approx(plain.entropy, abs=1e-12)


# ------------------------------------------------------------------------------------------------
# Starts, stops and what goes wrong
# ------------------------------------------------------------------------------------------------


@BOTH
def test_the_end_depends_neither_on_the_start_nor_on_damping(device):
    packed = PackedPatterns.random(300, 601, rng=1)
    plain = approximate_message_passing(device, packed, tolerance=1e-11)
    for other in ({"rng": 5}, {"damping": 0.4}, {"damping": 0.2, "rng": 6}):
        found = approximate_message_passing(device, packed, tolerance=1e-11, **other)
        assert found.converged
        assert abs(found.history["residual"][3] - plain.history["residual"][3]) > 1e-4
        np.testing.assert_allclose(found.means, plain.means, rtol=0, atol=1e-9)
        assert found.entropy == pytest.approx(plain.entropy, abs=1e-11)


@BOTH
def test_a_random_start_has_half_of_each_sign(device):
    """Means of +-1/2, drawn from the generator, and no pulls."""
    packed = PackedPatterns.random(300, 601, rng=1)
    means = 0.5 * np.random.default_rng(5).choice([-1.0, 1.0], size=601)
    drawn = approximate_message_passing(device, packed, rng=5, max_sweeps=3)
    given = {"means": means, "pulls": np.zeros(300)}
    told = approximate_message_passing(device, packed, messages=given, max_sweeps=3)
    np.testing.assert_array_equal(drawn.means, told.means)


@pytest.mark.parametrize("square", [1.0, 1.05, 4.0])
def test_means_that_no_weights_have_are_refused(square):
    packed = PackedPatterns.random(300, 601, rng=1)
    given = {"means": np.full(601, math.sqrt(square)), "pulls": np.zeros(300)}
    with pytest.raises(ValueError, match="must have a mean square below 1, got"):
        approximate_message_passing(Perceptron(), packed, messages=given)


@BOTH
def test_stopped_and_continued(device):
    packed = PackedPatterns.random(300, 601, rng=1)
    whole = approximate_message_passing(device, packed, damping=0.2)
    part = approximate_message_passing(device, packed, damping=0.2, max_sweeps=5)
    rest = approximate_message_passing(device, packed, damping=0.2, messages=part.messages)
    assert part.sweeps == 5
    for name in ("residual", "overlap"):
        joined = np.r_[part.history[name], rest.history[name]]
        np.testing.assert_array_equal(joined, whole.history[name])
    np.testing.assert_array_equal(rest.means, whole.means)
    assert rest.entropy == whole.entropy
    assert rest.residual == rest.history["residual"][-1] <= 1e-6 < part.residual


@BOTH
def test_threads_change_no_bit(device, monkeypatch):
    monkeypatch.setattr(packed_patterns, "_ALONE", 0)
    packed = PackedPatterns.random(300, 601, rng=1)
    one, three = (
        approximate_message_passing(device, packed, threads=threads) for threads in (1, 3)
    )
    np.testing.assert_array_equal(one.means, three.means)
    assert one.entropy == three.entropy


@BOTH
def test_far_above_capacity_there_is_no_answer(device):
    packed = PackedPatterns.random(2000, 401, rng=1)
    if device.weights.discrete:
        with pytest.warns(NotSettled):
            found = approximate_message_passing(device, packed, max_sweeps=100)
        assert found.outcome == ENDINGS[2]
        assert found.errors == min(found.history["errors"]) > 0
        return
    with pytest.raises(NotConverged, match="not a finite number in sweep") as caught:
        approximate_message_passing(device, packed)
    assert caught.value.report.iterations > 1
    assert caught.value.state["errors"] == packed.errors(caught.value.state["weights"]) > 0
    for name in ("means", "pulls"):
        assert np.all(np.isfinite(caught.value.state[name]))


def test_opposite_patterns_leave_no_direction():
    row = patterns.random(1, 51, rng=1)[0]
    found = approximate_message_passing(Perceptron(Spherical()), np.r_[row, -row], [1, 1])
    assert found.q == 0.0
    assert found.errors >= 1


def test_repr_says_whether_to_believe_it():
    packed = PackedPatterns.random(100, 201, rng=1)
    assert ": converged after" in repr(approximate_message_passing(Perceptron(), packed))
    stopped = approximate_message_passing(Perceptron(), packed, max_sweeps=2)
    assert "NOT CONVERGED after 2 sweeps" in repr(stopped)


def test_progress(capsys, monkeypatch):
    packed = PackedPatterns.random(100, 201, rng=1)
    approximate_message_passing(Perceptron(), packed, progress=True)
    assert capsys.readouterr().err == "", "a bar before two seconds have passed"
    monkeypatch.setattr(progress, "DELAY", 0.0)
    approximate_message_passing(Perceptron(), packed)
    assert capsys.readouterr().err == ""
    approximate_message_passing(Perceptron(), packed, progress=True)
    assert "sweep" in capsys.readouterr().err


def test_refusals():
    xi, sigma = patterns.random(4, 6, rng=1)
    packed = PackedPatterns(xi, sigma)
    good = {"means": np.zeros(6), "pulls": np.zeros(4)}
    with pytest.raises(TypeError, match="sigma must be given"):
        approximate_message_passing(Perceptron(), xi)
    with pytest.raises(ValueError, match="sigma must be left out"):
        approximate_message_passing(Perceptron(), packed, sigma)
    for door in (approximate_message_passing, state_evolution):
        with pytest.raises(ValueError, match="device must be a Perceptron of"):
            door(TreeCommittee(1), 1.0, 1)
        with pytest.raises(TypeError, match=r"constraint must be Margin\(\.\.\.\), got 0.3"):
            door(Perceptron(), 1.0, 1, constraint=0.3)
    with pytest.raises(ValueError, match="damping must be finite and >= 0 and < 1"):
        approximate_message_passing(Perceptron(), packed, damping=1.0)
    with pytest.raises(ValueError, match="tolerance must be"):
        approximate_message_passing(Perceptron(), packed, tolerance=0.0)
    with pytest.raises(ValueError, match="max_sweeps must be"):
        approximate_message_passing(Perceptron(), packed, max_sweeps=0)
    with pytest.raises(ValueError, match="coupling must be finite and >= 0 and <= 100"):
        approximate_message_passing(Perceptron(), packed, reference=np.ones(6), coupling=101.0)
    with pytest.raises(ValueError, match="coupling needs a reference"):
        approximate_message_passing(Perceptron(), packed, coupling=1.0)
    with pytest.raises(ValueError, match=r"reference must have shape \(6,\)"):
        approximate_message_passing(Perceptron(), packed, reference=np.ones(5))
    with pytest.raises(ValueError, match="reference must not be zero"):
        approximate_message_passing(Perceptron(), packed, reference=np.zeros(6))
    with pytest.raises(ValueError, match="messages and rng"):
        approximate_message_passing(Perceptron(), packed, messages=good, rng=1)
    for wrong, got in ((tuple(good.values()), "got tuple$"), ({"h": 1}, "got dict of h$")):
        with pytest.raises(TypeError, match=f"messages must be those of an earlier.*{got}"):
            approximate_message_passing(Perceptron(), packed, messages=wrong)
    for error, match, wrong in (
        (ValueError, r"\['pulls'\] must have shape \(4,\)", {"pulls": np.zeros(5)}),
        (ValueError, r"\['means'\] must be finite", {"means": np.full(6, np.nan)}),
        (TypeError, r"\['means'\] must hold real", {"means": ["a"] * 6}),
        (ValueError, "mean square below 1", {"means": np.ones(6)}),
    ):
        with pytest.raises(error, match=match):
            approximate_message_passing(Perceptron(), packed, messages=good | wrong)
    with pytest.raises(ValueError, match="progress must be"):
        approximate_message_passing(Perceptron(), packed, progress="yes")
    with pytest.raises(ValueError, match="alpha must be"):
        state_evolution(Perceptron(), -0.1, 3)
    with pytest.raises(ValueError, match="sweeps must be"):
        state_evolution(Perceptron(), 0.1, 0)
