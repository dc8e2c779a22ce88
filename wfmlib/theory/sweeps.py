"""Sweeps as labelled arrays: what a question answers for many loads, margins, distances, overlaps.

A dimension is called after the argument that varies along it, so that ``curve.entropy.plot()``
and ``curve.to_dataframe()`` know their axes. Each variable says its unit and what it is.
"""

from __future__ import annotations

import numpy as np

NATS = "nats per weight"
#: Unit and meaning of all that sweeps hold.
MEANING = {
    "alpha": ("patterns per weight", "load"),
    "margin": ("1", "margin"),
    "distance": ("1", "distance"),
    "overlap": ("1", "mutual overlap"),
    "q": ("1", "overlap of typical solutions"),
    "q_hat": ("1", "conjugate of the overlap"),
    "entropy": (NATS, "entropy"),
    "replicon": ("1", "replicon"),
    "margin_density": ("1", "density of stabilities at the margin"),
    "local_entropy": (NATS, "local entropy"),
    "bound": (NATS, "entropy of all weights at the distance"),
    "normalised": (NATS, "local entropy less its bound"),
    "slope": (NATS, "slope of the local entropy in the distance"),
    "p": ("1", "overlap of two counted solutions"),
    "t0": ("1", "overlap with another reference"),
    "energetic": (NATS, "energetic term"),
    "q0": ("1", "overlap between groups"),
    "spread": ("1", "replicas times the overlap within less that between groups"),
    "m": ("1", "Parisi parameter"),
    "entropy_slope": (NATS, "slope of the free entropy in the overlap"),
    "complexity": (NATS, "logarithm of the number of groups"),
    "converged": ("1", "whether there is a saddle point"),
    "reason": ("1", "why there is none"),
}


def dataset(arguments, columns, meaning=None, **attributes):
    """Return a sweep.

    Parameters
    ----------
    arguments : dict of str to ndarray
        What was swept, before it was broadcast.
    columns : dict of str to ndarray
        What was found, each of the broadcast shape.
    meaning : dict of str to (str, str), optional
        Unit and meaning where they are others than in `MEANING`.
    **attributes
        What is the same all along, kept as text or number.

    Returns
    -------
    xarray.Dataset
        The arguments are its coordinates.
    """
    import xarray as xr  # late: a single point needs none of it

    meaning = MEANING | (meaning or {})
    shape = np.broadcast_shapes(*(value.shape for value in arguments.values()))
    dims = _dims(arguments, shape)

    def told(name):
        unit, text = meaning[name]
        return {"units": unit, "long_name": text}

    coords = {}
    for name, value in arguments.items():
        own = range(len(shape) - value.ndim, len(shape))
        kept = [k for k in own if value.shape[k - own.start] == shape[k]]
        flat = value.reshape([shape[k] for k in kept])
        coords[name] = ([dims[k] for k in kept], flat.copy(), told(name))
    found = {name: (dims, value.reshape(shape), told(name)) for name, value in columns.items()}
    plain = {
        name: value if isinstance(value, (int, float, str)) else repr(value)
        for name, value in attributes.items()
    }
    return xr.Dataset(found, coords, plain)


def _dims(arguments, shape):
    """Return the name of each axis: of the argument that varies along it, if one alone does."""
    dims = []
    for k, size in enumerate(shape):
        there = {n: v for n, v in arguments.items() if v.ndim >= len(shape) - k}
        varying = [n for n, v in there.items() if v.shape[k - len(shape)] == size]
        name = varying[0] if len(varying) == 1 or size == 1 else "point"
        dims.append(name if name not in dims else f"{name}_{k}")
    return dims
