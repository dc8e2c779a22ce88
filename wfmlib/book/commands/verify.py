"""`wfm verify`: whether archives are what the code that is here would make."""

from __future__ import annotations

import argparse
import sys
import textwrap

from wfmlib.book.commands._table import named, table

SHOWN = 5  # samples that differ, told one by one


def add(commands):
    """Add `wfm verify`."""
    parser = commands.add_parser(
        "verify",
        help="compare samples of archives with new ones",
        description=textwrap.dedent(
            """\
            Compare samples of archives with new ones, computed by the code that is here.

            An archive that other code made is not wrong, but nobody knows. Some of its samples are
            drawn at random, of those that take no longer than the time given, and computed anew.
            Numbers must be equal, or within the experiment's tolerance. Where paths are chaotic,
            samples that differ are compared by their distribution: the rank of each new one among
            the archived ones at its point. That excludes gross differences only; how large a shift
            would have shown is printed, in standard deviations.

            What came of it is noted in the provenance beside the archive, with the digest of the
            code; `wfm list` and the scorecard read it."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm verify NAME                        up to 10 samples, in about five minutes
              wfm verify NAME --samples 30 --minutes 60
              wfm verify --all --minutes 2           every archive that this code neither made nor
                                                     verified, two minutes each

            result: `agrees`, `differs`, or `too few samples` to tell.
            The exit status is 1 unless all agree, 130 after Ctrl-C."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments, see `wfm list`")
    parser.add_argument(
        "--all", action="store_true", help="all archives that the code here did not make or verify"
    )
    parser.add_argument(
        "--samples", type=int, default=10, metavar="N", help="of each, at most (default: 10)"
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

    folder = args.folder or experiments.results_folder()
    names = args.names or (_stale(folder) if args.all else [])
    if not names:
        said = "nothing to verify" if args.all else "name an experiment, or give --all"
        print(f"wfm verify: {said}", file=sys.stderr)
        return 0 if args.all else 2
    for name in names:
        experiments.get(name)  # all must be known before the first is computed
    rows, details, status = [], [], 0
    for name in names:
        try:
            found = experiments.verify(
                name, folder, samples=args.samples, minutes=args.minutes, seed=args.seed
            )
        except (OSError, experiments.DamagedArchiveError) as error:
            print(f"wfm verify {name}: {error}", file=sys.stderr)
            return 1
        rows.append(_row(name, found))
        details += _details(name, found)
        status = max(status, 0 if found.agrees else 1)
    head = ("experiment", "samples", "identical", "close", "least p", "result")
    print("\n".join(table([head, *rows], right=(1, 2, 3, 4))))
    for line in details:
        print(line)
    return status


def _stale(folder):
    """Return the experiments whose archive the code here neither made nor verified."""
    from wfmlib.book import experiments

    return [
        name
        for name in experiments.names()
        if experiments.state(name, folder) in ("unverified", "differs")
    ]


def _row(name, found):
    p = "" if found.ranks is None else f"{found.ranks.least:.2g}"
    result = {True: "agrees", False: "differs", None: "too few samples"}[found.agrees]
    counts = (len(found.compared), found.identical, found.close)
    return (name, *map(str, counts), p, result)


def _details(name, found):
    """Return what stands behind the line of an archive."""
    agreement, lines = found.experiment.agreement, [""]
    bound = f"{agreement.atol:g} + {agreement.rtol:g} of the value"
    largest = f"; largest difference {found.largest:.2g} of that" if found.close else ""
    text = f"tolerance {bound}, since {agreement.why}{largest}"
    lines.append(named(f"{name}:", text, 0, len(name) + 2))
    if found.ranks is not None:
        lines.append(
            f"  {found.ranks.samples} on chaotic paths, {len(found.ranks.p)} variables: least "
            f"corrected p {found.ranks.least:.2g} ({found.ranks.where}); a shift of "
            f"{found.ranks.detectable:g} deviations would have shown"
        )
    apart = [one for one in found.compared if not one.close and not one.chaotic]
    lines += [f"  {one.task}: {one.where} differs" for one in apart[:SHOWN]]
    lines += [f"  {one}" for one in found.failures[:SHOWN]]
    more = max(0, len(apart) - SHOWN) + max(0, len(found.failures) - SHOWN)
    return lines + [f"  and {more} more"] * bool(more)
