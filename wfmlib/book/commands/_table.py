"""Tables and named lines in a terminal, no wider than we count on."""

from __future__ import annotations

import textwrap

#: Columns of the tables that `wfm` prints.
WIDTH = 100
GAP = "  "


def table(rows, right=()):
    """Return rows of cells as aligned lines; the columns in `right` are flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def named(name, text, indent=4, width=10):
    """Return a text as lines below each other, its name before the first."""
    head = f"{'':<{indent}}{name:<{width}}"
    return textwrap.fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
