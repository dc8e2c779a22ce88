"""The Gaussian step, the output node and the kernels, against statements that anyone can check.

Two errors are stated in `wfmlib.learning.messages.channel`: a polynomial leaves out
TOLERANCE of a slope, relative to 1 + |slope|; everything else is rounding.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from tests import naive_message_passing as naive
from wfmlib import Committee, TreeCommittee
from wfmlib.learning.messages import binary_messages, channel, output_node, spherical_messages
from wfmlib.learning.messages.channel import CELL, DEGREE, TOLERANCE, WIDEST
from wfmlib.learning.messages.factor_graph import BinaryMessages, SphericalMessages

RATIOS = [0.0, 1e-30, 1e-6, 0.01, 0.3, 0.9, 1.0]  # of what is asked for -1, to what for +1
TAME = st.one_of(st.just(0.0), st.floats(1e-5, 1.0))  # those with zeros of Z well off the axis


def z(x, plus, minus):
    """Return Z in mpmath."""
    return plus * mpmath.ncdf(x) + minus * mpmath.ncdf(-x)


# ------------------------------------------------------------------------------------------------
# ln Z and its slope
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("minus", RATIOS)
def test_slope_and_log_weight_in_forty_digits(minus):
    with mpmath.workdps(40):
        for x in (-60.0, -38.0, -20.0, -8.5, -3.0, -0.7, 0.0, 1e-9, 0.4, 2.0, 8.0, 30.0):
            for common in (1.0, 1e-120):
                plus, less = common, common * minus
                exact = z(mpmath.mpf(x), mpmath.mpf(plus), mpmath.mpf(less))
                expected = (mpmath.mpf(plus) - mpmath.mpf(less)) * mpmath.npdf(x) / exact
                # the rounding of x costs 1 + x^2 in relative error, see wfmlib.numerics.gaussian
                close = {"rel": 3e-15 * (1 + x * x), "abs": 1e-180}
                assert channel.slope(x, plus, less) == pytest.approx(float(expected), **close)
                assert channel.log_weight(x, plus, less) == pytest.approx(
                    float(mpmath.log(exact)), rel=1e-14, abs=3e-16
                )


@given(st.floats(-1e8, 1e8), st.floats(1e-300, 1.0), st.floats(0.0, 1.0))
def test_slope_is_finite_and_obeys_bounds(x, plus, share):
    """A slope is never negative and never above that of a perceptron, below 1 + |x|."""
    value = channel.slope(x, plus, plus * share)
    assert 0.0 <= value <= channel.slope(x, 1.0, 0.0) * (1 + 1e-14) <= 1.0 + abs(x) + 1e-6
    assert not math.isnan(channel.log_weight(x, plus, plus * share))


@given(st.floats(-10.0, 10.0), st.floats(0.0, 1.0))
def test_slope_is_the_derivative(x, minus):
    step = 1e-4
    up, down = (channel.log_weight(x + s * step, 1.0, minus) for s in (1, -1))
    # third derivative below 10, and the rounding of ln Z, up to 50, over the step
    assert (up - down) / (2 * step) == pytest.approx(
        channel.slope(x, 1.0, minus), abs=10 * step**2 + 1e-10
    )


@pytest.mark.parametrize("x", [-9.0, -3.0, -0.5, 0.0, 0.8, 2.5, 6.0])
@pytest.mark.parametrize("minus", [0.0, 0.01, 0.6])
def test_series_are_the_taylor_coefficients(x, minus):
    coefficients = np.empty(DEGREE + 1)
    channel.series(x, 1.0, minus, coefficients)
    with mpmath.workdps(40):
        share = mpmath.mpf(minus)
        taylor = mpmath.taylor(
            lambda y: (1 - share) * mpmath.npdf(y) / z(y, 1, share), mpmath.mpf(x), DEGREE
        )
    # a coefficient comes out of sums of larger terms: 1 + |x| per order
    scale = np.abs(coefficients[0]) + (1.0 + abs(x)) ** np.arange(DEGREE + 1)
    error = np.abs(coefficients - [float(one) for one in taylor])
    assert np.all(error < 2e-14 * scale)


def points(x, distance):
    """Return arguments up to `distance` from x."""
    return x + distance * np.linspace(-1, 1, 41)


@given(st.floats(-12.0, 12.0), st.floats(1e-3, 1.2), st.one_of(TAME, st.floats(1e-40, 1e-5)))
@settings(max_examples=120, deadline=None)
def test_fit_holds_its_tolerance_where_it_says_so(x, distance, minus):
    coefficients = np.empty(DEGREE + 1)
    if not channel.fit(x, distance, 1.0, minus, coefficients):
        return
    assert distance < channel.FARTHEST
    at = points(x, distance)
    expected = np.array([channel.slope(one, 1.0, minus) for one in at])
    fitted = np.polynomial.polynomial.polyval(at - x, coefficients)
    center = channel.slope(x, 1.0, minus)
    # Where one answer is all but excluded, minus / plus below 1e-6, the two last terms say less.
    allowed = TOLERANCE if minus == 0.0 or minus >= 1e-6 else 50 * TOLERANCE
    assert np.max(np.abs(fitted - expected)) < allowed * (1 + center)


@pytest.mark.parametrize(
    ("x", "distance", "minus"),
    [
        (0.527, 0.727, 0.0399),
        (0.507730, 0.622671, 0.0386508),
        (-3.139539, 0.223705, 5.13854e-05),
        (-5.416952, 0.172780, 1.46737e-06),
        (-4.008825, 0.192697, 1.63226e-06),
    ],
)
def test_fit_is_not_fooled_where_the_last_terms_are_small_by_accident(x, distance, minus):
    """The worst of some millions of cases under looser judgements by the last terms."""
    test_fit_holds_its_tolerance_where_it_says_so.hypothesis.inner_test(x, distance, minus)


def test_fit_is_not_timid():
    """It holds at the distances that N of some hundreds has, and says no beyond its farthest."""
    coefficients = np.empty(DEGREE + 1)
    for x in np.linspace(-6, 6, 25):
        for minus in (0.0, 0.01, 0.1, 0.5, 1.0):
            assert channel.fit(x, 0.35, 1.0, minus, coefficients)
        for distance in (1.0, 3.0, math.inf, math.nan):
            assert not channel.fit(x, distance, 1.0, 0.0, coefficients)


@given(st.floats(-8.0, 8.0), st.floats(0.05, WIDEST / 2 - 1e-6), TAME)
@settings(max_examples=40, deadline=None)
def test_tables_hold_the_tolerance(x, distance, minus):
    check_table(x, distance, minus, 2 * TOLERANCE)


@pytest.mark.parametrize(
    ("minus", "error"), [(1e-6, 3e-8), (1e-12, 2e-6), (1e-20, 1e-4), (1e-40, 5e-3)]
)
def test_tables_are_worse_where_an_answer_is_all_but_excluded(minus, error):
    """There Z has zeros closer to the real axis: about pi / |x| off it, at H(-x) = minus."""
    x = -math.sqrt(-2 * math.log(minus))
    check_table(x, 2.0, minus, error)


def check_table(x, distance, minus, error):
    """Compare a table at points of its range."""
    cells = int(WIDEST / CELL) + 1
    logs, slopes = np.empty(cells), np.empty((cells, DEGREE + 1))
    low = channel.tabulate(x, distance, 1.0, minus, logs, slopes)
    assert low == x - distance
    for at in points(x, distance):
        cell = int((at - low) / CELL)
        d = at - (low + (cell + 0.5) * CELL)
        assert abs(d) <= CELL / 2 + 1e-12
        row = slopes[cell]
        expected = channel.slope(at, 1.0, minus)
        value = np.polynomial.polynomial.polyval(d, row)
        assert abs(value - expected) < error * (1 + expected)
        integral = np.polynomial.polynomial.polyint(row)
        value = logs[cell] + np.polynomial.polynomial.polyval(d, integral)
        expected_log = channel.log_weight(at, 1.0, minus)
        assert abs(value - expected_log) < error * (1 + expected)


@settings(deadline=None)
@given(
    st.floats(-30.0, 30.0),
    st.lists(st.tuples(st.floats(-1.0, 1.0), st.floats(0.0, 3.0)), min_size=2, max_size=12),
)
def test_distance_bound_is_one(c, edges):
    shifts, spreads = np.array(edges).T
    v = spreads.sum() + 0.1
    bound = channel.distance_bound(c, v, np.abs(shifts).max(), spreads.max())
    far = np.abs((c - shifts) / np.sqrt(v - spreads) - c / np.sqrt(v)).max()
    assert far <= bound + 1e-12 * (1 + abs(c))
    if spreads.max() >= 0.5 * v:
        assert bound == math.inf


# ------------------------------------------------------------------------------------------------
# The output node
# ------------------------------------------------------------------------------------------------


def ask(x, gaussian=False):
    """Call the node; return the log-probability and what it asks of each unit."""
    x = np.asarray(x, dtype=float)
    K = len(x)
    plus, minus = np.empty(K), np.empty(K)
    room = np.empty((K + 1, K + 2)), np.empty((K + 1, K + 2))
    return output_node.output_messages(x, gaussian, *room, plus, minus), plus, minus


@pytest.mark.parametrize("K", range(1, 10))
def test_the_node_counts_all_answers(K):
    rng = np.random.default_rng(K)
    for scale in (0.1, 1.0, 4.0):
        x = scale * rng.standard_normal(K)
        log_right, plus, minus = ask(x)
        expected, log_plus, log_minus = naive.ask_by_sum(x)
        assert log_right == pytest.approx(expected, rel=1e-13, abs=1e-14)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(np.log(minus / plus), log_minus - log_plus, rtol=1e-12)
        assert np.all(plus >= minus)


def test_an_even_number_of_units_may_tie_and_a_tie_is_wrong():
    log_right, plus, minus = ask([0.0, 0.0])
    assert log_right == pytest.approx(math.log(1 / 4), rel=1e-14)
    np.testing.assert_array_equal(minus, 0.0)
    np.testing.assert_allclose(plus, 0.5, rtol=1e-14)
    assert ask(np.zeros(4))[0] == pytest.approx(math.log(5 / 16), rel=1e-14)
    assert ask(np.zeros(5))[0] == pytest.approx(math.log(1 / 2), rel=1e-14)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("K", [1, 2, 3, 4, 9, 15, 101])
@pytest.mark.parametrize("field", [1e3, 50.0, 37.0, 10.0])
def test_extreme_fields_stay_numbers(K, field, gaussian):
    patterns = [np.full(K, field), np.full(K, -field), np.where(np.arange(K) % 2, field, -field)]
    patterns.append(np.r_[np.full(K - 1, -field), field])
    # No unit's probability is taken below 1e-300^(1 / (K // 2 + 1)): the K excesses add up.
    excess = max(1e-12, K * 1e-300 ** (1 / (K // 2 + 1)))
    for x in patterns:
        log_right, plus, minus = ask(x, gaussian)
        assert math.isfinite(log_right)
        assert log_right <= excess
        assert np.all(plus > 0)
        assert np.all(np.isfinite(plus))
        assert np.all(minus >= 0)
        assert np.all(minus <= plus * (1 + 1e-12) + 2 * excess / K)
    assert ask(patterns[0], gaussian)[0] == pytest.approx(0.0, abs=excess)


@pytest.mark.parametrize("K", [3, 5, 9])
def test_unlikely_answers_keep_their_digits(K):
    """Down to e-100 for each unit, nothing cancels: only positive terms are added."""
    rng = np.random.default_rng(K)
    x = -rng.uniform(5, 14, K)
    log_right, plus, minus = ask(x)
    expected, log_plus, log_minus = naive.ask_by_sum(x)
    assert log_right == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(np.log(minus / plus), log_minus - log_plus, rtol=1e-12)


def test_the_gaussian_output_errs_by_one_over_the_number_of_units():
    """Relative error of minus / plus at equal fields: in proportion to 1 / K, or below."""
    errors = []
    for K in (9, 17, 33, 65):
        x = np.full(K, 0.4)
        _, plus, minus = ask(x)
        _, plus_g, minus_g = ask(x, gaussian=True)
        np.testing.assert_allclose(
            np.log([plus_g, minus_g]), naive.ask_by_moments(x)[1:], rtol=1e-12
        )
        errors.append(np.max(np.abs(minus_g / plus_g * plus / minus - 1)) * K)
    assert max(errors) < 0.35
    assert min(errors) > 0.01, "the two do not differ: nothing was compared"


# ------------------------------------------------------------------------------------------------
# The norm field
# ------------------------------------------------------------------------------------------------


@given(st.integers(1, 30), st.floats(-8, 8), st.floats(-3, 4), st.integers(0, 2**32))
@settings(deadline=None)
def test_norm_field_against_brent(M, log_strength, log_precision, seed):
    rng = np.random.default_rng(seed)
    mu = 10**log_strength * rng.standard_normal(M)
    zeta = 10**log_precision * rng.standard_normal(M)  # either sign
    lowest = zeta.min()

    def excess(log_distance):
        precision = zeta - lowest + math.exp(log_distance)
        return np.mean(1 / precision + (mu / precision) ** 2) - 1

    # above its pole at -min zeta: from 1 / (2 M) to where the largest terms could be all
    high = 2 + np.abs(mu).max()
    root = math.exp(brentq(excess, math.log(0.5 / M), math.log(high), xtol=1e-14))
    chi = spherical_messages.norm_field(mu, zeta)
    # rounding of zeta + chi, and of the root that brentq gives
    assert chi + lowest == pytest.approx(root, rel=1e-12, abs=4e-16 * (abs(lowest) + abs(chi)))


def test_norm_field_of_equal_precisions_and_of_no_numbers():
    # z with 1 / z + s / z^2 = 1
    mu, zeta = np.full(7, 3.0), np.full(7, -2.5)
    expected = 0.5 * (1 + math.sqrt(1 + 4 * 9)) + 2.5
    assert spherical_messages.norm_field(mu, zeta) == pytest.approx(expected, rel=1e-14)
    for bad in (math.nan, math.inf, -math.inf):
        broken = mu.copy()
        broken[3] = bad
        assert math.isnan(spherical_messages.norm_field(broken, zeta))


# ------------------------------------------------------------------------------------------------
# The kernels, one sweep of the messages
# ------------------------------------------------------------------------------------------------

# (P, K, M, tree, size of the messages, strength of what is outside): which path computes it.
CASES = {
    "one unit, wide": (6, 1, 301, True, 0.05, 0.0),
    "three units, wide": (4, 3, 201, True, 0.05, 0.1),
    "fully connected": (4, 3, 101, False, 0.05, 0.1),
    "even number of units": (4, 4, 61, True, 0.05, 0.1),
    "narrow": (3, 3, 11, True, 0.1, 0.3),
    "very narrow": (3, 5, 3, True, 0.2, 0.5),
    "biased": (4, 1, 101, True, 0.1, 1.5),
    "strongly biased": (3, 1, 41, True, 0.1, 2.5),
}
EITHER_WAY = pytest.mark.parametrize(
    ("in_place", "keep", "gaussian"), [(True, 1.0, False), (False, 0.4, False), (True, 0.7, True)]
)
EACH_CASE = pytest.mark.parametrize("case", CASES)
COUPLING = 0.8


def draw(case, turned=1.0):
    """Return order, patterns, messages and a field from outside, of a case."""
    P, K, M, tree, size, strength = CASES[case]
    rng = np.random.default_rng(len(case))
    xi = rng.choice(np.array([-1, 1], dtype=np.int8), (P, K * M if tree else M))
    messages = size * rng.standard_normal((P, K, M))
    # towards the first pattern: the others see a random sum, it sees a large one
    ahead = np.array([xi[0, first : first + M] for first in starts(case)])
    outside = strength * (0.3 * rng.standard_normal((K, M)) + turned * ahead)
    return rng.permutation(P), xi, messages, outside


def device(case):
    """Return the committee of a case."""
    _, K, _, tree, *_ = CASES[case]
    return (TreeCommittee if tree else Committee)(K)


def starts(case):
    """Return the first column that each unit sees."""
    _, K, M, tree, *_ = CASES[case]
    return np.arange(K) * (M if tree else 0)


def sweep(kind, case, drawn, expanded, gaussian, keep, in_place, coupling=COUPLING):
    """Sweep once; return the residual, the messages after it, and what a naive sweep gives."""
    order, xi, messages, outside = drawn
    _, K, M, *_ = CASES[case]
    engine = kind(device(case), xi, expanded, gaussian, np.random.default_rng(1))
    if kind is SphericalMessages:
        V = 0.05 * np.random.default_rng(2).standard_normal(engine.V.shape)  # negative ones too
        engine.load({"U": messages, "V": V, "chi": np.ones((K, 1))})
    else:
        engine.load({"u": messages})
    engine.pull(outside / coupling, coupling)  # any field at all
    tail = (keep, in_place, gaussian)
    if kind is BinaryMessages:
        statement = naive.binary_expanded if expanded else naive.binary
        before = engine.messages.copy()
        expected = [statement(order, xi, starts(case), before, outside, *tail)]
    else:
        statement = naive.spherical_expanded if expanded else naive.spherical
        before = engine.U.copy()
        precision = coupling + engine.chi
        precision = precision[:, 0] if expanded else np.broadcast_to(precision, (K, M))
        V = engine.V[..., 0] if expanded else engine.V
        expected = list(statement(order, xi, starts(case), before, V, outside, precision, *tail))
        expected[1] = expected[1].reshape(engine.V.shape)
    residual = engine._sweep(order, keep, float(in_place))
    change = np.sqrt(np.mean((expected[0] - before) ** 2, axis=-1)).max() / keep
    assert residual == pytest.approx(change, rel=1e-6)
    found = [engine.messages] if kind is BinaryMessages else [engine.U, engine.V]
    return engine, found, expected


def largest_error(found, expected):
    """Return the largest difference, relative to 1 + |expected|."""
    pairs = zip(found, expected, strict=True)
    return max(np.max(np.abs(one - right) / (1 + np.abs(right))) for one, right in pairs)


@EACH_CASE
@EITHER_WAY
@pytest.mark.parametrize("expanded", [False, True])
def test_spherical_sweep(case, expanded, in_place, keep, gaussian):
    drawn = draw(case)
    engine, found, expected = sweep(
        SphericalMessages, case, drawn, expanded, gaussian, keep, in_place
    )
    # The slope's tolerance is felt in U once, in V twice, and by the patterns visited later.
    assert largest_error(found, expected) < (1e-12 if expanded else 3 * TOLERANCE)
    # whoever sweeps next finds the totals that go with the messages
    engine._refresh()
    np.testing.assert_allclose(engine.mu, engine.U.sum(axis=0) + drawn[-1], atol=1e-12)
    zeta = engine.V.sum(axis=0) + COUPLING + engine.chi
    np.testing.assert_allclose(engine.zeta, zeta, atol=1e-12)
    norm = np.mean(engine.variances() + engine.means() ** 2, axis=1)
    np.testing.assert_allclose(norm, 1.0, rtol=1e-12)


@EACH_CASE
def test_the_norm_field_s_part_of_the_residual_is_relative(case):
    """To 1 + its size, as entries of the field may be large where the coupling is."""
    _, K, *_ = CASES[case]
    _, xi, U, _ = draw(case)
    engine = SphericalMessages(device(case), xi, False, False, np.random.default_rng(1))
    before = np.full((K, 1), -40.0)
    engine.load({"U": U, "V": engine.V, "chi": before})
    engine.chi = before.copy()
    engine.zeta = np.full_like(engine.zeta, 50.0)
    residual = engine._refresh()
    assert residual == pytest.approx(np.max(np.abs(engine.chi - before)) / 41.0, rel=1e-12)


def arguments(case, outside, coupling):
    """Return x, reach and the output node's plus and minus of all units, on the sphere.

    Before the first sweep, as `sweep` draws messages.
    """
    P, K, M, *_ = CASES[case]
    _, xi, U, _ = draw(case)
    engine = SphericalMessages(device(case), xi, False, False, np.random.default_rng(1))
    V = 0.05 * np.random.default_rng(2).standard_normal(engine.V.shape)
    engine.load({"U": U, "V": V, "chi": np.ones((K, 1))})
    engine.pull(outside / coupling, coupling)
    row = np.array([[xi[a, first : first + M] for first in starts(case)] for a in range(P)])
    spreads = 1 / (engine.zeta - V)
    shifts = row * (engine.mu - U) * spreads
    c, v = shifts.sum(axis=2), spreads.sum(axis=2)
    size, spread = np.abs(shifts).max(axis=2), spreads.max(axis=2)
    far = np.vectorize(channel.distance_bound)(c, v, size, spread)
    x = c / np.sqrt(v)
    plus, minus = np.swapaxes([ask(one)[1:] for one in x], 0, 1)
    return x, far, plus, minus


def test_the_cases_take_the_polynomial_on_the_sphere():
    """Those of `FAR_APART` below do not."""
    units = [
        one
        for case in CASES
        for one in zip(*map(np.ravel, arguments(case, draw(case)[-1], COUPLING)), strict=True)
    ]
    assert np.mean([channel.fit(*one, np.empty(DEGREE + 1)) for one in units]) > 0.9


STRONG = 100.0  # coupling: cavity means lie some 10 standard deviations from zero
FAR_APART = ["fully connected", "even number of units", "narrow"]


def strong(case):
    """Return a strong field towards random weights +-1."""
    _, K, M, *_ = CASES[case]
    return STRONG * np.random.default_rng(3).choice([-1.0, 1.0], (K, M))


@pytest.mark.parametrize(("in_place", "keep"), [(True, 1.0), (False, 0.4)])
@pytest.mark.parametrize("case", FAR_APART)
def test_spherical_sweep_where_edges_lie_far_apart(case, in_place, keep):
    """As where focusing does not settle: by the formula of `direct_slope`, good to 2e-10."""
    order, xi, U, _ = draw(case)
    drawn = order, xi, U, strong(case)
    _, found, expected = sweep(
        SphericalMessages, case, drawn, False, False, keep, in_place, STRONG
    )
    assert largest_error(found, expected) < 1e-9


def test_edges_do_lie_far_apart():
    """No polynomial holds, sums are far on either side, and wrong answers all but excluded."""
    x, far, plus, minus = np.concatenate(
        [np.reshape(arguments(case, strong(case), STRONG), (4, -1)) for case in FAR_APART], axis=1
    )
    assert np.all(far > channel.FARTHEST)
    assert x.min() < -12.0
    assert x.max() > 12.0
    assert np.mean(minus < 1e-12 * plus) > 0.2
    assert np.mean(minus > 1e-3 * plus) > 0.05


@EACH_CASE
@EITHER_WAY
@pytest.mark.parametrize("expanded", [False, True])
def test_binary_sweep(case, expanded, in_place, keep, gaussian):
    drawn = draw(case)
    if expanded:
        drawn[2][:] *= 0.5
    engine, found, expected = sweep(
        BinaryMessages, case, drawn, expanded, gaussian, keep, in_place
    )
    assert largest_error(found, expected) < (1e-11 if expanded else 3 * TOLERANCE)
    u = engine.messages if expanded else np.arctanh(engine.messages)
    np.testing.assert_allclose(engine.fields, u.sum(axis=0) + drawn[-1], atol=1e-9)
    np.testing.assert_allclose(engine.means(), np.tanh(engine.fields), atol=1e-15)


def test_second_order_means_leave_out_the_third():
    case = "three units, wide"
    order, xi, u, outside = draw(case)
    errors = []
    for size in (1.0, 0.5, 0.25):
        sweeps = [
            naive.binary_expanded(
                order, xi, starts(case), size * u, outside, 1.0, False, False, second_order=way
            )
            for way in (True, False)
        ]
        errors.append(np.abs(sweeps[0] - sweeps[1]).max())
    assert errors[0] > 1e-9
    assert 6 < errors[0] / errors[1] < 10
    assert 6 < errors[1] / errors[2] < 10


def paths(case):
    """Return which paths the exact binary sweep takes: its three conditions, stated again."""
    P, _, M, *_ = CASES[case]
    _, xi, u, outside = draw(case)
    m = np.tanh(u.sum(axis=0) + outside - u)
    row = np.array([[xi[a, first : first + M] for first in starts(case)] for a in range(P)])
    c, v = (row * m).sum(axis=2), (1 - m**2).sum(axis=2)
    found = set()
    for c_k, v_k in zip(c.flat, v.flat, strict=True):
        reach = channel.distance_bound(c_k, v_k, 2.0, 1.0)
        if (c_k - 2.0) / math.sqrt(v_k) > binary_messages.SILENT:
            found.add("certain")
        elif channel.fit(c_k / math.sqrt(v_k), reach, 1.0, 0.0, np.empty(DEGREE + 1)):
            found.add("polynomial")
        else:
            found.add("table" if 2 * reach < WIDEST else "edge")
    return found


@pytest.mark.parametrize("minus", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("v", [61.0, 150.0, 900.0])
def test_one_polynomial_serves_intervals_of_all_lengths(v, minus):
    """Variances from 0 to 1 within a unit, the widest range of 1 / sqrt(v - s) there can be."""
    rng = np.random.default_rng(int(v))
    spreads = rng.uniform(size=int(2.2 * v))
    spreads[:2] = 0.0, 1.0
    v = spreads.sum()
    assert v >= binary_messages.LEAST_FOR_SERIES
    xi = rng.choice([-1, 1], len(spreads)).astype(np.int8)
    shifts = np.sqrt(1.0 - spreads) * rng.choice([-1.0, 1.0], len(spreads))
    slopes, room = np.empty(DEGREE + 1), np.empty((2, DEGREE + 1))
    found, expected = np.empty(len(spreads)), np.empty(len(spreads))
    for x in (-1.0, 0.0, 1.0, 3.0):
        c = x * math.sqrt(v)
        reach = channel.distance_bound(c, v, 2.0, 1.0)
        assert channel.fit(x, reach, 1.0, minus, slopes)
        binary_messages._by_polynomial(xi, c, v, slopes, *room, shifts, spreads, found)
        binary_messages._by_edge(xi, c, v, 1.0, minus, shifts, spreads, expected)
        if np.abs(expected).max() < math.tanh(binary_messages.LARGEST_FIELD):
            assert np.abs(found - expected).max() < 2 * TOLERANCE / math.sqrt(v - 1.0)
        else:
            assert v < 70


def test_the_cases_take_every_path():
    taken = set().union(*(paths(case) for case in CASES))
    assert taken == {"certain", "polynomial", "table", "edge"}


@pytest.mark.parametrize("case", ["biased", "narrow", "one unit, wide"])
@pytest.mark.parametrize("kind", [BinaryMessages, SphericalMessages])
def test_sweeps_against_the_grain(kind, case):
    """The first pattern finds its sum strongly on the wrong side: slopes are large."""
    _, found, expected = sweep(kind, case, draw(case, -1.0), False, False, 1.0, True)
    assert largest_error(found, expected) < 3 * TOLERANCE


@pytest.mark.parametrize("kind", [BinaryMessages, SphericalMessages])
@pytest.mark.parametrize("expanded", [False, True])
@pytest.mark.parametrize("in_place", [False, True])
def test_no_number_is_noticed_in_the_sweep(kind, expanded, in_place):
    xi = draw("three units, wide")[1]
    engine = kind(TreeCommittee(3), xi, expanded, False, np.random.default_rng(1))
    (engine.U if kind is SphericalMessages else engine.messages)[1, 2, 3] = math.nan
    assert engine.sweep(damping=0.0, in_place=in_place) == math.inf
