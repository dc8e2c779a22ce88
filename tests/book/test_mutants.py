"""`make mutants` finds what no test sees: shown on a toy package with a test for each outcome."""

from __future__ import annotations

import ast

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
from wfmlib.claim_checks import toy

def check(id):
    return f"{id}: {getattr(toy, 'bound')() > 0.0}"
"""
CHECK = """\
def bound():
    return -SHIFT + 2.0


SHIFT = 1.0
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
    roots = tmp_path / "tree", tmp_path / "clean"
    for name, text in (
        ("wfmlib/__init__.py", ""),
        ("wfmlib/toy.py", SOURCE),
        ("wfmlib/claims.py", CHECKER),
        ("wfmlib/claims.toml", '[[claim]]\nid = "one"\ncompute = "bound"\n'),
        ("wfmlib/claim_checks/__init__.py", ""),
        ("wfmlib/claim_checks/toy.py", CHECK),
        ("tests/__init__.py", ""),
        ("tests/unit/test_toy.py", TESTS),
    ):
        for root in roots:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    return mutants.Tree(*roots)


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

    def tests(name, *names):
        return reach.nearest({("wfmlib.toy", name)}, set(names), most=9)

    assert tests("stretched") == [f"{file}::test_area", f"{file}::test_broken"]
    assert tests("count") == [f"{file}::test_count"]
    assert tests("count", "unseen") == [f"{file}::test_by_name", f"{file}::test_count"]
    assert reach.nearest({("wfmlib.toy", "area")}, set(), most=1) == [f"{file}::test_area"]
    assert tests("WIDTH") == tests("stretched")
    assert tree.reach.dependents("wfmlib.toy") == {tree.root / "wfmlib" / "toy.py"}


def test_a_mutant_is_killed_survives_or_never_ends(tree):
    file = tree.root / "wfmlib" / "toy.py"

    def outcome(kind, before):
        found = tree.test(one(kind, before))
        assert file.read_text() == SOURCE, "the source is as it was"
        return found["outcome"], found["by"].rpartition("::")[2]

    assert outcome("operator", "width * length") == ("killed", "test_area[2-4.0]")
    assert outcome("operator", "n -= 1") == ("loops", "test_count")
    assert outcome("constant", "7") == ("survives", "")
    # test_broken reaches it and fails, but without it, too: no sign of it
    assert outcome("constant", "3") == ("survives", "")
    assert "test_broken" in [name.rpartition("::")[2] for name in tree.alone]


def test_the_scorecard_sees_another_verdict(tree):
    found = mutations.of_source(CHECK.encode(), "wfmlib/claim_checks/toy.py")
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


def test_what_is_listed_as_equivalent_is_there():
    """Or the list would excuse what nobody looked at."""
    every = {
        mutants.key(vars(one))
        for group in mutants.GROUPS
        for one in mutants.candidates(mutants.ROOT, group)
    }
    assert set(mutants.equivalents()) <= every
