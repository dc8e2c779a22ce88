"""The table of what things cost: its rows are those of the list, with the numbers of a run."""

from __future__ import annotations

import ast
import re

from tools import speed
from tools.notebooks import ROOT


def test_rows_name_benchmarks_that_there_are():
    for name in speed.asked(speed.groups()):
        file, _, test = name.partition("::")
        tree = ast.parse((ROOT / "benchmarks" / file).read_text())
        functions = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
        assert test.partition("[")[0] in functions, name


def test_the_page_has_every_row():
    page = speed.PAGE.read_text()
    between = page[page.index(speed.BEGIN) : page.index(speed.END)]
    rows = re.findall(r"^\| (?!what|---)(.+?) \|", between, re.MULTILINE)
    assert rows == [row["what"] for group in speed.groups() for row in group["row"]]
    assert re.search(r"Measured on \d{4}-\d\d-\d\d: .*\d cores", between)


def test_a_table_of_a_run():
    run = {
        "benchmarks": [
            {"fullname": "benchmarks/a.py::x", "stats": {"min": 2e-3}, "extra_info": {"ns": 5.0}},
            {"fullname": "benchmarks/a.py::y", "stats": {"min": 4e-2}, "extra_info": {}},
        ]
    }
    group = {
        "row": [
            {"what": "x", "of": "a.py::x", "per": 1e-3, "unit": "ms",
             "beside": {"name": "y", "of": "a.py::y"}},
            {"what": "z", "of": "a.py::x", "number": "ns", "unit": "ns",
             "beside": {"name": "as told", "value": 20.0}},
            {"what": "alone", "of": "a.py::y", "unit": "s"},
        ]
    }  # fmt: skip
    group["row"].append(group["row"][0] | {"beside": {"name": "not there", "of": "a.py::none"}})
    assert speed.table(run, group).splitlines()[2:] == [
        "| x | 2.0 | ms | y | 40 | 0.050 |",
        "| z | 5.0 | ns | as told | 20 | 0.25 |",
        "| alone | 0.040 | s |  |  |  |",
        "| x | 2.0 | ms |  |  |  |",
    ]


def test_one_group_is_measured_anew():
    """The others keep their numbers; the group says under which conditions its own are."""
    machine = {"model": "A", "cores": 2, "python_version": "3", "libraries": "B", "load": 7.0}
    run = {
        "datetime": "2030-01-02T00:00",
        "machine_info": machine,
        "benchmarks": [{"fullname": "benchmarks/a.py::x", "stats": {"min": 2.0}}],
    }
    group = {"title": "One", "row": [{"what": "x", "of": "a.py::x", "unit": "s"}]}
    page = f"a\n{speed.BEGIN}\n\nOld.\n\n## One\n\nold\n\n## Two\n\nkept\n\n{speed.END}\nz\n"
    found = speed.replaced(page, run, group)
    assert "old" not in found
    assert found.index("## One") < found.index("| x | 2.0 | s |") < found.index("## Two")
    assert "Measured on 2030-01-02: A, 2 cores" in found
    again = speed.replaced(found, run, group)
    assert again == found
    fresh = speed.replaced(page, run, group | {"title": "Three"})
    assert fresh.index("kept") < fresh.index("## Three") < fresh.index(speed.END)
