"""Experiments: what is measured, how its samples are computed, and the file they are kept in.

An experiment is a grid, settings, variables and a function of settings, point and seed. Its
samples run through any `concurrent.futures.Executor`; each is kept when it is finished, so that a
run that was killed goes on. The archive is one netCDF file, the same however often the run was
stopped and on however many workers it ran, but for what says so: date, processors, seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import io
import itertools
import json
import math
import multiprocessing
import os
import platform
import re
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    ProcessPoolExecutor,
    as_completed,
)
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache as once
from pathlib import Path
from typing import Any

import numpy as np

from wfmlib.numerics import arguments

SCALES = ("quick", "paper")
SAMPLE, DONE = "sample", "done"  # the samples' dimension; the flag of those that an archive holds
DTYPES = {"float64": "iuf", "int32": "iu", "bool": "b"}  # of variables, and what is taken for them
MARK = "--"  # in an archive's name, between the experiment's and what was changed
LONGEST = 80  # letters of what was changed in the name of an archive; else a hash of it
DELAY = 2  # seconds before a progress bar shows


class RunError(RuntimeError):
    """A run could not go on; what is finished is kept, and the same call goes on from there.

    Examples
    --------
    >>> issubclass(RunError, RuntimeError)
    True
    """


class DamagedArchiveError(ValueError):
    """A file is no archive, or not the one whose SHA-256 is known.

    Examples
    --------
    >>> issubclass(DamagedArchiveError, ValueError)
    True
    """


# ------------------------------------------------------------------------------------------------
# What an experiment is
# ------------------------------------------------------------------------------------------------


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
        arguments.choice("dtype", self.dtype, DTYPES)


@dataclass(frozen=True)
class Axis:
    """How a dimension, of the grid or inside a sample, is labelled in figures and archives."""

    units: str
    long_name: str


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far a sample may be from the archived one if it is computed anew from the same seed.

    Whole numbers, flags and the places of NaN must be equal. A sample whose path is chaotic may
    end elsewhere on another processor, though not far outside of what the archive holds.

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
        arguments.integer("samples", self.samples, 1)
        for name in ("grid", "coordinates"):
            axes = {key: np.array(axis).tolist() for key, axis in getattr(self, name).items()}
            for key, values in axes.items():
                if not isinstance(values, list) or len(set(values)) < len(values):
                    raise ValueError(f"{key} must hold values that differ, got {values}")
            object.__setattr__(self, name, axes)
        # What JSON gives back, so that an archive's settings are those of the definition.
        settings = json.loads(json.dumps(dict(self.settings), default=lambda x: x.tolist()))
        object.__setattr__(self, "settings", settings)

    @property
    def points(self) -> list:
        """The points of the grid, each a dict; the last name varies fastest."""
        values = itertools.product(*self.grid.values())
        return [dict(zip(self.grid, point, strict=True)) for point in values]

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
        Chapter of the book that shows it, 1 to 13.
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
        To be raised by hand when `sample` comes to mean something else.
    agreement : Agreement
        How close a sample computed anew must come to the archived one.
    changes : mapping of str to value
        In what it differs from the book's experiment of this name: `changed` notes it.
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
        """Refuse a slip in the definition now, and not after a night of computing."""
        arguments.integer("seed", self.seed, 0)
        if list(self.scales) != list(SCALES):
            raise ValueError(f"scales must be {' and '.join(SCALES)}, got {list(self.scales)}")
        for label, scale in self.scales.items():
            dims = [*scale.grid, *scale.coordinates, SAMPLE]
            for names in ([*dims, *scale.settings], [*dims, DONE, *self.variables]):
                if len(set(names)) < len(names):
                    raise ValueError(f"names of the {label} scale must differ, got {names}")
            inner = (variable.dims for variable in self.variables.values())
            used = [*self.axes, *itertools.chain(*inner)]
            if unknown := [name for name in used if name not in dims]:
                raise ValueError(
                    f"dims and axes of the {label} scale must be among {dims}, got {unknown}"
                )

    @property
    def archive_name(self) -> str:
        """How its archive is called: its name, and what was changed of it."""
        suffix = MARK.join(f"{name}={_short(value)}" for name, value in self.changes.items())
        if len(suffix) > LONGEST or not re.fullmatch(r"[\w.=,+-]*", suffix, re.ASCII):
            suffix = hashlib.sha256(_canonical(self.changes).encode()).hexdigest()[:12]
        return f"{self.name}{MARK}{suffix}" if suffix else self.name

    def scale(self, name: str) -> Any:
        """Return the `Scale` of this name; a ValueError if there is none."""
        return self.scales[arguments.choice("scale", name, SCALES)]

    def seed_sequence(self, point: dict, sample: int) -> np.random.SeedSequence:
        """Return the seed of a sample at a point of the grid.

        It depends on the root seed, on the number of the sample and, unless the points are
        paired, on the values of the point: not on what else the grid holds, nor on the scale.
        """
        key = (sample,)
        if not self.paired:
            digest = hashlib.sha256(_canonical(point).encode()).digest()
            key += tuple(int(word) for word in np.frombuffer(digest[:16], dtype="<u4"))
        return np.random.SeedSequence(self.seed, spawn_key=key)

    def definition(self, scale: str) -> str:
        """Return 16 hexadecimal digits that change with what determines a single sample.

        These are the settings and the coordinates of the scale, the variables, the root seed,
        whether points are paired, and the version; not the grid, nor the number of samples: a
        longer sweep keeps what was computed for the shorter one.
        """
        chosen = self.scale(scale)
        described = {
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
        return hashlib.sha256(_canonical(described).encode()).hexdigest()[:16]

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
        return hashlib.sha256(_canonical([self.point, self.sample]).encode()).hexdigest()[:32]

    def __str__(self):
        return ", ".join([*(f"{k}={v}" for k, v in self.point.items()), f"sample {self.sample}"])

    def compute(self) -> Any:
        """Return what the sample yields, as arrays of the declared shapes and types.

        Raises
        ------
        ValueError
            If a variable is missing or was not declared, or has another shape or type. A NaN
            passes: it says that a sample has no value there.
        """
        chosen, variables = self.experiment.scale(self.scale), self.experiment.variables
        settings = json.loads(json.dumps(chosen.settings))  # a copy: the function may change it
        settings |= {name: np.array(entries) for name, entries in chosen.coordinates.items()}
        seed = self.experiment.seed_sequence(self.point, self.sample)
        values = self.experiment.sample(settings, dict(self.point), seed)
        if set(values) != set(variables):
            raise ValueError(f"sample must return {', '.join(variables)}, not {', '.join(values)}")
        return {name: _array(name, values[name], variables[name], chosen) for name in variables}


def tasks(experiment: Experiment, scale: str) -> list[Task]:
    """Return the tasks of an experiment: sample by sample, each through the whole grid.

    A run that is stopped has then the first samples at every point, not all at the first.

    Examples
    --------
    >>> from wfmlib.book import experiments
    >>> len(list(tasks(experiments.get("fbp-perceptron"), "quick"))) > 0
    True
    """
    chosen = experiment.scale(scale)
    return [
        experiment.as_task(scale, point, sample)
        for sample in range(chosen.samples)
        for point in chosen.points
    ]


def _short(value):
    """Return a value as text for the name of a file."""
    if isinstance(value, list):
        return ",".join(map(_short, value))
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if isinstance(value, float) and float(short) == value else str(value)


def _canonical(value):
    """Return a value as JSON text that depends on nothing but the value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _array(name, value, variable, scale):
    """Return what a sample yields of a variable as an array of its shape and type."""
    array, shape = np.asarray(value), tuple(len(scale.coordinates[dim]) for dim in variable.dims)
    if array.shape != shape or array.dtype.kind not in DTYPES[variable.dtype]:
        raise ValueError(
            f"{name} must be {variable.dtype} of shape {shape}, got {array.dtype} of shape "
            f"{array.shape}"
        )
    cast = array.astype(variable.dtype)
    if variable.dtype == "int32" and np.any(cast != array):
        raise ValueError(f"{name} must fit into int32, got {array}")
    # One NaN, whatever made it: archives are compared bit for bit.
    return np.where(np.isnan(cast), np.nan, cast) if variable.dtype == "float64" else cast


# ------------------------------------------------------------------------------------------------
# Running
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """A finished sample: its values, how long it took, on what, and with which sources."""

    values: dict
    seconds: float
    processor: str
    commit: str


@dataclass(frozen=True)
class Failure:
    """A sample that raised: which, the class of the exception, what it said and where."""

    task: Task
    kind: str
    message: str

    def __str__(self):
        return f"{self.task}: {self.kind}: {self.message}"


@dataclass(frozen=True)
class Run:
    """What came of a run.

    Attributes
    ----------
    experiment, scale
        What was run.
    samples : dict of str to Sample
        The finished samples, by the key of their task.
    failures : tuple of Failure
        The samples that raised.
    computed : int
        How many samples this run computed; the others were finished before.
    path : pathlib.Path or None
        The archive, where one was written.
    """

    experiment: Experiment
    scale: str
    samples: dict
    failures: tuple
    computed: int
    path: Path | None = None

    @property
    def done(self) -> int:
        """How many samples are finished."""
        return len(self.samples)

    @property
    def wanted(self) -> int:
        """How many there are in all."""
        return self.experiment.scale(self.scale).wanted

    @property
    def dataset(self) -> Any:
        """The samples as an `xarray.Dataset`, as the archive holds them."""
        return dataset(self.experiment, self.scale, self.samples, self.failures)


def run(
    experiment: Experiment,
    scale: str = "quick",
    *,
    executor: Executor | None = None,
    jobs: int = 1,
    output: str | Path | None = None,
    cache: bool = True,
    progress: bool | None = None,
) -> Run:
    """Run an experiment: the book's `experiments.run` says how."""
    from tqdm import tqdm

    arguments.member("experiment", experiment, (Experiment,))
    arguments.integer("jobs", jobs, 1)
    arguments.choice("progress", progress, (None, False, True))
    all_tasks = tasks(experiment, scale)
    if output is not None:  # or a night's work finds nowhere to go
        Path(output).mkdir(parents=True, exist_ok=True)
    kept = _kept(experiment, scale) if cache else None
    samples = _finished(kept, all_tasks) if kept else {}
    todo, commit = [task for task in all_tasks if task.key not in samples], _commit()
    failures = []
    bar = tqdm(
        total=len(all_tasks),
        initial=len(samples),
        desc=experiment.name,
        unit="sample",
        delay=DELAY,
        disable=not (sys.stderr.isatty() if progress is None else progress),
        leave=False,
    )
    with bar, _executor(executor, min(jobs, len(todo))) as chosen:
        for task, outcome in _outcomes(chosen, todo):
            if isinstance(outcome, tuple):
                samples[task.key] = sample = Sample(*outcome, commit)
                if kept:
                    write_atomically(kept / f"{task.key}.npz", _packed(sample))
            else:
                failures.append(outcome)
            bar.update()
    failures.sort(key=lambda failure: todo.index(failure.task))
    result = Run(experiment, scale, samples, tuple(failures), len(todo) - len(failures))
    if output is None:
        return result
    path = archive_path(experiment.archive_name, scale, output)
    save(result.dataset, path)
    for task in all_tasks if kept and not failures else ():  # the archive has them
        (kept / f"{task.key}.npz").unlink(missing_ok=True)
    return Run(experiment, scale, samples, result.failures, result.computed, path)


def work(task: Task) -> tuple | Failure:
    """Compute a sample: return values, seconds and processor, or a `Failure`.

    Samples share the machine, not kernels: BLAS, OpenMP and our kernels keep to one thread.
    """
    from threadpoolctl import threadpool_limits

    from wfmlib.numerics import _threads

    start = time.perf_counter()
    try:
        with threadpool_limits(limits=1), _threads.at_most(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a run without a solution is data here
            values = task.compute()
    except Exception as error:  # told in words: not every exception survives the way back
        if isinstance(error, SystemError):  # a kernel ran: the import costs nothing
            from wfmlib.numerics.interrupts import is_interrupt

            if is_interrupt(error):
                raise KeyboardInterrupt from None
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(str(error).split()) or "(no message)"
        place = f"{Path(frame.filename).name}, line {frame.lineno}"
        return Failure(task, type(error).__name__, f"{text} ({place})")
    return values, time.perf_counter() - start, processor()


def _outcomes(executor, todo) -> Iterator[tuple]:
    """Yield each task with its outcome, as they come."""
    if executor is None:
        yield from ((task, work(task)) for task in todo)
        return
    futures = {executor.submit(work, task): task for task in todo}
    try:
        for future in as_completed(futures):
            task = futures[future]
            try:
                yield task, future.result()
            except (BrokenExecutor, CancelledError) as error:
                raise RunError(
                    f"workers vanished ({type(error).__name__}), killed perhaps for want of "
                    "memory; what is finished is kept. Run the same again, with fewer jobs if "
                    "this comes again"
                ) from None
            except Exception as error:  # not of the sample, which `work` tells of
                yield task, Failure(task, type(error).__name__, str(error))
    finally:
        for future in futures:
            future.cancel()


@contextlib.contextmanager
def _executor(executor, jobs):
    """Yield what computes: what was given, processes of our own, or None for this one."""
    if executor is not None or jobs <= 1:
        yield executor
        return
    running = set(multiprocessing.active_children())
    # Spawned, not forked: threads of the libraries do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_leave_with_parent) as pool:
        try:
            yield pool
        except BaseException:  # samples may have hours to go
            for process in set(multiprocessing.active_children()) - running:
                process.terminate()
            raise


def _leave_with_parent():
    """End this process when the one that started it is gone: killed, it cannot tell us to."""

    def watch():
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# ------------------------------------------------------------------------------------------------
# Finished samples, kept until the archive is written
# ------------------------------------------------------------------------------------------------


def _kept(experiment, scale):
    """Return the folder of the finished samples, below the user's cache."""
    import pooch  # rarely needed, and slow to import

    name = f"{experiment.name}-{scale}-{experiment.definition(scale)}"
    return pooch.os_cache("wfmlib") / "samples" / name


def _finished(kept, all_tasks):
    """Return the samples that are kept, by the keys of their tasks; a damaged one is none."""
    finished = {}
    for task in all_tasks:
        path = kept / f"{task.key}.npz"
        with contextlib.suppress(Exception):  # of zip, NumPy and JSON, whatever they stumble over
            file = np.load(io.BytesIO(path.read_bytes()))
            values = {name: file[f"values/{name}"] for name in task.experiment.variables}
            finished[task.key] = Sample(values, *json.loads(str(file["told"])))
    return finished


def _packed(sample):
    """Return a sample as the bytes of a file, whose parts have checksums of their own."""
    buffer = io.BytesIO()
    provenance = json.dumps([sample.seconds, sample.processor, sample.commit])
    values = {f"values/{name}": value for name, value in sample.values.items()}
    np.savez(buffer, allow_pickle=False, told=provenance, **values)
    return buffer.getvalue()


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that its name never stands for half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------
# Archives
# ------------------------------------------------------------------------------------------------


def dataset(experiment: Experiment, scale: str, samples: Mapping, failures: Any = ()) -> Any:
    """Return finished samples as a dataset.

    Parameters
    ----------
    experiment : Experiment
        What was measured.
    scale : str
        ``"quick"`` or ``"paper"``.
    samples : dict of str to Sample
        Finished samples, by the key of their task; those that are not there become NaN, and
        ``done`` is False for them. Integers and bools become floats where a sample is missing.
    failures : sequence of Failure, optional
        Those that failed; their kinds are counted in ``samples_failed``.

    Returns
    -------
    xarray.Dataset
        Dimensions: those of the grid, ``sample``, and those inside a sample. The attributes say
        what was run, with which seeds, commits and versions, when, on what and for how long:
        ``seconds`` has a number for each sample, in the order of ``done``.
    """
    import xarray

    chosen = experiment.scale(scale)
    outer, lengths = [*chosen.grid, SAMPLE], [*map(len, chosen.grid.values()), chosen.samples]
    entries = [
        samples.get(experiment.as_task(scale, point, sample).key)
        for point in chosen.points
        for sample in range(chosen.samples)
    ]
    done = np.array([entry is not None for entry in entries])
    flag = {"long_name": "whether the sample is finished"}
    data = {DONE: (outer, done.reshape(lengths), flag)}
    for name, variable in experiment.variables.items():
        shape = [len(chosen.coordinates[dim]) for dim in variable.dims]
        values = np.full((len(entries), *shape), np.nan)
        if done.all():
            values = np.zeros((len(entries), *shape), variable.dtype)
        for place, entry in enumerate(entries):
            if entry is not None:
                values[place] = entry.values[name]
        labels = {"units": variable.units, "long_name": variable.long_name}
        data[name] = ([*outer, *variable.dims], values.reshape(*lengths, *shape), labels)
    coordinates = {}
    for name, values in (chosen.grid | chosen.coordinates).items():
        axis = experiment.axes.get(name, Axis("1", name.replace("_", " ")))
        array = np.array(values)
        array = array.astype(np.int32) if array.dtype.kind in "iu" else array  # as netCDF 3 has it
        coordinates[name] = ([name], array, {"units": axis.units, "long_name": axis.long_name})
    finished = [entry for entry in entries if entry is not None]
    seconds = [math.nan if entry is None else round(entry.seconds, 3) for entry in entries]
    attributes = {
        "experiment": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "chapter": experiment.chapter,
        "scale": scale,
        "version": experiment.version,
        "definition": experiment.definition(scale),
        "settings": json.dumps(chosen.settings),
        "seed": str(experiment.seed),
        "seeds": PAIRED if experiment.paired else UNPAIRED,
        "samples_done": len(finished),
        "samples_wanted": chosen.wanted,
        "samples_failed": _counts(failure.kind for failure in failures),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commits": _counts(entry.commit for entry in finished),
        "processors": _counts(entry.processor for entry in finished),
        "versions": json.dumps(versions()),
        "seconds": np.array(seconds),
    }
    if experiment.changes:
        attributes["changes"] = json.dumps(experiment.changes)
    return xarray.Dataset(data, coordinates, attributes)


#: What `Experiment.seed_sequence` does, in words.
PAIRED = "numpy.random.SeedSequence(seed, spawn_key=(sample,)), shared by all points"
UNPAIRED = (
    "numpy.random.SeedSequence(seed, spawn_key=(sample, *words)), words: the first 16 bytes, "
    "as little-endian integers of 4, of the SHA-256 of the point as JSON with sorted keys"
)


def _counts(values):
    """Return how often each value comes, as JSON."""
    return json.dumps(dict(sorted(Counter(values).items())))


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute."""
    import wfmlib

    packages = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "numba")}
    return {"python": platform.python_version(), **packages, "wfmlib": wfmlib.__version__}


@once
def processor() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown"


def _commit():
    """Return the commit of the package's sources, and whether they differ from it.

    It is ``unknown`` where the package does not lie in a git checkout that tracks it.
    """

    def git(*arguments):
        command = ["git", "-C", str(Path(__file__).parents[1]), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")
        changed = git("status", "--porcelain", "--", ".")
        return git("rev-parse", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


# ------------------------------------------------------------------------------------------------
# Files, and the registry of their SHA-256
# ------------------------------------------------------------------------------------------------

RESULTS = Path(__file__).resolve().parents[2] / "book" / "results"  # of a checkout
REGISTRY = (
    Path(__file__).resolve().parent / "experiments" / "registry.txt"
)  # of the book's archives


def archive_path(name: str, scale: str, folder: str | Path) -> Path:
    """Return where the archive of this name is kept in a folder."""
    return Path(folder) / f"{name}{'' if scale == 'paper' else '.' + scale}.nc"


def registry(path: Path) -> Path:
    """Return the file that has the SHA-256 of an archive, in the format of pooch.

    That of the book's archives is in the package; others have theirs beside them.
    """
    quick_or_own = "." in path.stem or MARK in path.stem
    if path.parent.resolve() == RESULTS and not quick_or_own:
        return REGISTRY
    return path.with_name("registry.txt")


def sums(file: Path) -> dict[str, str]:
    """Return the SHA-256 that a registry has of each archive; none where it is not there."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return dict(line.split() for line in lines)


def save(data: Any, path: str | Path) -> None:
    """Write an archive, and its SHA-256 into its registry."""
    path = Path(path)
    content = bytes(data.to_netcdf(engine="scipy", format="NETCDF3_64BIT"))
    write_atomically(path, content)
    listed = registry(path)
    digests = sums(listed) | {path.name: hashlib.sha256(content).hexdigest()}
    lines = [f"{name} {digest}\n" for name, digest in sorted(digests.items())]
    write_atomically(listed, "".join(lines).encode())


def read(path: str | Path) -> Any:
    """Return the dataset of an archive, loaded, its file closed, its SHA-256 compared.

    Raises
    ------
    OSError
        If it cannot be opened.
    DamagedArchiveError
        If it is no archive, or has another SHA-256 than the registry beside it, or else that of
        the book, says.
    """
    import xarray

    path = Path(path)
    content = path.read_bytes()
    digests = sums(REGISTRY) | sums(registry(path))
    digest = hashlib.sha256(content).hexdigest()
    if digests.get(path.name, digest) != digest:
        raise DamagedArchiveError(
            f"{path} has not the SHA-256 of the registry: it is damaged, or another one; remove "
            "it and make it anew"
        )
    try:
        with xarray.open_dataset(io.BytesIO(content), engine="scipy") as opened:
            return opened.load()
    except Exception as error:  # SciPy's reader raises whatever it stumbles over
        raise DamagedArchiveError(f"{path} is no archive ({error or type(error)})") from None


def is_current(data: Any, experiment: Experiment, scale: str) -> bool:
    """Say whether an archive was made of an experiment as it is defined now.

    The number of samples may differ: more of them continue the same experiment.
    """
    grid = experiment.scale(scale).grid
    return data.attrs.get("definition") == experiment.definition(scale) and all(
        name in data.coords and data[name].values.tolist() == values
        for name, values in grid.items()
    )


# ------------------------------------------------------------------------------------------------
# Comparing an archive with samples computed anew
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """One sample of an archive, and what came of computing it anew.

    Attributes
    ----------
    task : Task
        Which.
    excess : float
        The largest difference in units of the tolerance: 0 where all is equal, infinite where a
        whole number, a flag or the place of a NaN differs.
    where : str
        The variable of the largest difference.
    chaotic : bool
        Whether the archived sample's path was chaotic.
    agrees : bool
        Whether the difference is within the tolerance or, on a chaotic path, every mean within
        what the archive's samples span, widened by as much on both sides.
    """

    task: Task
    excess: float
    where: str
    chaotic: bool
    agrees: bool


def check(
    experiment: Experiment,
    data: Any,
    scale: str = "paper",
    *,
    samples: int = 3,
    minutes: float = 5.0,
    seed: int | None = None,
) -> list[Compared | Failure]:
    """Compute samples of an archive anew, and compare: `experiments.check` says how."""
    samples = arguments.integer("samples", samples, 1)
    left = 60.0 * arguments.real("minutes", minutes, 0.0)
    if not is_current(data, experiment, scale) or not data[DONE].any():
        raise ValueError(f"the archive holds no sample of {experiment.name} as it is defined")
    places = np.argwhere(data[DONE].values)
    seconds = np.atleast_1d(data.attrs["seconds"]).reshape(data[DONE].shape)
    chosen = []
    for place in np.random.default_rng(seed).permutation(places):
        if len(chosen) < samples and seconds[tuple(place)] <= left:
            left -= seconds[tuple(place)]
            chosen.append(place)
    chosen = chosen or [min(places, key=lambda place: seconds[tuple(place)])]
    return [_compare(experiment, data, scale, tuple(map(int, place))) for place in chosen]


def _compare(experiment, data, scale, place):
    """Compute one sample anew, and compare it with that at this place of the archive."""
    grid = experiment.scale(scale).grid
    point = {name: values[k] for (name, values), k in zip(grid.items(), place, strict=False)}
    task = experiment.as_task(scale, point, place[-1])
    outcome = work(task)
    if isinstance(outcome, Failure):
        return outcome
    computed, agreement = outcome[0], experiment.agreement
    archived = {name: data[name].values[place] for name in experiment.variables}
    excesses = {name: _excess(computed[name], archived[name], agreement) for name in archived}
    worst = max(excesses, key=excesses.__getitem__)
    excess, chaotic = excesses[worst], agreement.is_chaotic(archived)
    agrees = excess <= 1.0 or (
        chaotic and all(_within(computed[name], data[name], len(place)) for name in archived)
    )
    return Compared(task, excess, worst, chaotic, agrees)


def _excess(computed, archived, agreement):
    """Return the largest difference of two arrays in units of the tolerance."""
    archived, real = np.asarray(archived), computed.dtype.kind == "f"
    if np.array_equal(computed, archived, equal_nan=real):
        return 0.0
    finite = np.isfinite(archived)
    if not real or not np.array_equal(computed[~finite], archived[~finite], equal_nan=True):
        return math.inf
    apart = np.abs(computed - archived)[finite]
    allowed = (agreement.atol + agreement.rtol * np.abs(archived))[finite]
    with np.errstate(divide="ignore"):
        excess = np.where(apart > 0.0, apart / allowed, 0.0)
    return float(np.max(excess, initial=0.0)) if np.isfinite(apart).all() else math.inf


def _within(computed, archived, outer):
    """Say whether the mean of what is finite is near those that the archive holds."""
    computed = np.asarray(computed, float)
    inner = tuple(range(outer, archived.ndim))
    values = np.ma.masked_invalid(archived.values.astype(float))
    means = values.mean(axis=inner).compressed() if inner else values.compressed()
    if not np.isfinite(computed).any():
        return means.size < values.size or not means.size
    if not means.size:
        return False
    low, high = means.min(), means.max()
    mean = computed[np.isfinite(computed)].mean()
    return bool(2 * low - high <= mean <= 2 * high - low)
