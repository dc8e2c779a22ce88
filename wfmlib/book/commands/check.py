"""`wfm check`: compute samples of archives anew, and compare."""

from __future__ import annotations

import argparse
import math
import sys
import textwrap


def add(commands):
    """Add `wfm check`."""
    parser = commands.add_parser(
        "check",
        help="compute samples of archives anew, and compare",
        description=textwrap.dedent(
            """\
            Compute samples of archives anew, and compare.

            Of each archive some samples are drawn at random, of those that take no longer than the
            time given, or else the quickest. Whole numbers and flags must be equal, and numbers
            within the tolerance that the experiment states. Where the path of a sample is chaotic,
            another processor may end elsewhere: a sample that differs there must still lie near
            those of the archive, which excludes gross differences only."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm check NAME                         3 samples, in about five minutes
              wfm check NAME --samples 30 --minutes 60
              wfm check --all --samples 1            one sample of every archive

            The exit status is 1 unless all agree, 130 after Ctrl-C."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments, see `wfm list`")
    parser.add_argument("--all", action="store_true", help="all experiments")
    parser.add_argument(
        "--samples", type=int, default=3, metavar="K", help="of each, at most (default: 3)"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=5.0,
        metavar="M",
        help="for each, on the processor that made it (default: 5)",
    )
    parser.add_argument("--seed", type=int, metavar="S", help="of the draw (default: any)")
    parser.add_argument("--folder", metavar="FOLDER", help="where the archives are")
    parser.set_defaults(run=_run)


def _run(args):
    from wfmlib.book import experiments

    names = experiments.names() if args.all else args.names
    if not names:
        print("wfm check: name an experiment, or give --all", file=sys.stderr)
        return 2
    for name in names:
        experiments.get(name)  # all must be known before the first is computed
    status, options = 0, {"samples": args.samples, "minutes": args.minutes, "seed": args.seed}
    for name in names:
        try:
            compared = experiments.check(name, args.folder, **options)
        except (OSError, experiments.DamagedArchiveError) as error:
            print(f"wfm check {name}: {error}", file=sys.stderr)
            status = 1
            continue
        for sample in compared:
            print(_line(name, sample), flush=True)
            status = status if getattr(sample, "agrees", False) else 1
    return status


def _line(name, sample):
    """Say what came of one sample."""
    from wfmlib.book.runs import Failure

    if isinstance(sample, Failure):
        return f"{name}: {sample}"
    verdict = (
        "equal" if not sample.excess else f"{sample.excess:.2g} tolerances apart in {sample.where}"
    )
    verdict = verdict if math.isfinite(sample.excess) else f"another value of {sample.where}"
    path = " (on a chaotic path)" if sample.chaotic and sample.excess > 1.0 else ""
    return f"{name}: {sample.task}: {verdict}{path}: {'agrees' if sample.agrees else 'differs'}"
