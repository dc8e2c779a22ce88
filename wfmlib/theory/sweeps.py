"""Sweeps as labelled arrays: what a question answers for many loads, margins, distances, overlaps.

A curve is solved at every combination of its arguments. A row of numbers, or of constraints, spans
a dimension that is called after the argument (`alpha`, `distance`, `overlap`; `kappa` where all
constraints are margins, or all are bands), so that ``curve.entropy.plot()`` and
``curve.to_dataframe()`` know their axes; a single number spans none. A `xarray.DataArray` keeps
its own dimensions: two that share one are pairs along it. Each variable says its unit and what it
is.
"""

from __future__ import annotations

import numpy as np

from wfmlib.models.constraints import Band, Margin
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, continuation

NATS = "nats per weight"
#: Unit and meaning of all that sweeps hold.
MEANING = {
    "alpha": ("patterns per weight", "load"),
    "kappa": ("1", "margin"),
    "constraint": ("1", "what a pattern asks"),
    "reference_kappa": ("1", "margin of the reference"),
    "reference": ("1", "what the reference satisfies"),
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


def sweep(asked, begin, names, *, along, meaning=None, progress=False, **attributes):
    """Solve at every combination of the arguments of a curve.

    Parameters
    ----------
    asked : dict
        The arguments: numbers, rows of them, constraints, rows of them, DataArrays.
    begin : callable
        ``begin(**others)``, given one of each argument but `along`, returns ``step(value, start)``
        [start is None at first]: the row of `names` at a value of `along`, and the start of the
        next smaller one.
    names : sequence of str
        What is found.
    along : str
        The argument that is walked along, from its largest value on.
    meaning : dict of str to (str, str), optional
        Unit and meaning where they are others than in `MEANING`.
    progress : bool, optional
        Show a bar.
    **attributes
        What is the same all along, kept as text or number.

    Returns
    -------
    xarray.Dataset
        The arguments are its coordinates. NaN, ``converged = False`` and a `reason` where there is
        no saddle point, or an argument is out of range.

    Raises
    ------
    TypeError, ValueError, NotConverged
        Those of `begin` where only `along` is swept; ValueError if all is out of range.
    """
    import xarray as xr  # late: a single point needs none of it

    arrays = {name: labelled(name, value) for name, value in asked.items()}
    full = xr.broadcast(*xr.align(*arrays.values(), join="exact"))
    table = {name: array.values.ravel() for name, array in zip(arrays, full, strict=True)}
    paths = {}  # the places at which the others are the same
    for place, row in enumerate(zip(*table.values(), strict=True)):
        others = dict(zip(table, row, strict=True))
        del others[along]
        key = tuple(x if isinstance(x, float) else id(x) for x in others.values())
        paths.setdefault(key, (others, []))[1].append(place)
    order = [
        (others, np.array(places)[np.argsort(-table[along][places])])
        for others, places in paths.values()
    ]
    # of each path in turn: its steps, or why there is none, and where the next one starts
    steps = [begin(**_plain(order[0][0]))] if len(order) == 1 else [None] * len(order)
    starts = [None] * len(order)

    def solved(visit, _):
        path, place = visit
        if steps[path] is None:
            try:
                steps[path] = begin(**_plain(order[path][0]))
            except (NotConverged, ValueError, ArithmeticError) as error:
                steps[path] = error
        if isinstance(steps[path], Exception):
            raise steps[path]
        row, starts[path] = steps[path](float(table[along][place]), starts[path])
        return np.array(row, dtype=float)

    visits = [(path, place) for path, (_, places) in enumerate(order) for place in places]
    rows, reached, why = continuation(solved, visits, None, failed="nan", progress=progress)
    back = np.argsort([place for _, place in visits]) if visits else slice(0)
    rows = rows[back] if reached.any() else np.full((len(visits), len(names)), np.nan)
    columns = dict(zip(names, rows.T, strict=True))
    columns |= {"converged": reached[back], "reason": why[back]}
    dims, shape = full[0].dims, full[0].shape
    columns = {name: (dims, column.reshape(shape)) for name, column in columns.items()}
    return dataset(arrays, columns, meaning, **attributes)


def dataset(arrays, columns, meaning=None, **attributes):
    """Return a Dataset of `columns`, each with its dimensions, over arguments as `labelled`."""
    import xarray as xr

    meaning = MEANING | (meaning or {})
    coords = {}
    for name, array in arrays.items():
        if array.ndim == 0 and array.dtype == object:
            attributes |= {name: array.item()}
        label, values = _coordinate(name, array)
        coords |= {dim: array.coords[dim].variable for dim in array.dims if dim in array.coords}
        coords[label] = (array.dims, values)
    plain = {
        name: value if isinstance(value, (int, float, str)) else repr(value)
        for name, value in attributes.items()
    }
    return explained(xr.Dataset(columns, coords, plain), meaning)


def explained(curves, meaning=MEANING):
    """Return a Dataset whose variables say their units and what they are."""
    for name, variable in curves.variables.items():
        if name in meaning:
            variable.attrs |= dict(zip(("units", "long_name"), meaning[name], strict=True))
    return curves


def labelled(name, value):
    """Return an argument as a DataArray: a row along a dimension that is called after it."""
    import xarray as xr

    if isinstance(value, xr.DataArray):
        return value
    values = arguments.array(name, value)
    if values.ndim > 1:
        raise ValueError(
            f"{name} must be one row at most, got shape {values.shape}: curves are solved at "
            "every combination of their arguments. An xarray.DataArray keeps its dimensions"
        )
    array = xr.DataArray(values, dims=[name] * values.ndim)
    return array.rename({name: _coordinate(name, array)[0]}) if values.ndim else array


def _coordinate(name, array):
    """Return what the coordinate of an argument is called, and its values: constraints are told.

    By their kappa, where all are margins, or all are bands; and else as text.
    """
    if name not in ("constraint", "reference"):
        return name, array.values
    values = array.values.ravel()
    if any(all(type(value) is kind for value in values) for kind in (Margin, Band)):
        name = "kappa" if name == "constraint" else f"{name}_kappa"
        labels = np.array([constraint.kappa for constraint in values], dtype=float)
    else:
        labels = np.array([repr(constraint) for constraint in values])
    return name, labels.reshape(array.shape)


def _plain(others):
    """Return arguments with numbers that are Python's."""
    return {n: float(x) if isinstance(x, float) else x for n, x in others.items()}
