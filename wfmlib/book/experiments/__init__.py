"""The papers' numerical figures: what is swept and measured, how it is run, where it is kept.

Each experiment is defined in a module of its own, whose `EXPERIMENT` is an `Experiment`.
``experiments.run`` computes one, also with other settings; ``experiments.load`` reads the archive
of one, and ``experiments.check`` computes some of its samples anew. On the command line they are
``wfm list``, ``wfm run`` and ``wfm check``. Outside of a checkout archives come from the book's
site; ``registry.txt`` has the SHA-256 of each.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.metadata
import json
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from wfmlib.book import runs
from wfmlib.book.changes import changed, settings_at
from wfmlib.book.runs import (
    Compared,
    DamagedArchiveError,
    Experiment,
    Failure,
    Run,
    RunError,
    tasks,
)

__all__ = [
    "ArchiveError",
    "DamagedArchiveError",
    "RunError",
    "changed",
    "check",
    "complete",
    "fetch",
    "find",
    "get",
    "load",
    "names",
    "run",
    "settable",
    "tasks",
]

#: Of the environment: the folder of the archives; the address of the book's site, or its folder.
RESULTS, SITE = "WFMLIB_RESULTS", "WFMLIB_SITE"
ARCHIVES = "files/archives/"  # of the site
PATIENCE = 30  # seconds without an answer from the site

NAMES = """
annealing-losses band-reach binary-networks bp-entropy cluster-large cluster-reach cluster-scale
committee-optimisers committee-reach elal-replicas exact-flatness fbp-committee fbp-local-entropy
fbp-perceptron fbp-perceptron-success fbp-reach fbp-solve fbp-sweeps free-norms full-capacities
full-margins image-focusing image-minima image-paths image-training-sets image-volume
picture-optimisers replicated-annealing replicated-annealing-connected sampling single-flips
slow-growth springs three-units three-units-reach tree-minima
"""
#: Name of each experiment, and the module that defines it.
MODULES = {name: f"{__name__}.{name.replace('-', '_')}" for name in NAMES.split()}


def __dir__():
    return __all__


def names() -> tuple[str, ...]:
    """Return the names of all experiments, sorted.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "fbp-perceptron" in names()
    True
    """
    return tuple(sorted(MODULES))


def get(name: str) -> Any:
    """Return the experiment of this name.

    Raises
    ------
    TypeError
        If `name` is not a string.
    ValueError
        If there is none; the message names those with a similar name.

    Examples
    --------
    >>> get("fbp-perceptron").name
    'fbp-perceptron'
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    if name not in MODULES:
        close = difflib.get_close_matches(name, MODULES, n=3)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise ValueError(
            f"name must be that of an experiment ({', '.join(names())}), got {name!r}{hint}"
        )
    return importlib.import_module(MODULES[name]).EXPERIMENT


def run(
    experiment: Experiment | str,
    scale: str = "quick",
    *,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Run:
    """Run an experiment, as it is or with other settings.

    Parameters
    ----------
    experiment : Experiment or str
        What to run: the book's by name, or one of your own.
    scale : str, optional
        ``"quick"`` or ``"paper"``.
    settings : mapping of str to value, optional
        Settings that are to be others than those of the scale, by the names that `settable`
        lists: ``{"N": 501, "loads": [0.5, 0.6]}``. The archive is called after them, and never
        replaces another.
    executor : concurrent.futures.Executor, optional
        What computes the samples: that of a Dask cluster, for example, is
        ``Client(address).get_executor(pure=False)``.
    jobs : int, optional
        Without an executor: how many processes of this machine compute; 1 by default.
    output : path, optional
        Folder in which the archive is written; none is written by default.
    cache : bool, optional
        Take samples that a run before this one finished, and keep those that this one finishes,
        until an archive of all of them is written; True by default.
    progress : bool, optional
        Show a progress bar: True, False, or None for a bar where stderr is a terminal.

    Returns
    -------
    Run
        The finished samples, and those that failed: a sample that raises does not stop the run.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.
    RunError
        If workers vanished; what is finished is kept.
    OSError
        If a file cannot be written.

    Examples
    --------
    >>> few = {"N": 51, "loads": [0.4, 0.5], "samples": 1}
    >>> finished = run("bp-entropy", settings=few, cache=False, progress=False)
    >>> finished.done, finished.wanted, finished.dataset.entropy.dims
    (2, 2, ('alpha', 'sample'))
    """
    if not isinstance(experiment, Experiment):
        experiment = get(experiment)
    if settings is not None:
        experiment = changed(experiment, settings, scale)
    return runs.run(experiment, scale, **options)


def settable(experiment: Experiment | str, scale: str = "quick") -> dict:
    """Return what can be changed of an experiment, with its values at a scale.

    Parameters
    ----------
    experiment : Experiment or str
        Which: the book's by name, or one of your own.
    scale : str, optional
        ``"quick"`` or ``"paper"``.

    Returns
    -------
    dict
        Names and values: first what is swept (lists), then the settings, then the coordinates
        inside a sample (lists), then ``samples`` and ``seed``.

    Raises
    ------
    TypeError, ValueError
        If there is no such experiment or scale.

    Examples
    --------
    >>> settable("bp-entropy")["N"], settable("bp-entropy", "paper")["N"]
    (99, 999)
    """
    if not isinstance(experiment, Experiment):
        experiment = get(experiment)
    return settings_at(experiment, scale)


# ------------------------------------------------------------------------------------------------
# Archives
# ------------------------------------------------------------------------------------------------


def results_folder() -> Path | None:
    """Return the folder of the archives, or None where there is none to be found.

    It is the one that the environment's ``WFMLIB_RESULTS`` names; otherwise ``book/results`` of
    the nearest folder, from the current one upward, that has it, or that holds the book. It need
    not exist yet.

    Returns
    -------
    pathlib.Path or None
    """
    chosen = os.environ.get(RESULTS)
    if chosen:
        return Path(chosen)
    for folder in (Path.cwd(), *Path.cwd().parents):
        results = folder / "book" / "results"
        if results.is_dir() or ((folder / "_toc.yml").is_file() and results.parent.is_dir()):
            return results
    return None


def find(name: str, folder: str | Path | None = None, *, scale: str = "paper") -> Path:
    """Return where the archive of an experiment is.

    Parameters
    ----------
    name : str
        Name of the experiment; or, of an archive of one's own, its name in `wfm list`.
    folder : path, optional
        Where it is. By default it is looked for in `results_folder`, then in the user's cache,
        into which it is fetched from the book's site, once.
    scale : str, optional
        ``"paper"`` or ``"quick"``; the site has none of the quick scale.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    TypeError, ValueError
        If there is no such experiment or scale.
    FileNotFoundError
        If there is none; the message says how to get it.

    Examples
    --------
    >>> find("fbp-perceptron").name
    'fbp-perceptron.nc'
    """
    get(name.partition(runs.MARK)[0] if isinstance(name, str) else name).scale(scale)
    chosen = results_folder() if folder is None else folder
    path = None if chosen is None else runs.archive_path(name, scale, chosen)
    if path is not None and path.exists():
        return path
    if folder is None and scale == "paper" and f"{name}.nc" in runs.sums(runs.REGISTRY):
        return _from_site(f"{name}.nc", _make(name))
    absence = f"there is no archive {path}" if path else f"no folder of archives: set {RESULTS}"
    raise FileNotFoundError(f"{absence}: {_make(name, scale)}")


def _make(name, scale="paper"):
    """Say which command computes an archive."""
    experiment, mark, _ = name.partition(runs.MARK)
    more = " --set NAME=VALUE ..." if mark else ""
    scaled = " --scale paper" if scale == "paper" else ""
    return f"`wfm run {experiment}{more}{scaled}` makes it"


def cache_folder() -> Path:
    """Return the folder of the archives that were fetched, below the user's cache."""
    import pooch  # rarely needed, and slow to import

    return pooch.os_cache("wfmlib") / "archives"


def _from_site(file, make):
    """Return an archive of the book's site: from its folder, or fetched into the user's cache."""
    import pooch

    site, path = _site(), cache_folder() / file
    if site and not site.startswith(("http://", "https://")):
        path = Path(site, ARCHIVES, file)
        if not path.exists():
            raise FileNotFoundError(f"there is no {path}, where {SITE} leads; or {make}")
        return path
    keeper = pooch.create(cache_folder(), site + ARCHIVES, registry=runs.sums(runs.REGISTRY))
    if not site and not path.exists():
        raise FileNotFoundError(
            f"{file} is not here: set {SITE} to the address of the book's site, or to the folder "
            f"of its pages, to fetch it from there; or {make}"
        )
    try:
        with _quiet(pooch.get_logger()):
            bar = sys.stderr.isatty()
            keeper.fetch(file, downloader=pooch.HTTPDownloader(bar, timeout=PATIENCE))
    except (OSError, ValueError) as error:  # no connection or no room; or another SHA-256
        answered = isinstance(error, ValueError) or getattr(error, "response", None) is not None
        reason = str(error) if answered else error.strerror or type(error).__name__
        raise FileNotFoundError(
            f"{file} is not here, and {keeper.get_url(file)} does not give it ({reason}). {SITE} "
            f"may name another address of the book's site, or its folder. Or {make}"
        ) from None
    return path


def _site():
    """Return the address of the book's site, with a slash at its end, or the folder of its pages.

    It is what the environment names, or else the address that the package was installed from; ""
    where neither is known.
    """
    chosen = os.environ.get(SITE, "").strip().removesuffix("index.html")
    if urlsplit(chosen).scheme == "file":
        chosen = url2pathname(unquote(urlsplit(chosen).path))
    if not chosen:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
            noted = importlib.metadata.distribution("wfmlib").read_text("direct_url.json")
            url = json.loads(noted or "{}").get("url", "")
            site, _, file = url.rpartition("/files/")
            chosen = site if file.endswith(".whl") else ""
    return chosen.rstrip("/") + "/" if chosen else ""


@contextlib.contextmanager
def _quiet(logger):
    """Keep pooch from telling every file on stderr, which a page of the book would show."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


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
        If its SHA-256 is not that of the registry, or it is no archive. It is a ValueError.

    Examples
    --------
    >>> "alpha" in load("fbp-perceptron").dims
    True
    """
    if settings is not None:
        name = changed(get(name), settings, scale).archive_name
    return runs.read(find(name, folder, scale=scale))


def fetch(*names: str) -> None:
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

    Examples
    --------
    >>> fetch("bp-entropy")  # silent: it is here
    """
    for name in names:
        try:
            find(name)
        except FileNotFoundError as error:
            print(error)


def check(
    name: str, folder: str | Path | None = None, *, scale: str = "paper", **options: Any
) -> list[Compared | Failure]:
    """Compute samples of an archive anew, and compare them within the experiment's tolerance.

    Parameters
    ----------
    name, folder, scale
        As for `load`.
    samples : int, optional
        How many to compute at most, drawn at random; 3 by default.
    minutes : float, optional
        How long that may take together, by the seconds of the archive; 5 by default. What would
        not fit is not drawn; where nothing fits, the quickest sample is.
    seed : int, optional
        Of the draw; another one each time by default.

    Returns
    -------
    list of Compared or Failure
        One for each sample that was computed, or could not be.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above, or the archive is of another definition or empty.
    FileNotFoundError, DamagedArchiveError
        As of `load`.

    Examples
    --------
    >>> [compared.agrees for compared in check("bp-entropy", samples=1, seed=5)]
    [True]
    """
    data = load(name, folder, scale=scale)
    return runs.check(as_archived(data), data, scale, **options)


def as_archived(data: Any) -> Experiment:
    """Return the experiment of an archive, with the changes that it notes, if it has them yet."""
    experiment = get(data.attrs["experiment"])
    with contextlib.suppress(ValueError):  # the experiment has lost a setting since
        changes = json.loads(data.attrs.get("changes", "{}"))
        return changed(experiment, changes, data.attrs["scale"]) if changes else experiment
    return experiment


class ArchiveError(Exception):
    """An archive is missing, incomplete, or not to be trusted.

    Attributes
    ----------
    absent : bool
        Whether it, or a part of its samples, is simply not here. Otherwise something is wrong
        with it.

    Examples
    --------
    >>> ArchiveError("of 3 samples there are 2", absent=True).absent
    True
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
        If there is none, if samples are missing in it, if it is damaged, or if it was made of
        another definition of the experiment.

    Examples
    --------
    >>> "alpha" in complete("fbp-perceptron").dims
    True
    """
    file, make = f"its archive {name}.nc", _make(name)
    try:
        archive = load(name)
    except FileNotFoundError:
        raise ArchiveError(f"{file} is not here: {make}", absent=True) from None
    except (OSError, DamagedArchiveError):
        raise ArchiveError(f"{file} is damaged: {make} anew", absent=False) from None
    if not runs.is_current(archive, get(name), "paper"):
        raise ArchiveError(
            f"{file} belongs to another definition of it: {make} anew", absent=False
        )
    done, wanted = archive.attrs["samples_done"], archive.attrs["samples_wanted"]
    if done < wanted:
        raise ArchiveError(f"{file} holds {done} of {wanted} samples: {make} whole", absent=True)
    return archive
