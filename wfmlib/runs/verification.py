"""Whether an archive that other code made is what the code that is here would make.

Some of its samples, drawn at random, are computed anew and compared. What agreement means an
experiment says itself (`Agreement`): equal, or close, where the same seed leads to the same
result; by their distribution where the path is chaotic, so that another order of a sum leads
elsewhere. The last can exclude gross differences only, and the note says how gross.

What came of it is noted in the archive's provenance, under `verified`, with the digest of the code
(`digest.of`). An archive is verified by the code that is here if all of its samples were made by
it, or belong to those that were compared with it.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from wfmlib.numerics import arguments
from wfmlib.runs import archive, digest
from wfmlib.runs.experiment import Experiment, tasks
from wfmlib.runs.runner import DELAY, Failure, work
from wfmlib.runs.statistical import LEVEL, Ranks

#: What an archive is to the code that is here.
MADE, VERIFIED, DIFFERS, UNVERIFIED = "made", "verified", "differs", "unverified"
ENOUGH = 3  # close samples, where there are too few others for a test


@dataclass(frozen=True)
class Verification:
    """What came of comparing samples of an archive with new ones.

    Attributes
    ----------
    experiment : Experiment
        Whose archive.
    scale : str
        Its scale.
    compared : tuple of Compared
        The samples.
    failures : tuple of Failure
        Those that could not be computed.
    ranks : Ranks or None
        The test of distributions, where samples on a chaotic path differ.
    agrees : bool or None
        None where too few samples were compared to tell.
    note : dict
        The entry of the provenance.
    """

    experiment: Experiment
    scale: str
    compared: tuple
    failures: tuple
    ranks: Ranks | None
    agrees: bool | None
    note: dict

    @property
    def identical(self):
        """How many samples are the same, bit for bit."""
        return sum(one.identical for one in self.compared)

    @property
    def close(self):
        """How many samples agree within the tolerance, the identical ones included."""
        return sum(one.close for one in self.compared)

    @property
    def largest(self):
        """The largest difference of a number in units of its tolerance, among the close ones."""
        return max((one.excess for one in self.compared if one.close), default=math.nan)


@dataclass(frozen=True)
class Compared:
    """One sample: as archived, and as computed anew.

    Attributes
    ----------
    task : Task
        Which.
    archived, found : dict of str to ndarray
        Its values.
    excess : float
        The largest difference in units of the tolerance; infinite where a whole number, a flag or
        the place of a NaN differs.
    where : str
        The variable of the largest difference; empty where all are equal.
    chaotic : bool
        Whether the archived sample's path was chaotic.
    """

    task: object
    archived: dict
    found: dict
    excess: float
    where: str
    chaotic: bool

    @property
    def identical(self):
        """Whether all values are equal."""
        return not self.where

    @property
    def close(self):
        """Whether all differences are within the tolerance."""
        return self.excess <= 1.0


def verify(
    experiment, folder=None, *, scale="paper", samples=10, minutes=5.0, seed=None, progress=None
):
    """Compare samples of an archive with new ones, and note in its provenance what came of it.

    Parameters
    ----------
    experiment : Experiment
        Whose archive; the book's `experiments.verify` takes the name of one as well.
    folder : path, optional
        Where the archive is; `results_folder` by default.
    scale : str, optional
        ``"paper"`` or ``"quick"``.
    samples : int, optional
        How many to compute at most.
    minutes : float, optional
        How long that may take together, by the times that the provenance tells: of the processor
        that made them, kernels compiled. What would not fit is not drawn, but one is at least.
    seed : int, optional
        Of the draw; another one each time by default.
    progress : bool, optional
        Show a progress bar: True, False, or None for a bar where stderr is a terminal.

    Returns
    -------
    Verification

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above, if there is nothing to compare, or if the archive is of
        another definition.
    FileNotFoundError, DamagedArchiveError
        If there is no archive, or if it or its provenance is damaged.
    """
    arguments.member("experiment", experiment, (Experiment,))
    samples = arguments.integer("samples", samples, 1)
    minutes = arguments.real("minutes", minutes, 0.0, low_open=True)
    folder = archive.results_folder() if folder is None else folder
    if folder is None:  # those in the cache are the site's: notes would be lost
        raise FileNotFoundError("no folder of archives: set WFMLIB_RESULTS")
    path = archive.archive_path(experiment.name, scale, Path(folder))
    data, told = archive.read(path), archive.read_provenance(path)
    held = archive.held(data, told, experiment, scale)
    if not held:
        raise ValueError(
            f"{experiment.name}: the archive holds no sample of the experiment as it is defined"
        )
    code = digest.of(experiment, scale)
    chosen = _draw(tasks(experiment, scale), held, code, samples, 60.0 * minutes, seed)
    compared, failures = _compute(chosen, held, experiment, progress)
    ranks = _ranks(compared, held, experiment, scale)
    agrees = _verdict(compared, failures, ranks)
    note = _note(experiment, code, told, compared, failures, ranks, agrees)
    archive.write_provenance(path, told | {"verified": [*told.get("verified", []), note]})
    return Verification(experiment, scale, compared, failures, ranks, agrees, note)


def state(told, experiment, scale="paper"):
    """Say what an archive is to the code that is here.

    Parameters
    ----------
    told : dict
        Its provenance.
    experiment : Experiment
        The experiment as it is defined now; the archive must be of this definition.
    scale : str, optional
        Its scale.

    Returns
    -------
    str
        ``"made"``: all samples were made by this code. ``"verified"``: the others belong to those
        that were compared with it, and agree. ``"differs"``: the last comparison failed.
        ``"unverified"``: nothing is known.
    """
    code, counts = digest.of(experiment, scale), _by_code(told)
    others = {one: count for one, count in counts.items() if one != code}
    if code is None or not counts:
        return UNVERIFIED
    if not others:
        return MADE
    notes = told.get("verified", [])
    states = {_state_of(one, count, code, notes) for one, count in others.items()}
    return next(one for one in (DIFFERS, UNVERIFIED, VERIFIED) if one in states)


def _state_of(made_by, count, code, notes):
    """Return the state of the samples that other code made: the last note on them decides."""
    for note in reversed(notes):
        if note["code"] == code and note["of"].get(made_by, 0) >= count:
            if note["agrees"] is None:
                continue  # too few samples: what was known before stands
            return VERIFIED if note["agrees"] else DIFFERS
    return UNVERIFIED


def _by_code(told):
    """Return how many samples were made by which code."""
    if "computed_by_code" in told:
        return told["computed_by_code"]
    return {archive.UNKNOWN: told["samples_done"]} if told.get("samples_done") else {}


# ------------------------------------------------------------------------------------------------
# Drawing, computing
# ------------------------------------------------------------------------------------------------


def _draw(wanted, held, code, samples, seconds, seed):
    """Return tasks to compute, drawn of those that other code made; of all where there are none.

    Numbers of samples come in turn: those of the same number may share their patterns.
    """
    there = [task for task in wanted if task.key in held]
    others = [task for task in there if held[task.key].code != code] or there
    order = [others[place] for place in np.random.default_rng(seed).permutation(len(others))]
    times = Counter()
    turns = {task.key: times.update([task.sample]) or times[task.sample] for task in order}
    chosen, planned = [], 0.0
    for task in sorted(order, key=lambda task: turns[task.key]):
        takes = held[task.key].seconds
        if len(chosen) < samples and planned + takes <= seconds:
            chosen.append(task)
            planned += takes
    return chosen or [min(others, key=lambda task: held[task.key].seconds)]


def _compute(chosen, held, experiment, progress):
    """Compute tasks; return those compared, and those that failed."""
    from tqdm import tqdm

    compared, failures = [], []
    shown = sys.stderr.isatty() if progress is None else progress
    bar = tqdm(
        chosen, desc=experiment.name, unit="sample", delay=DELAY, disable=not shown, leave=False
    )
    with bar:
        for task in bar:
            outcome = work(task)
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                compared.append(compare(task, held[task.key].values, outcome[1]))
    return tuple(compared), tuple(failures)


def compare(task, archived, found):
    """Compare a sample with the archived one by its experiment's `Agreement`.

    Parameters
    ----------
    task : Task
        Which.
    archived, found : dict of str to ndarray
        Its values.

    Returns
    -------
    Compared
    """
    agreement = task.experiment.agreement
    worst, where = 0.0, ""
    for name, before in archived.items():
        excess = _excess(before, found[name], agreement)
        if excess > worst:
            worst, where = excess, name
    return Compared(task, archived, found, worst, where, agreement.is_chaotic(archived))


def _excess(before, after, agreement):
    """Return the largest difference of two arrays in units of the tolerance."""
    if np.array_equal(before, after, equal_nan=before.dtype.kind == "f"):
        return 0.0
    finite = np.isfinite(before)
    if before.dtype.kind != "f" or not np.array_equal(finite, np.isfinite(after)):
        return math.inf
    if not np.array_equal(before[~finite], after[~finite], equal_nan=True):
        return math.inf
    difference = np.abs(after - before)[finite]
    allowed = agreement.atol + agreement.rtol * np.abs(before)[finite]
    with np.errstate(divide="ignore"):
        return float(np.max(difference / allowed))


# ------------------------------------------------------------------------------------------------
# Judging, noting
# ------------------------------------------------------------------------------------------------


def _ranks(compared, held, experiment, scale):
    """Return the test of distributions, None where all samples are close, or none is chaotic."""
    apart = [one for one in compared if one.chaotic]
    if all(one.close for one in apart):
        return None
    others = {}
    for task in tasks(experiment, scale):
        if task.key in held:
            others.setdefault(str(task.point), {})[task.sample] = held[task.key].values
    pools = [
        [
            values
            for sample, values in others[str(one.task.point)].items()
            if sample != one.task.sample
        ]
        for one in apart
    ]
    return Ranks.of([one.found for one in apart], pools)


def _verdict(compared, failures, ranks):
    """Return whether the archive agrees; None where there is too little to tell.

    The same digits from the same seed say more than a test of distributions: where the test could
    not fail, `ENOUGH` close samples do.
    """
    if failures or any(not one.close and not one.chaotic for one in compared):
        return False
    if ranks is None or ranks.agrees is not None:
        return ranks is None or ranks.agrees
    return True if sum(one.close for one in compared) >= ENOUGH else None


def _note(experiment, code, told, compared, failures, ranks, agrees):
    """Return the entry of the provenance."""
    agreement, counts = experiment.agreement, _by_code(told)
    close = [one for one in compared if one.close]
    note = {
        "code": code,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "agrees": agrees,
        "of": {made_by: count for made_by, count in counts.items() if made_by != code} or counts,
        "samples": [str(one.task) for one in compared],
        "failed": [str(one) for one in failures],
        "identical": sum(one.identical for one in compared),
        "close": len(close),
        "rtol": agreement.rtol,
        "atol": agreement.atol,
        "largest_difference_in_tolerances": max((one.excess for one in close), default=None),
        "chaotic": sum(one.chaotic for one in compared),
        "versions": archive.versions(),
        "processor": archive.processor(),
    }
    if agreement.chaotic:
        note["why_chaotic"] = agreement.why
    if ranks is not None:
        note["distributions"] = {
            "test": "rank of each new sample among the others at its point; Holm's correction",
            "level": LEVEL,
            "new_samples": ranks.samples,
            "variables": len(ranks.p),
            "least_corrected_p": ranks.least,
            "in": ranks.where,
            "detectable_shift_in_deviations": ranks.detectable,
        }
    return note
