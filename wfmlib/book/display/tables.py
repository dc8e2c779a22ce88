"""Tables: rows of values under a header, as HTML on a page and as aligned text elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from wfmlib.numerics import arguments


class Table:
    """What `table` makes: ``rows`` of text, as they are shown, under ``columns``."""

    def __init__(self, columns, rows, textual):
        self.columns, self.rows, self._textual = columns, rows, textual

    def __repr__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        put = [str.ljust if left else str.rjust for left in self._textual]
        return "\n".join(
            "  ".join(f(text, w) for f, text, w in zip(put, line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        """Return a table with a header for each column and for each row; it scrolls if wide."""
        head = self._line(self.columns, ["col"] * len(self.columns))
        scopes = ["row"] + [""] * (len(self.columns) - 1)
        body = "".join(self._line(row, scopes) for row in self.rows)
        return (
            '<div class="wfm-table" style="overflow-x: auto"><table>'
            f"<thead>{head}</thead><tbody>{body}</tbody></table></div>"
        )

    def _line(self, texts, scopes):
        cells = []
        for text, scope, left in zip(texts, scopes, self._textual, strict=True):
            tag = f'th scope="{scope}"' if scope else "td"
            style = f'style="text-align: {"left" if left else "right"}"'
            cells.append(f"<{tag} {style}>{escape(text)}</{tag[:2]}>")
        return f"<tr>{''.join(cells)}</tr>"


def table(rows: Iterable[Sequence[Any]], columns: Mapping[str, str]) -> Table:
    """Return rows of values as a table, for the end of a cell.

    Parameters
    ----------
    rows : iterable of sequences
        The values of each row. A text is shown as it is, None as nothing.
    columns : mapping of str to str
        How the values below each header are formatted: what follows the colon in an f-string, or,
        for a tuple of values, a whole text like ``"{:.1f} ± {:.1f}"``.

    Raises
    ------
    ValueError
        If a row has another number of values than there are columns.

    Examples
    --------
    >>> table([("sign", 0.94695), ("ReLU", 0.90399)], {"unit": "", "capacity": ".3f"})
    unit  capacity
    sign     0.947
    ReLU     0.904
    """
    arguments.member("columns", columns, (Mapping,))
    rows, count = [list(row) for row in rows], len(columns)
    if wrong := [len(row) for row in rows if len(row) != count]:
        raise ValueError(f"rows must have {count} values, one for each column, got {wrong[0]}")
    shown = [
        [_text(value, spec) for value, spec in zip(row, columns.values(), strict=True)]
        for row in rows
    ]
    textual = [all(isinstance(row[k], str) for row in rows) for k in range(count)]
    return Table(list(columns), shown, textual)


def _text(value, spec):
    if value is None or isinstance(value, str):
        return value or ""
    if "{" in spec:
        return spec.format(*value) if isinstance(value, tuple) else spec.format(value)
    return format(value, spec)
