"""What single sections of the report say about trials made for the purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Block, Chart, Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.store.records.run_records import OutsideRecord, RunRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, SecondRecord
from tests.unit.compare.synthetic import FAST, SLOW, at_rates, change, run, summary
from tests.unit.report.shown import shown


def section(record: RunRecord, name: str) -> str:
    return str(next(s for s in compose(record, compare_run(record)).sections if s.id == name))


def blocks(record: RunRecord, name: str) -> tuple[Block, ...]:
    return next(s for s in compose(record, compare_run(record)).sections if s.id == name).blocks


def seconds_table(record: RunRecord) -> Table:
    charts = compose(record, compare_run(record)).charts()
    return next(chart.table for chart in charts if chart.id == "chart-seconds-rate")


def rows(*counts: int, width_s: float = 1.0, last_s: float | None = None) -> tuple[SecondRecord, ...]:
    """Rows of `width_s`, the last one of `last_s`, all of them called part of the window."""
    found = [
        SecondRecord(round(index * width_s), "window", n, 0, n, summary(n, 1.0) if n else EMPTY_SUMMARY, width_s)
        for index, n in enumerate(counts)
    ]
    return (*found[:-1], replace(found[-1], width_s=last_s)) if last_s else tuple(found)


def timed(record: RunRecord, per_second: tuple[SecondRecord, ...], **settings: Any) -> RunRecord:
    plan = {**record.plan, "settings": {**record.plan["settings"], **settings}}
    return replace(record, plan=plan, trials=tuple(replace(t, per_second=per_second) for t in record.trials))


def test_only_seconds_wholly_inside_the_window_are_compared_and_a_dead_one_is_zero() -> None:
    given = rows(7, 9_000, 500, 0, 700, 8_000, 9_900, last_s=0.5)
    record = timed(run(blocks=2), given, ramp_up_s=1.5, ramp_down_s=1.2, length_s=6.5)  # window from 1.5 s to 5.3 s
    assert {row[2:4] for row in seconds_table(record).rows} == {("0", "700")}


def test_an_hour_is_drawn_in_few_points_which_say_so_and_its_worst_second_is_in_the_table() -> None:
    counts = [100] * 3600
    counts[1800] = 3
    record = timed(run(blocks=2, window_s=3600.0), rows(*counts), length_s=3600.0)
    charts = {chart.id: chart for chart in compose(record, compare_run(record)).charts()}
    rate = charts["chart-seconds-rate"]
    assert "40 seconds per point" in str(rate.spec)
    assert "worst of 40 seconds per point" in str(charts["chart-seconds-p99"].spec)
    points = [row for place in range(2) for row in rate.spec["datasets"][f"rows{place}"]]
    drawn = {(row["contender"], row["trial"]) for row in points}
    assert len(drawn) == 4 and len(points) == 90 * len(drawn)
    assert {row[2:] for row in rate.table.rows} == {("3", "100")}
    tails = charts["chart-seconds-p99"].table
    assert [column.title for column in tails.columns] == ["Contender", "Block", "worst p99 of a second, ms"], (
        "no table stands there twice"
    )


@pytest.mark.parametrize("load_steps", [(4, 8), (1, 2, 4, 6, 8, 10, 12, 14, 16)])
def test_ratios_of_all_figures_have_the_fewer_of_figures_and_load_steps_as_columns(load_steps: tuple[int, ...]) -> None:
    record = run(load_steps=load_steps)
    (table,) = [b for b in blocks(record, "ratios") if isinstance(b, Table) and "at each load step (bands" in b.title]
    titles = [column.title for column in table.columns]
    if len(load_steps) == 2:
        assert titles == ["Figure", "4 clients", "8 clients"]
        assert [row[0] for row in table.rows][:: len(table.rows) - 1] == ["Requests/s", "Verdict on requests/s"]
    else:
        assert titles[:2] == ["Clients", "requests/s"] and len(table.rows) == len(load_steps), "a unit, and no key"


def buffered(made: int) -> str:
    record = run(blocks=2)
    plan = {**record.plan, "settings": {**record.plan["settings"], "receive_buffer_bytes": 4096}}
    trials = tuple(replace(t, connections={**t.connections, "receive_buffer_bytes": made}) for t in record.trials)
    return section(replace(record, plan=plan, trials=trials), "method")


def test_the_receive_buffer_is_told_as_the_kernel_made_it() -> None:
    texts = "Receive buffer of the sockets: 4,096 bytes asked for, "
    assert f"{texts}8,192 bytes made of it by the kernel, which doubles it" in buffered(8192)
    assert f"{texts}4,608 bytes made of it by the kernel, which is less than twice" in buffered(4608)
    assert texts not in buffered(0) and texts not in section(run(blocks=2), "method")


def test_rates_of_wide_rows_are_per_second() -> None:
    record = timed(run(blocks=2), rows(1, 1_000, 3_000, 1, width_s=2.0), ramp_up_s=2.0, ramp_down_s=2.0, length_s=8.0)
    assert {row[2:4] for row in seconds_table(record).rows} == {("500", "1,500")}


def test_a_run_by_number_of_operations_is_window_throughout() -> None:
    record = timed(run(blocks=2, window_s=3.0), rows(40, 500, 60), ramp_up_s=1.0, ramp_down_s=1.0, operations=600)
    assert {row[2:4] for row in seconds_table(record).rows} == {("40", "500")}


def test_trials_without_a_whole_second_say_so() -> None:
    record = timed(run(blocks=2), rows(50, 50, last_s=0.6), ramp_up_s=0.2, ramp_down_s=0.2, length_s=1.6)
    text, table = blocks(record, "seconds")
    assert isinstance(text, Text) and "fewer than 3 whole seconds" in text.text
    assert isinstance(table, Table)
    (only,) = table.rows
    assert only[0] == "none: trials shorter than 2.2 s have no whole second in their window"
    assert set(only[1:]) == {"–"} and len(only) == 5


@pytest.mark.parametrize("keep_alive", [True, False])
def test_the_end_of_an_operation_is_explained(keep_alive: bool) -> None:
    record = run(blocks=1)
    record = replace(record, plan={**record.plan, "settings": {**record.plan["settings"], "keep_alive": keep_alive}})
    text = section(record, "steps")
    assert ("ends when the announced reply is complete" in text and "in no response" in text) == (not keep_alive)
    assert ("shared out over all the operations" in text) == keep_alive


def test_stale_connections_and_late_closes_are_told_when_there_are_any() -> None:
    quiet = change(run(blocks=2), "nginx", None, None, workload={"stale_connections": 0})
    assert "asked again" not in section(quiet, "errors") and "announced close" not in section(quiet, "errors")
    record = change(quiet, "apache", 4, (1,), workload={"stale_connections": 3}, connections={"late_closes": 1})
    record = change(record, "nginx", 1, None, connections={"late_closes": 2})
    text = section(record, "errors")
    assert "apache had closed 3 kept connections before a request reached it" in text
    assert "it left 1 announced close to the client" in text
    assert "nginx left 4 announced closes to the client" in text


def test_failures_outside_the_windows_are_told() -> None:
    quiet = change(run(blocks=2), "nginx", None, None, outside=OutsideRecord(operations=50, errors=0))
    assert "outside the measured windows" not in section(quiet, "errors")
    record = change(quiet, "apache", 4, None, outside=OutsideRecord(operations=7, errors=3))
    assert "apache: 6 of 20 operations failed outside the measured windows" in section(record, "errors")


def test_how_many_bodies_were_hashed_is_told() -> None:
    assert "hashed" not in section(run(blocks=2), "audits")
    record = change(run(blocks=2), "apache", None, None, workload={"bodies_hashed": 7}, operations=10)
    assert "The bodies of 42 replies of apache were hashed" in section(record, "audits")


def test_how_late_clients_began_is_shown() -> None:
    record = change(run(blocks=2), "nginx", 8, (2,), generator_late_start=summary(100, 2.0))
    assert "In every trial 99 % of the starts were at most" in section(record, "generator")


def test_the_generator_s_wait_for_a_processor_is_shown() -> None:
    marks = ("generator-waited",)
    record = change(run(blocks=2), "nginx", 8, (2,), marks=marks, generator_run_delay_share=0.0625)
    found = next(s for s in compose(record, compare_run(record)).sections if s.id == "generator")
    assert "waited up to 6.25 % of its time for a processor in 1 of 12 trials" in str(found)
    table = next(block.table for block in found.blocks if hasattr(block, "table"))
    assert [column.title for column in table.columns[1:3]] == ["CPU %", "waited %"]
    assert table.rows[2][2] == "6.25" and table.rows[0][2] == "–"


def test_failed_requests_are_listed_by_contender_and_status() -> None:
    record = run(blocks=2)
    failed = {"requests": {"GET /login?a": {"302": 5, "reset": 1}}, "others": 2}
    hit = [
        replace(t, errors={"wrong_status": 5, "reset": 1}, workload={**t.workload, "failed": failed})
        for t in record.trials
    ]
    text = section(replace(record, trials=tuple(hit)), "errors")
    assert "GET /login?a" in text and f"status 302 ×{5 * len(hit) // 2:,}" in text and "all others" in text
    assert "Failed requests" not in section(record, "errors")


def test_the_table_of_rates_says_what_its_ratios_are_of() -> None:
    """Seen: p99 of 14.18 and 13.97 ms beside a ratio of 1.92, which was of the median."""
    decides = compare_run(at_rates(run())).pairs[0].primary.title
    said = f"service time (mean over blocks); ratios: {decides[0].lower()}{decides[1:]}"
    assert said in shown(at_rates(run()), Detail.SUMMARY) and decides.endswith("where neither is overloaded")


def test_ratios_of_pairs_with_other_numbers_of_blocks_fill_one_table() -> None:
    third = replace(SLOW, name="third")
    record = change(run((FAST, SLOW, third)), "third", 8, (2,), state="voided", reason="ports")
    section = next(part for part in compose(record, compare_run(record)).sections if part.id == "ratios")
    tables = [block.table for block in section.blocks if isinstance(block, Chart)]
    assert tables and "Blocks" in [column.title for column in tables[0].columns]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)


def test_a_run_is_held_to_the_arithmetic_of_published_results_once() -> None:
    record = run(blocks=2)
    (told,) = blocks(record, "arithmetic")
    assert isinstance(told, Text) and told.severity == "plain"
    assert told.text.endswith("338 comparisons: all consistent within rounding.")
    first = record.trials[0]
    assert first.service.p50_ns is not None
    small = replace(first, service=replace(first.service, max_ns=first.service.p50_ns // 2))
    told, findings = blocks(replace(record, trials=(small, *record.trials[1:])), "arithmetic")
    assert isinstance(told, Text) and told.severity == "bad"
    assert told.text.endswith("338 comparisons: 336 consistent, 0 off and 2 impossible.")
    assert isinstance(findings, Table) and "maximum" in findings.rows[0][1] and findings.rows[0][2] == "–"
