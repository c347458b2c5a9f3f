"""An audit of twice as many rows, or files, is twice the work: calls are counted, so that no clock decides."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bakeoff.audit.audit import audit
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.importers import importer
from bakeoff.formats.importers.base import Options
from tests.unit.audit.made import table

ROWS = 300


def calls_of(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called; steps of generators are among them."""
    count = 0

    def watch(frame: Any, event: str, what: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def load_steps(rows: int, path: str = "paper.csv", wrong: float = 0.0, seed: int = 1) -> ForeignTable:
    """Rates and counts of a server that saturates, of which a share `wrong` of the rows does not fit."""
    chance = np.random.default_rng(seed)
    cells = []
    for clients in range(1, rows + 1):
        rate = 50_000 * clients / (clients + 40) * chance.uniform(0.999, 1.001)
        slip = 1.3 if chance.random() < wrong else 1.0
        cells.append(
            {
                "clients": str(clients),
                "rate [req/s]": f"{rate:.1f}",
                "mean [ms]": f"{clients / rate * 1e3:.4f}",
                "p99 [ms]": f"{clients / rate * (0.5e3 if slip > 1 else 3e3):.4f}",
                "duration [s]": "60",
                "operations": str(round(rate * 60 * slip)),
            }
        )
    return table(cells, path)


@pytest.mark.parametrize("wrong", [0.0, 0.3])
def test_work_grows_with_rows_and_no_faster(wrong: float) -> None:
    one, two = load_steps(ROWS, wrong=wrong), load_steps(2 * ROWS, wrong=wrong)
    assert bool(audit([one]).impossible) == bool(wrong)
    assert calls_of(lambda: audit([two])) < 2.3 * calls_of(lambda: audit([one]))


def test_work_grows_with_files_and_no_faster() -> None:
    files = [load_steps(12, f"{number}.csv", seed=number) for number in range(40)]
    assert calls_of(lambda: audit(files)) < 2.3 * calls_of(lambda: audit(files[:20]))


def with_totals(rows: int) -> ForeignTable:
    """After each row a total of it, as a hostile file may have them."""
    made = table([{"operations": str(1_000 + number)} for number in range(rows)])
    measured = tuple(replace(row, line=2 * row.line) for row in made.rows)
    totals = tuple(replace(row, line=row.line + 1, part="Total") for row in measured)
    return replace(made, rows=measured, summaries=totals)


def test_work_grows_with_totals_and_no_faster() -> None:
    one, two = with_totals(ROWS), with_totals(2 * ROWS)
    assert calls_of(lambda: audit([two])) < 2.3 * calls_of(lambda: audit([one]))


def read_and_audited(path: Path, rows: int) -> int:
    """The calls to read and audit a file of so many rows of plain numbers."""
    made = "".join(f"{at},{at * 90.25:.2f},{at * 87.5:.2f}\n" for at in range(1, rows + 1))
    path.write_text("clients,nginx (req/s),apache (req/s)\n" + made)
    return calls_of(lambda: audit([importer("table").read(Source(path), Options())]))


def test_plain_numbers_are_read_and_audited_all_at_once(tmp_path: Path) -> None:
    read_and_audited(tmp_path / "warm.csv", ROWS)
    few, many = (read_and_audited(tmp_path / f"{rows}.csv", rows) for rows in (ROWS, 10 * ROWS))
    assert many < 1.1 * few
