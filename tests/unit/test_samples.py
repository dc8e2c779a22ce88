"""Every experiment's sample is computed on a tiny case, its code followed as it runs."""

import sys
from pathlib import Path

import numpy as np
import pytest

import wfmlib
from wfmlib.book import experiments
from wfmlib.runs import digest

PACKAGE = Path(wfmlib.__file__).parent
NAMES = tuple(name for name in experiments.names() if name != "toy")


def first_samples(name):
    """Return the tasks of the first sample at every point of the quick scale."""
    one = experiments.get(name)
    return [task for task in experiments.tasks(one, "quick") if task.sample == 0]


class Followed:
    """The functions of the package that run, by file and name, while it is entered."""

    def __init__(self):
        self.codes = set()

    def __enter__(self):
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _note(self, frame, event, argument):
        if event == "call":
            self.codes.add(frame.f_code)

    def functions(self):
        found = set()
        for code in self.codes:
            path = Path(code.co_filename)
            if path.is_relative_to(PACKAGE):
                parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
                name = code.co_qualname.partition(".")[0]
                if name != "_":  # registered with a dispatcher, whose digest has it
                    found.add((".".join(parts), name))
        return found


@pytest.mark.parametrize("name", NAMES)
def test_sample_runs_and_is_followed(name):
    """What it yields is as declared, repeats itself, and no function ran that is not followed.

    Of compiled kernels the profiler sees what NumPy code calls them; those are followed by name.
    """
    tasks = first_samples(name)
    found = [task.compute() for task in tasks]  # kernels are compiled: the profiler would crawl
    with Followed() as followed:
        again = tasks[0].compute()
    for values in found:
        assert set(values) == set(experiments.get(name).variables)
        numbers = [one[np.isfinite(one)].size for one in values.values()]
        assert sum(numbers) > len(numbers) / 2
    for variable, value in found[0].items():
        np.testing.assert_array_equal(value, again[variable], err_msg=variable)

    one = experiments.get(name)
    sources = digest.Sources({"wfmlib": PACKAGE})
    start = one.sample.__module__, one.sample.__qualname__
    reached = {(module, text.partition(".")[0]) for module, text in sources.reached(start)}
    ran = {
        (module, function)
        for module, function in followed.functions()
        if module not in digest.NOT_FOLLOWED and not function.startswith("<")
    } - {("wfmlib.numerics._validate", "choice")}  # of the scale: `Experiment` asks
    assert ran
    assert ran <= reached, f"not followed: {sorted(ran - reached)}"


SOLVED = {
    "band-reach": ("solved", 0.5),
    "cluster-reach": ("solved", 0.5),
    "bp-entropy": ("converged", 0.5),
    "committee-reach": ("solved", 0.5),
    "fbp-committee": ("solved", 0.75),
    "fbp-perceptron": ("solved", 1.0),
    "fbp-local-entropy": ("solved", 1.0),
    "fbp-perceptron-success": ("solved", 0.5),
    "fbp-solve": ("solved", 0.5),
}


@pytest.mark.parametrize("name", SOLVED)
def test_tiny_cases_are_solved(name):
    """Far below capacity most runs succeed: a wrong sign, load or label would have none do."""
    variable, share = SOLVED[name]
    found = [float(task.compute()[variable]) for task in first_samples(name)]
    assert np.mean(found) >= share
