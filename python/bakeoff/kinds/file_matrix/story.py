"""What each test of a file matrix does, in prose."""

from __future__ import annotations

from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.cells import title

TESTS = {
    "write": "makes a new file, record after record",
    "rewrite": "writes a file that is there again, from its beginning",
    "read": "reads it from its beginning",
    "reread": "reads it once more, now that it was read",
    "random_read": "reads as many records, at places drawn at random",
    "random_write": "writes them at such places",
    "backward_read": "reads the last record first, and so on to the beginning",
    "record_rewrite": "writes the same record in one place again and again",
    "stride_read": "reads a record, leaves out a fixed distance, reads the next",
    "fwrite": "makes a new file through the buffer of the C library",
    "refwrite": "writes it again in this way",
    "fread": "reads it in this way",
    "refread": "reads it once more in this way",
    "mixed": "reads and writes records at random, side by side",
}


def narrative(context: Context) -> tuple[str, ...]:
    """What a cell is, and each test of this run in a line."""
    cells = context.comparison.cells
    measured = dict.fromkeys(level.test for level in cells.measured) if cells is not None else {}
    tests = "; ".join(f"{title(test)} {TESTS[test]}" for test in measured if test in TESTS)
    text = (
        "Each test is done for each size of file and of record: a cell. A cell's rate is the bytes of the file over "
        "the time of the whole test."
    )
    return (text, f"{wording.sentence(tests)}.") if tests else (text,)
