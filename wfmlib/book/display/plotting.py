"""Lines of a sweep, drawn with the labels and units that it carries."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfmlib.numerics import arguments

FIRST = ("local_entropy", "entropy")  # what most want to see


def plot(data: Any, y: str | None = None, x: str | None = None, *, ax: Any = None, **style) -> Any:
    """Draw one variable of a sweep, a line for each value of what is swept besides.

    Parameters
    ----------
    data : xarray.Dataset
        A curve of theory, a measured local entropy, or an archive.
    y : str, optional
        Name of the variable; the local entropy or the entropy, where there is one.
    x : str, optional
        Name of the variable or coordinate along the horizontal axis; by default the first
        dimension of `y`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; the current axes by default.
    **style
        For ``ax.plot``: ``c``, ``ls``, ``label`` and so on.

    Returns
    -------
    matplotlib.axes.Axes
        With labelled axes. Lines have gaps where nothing converged.

    Raises
    ------
    TypeError
        If `data` is no Dataset.
    ValueError
        If it has no such variable, or more than two dimensions; the message names them.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, theory
    >>> curve = theory.typical.curve(Perceptron(), np.linspace(0, 0.8, 9))
    >>> plot(curve).get_ylabel()
    'entropy (nats per weight)'
    """
    import xarray as xr
    from matplotlib import pyplot as plt

    arguments.member("data", data, (xr.Dataset,))
    if y is None:
        y = next((name for name in FIRST if name in data), None)
    y = _named("y", y, data)
    dims = data[y].dims
    x = _named("x", dims[0] if x is None and dims else x, data)
    swept = [dim for dim in dims if dim not in data[x].dims]
    if len(swept) > 1 or data[x].ndim != 1:
        raise ValueError(
            f"data must have {y} along {x} and one more dimension at most, got {dims}: "
            "choose with data.sel(...)"
        )
    ax = plt.gca() if ax is None else ax
    values = data[y]
    if "converged" in data:
        values = values.where(data.converged)
    for place in range(values.sizes[swept[0]]) if swept else (None,):
        line, looks = values, style
        if place is not None:
            line = values.isel({swept[0]: place})
            looks = {"label": _value(data, swept[0], place)} | style
        ax.plot(np.asarray(data[x]), np.asarray(line), **looks)
    ax.set(xlabel=label(data[x]), ylabel=label(data[y]))
    return ax


def label(variable):
    """Return the label of an axis: what it is, and its unit."""
    text = variable.attrs.get("long_name", variable.name)
    unit = variable.attrs.get("units", "1")
    return text if unit == "1" else f"{text} ({unit})"


def _named(argument, name, data):
    names = sorted(map(str, data.variables))
    if name not in data.variables:
        raise ValueError(f"{argument} must be one of {', '.join(names)}, got {name!r}")
    return name


def _value(data, dim, place):
    """Return what a line is called: the dimension and its value there."""
    if dim not in data.coords:
        return f"{dim} {place}"
    value = data[dim].values[place]
    return f"{dim} {value:g}" if np.issubdtype(data[dim].dtype, np.number) else str(value)
