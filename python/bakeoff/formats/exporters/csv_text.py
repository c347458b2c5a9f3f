"""Rows as CSV by RFC 4180: UTF-8, lines end with CR LF, cells with a comma, a quote or a line end stand in quotes.

Spreadsheets take text that begins with `=`, `+`, `-`, `@`, a tab or a line end for a formula. Such text, and text that
begins with an apostrophe, gets one apostrophe in front: who takes the first one off again has it as it was. Numbers
stay as they are. What is not known is an empty cell.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence

Value = str | int | float | bool | None
# The wide forms are taken for the plain ones by some.
DEFUSED = tuple("=+-@\t\r\n'＝＋－＠")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """The whole file, with a line of column names first."""
    out = io.StringIO()
    writer = csv.writer(out)  # its own line end is CR LF
    writer.writerow([cell(column) for column in columns])
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def cell(value: Value) -> str:
    """One value: numbers in as many digits as tell them from all others."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(DEFUSED) else value
    return repr(value)
