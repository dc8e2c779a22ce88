"""`wfm run`: compute experiments and write their archives."""

from __future__ import annotations

import argparse
import itertools
import sys
import textwrap
import time
from pathlib import Path

from wfmlib.book.commands._table import table

SHOWN = 10  # failures told one by one


def add(commands):
    """Add `wfm run`."""
    parser = commands.add_parser(
        "run",
        help="compute experiments and write their archives",
        description=textwrap.dedent(
            """\
            Compute experiments and write their archives.

            Each finished sample is kept at once in the user's cache, so a run may be stopped
            (Ctrl-C) and continued with the same command; the archive is the same, bit for bit, as
            that of a run in one go, on however many workers. Samples that the archive to be
            written holds already are taken from it; --fresh computes all anew. A sample that fails
            does not stop the others: the archive is then written without it and says so.

            The archive NAME.nc, and NAME.provenance.json, go to the folder given by --output, else
            by WFMLIB_RESULTS, else to book/results of the current folder or of one above it. At
            the quick scale they are called NAME.quick.nc and NAME.quick.provenance.json.

            With --set the experiment is your own: its archive is called after what was changed,
            such as NAME--alpha=0.5,0.6--N=501.quick.nc, and never replaces another. `wfm run NAME
            --help` lists what can be set, with the values at both scales.

            Dask asks nobody who they are: whoever reaches the scheduler or a worker runs code as
            you, on every worker and, through results, here. Keep their ports within a network that
            you trust."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm run NAME                                 a quick look
              wfm run NAME --scale paper --jobs 8          as published, in 8 processes
              wfm run NAME --scale paper --dask tcp://10.0.0.1:8786
                                                           the same on a Dask cluster, whose
                                                           workers have wfmlib: start them with
                                                           `dask worker ADDRESS --nthreads 1`
              wfm run NAME OTHER --output results          two, into another folder
              wfm run NAME --scale paper --collect         the archive of what is finished so far
              wfm run fbp-perceptron-success --set N=501 --set loads=0.5,0.6 --jobs 2
                                                           your own sizes and loads

            The exit status is 1 if a sample failed or is missing, 130 after Ctrl-C."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument(
        "-h", "--help", action=_Help, nargs=0, help="this; after a NAME also what can be set"
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="experiments, see `wfm list`")
    parser.add_argument(
        "--scale", choices=("quick", "paper"), default="quick", help="how large (default: quick)"
    )
    parser.add_argument(
        "--jobs", type=_jobs, default=1, metavar="N", help="processes of one thread (default: 1)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="another value of a setting; lists parted by commas; as often as you like",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="compute on this Dask scheduler, which is not authenticated: see above",
    )
    parser.add_argument("--output", metavar="FOLDER", help="where the archives go")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--collect", action="store_true", help="compute nothing, write what is finished"
    )
    choice.add_argument(
        "--fresh", action="store_true", help="forget what is finished, compute all anew"
    )
    parser.set_defaults(run=_run)


class _Help(argparse.Action):
    """Print the help and, for each experiment that was named before, what can be set."""

    def __call__(self, parser, namespace, values, option_string=None):
        parser.print_help()
        for name in getattr(namespace, "names", None) or []:
            try:
                lines = _settable(name)
            except ValueError as error:
                parser.error(str(error))
            print("\n" + "\n".join(lines))
        parser.exit()


def _settable(name):
    """Return lines that say what can be set in an experiment."""
    from wfmlib.book import experiments

    experiment = experiments.get(name)
    scales = [experiments.settable(experiment, scale) for scale in experiments.SCALES]
    rows = [("--set", *experiments.SCALES)]
    for setting in dict.fromkeys(itertools.chain(*scales)):
        values = [textwrap.shorten(_plain(one.get(setting, "")), 30) for one in scales]
        rows.append((setting, *values))
    return [f"{name}: {experiment.title}", *table(rows)]


def _plain(value):
    """Return a value as it is typed after --set, as far as it fits."""
    if not isinstance(value, list):
        return str(value)
    if len(value) > 4:
        return f"{value[0]}, ..., {value[-1]} ({len(value)} values)"
    return ",".join(map(str, value))


def _jobs(text):
    """Return a number of processes."""
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be an integer >= 1, got {text!r}")
    return value


def _run(args):
    from wfmlib.book import experiments

    chosen = [experiments.get(name) for name in args.names]  # all, before the first is run
    if args.settings:
        told = [experiments.parsed(one, args.settings, args.scale) for one in chosen]
        chosen = [
            experiments.changed(one, settings, args.scale)
            for one, settings in zip(chosen, told, strict=True)
        ]
    folder = args.output or experiments.results_folder()
    if folder is None:
        _tell(
            "wfm run: no folder for the archive: there is no book/results here or above; give one "
            "with --output or set WFMLIB_RESULTS"
        )
        return 2
    status = 0
    for experiment in chosen:
        name = experiment.archive_name
        try:
            status = max(status, _run_one(experiment, args, folder))
        except experiments.RunError as error:
            _tell(f"wfm run {name}: {error}")
            return 1
        except experiments.RunInterrupted as error:
            _tell(
                f"\nwfm run {name}: {error} and kept; the same command goes on from there"
                + ("" if args.collect else ", and with --collect it writes an archive of them")
            )
            return 130
    return status


def _run_one(experiment, args, folder):
    """Run one experiment and say what came; return the exit status."""
    from wfmlib.book import experiments

    name, start = experiment.archive_name, time.perf_counter()
    run = experiments.run(
        experiment,
        args.scale,
        jobs=args.jobs,
        dask=args.dask,
        output=folder,
        fresh=args.fresh,
        compute=not args.collect,
        say=_tell,
    )
    took = time.perf_counter() - start
    where = "no archive written" if run.path is None else _short(run.path)
    print(
        f"{name}: {run.done} of {run.wanted} samples, {run.computed} of them computed now "
        f"({took:.0f} s): {where}"
    )
    if run.failures:
        _tell(f"{name}: {len(run.failures)} of {run.wanted} samples failed:")
        for failure in run.failures[:SHOWN]:
            _tell(f"  {failure}")
        if len(run.failures) > SHOWN:
            _tell(f"  and {len(run.failures) - SHOWN} more")
        _tell("the same command computes them again, and nothing else")
    return 0 if run.done == run.wanted and run.path is not None else 1


def _short(path):
    """Return a path relative to the current folder, where it lies below it."""
    path, here = Path(path).absolute(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _tell(line):
    print(line, file=sys.stderr, flush=True)
