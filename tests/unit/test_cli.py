"""The command line: what it prints, and with which exit status."""

import json
import re
import shlex
import subprocess
import sys

import pytest

import wfmlib
from wfmlib.book import claim_checks, claims, cli
from wfmlib.book.commands._table import WIDTH

FREE = "capacity-proved"  # a claim that costs nothing
NUMBER = "max-margin-half-load"


def run(capsys, *arguments):
    """Return exit status, stdout and stderr of `wfm` with these arguments."""
    try:
        status = cli.main(arguments)
    except SystemExit as end:  # argparse
        status = end.code
    told = capsys.readouterr()
    return status, told.out, told.err


@pytest.fixture
def instant(answer):
    """Answer every claim at once: numbers with one claim's value, statements with yes."""
    for claim in claims.load():
        if claim.compute:
            answer(claim.compute, claim.quoted if claim.numeric else (True, "so"))


def test_without_a_command_it_helps(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    assert "usage: wfm" in out
    assert "claims" in out


COMMANDS = ("check", "claims", "data", "list", "run", "where")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_has_examples(capsys, command):
    status, out, _ = run(capsys, command, "--help")
    assert status == 0
    assert "examples:" in out
    assert max(map(len, out.splitlines())) <= WIDTH


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_the_help_are_understood(capsys, command):
    _, out, _ = run(capsys, command, "--help")
    lines = [line for line in out.splitlines() if line.startswith(f"  wfm {command}")]
    assert len(lines) >= 3
    for line in lines:
        words = shlex.split(re.split(r"  +| > ", line.strip())[0])  # what it does stands apart
        assert cli._parser().parse_args(words[1:]).command == command


def test_version(capsys):
    status, out, _ = run(capsys, "--version")
    assert status == 0
    assert out == f"wfmlib {wfmlib.__version__}\n"


def test_one_claim_with_its_details(capsys, answer):
    answer("max_margin_half_load", 0.41806)
    status, out, err = run(capsys, "claims", NUMBER)
    assert (status, err) == (0, "")
    claim = claims.get(NUMBER)
    for text in ("0.418 ", "0.41806", "0.0005", "holds", claim.why, claim.how, claim.source.at):
        assert text in out
    assert out.splitlines()[-1].startswith("1 claim: 1 holds")


def test_verdict_that_is_not_expected_gives_status_1(capsys, answer):
    answer("max_margin_half_load", 0.5)
    status, out, _ = run(capsys, "claims", "--paper", "P3", "--chapter", "1", NUMBER)
    assert status == 1
    assert "differs (!)" in out
    assert f"Not as expected: {NUMBER}" in out


def test_filters(capsys):
    # the chapter with the cheapest claims
    status, out, _ = run(capsys, "claims", "--chapter", "4", "--json")
    found = json.loads(out)
    assert status == 0
    assert {one["chapter"] for one in found} == {4}
    assert len(found) == sum(claim.chapter == 4 for claim in claims.load())
    _, out, _ = run(capsys, "claims", "--chapter", "4", "--paper", "P1", "--json")
    assert {one["source"]["paper"] for one in json.loads(out)} == {"P1"}


def test_a_paper_without_claims_is_refused(capsys):
    status, _, err = run(capsys, "claims", "--paper", "P4")
    assert status == 2
    assert "--paper must be one of P1, P2, P3, " in err
    assert "'P4'" in err


def test_json_says_everything(capsys, answer):
    answer("max_margin_half_load", 0.41806)
    _, out, _ = run(capsys, "claims", NUMBER, FREE, "--json")
    number, free = json.loads(out)
    assert number["id"] == NUMBER
    assert (number["quoted"], number["found"], number["tolerance"]) == (0.418, 0.41806, 0.0005)
    assert (free["found"], free["verdict"]) == (None, "not checked here")
    assert free["reason"] == claims.get(FREE).reason


@pytest.mark.usefixtures("instant")
@pytest.mark.parametrize("options", [(), ("--verbose",)], ids=["table", "verbose"])
def test_all_claims_fit_and_align(capsys, options):
    status, out, _ = run(capsys, "claims", *options)
    assert status == 1, "with these answers the claims that differ should hold"
    lines = out.splitlines()
    table, count = lines[:-1], lines[-1]
    assert max(map(len, table)) <= WIDTH
    column = table[0].index("verdict")
    rows = [line for line in table if line.split(" ")[0] in {c.id for c in claims.load()}]
    assert len(rows) == len(claims.load())
    said = {row[column:].removesuffix(" (!)") for row in rows}
    assert {"holds", "not checked here"} <= said <= set(claims.VERDICTS)
    assert count.startswith(f"{len(rows)} claims: ")
    free = next(i for i, line in enumerate(table) if line.startswith(FREE))
    assert table[free + 1].startswith("    claim ") == bool(options)


def test_unknown_claim_is_a_plain_error(capsys):
    status, out, err = run(capsys, "claims", "max-margin-half-lode")
    assert (status, out) == (2, "")
    assert err.startswith("wfm claims: id must be")
    assert "did you mean" in err
    assert NUMBER in err


@pytest.mark.parametrize(
    "arguments", [("claims", "--chapter", "14"), ("claims", "--chapter", "0")]
)
def test_filter_that_does_not_exist(capsys, arguments):
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert "choose from" in err


@pytest.mark.parametrize("in_kernel", [False, True])
def test_interrupt_is_not_a_traceback(capsys, monkeypatch, in_kernel):
    def interrupt():
        if in_kernel:  # what numba makes of it
            raise SystemError("a result with an exception set") from KeyboardInterrupt()
        raise KeyboardInterrupt

    monkeypatch.setattr(claim_checks, "max_margin_half_load", interrupt)
    status, _, err = run(capsys, "claims", NUMBER)
    assert status == 130
    assert err == "interrupted\n"


def test_other_errors_of_a_kernel_are_no_interrupt(monkeypatch):
    def fail():
        raise SystemError("a result with an exception set") from OverflowError()

    monkeypatch.setattr(claim_checks, "max_margin_half_load", fail)
    with pytest.raises(SystemError, match="a result with an exception set"):
        cli.main(("claims", NUMBER))


@pytest.mark.parametrize("words", [["list"], ["run", "tree-minima", "--help"]])
def test_a_reader_that_goes_away_is_no_traceback(words):
    """`wfm list | head -0`: status 141, as a shell says of a process a closed pipe ended."""
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "wfmlib.book.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        started.stdout.close()
        told = started.stderr.read()
    assert (started.returncode, told) == (141, b"")


# ------------------------------------------------------------------------------------------------
# Experiments: the rest is in `test_runs`
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["run"], ["check"], ["run", "bp-entropy"]])
def test_unknown_experiment(capsys, tmp_path, words):
    """All are known before the first is computed."""
    status, out, err = run(capsys, *words, "bp-entopy")
    assert (status, out) == (2, "")
    assert "did you mean bp-entropy or" in err


def test_number_of_processes(capsys, tmp_path):
    status, _, err = run(capsys, "run", "bp-entropy", "--jobs", "0", "--output", str(tmp_path))
    assert status == 2
    assert "jobs must be >= 1, got 0" in err
    status, _, err = run(capsys, "run", "bp-entropy", "--jobs", "two")
    assert status == 2
    assert "invalid int value: 'two'" in err


def test_help_shows_what_can_be_set(capsys):
    status, out, _ = run(capsys, "run", "bp-entropy", "--help")
    assert status == 0
    assert "usage: wfm run" in out
    assert re.search(r"^N +99 +999$", out, re.M)
    assert re.search(r"^alpha +0\.5,1\.0,1\.5 +0\.2, \.\.\., 2\.0 \(15 values\)$", out, re.M)
    status, _, err = run(capsys, "run", "bp-entopy", "--help")
    assert (status, "did you mean" in err) == (2, True)


def test_help_loads_no_numerics():
    """`wfm --help` must answer at once."""
    code = (
        "import sys; from wfmlib.book import cli; cli.main([]); "
        "sys.exit(sorted({'numba', 'scipy', 'numpy'} & set(sys.modules)).__str__() != '[]')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# --- wfm where ----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["P3 B12", "P3 (B13)", "P3, Eq. (B12)", "p3 equation b13"])
def test_an_equation_leads_to_its_functions(capsys, place):
    status, out, _ = run(capsys, "where", *place.split())
    assert status == 0
    assert "wfmlib.theory.franz_parisi" in out
    assert "binary.Binary" in out or "B12" in place.upper()


def test_a_figure_leads_to_claims_as_well(capsys):
    _, out, _ = run(capsys, "where", "P3", "Fig.", "3")
    assert "dense_regions.margin_monotonic" in out
    assert NUMBER in out


def test_a_place_that_nothing_names(capsys):
    assert run(capsys, "where", "P3", "Z99")[:2] == (1, "nothing names P3 Z99\n")
    status, _, err = run(capsys, "where", "P4")
    assert status == 2
    assert "P1, P2, P3" in err
