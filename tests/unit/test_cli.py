"""The command line: what it prints, and with which exit status."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import wfmlib
from tests import toy_experiment as toy
from wfmlib.book import claim_checks, claims, cli, experiments
from wfmlib.book.commands import compile, show
from wfmlib.book.experiments import Variable, registry

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


COMMANDS = ("claims", "compile", "data", "list", "run", "show", "verify")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_has_examples(capsys, command):
    status, out, _ = run(capsys, command, "--help")
    assert status == 0
    assert "examples:" in out
    assert max(map(len, out.splitlines())) <= cli.WIDTH


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_the_help_are_understood(capsys, command):
    _, out, _ = run(capsys, command, "--help")
    lines = [line for line in out.splitlines() if line.startswith(f"  wfm {command}")]
    assert len(lines) >= 3
    for line in lines:
        words = shlex.split(re.split(r"  +| > ", line.strip())[0])  # what it does stands apart
        assert cli._parser().parse_args(words[1:]).command == command


@pytest.mark.parametrize("name", [*compile.theory(), *compile.algorithms()])
def test_what_is_compiled_is_called_without_error(name):
    assert compile.call(name) == name


def test_compile_shows_how_far_it_is(capfd):
    status, out, err = run(capfd, "compile", "--jobs", "2")
    count = len(compile.theory()) + len(compile.algorithms())
    assert (status, out) == (0, "")
    assert f"{count}/{count}" in err


def test_compile_refuses_no_processes(capsys):
    status, _, err = run(capsys, "compile", "--jobs", "0")
    assert (status, err) == (2, "wfm compile: --jobs must be at least 1, not 0\n")


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
    assert max(map(len, table)) <= cli.WIDTH
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


@pytest.mark.parametrize("arguments", [("claims", "--chapter", "13"), ("claims", "--paper", "P4")])
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
# Experiments
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """List the toy alone, keep samples and archives in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(registry, "MODULES", {"toy": "tests.toy_experiment"})
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results"


def row(out):
    """Return the cells of the toy in what `wfm list` prints."""
    return re.split(r"  +", out.splitlines()[1])


def test_run_list_and_show(capsys, archives):
    status, out, _ = run(capsys, "list")
    assert (status, row(out)) == (0, ["toy", "7", "no paper", "12", "30", "none"])
    status, out, err = run(capsys, "show", "toy")
    assert (status, out) == (1, "")
    assert f"there is no archive {archives / 'toy.nc'}: the wheel on the book's site" in err
    assert err.endswith("or `wfm run toy --scale paper` makes it\n")

    status, out, err = run(capsys, "run", "toy", "--scale", "paper")
    assert status == 0
    assert err == "toy, paper scale: 0 samples finished, 30 to compute in 1 process\n"
    assert re.fullmatch(
        r"toy: 30 of 30 samples, 30 of them computed now \(\d+ s\): results/toy\.nc\n", out
    )
    status, out, err = run(capsys, "run", "toy", "--scale", "paper")
    assert (status, err) == (0, "")
    assert "30 of 30 samples, 0 of them computed now" in out

    _, out, _ = run(capsys, "run", "toy", "--scale", "paper", "--fresh")
    assert "30 of 30 samples, 30 of them computed now" in out
    assert run(capsys, "run", "toy", "--fresh", "--collect")[0] == 2

    status, out, _ = run(capsys, "list", "--chapter", "7")
    assert (status, row(out)[-2:]) == (0, ["complete", "made"])
    status, out, err = run(capsys, "list", "--chapter", "8")
    assert (status, out, err) == (0, "", "no experiments\n")

    status, out, err = run(capsys, "show", "toy")
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= cli.WIDTH
    for text in (
        "30 of 30, paper scale",
        "alpha 3 (0.25, 0.5, 0.75), form 2 (exact, expanded), sample 5, step 3 (1, 2, 4)",
        "N = 31, units = 3",
        f"numpy {np.__version__}",
        "partial sums (nats), along step",
    ):
        assert text in out
    data = experiments.load("toy").sel(alpha=0.5, form="exact")
    mean, error = float(data["mean"].mean()), float(data["mean"].std(ddof=1)) / 5**0.5
    cells = re.search(r"^0\.5 +exact +5 .*?(-?[.\d]+ ± [.\d]+) +[.\d]+ ± [.\d]+$", out, re.M)
    shown = [float(one) for one in cells[1].split(" ± ")]
    assert shown == pytest.approx([mean, error], abs=0.06 * error)


def test_quick_run_leaves_the_archive_of_the_papers_scale(capsys, archives):
    run(capsys, "run", "toy", "--scale", "paper")
    before = (archives / "toy.nc").read_bytes()
    status, out, _ = run(capsys, "run", "toy")
    assert status == 0
    assert "results/toy.quick.nc" in out
    assert (archives / "toy.nc").read_bytes() == before
    _, out, _ = run(capsys, "show", "toy", "--scale", "quick")
    assert "12 of 12, quick scale" in out


def test_run_with_samples_that_fail(capsys, archives, tmp_path):
    (tmp_path / "fail").touch()
    status, out, err = run(capsys, "run", "toy", "--scale", "paper", "--output", "other")
    assert status == 1
    assert "toy: 25 of 30 samples, 25 of them computed now" in out
    assert "toy: 5 of 30 samples failed:\n" in err
    said = "  alpha=0.75, form=exact, sample 4: RuntimeError: the toy broke in two lines (toy_exp"
    assert said in err
    assert "the same command computes them again" in err
    _, out, _ = run(capsys, "list", "--folder", "other")
    assert row(out)[-2:] == ["25 of 30", "made"]
    _, out, _ = run(capsys, "show", "toy", "--folder", "other")
    assert "failed    5 RuntimeError" in out
    assert re.search(r"^0\.75 +exact +0 +- +- +- +-$", out, re.M)
    status, _, err = run(capsys, "run", "toy", "--scale", "paper", "--collect")
    assert (status, err) == (1, "")


def test_many_failures_are_told_in_part(capsys, archives, monkeypatch):
    monkeypatch.setattr(toy, "EXPERIMENT", toy.experiment(variables={"none": Variable("1", "x")}))
    status, out, err = run(capsys, "run", "toy", "--scale", "paper")
    assert status == 1
    assert "0 of 30 samples" in out
    assert len(re.findall("ValueError: sample must return none; what it returned", err)) == 10
    assert "and 20 more" in err


def test_archive_of_another_definition_and_damaged_ones(capsys, archives, monkeypatch):
    run(capsys, "run", "toy", "--scale", "paper")
    with monkeypatch.context() as patch:
        patch.setattr(toy, "EXPERIMENT", toy.experiment(version=2))
        _, out, _ = run(capsys, "list")
        assert row(out)[-1] == "of another definition"
        _, out, _ = run(capsys, "show", "toy")
        assert "the experiment's definition has changed since" in out
    more = {"quick": toy.scale(2), "paper": toy.scale(10)}
    with monkeypatch.context() as patch:
        patch.setattr(toy, "EXPERIMENT", toy.experiment(scales=more))
        _, out, _ = run(capsys, "list")
        assert row(out)[-2] == "30 of 60"
    (archives / "toy.nc").write_bytes(b"CDF")
    _, out, _ = run(capsys, "list")
    assert row(out)[-1] == "damaged"
    status, out, err = run(capsys, "show", "toy")
    assert (status, out) == (1, "")
    assert re.match(r"wfm show: .*toy\.nc is damaged", err)
    status, _, _ = run(capsys, "run", "toy", "--scale", "paper")  # makes it anew
    assert (status, row(run(capsys, "list")[1])[-2]) == (0, "complete")


def test_run_where_nothing_can_be_written(capsys, archives, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    status, out, err = run(capsys, "run", "toy", "--output", "file")
    assert (status, out) == (1, "")
    assert err.startswith("wfm run toy: cannot use file: ")
    monkeypatch.delenv("WFMLIB_RESULTS")
    status, out, err = run(capsys, "run", "toy")
    assert (status, out) == (2, "")
    assert "no book/results here or above; give one with --output or set WFMLIB_RESULTS" in err


def test_interrupted_run(capsys, archives, monkeypatch):
    monkeypatch.setattr(toy, "EXPERIMENT", toy.single(toy.interrupt, "mean"))
    status, out, err = run(capsys, "run", "toy")
    assert (status, out) == (130, "")
    said = "wfm run toy: interrupted: 2 of 12 samples are finished and kept; the same command goes"
    assert said in err
    status, out, _ = run(capsys, "run", "toy", "--collect")
    assert status == 1
    assert "2 of 12 samples, 0 of them computed now" in out


@pytest.mark.parametrize("command", ["run", "show"])
def test_unknown_experiment(capsys, archives, command):
    status, out, err = run(capsys, command, "tyo")
    assert (status, out) == (2, "")
    assert "did you mean toy?" in err


def test_all_experiments_are_known_before_the_first_runs(capsys, archives):
    assert run(capsys, "run", "toy", "tyo")[0] == 2
    assert not archives.exists()


@pytest.mark.parametrize("jobs", ["0", "-1", "two", "1.5"])
def test_number_of_processes(capsys, archives, jobs):
    status, _, err = run(capsys, "run", "toy", "--jobs", jobs)
    assert status == 2
    assert "--jobs: must be an integer >= 1" in err


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.0, 2.0, 3.0], "2.00 ± 0.58"),
        ([1.0, np.nan, 3.0], "2.0 ± 1.0 [2]"),
        ([1.5], "1.5"),
        ([2.0, 2.0], "2 ± 0"),
        ([np.nan], "- [0]"),
        ([], "-"),
        ([1.0, np.inf], "inf"),
    ],
)
def test_means(values, text):
    assert show._mean(np.array(values, float)) == text


def test_wide_tables_are_split(capsys, archives, monkeypatch):
    names = [f"a_long_name_of_a_variable_{letter}" for letter in "abcdef"]
    variables = {name: Variable("1", "x") for name in names}
    monkeypatch.setattr(toy, "EXPERIMENT", toy.experiment(variables=variables))
    run(capsys, "run", "toy", "--collect")
    _, out, _ = run(capsys, "show", "toy", "--scale", "quick")
    assert max(map(len, out.splitlines())) <= cli.WIDTH
    assert [len(re.findall(f"{name}$|{name}  ", out, re.M)) for name in names] == [2] * 6


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
