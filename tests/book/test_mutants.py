"""`make mutants` finds what no test sees: shown on a toy package with a test for each outcome."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

from tools import mutants, mutations
from tools.reach import Reach

SOURCE = '''\
"""A toy: 1 + 1."""

WIDTH = 2.0


def area(length: int = 3) -> float:
    """Return WIDTH * length."""
    if length < 0:
        raise ValueError(f"{length - 1} < 0")
    return stretched(WIDTH, length)


def stretched(width, length):
    return width * length


def count(n):
    steps = 0
    while n > 0:
        n -= 1
        steps += 1
    return steps


def unseen():
    return 7
'''
TESTS = """\
import sys
import pytest
from wfmlib import toy

CASES = [(1, 2.0), (2, 4.0)]

@pytest.fixture
def counted():
    return toy.count(3)

@pytest.mark.parametrize(("length", "expected"), CASES)
def test_area(length, expected):
    assert toy.area(length) == expected

def test_broken():
    assert toy.area(1) == 0.0

def test_count(counted):
    assert counted == 3

def test_by_name():
    assert getattr(sys.modules["wfmlib.toy"], "unseen")()
"""
CHECKER = """\
from wfmlib.book.claim_checks import toy

def check(id):
    return f"{id}: {getattr(toy, 'bound')() > 0.0}"
"""
CHECK = """\
def bound():
    return -SHIFT + 2.0


SHIFT = 1.0
"""
LEDGER_TESTS = """\
import pathlib, tomllib
import pytest

CLAIMS = tomllib.loads(pathlib.Path("wfmlib/book/claims.toml").read_text())["claim"]

@pytest.mark.parametrize("id", [claim["id"] for claim in CLAIMS], ids=str)
def test_claim(id):
    assert id

def test_all():
    assert CLAIMS
"""
CLAIMS = """\
[[claim]]
id = "one"
compute = "bound"
[[claim]]
id = "two"
compute = "bound"
"""
LEDGER = b"""\
[[claim]]
id = "one"
source = { paper = "P3", at = "letter" }
quoted = 0.833
tolerance = 0.0005
compute = "first"
statement = "1 + 1 = 2."
expected = "differs"
[[claim]]
id = "two"
compute = "second"
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "LIMITS", {"test": 4, "session": 100})
    monkeypatch.setattr(mutants, "NEEDED", ("pytest",))
    roots = tmp_path / "tree", tmp_path / "clean"
    for name, text in (
        ("wfmlib/__init__.py", ""),
        ("wfmlib/toy.py", SOURCE),
        ("wfmlib/book/claims.py", CHECKER),
        ("wfmlib/book/claims.toml", CLAIMS),
        ("wfmlib/book/claim_checks/__init__.py", ""),
        ("wfmlib/book/claim_checks/toy.py", CHECK),
        ("tests/__init__.py", ""),
        ("tests/unit/test_ledger.py", LEDGER_TESTS),
        ("tests/unit/test_toy.py", TESTS),
    ):
        for root in roots:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    made = mutants.Tree(*roots)
    yield made
    made.close()


def one(kind, before, recipe=False, source=SOURCE):
    """Return the mutant of this kind and place."""
    found = mutations.of_source(source.encode(), "wfmlib/toy.py", recipe)
    (mutant,) = [one for one in found if (one.kind, one.before) == (kind, before)]
    return mutant


def test_each_mutant_is_another_program_that_still_parses():
    found = mutations.of_source(SOURCE.encode(), "wfmlib/toy.py")
    sources = {ast.dump(ast.parse(one.applied(SOURCE.encode()))) for one in found}
    assert len(sources) == len(found), "no two are the same"
    assert ast.dump(ast.parse(SOURCE)) not in sources
    changes = {(one.place, one.kind, one.before, one.after) for one in found}
    assert changes == {
        ("WIDTH", "constant", "2.0", "(2.2)"),
        ("area", "constant", "3", "(4)"),
        ("area", "constant", "0", "(1)"),
        ("area", "edge", "length < 0", "(length <= 0)"),
        ("area", "comparison", "length < 0", "(length >= 0)"),
        ("area", "swap", "stretched(WIDTH, length)", "(stretched(length, WIDTH))"),
        ("stretched", "operator", "width * length", "(width / length)"),
        ("stretched", "term", "width * length", "(width)"),
        ("count", "constant", "0", "(1)"),
        ("count", "constant", "1", "(2)"),
        ("count", "edge", "n > 0", "(n >= 0)"),
        ("count", "comparison", "n > 0", "(n <= 0)"),
        ("count", "operator", "n -= 1", "n += 1"),
        ("count", "statement", "n -= 1", "pass"),
        ("count", "operator", "steps += 1", "steps -= 1"),
        ("count", "statement", "steps += 1", "pass"),
        ("unseen", "constant", "7", "(8)"),
    }


def test_recipes_lose_arguments_and_change_words():
    source = (
        'SETTINGS = {"loss": "square", "other": "cross"}\nfound = run(x, replicas=7, seed=1)\n'
    )
    found = {(one.kind, one.after) for one in mutations.of_source(source.encode(), "toy.py", True)}
    assert found == {
        ("word", "('cross')"),
        ("word", "('square')"),
        ("argument", "(run(x, seed=1))"),
        ("constant", "(8)"),
    }


GRADED = """\
def area(x, width, order=4, *, least=8):
    features = np.empty((1, 2))
    rule = legendre_rule(12)
    features[0] = 0.0, 3.0 / width
    for _ in range(CAP):
        x = x - 1
        if x < 0:
            break
    return solved(x, order=9, max_iterations=CAP)
"""


@pytest.mark.parametrize(("cap", "left"), [("60", set()), ("6", {("6", "(7)"), ("6", "(6 - 1)")})])
def test_what_only_costs_work_is_left(cap, left):
    """A cap of few turns may be how many there are, and a centre says where a function bends.

    More nodes in a panel are as good; other defaults count.
    """
    found = mutations.of_source(GRADED.replace("CAP", cap).encode(), "toy.py")
    changes = {(one.before, one.after) for one in found}
    always = {("0.0", "(1.0)"), ("3.0 / width", "(3.0 * width)"), ("3.0 / width", "(3.0)")}
    always |= {("x - 1", "(x + 1)"), ("x - 1", "(x)"), ("1", "(2)"), ("0", "(1)")}
    always |= {("x < 0", "(x <= 0)"), ("x < 0", "(x >= 0)"), ("9", "(10)"), ("8", "(9)")}
    assert changes == always | left


def test_fields_of_the_ledger():
    found = {(one.place, one.after.strip()) for one in mutations.of_ledger(LEDGER, "claims.toml")}
    assert found == {
        ("one", 'source = { paper = "P1", at = "letter" }'),
        ("one", "quoted = 0.834"),
        ("one", "tolerance = 0.005"),
        ("one", 'compute = "second"'),
        ("one", ""),
        ("two", 'compute = "first"'),
    }


def test_tests_are_found_through_calls_fixtures_and_names(tree):
    reach = Reach(tree.root)
    file = "tests/unit/test_toy.py"

    def tests(name, **names):
        return reach.nearest({("wfmlib.toy", name)}, names, most=9)

    assert tests("stretched") == [f"{file}::test_area", f"{file}::test_broken"]
    assert tests("count") == [f"{file}::test_count"]
    assert tests("count", unseen=0) == [f"{file}::test_by_name", f"{file}::test_count"]
    assert tests("count", unseen=2) == [f"{file}::test_count", f"{file}::test_by_name"]
    assert tests("count", unseen=9) == tests("count", unseen=2), "with nobody in between"
    assert reach.nearest({("wfmlib.toy", "area")}, {}, most=1) == [f"{file}::test_area"]
    assert tests("WIDTH") == tests("stretched")


def test_other_files_have_their_turn(tree):
    """A property is often held by the tests of what uses it: half are of the module's own file."""
    for file, names in (("toy", "abcde"), ("after", "fgh"), ("before", "ij")):
        text = "".join(f"def test_{one}():\n    assert toy.unseen()\n\n" for one in names)
        path = tree.root / "tests" / "unit" / f"test_{file}.py"
        path.write_text("from wfmlib import toy\n\n" + text)
    reach = Reach(tree.root)

    def tests(most):
        found = reach.nearest({("wfmlib.toy", "unseen")}, {}, most)
        return "".join(one[-1] for one in found)

    assert tests(4) == "abfi"
    assert tests(8) == "abcdfigj"
    assert tests(99) == "abcdefigjh"


def test_a_mutant_is_killed_survives_or_never_ends(tree):
    file = tree.root / "wfmlib" / "toy.py"
    tree.confirm({"tests/unit/test_toy.py::test_broken"})

    def outcome(kind, before):
        found = tree.test(one(kind, before))
        assert file.read_text() == SOURCE, "the source is as it was"
        return found["outcome"], found["by"].rpartition("::")[2]

    assert outcome("operator", "width * length") == ("killed", "test_area[2-4.0]")
    assert outcome("operator", "n -= 1") == ("loops", "test_count")
    assert outcome("constant", "7") == ("survives", "")


def test_a_test_that_fails_without_it_says_nothing(tree):
    """`test_broken` fails as it is: it kills at first sight, and not when that is looked at."""
    mutant = one("constant", "3")
    found = [{**vars(mutant), **tree.test(mutant)}]
    assert found[0]["by"].endswith("test_broken")
    for again in tree.unfounded(found):
        again |= tree.test(mutant)
    assert (found[0]["outcome"], found[0]["by"]) == ("survives", "")


def test_a_source_that_cannot_be_imported_is_noticed(tree):
    """No case of a test is run then, and its name alone is all that there is to look at."""
    broken = dataclasses.replace(one("constant", "2.0"), after="{} & {}")
    found = [{**vars(broken), **tree.test(broken)}]
    assert found[0]["outcome"] == "killed"
    assert found[0]["by"].endswith("::test_area")
    assert not list(tree.unfounded(found))


def test_one_mutant_leaves_no_trace_in_the_next(tree):
    """The process that has imported the package has never seen a mutant, not the first either."""
    assert tree.test(one("operator", "width * length"))["outcome"] == "killed"
    status, log, _ = tree.run(
        ["tests/unit/test_toy.py::test_area"], tree.root
    )  # as it was imported
    assert (status, [what for what, *_ in log]) == (0, ["runs", "ends"] * 2)


def test_a_ledger_that_cannot_be_read_is_noticed(tree):
    """No test of it is collected then: without the mutant, one is."""
    path = tree.root / "wfmlib/book/claims.toml"
    text = path.read_text()
    mutant = next(mutations.of_ledger(text.encode(), mutants.LEDGER))
    assert tree.test(mutant)["tests"] == 2  # the case of its own claim, and what is on all
    broken = dataclasses.replace(mutant, after="compute = \n")
    assert tree.test(broken)["outcome"] == "killed"
    assert path.read_text() == text


def test_kernels_that_may_change_are_compiled_anew(tree):
    """The others stay, and what is compiled of them beside a mutant is kept."""
    folder = tree.kernels.root / "wfmlib_0"
    folder.mkdir(parents=True)
    (folder / "toy.area-3.py311.nbi").write_text("old")
    (folder / "other.f-1.py311.nbi").write_text("old")
    with tree.kernels.without({"toy"}):
        beside = tree.kernels.now / "wfmlib_0"
        assert [path.name for path in beside.iterdir()] == ["other.f-1.py311.nbi"]
        for name in ("toy.area-3.py311.nbi", "other.g-2.py311.nbi"):
            (beside / name).write_text("new")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "toy.area-3.py311.nbi": "old",
        "other.f-1.py311.nbi": "old",
        "other.g-2.py311.nbi": "new",
    }


KERNELS = """\
from numba import njit
from numba.extending import overload

SIZE = 2

@njit
def inner(x):
    return SIZE * x

def chosen(x):
    raise NotImplementedError

@overload(chosen)
def _choose(x):
    return lambda x: inner(x)

@njit
def outer(x):
    return chosen(x)

def plain(x):
    return outer(x)

def told(x):
    return 2 * x

@njit
def apart(x):
    return x
"""


def test_which_kernels_hold_what(tree):
    """Those that call it, by numba's overloads too; a plain function is in none."""
    files = {name: tree.root / "wfmlib" / f"{name}.py" for name in ("kernels", "users", "deaf")}
    files["kernels"].write_text(KERNELS)
    files["users"].write_text(
        "from numba import njit\nfrom wfmlib.kernels import outer\n\n"
        "@njit\ndef use(x):\n    return outer(x)\n"
    )
    files["deaf"].write_text(
        "from numba import njit\nfrom wfmlib.kernels import apart, plain, told\n\n"
        "def use(x):\n    return plain(x) + told(x)\n\n"
        "@njit\ndef other(x):\n    return apart(x)\n"
    )
    reach = Reach(tree.root)
    for name in ("SIZE", "inner"):
        assert reach.kernels("wfmlib.kernels", name) == {files["kernels"], files["users"]}
    assert reach.kernels("wfmlib.kernels", "told") == {files["kernels"]}
    assert reach.kernels("wfmlib.kernels", "apart") == {files["kernels"], files["deaf"]}


def test_the_scorecard_sees_another_verdict(tree):
    found = mutations.of_source(CHECK.encode(), "wfmlib/book/claim_checks/toy.py")
    seen = {one.kind: tree.test(one) for one in found if one.kind in ("operator", "sign")}
    assert seen["operator"]["outcome"] == "killed"  # -1 - 2 is no bound
    assert seen["operator"]["by"] == "the scorecard"
    assert seen["sign"]["outcome"] == "survives"  # 1 + 2 is one


def test_summary_counts_what_is_not_equivalent(tmp_path, monkeypatch):
    listed = tmp_path / "mutants.toml"
    listed.write_text(
        '[[mutant]]\nfile = "wfmlib/toy.py"\nchange = "unseen: 7 -> (8)"\nreason = "unused"\n'
    )
    monkeypatch.setattr(mutants, "EQUIVALENT", listed)
    found = [
        {"group": "numerics", "outcome": outcome, **vars(one(kind, before))}
        for outcome, kind, before in (
            ("killed", "term", "width * length"),
            ("loops", "operator", "n -= 1"),
            ("survives", "constant", "7"),
            ("survives", "constant", "2.0"),
        )
    ]
    first, second = mutants.summary(found).splitlines()
    assert first == (
        "numerics: 2 of 3 killed (1 never end), 67%, 95% interval 21% to 94%; 1 equivalent"
    )
    assert second == "    survives: wfmlib/toy.py:3 WIDTH: 2.0 -> (2.2)"


def test_the_draw_depends_on_the_seed_alone():
    groups = {group: mutants.candidates(mutants.ROOT, group) for group in ("recipes",)}
    assert len(groups["recipes"]) > 300
    first = mutants.drawn(mutants.ROOT, "recipes", 5, seed=1)
    assert first == mutants.drawn(mutants.ROOT, "recipes", 5, seed=1)
    assert first != mutants.drawn(mutants.ROOT, "recipes", 5, seed=2)


def test_what_is_listed_as_equivalent_is_one_mutant():
    """Or the list would excuse what nobody looked at."""
    root = mutants.ROOT
    groups = {path: one for one in mutants.GROUPS for path in mutants.sources(root, one)}
    for by in mutants.equivalents():
        path = Path(by["file"])
        every = map(vars, mutants.of_file(root, path, groups[path]))
        found = [one["text"] for one in every if mutants.is_excused(one, by)]
        assert len(found) == 1, (by["change"], found)
