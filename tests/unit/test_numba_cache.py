"""Where compiled kernels are kept, and what happens where nothing can be kept."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from wfmlib import _numba_cache

CODE = "import os, wfmlib; print(os.environ['NUMBA_CACHE_DIR'])"


SWEEPS = """
import hashlib, sys
from wfmlib import patterns
from wfmlib.learning.belief_propagation import prepare
from wfmlib.theory import Binary, Spherical

xi, sigma = patterns.random(61, 99, 1)
found = {}
for name in sys.argv[1:]:
    kind, form, strength = name.split()
    weights = {"binary": Binary(), "spherical": Spherical()}[kind]
    engine = prepare(xi, sigma, 1, True, weights, form, "exact", None, 1)
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
    monkeypatch.setattr(_numba_cache, "__file__", str(tmp_path / "_numba_cache.py"))
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
