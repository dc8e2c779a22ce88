"""Checks of the claims on measures of flatness (chapter 13)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from wfmlib.probe import calibration

NEAR = 3.0  # standard errors within which an estimate agrees with the truth


def _relu(w, a, x):
    """Return outputs of a network of rectifiers, and the trace of the Hessian at zero loss."""
    fields = x @ w.T
    units = np.maximum(fields, 0.0)
    by_weights = ((fields > 0.0) * a)[:, :, None] * x[:, None, :]
    return units @ a, (np.sum(by_weights**2) + np.sum(units**2)) / len(x)


def rectifiers_as_sharp_as_one_likes():
    """Outputs and trace of the Hessian when one layer is divided by up to 10^6."""
    rng = np.random.default_rng(13)
    x, w, a = rng.normal(size=(40, 10)), rng.normal(size=(8, 10)), rng.normal(size=8)
    output, trace = _relu(w, a, x)
    changes, growth = [], []
    for factor in (1e2, 1e4, 1e6):
        same, larger = _relu(w / factor, a * factor, x)
        changes.append(np.max(np.abs(same - output)))
        growth.append(larger / trace)
    grows = all(later > 100.0 * now for now, later in pairwise(growth))
    return grows and max(changes) < 1e-9, (
        f"the trace grows more than 10^{math.floor(math.log10(growth[-1]))} times, and no output "
        "changes by 10^-9"
    )


def _compared(method):
    """Return weights, truth, value and its error of a method on the spherical perceptron."""
    names = ("weights", "truth", "value", "error")
    lines = [
        tuple(float(line[name]) for name in names)
        for line in calibration.table()
        if (line["measure"], line["method"]) == ("local_volume", method)
        and line["ruler"].startswith("spherical")
    ]
    return {line[0]: line[1:] for line in lines}


def directions_underestimate_volumes():
    """Logarithm of a volume by independent directions, and by messages, at three sizes."""
    lines = _compared("rays")
    large = [(value, truth) for size, (truth, value, _) in lines.items() if size >= 200]
    low = [value < truth - 10.0 for value, truth in large]
    shares = " and ".join(f"10^{truth / math.log(10.0):.0f}" for _, truth in large)
    return len(low) > 1 and all(low), (
        f"at 200 and 1000 weights they find nothing, of {shares}, at 50 they agree; "
        "networks of millions of weights were not tried"
    )


def gradients_help_to_find_volumes():
    """The same by directions drawn with the gradient, at three sizes."""
    rays, tilted = _compared("rays"), _compared("importance")
    finds = [
        size for size in tilted if np.isfinite(tilted[size][1]) and not np.isfinite(rays[size][1])
    ]
    truth, value, error = tilted[200.0]
    exact = abs(value - truth) < NEAR * error
    return len(finds) == sum(size >= 200 for size in tilted) and not exact, (
        f"at 200 weights they find a volume that is {truth - value:.0f} +- {error:.0f} nats too "
        "small, where plain directions find none; at 1000 they find none, either"
    )
