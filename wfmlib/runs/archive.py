"""The archives: arrays with units, parameters and seeds in netCDF, provenance in JSON beside it.

An archive is the same bit for bit however often a run was stopped and on however many workers it
ran; what may differ (date, versions, processor, times) stands in its provenance. Both files hold
their own SHA-256 (`seals`), and the provenance that of the arrays: what is not as it was written
is refused. Which code made the samples is another question, answered by `verification`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import os
import platform
import subprocess
import warnings
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from wfmlib.runs import seals
from wfmlib.runs.experiment import DONE, SAMPLE, Experiment, tasks
from wfmlib.runs.samples import Record, write_atomically

VARIABLE = "WFMLIB_RESULTS"  # of the environment: the folder of the archives
FORMAT = "NETCDF3_64BIT"
PACKAGES = ("numpy", "scipy", "numba", "wfmlib")
UNKNOWN = "unknown"  # code, commit or processor of a sample that does not say
SEAL = "sha256"  # the attribute of the arrays, and the entry of the provenance (`seals`)

#: What a provenance tells, and of which kind it is; the second may be left out.
TOLD = {
    "experiment": str,
    "scale": str,
    "archive_sha256": str,
    "samples_done": int,
    "samples_wanted": int,
    "samples_failed": dict,
    "date": str,
    "commit": str | None,
    "dirty": bool | None,
    "computed_at_commit": dict,
    "computed_on": dict,
    "processor": str,
    "versions": dict,
    "seconds_total": float | int,
    "seconds_per_sample": dict,
}
MAY_TELL = {"computed_by_code": dict, "code_per_sample": dict, "verified": list}
MEND = "`wfm run` takes the samples of the archive and writes both files anew"  # a provenance


class DamagedArchiveError(ValueError):
    """An archive, or the provenance beside it, is missing or not as it was written."""


def results_folder() -> Path | None:
    """Return the folder of the archives, or None where there is none to be found.

    It is the one that the environment's ``WFMLIB_RESULTS`` names; otherwise ``book/results`` of
    the nearest folder, from the current one upward, that has it, or that holds the book. It need
    not exist yet.

    Returns
    -------
    pathlib.Path or None
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    for folder in (Path.cwd(), *Path.cwd().parents):
        results = folder / "book" / "results"
        if results.is_dir() or ((folder / "_toc.yml").is_file() and results.parent.is_dir()):
            return results
    return None


def archive_path(name: str, scale: str, folder: str | Path) -> Path:
    """Return where the archive of an experiment is kept in a folder."""
    return Path(folder) / f"{name}{'' if scale == 'paper' else '.' + scale}.nc"


def provenance_path(path):
    """Return where the provenance of an archive is kept: beside it."""
    return Path(path).with_suffix(".provenance.json")


# ------------------------------------------------------------------------------------------------
# Arrays
# ------------------------------------------------------------------------------------------------


def dataset(experiment, scale, records):
    """Return finished samples as a dataset.

    Parameters
    ----------
    experiment : Experiment
        What was measured.
    scale : str
        ``"quick"`` or ``"paper"``.
    records : dict of str to Record
        Finished samples, by the key of their task; those that are not there become NaN, and
        ``done`` is False for them. Integers and bools become floats where a sample is missing.

    Returns
    -------
    xarray.Dataset
        Dimensions: those of the grid, ``sample``, and those inside a sample.
    """
    import xarray

    chosen = experiment.scale(scale)
    outer = [*chosen.grid, SAMPLE]
    lengths = [*map(len, chosen.grid.values()), chosen.samples]
    ordered = [
        experiment.as_task(scale, point, sample)
        for point in chosen.points
        for sample in range(chosen.samples)
    ]
    found = [records.get(task.key) for task in ordered]
    done = np.array([one is not None for one in found])
    data = {
        DONE: (outer, done.reshape(lengths), {"long_name": "whether the sample is finished"}),
    }
    for name, variable in experiment.variables.items():
        shape = [len(chosen.coordinates[dim]) for dim in variable.dims]
        if done.all():
            values = np.zeros((len(found), *shape), variable.dtype)
        else:
            values = np.full((len(found), *shape), np.nan)
        for place, record in enumerate(found):
            if record is not None:
                values[place] = record.values[name]
        attributes = {"units": variable.units, "long_name": variable.long_name}
        data[name] = ([*outer, *variable.dims], values.reshape(*lengths, *shape), attributes)
    coordinates = {
        name: ([name], _netcdf_array(values), _labels(experiment, name))
        for name, values in (chosen.grid | chosen.coordinates).items()
    }
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
        "seeds": _how_seeded(experiment),
        "samples_done": int(done.sum()),
        "samples_wanted": chosen.wanted,
    }
    if experiment.changes:
        attributes["changes"] = json.dumps(experiment.changes)
    return xarray.Dataset(data, coordinates, attributes)


def _netcdf_array(values):
    array = np.array(values)
    return array.astype(np.int32) if array.dtype.kind in "iu" else array


def _labels(experiment, name):
    axis = experiment.axes.get(name)
    if axis is None:
        return {"units": "1", "long_name": name.replace("_", " ")}
    return {"units": axis.units, "long_name": axis.long_name}


def _how_seeded(experiment):
    """Say in words what `Experiment.seed_sequence` does."""
    if experiment.paired:
        return "numpy.random.SeedSequence(seed, spawn_key=(sample,)), shared by all points"
    return (
        "numpy.random.SeedSequence(seed, spawn_key=(sample, *words)), words: the first 16 bytes, "
        "as little-endian integers of 4, of the SHA-256 of the point as JSON with sorted keys"
    )


# ------------------------------------------------------------------------------------------------
# Provenance
# ------------------------------------------------------------------------------------------------


def provenance(experiment, scale, records, failures):
    """Return where an archive comes from: what may differ between two runs.

    No path and no name of a machine is in it. `computed_by_code` counts samples by the digest of
    the code that made them; where that was not always the same, `code_per_sample` names each.

    Parameters
    ----------
    experiment, scale, records
        As in `dataset`.
    failures : dict of str to str
        The error of each sample that failed, by the key of its task.

    Returns
    -------
    dict
        Plain values, for JSON; `put` adds the SHA-256 of the archive.
    """
    ordered = tasks(experiment, scale)
    found = [records.get(task.key) for task in ordered]
    done = [one for one in found if one is not None]
    seconds = [one.seconds for one in done]
    commit, dirty = git_state()
    codes = _counts(one.code for one in done)
    each = {
        str(task): one.code or UNKNOWN
        for task, one in zip(ordered, found, strict=True)
        if one is not None
    }
    return {
        "experiment": experiment.name,
        "scale": scale,
        "archive_sha256": "",
        "samples_done": len(done),
        "samples_wanted": len(ordered),
        "samples_failed": {
            kind: sum(one == kind for one in failures.values())
            for kind in sorted(set(failures.values()))
        },
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit,
        "dirty": dirty,
        "computed_at_commit": _counts(one.commit for one in done),
        "computed_by_code": codes,
        "computed_on": _counts(one.processor for one in done),
        "processor": processor(),
        "versions": versions(),
        "seconds_total": round(sum(seconds), 3),
        "seconds_per_sample": {
            str(task): None if one is None else round(one.seconds, 3)
            for task, one in zip(ordered, found, strict=True)
        },
    } | ({"code_per_sample": each} if len(codes) > 1 else {})


def _counts(values):
    """Return how often each value comes, in a fixed order."""
    counted = Counter(UNKNOWN if one is None else one for one in values)
    return {one: counted[one] for one in sorted(counted)}


def versions():
    """Return the versions of Python and of the packages that compute."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:  # run from its sources
            import wfmlib

            found[name] = wfmlib.__version__ if name == "wfmlib" else None
    return found


@cache
def processor():
    """Return the name of the processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def git_state():
    """Return the commit of the package's sources and whether they differ from it.

    Returns
    -------
    tuple of (str or None, bool or None)
        None and None where the package does not lie in a git checkout that tracks it.
    """
    folder = Path(__file__).resolve().parents[1]

    def git(*arguments):
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=20
        ).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--", "."))
    except (OSError, subprocess.SubprocessError):
        return None, None


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------


def write(experiment, scale, records, failures, folder):
    """Write an archive and its provenance.

    What was verified of an archive of the same definition that was there stays noted.

    Returns
    -------
    pathlib.Path
        The archive.

    Raises
    ------
    OSError
        If one of the two cannot be written.
    """
    path = archive_path(experiment.archive_name, scale, folder)
    verified = _noted(path, experiment.definition(scale))
    told = provenance(experiment, scale, records, failures)
    told |= {"verified": verified} if verified else {}
    put(path, dataset(experiment, scale, records), told)
    return path


def _noted(path, definition):
    """Return what the provenance of an archive of this definition notes as verified."""
    try:
        if read(path).attrs.get("definition") == definition:
            return read_provenance(path).get("verified", [])
    except (OSError, DamagedArchiveError):
        pass
    return []


def put(path, data, told):
    """Write the two files of an archive, each at once: arrays, then provenance.

    A process that is killed between the two leaves whole arrays and a provenance that is not
    theirs, which is refused; the run that is repeated takes the samples from there.

    Parameters
    ----------
    path : path
        Of the arrays.
    data : xarray.Dataset
        The arrays.
    told : dict
        The provenance; the SHA-256 of the arrays is put into it.

    Raises
    ------
    OSError
        If one of the two cannot be written.
    """
    content = to_bytes(data)
    write_atomically(path, content)
    write_provenance(path, told | {"archive_sha256": hashlib.sha256(content).hexdigest()})


def write_provenance(path, told):
    """Write the provenance of an archive."""
    told = {name: value for name, value in told.items() if name != SEAL}
    told[SEAL] = seals.ZEROS.decode()
    text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    write_atomically(provenance_path(path), seals.sealed(text.encode(), seals.JSON))


def to_bytes(data):
    """Return a dataset as a file in netCDF 3 that holds its own SHA-256."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = data.assign_attrs({SEAL: seals.ZEROS.decode()})
        return seals.sealed(bytes(held.to_netcdf(engine="scipy", format=FORMAT)), seals.NETCDF)


def read(path):
    """Return the dataset of an archive, loaded, its file closed, after a look at its provenance.

    Raises
    ------
    OSError
        If the archive cannot be opened.
    DamagedArchiveError
        If it is not an archive, or not as it was written; if its provenance is missing, damaged,
        or that of another archive.
    """
    data = arrays(path)
    read_provenance(path)
    return data


def arrays(path):
    """Return the dataset of an archive, wherever it comes from: its provenance is not looked at.

    Raises
    ------
    OSError
        If it cannot be opened.
    DamagedArchiveError
        If it is not an archive, or not as it was written.
    """
    import xarray

    content = Path(path).read_bytes()
    try:
        seals.check(content, seals.NETCDF)
        with xarray.open_dataset(io.BytesIO(content), engine="scipy") as opened:
            data = opened.load()
    except Exception as error:  # SciPy's reader raises whatever it stumbles over
        raise DamagedArchiveError(
            f"{path} is damaged, or is no archive ({error or type(error).__name__}); remove it "
            "and make it anew"
        ) from None
    del data.attrs[SEAL]  # of this file, not of the arrays
    return data


def read_provenance(path: str | Path) -> dict:
    """Return the provenance of an archive.

    Parameters
    ----------
    path : path
        Of the arrays, which must be there.

    Returns
    -------
    dict
        As `provenance` makes it, with what was verified since.

    Raises
    ------
    OSError
        If one of the two files cannot be opened.
    DamagedArchiveError
        If the provenance is missing, is not as it was written, or is that of another archive.
    """
    place = provenance_path(path)
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        raise DamagedArchiveError(
            f"{place} is missing: an archive without its provenance is not used; {MEND}"
        ) from None
    try:
        seals.check(content, seals.JSON)
        told = json.loads(content)
        _check_told(told)
        if told["archive_sha256"] != hashlib.sha256(Path(path).read_bytes()).hexdigest():
            raise ValueError("it belongs to another file")
    except (ValueError, RecursionError) as error:
        raise DamagedArchiveError(
            f"{place} is damaged, or is not the provenance of {Path(path).name} ({error}); {MEND}"
        ) from None
    del told[SEAL]
    return told


def _check_told(told):
    """Refuse a provenance that lacks something, or has something of another kind.

    Raises
    ------
    ValueError
        Naming it.
    """
    if not isinstance(told, dict):
        raise ValueError("it is no object")
    for name, kind in (TOLD | MAY_TELL).items():
        if name not in told and name in MAY_TELL:
            continue
        value = told.get(name, ...)
        if not isinstance(value, kind) or (isinstance(value, bool) and name != "dirty"):
            raise ValueError(f"{name} is missing, or of the wrong kind")


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
# Samples
# ------------------------------------------------------------------------------------------------


def held(data, told, experiment, scale):
    """Return the samples that an archive holds, of those that the scale asks for.

    Parameters
    ----------
    data : xarray.Dataset
        The archive. Its grid may be another one: samples are found by their points.
    told : dict
        Its provenance.
    experiment, scale
        As in `dataset`.

    Returns
    -------
    dict of str to Record
        By the key of their task. What only the counts of the provenance know of a sample is None.
        Empty where the archive is of another definition.
    """
    chosen = experiment.scale(scale)
    grid = [*chosen.grid]
    if data.attrs.get("definition") != experiment.definition(scale):
        return {}
    if any(name not in data.coords for name in grid):
        return {}
    places = {
        name: {value: place for place, value in enumerate(data[name].values.tolist())}
        for name in grid
    }
    arrays = {name: data[name].values for name in (DONE, *experiment.variables)}
    records = {}
    for task in tasks(experiment, scale):
        place = (*(places[name].get(task.point[name]) for name in grid), task.sample)
        inside = None not in place and task.sample < data.sizes[SAMPLE]
        if inside and arrays[DONE][place]:
            values = {
                name: arrays[name][place].astype(variable.dtype)
                for name, variable in experiment.variables.items()
            }
            records[task.key] = _held(task, experiment.checked(scale, values), told)
    return records


def _held(task, values, told):
    """Return the record of a sample of an archive."""
    only = {
        name: next(iter(told.get(name, {})), None) if len(told.get(name, {})) == 1 else None
        for name in ("computed_on", "computed_at_commit", "computed_by_code")
    }
    code = told.get("code_per_sample", {}).get(str(task), only["computed_by_code"])
    seconds = told.get("seconds_per_sample", {}).get(str(task)) or 0.0
    commit = only["computed_at_commit"]
    known = (None if one == UNKNOWN else one for one in (commit, code))
    return Record(values, seconds, only["computed_on"], *known)
