"""The digest of the code that makes a sample: which edits it notices, and which it does not."""

import ast
import shutil
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest

import wfmlib
from tests import toy_experiment as toy
from wfmlib.book import experiments
from wfmlib.runs import digest

PACKAGE = Path(wfmlib.__file__).parent
NAMES = tuple(name for name in experiments.names() if name != "toy")
FOCUSING = {name for name in NAMES if name.startswith("fbp-")} | {"image-focusing"}
IMAGES = {"image-minima", "image-training-sets", "image-volume"}
WITH_FOCUSING = IMAGES | {"committee-reach", "slow-growth", "tree-minima"}
ANNEALING = {name for name in NAMES if "annealing" in name}
TRAINED = IMAGES | {"committee-reach", "elal-replicas", "slow-growth", "tree-minima"}


BYSTANDERS = ("annealing-losses", "binary-networks", "bp-entropy", "image-volume", "tree-minima")


class Edited(digest.Sources):
    """The sources of the package with an edit in one file; files are parsed once for all."""

    parsed: ClassVar = {}

    def __init__(self, file=None, old="", new=""):
        super().__init__({"wfmlib": PACKAGE})
        self.edit = file and PACKAGE / file, old, new

    def _tree(self, path):
        file, old, new = self.edit
        if path != file:
            if path not in self.parsed:
                self.parsed[path] = super()._tree(path)
            return self.parsed[path]
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} no longer has {old!r}: choose another edit"
        return ast.parse(text.replace(old, new, 1))


def digests(sources, names):
    """Return the digest of what each experiment reaches."""
    return {
        name: sources.digest((one.sample.__module__, one.sample.__qualname__), *digest.FRAME)
        for name in names
        for one in [experiments.get(name)]
    }


@pytest.fixture(scope="module")
def before():
    return digests(Edited(), NAMES)


def noticed(before, sources, names):
    """Return those of the experiments whose digest is another one."""
    return {name for name, found in digests(sources, names).items() if found != before[name]}


@pytest.mark.parametrize(
    ("file", "old", "new", "those"),
    [
        # a kernel, a class of messages, a kernel that only an overload leads to
        ("learning/messages/spherical_messages.py", "at = 0.5 * (low + high)",
         "at = 0.4 * (low + high)", FOCUSING),
        ("learning/messages/sweeps.py", "np.ones((units, 1))", "np.zeros((units, 1))", FOCUSING),
        ("learning/annealing/moves.py", "state.agree[row, word] ^", "~state.agree[row, word] ^",
         ANNEALING),
        # schedules
        ("learning/descent/schedules.py", "beta_growth=2e-4", "beta_growth=4e-4", WITH_FOCUSING),
        ("learning/messages/protocols.py", "np.geomspace(first", "np.linspace(first", FOCUSING),
        # default arguments
        ("learning/messages/focusing_bp.py", "Damping = 0.5", "Damping = 0.4", FOCUSING),
        ("learning/descent/entropic_least_action.py", "= 20,", "= 10,", TRAINED),
        # recipes, and how samples are seeded
        ("book/experiments/bp_entropy.py", "point[\"alpha\"] * N)", "0.9 * point[\"alpha\"] * N)",
         {"bp-entropy"}),
        ("runs/experiment.py", "key = (sample,)", "key = (sample + 1,)", set(NAMES)),
    ],
)  # fmt: skip
def test_edits_of_what_samples_depend_on_are_noticed(before, file, old, new, those):
    assert noticed(before, Edited(file, old, new), those) == those


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("learning/messages/focusing_bp.py", "from __future__", "# a comment\nfrom __future__"),
        ("learning/descent/least_action.py", "for p in np.flatnonzero", "for a in np.flatnonzero"),
        ("learning/descent/schedules.py", '"""The values that', '"""The numbers that'),
        ("numerics/arguments.py", "must be a real number", "must be some real number"),
        ("book/experiments/bp_entropy.py", "largest change of the messages", "largest change"),
        ("book/experiments/bp_entropy.py", "samples=10", "samples=20"),
        ("book/experiments/bp_entropy.py", 'title="', 'title="The '),
        ("book/experiments/annealing_losses.py", "def sample(settings, point, seed):",
         "def sample(settings: dict, point: dict, seed) -> dict:"),
        ("book/claims.py", "import difflib", "import difflib\nLEVEL = 0.05"),
        ("book/display/palette.py", "from __future__", "COLOUR = 1\nfrom __future__"),
        ("theory/typical/entropy.py", "from __future__", "SIZE = 1\nfrom __future__"),
        ("datasets/download.py", "from __future__", "PATIENCE_OF = 1\nfrom __future__"),
    ],
)  # fmt: skip
def test_other_edits_change_nothing(before, file, old, new):
    assert file in {one.relative_to(PACKAGE).as_posix() for one in PACKAGE.rglob("*.py")}
    assert noticed(before, Edited(file, old, new), BYSTANDERS) == set()


def test_a_definition_may_move(before, tmp_path):
    """What counts is what a name stands for, not the file that has it."""
    copy = tmp_path / "wfmlib"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.move(copy / "learning/messages/protocols.py", copy / "learning/couplings.py")
    for path in copy.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("learning.messages.protocols", "learning.couplings"), "utf-8")
    sources = digest.Sources({"wfmlib": copy})
    assert noticed(before, sources, ("fbp-perceptron", "image-volume")) == set()


def test_kernels_are_followed():
    """Of what an experiment reaches there are the algorithm and its kernels, by name."""
    for name, expected in {
        "replicated-annealing": {"_energy_change_packed", "_flip_dense", "noisy_errors"},
        "image-volume": {"focusing_bp", "_epoch", "descend", "local_entropy", "dress_coat"},
        "binary-networks": {"binary_sgd", "match_layers", "error_profile", "cifar10"},
    }.items():
        one = experiments.get(name)
        sources = digest.Sources({"wfmlib": PACKAGE})
        found = sources.reached((one.sample.__module__, one.sample.__qualname__))
        missing = expected - {definition for _, definition in found}
        assert not missing, f"{name} does not reach {missing}"


# ------------------------------------------------------------------------------------------------
# Small packages
# ------------------------------------------------------------------------------------------------


def package(folder, **modules):
    """Write a package `p` of these modules; return the digest of its `main.sample`."""
    folder.mkdir(exist_ok=True)
    for name, text in {"__init__": "", **modules}.items():
        (folder / f"{name}.py").write_text(text)
    return digest.Sources({"p": folder}).digest(("p.main", "sample"))


USES = "from p import other\nfrom p.other import used\ndef sample(x):\n    return used(x)\n"


@pytest.mark.parametrize(
    ("main", "first", "second", "changes"),
    [
        (USES, "def used(x): return x", "def used(x): return x + 1", True),
        (USES, "def used(x): return x", "def used(x): return x\ndef free(x): return 1", False),
        (USES, "A = 1\ndef used(x): return A", "A = 2\ndef used(x): return A", True),
        (USES, "A = 1\ndef used(A): return A", "A = 2\ndef used(A): return A", False),
        (USES, "A = []\nA.append(1)\ndef used(x): return A",
         "A = []\nA.append(2)\ndef used(x): return A", True),
        (USES, "if True:\n    used = abs", "if True:\n    used = max", True),
        (USES, "def used(x=1): return x", "def used(x=2): return x", True),
        (USES, "def used(x): return [A for A in x]\nA = 1",
         "def used(x): return [A for A in x]\nA = 2", False),
        (USES, "from math import exp as f\ndef used(x): return f(x)",
         "from math import log as f\ndef used(x): return f(x)", True),
        (USES, "def used(x): raise ValueError('a')", "def used(x): raise ValueError(f'{x}')",
         False),
        (USES, "def used(x): raise ValueError(1)", "def used(x): raise ValueError(2)", True),
        (USES, "def used(x):\n    'a'\n    return 'a'", "def used(x):\n    'b'\n    return 'a'",
         False),
        (USES, "def used(x):\n    'a'\n    return 'a'", "def used(x):\n    'a'\n    return 'b'",
         True),
        ("from p import other\ndef sample(x): return other.f(x)",
         "def f(x): return 1\ndef g(x): return 1", "def f(x): return 1\ndef g(x): return 2",
         False),
        ("from p import other\ndef sample(x): return vars(other)[x]",
         "def f(x): return 1\ndef g(x): return 1", "def f(x): return 1\ndef g(x): return 2",
         True),
        ("def sample(x):\n    from p import other as o\n    return o.f(x)",
         "def f(x): return 1", "def f(x): return 2", True),
        ("import p.other\nclass A:\n    b = p.other.B\ndef sample(x): return A()",
         "class B:\n    def f(self): return 1", "class B:\n    def f(self): return 2", True),
    ],
)  # fmt: skip
def test_names_are_followed(tmp_path, main, first, second, changes):
    found = [package(tmp_path / "p", main=main, other=text) for text in (first, second)]
    assert (found[0] != found[1]) == changes


def test_swapped_names_are_noticed(tmp_path):
    both = "def one(x): return x\ndef two(x): return -x"
    call = "def sample(x): return a(x) - b(x)"
    found = [
        package(tmp_path / "p", main=f"from p.other import {names}\n{call}", other=both)
        for names in ("one as a, two as b", "one as b, two as a")
    ]
    assert found[0] != found[1]


# ------------------------------------------------------------------------------------------------
# Experiments
# ------------------------------------------------------------------------------------------------


def test_recipe_counts():
    longer = {"quick": toy.scale(settings={"N": 33}), "paper": toy.scale(3)}
    assert digest.of(toy.EXPERIMENT, "quick") != digest.of(toy.experiment(scales=longer), "quick")
    more = toy.experiment(scales={"quick": toy.scale(7), "paper": toy.scale(5)})
    assert digest.of(toy.EXPERIMENT, "quick") == digest.of(more, "quick")


def test_function_without_sources_has_no_digest(monkeypatch):
    monkeypatch.setattr(toy.sample, "__module__", "__main__")
    monkeypatch.setitem(sys.modules, "__main__", object())
    assert digest.of(toy.EXPERIMENT, "quick") is None


def test_all_digests_take_a_second():
    """Measured 0.9 s of processor time; the limit leaves room for slower machines."""
    start = time.process_time()
    digests(digest.Sources({"wfmlib": PACKAGE}), NAMES)
    assert time.process_time() - start < 10.0
