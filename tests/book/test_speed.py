"""The tables of what things cost, as `make bench` prints them."""

from __future__ import annotations

from tools import speed


def measured(what, best, group="One", **told):
    """Return a benchmark as pytest-benchmark writes it."""
    info = {"what": what, "unit": "ms", "per": 1e-3, "beside": "", "quoted": (), **told}
    return {"group": group, "stats": {"min": best}, "extra_info": info}


def test_tables_of_a_run():
    run = {
        "datetime": "2030-01-02T00:00",
        "machine_info": {
            "cpu": {"brand_raw": "A"},
            "cores": 2,
            "python_version": "3",
            "libraries": "B",
            "load": 7.0,
        },
        "benchmarks": [
            measured("x", 2e-3),
            measured("z", 9.0, "Two", unit="s", per=1.0, seconds=4e-2),
            measured("x", 4e-2, beside="y"),
            measured("told", 5e-3, quoted=("as told", 20.0)),
        ],
    }
    said, one, two = speed.tables(run).split("\n\n## ")
    assert (
        said == "Measured on 2030-01-02: A, 2 cores, Python 3, B; load average 7.0 when it began."
    )
    assert one.splitlines()[0] == "One"
    assert one.splitlines()[4:] == [
        "| x | 2.0 | ms | y | 40 | 0.050 |",
        "| told | 5.0 | ms | as told | 20 | 0.25 |",
    ]
    assert two.splitlines()[4:] == ["| z | 0.040 | s |  |  |  |"]
