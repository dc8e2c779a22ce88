"""The files of finished samples: one each, in the user's cache.

A file is a line with the SHA-256 of what follows, then JSON. It appears under its name only when
it is complete (written beside, synchronised, renamed), so a run may be killed at any moment. It
says whose it is (experiment, definition, scale, point, sample) and which code made it: a file that
came under another's name is refused, and its sample is computed anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DAY = 86400  # seconds


@dataclass(frozen=True)
class Record:
    """What a finished sample left.

    Attributes
    ----------
    values : dict of str to ndarray
        What it yielded.
    seconds : float
        How long it took.
    processor : str
        On what.
    commit : str or None
        The state of the sources that computed it, where known.
    code : str or None
        The digest of the code that computed it (`digest.of`), where known: samples that were
        finished before digests were kept have none.
    """

    values: dict
    seconds: float
    processor: str
    commit: str | None
    code: str | None = None


class DamagedSampleError(ValueError):
    """A file of a sample is not as it was written, or is that of another sample."""


class Store:
    """The finished samples of one experiment at one scale.

    Parameters
    ----------
    experiment : Experiment
        Whose samples.
    scale : str
        ``"quick"`` or ``"paper"``.
    folder : path, optional
        Where folders of samples are kept; the user's cache by default.
    """

    def __init__(self, experiment, scale, folder=None):
        self.experiment, self.scale = experiment, scale
        self.definition = experiment.definition(scale)  # settings, seed, variables, version
        base = cache_folder() if folder is None else Path(folder)
        self.folder = base / f"{experiment.name}-{scale}-{self.definition}"

    def path(self, task):
        """Return where the sample of a task is kept."""
        return self.folder / f"{task.key}.json"

    def prepare(self):
        """Make the folder, and find out whether it can be written to.

        Raises
        ------
        OSError
            If not.
        """
        check_writable(self.folder)
        for left in self.folder.glob("*.part"):  # of a run that was killed, not of one beside us
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > DAY:
                    left.unlink()

    def write(self, task, record):
        """Keep a finished sample."""
        body = self._owner(task) | {
            "seconds": record.seconds,
            "processor": record.processor,
            "commit": record.commit,
            "code": record.code,
            "values": {name: value.tolist() for name, value in record.values.items()},
        }
        text = json.dumps(body).encode()
        digest = hashlib.sha256(text).hexdigest().encode()
        write_atomically(self.path(task), digest + b"\n" + text)

    def _owner(self, task):
        """Return what says whose sample a file is."""
        return {
            "experiment": self.experiment.name,
            "scale": self.scale,
            "definition": self.definition,
            "task": [task.point, task.sample],
        }

    def read(self, task):
        """Return the `Record` of a task, None where it is not finished.

        Raises
        ------
        DamagedSampleError
            If the file is not as it was written, or is that of another sample.
        """
        path = self.path(task)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        digest, _, text = data.partition(b"\n")
        if hashlib.sha256(text).hexdigest().encode() != digest:
            raise DamagedSampleError(f"the file of a finished sample is damaged: {path}")
        try:
            body = json.loads(text)
            self._check(body, task)
            values = {
                name: np.array(body["values"][name], dtype=variable.dtype)
                for name, variable in self.experiment.variables.items()
            }
            checked = self.experiment.checked(self.scale, values)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise DamagedSampleError(
                f"the file of a finished sample cannot be used ({error}): {path}"
            ) from None
        return Record(
            checked, *(body[name] for name in ("seconds", "processor", "commit", "code"))
        )

    def _check(self, body, task):
        """Refuse what is not the sample of a task, or was not written by us.

        Raises
        ------
        ValueError
            Saying what is wrong.
        """
        if not isinstance(body, dict):
            raise ValueError("it is no object")
        for name, value in self._owner(task).items():
            if body.get(name) != value:
                raise ValueError(f"it is of another {name}")
        seconds = body.get("seconds")
        if not isinstance(seconds, float) or not 0.0 <= seconds < math.inf:
            raise ValueError("seconds is missing, or no time")
        for name in ("processor", "commit", "code"):
            if not isinstance(body.get(name, ...), str | None):
                raise ValueError(f"{name} is missing, or of the wrong kind")

    def forget(self, task):
        """Remove the file of a task."""
        self.path(task).unlink(missing_ok=True)


def cache_folder():
    """Return the folder of all finished samples, below the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "wfmlib" / "samples"


def check_writable(folder):
    """Make a folder, and find out whether it can be written to.

    Raises
    ------
    OSError
        If not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "writable", b"")
    (folder / "writable").unlink(missing_ok=True)


def write_atomically(path, data):
    """Write a file so that its name never stands for half of it.

    Raises
    ------
    OSError
        If it cannot be written, with `filename` set; what was there before is left as it was.
    """
    path = Path(path)
    part = path.with_name(f"{path.stem}-{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb") as file:  # with the permissions that new files have here
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        _synchronise(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError):
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


def _synchronise(folder):
    """Make a rename outlive a loss of power, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
