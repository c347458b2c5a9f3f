"""What was said again and again during a run stands once in its report, with how often."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Table
from bakeoff.report.compose import compose
from bakeoff.store.records.run_records import EventRecord
from tests.unit.compare.synthetic import run

SHARED, ONCE = "both share the cores of the generator", "the clock was set"


def table(*events: EventRecord) -> Table:
    whole = replace(run(), events=events)
    report = compose(whole, compare_run(whole))
    blocks = [block for section in report.sections for block in section.blocks if isinstance(block, Table)]
    return next(block for block in blocks if block.title == "Warnings during the run")


def event(second: int, text: str, trial: int | None = None) -> EventRecord:
    return EventRecord(f"2026-11-20T10:00:{second:02}.000+00:00", "warning", text, trial)


def test_alike_ones_are_one_row_with_the_first_time_and_how_often() -> None:
    found = table(event(1, SHARED), event(2, ONCE, 7), event(3, SHARED), event(4, SHARED))
    assert [row[1:] for row in found.rows] == [("", "3", SHARED), ("7", "1", ONCE)]
    assert "10:00:01" in found.rows[0][0] and found.note == "When: the first time."


def test_trials_are_named_by_the_first() -> None:
    found = table(event(1, SHARED, 4), event(2, SHARED, 9))
    assert found.rows[0][1:] == ("4 ff.", "2", SHARED)
    assert table(event(1, ONCE, 4)).note == ""
