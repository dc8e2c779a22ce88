"""Experiments: killed, continued and shared out they give the same archive, and only that."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests import toy_experiment as toy
from tests.unit.test_samples import THEORY
from wfmlib.book import cli, experiments, runs
from wfmlib.book.experiments import ArchiveError, DamagedArchiveError, RunError
from wfmlib.book.runs import Agreement, Axis, Variable

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "book" / "results"
TOY = toy.EXPERIMENT
WITHIN = 5.0  # seconds of a sample that is computed here; `wfm check --all` has the others


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Keep samples, archives and the toy's signs in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))
    monkeypatch.delenv("WFMLIB_RESULTS", raising=False)
    monkeypatch.delenv("WFMLIB_SITE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setitem(experiments.MODULES, "toy", "tests.toy_experiment")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def reference():
    """Return the toy's samples, computed in this process, at once."""
    return runs.run(TOY, "paper", cache=False).dataset


def arrays(data):
    """Return a dataset without what says how it came about."""
    return data.drop_attrs()


def kept(folder):
    return sorted(folder.rglob("*.npz"))


def wfm(*words, **options):
    """Run `wfm`, with the toy among the experiments, in a process of its own."""
    command = [sys.executable, "-m", "tests.toy_experiment", *words]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


# ------------------------------------------------------------------------------------------------
# Running
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("jobs", "how"), [("1", "KILL"), ("2", "KILL"), ("2", "INT")])
def test_a_killed_run_goes_on(tmp_path, reference, jobs, how):
    words = ["run", "toy", "--scale", "paper", "--output", str(tmp_path), "--jobs", jobs]
    (tmp_path / "slow").touch()
    with wfm(*words) as first:
        while len(kept(tmp_path)) < 4:
            assert first.poll() is None, first.stderr.read()
            time.sleep(0.02)
        first.send_signal(signal.Signals[f"SIG{how}"])
        told = first.communicate(timeout=60)[1]
    assert ("interrupted; what is finished is kept" in told) == (how == "INT")
    assert not (tmp_path / "toy.nc").exists()
    finished = len(kept(tmp_path))
    (tmp_path / "slow").unlink()
    run = experiments.run("toy", "paper", output=tmp_path)
    assert (run.done, run.computed) == (30, 30 - finished)
    assert arrays(experiments.load("toy", tmp_path)).identical(arrays(reference))
    assert kept(tmp_path) == [], "the archive has them"
    assert not list(tmp_path.rglob("*.part"))


def test_the_order_and_the_number_of_workers_change_nothing(reference):
    class Backwards(ThreadPoolExecutor):
        """An executor that begins with the last task."""

        def submit(self, function, task):
            delay = 1.0 - runs.tasks(TOY, "paper").index(task) / 30
            return super().submit(lambda: time.sleep(delay / 10) or function(task))

    with Backwards(30) as executor:
        found = experiments.run("toy", "paper", executor=executor)
    assert arrays(found.dataset).identical(arrays(reference))
    found = experiments.run("toy", "paper", jobs=2, cache=False)
    assert (found.computed, found.failures) == (30, ())
    assert arrays(found.dataset).identical(arrays(reference))


def test_dask_gives_the_same(reference, capsys, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=2, **options) as cluster:
        address = cluster.scheduler_address
        with distributed.Client(address, set_as_default=False) as client:
            executor = client.get_executor(pure=False)
            found = experiments.run("toy", "paper", executor=executor, cache=False)
        words = ["run", "toy", "--dask", address, "--output", str(tmp_path)]
        assert cli.main(words) == 0
    assert arrays(found.dataset).identical(arrays(reference))
    assert "12 of 12 samples, 12 of them computed now" in capsys.readouterr().out


def test_what_a_cluster_lacks_is_said(capsys, monkeypatch, tmp_path):
    pytest.importorskip("distributed")
    from wfmlib.book.commands import run

    monkeypatch.setattr(run, "PATIENCE", 0.5)
    words = ["run", "toy", "--dask", "tcp://127.0.0.1:1", "--output", str(tmp_path)]
    assert cli.main(words) == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cli.main(words) == 1
    assert "pip install 'wfmlib[cluster]'" in capsys.readouterr().err


def test_samples_that_fail_do_not_stop_the_others(tmp_path, reference):
    (tmp_path / "fail").touch()
    run = experiments.run("toy", "paper", output=tmp_path)
    assert (run.done, run.computed, len(run.failures)) == (25, 25, 5)
    assert str(run.failures[1]).startswith(
        "alpha=0.75, form=exact, sample 1: RuntimeError: the toy broke in two lines (toy_exp"
    )
    data = experiments.load("toy", tmp_path)
    assert json.loads(data.attrs["samples_failed"]) == {"RuntimeError": 5}
    lost = data.sel(alpha=0.75, form="exact")
    assert not lost["done"].any()
    assert lost["mean"].isnull().all()
    assert np.isnan(data.attrs["seconds"]).sum() == 5
    (tmp_path / "fail").unlink()
    again = experiments.run("toy", "paper", output=tmp_path)
    assert again.computed == 5
    assert arrays(experiments.load("toy", tmp_path)).identical(arrays(reference))


def test_a_longer_sweep_keeps_what_is_finished():
    short = toy.experiment(scales={"quick": toy.scale(1), "paper": toy.scale(1)})
    assert runs.run(short).computed == 6
    assert runs.run(TOY).computed == 6
    assert runs.run(TOY, cache=False).computed == 12
    assert runs.run(toy.experiment(version=2)).computed == 12


def test_a_damaged_sample_is_computed_anew(tmp_path):
    """Each bit flipped is noticed, or says nothing."""
    task = runs.tasks(TOY, "quick")[0]
    first = runs.run(TOY).samples[task.key]
    (path,) = [one for one in kept(tmp_path) if one.stem == task.key]
    content = path.read_bytes()
    for bit in range(0, 8 * len(content), 7):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        found = runs._finished(path.parent, [task])
        same = (
            np.array_equal(found[task.key].values[k], v) for k, v in first.values.items() if found
        )
        assert all(same)
    path.write_bytes(content[:100])
    assert runs.run(TOY).computed == 1


def test_nothing_of_half_a_file(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    path = tmp_path / "one"
    runs.write_atomically(path, b"old")
    monkeypatch.setattr(runs.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        runs.write_atomically(path, b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["one"]
    assert path.read_bytes() == b"old"


def test_an_interrupt_keeps_what_is_finished(capsys, tmp_path, monkeypatch):
    interrupted = toy.single(toy.interrupt_kernel, "mean")
    monkeypatch.setattr(toy, "EXPERIMENT", interrupted)
    assert cli.main(["run", "toy", "--output", str(tmp_path)]) == 130
    assert "interrupted; what is finished is kept" in capsys.readouterr().err
    assert len(kept(tmp_path)) == 2


def test_a_worker_that_vanishes_is_a_plain_message():
    with pytest.raises(RunError, match="for want of memory; what is finished is kept"):
        runs.run(toy.single(toy.vanish, "mean"), jobs=2)


def test_kernels_use_one_thread():
    found = runs.run(toy.single(toy.threads, "threads", "int32"), cache=False)
    assert np.all(found.dataset["threads"] == 1)


def test_bar_shows_on_long_runs_only(capsys, monkeypatch):
    runs.run(TOY, cache=False, progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(runs, "DELAY", 0)
    runs.run(TOY, cache=False, progress=True)
    assert "toy:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scale": "papers"}, "scale must be one of 'quick', 'paper'"),
        ({"jobs": 0}, "jobs must be >= 1, got 0"),
        ({"jobs": 1.5}, "jobs must be an integer"),
        ({"progress": "yes"}, "progress must be one of"),
        ({"experiment": "tyo"}, "name must be that of an experiment .*did you mean toy"),
        ({"experiment": 7}, "name must be a string"),
    ],
)
def test_arguments_are_checked(options, said):
    with pytest.raises((TypeError, ValueError), match=said):
        experiments.run(**{"experiment": "toy", **options})


# ------------------------------------------------------------------------------------------------
# Definitions, and changes of them
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scales": {"quick": toy.scale()}}, "scales must be quick and paper"),
        ({"axes": {"beta": Axis("1", "x")}}, r"among .*, got \['beta'\]"),
        ({"variables": {"one": Variable("1", "x", ("beta",))}}, r"got \['beta'\]"),
        ({"variables": {"alpha": Variable("1", "x")}}, "must differ"),
        ({"seed": -1}, "seed must be >= 0"),
    ],
)
def test_definition_is_checked(changes, said):
    with pytest.raises(ValueError, match=said):
        toy.experiment(**changes)


def test_scale_and_variable_are_checked():
    with pytest.raises(ValueError, match="samples must be >= 1"):
        toy.scale(0)
    with pytest.raises(ValueError, match="alpha must hold values that differ"):
        toy.scale(grid={"alpha": (0.5, 0.5)})
    with pytest.raises(ValueError, match="alpha must hold values that differ"):
        toy.scale(grid={"alpha": 0.5})
    with pytest.raises(ValueError, match="dtype must be one of 'float64', 'int32', 'bool'"):
        Variable("1", "x", dtype="int64")
    given = toy.scale(grid={"alpha": np.array([0.5, 1.0])}, settings={"a": np.arange(2)})
    assert (given.grid, given.settings) == ({"alpha": [0.5, 1.0]}, {"a": [0, 1]})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "sample must return mean, curve, positive, converged"),
        ({"mean": [1.0]}, r"mean must be float64 of shape \(\), got float64 of shape \(1,\)"),
        ({"curve": [1.0]}, r"curve must be float64 of shape \(3,\)"),
        ({"positive": 0.5}, "positive must be int32 of shape"),
        ({"positive": 2**40}, "positive must fit into int32"),
        ({"converged": 1}, "converged must be bool"),
    ],
)
def test_values_that_were_not_declared_are_refused(found, said):
    good = {"mean": 1.0, "curve": np.zeros(3), "positive": 1, "converged": True}
    values = good | found if found else {}
    task = toy.experiment(sample=lambda *_: values).as_task("quick", {"alpha": 0.5}, 0)
    with pytest.raises(ValueError, match=said):
        task.compute()


def test_a_change_is_where_it_belongs_and_the_rest_stays():
    texts = ["N=11", "loads=1/2,0.75", "recipe.eta=0.25", "step=1,3,4", "samples=1", "seed=8"]
    own = experiments.changed(TOY, texts)
    given = {"N": 11, "loads": [0.5, 0.75], "recipe.eta": 0.25}
    given |= {"step": [1, 3, 4], "samples": 1, "seed": 8}
    assert experiments.changed(TOY, given) == own
    chosen, before = own.scale("quick"), TOY.scale("quick")
    assert chosen.grid == {"alpha": [0.5, 0.75], "form": ["exact", "expanded"]}
    assert chosen.settings == {"N": 11, "units": 3, "recipe": {"eta": 0.25, "form": "exact"}}
    assert (chosen.coordinates, chosen.samples, own.seed) == ({"step": [1, 3, 4]}, 1, 8)
    assert before.settings["recipe"]["eta"] == 0.5
    assert own.scale("paper") == TOY.scale("paper")
    assert set(experiments.settable(TOY)) == {
        *("alpha", "form", "N", "units", "recipe.eta", "recipe.form", "step", "samples", "seed")
    }
    one = experiments.changed(TOY, {"alpha": 0.5})
    assert one.archive_name == "toy--alpha=0.5"
    assert experiments.changed(TOY, {"form": ["ex/act"]}).archive_name.startswith("toy--")
    point = {"alpha": 0.5, "form": "exact"}
    mine, book = (each.as_task("quick", point, 1).compute() for each in (one, TOY))
    assert all(np.array_equal(mine[name], book[name]) for name in mine), "it shares its samples"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"M": 3}, "a setting of toy at the quick scale must be one of alpha, form, N"),
        ({"lods": 3}, "must be one of"),
        ({"N": 1.5}, "N must be a whole number"),
        ({"N": True}, "N must be a whole number"),
        ({"alpha": "x"}, "alpha must be a number"),
        ({"alpha": []}, "alpha must hold at least one value"),
        ({"alpha": [0.5, 0.5]}, "alpha must hold values that differ"),
        ({"alpha": 1.0, "loads": 2.0}, "alpha is set twice"),
        ({"samples": 0}, "samples must be >= 1"),
        (["N"], "a setting must be NAME=VALUE"),
        (["N=x"], "N must be a whole number .such as 31., got 'x'"),
        ("N=3", "settings must be a dict"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(settings, said):
    with pytest.raises((TypeError, ValueError), match=said):
        experiments.changed(TOY, settings)


def test_an_own_experiment_is_run_listed_and_loaded(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path))
    assert cli.main(["run", "toy", "--set", "N=11", "--set", "loads=0.5"]) == 0
    assert "toy--alpha=0.5--N=11: 4 of 4 samples" in capsys.readouterr().out
    assert cli.main(["list"]) == 0
    assert "toy--alpha=0.5--N=11.quick.nc  complete" in capsys.readouterr().out
    data = experiments.load("toy", scale="quick", settings={"N": 11, "loads": [0.5]})
    assert json.loads(data.attrs["changes"]) == {"alpha": [0.5], "N": 11}
    again = experiments.load("toy--alpha=0.5--N=11", tmp_path, scale="quick")
    assert data.identical(again)
    (found,) = experiments.check("toy--alpha=0.5--N=11", scale="quick", samples=1)
    assert found.agrees
    assert cli.main(["run", "toy", "--set", "M=3"]) == 2
    assert "must be one of alpha" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------
# Archives
# ------------------------------------------------------------------------------------------------


def test_an_archive_says_where_it_comes_from(tmp_path, reference):
    path = experiments.run("toy", "paper", output=tmp_path).path
    data = experiments.load("toy", tmp_path)
    assert path == tmp_path / "toy.nc"
    assert arrays(data).identical(arrays(reference))
    assert data["mean"].attrs == {"units": "1", "long_name": "mean of the numbers"}
    assert data["alpha"].attrs == {"units": "1", "long_name": "patterns per weight"}
    told = data.attrs
    assert json.loads(told["settings"])["N"] == 31
    assert (told["seed"], told["scale"], told["samples_done"]) == ("7", "paper", 30)
    assert set(json.loads(told["versions"])) == {"python", "numpy", "scipy", "numba", "wfmlib"}
    for name in ("commits", "processors"):
        assert list(json.loads(told[name]).values()) == [30]
    assert told["seconds"].shape == (30,)
    assert np.all(told["seconds"] >= 0.0)
    sums = (tmp_path / "registry.txt").read_text()
    assert sums == f"toy.nc {hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def test_any_flipped_bit_of_an_archive_is_refused(tmp_path):
    path = experiments.run("toy", output=tmp_path).path
    content = path.read_bytes()
    for bit in np.linspace(0, 8 * len(content) - 1, 60).astype(int):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(DamagedArchiveError, match="has not the SHA-256 of the registry"):
            experiments.load("toy", tmp_path, scale="quick")
    (tmp_path / "registry.txt").unlink()
    path.write_bytes(b"CDF")
    with pytest.raises(DamagedArchiveError, match="is no archive"):
        experiments.load("toy", tmp_path, scale="quick")


def test_damaged_archives_of_the_book_are_refused_wherever_they_lie(tmp_path, monkeypatch):
    content = bytearray((RESULTS / "bp-entropy.nc").read_bytes())
    content[-1] ^= 1
    (tmp_path / "book" / "results").mkdir(parents=True)
    path = tmp_path / "book" / "results" / "bp-entropy.nc"
    path.write_bytes(content)
    with pytest.raises(DamagedArchiveError):
        experiments.load("bp-entropy")
    with pytest.raises(ArchiveError, match=r"^its archive bp-entropy\.nc is damaged") as caught:
        experiments.complete("bp-entropy")
    assert not caught.value.absent
    content[-1] ^= 1
    path.write_bytes(content)
    assert experiments.complete("bp-entropy").sizes["alpha"] == 15


def test_where_archives_are(tmp_path, monkeypatch):
    assert experiments.results_folder() is None
    with pytest.raises(FileNotFoundError, match=r"WFMLIB_RESULTS.*`wfm run toy --scale paper`"):
        experiments.load("toy")
    (tmp_path / "book" / "deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "book" / "deeper")
    assert experiments.results_folder() is None
    (tmp_path / "_toc.yml").touch()  # here is the book: its results need not be there yet
    assert experiments.results_folder() == tmp_path / "book" / "results"
    with pytest.raises(FileNotFoundError, match=r"no archive .*quick\.nc: `wfm run toy` makes it"):
        experiments.load("toy", scale="quick")
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "mine"))
    assert experiments.results_folder() == tmp_path / "mine"
    with pytest.raises(ArchiveError, match=r"its archive toy\.nc is not here: `wfm run toy") as no:
        experiments.complete("toy")
    assert no.value.absent


def test_list_says_what_is_there(capsys, tmp_path, monkeypatch):
    def state(*words):
        status = cli.main(["list", *words])
        lines = capsys.readouterr().out.splitlines()
        (line,) = [line for line in lines if line.startswith("toy ")]
        return status, line.split("30  ")[1]

    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path))
    assert state() == (0, "none")
    (tmp_path / "fail").touch()
    assert cli.main(["run", "toy", "--scale", "paper"]) == 1
    told = capsys.readouterr()
    assert "toy: 25 of 30 samples, 25 of them computed now" in told.out
    assert "5 of 30 samples failed:\n  alpha=0.75, form=exact, sample 0: Runtime" in told.err
    assert state("--folder", str(tmp_path)) == (0, "25 of 30")
    (tmp_path / "fail").unlink()
    assert cli.main(["run", "toy", "--scale", "paper"]) == 0
    assert state("--chapter", "7") == (0, "complete")
    with monkeypatch.context() as patch:
        patch.setattr(toy, "EXPERIMENT", toy.experiment(version=2))
        assert state() == (0, "of another definition")
        with pytest.raises(ArchiveError, match="belongs to another definition"):
            experiments.complete("toy")
    (tmp_path / "toy.nc").write_bytes(b"CDF")
    assert state() == (1, "damaged")


def test_nowhere_to_write_is_told_before_anything_runs(capsys, tmp_path):
    (tmp_path / "file").touch()
    assert cli.main(["run", "toy"]) == 2
    assert "give one with --output or set WFMLIB_RESULTS" in capsys.readouterr().err
    assert cli.main(["run", "toy", "--output", str(tmp_path / "file")]) == 1
    assert "File exists" in capsys.readouterr().err
    assert kept(tmp_path) == []


# ------------------------------------------------------------------------------------------------
# From the book's site
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Serve a built site with the toy's archive, whose SHA-256 the package knows."""
    pages, asked = tmp_path / "site", []
    path = experiments.run("toy", "paper", output=pages / "files" / "archives").path
    registry = tmp_path / "known.txt"
    registry.write_text((path.parent / "registry.txt").read_text())
    (path.parent / "registry.txt").unlink()
    monkeypatch.setattr(runs, "REGISTRY", registry)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, form, *args):
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=pages)) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{httpd.server_port}"
        yield SimpleNamespace(address=address, asked=asked, path=path, pages=pages)
        httpd.shutdown()


def test_an_archive_is_fetched_once(site, monkeypatch, capsys):
    monkeypatch.setenv("WFMLIB_SITE", site.address)
    wanted = runs.read(site.path)
    assert cli.main(["list"]) == 0
    assert "on the site" in capsys.readouterr().out
    assert site.asked == []
    assert experiments.load("toy").identical(wanted)
    assert site.asked == ["/files/archives/toy.nc"]
    monkeypatch.setenv("WFMLIB_SITE", "http://127.0.0.1:1")  # from here on nobody listens
    assert experiments.load("toy").identical(wanted)
    monkeypatch.delenv("WFMLIB_SITE")
    assert experiments.load("toy").identical(wanted)
    assert experiments.fetch("toy") is None
    assert capsys.readouterr() == ("", ""), "nothing is said while all goes well"
    monkeypatch.setenv("WFMLIB_SITE", site.address)
    path = experiments.find("toy")
    path.write_bytes(path.read_bytes()[:-1])  # damaged: fetched again
    assert experiments.load("toy").identical(wanted)
    assert site.asked == 2 * ["/files/archives/toy.nc"]


@pytest.mark.parametrize("given", ["path", "uri", "page"])
def test_the_site_may_be_a_folder(site, monkeypatch, given):
    named = {"path": site.pages, "uri": site.pages.as_uri(), "page": site.pages / "index.html"}
    monkeypatch.setenv("WFMLIB_SITE", str(named[given]))
    assert experiments.load("toy").identical(runs.read(site.path))
    site.path.write_bytes(site.path.read_bytes()[:-1])
    with pytest.raises(DamagedArchiveError):
        experiments.load("toy")
    site.path.unlink()
    with pytest.raises(FileNotFoundError, match="where WFMLIB_SITE leads"):
        experiments.load("toy")


def test_the_address_is_that_of_the_wheel(site, monkeypatch):
    noted = {"url": f"{site.address}/files/wfmlib-1-py3-none-any.whl"}
    told = SimpleNamespace(read_text=lambda name: json.dumps(noted))
    monkeypatch.setattr(experiments.importlib.metadata, "distribution", lambda name: told)
    assert experiments.load("toy").identical(runs.read(site.path))
    experiments.find("toy").unlink()
    noted["url"] = "file:///home/me/dist/wfmlib-1-py3-none-any.whl"
    with pytest.raises(FileNotFoundError, match="set WFMLIB_SITE to the address"):
        experiments.load("toy")


def test_what_is_wrong_with_the_site_is_said(site, monkeypatch, capsys):
    for address, why in (
        ("http://127.0.0.1:1", r"does not give it \(ConnectionError\)"),
        (f"{site.address}/book", "404 Client Error: File not found"),
    ):
        monkeypatch.setenv("WFMLIB_SITE", address)
        with pytest.raises(FileNotFoundError, match=rf"^toy\.nc is not here, and http.*{why}"):
            experiments.load("toy")
    assert experiments.fetch("toy") is None, "a notebook goes on"
    assert "Or `wfm run toy --scale paper` makes it" in capsys.readouterr().out
    runs.REGISTRY.write_text(f"toy.nc {'0' * 64}\n")
    monkeypatch.setenv("WFMLIB_SITE", site.address)
    with pytest.raises(FileNotFoundError, match="does not match the known hash"):
        experiments.load("toy")


# ------------------------------------------------------------------------------------------------
# Checking archives
# ------------------------------------------------------------------------------------------------


def test_check_notices_a_wrong_archive(capsys, tmp_path, monkeypatch):
    words = ["check", "toy", "--folder", str(tmp_path), "--samples", "4", "--seed", "1"]
    path = experiments.run("toy", "paper", output=tmp_path).path
    right = runs.read(path)
    assert cli.main(words) == 0
    assert capsys.readouterr().out.count(": equal: agrees") == 4
    for name, change in (("mean", 1e-3), ("positive", 1), ("curve", math.nan)):
        wrong = right.copy(deep=True)
        wrong[name][:] = wrong[name].values + change
        runs.save(wrong, path)
        assert cli.main(words) == 1
        assert f"another value of {name}: differs" in capsys.readouterr().out
    lax = Agreement(rtol=0.0, atol=2e-3, why="for once")
    near = right.assign(mean=right["mean"] + 1e-3)
    found = runs.check(replace(TOY, agreement=lax), near, seed=1)
    assert [(round(one.excess, 3), one.agrees) for one in found] == [(0.5, True)] * 3
    assert cli.main(["check"]) == 2
    assert cli.main(["check", "toy"]) == 1
    (tmp_path / "fail").touch()
    found = runs.check(TOY, right.sel(alpha=right.alpha), samples=30)
    assert sum(isinstance(one, runs.Failure) for one in found) == 5


def test_a_chaotic_path_may_end_elsewhere_but_not_anywhere(reference):
    chaotic = replace(TOY, agreement=Agreement(chaotic=True, why="for once"))
    other = reference.copy(deep=True)
    other["mean"][:] = np.roll(other["mean"].values, 1, axis=2)
    found = runs.check(chaotic, other, samples=30)
    assert all(one.agrees and one.chaotic and one.excess > 1.0 for one in found)
    other["mean"][:] = other["mean"].values + 10.0
    assert not any(one.agrees for one in runs.check(chaotic, other))
    other["mean"][:] = np.nan
    assert not any(one.agrees for one in runs.check(chaotic, other))


def test_time_bounds_what_is_drawn(reference):
    data = reference.copy()
    data.attrs["seconds"] = np.arange(30.0) + 1.0
    found = runs.check(TOY, data, samples=30, minutes=0.1)
    place = data["done"].shape
    assert len(found) <= 3, "1 + 2 + 3 seconds at most"
    (found,) = runs.check(TOY, data, minutes=0.0)
    assert str(found.task) == "alpha=0.25, form=exact, sample 0", place
    with pytest.raises(ValueError, match="samples must be >= 1"):
        runs.check(TOY, data, samples=0)
    with pytest.raises(ValueError, match="the archive holds no sample of toy as it is defined"):
        runs.check(toy.experiment(version=2), data)


# ------------------------------------------------------------------------------------------------
# The archives of the book
# ------------------------------------------------------------------------------------------------

BOOK = [name for name in experiments.names() if name != "toy"]


def test_the_registry_is_that_of_the_archives():
    there = {path.name: path for path in RESULTS.glob("*.nc") if path.name.count(".") == 1}
    found = {name: hashlib.sha256(one.read_bytes()).hexdigest() for name, one in there.items()}
    assert runs.sums(runs.REGISTRY) == {k: v for k, v in found.items() if runs.MARK not in k}
    assert runs.registry(RESULTS / "bp-entropy.nc") == runs.REGISTRY
    for name in ("bp-entropy.quick.nc", "bp-entropy--N=11.nc"):
        assert runs.registry(RESULTS / name) == RESULTS / "registry.txt"


@pytest.mark.parametrize("name", BOOK)
def test_an_archive_is_whole_and_of_its_experiment(name):
    data, experiment = experiments.load(name, RESULTS), experiments.get(name)
    assert experiment.name == name
    assert runs.is_current(data, experiment, "paper")
    assert data["done"].all()
    assert len(data.attrs["seconds"]) == data["done"].size
    assert data.attrs["samples_failed"] == "{}"


def quick_samples():
    """Return the archives that have a sample of at most `WITHIN` seconds, and what is theory.

    Of the latter `test_samples` computes none.
    """
    every = {name: experiments.load(name, RESULTS).attrs["seconds"].min() for name in BOOK}
    return [name for name, seconds in every.items() if seconds < WITHIN or name in THEORY]


@pytest.mark.parametrize("name", quick_samples())
def test_a_sample_computed_anew_is_that_of_the_archive(name):
    if name.startswith("image-") and not os.environ.get("WFMLIB_DATA"):
        pytest.skip("it needs the pictures of Fashion-MNIST, in the folder WFMLIB_DATA")
    if name == "picture-optimisers":
        pytest.importorskip("torch", reason="picture-optimisers needs the extra torch")
    (found,) = experiments.check(name, RESULTS, minutes=0.0)
    assert found.agrees, found
