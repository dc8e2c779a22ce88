"""`wfm run`: compute experiments and write their archives."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import textwrap
import time

from wfmlib.book.commands._table import table

SHOWN = 10  # failures told one by one
PATIENCE = 20  # seconds to wait for a scheduler


def add(commands):
    """Add `wfm run`."""
    parser = commands.add_parser(
        "run",
        help="compute experiments and write their archives",
        description=textwrap.dedent(
            """\
            Compute experiments and write their archives.

            Each finished sample is kept at once in the user's cache, so a run may be stopped
            (Ctrl-C) and continued with the same command; the numbers are the same, bit for bit,
            as those of a run in one go, on however many workers. A sample that fails does not
            stop the others: the archive is then written without it and says so, and the same
            command computes what is missing. Once an archive is whole, its samples are no longer
            kept, and the same command computes it anew.

            The archive NAME.nc goes to the folder given by --output, else by WFMLIB_RESULTS, else
            to book/results of the current folder or of one above it, and its SHA-256 into the
            registry of that folder. At the quick scale it is called NAME.quick.nc.

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
        "--jobs", type=int, default=1, metavar="N", help="processes of one thread (default: 1)"
    )
    parser.add_argument(
        "--set",
        action="append",
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

    experiment, labels = experiments.get(name), ("quick", "paper")
    scales = [experiments.settable(experiment, scale) for scale in labels]
    rows = [("--set", *labels)]
    for setting in dict.fromkeys(itertools.chain(*scales)):
        values = [textwrap.shorten(_plain(settings.get(setting, "")), 30) for settings in scales]
        rows.append((setting, *values))
    return [f"{name}: {experiment.title}", *table(rows)]


def _plain(value):
    """Return a value as it is typed after --set, as far as it fits."""
    if not isinstance(value, list):
        return str(value)
    if len(value) > 4:
        return f"{value[0]}, ..., {value[-1]} ({len(value)} values)"
    return ",".join(map(str, value))


def _run(args):
    from wfmlib.book import experiments

    chosen = [experiments.get(name) for name in args.names]  # all, before the first is run
    if args.settings:
        chosen = [
            experiments.changed(experiment, args.settings, args.scale) for experiment in chosen
        ]
    folder = args.output or experiments.results_folder()
    if folder is None:
        _report(
            "wfm run: no folder for the archive: there is no book/results here or above; give one "
            "with --output or set WFMLIB_RESULTS"
        )
        return 2
    status = 0
    try:
        with _executor(args.dask) as executor:
            for experiment in chosen:
                status = max(status, _run_one(experiment, args, executor, folder))
    except (experiments.RunError, OSError) as error:
        _report(f"wfm run: {error}")
        return 1
    except KeyboardInterrupt:
        _report("\nwfm run: interrupted; what is finished is kept, and the same command goes on")
        return 130
    return status


@contextlib.contextmanager
def _executor(address):
    """Yield the executor of a Dask cluster, or None where none is asked for."""
    from wfmlib.book.experiments import RunError

    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise RunError(
            "a Dask cluster needs the package distributed: pip install 'wfmlib[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); `dask scheduler` "
            "starts one and prints its address"
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            _report(f"the scheduler at {address} has no workers yet: waiting for the first")
        yield client.get_executor(pure=False)


def _run_one(experiment, args, executor, folder):
    """Run one experiment and say what came; return the exit status."""
    from wfmlib.book import experiments

    start = time.perf_counter()
    run = experiments.run(experiment, args.scale, jobs=args.jobs, executor=executor, output=folder)
    print(
        f"{experiment.archive_name}: {run.done} of {run.wanted} samples, {run.computed} of them "
        f"computed now ({time.perf_counter() - start:.0f} s): {run.path}"
    )
    if run.failures:
        _report(f"{len(run.failures)} of {run.wanted} samples failed:")
        for failure in run.failures[:SHOWN]:
            _report(f"  {failure}")
        if len(run.failures) > SHOWN:
            _report(f"  and {len(run.failures) - SHOWN} more")
        _report("the same command computes them again, and nothing else")
    return 1 if run.failures else 0


def _report(line):
    print(line, file=sys.stderr, flush=True)
