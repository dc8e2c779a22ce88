"""The files of finished samples: one each, in the user's cache.

A file is a line with the SHA-256 of what follows, then JSON. It appears under its name only when
it is complete (written beside, synchronised, renamed), so a run may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
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
    """A file of a sample is not as it was written."""


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
        definition = experiment.definition(scale)
        base = cache_folder() if folder is None else Path(folder)
        self.folder = base / f"{experiment.name}-{scale}-{definition}"

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
        body = {
            "task": [task.point, task.sample],
            "seconds": record.seconds,
            "processor": record.processor,
            "commit": record.commit,
            "code": record.code,
            "values": {name: value.tolist() for name, value in record.values.items()},
        }
        text = json.dumps(body).encode()
        digest = hashlib.sha256(text).hexdigest().encode()
        write_atomically(self.path(task), digest + b"\n" + text)

    def read(self, task):
        """Return the `Record` of a task, None where it is not finished.

        Raises
        ------
        DamagedSampleError
            If the file is not as it was written.
        """
        path = self.path(task)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        digest, _, text = data.partition(b"\n")
        if hashlib.sha256(text).hexdigest().encode() != digest:
            raise DamagedSampleError(f"the file of a finished sample is damaged: {path}")
        body = json.loads(text)
        values = {
            name: np.array(body["values"][name], dtype=variable.dtype)
            for name, variable in self.experiment.variables.items()
        }
        checked = self.experiment.checked(self.scale, values)
        told = (body.get(name) for name in ("seconds", "processor", "commit", "code"))
        return Record(checked, *told)

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
    part = None
    try:
        handle, part = tempfile.mkstemp(prefix=f"{path.stem}-", suffix=".part", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
        _synchronise(path.parent)
    except BaseException as error:
        if part is not None:
            with contextlib.suppress(OSError):
                os.unlink(part)
        if isinstance(error, OSError):
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


def _umask():
    """Return the permissions that new files do without."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _synchronise(folder):
    """Make a rename outlive a loss of power, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
