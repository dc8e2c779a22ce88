"""Worlds in which the checks of statements made in passing come out otherwise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from wfmlib.book.claim_checks import remarks_runs
from wfmlib.models import ReLU


def by_unit(relu, sign):
    """Return a function that tells rectifiers from sign units."""
    return lambda device: relu if device.activation == ReLU() else sign


def flat(value):
    """Return a function that gives a value for each of the places that it is asked for last."""
    return lambda *given, **_: value + 0.0 * np.asarray(given[-1])


# what a check would have to see: attributes of its module, or changes of its archive
LIVE = {
    "symmetric_capacity_breaks_bound": {"typical.capacity": lambda _: 2.0},
    "relu_instability_far_below": {"typical.instability": by_unit(0.615, 2.988)},
    "relu_breaking_changes_little": {
        "typical.capacity": lambda *_, ansatz="RS": 2.0 if ansatz == "1RSB" else 2.9
    },
    "delta_peak_at_capacity": {"stabilities.density": flat(0.4)},
    "flat_near_one_everywhere": {"large_deviation.local_entropy": flat(-0.5)},
    "relu_regions_end_earlier": {"large_deviation.dense_threshold": by_unit(0.6, 0.7)},
    "log_fraction_is_bounded": {"large_deviation.local_entropy": flat(0.01)},
    "height_has_several_maxima": {
        "optimize.minimize": lambda f, *_, **__: SimpleNamespace(x=np.ones(3), fun=f(np.ones(3)))
    },
    "maximum_over_distance_is_1rsb": {
        "_entropy_of_groups": lambda usual, q1: usual.entropy + q1 - usual.q1
    },
    "errors_ignore_norms": {"np.tanh": np.sign},
    "margins_have_a_sharp_threshold": {"_count": lambda *_: 1},
    "margin_surrounds_real_weights": {
        "_surroundings": lambda places, _, reference: flat(-reference.kappa)(places)
    },
    "bp_fails_with_a_weak_pull": {"_around_solution": lambda _: (0, np.ones(4, dtype=bool))},
    "expanded_messages_lose_far": {"_price": lambda *_: np.ones(3)},
    "shuffling_keeps_the_bias": {"datasets.shuffle_pixels": lambda xi, rng: xi},
    "spectra_alike_at_high_sharpness": {
        "_largest": lambda _, name, __: (2.0 if name == "fBP" else 1.0) * np.linspace(1, 1.01, 10)
    },
    "epochs_spread_as_quoted": {"SPREADS": remarks_runs.SPREADS | {"eLAL": 800.0}},
    "image_epochs_spread_as_quoted": {
        "IMAGE_SPREADS": remarks_runs.IMAGE_SPREADS | {"ceSGD slow": 420.0, "ceSGD fast": 480.0}
    },
}


def scaled(variable, factor, **where):
    """Return a change of an archive: a variable times a factor, at some places."""

    def change(data):
        chosen = data[variable].loc[where]
        data[variable].loc[where] = (chosen * factor).astype(chosen.dtype)

    return change


ARCHIVED = {
    "fbp_reaches_furthest": {"committee-reach": scaled("solved", 0, algorithm="fBP")},
    "fbp_widest_of_all": {"tree-minima": scaled("around_excess", 0.1, algorithm="fBP")},
    "lal_needs_fewest_epochs": {"tree-minima": scaled("epochs", 1000, algorithm="LAL")},
    "shuffled_does_not_generalise": {"image-minima": scaled("test_error", 0.1, data="shuffled")},
    "shuffled_needs_more_epochs": {"image-minima": scaled("epochs", 3, data="shuffled")},
    "focusing_keeps_off_the_threshold": {"fbp-perceptron": scaled("density", 0)},
}
