"""Faults that an editor saw in reports, each mended by its rule."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.compare.resources.telemetry_model import BusiestProcessor
from bakeoff.disclosure.paper.model import Bed
from bakeoff.load.load_step import Clients
from bakeoff.report.blocks.tree import Chart, Column, Table
from bakeoff.report.blocks.zeros import without_zeros
from bakeoff.report.compose import compose
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.paper.testbed import Generators, of_generators
from bakeoff.report.sections.result.result import _verdict_with_work
from tests.unit.compare.synthetic import FAST, SLOW, run


def tables(**changed: float) -> list[Table]:
    record = run((FAST, replace(SLOW, **changed)))
    report = compose(record, compare_run(record))
    return [
        block.table if isinstance(block, Chart) else block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Table | Chart)
    ]


def test_no_column_is_called_value_and_those_of_charts_have_units() -> None:
    assert not [table.title for table in tables() for column in table.columns if column.title == "value"]
    (rate,) = [table for table in tables() if table.title.startswith("Requests/s (requests/s), ")]
    assert [column.title for column in rate.columns] == ["Clients", *["requests/s", "95 % interval"] * 2]


def test_where_nothing_failed_there_is_no_table_of_zeros() -> None:
    record = run()
    sections = {one.id: one.blocks for one in compose(record, compare_run(record)).sections}
    assert [type(block).__name__ for block in sections["left-out"]] == ["Text"]
    table = Table("Mail", (Column("Step"), Column("lost"), Column("late")), (("1", "0", "2"), ("4", "0", "0")), "Note.")
    kept = without_zeros(table, ("lost", "late"), "Of these messages")
    assert [column.title for column in kept.columns] == ["Step", "late"] and kept.rows == (("1", "2"), ("4", "0"))
    assert kept.note == "Note. Of these messages lost: none."


def test_the_mean_over_processors_is_not_more_than_the_highest_of_them() -> None:
    """Seen: "both together 80 % (… none was over 79 %)"."""
    found = BusiestProcessor("a", Clients(8), True, 0.91, 2, 0.80, 0.79, False)
    assert "none was over" not in sentence(found)
    assert "none was over 85 %" in sentence(replace(found, highest_share=0.85))


def test_when_it_was_tested_is_known_from_the_runs() -> None:
    """Seen: "When it was tested: not disclosed" beside the time to the second."""
    assert of_generators(Generators(days=("2026-11-22",)))["date_tested"] == "2026-11-22"
    assert of_generators(Generators(days=("2026-11-23", "2026-11-22")))["date_tested"] == "2026-11-22 to 2026-11-23"
    assert "date_tested" not in of_generators(Generators()) and not Bed().fields


def test_a_small_ratio_has_one_notation_and_is_turned_round_once() -> None:
    (verdicts,) = [table for table in tables(capacity=900.0) if table.title == "Verdicts"]
    assert verdicts.rows[0][1].startswith("0.0") and "/" not in verdicts.rows[0][1]
    assert verdicts.note.count("The other way round: nginx ÷ apache ") == 1
    assert "The other way round" not in next(table for table in tables() if table.title == "Verdicts").note


def test_who_answers_faster_and_does_a_part_of_the_work_is_not_called_better_alone() -> None:
    """Seen: "1/497 better" of a server that took 1/60 of the mail."""
    record = run((FAST, replace(SLOW, capacity=900.0)))
    (pair,) = compare_run(record).pairs
    mean = next(end for end in pair.secondary if end.metric == "mean")
    assert _verdict_with_work(pair.primary, mean, mean.verdict) == "nginx better"
    quick = replace(mean, ratio=0.2, verdict=replace(mean.verdict, winner="apache"))
    assert _verdict_with_work(pair.primary, quick, quick.verdict) == "apache better, at 0.036× the work"
