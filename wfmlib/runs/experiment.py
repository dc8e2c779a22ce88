"""What an experiment is: its parameters, its sweep, its seeds and what it measures.

An experiment is a value. It is checked when it is built, so that a slip in a definition shows at
import and not after a night of computing.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import pickle
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from wfmlib.numerics import arguments

SCALES = ("quick", "paper")
SAMPLE = "sample"  # the dimension of the samples
DONE = "done"  # the variable that flags the samples an archive holds
DTYPES = ("float64", "int32", "bool")  # netCDF 3 has no longer integers


@dataclass(frozen=True)
class Variable:
    """One quantity that a sample yields.

    Attributes
    ----------
    units : str
        In words or symbols, ``"1"`` for a pure number.
    long_name : str
        What it is, in a line.
    dims : tuple of str
        Its dimensions inside one sample: names of the scale's `coordinates`.
    dtype : str
        ``"float64"``, ``"int32"`` or ``"bool"``.
    """

    units: str
    long_name: str
    dims: tuple = ()
    dtype: str = "float64"

    def __post_init__(self):
        _text("units", self.units)
        _text("long_name", self.long_name)
        if isinstance(self.dims, str) or not isinstance(self.dims, (tuple, list)):
            raise ValueError(f"dims must be a tuple of names, got {self.dims!r}")
        object.__setattr__(self, "dims", tuple(self.dims))
        if len(set(self.dims)) < len(self.dims):
            raise ValueError(f"dims must differ from each other, got {self.dims}")
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {self.dtype!r}")


@dataclass(frozen=True)
class Axis:
    """How a dimension, of the grid or inside a sample, is labelled in figures and archives."""

    units: str
    long_name: str

    def __post_init__(self):
        _text("units", self.units)
        _text("long_name", self.long_name)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far a sample may be from the archived one if it is computed anew from the same seed.

    Whole numbers, flags and the places of NaN must be equal. A sample whose path is chaotic need
    not be close: such samples are compared by their distribution.

    Attributes
    ----------
    rtol, atol : float
        A number may differ by ``atol + rtol |archived|``; both 0: bit for bit.
    why : str
        Where the tolerance comes from and, where paths may be chaotic, why.
    chaotic : bool or callable
        Whether paths are chaotic: all of them, or those of the archived samples for whose values,
        a dict of arrays, this function of a module is true.
    """

    rtol: float = 0.0
    atol: float = 0.0
    why: str = "the arithmetic is fixed"
    chaotic: bool | Callable = False

    def __post_init__(self):
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, float) or not value >= 0.0:
                raise ValueError(f"{name} must be a float >= 0, got {value!r}")
        _text("why", self.why)
        if not isinstance(self.chaotic, bool):
            _check_function("chaotic", self.chaotic)

    def is_chaotic(self, values: Any) -> bool:
        """Say whether the path of an archived sample with these values was chaotic."""
        return bool(self.chaotic(values)) if callable(self.chaotic) else self.chaotic


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large an experiment is run.

    Attributes
    ----------
    grid : mapping of str to sequence
        The sweep: a task for each combination of these values and each sample. Numbers, strings
        or bools, in the order wanted in the archive.
    samples : int
        How many at each point of the grid.
    settings : mapping of str to value
        Parameters that do not vary: numbers, strings, bools, None and lists of them.
    coordinates : mapping of str to sequence
        The dimensions inside a sample, such as the couplings along which a curve is measured.
    """

    grid: Mapping
    samples: int
    settings: Mapping = field(default_factory=dict)
    coordinates: Mapping = field(default_factory=dict)

    def __post_init__(self):
        for name in ("grid", "coordinates"):
            given = _mapping(name, getattr(self, name))
            values = {key: _coordinate(f"{name}[{key!r}]", one) for key, one in given.items()}
            object.__setattr__(self, name, values)
        object.__setattr__(self, "samples", _positive("samples", self.samples))
        settings = {
            key: _setting(f"settings[{key!r}]", value)
            for key, value in _mapping("settings", self.settings).items()
        }
        object.__setattr__(self, "settings", settings)
        _distinct(
            [*self.grid, *self.coordinates, *self.settings, SAMPLE],
            "names of grid, coordinates and settings",
        )

    @property
    def points(self) -> list:
        """The points of the grid, each a dict; the last name varies fastest."""
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]

    @property
    def wanted(self) -> int:
        """How many samples there are in all: those of every point of the grid."""
        return self.samples * len(self.points)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A numerical experiment: one figure of a paper.

    Attributes
    ----------
    name : str
        Lower-case words and digits joined by hyphens; the archive is called after it.
    title : str
        What is measured, in a line.
    source : str
        Paper and place.
    chapter : int
        Chapter of the book that shows it, 1 to 12.
    scales : mapping of str to Scale
        ``"quick"`` (a minute) and ``"paper"`` (as published).
    variables : mapping of str to Variable
        What a sample yields.
    sample : callable
        Function of a module, ``sample(settings, point, seed)``, that returns a dict with an entry
        for each variable. `settings` holds the scale's settings and, as arrays, its coordinates;
        `point` the values of the grid; `seed` is a fresh `numpy.random.SeedSequence`.
    axes : mapping of str to Axis
        Units and long names of the dimensions; those left out are called by their names.
    seed : int
        The root of all seeds.
    paired : bool
        Whether the points of the grid share their seeds, sample by sample: the same patterns for
        every algorithm. Otherwise each point has its own.
    version : int
        To be raised by hand when `sample` comes to mean something else: what was computed by an
        older version is then worth nothing. Other changes of the code are noticed by `digest.of`.
    agreement : Agreement
        How close a sample must come to the archived one when it is verified.
    changes : mapping of str to value
        In what it differs from the book's experiment of this name: `changes.changed` notes it.
    """

    name: str
    title: str
    source: str
    chapter: int
    scales: Mapping
    variables: Mapping
    sample: Callable
    axes: Mapping = field(default_factory=dict)
    seed: int = 0
    paired: bool = False
    version: int = 1
    agreement: Agreement = field(default_factory=Agreement)
    changes: Mapping = field(default_factory=dict)

    def __post_init__(self):
        if not isinstance(self.name, str) or not re.fullmatch(
            r"[a-z0-9]+(-[a-z0-9]+)*", self.name
        ):
            raise ValueError(f"name must be lower-case words joined by hyphens, got {self.name!r}")
        _text("title", self.title)
        _text("source", self.source)
        _bounded("chapter", self.chapter, 1, 12)
        _bounded("seed", self.seed, 0)
        _positive("version", self.version)
        if not isinstance(self.paired, bool):
            raise ValueError(f"paired must be True or False, got {self.paired!r}")
        _members("scales", self.scales, Scale)
        if set(self.scales) != set(SCALES):
            raise ValueError(f"scales must be {' and '.join(SCALES)}, got {list(self.scales)}")
        _members("variables", self.variables, Variable)
        if not self.variables:
            raise ValueError("variables must name what a sample yields, got none")
        _members("axes", self.axes, Axis)
        if not isinstance(self.agreement, Agreement):
            raise ValueError(f"agreement must be Agreement(...), got {self.agreement!r}")
        for name in ("scales", "variables", "axes", "changes"):
            object.__setattr__(self, name, dict(getattr(self, name)))
        self._check_names()
        _check_function("sample", self.sample)

    def _check_names(self):
        """Refuse dimensions that no scale has, and names that stand for two things."""
        for label, scale in self.scales.items():
            dims = [*scale.grid, *scale.coordinates]
            _distinct([*dims, SAMPLE, DONE, *self.variables], f"names of the {label} scale")
            for name, variable in self.variables.items():
                for dim in variable.dims:
                    if dim not in scale.coordinates:
                        raise ValueError(
                            f"dims of {name!r} must be coordinates of the {label} scale "
                            f"({', '.join(scale.coordinates) or 'it has none'}), got {dim!r}"
                        )
            for name in self.axes:
                if name not in dims:
                    raise ValueError(
                        f"axes must name dimensions ({', '.join(dims)}), got {name!r}"
                    )
        quick, paper = (self.scales[one] for one in SCALES)
        if list(quick.grid) != list(paper.grid):
            raise ValueError(
                "scales must sweep the same names in the same order, got "
                f"{list(quick.grid)} and {list(paper.grid)}"
            )

    @property
    def archive_name(self) -> str:
        """How its archive is called: its name, and what was changed of it."""
        from wfmlib.runs.changes import archive_name

        return archive_name(self)

    def scale(self, name: str) -> Any:
        """Return the `Scale` of this name.

        Raises
        ------
        ValueError
            If there is none.
        """
        return self.scales[arguments.choice("scale", name, SCALES)]

    def seed_sequence(self, point: dict, sample: int) -> np.random.SeedSequence:
        """Return the seed of a sample at a point of the grid.

        It depends on the root seed, on the number of the sample and, unless the points are
        paired, on the values of the point: not on what else the grid holds, nor on the scale.

        Parameters
        ----------
        point : dict
            Values of the grid.
        sample : int
            Number of the sample, from 0.

        Returns
        -------
        numpy.random.SeedSequence
        """
        key = (sample,)
        if not self.paired:
            digest = hashlib.sha256(canonical(point).encode()).digest()
            key += tuple(int(word) for word in np.frombuffer(digest[:16], dtype="<u4"))
        return np.random.SeedSequence(self.seed, spawn_key=key)

    def definition(self, scale: str) -> str:
        """Return 16 hexadecimal digits that change with what determines a single sample.

        These are the settings and the coordinates of the scale, the variables, the root seed,
        whether points are paired, and the version; not the grid, nor the number of samples: a
        longer sweep keeps what was computed for the shorter one.
        """
        chosen = self.scale(scale)
        text = canonical(
            {
                "name": self.name,
                "scale": scale,
                "version": self.version,
                "seed": self.seed,
                "paired": self.paired,
                "settings": chosen.settings,
                "coordinates": chosen.coordinates,
                "variables": {
                    name: [list(variable.dims), variable.dtype]
                    for name, variable in self.variables.items()
                },
            }
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def checked(self, scale: str, values: Any) -> Any:
        """Return what a sample yielded as arrays of the declared shapes and types.

        Raises
        ------
        ValueError
            If a variable is missing or was not declared, or if shape or type is not the declared
            one. A NaN passes: it says that a sample has no value there.
        """
        if not isinstance(values, Mapping):
            raise ValueError(f"sample must return a dict, got {type(values).__name__}")
        missing = [name for name in self.variables if name not in values]
        unknown = [name for name in values if name not in self.variables]
        if missing or unknown:
            wrong = [f"lacks {', '.join(missing)}"] if missing else []
            wrong += [f"has {', '.join(map(str, unknown))} besides"] if unknown else []
            raise ValueError(
                f"sample must return {', '.join(self.variables)}; what it returned "
                f"{' and '.join(wrong)}"
            )
        coordinates = self.scale(scale).coordinates
        found = {}
        for name, variable in self.variables.items():
            shape = tuple(len(coordinates[dim]) for dim in variable.dims)
            found[name] = _conform(name, values[name], variable, shape)
        return found

    def as_task(self, scale: str, point: dict, sample: int) -> Any:
        """Return what a worker needs to compute one sample."""
        return Task(self, scale, dict(point), sample)


@dataclass(frozen=True)
class Task:
    """One sample at one point of the grid."""

    experiment: Experiment
    scale: str
    point: dict
    sample: int

    @property
    def key(self) -> str:
        """32 hexadecimal digits that name the point and the sample."""
        text = canonical([self.point, self.sample])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def __str__(self):
        where = [f"{name}={value}" for name, value in self.point.items()]
        return ", ".join([*where, f"sample {self.sample}"])

    def compute(self) -> Any:
        """Return what the sample yields, as checked arrays."""
        chosen = self.experiment.scale(self.scale)
        settings = json.loads(json.dumps(chosen.settings))  # a copy: the function may change it
        settings |= {name: np.array(one) for name, one in chosen.coordinates.items()}
        seed = self.experiment.seed_sequence(self.point, self.sample)
        values = self.experiment.sample(settings, dict(self.point), seed)
        return self.experiment.checked(self.scale, values)


def tasks(experiment: Experiment, scale: str) -> Any:
    """Return the tasks of an experiment: sample by sample, each through the whole grid.

    A run that is stopped has then the first samples at every point, not all at the first.
    """
    chosen = experiment.scale(scale)
    return [
        experiment.as_task(scale, point, sample)
        for sample in range(chosen.samples)
        for point in chosen.points
    ]


def canonical(value):
    """Return a value as JSON text that depends on nothing but the value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# ------------------------------------------------------------------------------------------------
# Checks
# ------------------------------------------------------------------------------------------------


def _text(name, value):
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text, got {value!r}")


def _bounded(name, value, low, high=None):
    try:
        return arguments.integer(name, value, low, high)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _positive(name, value):
    return _bounded(name, value, 1)


def _mapping(name, value):
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a dict, got {value!r}")
    for key in value:
        if not isinstance(key, str) or not key.isidentifier():
            raise ValueError(f"{name} must have names as keys, got {key!r}")
    return dict(value)


def _members(name, value, kind):
    for key, one in _mapping(name, value).items():
        if not isinstance(one, kind):
            raise ValueError(f"{name}[{key!r}] must be {kind.__name__}(...), got {one!r}")


def _distinct(names, what):
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        raise ValueError(f"{what} must differ ({SAMPLE} and {DONE} are taken), got {twice} twice")


def _coordinate(name, values):
    """Return the values of a coordinate as a list of Python values of one kind."""
    if isinstance(values, (str, Mapping)):
        raise ValueError(f"{name} must be a sequence of values, got {values!r}")
    try:
        given = list(values)
    except TypeError:
        raise ValueError(f"{name} must be a sequence of values, got {values!r}") from None
    array = np.array(given)
    kinds = {str if isinstance(one, str) else np.asarray(one).dtype.kind == "b" for one in given}
    if array.ndim != 1 or len(kinds) != 1 or array.dtype.kind not in "biufU":
        raise ValueError(
            f"{name} must be a sequence of numbers, of strings or of bools, got {values!r}"
        )
    found = array.tolist()
    if any(one != one for one in found) or len(set(found)) < len(found):
        raise ValueError(f"{name} must hold values that differ, and no NaN, got {values!r}")
    if array.dtype.kind in "iu" and max(map(abs, found)) >= 2**31:
        raise ValueError(f"{name} must hold integers of at most 31 bits, got {values!r}")
    return found


def _setting(name, value):
    """Return a setting as what JSON gives back."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a number, a string, a bool, None or a list of them, got {value!r}"
        ) from None


def _check_function(name, value):
    if not callable(value):
        raise ValueError(f"{name} must be a function, got {value!r}")
    try:
        pickle.dumps(value)
    except Exception as error:
        raise ValueError(
            f"{name} must be a function of a module, which other processes can import: {error}"
        ) from None


def _conform(name, value, variable, shape):
    """Return a value as an array of the declared type and shape."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = SimpleNamespace(shape=None, dtype="ragged lists")
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    wanted = np.dtype(variable.dtype)
    allowed = {"f": "iuf", "i": "iu", "b": "b"}[wanted.kind]
    if array.dtype.kind not in allowed:
        raise ValueError(f"{name} must be {wanted}, got {array.dtype}")
    if wanted.kind == "i" and np.any(np.abs(array.astype(float)) >= 2**31):
        raise ValueError(f"{name} must fit into {wanted}, got {array}")
    found = array.astype(wanted)
    if wanted.kind == "f":
        found = np.where(np.isnan(found), np.nan, found)  # one NaN, whatever made it
    return found
