"""Cells of web-session, replay, httperf."""

import pytest

from tests.faults.run import Runner
from tests.faults.table import Cell
from tests.faults.verdict import cells_of, fits, named


@pytest.mark.parametrize("cell", cells_of("web-session", "replay", "httperf"), ids=named)
def test_cell(runner: Runner, cell: Cell) -> None:
    assert fits(cell.says, runner.run(cell.fault, cell.suite, cell.load)) == ""
