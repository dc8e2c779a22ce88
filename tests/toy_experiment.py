"""A small experiment for the tests, in a module that other processes can import.

Files in the folder that the environment's ``WFMLIB_TOY`` names steer it from outside: ``slow``
makes a sample take a tenth of a second; ``fail`` makes those at one point raise.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from wfmlib.book import cli, experiments
from wfmlib.book.runs import Axis, Experiment, Scale, Variable


def sample(settings, point, seed):
    """Return sums of random numbers."""
    told = Path(os.environ.get("WFMLIB_TOY", os.devnull))
    if (told / "slow").exists():
        time.sleep(0.1)
    if (told / "fail").exists() and point == {"alpha": 0.75, "form": "exact"}:
        raise RuntimeError("the toy broke\nin two lines")
    values = np.random.default_rng(seed).normal(size=settings["N"])
    settings["N"] = point["alpha"] = None  # its own copies
    return {
        "mean": values.mean(),
        "curve": np.cumsum(values)[:3] * settings["step"],
        "positive": int((values > 0).sum()),
        "converged": values[0] > 0,
    }


def threads(settings, point, seed):
    """Return how many threads a kernel of this process may use."""
    import threadpoolctl

    from wfmlib.numerics import _threads

    pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    return {"threads": max([_threads.available(), *pools])}


def vanish(settings, point, seed):
    """End the process that computes, as a system short of memory does."""
    os._exit(3)


def interrupt_kernel(settings, point, seed):
    """Be interrupted while a kernel runs, but not in the first sample."""
    if point["alpha"] > 0.25:
        raise SystemError("a result with an exception set") from KeyboardInterrupt()
    return {"mean": 1.0}


def scale(samples=2, **changes):
    given = {
        "grid": {"alpha": (0.25, 0.5, 0.75), "form": ("exact", "expanded")},
        "samples": samples,
        "settings": {"N": 31, "units": 3, "recipe": {"eta": 0.5, "form": "exact"}},
        "coordinates": {"step": (1, 2, 4)},
    }
    return Scale(**given | changes)


def experiment(**changes):
    given = {
        "name": "toy",
        "title": "Sums of random numbers",
        "source": "no paper",
        "chapter": 7,
        "scales": {"quick": scale(2), "paper": scale(5)},
        "variables": {
            "mean": Variable("1", "mean of the numbers"),
            "curve": Variable("nats", "partial sums", dims=("step",)),
            "positive": Variable("1", "how many are positive", dtype="int32"),
            "converged": Variable("1", "whether the first is positive", dtype="bool"),
        },
        "axes": {"alpha": Axis("1", "patterns per weight")},
        "sample": sample,
        "seed": 7,
    }
    return Experiment(**given | changes)


def single(function, name, dtype="float64"):
    """Return an experiment that measures one number."""
    return experiment(variables={name: Variable("1", name, dtype=dtype)}, sample=function)


EXPERIMENT = experiment()

if __name__ == "__main__":  # be `wfm`, with this experiment
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored
    experiments.MODULES["toy"] = "tests.toy_experiment"
    sys.exit(cli.main())
