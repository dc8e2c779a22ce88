"""Experiments: definitions, runs that are stopped and continued, files that go wrong, archives."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tests import toy_experiment as toy
from wfmlib.book import experiments
from wfmlib.book.experiments import (
    Axis,
    DamagedArchiveError,
    RunError,
    RunInterrupted,
    Scale,
    Variable,
)
from wfmlib.runs import archive, digest, runner, samples

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 120  # seconds: for a machine that does much else
WANTED = 30  # samples of the toy at the papers' scale


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Keep samples and archives in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))
    monkeypatch.setitem(experiments.MODULES, "toy", "tests.toy_experiment")


@pytest.fixture(scope="module")
def reference():
    """Return the archive of a run in one go, in this process."""
    done = experiments.run(toy.EXPERIMENT, "paper", cache=False)
    assert (done.done, done.computed, done.failures) == (WANTED, WANTED, ())
    return archive.to_bytes(done.dataset)


def start(*arguments):
    """Start `wfm`, with the toy, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.toy_experiment", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(process):
    """Wait for a process; return what it printed to stdout and stderr."""
    try:
        return process.communicate(timeout=TIMEOUT)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def sample_files(tmp_path):
    return sorted((tmp_path / "cache" / "wfmlib" / "samples").glob("toy-*/*.json"))


def start_slowly(tmp_path, *arguments, finished=3):
    """Start a run of the papers' scale; return it once some samples are finished."""
    (tmp_path / "slow").write_text("0.3")
    process = start("run", "toy", "--scale", "paper", *arguments)
    deadline = time.monotonic() + TIMEOUT
    while len(sample_files(tmp_path)) < finished:
        assert process.poll() is None, end(process)
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (tmp_path / "slow").unlink()
    return process


def no_process_left(process):
    """Say whether all processes of a session have gone."""
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


# ------------------------------------------------------------------------------------------------
# Stopped, continued, spread: the same archive
# ------------------------------------------------------------------------------------------------


def test_killed_and_continued_gives_the_same_archive(tmp_path, reference):
    process = start_slowly(tmp_path, "--jobs", "2")
    process.kill()
    process.wait()
    assert no_process_left(process), "workers outlived the run"
    end(process)
    finished = len(sample_files(tmp_path))
    assert 3 <= finished < WANTED
    assert not (tmp_path / "results" / "toy.nc").exists()
    process = start("run", "toy", "--scale", "paper", "--jobs", "1")
    out, err = end(process)
    assert process.returncode == 0, err
    assert f"{WANTED} of {WANTED} samples, {WANTED - finished} of them computed now" in out
    assert f"{finished} samples finished, {WANTED - finished} to compute in 1 process" in err
    assert (tmp_path / "results" / "toy.nc").read_bytes() == reference


def test_two_workers_give_the_same_archive(tmp_path, reference):
    process = start("run", "toy", "--scale", "paper", "--jobs", "2")
    _, err = end(process)
    assert process.returncode == 0, err
    assert (tmp_path / "results" / "toy.nc").read_bytes() == reference
    assert no_process_left(process)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupt_stops_the_workers_and_says_how_to_go_on(tmp_path, reference, jobs):
    process = start_slowly(tmp_path, "--jobs", jobs)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = end(process)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    said = re.search(r"interrupted: (\d+) of 30 samples are finished and kept; the same", err)
    finished = len(sample_files(tmp_path))
    assert finished - 1 <= int(said[1]) <= finished  # one may have been on its way
    assert not (tmp_path / "results" / "toy.nc").exists()
    assert no_process_left(process)
    done = experiments.run("toy", "paper", compute=False)
    assert (done.done, done.computed) == (finished, 0)
    assert archive.to_bytes(experiments.run("toy", "paper").dataset) == reference


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler and two workers; yield the address and the three processes."""
    pytest.importorskip("distributed")
    dask = Path(sys.executable).with_name("dask")
    told = tmp_path / "scheduler.json"
    common = ["--host", "127.0.0.1", "--no-dashboard"]
    worker = ["worker", *common, "--scheduler-file", told, "--nthreads", "1", "--no-nanny"]
    commands = [
        ["scheduler", *common, "--port", "0", "--scheduler-file", told],
        [*worker, "--local-directory", tmp_path / "worker-1"],
        [*worker, "--local-directory", tmp_path / "worker-2"],
    ]
    started = []
    with contextlib.ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(
                [dask, *command],
                cwd=tmp_path,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
        deadline = time.monotonic() + TIMEOUT
        address = None
        while address is None:
            assert time.monotonic() < deadline, "no scheduler"
            with contextlib.suppress(OSError, ValueError):
                address = json.loads(told.read_text())["address"]
            time.sleep(0.05)
        yield address, started


def test_dask_gives_the_same_archive_whoever_is_killed(tmp_path, reference, cluster):
    """One cluster for all: after failing samples a worker is killed, then the scheduler."""
    scheduler, (first, worker, _) = cluster
    (tmp_path / "fail").touch()
    process = start("run", "toy", "--scale", "paper", "--dask", scheduler)
    _, err = end(process)
    assert process.returncode == 1, err
    assert "5 of 30 samples failed" in err
    assert len(sample_files(tmp_path)) == 25
    (tmp_path / "fail").unlink()
    process = start_slowly(tmp_path, "--dask", scheduler, finished=26)
    worker.kill()
    _, err = end(process)
    assert process.returncode == 0, err
    assert "5 to compute on a Dask cluster" in err
    assert (tmp_path / "results" / "toy.nc").read_bytes() == reference
    shutil.rmtree(tmp_path / "results")
    shutil.rmtree(tmp_path / "cache")
    process = start_slowly(tmp_path, "--dask", scheduler)
    first.kill()
    _, err = end(process)
    assert process.returncode == 1, err
    assert f"the Dask scheduler at {scheduler} went away; what is finished is kept" in err
    kept = len(sample_files(tmp_path))
    assert 3 <= kept < WANTED
    done = experiments.run("toy", "paper", output=tmp_path / "results")
    assert (done.computed, done.path.read_bytes()) == (WANTED - kept, reference)


def test_no_scheduler_is_a_plain_message(monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", 0.5)
    with pytest.raises(RunError, match=r"no Dask scheduler answers at nonsense://a:1"):
        experiments.run("toy", dask="nonsense://a:1")


def test_without_distributed_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RunError, match=r"pip install 'wfmlib\[cluster\]'"):
        experiments.run("toy", dask="tcp://127.0.0.1:1")


def test_worker_that_vanishes_is_a_plain_message():
    lost = toy.single(toy.vanish, "mean")
    with pytest.raises(RunError, match=r"a worker process vanished.*kept.*fewer jobs"):
        experiments.run(lost, jobs=2)


def test_kernels_use_one_thread():
    for jobs in (1, 2):
        one = toy.single(toy.threads, "threads", version=jobs)
        with threadpool_limits(2):  # whatever the variables of this process say
            assert (experiments.run(one, jobs=jobs).dataset["threads"] == 1).all()


# ------------------------------------------------------------------------------------------------
# What goes wrong
# ------------------------------------------------------------------------------------------------


def test_samples_that_fail_do_not_stop_the_others(tmp_path, reference):
    (tmp_path / "fail").touch()
    done = experiments.run("toy", "paper", output=tmp_path / "results")
    assert (done.done, done.wanted, done.computed) == (25, 30, 25)
    assert [str(one.task) for one in done.failures] == [
        f"alpha=0.75, form=exact, sample {number}" for number in range(5)
    ]
    said = str(done.failures[0])
    assert "sample 0: RuntimeError: the toy broke in two lines (toy_experiment.py, line" in said
    data = experiments.load("toy")
    assert data.attrs["samples_done"] == 25
    lost = data.sel(alpha=0.75, form="exact")
    assert not lost["done"].any()
    for name in toy.EXPERIMENT.variables:  # no integer or truth is made up for them
        assert np.isnan(lost[name]).all()
        assert not np.isnan(data.sel(form="expanded")[name]).any()
    told = json.loads((tmp_path / "results" / "toy.provenance.json").read_text())
    assert told["samples_failed"] == {"RuntimeError": 5}
    assert (told["samples_done"], told["samples_wanted"]) == (25, 30)
    (tmp_path / "fail").unlink()
    again = experiments.run("toy", "paper", output=tmp_path / "results")
    assert (again.done, again.computed) == (30, 5)
    assert again.path.read_bytes() == reference


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"mean": 1.0}, "lacks other"),
        ({"mean": 1.0, "other": 1, "more": 1}, "has more besides"),
        ({"mean": [1.0], "other": 1}, r"mean must have shape \(\), got \(1,\)"),
        ({"mean": [[1.0], [1, 2]], "other": 1}, r"mean must have shape \(\), got None"),
        ({"mean": 1j, "other": 1}, "mean must be float64, got complex128"),
        ({"mean": None, "other": 1}, "mean must be float64, got object"),
        ({"mean": 1.0, "other": 1.5}, "other must be int32, got float64"),
        ({"mean": 1.0, "other": 2**31}, "other must fit into int32"),
        ({"mean": 1.0, "other": True}, "other must be int32, got bool"),
        ([1.0], "sample must return a dict, got list"),
    ],
)
def test_values_that_were_not_declared_are_refused(found, said):
    variables = {"mean": Variable("1", "mean"), "other": Variable("1", "other", dtype="int32")}
    one = toy.experiment(variables=variables)
    with pytest.raises(ValueError, match=said):
        one.checked("quick", found)


def test_values_that_were_declared_pass():
    one = toy.experiment()
    good = {"mean": np.float32(np.nan), "curve": [1, 2, 3], "positive": 3, "converged": True}
    found = one.checked("quick", good)
    assert {name: value.dtype.name for name, value in found.items()} == {
        "mean": "float64",
        "curve": "float64",
        "positive": "int32",
        "converged": "bool",
    }


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("jobs", [1, 2])
def test_full_disk_loses_nothing_that_is_finished(tmp_path, monkeypatch, jobs):
    synchronise = os.fsync

    def fill(handle):
        if len(sample_files(tmp_path)) >= 4:
            full()
        synchronise(handle)

    monkeypatch.setattr(samples.os, "fsync", fill)
    with pytest.raises(
        RunError, match=r"cannot use .*\.json: No space left on device; free some .* 4 of 12 samp"
    ):
        experiments.run("toy", jobs=jobs)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = sample_files(tmp_path)
    assert len(files) == 4
    assert not list(files[0].parent.glob("*.part"))
    assert experiments.run(toy.EXPERIMENT).computed == 8


def test_full_disk_leaves_the_old_archive(tmp_path, monkeypatch):
    path = experiments.run("toy", output=tmp_path / "results").path
    before = path.read_bytes(), archive.provenance_path(path).read_bytes()
    writable = []
    monkeypatch.setattr(runner, "check_writable", writable.append)
    monkeypatch.setattr(samples.Store, "prepare", lambda store: None)
    monkeypatch.setattr(samples.os, "fsync", full)
    with pytest.raises(RunError, match=r"toy\.quick\.nc: No space left .* 12 of 12 samples are"):
        experiments.run("toy", output=tmp_path / "results")
    assert (path.read_bytes(), archive.provenance_path(path).read_bytes()) == before
    assert sorted(path.parent.iterdir()) == [path, archive.provenance_path(path)]
    assert writable == [tmp_path / "results"]


@pytest.mark.parametrize("place", ["results", "cache"])
def test_folder_that_cannot_be_written_to_is_told_before_anything_runs(tmp_path, place):
    (tmp_path / place).write_text("a file, where a folder should be")
    with pytest.raises(
        RunError, match=rf"cannot use .*{place}.*--output.*XDG_CACHE_HOME; 0 of 12"
    ):
        experiments.run("toy", output=tmp_path / "results" / "here")
    assert not sample_files(tmp_path)


def test_folder_without_permission(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", "a temporary name")

    monkeypatch.setattr(samples, "open", refuse, raising=False)
    with pytest.raises(RunError, match=r"results/writable: Permission denied; archives go to"):
        experiments.run("toy", output=tmp_path / "results")


def flip(data):
    return data[:-20] + bytes([data[-20] ^ 1]) + data[-19:]


@pytest.mark.parametrize(
    "damage",
    [flip, lambda data: data[:-30], lambda data: b"", lambda data: data[:10]],
    ids=["flipped", "truncated", "empty", "short"],
)
def test_damaged_sample_is_told_and_computed_again(tmp_path, reference, damage):
    experiments.run("toy", "paper")
    path = sample_files(tmp_path)[3]
    whole = json.loads(path.read_bytes().partition(b"\n")[2])
    path.write_bytes(damage(path.read_bytes()))
    said = []
    done = experiments.run("toy", "paper", say=said.append)
    assert said[0] == f"the file of a finished sample is damaged: {path}: it is computed anew"
    assert done.computed == 1
    assert archive.to_bytes(done.dataset) == reference
    again = json.loads(path.read_bytes().partition(b"\n")[2])
    assert again["values"] == whole["values"]


def test_less_complete_run_leaves_the_archive(tmp_path):
    whole = experiments.run("toy", output=tmp_path / "results").path
    before = whole.read_bytes()
    said = []
    options = {"output": tmp_path / "results", "say": said.append}
    assert experiments.run("toy", cache=False, compute=False, **options).path is None
    assert f"{whole} is left as it is: it holds 12 samples, more than the 0" in said[-1]
    assert whole.read_bytes() == before
    changed = toy.experiment(version=2)  # another experiment: the old archive is worth nothing
    assert experiments.run(changed, compute=False, **options).path == whole
    assert experiments.load("toy", scale="quick").attrs["samples_done"] == 0


def test_interrupt_in_a_kernel_is_one():
    """What numba makes of it is a SystemError: no failure of the sample."""
    with pytest.raises(RunInterrupted, match="interrupted: 0 of 12"):
        experiments.run(toy.single(toy.interrupt_kernel, "mean"))


def test_interrupt_in_a_sample_keeps_the_others(tmp_path):
    with pytest.raises(RunInterrupted, match="interrupted: 2 of 12 samples are finished"):
        experiments.run(toy.single(toy.interrupt, "mean"))
    assert len(sample_files(tmp_path)) == 2


# ------------------------------------------------------------------------------------------------
# Archives
# ------------------------------------------------------------------------------------------------


def test_archive_holds_everything(tmp_path, reference):
    path = experiments.run("toy", "paper", output=tmp_path / "results").path
    data = experiments.load("toy")
    assert data["curve"].dims == ("alpha", "form", "sample", "step")
    assert dict(data.sizes) == {"alpha": 3, "form": 2, "sample": 5, "step": 3}
    assert list(data["form"].values) == ["exact", "expanded"]
    assert data["curve"].attrs == {"units": "nats", "long_name": "partial sums"}
    assert data["alpha"].attrs == {"units": "1", "long_name": "patterns per weight"}
    assert (data["positive"].dtype, data["converged"].dtype) == ("int32", "bool")
    assert data["done"].all()
    said = data.attrs
    assert json.loads(said["settings"]) == {"N": 31, "units": 3}
    assert (said["seed"], said["samples_done"], said["samples_wanted"]) == ("7", 30, 30)
    assert (said["source"], said["chapter"], said["scale"]) == ("no paper", 7, "paper")
    # each value is that of its own point, sample and seed, computed here by itself
    for task in experiments.tasks(toy.EXPERIMENT, "paper"):
        seed = toy.EXPERIMENT.seed_sequence(task.point, task.sample)
        values = np.random.default_rng(seed).normal(size=31)
        here = data.sel(task.point).isel(sample=task.sample)
        assert here["mean"] == values.mean()
        assert np.array_equal(here["curve"], np.cumsum(values)[:3] * [1, 2, 4])
        assert here["positive"] == np.count_nonzero(values > 0)
    assert len(np.unique(data["mean"])) == 30
    path.unlink()  # nothing holds it open


def test_how_seeds_are_made_is_told(tmp_path):
    data = experiments.run("toy").dataset
    assert "spawn_key=(sample, *words)" in data.attrs["seeds"]
    digest = hashlib.sha256(b'{"alpha":0.5,"form":"exact"}').digest()
    words = [int.from_bytes(digest[at : at + 4], "little") for at in range(0, 16, 4)]
    seed = np.random.SeedSequence(7, spawn_key=(1, *words))
    found = toy.EXPERIMENT.seed_sequence({"form": "exact", "alpha": 0.5}, 1)
    assert np.array_equal(seed.generate_state(4), found.generate_state(4))


def test_paired_points_share_their_seeds():
    data = experiments.run(toy.experiment(paired=True)).dataset
    assert "shared by all points" in data.attrs["seeds"]
    assert (data["mean"] == data["mean"].isel(alpha=0, form=0)).all()
    assert len(np.unique(data["mean"])) == 2


def test_longer_sweep_keeps_what_is_finished(tmp_path):
    experiments.run("toy")
    longer = toy.scale(3, grid={"alpha": (0.1, 0.25, 0.5, 0.75), "form": ("expanded", "exact")})
    one = toy.experiment(scales={"quick": longer, "paper": toy.scale(5)})
    assert experiments.run(one).computed == 24 - 12
    for change in (
        {"version": 2},
        {"seed": 8},
        {"paired": True},
        {"scales": {"quick": toy.scale(2, settings={"N": 33}), "paper": toy.scale()}},
        {"scales": {"quick": toy.scale(2, coordinates={"step": (1, 2, 3)}), "paper": toy.scale()}},
    ):
        assert experiments.run(toy.experiment(**change), compute=False).done == 0, change


def test_longer_sweep_keeps_what_the_archive_holds(tmp_path):
    """Where the cache is another one, finished samples are those of the archive."""
    path = experiments.run("toy", output=tmp_path / "results").path
    before, told = experiments.load("toy", scale="quick"), archive.read_provenance(path)
    shutil.rmtree(tmp_path / "cache")
    longer = toy.scale(3, grid={"alpha": (0.1, 0.25, 0.5, 0.75), "form": ("expanded", "exact")})
    one = toy.experiment(scales={"quick": longer, "paper": toy.scale(5)})
    said = []
    done = experiments.run(one, output=tmp_path / "results", say=said.append)
    assert done.computed == 24 - 12
    assert "toy: 12 samples taken from the archive" in said
    there = before.isel(form=slice(None, None, -1))
    there["done"] = there["done"].astype(bool)
    assert there.equals(done.dataset.sel(alpha=[0.25, 0.5, 0.75]).isel(sample=slice(2)))
    again = archive.read_provenance(path)
    assert again["computed_by_code"] == {digest.of(one, "quick"): 24}
    assert again["computed_on"] == {archive.processor(): 24}
    seconds = told["seconds_per_sample"]
    assert seconds == {name: again["seconds_per_sample"][name] for name in seconds}
    shutil.rmtree(tmp_path / "cache")
    fresh = experiments.run(one, output=tmp_path / "results", fresh=True)
    assert fresh.computed == 24
    assert fresh.dataset.equals(done.dataset)


def test_samples_of_other_code_are_counted_apart(tmp_path, monkeypatch):
    """They are taken, said to be there, and told from the others in the provenance."""
    said = []
    options = {"output": tmp_path / "results", "say": said.append}
    experiments.run("toy", **options)
    files = sample_files(tmp_path)
    for path, code in ((files[0], None), (files[1], "0123456789abcdef")):
        body = json.loads(path.read_bytes().partition(b"\n")[2])
        body["code"] = code  # None: taken from an archive that does not say
        text = json.dumps(body).encode()
        path.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
    done = experiments.run("toy", **options)
    assert "toy: 2 samples of those finished were made by other code" in said[-1]
    told, ours = archive.read_provenance(done.path), digest.of(toy.EXPERIMENT, "quick")
    assert told["computed_by_code"] == {"0123456789abcdef": 1, ours: 10, "unknown": 1}
    each = told["code_per_sample"]
    assert sorted(each.values()).count(ours) == 10
    assert {"unknown", "0123456789abcdef"} <= set(each.values())
    shutil.rmtree(tmp_path / "cache")  # from the archive they come back as what they were
    again = archive.read_provenance(experiments.run("toy", **options).path)
    assert again["code_per_sample"] == each
    assert again["computed_by_code"] == told["computed_by_code"]


def test_provenance_says_what_may_differ(tmp_path, reference):
    done = experiments.run("toy", "paper", output=tmp_path / "results")
    assert done.path.read_bytes() == reference
    text = (tmp_path / "results" / "toy.provenance.json").read_text()
    told = json.loads(text)
    assert told["archive_sha256"] == hashlib.sha256(reference).hexdigest()
    assert told["versions"]["numpy"] == np.__version__
    assert set(told["versions"]) == {"python", "numpy", "scipy", "numba", "wfmlib"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told["date"])
    assert told["commit"] is None or re.fullmatch(r"[0-9a-f]{40}", told["commit"])
    assert told["dirty"] in (None, False, True)
    assert sum(told["computed_on"].values()) == sum(told["computed_at_commit"].values()) == 30
    assert told["computed_by_code"] == {digest.of(toy.EXPERIMENT, "paper"): 30}
    assert "code_per_sample" not in told
    assert len(told["seconds_per_sample"]) == 30
    assert all(seconds >= 0 for seconds in told["seconds_per_sample"].values())
    for secret in (str(tmp_path), str(ROOT), str(Path.home()) + "/", socket.gethostname()):
        assert secret not in text
        assert secret.encode() not in reference


def test_outside_a_checkout_there_is_no_commit(monkeypatch, tmp_path):
    monkeypatch.setattr(archive, "__file__", str(tmp_path / "wfmlib" / "experiments" / "a.py"))
    assert archive.git_state() == (None, None)


def test_commit_and_changes(monkeypatch, tmp_path):
    folder = tmp_path / "wfmlib"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(archive, "__file__", str(folder / "experiments" / "archive.py"))
    commit, dirty = archive.git_state()
    assert re.fullmatch(r"[0-9a-f]{40}", commit)
    assert dirty is False
    (folder / "new.py").write_text("")
    assert archive.git_state() == (commit, True)


@pytest.mark.parametrize(
    "damage",
    [flip, lambda data: data[:-30], lambda data: b"", lambda data: b"CDF\x02" + data],
    ids=["flipped", "truncated", "empty", "longer"],
)
def test_damaged_archive_is_told(tmp_path, damage):
    path = experiments.run("toy", output=tmp_path / "results").path
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DamagedArchiveError, match=r"toy\.quick\.nc is damaged.*make it anew"):
        experiments.load("toy", scale="quick")


def test_where_archives_are(tmp_path, monkeypatch):
    assert experiments.results_folder() == tmp_path / "results"
    monkeypatch.delenv("WFMLIB_RESULTS")
    monkeypatch.chdir(tmp_path)
    assert experiments.results_folder() is None
    with pytest.raises(FileNotFoundError, match=r"WFMLIB_RESULTS.*`wfm run toy --scale paper`"):
        experiments.load("toy")
    below = tmp_path / "book" / "deeper"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert experiments.results_folder() is None
    (tmp_path / "_toc.yml").touch()  # here is the book: its results need not be there yet
    assert experiments.results_folder() == tmp_path / "book" / "results"
    with pytest.raises(
        FileNotFoundError, match=r"no archive .*toy\.nc: .* `wfm run toy --scale p"
    ):
        experiments.load("toy")
    with pytest.raises(FileNotFoundError, match=r"no archive .*quick\.nc: `wfm run toy` makes it"):
        experiments.load("toy", scale="quick")
    experiments.run("toy", "paper", output=experiments.results_folder())
    assert experiments.load("toy").identical(experiments.load("toy", tmp_path / "book/results"))


def test_run_writes_no_archive_unasked(tmp_path):
    assert experiments.run("toy").path is None
    assert not (tmp_path / "results").exists()
    experiments.run(toy.experiment(version=9), cache=False)
    assert len(sample_files(tmp_path)) == 12  # those of the first run alone


def test_fresh_run_computes_all_anew():
    assert experiments.run("toy").computed == 12
    assert experiments.run("toy").computed == 0
    assert experiments.run("toy", fresh=True).computed == 12


def test_bar_shows_on_long_runs_only(capsys, monkeypatch):
    experiments.run("toy", cache=False, progress=True)
    assert "toy" not in capsys.readouterr().err
    monkeypatch.setattr(runner, "DELAY", 0)
    experiments.run("toy", cache=False, progress=True)
    shown = capsys.readouterr()
    assert re.search(r"toy: +0%.* 0/12 .*sample/s", shown.err)
    assert shown.out == ""


# ------------------------------------------------------------------------------------------------
# Definitions
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Two words"}, "name must be lower-case words"),
        ({"title": ""}, "title must be a text"),
        ({"chapter": 13}, "chapter must be from 1 to 12, got 13"),
        ({"seed": -1}, "seed must be >= 0"),
        ({"seed": 1.5}, "seed must be an integer"),
        ({"version": 0}, "version must be >= 1"),
        ({"paired": "yes"}, "paired must be True or False"),
        ({"scales": {"quick": toy.scale()}}, "scales must be quick and paper"),
        ({"scales": [toy.scale()]}, "scales must be a dict"),
        ({"scales": {"quick": 1, "paper": 2}}, r"scales\['quick'\] must be Scale"),
        ({"variables": {}}, "variables must name what a sample yields"),
        ({"variables": {"done": Variable("1", "x")}}, "must differ"),
        ({"variables": {"alpha": Variable("1", "x")}}, "must differ"),
        ({"variables": {"a b": Variable("1", "x")}}, "must have names as keys"),
        ({"variables": {"x": Variable("1", "x", ("alpha",))}}, "dims of 'x' must be coordinates"),
        ({"axes": {"beta": Axis("1", "b")}}, "axes must name dimensions"),
        ({"sample": lambda *_: {}}, "sample must be a function of a module"),
        ({"sample": None}, "sample must be a function, got None"),
        (
            {"scales": {"quick": toy.scale(), "paper": toy.scale(grid={"alpha": (1,)})}},
            "scales must sweep the same names",
        ),
    ],
)
def test_definition_is_checked(changes, said):
    with pytest.raises(ValueError, match=said):
        toy.experiment(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"samples": 0}, "samples must be >= 1"),
        ({"samples": 2.0}, "samples must be an integer"),
        ({"grid": {"alpha": ()}}, r"grid\['alpha'\] must be a sequence of numbers"),
        ({"grid": {"alpha": 0.5}}, r"grid\['alpha'\] must be a sequence of values"),
        ({"grid": {"alpha": "abc"}}, r"grid\['alpha'\] must be a sequence of values"),
        ({"grid": {"alpha": (0.5, 0.5)}}, "values that differ"),
        ({"grid": {"alpha": (0.5, np.nan)}}, "no NaN"),
        ({"grid": {"alpha": (1, "a")}}, "of numbers, of strings or of bools"),
        ({"grid": {"alpha": (1, True)}}, "of numbers, of strings or of bools"),
        ({"grid": {"alpha": (1, None)}}, "of numbers, of strings or of bools"),
        ({"grid": {"alpha": (2**31, 1)}}, "at most 31 bits"),
        ({"grid": {"sample": (1, 2)}}, "must differ"),
        ({"grid": {"step": (1, 2)}}, "must differ"),
        ({"grid": {"1a": (1, 2)}}, "must have names as keys"),
        ({"settings": {"N": object()}}, r"settings\['N'\] must be a number"),
        ({"settings": {"step": 1}}, "must differ"),
        ({"settings": [1]}, "settings must be a dict"),
        ({"coordinates": {"step": [[1]]}}, r"coordinates\['step'\] must be a sequence"),
    ],
)
def test_scale_is_checked(changes, said):
    with pytest.raises(ValueError, match=said):
        toy.scale(**changes)


def test_variable_and_axis_are_checked():
    for arguments in (("", "x"), ("1", ""), ("1", "x", "step"), ("1", "x", ("a", "a"))):
        with pytest.raises(ValueError, match="must"):
            Variable(*arguments)
    with pytest.raises(ValueError, match="dtype must be one of float64, int32, bool, got 'int64'"):
        Variable("1", "x", dtype="int64")
    with pytest.raises(ValueError, match="long_name must be a text"):
        Axis("1", None)


def test_scale_takes_arrays():
    one = Scale(grid={"N": np.arange(3), "on": [True, False]}, samples=np.int64(2))
    assert one.grid == {"N": [0, 1, 2], "on": [True, False]}
    assert one.wanted == 12
    assert one.points[1] == {"N": 0, "on": False}


def test_names_and_get(monkeypatch):
    assert "toy" in experiments.names()
    assert experiments.get("toy") is toy.EXPERIMENT
    with pytest.raises(ValueError, match=r"name must be that of an experiment .*mean toy\?"):
        experiments.get("tyo")
    with pytest.raises(TypeError, match="name must be a string"):
        experiments.get(3)
    monkeypatch.setitem(experiments.MODULES, "other", "tests.toy_experiment")
    with pytest.raises(ValueError, match="defines 'toy', but is listed as 'other'"):
        experiments.get("other")


@pytest.mark.parametrize("name", [name for name in experiments.MODULES if name != "toy"])
def test_experiments_are_well_defined(name):
    one = experiments.get(name)
    assert one.scale("quick").wanted <= one.scale("paper").wanted


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"scale": "large"}, "scale must be one of 'quick', 'paper', got 'large'"),
        ({"jobs": 0}, "jobs must be >= 1"),
        ({"jobs": 1.0}, "jobs must be an integer"),
        ({"dask": 8786}, "dask must be the address"),
        ({"fresh": 1}, "fresh must be one of"),
        ({"cache": "no"}, "cache must be one of"),
        ({"progress": 1}, "progress must be one of"),
    ],
)
def test_arguments_of_run_are_checked(options, error):
    with pytest.raises((TypeError, ValueError), match=error):
        experiments.run("toy", **options)


def test_importing_is_quick():
    code = (
        "import sys, wfmlib.book.experiments\n"
        "heavy = {'xarray', 'pandas', 'dask', 'distributed', 'joblib', 'numba', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
