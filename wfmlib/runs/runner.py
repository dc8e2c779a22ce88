"""Runs an experiment: one task per sample, on this machine or on a Dask cluster.

Each finished sample is written at once by the process that started the run; an archive is made
of the samples that are there. A run that was stopped goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wfmlib.numerics import arguments
from wfmlib.runs import archive, digest
from wfmlib.runs.changes import changed
from wfmlib.runs.experiment import Experiment, Task, tasks
from wfmlib.runs.samples import DamagedSampleError, Record, Store, check_writable

PATIENCE = 20  # seconds to wait for a scheduler
DELAY = 2  # seconds before a progress bar shows
WATCH = 0.5  # seconds between two looks after the parent


class RunError(RuntimeError):
    """A run could not go on; what is finished is kept."""


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted.

    Attributes
    ----------
    done, wanted : int
        Samples that are finished, and all.
    """

    def __init__(self, done, wanted):
        super().__init__(f"interrupted: {done} of {wanted} samples are finished")
        self.done, self.wanted = done, wanted


@dataclass(frozen=True)
class Failure:
    """A sample that raised.

    Attributes
    ----------
    task : Task
        Which.
    kind : str
        The class of the exception.
    message : str
        What it said, and where.
    """

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
    experiment : Experiment
        What was run.
    scale : str
        At which scale.
    records : dict of str to Record
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
    records: dict
    failures: tuple
    computed: int
    path: Path | None

    @property
    def done(self) -> int:
        """How many samples are finished."""
        return len(self.records)

    @property
    def wanted(self) -> int:
        """How many there are in all."""
        return self.experiment.scale(self.scale).wanted

    @property
    def dataset(self) -> Any:
        """The samples as an `xarray.Dataset`."""
        return archive.dataset(self.experiment, self.scale, self.records)


def run(
    experiment: Experiment,
    scale: str = "quick",
    *,
    settings: Mapping[str, Any] | None = None,
    jobs: int | None = 1,
    dask: str | None = None,
    output: str | Path | None = None,
    cache: bool = True,
    fresh: bool = False,
    compute: bool = True,
    progress: bool | None = None,
    say: Any = None,
) -> Any:
    """Run an experiment.

    Parameters
    ----------
    experiment : Experiment
        What to run; the book's `experiments.run` takes the name of one as well.
    scale : str, optional
        ``"quick"`` or ``"paper"``.
    settings : mapping of str to value, optional
        Settings that are to be others than those of the scale, by the names that
        `changes.settable` lists: ``{"N": 501, "loads": [0.5, 0.6]}``. The archive is called
        after them, and never replaces another.
    jobs : int, optional
        How many processes compute; 1: this one alone. Each uses one thread.
    dask : str, optional
        Address of a Dask scheduler, whose workers then compute. It must be one that you trust,
        in a network that you trust: Dask is not authenticated, and runs code.
    output : path, optional
        Folder in which the archive is written; none is written by default. Archives of the quick
        scale are called ``NAME.quick.nc``, so that they never replace one of the papers' scale.
    cache : bool, optional
        Take samples that were finished before, or that the archive to be written anew holds, and
        keep those that this run finishes; otherwise all are computed here and now.
    fresh : bool, optional
        Forget the samples that were finished before, and compute all anew.
    compute : bool, optional
        Compute what is missing; otherwise take only what is finished.
    progress : bool, optional
        Show a progress bar: True, False, or None for a bar where stderr is a terminal.
    say : callable, optional
        Is told, in a line of text, what a user should know while it runs.

    Returns
    -------
    Run
        The finished samples, and those that failed: a sample that raises does not stop the run.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.
    RunError
        If a file cannot be written or read, if workers vanished, if no scheduler answers. The
        message says what to do; what is finished is kept.
    RunInterrupted
        On an interrupt. It is a `KeyboardInterrupt`.
    """
    arguments.member("experiment", experiment, (Experiment,))
    if settings is not None:
        experiment = changed(experiment, settings, scale)
    jobs = arguments.integer("jobs", jobs, 1)
    if dask is not None and (not isinstance(dask, str) or not dask):
        raise TypeError(f"dask must be the address of a scheduler, got {dask!r}")
    for name, value in (("cache", cache), ("fresh", fresh), ("compute", compute)):
        arguments.choice(name, value, (False, True))
    arguments.choice("progress", progress, (None, False, True))
    wanted = tasks(experiment, scale)
    say = say or (lambda line: None)
    records, failures, todo, path = {}, [], [], None
    with contextlib.ExitStack() as stack:
        stack.enter_context(_plain_errors(records, len(wanted)))
        if output is not None:
            check_writable(Path(output))
        folder = None if cache else stack.enter_context(tempfile.TemporaryDirectory())
        store = Store(experiment, scale, folder)
        store.prepare()
        if fresh:
            for task in wanted:
                store.forget(task)
        records |= _finished(store, wanted, say)
        if output is not None and cache and not fresh:
            records |= _archived(experiment, scale, records, Path(output), say)
        _tell_of_other_code(experiment, scale, records, say)
        if compute:
            todo = [task for task in wanted if task.key not in records]
        if todo:
            _compute(store, todo, records, failures, jobs, dask, say, progress)
        if output is not None:
            path = _write_archive(experiment, scale, records, failures, Path(output), say)
    computed = len(todo) - len(failures)
    return Run(experiment, scale, records, tuple(failures), computed, path)


@contextlib.contextmanager
def _plain_errors(records, wanted):
    """Turn what the system refuses, and an interrupt, into what a user can act upon."""
    try:
        yield
    except OSError as error:
        kept = f"{len(records)} of {wanted} samples are finished and kept"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            advice = f"free some space there and run the same command again: {kept}"
        else:
            advice = (
                "archives go to the folder given by --output or WFMLIB_RESULTS, finished samples "
                f"to the one given by XDG_CACHE_HOME; {kept}"
            )
        what = f"cannot use {error.filename}" if error.filename else "the system refused"
        raise RunError(f"{what}: {error.strerror or error}; {advice}") from error
    except KeyboardInterrupt:
        raise RunInterrupted(len(records), wanted) from None


def _finished(store, wanted, say):
    """Return the records of finished samples; remove damaged ones."""
    records = {}
    for task in wanted:
        try:
            record = store.read(task)
        except DamagedSampleError as error:
            say(f"{error}: it is computed anew")
            store.forget(task)
            continue
        if record is not None:
            records[task.key] = record
    return records


def _archived(experiment, scale, records, output, say):
    """Return the samples that only the archive has which is to be written anew."""
    path, told = archive.archive_path(experiment.archive_name, scale, output), {}
    try:
        there = archive.arrays(path)
    except (OSError, archive.DamagedArchiveError):
        return {}
    with contextlib.suppress(OSError, archive.DamagedArchiveError):
        told = archive.read_provenance(path)  # without it nobody knows which code made them
    held = archive.held(there, told, experiment, scale)
    found = {key: one for key, one in held.items() if key not in records}
    if found:
        say(f"{experiment.name}: {_count(len(found))} taken from the archive")
    return found


def _tell_of_other_code(experiment, scale, records, say):
    """Say how many finished samples the code that is here did not make.

    They are taken all the same: a sample may take hours, and most changes of the code leave it as
    it is. The archive's provenance counts samples by their code, and until `wfm verify` has
    compared some of them the archive counts as unverified.
    """
    code = digest.of(experiment, scale)
    others = sum(one.code != code for one in records.values())
    if others:
        say(
            f"{experiment.name}: {_count(others)} of those finished were made by other code; "
            "--fresh computes all anew, `wfm verify` compares some of the archive"
        )


def _compute(store, todo, records, failures, jobs, dask, say, progress):
    """Compute tasks; write each finished sample at once, and add it to `records`."""
    from tqdm import tqdm

    finished, jobs = len(records), min(jobs, len(todo))
    say(
        f"{store.experiment.name}, {store.scale} scale: {_count(finished)} finished, "
        f"{len(todo)} to compute "
        + ("on a Dask cluster" if dask else f"in {jobs} process{'es' if jobs > 1 else ''}")
    )
    commit, dirty = archive.git_state()
    commit = f"{commit}+changes" if dirty else commit
    if dask is not None:
        outcomes = _through_dask(todo, dask, say)
    elif jobs == 1:
        outcomes = map(work, todo)
    else:
        outcomes = _through_joblib(todo, jobs)
    bar = tqdm(
        total=finished + len(todo),
        initial=finished,
        desc=store.experiment.name,
        unit="sample",
        delay=DELAY,
        disable=not (sys.stderr.isatty() if progress is None else progress),
        leave=False,
    )
    with bar, contextlib.closing(_generator(outcomes)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                task, values, seconds, processor, code = outcome
                record = Record(values, seconds, processor, commit, code)
                store.write(task, record)
                records[task.key] = record
            bar.update()
    order = {task.key: place for place, task in enumerate(todo)}
    failures.sort(key=lambda one: order[one.task.key])


def _generator(outcomes):
    """Yield what comes; to close it closes what it comes from."""
    yield from outcomes


def _count(samples):
    return f"{samples} sample{'' if samples == 1 else 's'}"


def _write_archive(experiment, scale, records, failures, output, say):
    """Write the archive, unless a more complete one of the same experiment is there."""
    path = archive.archive_path(experiment.archive_name, scale, output)
    with contextlib.suppress(OSError, archive.DamagedArchiveError):
        there = archive.arrays(path)
        held = int(there["done"].sum()) if archive.is_current(there, experiment, scale) else 0
        if held > len(records):
            say(
                f"{path} is left as it is: it holds {held} samples, more than the {len(records)} "
                "finished here"
            )
            return None
    kinds = {one.task.key: one.kind for one in failures}
    return archive.write(experiment, scale, records, kinds, output)


# ------------------------------------------------------------------------------------------------
# Workers
# ------------------------------------------------------------------------------------------------


def work(task):
    """Compute a sample: return (task, values, seconds, processor, code), or a `Failure`."""
    code = digest.of(task.experiment, task.scale)
    start = time.perf_counter()
    try:
        with _one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a run without a solution is data here
            values = task.compute()
    except Exception as error:
        if isinstance(error, SystemError):  # a kernel ran: the import costs nothing
            from wfmlib.numerics.interrupts import is_interrupt

            if is_interrupt(error):
                raise KeyboardInterrupt from None
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}, line {where.lineno}"
        text = " ".join(str(error).split()) or "(no message)"
        return Failure(task, type(error).__name__, f"{text} ({place})")
    return task, values, time.perf_counter() - start, archive.processor(), code


@contextlib.contextmanager
def _one_thread():
    """Keep BLAS, OpenMP and our kernels to one thread: samples share the machine, not kernels."""
    from threadpoolctl import threadpool_limits

    from wfmlib.numerics import _threads

    with threadpool_limits(limits=1), _threads.at_most(1):
        yield


def _work_for(parent, task):
    """Compute a sample in a process that is to vanish with the one that started it."""
    _watch(parent)
    return work(task)


@cache
def _watch(parent):
    """Leave when the parent is gone: killed, it cannot tell us to."""

    def watch():
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _through_joblib(todo, jobs):
    """Yield outcomes as processes of this machine finish them."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    with parallel_config(backend="loky", inner_max_num_threads=1):
        outcomes = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(_work_for)(os.getpid(), task) for task in todo
        )
    try:
        for outcome in outcomes:  # noqa: UP028 (it would close joblib's before we are ready)
            yield outcome
    except TerminatedWorkerError:
        raise RunError(
            "a worker process vanished, killed perhaps for want of memory; what is finished is "
            "kept. Run the same command again, with fewer jobs if this comes again"
        ) from None
    finally:  # where we stop early, workers are stopped: joblib warns that this loses work
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.close()


@contextlib.contextmanager
def _quiet(name):
    """Keep a package's log to itself: what matters of it, we say in our words."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _through_dask(todo, address, say):
    """Yield outcomes as the workers of a cluster finish them.

    By hand: where a worker dies, joblib's Dask backend (1.6) was still waiting after a minute.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise RunError(
            "a Dask cluster needs the package distributed: pip install 'wfmlib[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise RunError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); "
            "`dask scheduler` starts one and prints its address"
        ) from None
    with _quiet("distributed.client"), client:
        if not client.scheduler_info()["workers"]:
            say(f"the scheduler at {address} has no workers yet: waiting for the first")
        futures = {}
        try:
            for task in todo:
                futures[client.submit(work, task, pure=False)] = task
            for future in as_completed(list(futures), loop=client.loop):
                task = futures.pop(future)
                if future.status == "finished":
                    yield future.result()
                elif future.status == "error":  # not the sample's own: that one is an outcome
                    error = future.exception()
                    yield Failure(task, type(error).__name__, " ".join(str(error).split()))
                else:
                    raise RunError(
                        f"the Dask scheduler at {address} went away; what is finished is kept. "
                        "Run the same command again"
                    )
        finally:
            with contextlib.suppress(Exception):
                client.cancel(list(futures))
