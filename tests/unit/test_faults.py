"""Faults of the machine: kills at any file operation, disks that fill up, flipped bits, clocks."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import toy_experiment as toy
from wfmlib.book import experiments
from wfmlib.book.experiments import RunError
from wfmlib.runs import archive, samples
from wfmlib.runs.samples import DamagedSampleError, Store

ROOT = Path(__file__).resolve().parents[2]
SMALL = toy.experiment(
    scales={name: toy.scale(1, grid={"alpha": (0.25, 0.5)}) for name in ("quick", "paper")}
)
POINTS = 2
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Keep samples and data in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))
    monkeypatch.setattr(archive, "git_state", lambda: (None, None))


@pytest.fixture(scope="module")
def reference():
    """Return the archive of a run that nothing disturbs."""
    return archive.to_bytes(experiments.run(SMALL, cache=False).dataset)


def helper(*arguments):
    """Run `tests.killed_runs`; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.killed_runs", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


# ------------------------------------------------------------------------------------------------
# Killed, and two at once
# ------------------------------------------------------------------------------------------------


@forks
def test_a_run_may_be_killed_at_any_file_operation(tmp_path):
    """Repeated, it takes the samples that were finished, and makes the same archive."""
    told = helper("killed", str(tmp_path))
    assert told["wrong"] == []
    kinds = {place.split()[0] for place in told["at"]}
    assert kinds == {"open", "fsync", "os.rename", "os.remove", "os.mkdir"}
    files = 2 + POINTS + 2  # two probes, the samples, the two files of the archive
    assert sum(place.startswith("os.rename") for place in told["at"]) == files


@forks
def test_two_runs_at_once_make_one_archive(tmp_path):
    (tmp_path / "slow").write_text("0.02")
    assert helper("twice", str(tmp_path)) == [0, 0]
    found = archive.read(tmp_path / "results" / "toy.quick.nc")
    assert found.identical(experiments.run(toy.EXPERIMENT, compute=False).dataset)
    assert not list(tmp_path.rglob("*.part"))


# ------------------------------------------------------------------------------------------------
# Full disks
# ------------------------------------------------------------------------------------------------


class FillingDisk:
    """A disk on which the n-th operation of `samples` that takes room finds none."""

    def __init__(self, monkeypatch, last):
        self.left, self.found = last, False
        monkeypatch.setattr(samples, "open", self.opened, raising=False)
        told = {name: getattr(os, name) for name in dir(os)}
        told |= {name: self.counted(getattr(os, name)) for name in ("fsync", "replace")}
        monkeypatch.setattr(samples, "os", SimpleNamespace(**told))

    def take(self):
        self.left -= 1
        if self.left == 0:
            self.found = True
            raise OSError(errno.ENOSPC, "No space left on device")

    def counted(self, function):
        def call(*arguments):
            self.take()
            return function(*arguments)

        return call

    def opened(self, path, mode):
        self.take()
        file = open(path, mode)  # noqa: SIM115 (the caller closes it)
        return FullFile(file, self)


class FullFile:
    """A file of such a disk: what does not fit is written in part."""

    def __init__(self, file, disk):
        self.file, self.disk, self.fileno, self.flush = file, disk, file.fileno, file.flush

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        try:
            self.disk.take()
        except OSError:
            self.file.write(data[: len(data) // 2])
            raise
        self.file.write(data)


def test_a_disk_may_fill_up_at_any_write(tmp_path, monkeypatch, reference):
    """It is told, nothing is left over, and the old archive or the new one is there."""
    output = tmp_path / "results"
    for last in range(1, 100):
        with monkeypatch.context() as patched:
            patched.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{last}"))
            disk = FillingDisk(patched, last)
            if disk_is_enough(disk, output):
                break
            assert not list(tmp_path.rglob("*.part"))
            kept = len(list((tmp_path / f"cache-{last}").rglob("*.json")))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{last}"))
        again = experiments.run(SMALL, output=output)
        assert again.computed <= POINTS - kept
        assert again.path.read_bytes() == reference
        assert archive.read(again.path)["done"].all()
    assert 4 * (2 + POINTS + 2) < last < 99


def disk_is_enough(disk, output):
    """Run; return whether no operation failed."""
    told = []
    try:
        experiments.run(SMALL, output=output, fresh=True)
    except RunError as error:
        told.append(str(error))
    assert disk.found or not told
    assert all("No space left on device; free some space there" in one for one in told)
    return not disk.found  # to synchronise a folder is a wish: its failure is passed over


# ------------------------------------------------------------------------------------------------
# Flipped bits: of archives in test_seals
# ------------------------------------------------------------------------------------------------


def flips(content, step=1):
    """Yield the contents with each bit flipped in turn, or each `step`-th."""
    for bit in range(0, 8 * len(content), step):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def test_flipped_bits_of_a_sample_are_noticed():
    experiments.run(SMALL)
    kept, task = Store(SMALL, "quick"), experiments.tasks(SMALL, "quick")[0]
    path = kept.path(task)
    content, unnoticed = path.read_bytes(), 0
    for damaged in flips(content, step=5):  # each fifth: in every byte, and at every place
        path.write_bytes(damaged)
        try:
            kept.read(task)
        except DamagedSampleError:
            continue
        unnoticed += 1
    assert unnoticed == 0


# ------------------------------------------------------------------------------------------------
# Clocks
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("years", [10, -10])
def test_a_clock_that_jumps_changes_nothing(tmp_path, monkeypatch, reference, years):
    """Only what is left over of killed runs goes sooner, or later."""
    first = experiments.run(SMALL, output=tmp_path / "results")
    assert first.path.read_bytes() == reference
    left = Store(SMALL, "quick").folder / "killed.part"
    left.touch()
    real = time.time
    monkeypatch.setattr(samples.time, "time", lambda: real() + years * 365.25 * samples.DAY)
    again = experiments.run(SMALL, output=tmp_path / "results")
    assert (again.computed, again.path.read_bytes()) == (0, reference)
    assert left.exists() == (years < 0)
    assert archive.read(again.path)["done"].all()
