"""Slips in tables whose truth is known: how many of them an audit finds, and how many clean tables it suspects.

`python -m tests.unit.audit.test_seeded_slips` prints the table of docs/reference/audits.md.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from bakeoff.audit.audit import Audit, audit
from tests.unit.audit import made

TRIES = 40
# Response time × rate holds to the edges of a window, 2 %; what is less than that is no slip that arithmetic sees.
SMALLEST = 0.03
# Cells that other numbers of the table determine.
DETERMINED: dict[str, tuple[str, ...]] = {
    "closed loop": ("rate [req/s]", "mean [ms]", "operations", "errors", "requests"),
    "closed loop with a pause": ("rate [req/s]", "operations", "errors", "requests"),
    "blocks in 10^6 bytes": ("block size [KiB]", "rate [IOPS]", "throughput [MB/s]"),
    "blocks in 2^20 bytes": ("block size [KiB]", "rate [IOPS]", "throughput [MB/s]"),
    "parts and total": ("operations", "errors"),
    "changes of a base": ("rate [req/s]", "change [%]"),
}


@dataclass(frozen=True)
class Damaged:
    """A table with one slip: what it was before, and where."""

    cells: made.Cells
    row: int
    heading: str
    before: str


def slipped(slip: made.Slip, form: str, seed: int) -> Damaged | None:
    """A clean table of a form with one slip; None where it changes less than printed digits show."""
    rng = random.Random(seed)
    cells = made.CLEAN[form](rng)
    row, heading = rng.randrange(len(cells)), rng.choice(DETERMINED[form])
    before = cells[row][heading]
    after = slip(rng, before)
    if not after.strip(".") or float(after) == 0 or abs(float(after) - float(before)) < SMALLEST * abs(float(before)):
        return None
    cells[row][heading] = after
    return Damaged(cells, row, heading, before)


def with_slip(slip: made.Slip) -> Iterator[tuple[Audit, Damaged]]:
    for form in DETERMINED:
        for seed in range(TRIES):
            damaged = slipped(slip, form, seed)
            if damaged is not None:
                yield audit([made.table(damaged.cells)]), damaged


def copied_row() -> Iterator[Audit]:
    """A row that stands at another load, too."""
    for form in ("closed loop", "closed loop with a pause", "blocks in 10^6 bytes", "two contenders"):
        for seed in range(TRIES):
            rng = random.Random(seed)
            cells = made.CLEAN[form](rng)
            row, load = (
                rng.randrange(1, len(cells)),
                next(name for name in cells[0] if made.unit(name)[0] in made.LOADS),
            )
            if form == "two contenders":
                for to, own in zip(cells[len(cells) // 2 :], cells, strict=False):
                    to["throughput [MB/s]"] = own["throughput [MB/s]"]
            else:
                cells[row] = {**cells[row - 1], load: cells[row][load]}
            yield audit([made.table(cells)])


def altered_total() -> Iterator[Audit]:
    """The total of the parts is another one."""
    for seed in range(TRIES):
        rng = random.Random(seed)
        cells = made.parts(rng)
        row = rng.choice([at for at, cell in enumerate(cells) if cell["part"] == "total"])
        cells[row]["operations"] = str(int(cells[row]["operations"]) + rng.choice([-1, 1]) * rng.randint(1, 5000))
        yield audit([made.table(cells)])


def hidden_errors() -> Iterator[Audit]:
    """Requests that failed are not told of."""
    for seed in range(TRIES):
        rng = random.Random(seed)
        cells = made.closed_loop(rng)
        row = rng.randrange(len(cells))
        failed = rng.randint(20, 900)
        cells[row]["requests"] = str(int(cells[row]["operations"]) + int(cells[row]["errors"]) + failed)
        yield audit([made.table(cells)])


def hidden_pause() -> Iterator[Audit]:
    """One load step was measured with a pause between requests."""
    for seed in range(TRIES):
        rng = random.Random(seed)
        cells = made.closed_loop(rng)
        row = cells[rng.randrange(len(cells))]
        rate = int(row["clients"]) / (float(row["mean [ms]"]) / 1e3 * rng.uniform(1.15, 3))
        done = round(rate * int(row["duration [s]"]))
        row |= {"rate [req/s]": f"{rate:.1f}", "operations": str(done), "requests": str(done + int(row["errors"]))}
        yield audit([made.table(cells)])


def unit_of_the_table() -> Iterator[Audit]:
    """A heading says MB/s, and the column is in KB/s."""
    for seed in range(TRIES):
        rng = random.Random(seed)
        cells = made.blocks(rng, rng.choice([1e3, 2.0**10]))
        yield audit([made.table(cells)])


SLIPS: dict[str, made.Slip] = {
    "a digit lost": made.lost,
    "a digit doubled": made.doubled,
    "two digits exchanged": made.exchanged,
    "a cell changed by 20 %": made.fifth,
    "a unit slipped": made.unit_slip,
}
OTHERS: dict[str, Callable[[], Iterator[Audit]]] = {
    "a row or column copied": copied_row,
    "a total altered": altered_total,
    "errors hidden": hidden_errors,
    "a pause hidden": hidden_pause,
    "the unit of a table slipped": unit_of_the_table,
}


def found(audits: Iterator[Audit]) -> tuple[int, int]:
    """How many audits found something, and of how many."""
    flagged = [bool(one.findings) for one in audits]
    return sum(flagged), len(flagged)


@pytest.mark.parametrize("kind", SLIPS)
def test_slips_that_other_numbers_contradict_are_found(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    number, all_ = found(one for one, _ in with_slip(SLIPS[kind]))
    with capsys.disabled():
        sys.stdout.write(f"\n{kind}: {number} of {all_} found\n")
    assert all_ >= 90 and number >= 0.95 * all_


@pytest.mark.parametrize("kind", OTHERS)
def test_other_damage_is_found(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    number, all_ = found(OTHERS[kind]())
    with capsys.disabled():
        sys.stdout.write(f"\n{kind}: {number} of {all_} found\n")
    assert all_ >= TRIES and number >= 0.95 * all_


def test_a_unit_that_is_wrong_leaves_no_row_consistent() -> None:
    """One finding stands for all of its rows; no other check has more findings than comparisons."""
    of_rows = 0
    for one in unit_of_the_table():
        (law,) = (outcome for outcome in one.outcomes if outcome.check == "throughput")
        of_rows += law.consistent == 0
        assert all(outcome.checked >= sum(f.comparisons for f in outcome.findings) for outcome in one.outcomes)
    assert of_rows == TRIES


@pytest.mark.parametrize("form", made.CLEAN)
def test_clean_tables_are_not_suspected(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    number, all_ = found(audit([made.table(made.CLEAN[form](random.Random(seed)))]) for seed in range(100, 200))
    with capsys.disabled():
        sys.stdout.write(f"\nclean, {form}: {number} of {all_} suspected\n")
    assert number <= 0.01 * all_


@pytest.mark.parametrize("kind", ["a digit lost", "a digit doubled", "two digits exchanged"])
def test_the_right_number_is_blamed_and_mended(kind: str) -> None:
    """Not always: where two numbers determine a third any of the three may be the wrong one."""
    pairs = [(one, damaged) for one, damaged in with_slip(SLIPS[kind]) if one.findings]
    blamed = sum(one.findings[0].places[0].line == damaged.row + 2 for one, damaged in pairs)
    mended = sum(
        damaged.before in {repair.text for finding in one.findings for repair in finding.repairs}
        for one, damaged in pairs
    )
    assert blamed >= 0.7 * len(pairs) and mended >= 0.6 * len(pairs)


if __name__ == "__main__":
    kinds = {name: (one for one, _ in with_slip(slip)) for name, slip in SLIPS.items()}
    for name, audits in {**kinds, **{name: make() for name, make in OTHERS.items()}}.items():
        number, all_ = found(audits)
        sys.stdout.write(f"| {name} | {all_} | {number} | {100 * number / all_:.1f} % |\n")
