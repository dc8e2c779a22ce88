"""`wfm claims`: what the papers state, and what we find."""

from __future__ import annotations

import argparse
import json
import textwrap
from itertools import groupby

from wfmlib.book.commands._table import named, table

_PAPERS = (  # of `wfmlib.book.claims`, which --help does not load
    "P1", "P2", "P3", "A1", "A25", "B20", "D1", "D17", "E92", "PZ26", "S1", "S2", "S3", "S4",
    "S5", "SB25", "ZP21",
)  # fmt: skip


def add(commands):
    """Add `wfm claims`."""
    parser = commands.add_parser(
        "claims",
        help="compare what the papers state with what we find",
        description=textwrap.dedent(
            """\
            Compare what the papers state with what we find.

            Each claim is computed here and now, or read from the archive of a run at paper
            scale, unless it says why it is not. A number holds when it lies within the
            tolerance of the quoted one; `wfm claims ID` says where the claim stands, where its
            tolerance comes from, how it was found and what would have made it fail. A claim is
            undecided where the data or the words of the paper cannot tell, and calibrated where
            a setting was chosen so that it comes out.
            Archives are looked for in the folder that WFMLIB_RESULTS names, or in book/results
            here or above; where wfmlib was installed from the book's site, they are fetched from
            there into the user's cache (WFMLIB_SITE names another address of it, or a folder)."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm claims                             every claim, in a few seconds
              wfm claims --chapter 1                 those of one chapter
              wfm claims --paper P3 --verbose        those of one paper, with all details
              wfm claims binary-perceptron-capacity  one claim, with all details
              wfm claims --json > claims.json        for programs

            The exit status is 1 if a verdict is not the one that the ledger expects. A claim
            whose archive is not here, or lacks samples, is not checked, and changes nothing."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="claims to check (default: all)")
    parser.add_argument(
        "--chapter", type=int, choices=range(1, 14), metavar="N", help="only chapter N, 1 to 13"
    )
    parser.add_argument(
        "--paper",
        choices=_PAPERS,
        help="only claims of this paper",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="details of every claim")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(args):
    from wfmlib.book import claims  # late: --help and --version need none of it

    chosen = [claims.get(id) for id in args.ids] or claims.load()
    chosen = [
        claim.id
        for claim in chosen
        if args.chapter in (None, claim.chapter) and args.paper in (None, claim.source.paper)
    ]
    verdicts = claims.check_all(chosen)
    if args.json:
        rows = [verdict.as_dict() for verdict in verdicts]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print_verdicts(verdicts, bool(args.ids) or args.verbose)
        print(claims.summary(verdicts))
    return 0 if all(verdict.as_expected for verdict in verdicts) else 1


def _print_verdicts(verdicts, details):
    """Print a table, chapter by chapter; with `details`, what stands behind each line."""
    head = ("claim", "paper", "quoted", "found", "tolerance", "verdict")
    ordered = sorted(verdicts, key=lambda verdict: verdict.claim.chapter)
    first, *lines = table([head, *map(_row, ordered)], right=(2, 3, 4))
    print(first)
    pairs = zip(ordered, lines, strict=True)
    for chapter, group in groupby(pairs, key=lambda pair: pair[0].claim.chapter):
        print(f"\nchapter {chapter}")
        for verdict, line in group:
            print(line)
            if details or not verdict.as_expected:
                _print_details(verdict)
    print()


def _row(verdict):
    claim = verdict.claim
    mark = "" if verdict.as_expected else " (!)"
    if claim.numeric:
        quoted, finding, tolerance = claim.printed, verdict.found_text, f"{claim.tolerance:g}"
    else:
        quoted, tolerance = "true", ""
        words = {"holds": "true", "calibrated": "true", "differs": "false", "undecided": "open"}
        finding = words.get(verdict.verdict, "")
    return claim.id, claim.source.paper, quoted, finding, tolerance, verdict.verdict + mark


def _print_details(verdict):
    claim = verdict.claim
    details = (
        ("claim", claim.statement),
        ("where", str(claim.source)),
        ("its words", claim.words),
        ("how", claim.how),
        ("fails by", claim.fails),
        ("found", verdict.found_text),
        ("tolerance", claim.why),
        ("needed", verdict.needed),
        ("reason", verdict.reason),
        ("expected", "" if verdict.as_expected else claim.expected),
        ("took", f"{verdict.seconds:.2f} s" if claim.compute else ""),
    )
    for name, text in details:
        if text:
            print(named(name, text))
    print()
