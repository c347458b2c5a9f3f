"""Prints the table as Markdown with the count of its cells: `python -m tests.faults`."""

import sys
from collections import Counter
from itertools import groupby

from tests.faults.sorts import LOADS, SUITES
from tests.faults.table import Cell, cells


def markdown(every: list[Cell]) -> list[str]:
    """A row for each fault and suite, a column for each load."""
    lines = [f"| fault | suite | {' | '.join(LOADS)} |", f"|---|---|{'---|' * len(LOADS)}"]
    for (fault, suite), group in groupby(every, key=lambda cell: (cell.fault, cell.suite)):
        found = [cell.says.outcome for cell in group]
        if set(found) != {"never meet"}:
            lines.append(f"| {fault} | {suite} | {' | '.join(found)} |")
    return lines


def main() -> None:
    """The table and its count."""
    every = cells()
    counts = Counter("run" if cell.is_run else cell.says.outcome for cell in every)
    faults = len({cell.fault for cell in every})
    texts = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    count = f"{len(every):,} cells ({faults} faults × {len(SUITES)} suites × {len(LOADS)} loads): {texts}."
    sys.stdout.write("\n".join([*markdown(every), "", count, ""]))


if __name__ == "__main__":
    main()
