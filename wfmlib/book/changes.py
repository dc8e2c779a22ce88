"""Experiments of one's own: one of the book's with other settings.

A setting is changed by its name: what is swept, what is fixed, the coordinates inside a sample,
how many samples, and the seed. Inside of a setting that holds several, a dot leads on:
``recipe.eta``. What was changed stands in the archive's name, which is then never the book's.
"""

from __future__ import annotations

import contextlib
import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from wfmlib.book.runs import Experiment

#: Other words for names: the field's word for alpha is the load.
WORDS = {"load": "alpha", "loads": "alpha"}
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def settings_at(experiment: Experiment, scale: str = "quick") -> dict:
    """Return what can be changed of an experiment, with its values at a scale."""
    chosen = experiment.scale(scale)
    settings = dict(chosen.grid) | _flat(chosen.settings) | dict(chosen.coordinates)
    return settings | {"samples": chosen.samples, "seed": experiment.seed}


def changed(
    experiment: Experiment, settings: Mapping | Sequence[str], scale: str = "quick"
) -> Experiment:
    """Return an experiment with other settings at one of its scales.

    Parameters
    ----------
    experiment : Experiment
        Which.
    settings : mapping of str to value, or sequence of str
        New values by the names that `settable` lists, or texts ``NAME=VALUE``, where values of a
        list are parted by commas and numbers may be fractions; ``loads`` is another word for
        ``alpha``. What is swept takes a list, or one value.
    scale : str, optional
        ``"quick"`` or ``"paper"``: what is not named stays as it is there.

    Returns
    -------
    Experiment
        Its archive is called after what was changed, so it never replaces another.

    Raises
    ------
    TypeError, ValueError
        If a name is not known, or a value is not of the kind of the one that it replaces.

    Examples
    --------
    >>> from wfmlib.book import experiments
    >>> own = changed(experiments.get("bp-entropy"), {"N": 51, "loads": 0.5})
    >>> own.changes, own.scale("quick").grid
    ({'alpha': [0.5], 'N': 51}, {'alpha': [0.5]})
    """
    present, changes = settings_at(experiment, scale), {}
    for word, value in _pairs(settings):
        name = _setting_name(word, present, experiment, scale)
        if name in changes:
            raise ValueError(f"{name} is set twice")
        changes[name] = _like(name, present[name], value)
    changes = {name: changes[name] for name in present if name in changes}
    chosen = experiment.scale(scale)
    parts = {"grid": chosen.grid, "coordinates": chosen.coordinates, "settings": chosen.settings}
    parts = json.loads(json.dumps(parts))  # a copy
    for name, value in changes.items():
        for part in parts.values():
            _replace_setting(part, name, value)
    own = replace(chosen, samples=changes.get("samples", chosen.samples), **parts)
    return replace(
        experiment,
        scales={**experiment.scales, scale: own},
        seed=changes.get("seed", experiment.seed),
        changes={**experiment.changes, **changes},
    )


def _pairs(settings):
    """Yield names and values of a dict, or of texts NAME=VALUE."""
    if isinstance(settings, Mapping):
        yield from settings.items()
        return
    if isinstance(settings, str) or not isinstance(settings, Sequence):
        raise TypeError(f"settings must be a dict of names and values, got {settings!r}")
    for text in settings:
        word, equals, value = str(text).partition("=")
        if not equals or not word.strip():
            raise ValueError(f"a setting must be NAME=VALUE, such as samples=4, got {text!r}")
        yield word.strip(), _value(value.strip())


def _flat(settings, before=""):
    """Return settings without dicts in dicts: names with dots."""
    flat = {}
    for name, value in settings.items():
        inside = isinstance(value, dict) and value
        flat |= _flat(value, f"{before}{name}.") if inside else {before + name: value}
    return flat


def _replace_setting(settings, name, value):
    """Replace a setting at a name with dots; a name inside may hold dots itself."""
    for key in settings:
        if name == key:
            settings[key] = value
        elif name.startswith(f"{key}.") and isinstance(settings[key], dict):
            _replace_setting(settings[key], name[len(key) + 1 :], value)


def _setting_name(word, present, experiment, scale):
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


def _like(name, present, value):
    """Return a value in the type of the one that it replaces."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(present, list):
        several = list(value) if isinstance(value, list | tuple | range) else [value]
        if not several:
            raise ValueError(f"{name} must hold at least one value, got none")
        return [_like(name, present[0], entry) for entry in several]
    if isinstance(present, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(present) in KINDS and type(value) is not type(present):
        kind = KINDS[type(present)]
        raise ValueError(f"{name} must be {kind} (such as {present!r}), got {value!r}")
    return value


def _value(text):
    """Return what a text after --set stands for: JSON, or values parted by commas."""
    with contextlib.suppress(ValueError):
        return json.loads(text)
    parts = [_number(part.strip()) for part in text.split(",")]
    return parts if len(parts) > 1 else parts[0]


def _number(text):
    """Return a text as a number, a fraction too, where it is one."""
    for read in (int, float, lambda ratio: float(Fraction(ratio))):
        with contextlib.suppress(ValueError, ZeroDivisionError):
            return read(text)
    return text
