"""Whether what came out of a cell is what must come out."""

import re
from pathlib import Path

from tests.faults import table
from tests.faults.bench import EVIL
from tests.faults.run import REFUSED, Came

PAGE = Path(__file__).parents[2] / "docs/explanation/how-could-a-worse-server-look-better.md"


def fits(says: table.Says, came: Came) -> str:
    """What is wrong with what came; empty where nothing is."""
    allowed = {
        table.DISQUALIFIED: {"disqualified"},
        table.WITHHELD: {"withheld"},
        table.LOSES: {"loses"},
        table.NEVER_AHEAD: {"disqualified", "withheld", "loses", REFUSED},
        table.NAMED: {"wins"},
        table.FAIR: {"wins"},
        table.UNSEEN: {"wins"},
        table.REFUSED: {REFUSED},
        table.NO_VERDICT: {"too_few", REFUSED},
    }[says.outcome]
    if came.outcome not in allowed:
        return f"came out as {came.outcome!r}: {came.headline[:300]}"
    if says.words not in came.headline:
        return f"does not say {says.words!r}: {came.headline[:300]}"
    if says.outcome not in (table.FAIR, table.UNSEEN, table.NAMED) and came.praised:
        return f"{EVIL} is told to be better by {came.winners}: {came.headline[:300]}"
    if unexplained := set(came.metrics) - documented():
        return f"these endpoints have no paragraph in {PAGE}: {sorted(unexplained)}"
    return ""


def documented() -> set[str]:
    """The endpoints of which the page says how a worse server could look better by them."""
    return set(re.findall(r"\*\*`([a-z0-9_]+)`\*\*", PAGE.read_text()))


def named_tests() -> list[str]:
    """The tests that the page names."""
    return re.findall(r"`(tests/[a-z0-9_/]+\.py::[a-z0-9_]+)`", PAGE.read_text())


def cells_of(*suites: str) -> list[table.Cell]:
    """The cells of suites that are run."""
    return [cell for cell in table.cells() if cell.suite in suites and cell.is_run]


def named(cell: table.Cell) -> str:
    """The name of its test."""
    return f"{cell.fault}, {cell.suite}, {cell.load}"
