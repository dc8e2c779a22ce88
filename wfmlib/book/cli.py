"""The command `wfm`: experiments, archives, claims and data from a terminal.

Each command has a file in `wfmlib.book.commands`, whose `add` adds its arguments and names
what runs it; `COMMANDS` lists them. A command's run takes the parsed arguments and
returns the exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence

import wfmlib
from wfmlib.book.commands import check, data, ledger, listing, run, where

__all__ = ["main"]


def __dir__():
    return __all__


COMMANDS = (ledger, where, listing, run, check, data)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `wfm` with these arguments, those of the command line by default.

    Returns
    -------
    int
        Exit status: 0 if all is well, 1 if something came out otherwise than expected, 2 if the
        command could not be understood, 130 if it was interrupted, 141 if nobody reads on.

    Examples
    --------
    >>> main(["where", "P1", "no such place"])
    nothing names P1 no such place
    1
    """
    parser = _parser()
    try:
        args = parser.parse_args(argv)
        if not hasattr(args, "run"):
            parser.print_help()
            return 0
        return args.run(args)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as a shell says of a process that a closed pipe ended
    except ValueError as error:  # an argument that a function of the package refused
        print(f"wfm {args.command}: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, SystemError) as error:
        if isinstance(error, SystemError):  # a kernel ran: the import costs nothing
            from wfmlib.numerics.interrupts import is_interrupt

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
              wfm where P3 B12         which functions compute an equation of a paper
              wfm list                 the experiments, and which archives are there
              wfm run NAME --jobs 2    compute one, in two processes
              wfm check NAME           compare samples of its archive with new ones
              wfm data get             download the image data
              wfm claims --help        more about a command"""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"wfmlib {wfmlib.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
