"""Experiments of one's own: one of the book's with other settings, and how its archive is called.

A setting is changed by its name: what is swept, what is fixed, the coordinates inside a sample,
how many samples, and the seed. Inside of a setting that holds several, a dot leads on:
``recipe.eta``. What was changed stands in the archive's name, which is then never the book's.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from wfmlib.runs.experiment import Experiment

#: Other words for names: the field's word for alpha is the load.
WORDS = {"load": "alpha", "loads": "alpha"}
MARK = "--"  # between an experiment's name and what was changed
LONGEST = 80  # letters of what was changed in the name of an archive; else a hash of it


def settable(experiment: Experiment, scale: str = "quick") -> dict:
    """Return what can be changed of an experiment, with its values at a scale.

    Parameters
    ----------
    experiment : Experiment
        Which.
    scale : str, optional
        ``"quick"`` or ``"paper"``.

    Returns
    -------
    dict
        Names and values: first what is swept (lists), then the settings, then the coordinates
        inside a sample (lists), then ``samples`` and ``seed``.
    """
    chosen = experiment.scale(scale)
    found = dict(chosen.grid) | _flat(chosen.settings) | dict(chosen.coordinates)
    return found | {"samples": chosen.samples, "seed": experiment.seed}


def changed(experiment: Experiment, settings: Any, scale: str = "quick") -> Any:
    """Return an experiment with other settings at one of its scales.

    Parameters
    ----------
    experiment : Experiment
        Which.
    settings : mapping of str to value
        New values by the names that `settable` lists; ``loads`` is another word for ``alpha``.
        What is swept takes a list, or one value.
    scale : str, optional
        ``"quick"`` or ``"paper"``: what is not named stays as it is there.

    Returns
    -------
    Experiment
        Its `archive_name` holds what was changed, so its archive never replaces another.

    Raises
    ------
    TypeError, ValueError
        If a name is not known, or a value is not of the kind of the one that it replaces.

    Examples
    --------
    >>> from wfmlib.book import experiments
    >>> own = experiments.changed(experiments.get("bp-entropy"), {"N": 51, "loads": 0.5})
    >>> own.archive_name, own.scale("quick").grid
    ('bp-entropy--alpha=0.5--N=51', {'alpha': [0.5]})
    """
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings must be a dict of names and values, got {settings!r}")
    present, given = settable(experiment, scale), {}
    for word, value in settings.items():
        name = _known(word, present, experiment, scale)
        if name in given:
            raise ValueError(f"{name} is set twice")
        given[name] = _like(name, present[name], value)
    given = {name: given[name] for name in present if name in given}
    chosen, seed = experiment.scale(scale), given.get("seed", experiment.seed)
    grid, coordinates, fixed = (
        json.loads(json.dumps(one)) for one in (chosen.grid, chosen.coordinates, chosen.settings)
    )
    for name, value in given.items():
        if name in grid:
            grid[name] = value
        elif name in coordinates:
            coordinates[name] = value
        elif name not in ("samples", "seed"):
            _put(fixed, name, value)
    samples = given.get("samples", chosen.samples)
    own = replace(chosen, grid=grid, samples=samples, settings=fixed, coordinates=coordinates)
    scales = {**experiment.scales, scale: own}
    return replace(experiment, scales=scales, seed=seed, changes={**experiment.changes, **given})


def parsed(experiment: Experiment, texts: Sequence[str], scale: str = "quick") -> Any:
    """Return settings given as text, such as ``"N=501"`` or ``"loads=0.5,0.6"``, as values.

    Parameters
    ----------
    experiment : Experiment
        Whose settings.
    texts : sequence of str
        ``NAME=VALUE``. Values of a list are parted by commas, or are JSON in brackets; numbers
        may be fractions, ``1000/2001``.
    scale : str, optional
        ``"quick"`` or ``"paper"``.

    Returns
    -------
    dict
        For `changed`.

    Raises
    ------
    ValueError
        If a text is not of this form, a name is not known, or a value cannot be read as one of
        the kind that it replaces.
    """
    present, found = settable(experiment, scale), {}
    for text in texts:
        word, equals, value = text.partition("=")
        if not equals or not word.strip():
            raise ValueError(f"a setting must be NAME=VALUE, such as samples=4, got {text!r}")
        name = _known(word.strip(), present, experiment, scale)
        if name in found:
            raise ValueError(f"{name} is set twice")
        found[name] = _read(name, present[name], value.strip())
    return found


def archive_name(experiment: Experiment):
    """Return how an experiment's archive is called: its name, and what was changed of it."""
    if not experiment.changes:
        return experiment.name
    said = MARK.join(f"{name}={_short(value)}" for name, value in experiment.changes.items())
    if len(said) > LONGEST or not re.fullmatch(r"[\w.=,+-]+", said, re.ASCII):
        text = json.dumps(experiment.changes, sort_keys=True, separators=(",", ":"))
        said = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{experiment.name}{MARK}{said}"


# ------------------------------------------------------------------------------------------------
# Names
# ------------------------------------------------------------------------------------------------


def _flat(settings, before=""):
    """Return settings without dicts in dicts: names with dots."""
    found = {}
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            found |= _flat(value, f"{before}{name}.")
        else:
            found[before + name] = value
    return found


def _put(settings, name, value):
    """Replace a setting at a name with dots; a name inside may hold dots itself."""
    for key in settings:
        if name == key:
            settings[key] = value
        elif name.startswith(f"{key}.") and isinstance(settings[key], dict):
            _put(settings[key], name[len(key) + 1 :], value)


def _known(word, present, experiment, scale):
    """Return the name that a word stands for."""
    if word in present:
        return word
    if WORDS.get(word) in present:
        return WORDS[word]
    close = difflib.get_close_matches(str(word), present, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise ValueError(
        f"a setting of {experiment.name} at the {scale} scale must be one of "
        f"{', '.join(present)}; got {word!r}{hint}"
    )


# ------------------------------------------------------------------------------------------------
# Values
# ------------------------------------------------------------------------------------------------


def _kind(value):
    """Say in words what may stand in the place of a value, None where anything may."""
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    if isinstance(value, list) and value and type(value[0]) in kinds:
        return f"{kinds[type(value[0])]}, or several parted by commas"
    return kinds.get(type(value))


def _like(name, present, value):
    """Return a value in the type of the one that it replaces."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(present, list):
        several = list(value) if isinstance(value, list | tuple | range) else [value]
        if not several:
            raise ValueError(f"{name} must hold at least one value, got none")
        return [_like(name, present[0], one) for one in several]
    kind = _kind(present)
    good = {
        bool: isinstance(value, bool),
        int: isinstance(value, int) and not isinstance(value, bool),
        float: isinstance(value, int | float) and not isinstance(value, bool),
        str: isinstance(value, str),
    }.get(type(present), True)
    if not good:
        raise ValueError(f"{name} must be {kind} (it is {present!r} by default), got {value!r}")
    return float(value) if isinstance(present, float) else value


def _read(name, present, text):
    """Return a text as a value of the kind of the one that it replaces."""
    try:
        if isinstance(present, list):
            if text.startswith("["):
                return _like(name, present, json.loads(text))
            return [_read(name, present[0], part.strip()) for part in text.split(",")]
        if isinstance(present, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(present, int):
            return int(text)
        if isinstance(present, float):
            return float(Fraction(text)) if "/" in text else float(text)
        return text if isinstance(present, str) else json.loads(text)
    except (KeyError, ValueError, ZeroDivisionError):
        kind = _kind(present) or "JSON"
        raise ValueError(
            f"{name} must be {kind} (it is {present!r} by default), got {text!r}"
        ) from None


def _short(value):
    """Return a value as text for the name of a file."""
    if isinstance(value, list):
        return ",".join(map(_short, value))
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if isinstance(value, float) and float(short) == value else str(value)
