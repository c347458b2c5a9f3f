"""What each cell reached, with known answers: every p50 and p99 is that of one cell, and none is pooled."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.cli.read.cell_figures import cell_table
from bakeoff.compare import compare_run
from bakeoff.compare.model.cell import CellLevel
from bakeoff.compare.model.reason import DamagedRecords
from bakeoff.load.load_step import InFlight
from bakeoff.report.blocks.tree import Cards, Chart, Report, Table, Text
from bakeoff.report.charts.svg import figure_of
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_json
from bakeoff.report.renderers.html import render_html
from bakeoff.run.observe.observer import trial_line
from bakeoff.stats import geometric_interval
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from tests.unit.compare.synthetic_cells import KIB, matrix_run

REGION = 1 << 30
SIZES = [(REGION, 4 * KIB), (REGION, 64 * KIB)]
TESTS = ("random_read", "random_write")
# p99 in µs, by contender, test and size: no two alike, and no mean of some of them is another one.
P99_US = {
    (name, test, size): 1000 * (1 + n) + 7
    for n, (name, test, size) in enumerate(
        (name, test, size) for name in ("nfs", "cifs") for test in TESTS for _, size in SIZES
    )
}


def known_times(contender: str, block: int, cell: dict[str, Any]) -> None:
    """p99 as known, in blocks around it; p50 a tenth; a rate that is 100 MB/s times the p99 in ms."""
    p99_us = P99_US[contender, cell["test"], cell["record_bytes"]]
    around = 1.25 ** (block % 2 * 2 - 1)  # 1.25 and 0.8 in turn: their geometric mean is 1
    times = {"mean_ns": 200 * p99_us, "p50_ns": 100 * p99_us, "p95_ns": 500 * p99_us, "max_ns": 5000 * p99_us}
    cell["service"] = times | {"p99_ns": round(1000 * p99_us * around)}
    cell["operations"] = 1000
    cell["rate_kib_s"] = p99_us * 1e5 / 1024
    cell["ios_per_s"] = p99_us * 1e5 / cell["record_bytes"]


def block_run(
    load_steps: tuple[int, ...] = (1,), blocks: int = 6, change: Any = known_times, alone: bool = False
) -> RunRecord:
    record = matrix_run(lambda *_: 1.0, blocks, TESTS, SIZES, change=change, kind="file-blocks", load_steps=load_steps)
    if not alone:
        return record
    trials = tuple(t for t in record.trials if t.contender == "nfs")
    return replace(record, contenders=record.contenders[:1], trials=trials)


def report_of(record: RunRecord) -> Report:
    return compose(record, compare_run(record))


def tables(report: Report) -> list[Table]:
    return [block for section in report.sections for block in section.blocks if isinstance(block, Table)]


def words_of(report: Report) -> str:
    page = [*report.headline]
    for section in report.sections:
        for block in section.blocks:
            page += [block.text] if isinstance(block, Text) else []
            page += (
                [text for card in block.cards for line in card.lines for text in line]
                if isinstance(block, Cards)
                else []
            )
            page += [card.caption for card in block.cards] if isinstance(block, Cards) else []
            table = block if isinstance(block, Table) else block.table if isinstance(block, Chart) else None
            page += [table.title, table.note, *(column.title for column in table.columns)] if table else []
            page += [text for row in table.rows for text in row] if table else []
    return "\n".join(page)


def test_levels_are_those_of_each_cell() -> None:
    cells = compare_run(block_run()).cells
    assert cells is not None and len(cells.measured) == len(P99_US)
    for level in cells.measured:
        assert level.record_kib is not None
        p99_ms = P99_US[level.contender, level.test, int(level.record_kib * KIB)] / 1000
        assert level.p99_ms.centre == pytest.approx(p99_ms) and level.p50_ms.centre == pytest.approx(p99_ms / 10)
        assert (level.p99_ms.least, level.p99_ms.most) == pytest.approx((0.8 * p99_ms, 1.25 * p99_ms))
        assert level.kib_s.centre * 1024 / 1e6 == pytest.approx(100 * p99_ms)
        assert level.transfers_s.centre == pytest.approx(p99_ms * 1e8 / (level.record_kib * KIB))


def test_why_a_cell_has_no_rate_is_a_fact_until_it_is_told() -> None:
    def damaged(contender: str, block: int, cell: dict[str, Any]) -> None:
        known_times(contender, block, cell)
        if contender == "cifs" and cell["test"] == "random_read":
            cell["damaged"] = 1

    found = compare_run(block_run(change=damaged))
    assert found.cells is not None
    reasons = {(level.contender, level.test): level.reason for level in found.cells.measured}
    assert reasons["cifs", "random_read"] == DamagedRecords("cifs", 6)
    assert {why for where, why in reasons.items() if where != ("cifs", "random_read")} == {None}
    measured = json.loads(to_json(found))["matrix"]["measured"]
    told = {row[measured["columns"].index("reason")] for row in measured["rows"]}
    assert told == {"", "cifs gave back 6 damaged records"}
    assert [end.is_mean_of_cells for end in (found.pairs[0].primary, *found.pairs[0].secondary)] == [True] * 4


def test_the_page_has_every_p50_and_p99_and_the_data_too() -> None:
    record = block_run()
    report = report_of(record)
    (table,) = [t for t in tables(report) if t.title == "Every cell: rates and response times"]
    assert not table.folded
    known = {row[0]: row[1:] for row in table.rows}
    for (name, test, size), p99_us in P99_US.items():
        row = known[f"{test.replace('_', ' ')}, {size // KIB}K"]
        own = row[:5] if name == "nfs" else row[5:]
        assert float(own[4]) == pytest.approx(p99_us / 1000, rel=0.005)
        assert float(own[3]) == pytest.approx(p99_us / 10_000, rel=0.005)
        assert own[1] == f"{own[1].split(' – ')[0]} – {own[1].split(' – ')[1]}" and own[2]
    measured = json.loads(to_json(compare_run(record)))["matrix"]["measured"]
    rows = [dict(zip(measured["columns"], row, strict=True)) for row in measured["rows"]]
    assert {(r["contender"], r["test"], r["record_kib"]): r["p99_ms"] for r in rows} == {
        (name, test, size / KIB): pytest.approx(p99_us / 1000, rel=1e-4)
        for (name, test, size), p99_us in P99_US.items()
    }
    assert "rates-of-cells" in render_html(report)


def test_no_time_and_no_peak_of_pooled_cells_is_printed() -> None:
    """The trials' own times are of all their operations together: 0.2 ms and more in the made run."""
    for load_steps in ((1,), (1, 4)):
        record = block_run(load_steps)
        pooled = {f"{t.service.p99_ns / 1e6:.4g}" for t in record.trials if t.service.p99_ns}
        words = words_of(report_of(record))
        assert pooled and not any(figure in words.split() for figure in pooled)
        assert "peak" not in words.replace("peak is picked", "").lower(), load_steps
        assert "p99" not in trial_line(record.trials[0]) and "4 cells" in trial_line(record.trials[0])
    sheet = cell_table(block_run())
    assert sheet is not None and len(sheet.rows) == len(P99_US)
    assert {float(str(row[-1])) for row in sheet.rows} == {float(f"{p99 / 1000:.3g}") for p99 in P99_US.values()}


def test_secondary_endpoints_are_means_of_single_cells() -> None:
    pair = compare_run(block_run()).pairs[0]
    p99 = next(end for end in pair.secondary if end.metric == "p99")
    logs = [math.log(P99_US["cifs", t, s] / P99_US["nfs", t, s]) for t in TESTS for _, s in SIZES]
    assert p99.title == "Geometric mean of the p99 of 4 cells"
    assert p99.ratio == pytest.approx(math.exp(sum(logs) / 4))


def test_too_few_transfers_have_no_p99_and_the_longest_stands_for_it() -> None:
    def few(contender: str, block: int, cell: dict[str, Any]) -> None:
        known_times(contender, block, cell)
        if cell["test"] == "random_write" and contender == "cifs" and block == 2:
            cell["operations"] = 20

    record = block_run(change=few)
    comparison = compare_run(record)
    assert comparison.cells is not None
    level = next(at for at in comparison.cells.at("cifs", comparison.run.load_steps[0]) if at.test == "random_write")
    assert math.isnan(level.p99_ms.centre) and level.longest_ms == pytest.approx(5 * 7.007)
    assert f"max {level.longest_ms:.3g}" in words_of(compose(record, comparison))
    # The cells are left out for both, and the title says how many.
    p99 = next(end for end in comparison.pairs[0].secondary if end.metric == "p99")
    assert p99.title == "Geometric mean of the p99 of 2 of 4 cells"


def test_a_single_contender_has_its_matrix_maps_and_caches() -> None:
    def cached(contender: str, block: int, cell: dict[str, Any]) -> None:
        known_times(contender, block, cell)
        cell["cache"] = {"asked": "warm", "name": "warm", "proved": False}
        cell["cached"] = cell["record_bytes"] == 4 * KIB

    report = report_of(block_run(alone=True, change=cached))
    ids = {section.id for section in report.sections}
    assert ids >= {"levels", "rates-of-cells", "caches"} and "heat-map" not in ids
    charts = {chart.id: chart for chart in report.charts()}
    rate, p99 = charts["chart-heat-level-0-0-rate"], charts["chart-heat-level-0-0-p99"]
    shown = {(row["r"], row["c"]): row["t"] for row in p99.spec["datasets"]["cells"]}
    assert shown["random read", "4K"] == "1.01" and shown["random write", "64K"] == "4.01"
    assert {(row["c"], row["m"]) for row in rate.spec["datasets"]["marks"]} == {("4K", "cached")}
    assert ">1.01<" in figure_of(p99).panels[0].svg
    (card,) = next(b for s in report.sections for b in s.blocks if isinstance(b, Cards)).cards
    assert ("Cached cells", "2 of 4") in card.lines


def test_a_matrix_of_one_contender_has_a_map_for_each_test() -> None:
    sizes = [(64 * KIB, 4 * KIB), (256 * KIB, 4 * KIB), (256 * KIB, 64 * KIB)]
    record = matrix_run(lambda *_: 1.0, 2, ("read", "write"), sizes)
    alone = replace(
        record, contenders=record.contenders[:1], trials=tuple(t for t in record.trials if t.contender == "nfs")
    )
    report = report_of(alone)
    assert [c.title for c in report.charts() if c.id.startswith("chart-heat-level")] == ["Read", "Write"]
    drawn = compose(alone, compare_run(alone), surfaces=True)
    surfaces = [chart for chart in drawn.charts() if chart.id.startswith("chart-surface-")]
    assert [c.title for c in surfaces[::2]] == ["Read", "Write"] and surfaces[0].spec["datasets"]["quads"]
    ranges = next(t for t in tables(report) if t.title == "MB/s of each test")
    assert not ranges.folded and [row[0] for row in ranges.rows] == ["read", "write"]
    assert "(256K file, 64K)" in ranges.rows[0][3]


def test_transfers_and_times_stand_against_queue_depth() -> None:
    def deeper(contender: str, block: int, cell: dict[str, Any]) -> None:
        known_times(contender, block, cell)
        cell["outstanding"] = 8

    report = report_of(block_run((1, 4), change=deeper))
    charts = {chart.id: chart for chart in report.charts() if chart.id.startswith("chart-queue")}
    assert len(charts) == 2 * len(TESTS)
    rows = charts["chart-queue-0-time"].spec["datasets"]["rows"]
    assert {row["depth"] for row in rows} == {8, 32}
    read = [row["value"] for row in rows if row["contender"] == "nfs" and row["time"] == "p99"]
    assert read == pytest.approx([1.007, 1.007])
    (table,) = [t for t in tables(report) if t.title == "The other block sizes against requests in flight"]
    assert [row[0] for row in table.rows] == [
        f"random {way}, 64 KiB, {depth}" for way in ("read", "write") for depth in (8, 32)
    ]
    assert "queue-depth" not in {section.id for section in report_of(block_run()).sections}


def test_depths_of_one_run_are_a_curve_with_intervals() -> None:
    depths = {1: InFlight(1, 4), 4: InFlight(2, 16)}

    def deeper(contender: str, block: int, cell: dict[str, Any]) -> None:
        known_times(contender, block, cell)
        cell["ios_per_s"] = 1000.0 * (1.0 + 0.01 * block)

    def at(trial: TrialRecord) -> TrialRecord:
        load_step = depths[trial.load_step.clients]
        cells = [{**cell, "outstanding": load_step.outstanding} for cell in trial.workload["cells"]]
        return replace(trial, load_step=load_step, workload={**trial.workload, "cells": cells})

    record = block_run((1, 4), change=deeper)
    record = replace(record, load_steps=tuple(depths.values()), trials=tuple(map(at, record.trials)))
    report = report_of(record)
    rows = next(c for c in report.charts() if c.id == "chart-queue-0-rate").spec["datasets"]["rows"]
    assert {row["depth"] for row in rows} == {4, 32}
    expected = geometric_interval([1000.0 * (1.0 + 0.01 * block) for block in range(1, 7)])
    for row in rows:
        assert (row["value"], row["low"], row["high"]) == pytest.approx(
            (expected.centre, expected.low, expected.high), rel=1e-6
        )
    (table,) = [t for t in tables(report) if t.title == "Against requests in flight"]
    assert [row[0] for row in table.rows][:2] == ["random read, 4 KiB, 4", "random read, 4 KiB, 32 (2 × 16)"]
    assert "± " in table.rows[0][1]
    measured = compare_run(record).to_dict()["matrix"]["measured"]
    first = dict(zip(measured["columns"], measured["rows"][0], strict=True))
    assert (first["clients"], first["outstanding"]) == (1, 4)
    assert first["transfers_s_low"] == pytest.approx(expected.low, rel=1e-4)


def test_many_rows_are_folded_below_what_they_come_to() -> None:
    full = matrix_run(lambda *_: 1.1, blocks=2)
    for table in tables(report_of(full)):
        assert len(table.rows) <= 30 or table.folded, table.title


def test_a_lost_cell_says_so() -> None:
    def dead(contender: str, block: int, cell: dict[str, Any]) -> None:
        known_times(contender, block, cell)
        if contender == "cifs" and cell["test"] == "random_read" and block == 1:
            cell |= {"empty": True, "operations": 0, "bytes": 0, "rate_kib_s": 0.0, "ios_per_s": 0.0}
            del cell["service"]

    comparison = compare_run(block_run(change=dead))
    assert comparison.cells is not None
    levels: tuple[CellLevel, ...] = comparison.cells.at("cifs", comparison.run.load_steps[0])
    assert [(level.forfeited, level.blocks) for level in levels if level.test == "random_read"] == [(1, 5), (1, 5)]
    assert "(failed in 1 of 5)" not in words_of(compose(block_run(change=dead), comparison))
    assert "(failed in 1 of 6)" in words_of(compose(block_run(change=dead), comparison))
