"""The papers' numerical figures: what is swept and measured, how it is run, where it is kept.

Each experiment is defined in a module of its own, whose `EXPERIMENT` is an
`experiments.Experiment`, and has a line in ``registry.py``. ``experiments.run`` computes one,
also with other settings, ``experiments.load`` reads the archive of one; on the command line,
``wfm list``, ``wfm run`` and ``wfm show``. Where the package was installed from the book's site,
archives of the book come from there.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wfmlib.book.experiments.registry import MODULES, get, names
from wfmlib.runs import runner, site
from wfmlib.runs.archive import (
    DamagedArchiveError,
    archive_path,
    is_current,
    read,
    read_provenance,
    results_folder,
)
from wfmlib.runs.changes import MARK, changed, parsed, settable
from wfmlib.runs.experiment import (
    SCALES,
    Agreement,
    Axis,
    Experiment,
    Scale,
    Task,
    Variable,
    tasks,
)
from wfmlib.runs.runner import Failure, Run, RunError, RunInterrupted
from wfmlib.runs.site import NotFetchedError

__all__ = [
    "MARK",
    "MODULES",
    "SCALES",
    "Agreement",
    "ArchiveError",
    "Axis",
    "DamagedArchiveError",
    "Experiment",
    "Failure",
    "NotFetchedError",
    "Run",
    "RunError",
    "RunInterrupted",
    "Scale",
    "Task",
    "Variable",
    "archive_path",
    "as_archived",
    "changed",
    "complete",
    "fetch",
    "find",
    "get",
    "is_current",
    "load",
    "names",
    "own",
    "parsed",
    "read_provenance",
    "results_folder",
    "run",
    "settable",
    "state",
    "tasks",
    "verify",
]


def __dir__():
    return __all__


def find(
    name: str, folder: str | Path | None = None, *, scale: str = "paper", download: bool = True
) -> Path:
    """Return where the archive of an experiment is.

    Parameters
    ----------
    name : str
        Name of the experiment; or, of an archive of one's own, its name in `wfm list`.
    folder : path, optional
        Where it is. By default it is looked for in `results_folder`, then in the user's cache;
        one that the book's site has is fetched into that cache, once, with its SHA-256.
    scale : str, optional
        ``"paper"`` or ``"quick"``; the site has none of the quick scale.
    download : bool, optional
        False: not to fetch it.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    TypeError, ValueError
        If there is no such experiment or scale.
    FileNotFoundError
        If there is none; the message says how to get it. It is a NotFetchedError where the site
        should have given it.
    """
    get(name.partition(MARK)[0] if isinstance(name, str) else name).scale(scale)
    chosen = results_folder() if folder is None else folder
    path = None if chosen is None else archive_path(name, scale, chosen)
    if path is not None and path.exists():
        return path
    make = _make(name, scale)
    if folder is None and scale == "paper" and site.has(name):
        if not download and not site.cached(name):
            raise NotFetchedError(f"{name}.nc is on the book's site, and was not fetched yet")
        try:
            return site.fetch(name)
        except NotFetchedError as error:
            raise NotFetchedError(f"{error}. Or {make}") from None
    may = scale == "paper" and MARK not in name
    first = "the wheel on the book's site fetches those of the book; or " if may else ""
    if path is None:
        raise FileNotFoundError(
            f"no folder of archives: WFMLIB_RESULTS is not set, and there is no book/results "
            f"here or above; {first}set it, then {make}"
        )
    raise FileNotFoundError(f"there is no archive {path}: {first}{make}")


def _make(name, scale="paper"):
    """Say which command computes an archive."""
    experiment, mark, _ = name.partition(MARK)
    more = " --set NAME=VALUE ..." if mark else ""
    scaled = " --scale paper" if scale == "paper" else ""
    return f"`wfm run {experiment}{more}{scaled}` makes it"


def load(
    name: str,
    folder: str | Path | None = None,
    *,
    scale: str = "paper",
    settings: Mapping[str, Any] | None = None,
) -> Any:
    """Return the archive of an experiment.

    Parameters
    ----------
    name : str
        Name of the experiment; or, of an archive of one's own, its name in `wfm list`.
    folder : path, optional
        Where it is; where `find` finds it by default.
    scale : str, optional
        ``"paper"`` or ``"quick"``.
    settings : mapping of str to value, optional
        The settings that were changed for it, as `run` takes them.

    Returns
    -------
    xarray.Dataset
        Loaded; its file is closed. `done` says which samples it holds; the others are NaN.

    Raises
    ------
    TypeError, ValueError
        If there is no such experiment or scale.
    FileNotFoundError
        If there is no archive; the message says how to get it.
    DamagedArchiveError
        If it, or its provenance, is missing or not as it was written. It is a ValueError.
    """
    if settings is not None:
        name = changed(get(name), settings, scale).archive_name
    return read(find(name, folder, scale=scale))


def fetch(*names) -> Any:
    """Fetch archives from the book's site into the user's cache, unless they are here already.

    The first cell of a downloaded notebook does it, so that the others need no network. What
    cannot be had is printed, and the cells that read it will say so again.

    Parameters
    ----------
    *names : str
        Names of experiments.

    Raises
    ------
    TypeError, ValueError
        If there is no such experiment.
    """
    for name in names:
        try:
            find(name)
        except FileNotFoundError as error:
            print(error)


def own(folder: str | Path | None = None) -> list[tuple[str, str]]:
    """Return the archives of one's own: those of experiments whose settings were changed.

    Parameters
    ----------
    folder : path, optional
        Where they are; `results_folder` by default.

    Returns
    -------
    list of (str, str)
        Name and scale of each, as `load` takes them, sorted.
    """
    folder = results_folder() if folder is None else Path(folder)
    if folder is None:
        return []
    found = []
    for path in folder.glob(f"*{MARK}*.nc"):
        quick = path.name.endswith(".quick.nc")
        name = path.name.removesuffix(".quick.nc" if quick else ".nc")
        if name.partition(MARK)[0] in MODULES:
            found.append((name, "quick" if quick else "paper"))
    return sorted(found)


@functools.wraps(runner.run)
def run(experiment, scale="quick", **options):
    if not isinstance(experiment, Experiment):
        experiment = get(experiment)
    return runner.run(experiment, scale, **options)


def verify(experiment: Experiment | str, folder: str | Path | None = None, **options) -> Any:
    """Compare samples of an archive with new ones: `verification.verify`, also by name."""
    from wfmlib.runs import verification  # late: it needs SciPy

    if not isinstance(experiment, Experiment):
        experiment = get(experiment)
    return verification.verify(experiment, folder, **options)


def state(name: str, folder: str | Path | None = None, *, scale: str = "paper") -> Any:
    """Say what the archive of an experiment is to the code that is here.

    Parameters
    ----------
    name, folder, scale
        As for `load`.

    Returns
    -------
    str
        ``"made"``, ``"verified"``, ``"differs"`` or ``"unverified"``, as `verification.state` has
        it; empty where there is no archive of the experiment as it is defined.
    """
    from wfmlib.runs import verification

    experiment = get(name.partition(MARK)[0] if isinstance(name, str) else name)
    try:
        path = find(name, folder, scale=scale)
        data = read(path)
    except (OSError, DamagedArchiveError):
        return ""
    experiment = as_archived(experiment, data, scale)
    if data.attrs.get("definition") != experiment.definition(scale):
        return ""
    return verification.state(read_provenance(path), experiment, scale)


def as_archived(experiment: Experiment | str, data: Any, scale: str) -> Any:
    """Return an experiment with the changes that an archive notes, where it still has them."""
    try:
        changes = json.loads(data.attrs.get("changes", "{}"))
        return changed(experiment, changes, scale) if changes else experiment
    except ValueError:  # the experiment has lost a setting since
        return experiment


class ArchiveError(Exception):
    """An archive is missing, incomplete, or not to be trusted.

    Attributes
    ----------
    absent : bool
        Whether it, or a part of its samples, is simply not here. Otherwise something is wrong
        with it.
    """

    def __init__(self, message, absent):
        super().__init__(message)
        self.absent = absent


def complete(name: str) -> Any:
    """Return the archive of an experiment at paper scale, with every sample.

    It is looked for as `load` does. Messages name no folder: a page of the book may show them.

    Parameters
    ----------
    name : str
        Name of the experiment.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    ArchiveError
        If there is none, if samples are missing in it, if it or its provenance is damaged, or if
        it was made of another definition of the experiment.
    """
    make = _make(name)
    try:
        found = load(name)
    except NotFetchedError as error:
        raise ArchiveError(f"its archive {error}", absent=True) from None
    except FileNotFoundError:
        message = f"its archive {name}.nc is not here: {make}"
        raise ArchiveError(message, absent=True) from None
    except (OSError, DamagedArchiveError):
        message = (
            f"its archive {name}.nc, or the provenance beside it, cannot be read: {make} anew"
        )
        raise ArchiveError(message, absent=False) from None
    if not is_current(found, get(name), "paper"):
        message = f"its archive {name}.nc belongs to another definition of it: {make} anew"
        raise ArchiveError(message, absent=False)
    done, wanted = found.attrs["samples_done"], found.attrs["samples_wanted"]
    if done < wanted:
        message = f"its archive {name}.nc holds {done} of {wanted} samples: {make} whole"
        raise ArchiveError(message, absent=True)
    return found
