"""The command `wfm`.

A command is one function here that adds its arguments and names what runs it; `COMMANDS` lists
them. A command's run takes the parsed arguments and returns the exit status.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from itertools import groupby

import wfmlib

WIDTH = 100  # columns
GAP = "  "


def main(argv=None):
    """Run `wfm` with these arguments, those of the command line by default.

    Returns
    -------
    int
        Exit status: 0 if all is well, 1 if something came out otherwise than expected, 2 if the
        command could not be understood, 130 if it was interrupted.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    if not hasattr(args, "run"):
        parser.print_help()
        return 0
    try:
        return args.run(args)
    except ValueError as error:  # an argument that a function of the package refused
        print(f"wfm {args.command}: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, SystemError) as error:
        if isinstance(error, SystemError):  # a kernel ran: the import costs nothing
            from wfmlib.learning.enumeration import is_interrupt

            if not is_interrupt(error):
                raise
        print("interrupted", file=sys.stderr)
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog="wfm",
        description="Wide flat minima: the command line of wfmlib.",
        epilog=textwrap.dedent(
            """\
            examples:
              wfm claims               what the papers state, and what we find
              wfm claims --chapter 1   the same for one chapter
              wfm claims --help        more about a command"""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"wfmlib {wfmlib.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for add in COMMANDS:
        add(commands)
    return parser


# ------------------------------------------------------------------------------------------------
# wfm claims
# ------------------------------------------------------------------------------------------------


def _add_claims(commands):
    parser = commands.add_parser(
        "claims",
        help="compare what the papers state with what we find",
        description=textwrap.dedent(
            """\
            Compare what the papers state with what we find.

            Each claim is computed here and now, unless it says why it is not. A number holds
            when it lies within the tolerance of the quoted one; `wfm claims ID` says where the
            claim stands, where its tolerance comes from and how it was found."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm claims                             every claim, in a few seconds
              wfm claims --chapter 1                 those of one chapter
              wfm claims --paper P3 --verbose        those of one paper, with all details
              wfm claims binary-perceptron-capacity  one claim, with all details
              wfm claims --json > claims.json        for programs

            The exit status is 1 if a verdict is not the one that the ledger expects."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="claims to check (default: all)")
    parser.add_argument(
        "--chapter", type=int, choices=range(1, 10), metavar="N", help="only chapter N, 1 to 9"
    )
    parser.add_argument("--paper", choices=("P1", "P2", "P3"), help="only claims of this paper")
    parser.add_argument("-v", "--verbose", action="store_true", help="details of every claim")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run_claims)


def _run_claims(args):
    from wfmlib import claims  # late: --help and --version need none of it

    chosen = [claims.get(id) for id in args.ids] or claims.load()
    chosen = [
        claim.id
        for claim in chosen
        if args.chapter in (None, claim.chapter) and args.paper in (None, claim.source.paper)
    ]
    verdicts = claims.check_all(chosen)
    if args.json:
        print(json.dumps([one.as_dict() for one in verdicts], indent=2, ensure_ascii=False))
    else:
        _print_verdicts(verdicts, bool(args.ids) or args.verbose)
        print(claims.summary(verdicts))
    return 0 if all(one.as_expected for one in verdicts) else 1


def _print_verdicts(verdicts, details):
    """Print a table, chapter by chapter; with `details`, what stands behind each line."""
    head = ("claim", "paper", "quoted", "found", "tolerance", "verdict")
    rows = [head, *(_row(one) for one in verdicts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    numbers = (2, 3, 4)

    def line(row):
        cells = [
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return GAP.join(cells).rstrip()

    print(line(head))
    by_chapter = sorted(verdicts, key=lambda one: one.claim.chapter)
    for chapter, group in groupby(by_chapter, key=lambda one: one.claim.chapter):
        print(f"\nchapter {chapter}")
        for one in group:
            print(line(_row(one)))
            if details or not one.as_expected:
                _print_details(one)
    print()


def _row(verdict):
    claim = verdict.claim
    mark = "" if verdict.as_expected else " (!)"
    if claim.numeric:
        quoted, found, tolerance = claim.printed, verdict.found_text, f"{claim.tolerance:g}"
    else:
        quoted, tolerance = "true", ""
        found = {"holds": "true", "differs": "false"}.get(verdict.verdict, "")
    return claim.id, claim.source.paper, quoted, found, tolerance, verdict.verdict + mark


def _print_details(verdict):
    claim = verdict.claim
    said = (
        ("claim", claim.statement),
        ("where", str(claim.source)),
        ("how", claim.how),
        ("found", verdict.found_text),
        ("tolerance", claim.why),
        ("reason", verdict.reason),
        ("expected", "" if verdict.as_expected else claim.expected),
        ("took", f"{verdict.seconds:.2f} s" if claim.compute else ""),
    )
    for name, text in said:
        if text:
            indent = f"    {name:<10}"
            print(
                textwrap.fill(
                    text, WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent)
                )
            )
    print()


COMMANDS = (_add_claims,)


if __name__ == "__main__":
    sys.exit(main())
