"""What theory and small instances would have to give for each live check to come out otherwise.

A row is a check and what is put in the place of what it asks: attributes of its own module, or of
one that it imports, each with a value or a function.
"""

import math
from types import SimpleNamespace

import numpy as np


def always(value):
    """Return a function that gives this whatever it is asked."""
    return lambda *_, **__: value


def point(**values):
    """Return a function whose answer has these attributes."""
    return always(SimpleNamespace(**values))


def curve(**values):
    """Return a function like `_curve`, flat in each of these."""

    def flat(*_, distances=range(60), **__):
        return SimpleNamespace(**{k: np.full(len(distances), v) for k, v in values.items()})

    return flat


def mathematics(**functions):
    """Return the module `math` with some functions replaced."""
    return SimpleNamespace(**(vars(math) | functions))


def steps(*values):
    """Return a function that gives these one after the other."""
    rest = iter(values)
    return lambda *_, **__: next(rest)


def contradicting(drawn):
    """Return patterns of which the last contradicts the first."""

    def random(P, N, *, rng):
        xi, sigma = drawn(P, N, rng=rng)
        return np.concatenate([xi[:-1], xi[:1]]), np.concatenate([sigma[:-1], -sigma[:1]])

    return random


def without_labels(count):
    """Return a count that forgets the labels."""
    return lambda device, xi, sigma, **options: count(device, xi, np.ones_like(sigma), **options)


def limits(gap, many):
    """Return groups of many replicas whose log fraction is the energetic term, or is not."""

    def solve(*_, replicas=math.inf, **__):
        return SimpleNamespace(energetic=-0.1, local_entropy=many if replicas == 1000 else gap)

    return solve


class Wrap:
    """Marks a function that is to wrap the one it replaces."""

    def __init__(self, around):
        self.around = around


SOLUTION = SimpleNamespace(weights=np.ones((3, 67)), converged=True)
FOCUSED = always((np.ones((2, 2)), np.ones(2), SOLUTION))

ROWS = {
    # chapter 1
    "binary_perceptron_capacity": {"typical.capacity": always(0.84)},
    "solvable_then_not": {"patterns.random": Wrap(contradicting)},
    "exponentially_many_solutions": {
        "_solve": point(entropy=-0.1),
        "typical.max_margin": always(0.4),
    },
    "solution_count_fluctuates": {"_solve": point(entropy=0.7)},
    "labels_gauged_away": {"learning.enumerate_solutions": Wrap(without_labels)},
    "replica_symmetry_stable": {"_solve": point(replicon=1.1)},
    "max_margin_half_load": {"typical.max_margin": always(0.43)},
    "entropy_decreases_with_margin": {"_solve": point(entropy=0.1)},
    "max_margin_decreases_with_load": {"typical.max_margin": lambda _, load: load},
    "max_margin_vanishes_at_capacity": {"typical.max_margin": always(0.1)},
    "robust_within_radius": {"math": mathematics(floor=lambda x: int(x) + 1)},
    "distance_decreases_with_margin": {"_solve": point(distance=0.3)},
    "distance_decreases_with_load": {"_solve": point(distance=0.3)},
    "dashed_past_max_margin": {"_solve": point(entropy=0.1)},
    "closest_at_max_margin": {"_solve": point(distance=0.3)},
    "typical_solutions_far_apart": {"_mean_distance": always(0.25)},
    "typical_solutions_isolated": {"franz_parisi.gap": always((0.01, 0.02))},
    "frozen_1rsb": {
        "typical.solve_1rsb": point(complexity=0.1),
        "franz_parisi.gap": always((0.0, 0.01)),
        "franz_parisi.local_entropy": lambda device, load, d: 1e-4 + 0.0 * d,
    },
    "more_local_minima": {"_minima": always((100, 10))},
    # chapter 2
    "geometric_bound_binary": {"gammaln": Wrap(lambda true: lambda n: 1.001 * true(n))},
    "cross_entropy_limit": {"np.logaddexp": np.maximum},
    "cross_entropy_minima_solve": {"_errors": always(0.1)},
    "cross_entropy_large_gamma_solves": {"cross_entropy.loss": lambda _, x: (x - 1.0) ** 2},
    "cross_entropy_dense_low_load": {"_minimum": always(None), "_normalised": always(-0.01)},
    "cross_entropy_infinite_gamma_isolated": {"franz_parisi.solve": point(local_entropy=0.01)},
    "cross_entropy_gap_high_load": {
        "_minimum": always(None),
        "franz_parisi.solve": point(local_entropy=0.01, normalised=-0.1),
    },
    "cross_entropy_best_gamma": {
        "_minimum": always(None),
        "_normalised": steps(-0.05, -0.04, -0.03, -0.02, -0.01),
    },
    "cross_entropy_plateau": {"_minimum": always(None), "_normalised": always(-1e-3)},
    "cross_entropy_limit_far": {"_normalised": always(-0.054)},
    "cross_entropy_limit_near": {"_normalised": always(-0.028)},
    "cross_entropy_replica_symmetric": {
        "typical.solve": point(entropy=-0.1, replicon=0.5, energy=0.0)
    },
    "cross_entropy_near_still_growing": {
        "_minimum": always(None),
        "_normalised": steps(-0.01, -0.02, -0.03, -0.04),
    },
    "cross_entropy_two_layers": {
        "cross_entropy.working_beta": always(100.0),
        "franz_parisi.solve": point(local_entropy=0.02),
    },
    # chapter 3
    "dense_regions_exist_binary": {
        "large_deviation.solve": point(entropy=0.1, local_entropy=-0.5)
    },
    "dense_threshold": {"large_deviation.dense_threshold": always(0.7)},
    "dense_threshold_zero_complexity": {"large_deviation.dense_threshold": always(0.7)},
    "sign_committee_k3_instability": {"typical.instability": always(1.76)},
    "sign_committee_k3_capacity": {"typical.capacity": always(3.02)},
    "wide_minima_three_units": {
        "typical.instability": always(1.7),
        "axes.energetic": point(limit_averages=point(term=-1.0, force=0.5)),
    },
    "wide_minima_many_units": {
        "large_deviation.local_entropy": lambda *given: np.full(len(given[-1]), -0.1)
    },
    "energetic_term_is_log_fraction": {"large_deviation.solve": limits(-0.05, -0.1)},
    "relu_denser_near_one": {"_both": always([-0.2, -0.1])},
    "relu_and_sign_switch": {"_both": always([-0.1, -0.2])},
    "dense_stabilities_peak_away_from_zero": {
        "_dense_stabilities": always([(0.01, 0.3), (0.01, 0.6)])
    },
    "relu_stabilities_nearer_and_narrower": {
        "_dense_stabilities": always([(1.0, 0.3), (0.5, 0.6)])
    },
    # chapter 4
    "parity_energetic_term": {"gaussian.H": lambda x: 0.4 + 0.0 * x},
    "parity_log_ratio_few_units": {"math": mathematics(asin=always(0.0))},
    "parity_log_ratio_many_units": {"_pairs": always([0.5])},
    "parity_never_flat": {"typical.max_margin": always(1e-3)},
    "flat_with_votes_only": {"large_deviation.solve": point(local_entropy=-0.35)},
    "parity_pieces": {"_regions": always((0, 100, 5, 0.5))},
    # chapter 5
    "sign_committee_binary_capacity": {"typical.capacity": always(0.9)},
    "relu_committee_binary_capacity": {"typical.capacity": always(0.9)},
    "relu_stores_less_than_sign": {"typical.capacity": always(0.9)},
    "binary_capacity_below_one": {"typical.capacity": always(1.2)},
    "spherical_perceptron_capacity": {"typical.capacity": always(2.01)},
    "relu_committee_spherical_capacity": {"typical.capacity": always(2.9)},
    "capacity_from_overlap_slope": {"typical.solve": point(q=0.5)},
    "relu_overlap_slope": {
        "ReLU": point(scale=1.0, effective_overlap=lambda _, gap: point(complement=0.6 * gap)())
    },
    "sign_spherical_capacity_diverges": {"typical.solve": point(q=1.0)},
    "smooth_units_finite_capacity": {"typical.capacity": always(math.inf)},
    "sign_committee_spherical_instability": {"typical.instability": always(2.95)},
    "relu_committee_spherical_instability": {"typical.instability": always(0.615)},
    "relu_committee_1rsb_capacity": {"typical.capacity": always(2.92)},
    "sign_committee_rs_scaling": {"typical.capacity": lambda device: device.units**0.4},
    "committee_solutions_isolated": {"franz_parisi.gap": always((0.01, 0.02))},
    "relu_less_isolated_than_sign": {"franz_parisi.gap": always((0.0, 0.1))},
    "typical_stabilities_peak_at_zero": {"stabilities.density": lambda *given: given[-1]},
    # chapter 6
    "largest_distance_half_load": {"franz_parisi.distance_of_maximum": always(0.3)},
    "zero_margin_isolated": {
        "_gap": always((0.0, 0.01)),
        "franz_parisi.distance_of_maximum": always(0.3),
        "_curve": curve(slope=1.0),
    },
    "maximum_at_typical_distance": {"franz_parisi.solve": point(local_entropy=0.0, slope=0.0)},
    "positive_margin_surrounded": {"_curve": curve(local_entropy=0.5, bound=1.0)},
    "margin_no_gap_half_load": {"_gapless": always(0.05)},
    "margin_monotonic_half_load": {"_monotonic": always(0.06)},
    "gap_below_margin_no_gap": {"_gap": always((math.nan, math.nan))},
    "two_maxima_below_margin_monotonic": {"_curve": curve(slope=1.0, local_entropy=1.0)},
    "local_entropy_grows_with_margin": {"_curve": curve(local_entropy=0.1)},
    "equal_margins_isolated": {"_gap": always((0.01, 0.02))},
    "same_phases_at_positive_margin": {"_gapless": always(0.5), "_monotonic": always(0.1)},
    "transition_in_counted_margin": {"_curve": curve(slope=1.0)},
    "franz_parisi_replica_symmetric": {
        "franz_parisi_1rsb.search": point(attracting=[], states=[])
    },
    "margin_dense_threshold": {"_dense": always(0.74)},
    "monotonic_below_threshold": {"_curve": curve(slope=-1.0), "_gap": always((0.1, 0.2))},
    "thresholds_close": {
        "_dense": always(0.5),
        "large_deviation.dense_threshold": always(0.7553),
    },
    "thresholds_close_planted": {
        "margin_students.dense_threshold": always(1.09),
        "margin_students.replica_threshold": always(1.08),
    },
    "committee_margin_thresholds": {"_dense": always(0.7)},
    "committee_curves_similar": {
        "franz_parisi.curve": point(slope=np.ones(3), local_entropy=np.ones(3))
    },
    # chapter 7
    "bp_settles_around_wide_minimum": {
        "_focused": FOCUSED,
        "learning.belief_propagation": point(converged=True),
        "landscape.local_entropy": always({"converged": np.ones(4, dtype=bool)}),
    },
    "bp_fails_around_no_solution": {"_focused": FOCUSED, "_settles": always([True, True])},
    "local_entropy_without_patterns": {
        "landscape.local_entropy": always(
            {name: SimpleNamespace(values=np.array([-0.01])) for name in ("excess", "distance")}
        )
    },
    "focusing_bp_peaked": {
        "learning.focusing_bp": point(history={"polarisation": [0.5]}, errors=0)
    },
    # chapter 8
    "fast_gamma_doubles": {"learning.cross_entropy_sgd": point(errors=0)},
    # chapter 10
    "band_capacity": {"typical.capacity": always(1.8)},
    "band_gap_whole": {"clusters.threshold": always(1.66)},
    "band_gap_real": {"clusters.threshold": always(1.658)},
    "band_gap_nested": {"clusters.nested_threshold": always(1.63)},
    "band_gap_nested_real": {"clusters.nested_threshold": always(1.63)},
    "band_breakup": {"clusters.breakup": always(1.58)},
    "binary_breakup_between": {"clusters.breakup": always(0.76)},
    # chapter 11
    "relu_one_step_capacity": {"typical.capacity": always(2.67)},
    "one_step_lowers_few_units": {
        "full_breaking.finite_capacity": point(alpha=4.0, symmetric=4.0, error=1e-5)
    },
    "symmetric_capacity_grows_as_root": {"typical.capacity": always(4.0)},
    "symmetric_capacity_below_counting": {"typical.capacity": always(7.0)},
    "jamming_exponents_relation": {
        "full_breaking.exponents": point(gaps=0.41, forces=0.42, overlaps=1.42)
    },
    # chapter 12
    "uniform_measure_of_sphere_is_drawn": {"localization.threshold": always(0.5)},
    "uniform_measure_of_signs_is_not_drawn": {"_falls": always(0.0)},
    "log_potential_is_drawn": {"_falls": always(1.0)},
    "convex_component": {"connectivity.convex_margin": always(1.0)},
    "high_margins_see_all": {"connectivity.error": always(0.01)},
    "star_ends": {"connectivity.star_margin": always(-0.1)},
    "largest_margin_is_nearly_densest": {"_missing": always(np.ones(2))},
}
