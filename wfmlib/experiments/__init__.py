"""The papers' numerical figures: what is swept and measured, how it is run, where it is kept.

Each experiment is defined in a module of its own, whose `EXPERIMENT` is an
`experiments.Experiment`, and has a line in ``registry.py``. ``experiments.run`` computes one,
``experiments.load`` reads the archive of one; on the command line, ``wfm list``, ``wfm run`` and
``wfm show``.
"""

from __future__ import annotations

from wfmlib.experiments.archive import (
    DamagedArchiveError,
    archive_path,
    is_current,
    read,
    read_provenance,
    results_folder,
)
from wfmlib.experiments.experiment import Axis, Experiment, Scale, Task, Variable, tasks
from wfmlib.experiments.registry import MODULES, get, names
from wfmlib.experiments.runner import Failure, Run, RunError, RunInterrupted, run

__all__ = [
    "MODULES",
    "Axis",
    "DamagedArchiveError",
    "Experiment",
    "Failure",
    "Run",
    "RunError",
    "RunInterrupted",
    "Scale",
    "Task",
    "Variable",
    "archive_path",
    "get",
    "is_current",
    "load",
    "names",
    "read_provenance",
    "results_folder",
    "run",
    "tasks",
]


def load(name, folder=None, *, scale="paper"):
    """Return the archive of an experiment.

    Parameters
    ----------
    name : str
        Name of the experiment.
    folder : path, optional
        Where it is; `results_folder` by default.
    scale : str, optional
        ``"paper"`` or ``"quick"``.

    Returns
    -------
    xarray.Dataset
        Loaded; its file is closed. `done` says which samples it holds; the others are NaN.

    Raises
    ------
    TypeError, ValueError
        If there is no such experiment or scale.
    FileNotFoundError
        If there is no archive; the message names the command that makes it.
    DamagedArchiveError
        If the file cannot be read. It is a ValueError.
    """
    get(name).scale(scale)
    folder = results_folder() if folder is None else folder
    make = f"`wfm run {name}{' --scale paper' if scale == 'paper' else ''}` makes it"
    if folder is None:
        raise FileNotFoundError(
            f"no folder of archives: WFMLIB_RESULTS is not set, and there is no book/results "
            f"here or above; set it, then {make}"
        )
    path = archive_path(name, scale, folder)
    if not path.exists():
        raise FileNotFoundError(f"there is no archive {path}: {make}")
    return read(path)
