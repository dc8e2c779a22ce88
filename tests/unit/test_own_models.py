"""Priors, constraints, activations of one's own: classes outside of the package, plain sums.

`Discrete` of -1 and +1 is `Binary` computed another way; of more values its terms are checked
against their own derivatives and against counting.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special
from scipy.optimize import brentq

from wfmlib import (
    Activation,
    Binary,
    Committee,
    CrossEntropy,
    Margin,
    Perceptron,
    ReLU,
    Spherical,
    TreeCommittee,
    landscape,
    learning,
    patterns,
)
from wfmlib.learning.descent import cross_entropy_sgd, schedules
from wfmlib.models import Discrete, PatternWeight
from wfmlib.models.activations import EffectiveOverlap, EnergeticTerm
from wfmlib.models.constraints.log_concave import LogConcave
from wfmlib.models.weights import Entropic
from wfmlib.numerics import gaussian
from wfmlib.theory import clusters, franz_parisi, large_deviation, typical

PAGE = Path(__file__).resolve().parents[2] / "book" / "extending.md"
X = np.arange(-10.0, 10.0, 0.02)  # the trapezoidal rule is spectral on the line
DENSITY = 0.02 * gaussian.G(X)
SIGNS, THREE = Discrete((-1, 1)), Discrete((-1, 0, 1))
PRIORS = pytest.mark.parametrize(
    "weights", [THREE, Discrete((-2, -1, 1, 2)), Discrete((-1, 0, 1), 0.2)], ids=str
)


# ------------------------------------------------------------------------------------------------
# Classes that the package does not know
# ------------------------------------------------------------------------------------------------


class Ternary:
    """Weights -a, 0 and a, a third of them 0 and ``a^2 = 3 / 2``: what typical solutions need."""

    discrete, entropy = True, math.log(3.0)

    def entropic(self, q_hat):
        a = math.sqrt(1.5)
        cosh = 2.0 * np.cosh(a * math.sqrt(q_hat) * X)
        z = math.exp(brentq(lambda y: DENSITY @ (1 / (1 + cosh * math.exp(-y))) - 1 / 3, -9, 99))
        mean = a * 2.0 * np.sinh(a * math.sqrt(q_hat) * X) / (z + cosh)
        variance = a**2 * cosh / (z + cosh) - mean**2
        gap = DENSITY @ variance
        term = DENSITY @ np.log(z + cosh) - math.log(z) / 3 - 0.5 * q_hat * gap
        return Entropic(1.0 - gap, gap, term, DENSITY @ variance**2)


@dataclass(frozen=True)
class ErrorFunction(EnergeticTerm):
    """Units ``erf(gain x)``: their effective overlap is known in closed form."""

    gain: float

    def effective(self, q, complement):
        k = 2.0 * self.gain**2 / (1.0 + 2.0 * self.gain**2)
        norm, root = math.asin(k), np.sqrt(1.0 - (k * q) ** 2)
        # asin(k) - asin(k q), without a difference
        gap = math.asin(k * root - k * q * math.sqrt(1.0 - k * k))
        return EffectiveOverlap(
            1.0 - gap / norm, gap / norm, k / root / norm, k**3 * q / root**3 / norm
        )

    def __call__(self, x):
        return special.erf(self.gain * x)

    scale = property(
        lambda self: math.sqrt(2 / math.pi * math.asin(1 - 1 / (1 + 2 * self.gain**2)))
    )
    slope_at_one = property(lambda self: float(self.effective(1.0, 0.0).slope))


@dataclass(frozen=True)
class Swish:
    """``x / (1 + exp(-x))``: a function with a slope of its own."""

    def __call__(self, x):
        return x * special.expit(x)

    def derivative(self, x):
        return special.expit(x) * (1.0 + x * special.expit(-x))


def device(weights=None, activation=None):
    """Return the perceptron, or many units, with parts of one's own."""
    if activation is None:
        return Perceptron(weights or Binary())
    return TreeCommittee(math.inf, activation, weights or Binary())


def capacity(*parts):
    return typical.capacity(device(*parts))


def test_a_ternary_prior_of_one_method_has_its_typical_solutions():
    assert capacity(Ternary()) == pytest.approx(capacity(THREE), rel=1e-10)
    assert capacity(THREE) == pytest.approx(1.17234, abs=5e-6)
    state, again = (typical.solve(device(one), 0.5) for one in (Ternary(), THREE))
    for name in ("q", "entropy", "replicon"):
        assert getattr(state, name) == pytest.approx(getattr(again, name), rel=1e-10)


def test_a_loss_of_ones_own_is_the_one_of_the_package():
    """The cross-entropy, from the logarithm of its weight alone."""
    gamma, beta = 1.3, 2.0
    mine = PatternWeight(lambda s: -beta * np.logaddexp(0.0, -2.0 * gamma * s) / (2.0 * gamma))
    ours, point = (
        typical.solve(Perceptron(), 0.5, one) for one in (mine, CrossEntropy(gamma, beta))
    )
    for name in ("q", "entropy", "free_entropy", "replicon"):
        assert getattr(ours, name) == pytest.approx(getattr(point, name), rel=1e-9)
    assert ours.energy == pytest.approx(beta * point.energy, rel=1e-9)
    assert ours.error_rate == pytest.approx(point.error_rate, rel=1e-4)


def test_a_noisy_threshold_is_a_margin_of_a_wider_field():
    """A weight ``H(-s / noise)`` averages to ``H(-omega / sqrt(variance + noise^2))``."""
    noise, omega = 0.5, np.linspace(-3.0, 3.0, 7)
    mine = PatternWeight(lambda s: gaussian.log_H(-s / noise)).at(omega, 0.4)
    exact = Margin(0.0).at(omega, 0.4 + noise**2)
    for name in ("log_weight", "slope", "curvature"):
        assert np.allclose(getattr(mine, name), getattr(exact, name), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("weights", [Binary(), THREE], ids=str)
def test_an_activation_of_ones_own_is_that_of_its_function(weights):
    gain = 1.5
    mine, given = ErrorFunction(gain), Activation(lambda x: special.erf(gain * x))
    assert (mine.scale, mine.slope_at_one) == pytest.approx(
        (given.scale, given.slope_at_one), rel=1e-10
    )
    for q in (0.1, 0.6, 0.95):
        ours = mine.effective(q, 1.0 - q)
        assert tuple(ours) == pytest.approx(tuple(given.effective(q, 1.0 - q)), rel=1e-9)
    assert capacity(weights, mine) == pytest.approx(capacity(weights, given), rel=1e-9)


def test_the_page_on_a_model_of_ones_own_says_what_comes_out():
    """Every number in its code and text."""
    soft = PatternWeight(lambda s: -np.logaddexp(0.0, -5.0 * s))
    around = franz_parisi.solve(device(THREE), 0.5, 0.1)
    numbers = [
        capacity(Ternary()),
        typical.solve(device(Ternary()), 0.5).entropy,
        around.local_entropy,
        THREE.bound(0.1),
        typical.solve(Perceptron(), 0.5, soft).free_entropy,
        capacity(Binary(), ErrorFunction(1.5)),
        capacity(Spherical(), Activation(Swish())),
        capacity(Spherical(), ReLU()),
    ]
    assert re.findall(r"\d\.\d{4}", PAGE.read_text()) == [f"{one:.4f}" for one in numbers]


# ------------------------------------------------------------------------------------------------
# Training units of one's own
# ------------------------------------------------------------------------------------------------


def leaky(x):
    return np.where(x > 0.0, x, 0.1 * x)


def rectified(x):
    return np.maximum(x, 0.0)


UNITS = {
    "swish": Activation(Swish()),
    "by differences": Activation(lambda x: x * special.expit(x)),
    "leaky": Activation(leaky, lambda x: np.where(x > 0.0, 1.0, 0.1)),
    "a class for theory": ErrorFunction(1.5),
    "ReLU": ReLU(),
}


def descent_of(unit, tree, K=4, N=24, P=30):
    """Return the inner state of a descent, and patterns and labels."""
    xi, sigma = patterns.random(P, N, rng=3)
    width = N // K if tree else N
    made = xi * sigma[:, None], K, width, schedules.FAST, np.random.default_rng(5)
    return cross_entropy_sgd._OtherUnits(*made, unit, sigma), xi, sigma


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("name", UNITS)
def test_gradients_of_units_of_ones_own_are_slopes_of_the_loss(name, tree):
    """The loss as the formula has it, by central differences in every weight."""
    descent, xi, sigma = descent_of(UNITS[name], tree)
    w, gamma = descent.w[:, : descent.width].copy(), descent.gamma
    votes = np.array([1.0, 1.0, -1.0, -1.0])
    seen = xi.reshape(len(xi), 4, -1) if tree else np.repeat(xi[:, None], 4, axis=1)

    def loss(w):
        answers = np.asarray(UNITS[name](np.einsum("pki,ki->pk", seen, w)))
        stability = sigma * (answers @ votes) / math.sqrt(4)
        return np.sum(np.logaddexp(0.0, -2.0 * gamma * stability)) / (2.0 * gamma)

    pulls = descent.pulls(np.arange(len(xi)))
    gradient = -np.einsum("pk,p,pki->ki", pulls, sigma, seen)
    for at in np.ndindex(w.shape):
        step = np.zeros_like(w)
        step[at] = 1e-5
        assert gradient[at] == pytest.approx((loss(w + step) - loss(w - step)) / 2e-5, abs=1e-7)
    total, errors = descent._measure()
    assert total == pytest.approx(loss(w), rel=1e-12)
    network = learner(UNITS[name], tree).network(math.sqrt(w.shape[1]) * w)
    assert errors == network.errors(xi, sigma)


def learner(unit, tree, K=4):
    return (TreeCommittee if tree else Committee)(K, unit)


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("name", [name for name in UNITS if name != "ReLU"])
def test_units_of_ones_own_are_trained(name, tree):
    xi, sigma = patterns.random(100, 120, rng=1)
    device = learner(UNITS[name], tree, K=10)
    found = learning.cross_entropy_sgd(device, xi, sigma, rng=1, max_epochs=2000)
    assert found.converged
    assert found.errors == found.network.errors(xi, sigma) == found.history["errors"][-1] == 0
    assert np.sum(found.weights**2, axis=1) == pytest.approx(found.weights.shape[1])
    answers = UNITS[name](found.network.fields(xi))
    assert np.all(sigma * (answers @ found.network.votes) > 0.0)
    robust = landscape.noise_robustness(found, xi, sigma, noise=[0.0, 0.3], rng=1)
    assert robust.accuracy[0] == 1.0 > robust.accuracy[1] > 0.5
    assert landscape.error_profile(found, xi, sigma, distances=[0.0], rng=1).error_rate[0] == 0.0
    for measure, asked in (
        (landscape.local_entropy, {}),
        (landscape.hessian, {"beta": 1.0}),
        (landscape.smoothed_loss, {"beta": 1.0}),
    ):
        with pytest.raises(TypeError, match=r"solution must be .* of sign units, got Activation"):
            measure(found, xi, sigma, **asked)


def test_rectifiers_written_by_oneself_are_those_of_the_package():
    xi, sigma = patterns.random(150, 120, rng=2)
    mine = Activation(rectified, ReLU().derivative)
    one, two = (
        learning.cross_entropy_sgd(TreeCommittee(10, unit), xi, sigma, rng=4, max_epochs=50)
        for unit in (ReLU(), mine)
    )
    np.testing.assert_array_equal(one.weights, two.weights)
    assert one.errors == two.errors
    np.testing.assert_array_equal(one.history["loss"], two.history["loss"])


def test_a_run_that_ends_early_returns_the_best_weights_it_saw():
    xi, sigma = patterns.random(300, 120, rng=2)
    device = TreeCommittee(4, UNITS["leaky"])
    with pytest.warns(learning.NoSolution):
        found = learning.cross_entropy_sgd(device, xi, sigma, rng=1, max_epochs=60)
    assert not found.converged
    assert found.errors == min(found.history["errors"]) < found.history["errors"][-1]


@pytest.mark.parametrize(
    ("unit", "units", "told"),
    [
        (
            Activation(lambda x: np.where(x > 0.3, 1.0, 0.0)),
            4,
            "does not jump.*smooth another step",
        ),
        (UNITS["swish"], 3, "even number of units"),
        (Activation(np.tanh, np.cos), 4, "whose derivative is its slope.* differences are"),
    ],
)
def test_what_cannot_be_descended_is_refused(unit, units, told):
    xi, sigma = patterns.random(5, 12, rng=1)
    with pytest.raises(ValueError, match=told):
        learning.cross_entropy_sgd(TreeCommittee(units, unit), xi, sigma, rng=1)


@pytest.mark.parametrize("algorithm", ["least_action", "focusing_bp", "belief_propagation"])
def test_other_algorithms_name_the_one_that_trains_units_of_ones_own(algorithm):
    xi, sigma = patterns.random(5, 12, rng=1)
    with pytest.raises(ValueError, match=r"in hidden units, Sign\(\); got .* cross_entropy_sgd"):
        getattr(learning, algorithm)(TreeCommittee(4, UNITS["swish"]), xi, sigma)


def test_the_recipe_of_the_page_runs():
    """The code as it stands on the page, whose numbers are compared above."""
    code = re.search(r"```python\n(import numpy.*?)```", PAGE.read_text(), re.DOTALL).group(1)
    names: dict = {}
    exec(code, names)
    assert names["own"] == pytest.approx(capacity(Spherical(), Activation(Swish())), rel=1e-12)
    assert names["rectifiers"] == capacity(Spherical(), ReLU())
    assert names["found"].errors == 0
    assert names["found"].network.errors(names["xi"], names["sigma"]) == 0


# ------------------------------------------------------------------------------------------------
# Two values are binary weights
# ------------------------------------------------------------------------------------------------

REFERENCE = SimpleNamespace(q_hat=1.3)
RULE = gaussian.legendre_rule(12)
TERMS = [
    *[("entropic", (q_hat,)) for q_hat in (1e-6, 0.3, 2.0, 1e4, 1e12)],
    *[("bound", (distance,)) for distance in (0.0, 0.01, 0.2, 0.5, 1.0)],
    *[
        ("constrained", (*given, REFERENCE))
        for given in ((0.1, 1.0, 0.5), (0.01, 20.0, 0.9), (0.4, 0.2, 0.0), (0.2, 500.0, 0.3))
    ],
    *[("broken", given) for given in ((1.0, 0.5, 0.6), (2.0, 1.0, 3.0), (5.0, 20.0, 0.2))],
    *[
        ("constrained_broken", (*given, REFERENCE, RULE))
        for given in ((0.1, 1.0, 0.5, 0.5, 0.6), (0.3, 0.5, 0.2, 0.1, 1.5))
    ],
    *[("conjugate", (overlap,)) for overlap in (0.1, 0.7, 0.99)],
    *[("replicas", (overlap, 0.3, y)) for overlap in (0.3, 0.9) for y in (2.0, 5.0)],
    *[("limit", (overlap, -0.5)) for overlap in (0.3, 0.9)],
    *[("unloaded", (overlap, y)) for overlap in (0.3, 0.9) for y in (2.0, math.inf)],
]


def numbers(term):
    return [one for one in np.atleast_1d(np.array(term, dtype=object)) if one is not None]


@pytest.mark.parametrize(("name", "given"), TERMS, ids=lambda one: str(one)[:40])
def test_sums_over_two_values_are_the_compiled_terms(name, given):
    ours, compiled = (numbers(getattr(one, name)(*given)) for one in (SIGNS, Binary()))
    assert ours == pytest.approx(compiled, rel=1e-12, abs=1e-14)


def test_what_has_no_argument_is_the_same():
    for name in ("discrete", "entropy", "collapse", "largest_log_hat", "narrowest"):
        assert getattr(SIGNS, name) == pytest.approx(getattr(Binary(), name), rel=1e-14)


def test_fields_far_out_that_a_group_favours_are_not_cut():
    """Closed form for two replicas: ``<(2 cosh h)^2> = 2 + 2 exp(2 split)``."""
    at = SIGNS.group(0.0, 1.0, 2.0)
    assert at.term == pytest.approx(0.5 * math.log(2.0 + 2.0 * math.exp(2.0)), rel=1e-15)


# ------------------------------------------------------------------------------------------------
# More values
# ------------------------------------------------------------------------------------------------


def slope(function, place, step):
    """Return the derivative of an array, by differences of fourth order."""
    values = {k: np.array(function(place + k * step), dtype=float) for k in (-2, -1, 1, 2)}
    return (8.0 * (values[1] - values[-1]) - values[2] + values[-2]) / (12.0 * step)


@PRIORS
def test_typical_term_is_stationary(weights):
    for q_hat in (0.2, 3.0):
        q, _, term, _ = slope(weights.entropic, q_hat, 1e-3 * q_hat)
        assert term == pytest.approx(0.5 * q_hat * q, rel=1e-7)


@PRIORS
def test_term_at_a_distance_is_stationary(weights):
    distance, p_hat, correlation = 0.15, 1.2, 0.6
    t0_hat = correlation * math.sqrt(p_hat * REFERENCE.q_hat)

    def term(d, p_hat=p_hat, correlation=correlation):
        return weights.constrained(d, p_hat, correlation, REFERENCE)

    p, _, t0, _, height, _ = -0.5 * slope(term, distance, 1e-3)  # in t1
    assert height == pytest.approx(0.5 * p_hat * p + t0_hat * t0 - term(distance).t1_hat, rel=1e-7)
    # p_hat and t0_hat = correlation sqrt(p_hat q_hat) on their own
    p, _, t0, _, height, _ = slope(lambda r: term(distance, correlation=r), correlation, 1e-3)
    assert height == pytest.approx(0.5 * p_hat * p + t0_hat * t0, rel=1e-7)
    p, _, t0, _, height, _ = slope(
        lambda one: term(distance, one, t0_hat / math.sqrt(one * REFERENCE.q_hat)), p_hat, 1e-3
    )
    assert height == pytest.approx(0.5 * p_hat * p + t0_hat * t0, rel=1e-7)


@PRIORS
def test_term_of_groups_is_stationary(weights):
    m = 0.7
    given = 0.8, 1.1, m  # q0_hat, split
    at = weights.group(*given)
    for i, expected in enumerate(
        (
            0.5 * (at.complement + m * at.spread),
            0.5 * (at.complement + m * (at.common + at.spread)),
            at.information / m**2,
        )
    ):
        moved = slope(
            lambda one, i=i: weights.group(*given[:i], one, *given[i + 1 :]).term, given[i], 1e-3
        )
        assert moved == pytest.approx(expected, rel=1e-7)
    assert at.common + at.spread + at.complement == pytest.approx(1.0, rel=1e-13)


@PRIORS
def test_groups_without_a_split_are_no_groups(weights):
    at = weights.constrained(0.1, 1.0, 0.4, REFERENCE)
    grouped = weights.constrained_broken(0.1, 1.0, 0.4, 1e-9, 0.7, REFERENCE)
    assert (grouped.p0, grouped.complement, grouped.t0) == pytest.approx(
        (at.p, at.complement, at.t0), abs=1e-8
    )
    assert grouped.term == pytest.approx(at.term, abs=1e-8)


@PRIORS
def test_frozen_weights_collapse_as_stated(weights):
    assert 1e12 * weights.entropic(1e12).complement ** 2 == pytest.approx(
        weights.collapse, rel=1e-5
    )


def test_without_patterns_configurations_are_counted():
    """Multinomial numbers of N weights: their logarithm over N errs by ln N / N."""
    N, zeros = 200_000, 1 / 3
    assert THREE.entropy == pytest.approx(math.log(3.0), rel=1e-14)
    none = round(zeros * N)
    some = N - none
    for distance in (0.02, 0.2):
        moved = np.arange(1, none)
        same, opposite = some * (1 - distance) - 0.5 * moved, some * distance - 0.5 * moved
        good = (opposite > 0) & (same > 0)
        moved, same, opposite = moved[good], same[good], opposite[good]
        count = special.gammaln(some + 1) - sum(
            special.gammaln(n + 1) for n in (same, opposite, moved)
        )
        count += special.gammaln(none + 1) - special.gammaln(moved + 1)
        count += moved * math.log(2.0) - special.gammaln(none - moved + 1)
        assert THREE.bound(distance) == pytest.approx(count.max() / N, abs=2e-4)
    assert THREE.bound(0.5) == pytest.approx(THREE.entropy, rel=1e-12)
    assert THREE.bound([0.0, 0.1]).shape == (2,)


def test_pairs_without_patterns_are_configurations_at_a_distance():
    pairs = 0.5 * (THREE.entropy + THREE.bound(0.15))
    assert THREE.unloaded(0.7, 2.0).entropy == pytest.approx(pairs, rel=1e-9)


def test_surroundings_of_binary_solutions_are_those_of_the_package():
    point, ours = (franz_parisi.solve(device(one), 0.5, 0.1) for one in (Binary(), SIGNS))
    assert (ours.local_entropy, ours.slope, ours.replicon) == pytest.approx(
        (point.local_entropy, point.slope, point.replicon), rel=1e-9
    )


def test_surroundings_of_ternary_solutions():
    """The slope is the derivative; at the typical distance all solutions are counted."""
    high, at, low = (franz_parisi.solve(device(THREE), 0.5, d) for d in (0.2002, 0.2, 0.1998))
    assert (high.local_entropy - low.local_entropy) / 4e-4 == pytest.approx(at.slope, rel=1e-6)
    assert at.local_entropy < THREE.bound(0.2)
    state = typical.solve(device(THREE), 0.5)
    top = franz_parisi.solve(device(THREE), 0.5, state.distance)
    assert top.local_entropy == pytest.approx(state.entropy, abs=1e-9)
    assert top.slope == pytest.approx(0.0, abs=1e-6)
    near = franz_parisi.solve(device(THREE), 0.5, 1e-4)  # isolated, as binary ones are
    assert near.local_entropy < 0.0


# ------------------------------------------------------------------------------------------------
# What a question needs
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        (lambda one: typical.solve_1rsb(one, 0.5), "broken"),
        (lambda one: franz_parisi.solve(one, 0.5, 0.1), "constrained"),
        (lambda one: franz_parisi.curve(one, 0.5, [0.1]), "constrained"),
        (lambda one: large_deviation.solve(one, 0.5, 0.9, replicas=3), "replicas"),
        (lambda one: typical.max_margin(one, 0.5), "collapse"),
    ],
)
def test_a_question_says_which_methods_a_prior_lacks(question, missing):
    with pytest.raises(ValueError, match=f"{missing}.* is missing"):
        question(device(Ternary()))


def test_questions_of_a_prior_with_all_methods_are_answered():
    three = device(THREE)
    assert typical.instability(three) > typical.capacity(three)
    assert large_deviation.solve(three, 0.5, 0.9, replicas=3).entropy > 0.0
    with pytest.raises(ValueError, match="weights"):
        clusters.threshold(three, 3)  # a formula for signs alone


def test_half_of_a_known_class_is_refused():
    """What was not replaced would give the averages of the old class."""

    class Mine(Binary):
        def entropic(self, q_hat):
            return Ternary().entropic(q_hat)

    class Steeper(Margin):
        def slope(self, omega, variance):
            return 2.0 * super().slope(omega, variance)

    for ask in (
        lambda: typical.capacity(device(Mine())),
        lambda: franz_parisi.solve(device(Mine()), 0.5, 0.1),
        lambda: typical.capacity(Perceptron(), constraint=Steeper(0.0)),
    ):
        with pytest.raises(TypeError, match="replaces its"):
            ask()


def test_what_has_no_members_of_a_prior_is_no_weight():
    for weights in (3, Binary, "binary", object()):
        with pytest.raises(TypeError, match="weights must be"):
            Perceptron(weights)
    with pytest.raises(TypeError, match="activation must be"):
        TreeCommittee(math.inf, np.tanh)


def test_weights_of_a_pattern_must_be_smooth():
    step = PatternWeight(lambda s: np.where(s > 0.3, 0.0, -5.0))
    with pytest.raises(ValueError, match="g must be smooth"):
        typical.solve(Perceptron(), 0.5, step)
    with pytest.raises(TypeError, match="g must be"):
        PatternWeight(3)


def test_algorithms_refuse_weights_that_they_cannot_hold():
    with pytest.raises(ValueError, match="device must"):
        learning.belief_propagation(device(THREE), *patterns.random(5, 9, rng=1))


def test_what_is_no_prior_is_refused():
    for values in ((1.0,), (-1.0, 2.0), (0.0, 1.0), (np.nan, 1.0)):
        with pytest.raises(ValueError, match="values"):
            Discrete(values)
    for mean_square in (0.0, 1.0, 2.0, -1.0):
        with pytest.raises(ValueError, match="mean_square"):
            Discrete((-1, 0, 1), mean_square)
    assert Discrete((1, -1, 0)) == THREE
    assert Discrete((-3, 3)).entropic(1.0).q == SIGNS.entropic(1.0).q
    with pytest.raises(ValueError, match="two for infinitely many replicas"):
        THREE.limit(0.5, 0.0)


# ------------------------------------------------------------------------------------------------
# Classes with a slip
# ------------------------------------------------------------------------------------------------


class Pair(Ternary):
    """It returns no `Entropic`."""

    def entropic(self, q_hat):
        return tuple(super().entropic(q_hat))


class Doubled(Ternary):
    """Its term is not the one of its overlap."""

    def entropic(self, q_hat):
        point = super().entropic(q_hat)
        return point._replace(term=2.0 * point.term - self.entropy)


class Miscounted(Ternary):
    """It has three values, and the entropy of two."""

    entropy = math.log(2.0)


class Shrunk(Ternary):
    """Its mean square is not one."""

    def entropic(self, q_hat):
        point = super().entropic(q_hat)
        return point._replace(complement=0.5 * point.complement)


@pytest.mark.parametrize(
    ("weights", "kind", "told"),
    [
        (Pair(), TypeError, "lacks q, complement, term, fluctuation"),
        (Doubled(), ValueError, "a term that is stationary"),
        (Miscounted(), ValueError, "weights.entropy must be the term"),
        (Shrunk(), ValueError, "a complement of 1 - q"),
    ],
)
def test_a_prior_with_a_slip_gives_no_number(weights, kind, told):
    for question in (typical.capacity, lambda one: typical.solve(one, 0.5)):
        with pytest.raises(kind, match=told):
            question(device(weights))


@dataclass(frozen=True)
class NoisyThreshold(LogConcave):
    """A pattern is right in a field with this noise, as often as not: a margin of zero."""

    noise: float

    def rescaled(self, scale):
        return NoisyThreshold(self.noise / scale)

    def log_weight(self, omega, variance):
        return Margin(0.0).log_weight(omega, variance + self.noise**2)

    def slope(self, omega, variance):
        return Margin(0.0).slope(omega, variance + self.noise**2)

    def curvature(self, omega, variance):
        return Margin(0.0).curvature(omega, variance + self.noise**2)

    def features(self, variance):
        return Margin(0.0).features(variance + self.noise**2)


def test_a_constraint_of_formulas_is_the_one_of_its_weight():
    mine = typical.solve(Perceptron(), 0.5, NoisyThreshold(0.5))
    soft = typical.solve(Perceptron(), 0.5, PatternWeight(lambda s: gaussian.log_H(-2.0 * s)))
    assert (mine.q, mine.entropy) == pytest.approx((soft.q, soft.free_entropy), rel=1e-8)


class Half:
    """A constraint of two members, of no base class."""

    hard = True

    def log_weight(self, omega, variance):
        return 0.0 * omega


class Soft(NoisyThreshold):
    hard = False


@pytest.mark.parametrize(
    ("constraint", "told"),
    [
        (Half(), "lacks the base class LogConcave.*, rescaled, slope, curvature, features"),
        (Soft(0.5), "lacks at, .*, beta;.*PatternWeight"),
    ],
)
def test_a_constraint_is_told_what_it_lacks(constraint, told):
    with pytest.raises(TypeError, match=told):
        typical.solve(Perceptron(), 0.5, constraint)


def test_an_activation_is_told_what_it_lacks():
    class Unscaled(EnergeticTerm):
        def effective(self, q, complement):
            return EffectiveOverlap(q, complement, 1.0, 0.0)

    for question in (capacity, lambda *given: typical.solve(device(*given), 0.5)):
        with pytest.raises(TypeError, match="lacks scale, slope_at_one"):
            question(Spherical(), Unscaled())


def test_algorithms_refuse_half_of_a_known_class():
    """They would answer for the old class, as theory would."""

    class Mine(Binary):
        def entropic(self, q_hat):
            return Ternary().entropic(q_hat)

    class Inverted(Perceptron):
        def network(self, w):
            return Perceptron().network(-np.asarray(w))

    xi, sigma = patterns.random(5, 9, rng=1)
    for one in (Perceptron(Mine()), Inverted()):
        for algorithm in (
            learning.belief_propagation,
            learning.focusing_bp,
            learning.simulated_annealing,
            learning.enumerate_solutions,
        ):
            with pytest.raises(TypeError, match="as it stands"):
                algorithm(one, xi, sigma)


def test_a_network_of_other_values_is_told_that_there_is_none():
    with pytest.raises(ValueError, match="networks hold none of other values"):
        device(THREE).network([1.0, 0.0, -1.0])
