"""Where compiled kernels are kept, and what happens where nothing can be kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wfmlib.numerics import _numba_cache

CODE = "import os, wfmlib; print(os.environ['NUMBA_CACHE_DIR'])"


SWEEPS = """
import hashlib, sys
from wfmlib import patterns
from wfmlib.learning.messages.belief_propagation import prepare
from wfmlib.models import Binary, Perceptron, Spherical

xi, sigma = patterns.random(61, 99, rng=1)
found = {}
for name in sys.argv[1:]:
    kind, form, strength = name.split()
    weights = {"binary": Binary(), "spherical": Spherical()}[kind]
    engine = prepare(Perceptron(weights), xi, sigma, form, rng=1)
    engine.focus(float(strength), 10)
    for _ in range(10):
        engine.sweep(damping=0.5, in_place=True)
    found[name] = hashlib.sha256(engine.means().tobytes()).hexdigest()
print(sorted(found.items()))
"""


# Kind, form, coupling: with a strong one, edges lie too far apart for a series in some sweeps.
RUNS = ["binary expanded 0", "spherical expanded 0", "spherical exact 1000"]


def printed_by(code, *arguments, without=(), **env) -> str:
    """Return what a fresh process prints."""
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=inherited | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def folder_of(*without, **env) -> Path:
    """Return the folder that a fresh process chooses."""
    return Path(printed_by(CODE, without=without, **env))


def test_the_folder_is_named_after_the_sources(tmp_path):
    found = folder_of("NUMBA_CACHE_DIR", XDG_CACHE_HOME=str(tmp_path))
    assert found == tmp_path / "wfmlib" / f"numba-{_numba_cache.sources_hash()}"
    assert found.is_dir()
    found = folder_of("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", HOME=str(tmp_path))
    assert found.parent == tmp_path / ".cache" / "wfmlib"
    assert folder_of("XDG_CACHE_HOME", NUMBA_CACHE_DIR="", HOME=str(tmp_path)) == found


def test_the_name_changes_with_any_source(tmp_path, monkeypatch):
    (tmp_path / "theory").mkdir()
    names = set()
    monkeypatch.setattr(_numba_cache, "__file__", str(tmp_path / "numerics" / "_numba_cache.py"))
    for text in ("a = 1\n", "a = 2\n"):
        (tmp_path / "theory" / "one.py").write_text(text)
        names.add(_numba_cache.sources_hash())
    (tmp_path / "theory" / "one.py").rename(tmp_path / "theory" / "two.py")
    names.add(_numba_cache.sources_hash())
    assert len(names) == 3


def test_a_folder_that_the_user_chose_is_left_alone(tmp_path):
    assert folder_of(NUMBA_CACHE_DIR=str(tmp_path / "mine")) == tmp_path / "mine"


def test_a_home_that_cannot_be_written_to(tmp_path):
    """numba refuses to import a cached kernel without a folder; ours vanishes with the process."""
    (tmp_path / "home").write_text("a file, where no folder can be made")
    found = folder_of("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", HOME=str(tmp_path / "home"))
    assert found.name.startswith("wfmlib-")
    assert not found.exists()


def test_a_user_without_a_home(monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    kept = []
    monkeypatch.setattr(_numba_cache.atexit, "register", lambda *args, **_: kept.append(args))
    found = _numba_cache.usable_folder()
    assert found.is_dir()
    remove, folder = kept[0]
    assert folder == found
    remove(folder)


def test_folders_of_older_states_go_after_a_month(tmp_path):
    names = ("numba-old", "numba-recent", "numba-mine", "other")
    for name in names:
        (tmp_path / name).mkdir()
    month_ago = time.time() - 1.01 * _numba_cache.MONTH
    for name in ("numba-old", "numba-mine", "other"):
        os.utime(tmp_path / name, (month_ago, month_ago))
    _numba_cache.forget_old(tmp_path / "numba-mine")
    assert {path.name for path in tmp_path.iterdir()} == set(names) - {"numba-old"}


def test_compiled_and_loaded_kernels_agree_to_the_last_digit(tmp_path):
    """A process that compiles runs callees' own copies; one that loads need not have any."""
    env = {"NUMBA_CACHE_DIR": str(tmp_path)}
    compiled = printed_by(SWEEPS, *RUNS, **env)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    assert kept
    assert printed_by(SWEEPS, *RUNS, **env) == compiled
    assert printed_by(SWEEPS, *RUNS[::-1], **env) == compiled
    # the two did load
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}


# ------------------------------------------------------------------------------------------------
# Whose folder it is
# ------------------------------------------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions of POSIX")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Return the folder that is used by default, made by us."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(_numba_cache.atexit, "register", lambda *_, **__: None)
    return _numba_cache.usable_folder()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_nobody_else_can_write_where_kernels_are_kept(tmp_path):
    mask = os.umask(0)  # whatever the user's mask
    try:
        _numba_cache.make_own(tmp_path / "wfmlib" / "numba-1")
    finally:
        os.umask(mask)
    for folder in (tmp_path / "wfmlib", tmp_path / "wfmlib" / "numba-1"):
        assert mode(folder) & 0o022 == 0


@posix
@pytest.mark.parametrize("bit", [stat.S_IWGRP, stat.S_IWOTH])
def test_what_others_could_write_to_is_emptied_and_closed(mine, bit):
    (mine / "planted.nbi").touch()
    for folder in (mine.parent, mine):
        folder.chmod(mode(folder) | bit)
    assert _numba_cache.usable_folder() == mine
    assert not list(mine.iterdir())
    assert mode(mine) & 0o022 == mode(mine.parent) & 0o022 == 0


@posix
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_folders_of_another_user_are_not_used(mine, monkeypatch, depth):
    (mine / "kernel.nbi").touch()
    theirs = [mine, *mine.parents][depth].stat().st_ino
    stat_of = Path.stat

    def told(path, **options):
        found = list(stat_of(path, **options))
        found[4] += 1 if found[1] == theirs else 0
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", told)
    found = _numba_cache.usable_folder()
    assert found != mine
    monkeypatch.undo()
    assert mode(found) == 0o700
    assert not list(found.iterdir())
    assert (mine / "kernel.nbi").exists()


@posix
def test_a_cache_that_anyone_may_rename_is_not_used(mine, tmp_path):
    tmp_path.chmod(0o777)
    assert _numba_cache.usable_folder() != mine
    tmp_path.chmod(0o1777)  # as /tmp: others cannot rename what is ours
    assert _numba_cache.usable_folder() == mine


# ------------------------------------------------------------------------------------------------
# Full disks, damaged files
# ------------------------------------------------------------------------------------------------

KERNEL = """
from numba import njit


@njit(cache=True)
def shifted(x):
    return x + 41
"""

FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)  # as little as a full disk has
import os, tempfile
if sys.argv[2] == "nothing":
    def full(*_, **__):
        raise OSError(28, "No space left on device")
    tempfile.mkdtemp = full
import wfmlib, kernel
print(kernel.shifted(1), kernel.shifted(1.5), os.environ["NUMBA_CACHE_DIR"])
"""

DAMAGED = """
import importlib, os, pathlib, random
import wfmlib, kernel

def files():
    folder = pathlib.Path(os.environ["NUMBA_CACHE_DIR"])
    return {path: path.read_bytes() for path in folder.rglob("kernel.*.nb?")}

def misses():
    importlib.reload(kernel)
    assert kernel.shifted(1) == 42
    return sum(kernel.shifted.stats.cache_misses.values())

assert misses() == 1
whole, draw = files(), random.Random(20)
assert sorted(path.suffix for path in whole) == [".nbc", ".nbi"]
assert misses() == 0
found = []
for path, content in whole.items():
    for bit in draw.sample(range(8 * len(content)), 4):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        found.append(misses())
    for damaged in (b"", content[:-1], content[: len(content) // 2]):
        path.write_bytes(damaged)
        found.append(misses())
    path.unlink()
    found.append(misses())
    path.unlink()
    path.mkdir()
    found.append(misses())
    path.rmdir()
print(found, misses(), misses())
"""


@pytest.fixture
def kernel(tmp_path):
    """Return an environment with a module of one small kernel."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    root = str(Path(_numba_cache.__file__).parents[2])
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), root])}


@posix
@pytest.mark.parametrize("left", ["a little", "nothing"])
def test_a_full_disk_stops_neither_the_import_nor_a_kernel(tmp_path, kernel, left):
    env = kernel | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    printed = printed_by(FULL, "2048", left, without=("NUMBA_CACHE_DIR",), **env)
    whole, real, folder = printed.split()
    assert (whole, real) == ("42", "42.5")
    assert folder.startswith("/dev/null") if left == "nothing" else "wfmlib-" in folder
    assert not list(tmp_path.rglob("*.nb?"))


def test_damaged_kernels_are_compiled_anew(tmp_path, kernel):
    """Each flipped bit, cut or missing file costs one compilation, and no traceback."""
    env = kernel | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    printed = printed_by(DAMAGED, without=("NUMBA_CACHE_DIR",), **env)
    assert printed == f"{[1] * 18} 1 0"


def test_numba_alone_can_read_what_we_keep(tmp_path, kernel):
    code = "import kernel; kernel.shifted(1); print(*kernel.shifted.stats.cache_misses.values())"
    env = kernel | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert printed_by(f"import wfmlib, {code[7:]}", without=("NUMBA_CACHE_DIR",), **env) == "1"
    (folder,) = (tmp_path / "cache" / "wfmlib").glob("numba-*")
    found = printed_by(code, NUMBA_CACHE_DIR=str(folder), **kernel)
    assert found == ""  # no misses: none was counted
