"""Reports of suites made of cells, and of the office mix."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import jsonschema
import numpy as np
import pytest

from bakeoff.compare import compare_run
from bakeoff.formats.exporters.document import document_lines
from bakeoff.report.blocks.tree import Cards, Chart, Report, Table, Text
from bakeoff.report.charts.heat import Cell, heat_map, of_ratios
from bakeoff.report.charts.palette import PALETTE
from bakeoff.report.charts.svg import figure_of
from bakeoff.report.charts.theme import legend_of
from bakeoff.report.compose import compose
from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.figures.cells import title
from bakeoff.report.renderers.html import render_html
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import OperationRecord, Summary
from tests.unit.compare.synthetic import run
from tests.unit.compare.synthetic_cells import (
    KIB,
    MIB,
    PATTERNS,
    TESTS,
    blocks_run,
    matrix_run,
    pairs_of_sizes,
    skip,
)
from tests.unit.report.shown import shown

SMALL = [(64 * KIB, 4 * KIB), (64 * KIB, 64 * KIB), (MIB, 4 * KIB), (MIB, 64 * KIB)]
CELL_SECTIONS = {"heat-map", "sizes", "rates-of-cells"}
DETAILS = {"times-of-cells", "caches"}
FIGURES = ("MB/s", "least – most", "I/O per second", "p50 ms", "p99 ms")


def report_of(record: RunRecord) -> Report:
    return compose(record, compare_run(record))


def ids(report: Report) -> set[str]:
    return {section.id for section in report.sections}


def mix_run() -> RunRecord:
    record = run(load_steps=(1, 4), blocks=6)
    touched = {"touched_bytes_per_client": {"min": 23 * MIB, "max": 25 * MIB, "mean": 24.0 * MIB}}
    return replace(record, kind="file-mix", trials=tuple(replace(t, workload=touched) for t in record.trials))


def test_sections_are_only_where_they_belong() -> None:
    assert not ids(report_of(run(blocks=2))) & (CELL_SECTIONS | {"office-mix"})
    matrix = ids(report_of(matrix_run(lambda *_: 1.1, tests=("read",), sizes=SMALL, blocks=2)))
    assert matrix >= CELL_SECTIONS and not matrix & {"office-mix", "rates", "response", "numbers"}
    assert "office-mix" in ids(report_of(mix_run()))


def test_a_map_shows_numbers_hatches_crosses_and_corners() -> None:
    def alter(contender: str, block: int, cell: dict) -> None:  # type: ignore[type-arg]
        if cell["record_bytes"] == 64 * KIB and cell["file_bytes"] == MIB:
            skip(cell, "cut-off")
        cell["cached"] = True if cell["file_bytes"] == 64 * KIB else None

    def ratio(test: str, file: int, record: int) -> float:
        return 1.0 if record == 4 * KIB else 1.5

    report = report_of(matrix_run(ratio, tests=("read",), sizes=SMALL, change=alter, spread=0.001))
    (chart,) = [c for c in report.charts() if c.id == "chart-heat-0-read"]
    data = chart.spec["datasets"]
    assert {(row["c"], row["t"]) for row in data["cells"]} == {("4K", "1.00"), ("64K", "1.50")}
    assert {(row["c"], row["r"]) for row in data["void"]} == {("64K", "1M")}
    assert {row["c"] for row in data["hatched"]} == {"4K"}
    assert {(row["r"], row["m"]) for row in data["marks"]} == {("64K", "cached")}
    svg = draw(chart)
    assert ">1.50<" in svg and ">×<" in svg


def test_specifications_are_valid() -> None:
    for record in (
        matrix_run(lambda *_: 1.1, tests=("read", "write"), sizes=SMALL),
        blocks_run(lambda *_: 1.1),
        mix_run(),
    ):
        for chart in report_of(record).charts():
            try:
                alt.Chart.from_dict(chart.spec)
            except jsonschema.ValidationError as error:
                pytest.fail(f"{chart.id}: {error.message}")


def test_surfaces_are_drawn_when_asked_for_and_end_where_nothing_was_measured() -> None:
    def alter(contender: str, block: int, cell: dict[str, Any]) -> None:
        if (cell["file_bytes"], cell["record_bytes"]) == (64 * KIB, 16 * KIB):
            skip(cell, "cut-off")

    sizes = [(file * KIB, record * KIB) for file in (64, 128, 256) for record in (4, 8, 16)]
    record = matrix_run(lambda *_: 1.5, tests=("read", "write"), sizes=sizes, blocks=2, change=alter)
    comparison = compare_run(record)
    assert "surfaces" not in ids(compose(record, comparison))
    report = compose(record, comparison, surfaces=True)
    charts = [chart for chart in report.charts() if chart.id.startswith("chart-surface-")]
    assert [chart.title for chart in charts[::4]] == ["Read", "Write"] and len(charts) == 8
    alt.Chart.from_dict(charts[0].spec)
    quads = charts[0].spec["datasets"]["quads"]
    # Four pieces for each contender; the one at the missing corner is a triangle.
    assert len({row["q"] for row in quads}) == 8 and len(quads) == 2 * (4 + 4 + 4 + 3)
    svg = draw(charts[0])
    assert all(f">{name}</text>" in svg for name in ("nfs", "cifs", "64K", "256K", "records"))
    # The faster one stands higher: 1.5 times, at the corner in front.
    heights = [max(row["y"] for row in quads if row["f"] in fills) for fills in _fills(quads)]
    assert heights[1] > heights[0]


def test_a_test_has_a_surface_of_ratios_a_line_for_each_record_size_and_the_rates_of_4k() -> None:
    """Known answer: 1.5 with records of 4 KiB, 0.8 with larger ones, whatever the file."""
    sizes = [(file * KIB, record * KIB) for file in (64, 128, 256) for record in (4, 8, 16)]
    level = lambda _test, _file, record: 1.5 if record == 4 * KIB else 0.8  # noqa: E731
    record = matrix_run(level, tests=("read",), sizes=sizes, blocks=6, spread=0.001)
    comparison = compare_run(record)
    rates, ratios, lines, of_4k = (
        chart
        for chart in compose(record, comparison, surfaces=True).charts()
        if chart.id.startswith("chart-surface-0-read")
    )
    for chart in (ratios, lines, of_4k):
        alt.Chart.from_dict(chart.spec)
    assert ratios.title == lines.title.removesuffix(" against file size") == "Read: cifs ÷ nfs"
    assert [row[0] for row in ratios.table.rows] == ["64K", "128K", "256K"]
    shown = np.array([[float(cell.rstrip("×")) for cell in row[1:]] for row in ratios.table.rows])
    assert shown == pytest.approx(np.array([[1.5, 0.8, 0.8]] * 3), rel=0.02)
    assert [row[0] for row in lines.table.rows] == ["4K records", "8K records", "16K records"]
    assert all(cell.startswith(("1.50× (", "1.49", "1.51", "1.5")) for cell in lines.table.rows[0][1:])
    assert of_4k.title == "Read: MB/s of 4K records" and [row[0] for row in of_4k.table.rows] == ["nfs", "cifs"]
    nfs, cifs = ([float(cell.replace(",", "")) for cell in row[1:]] for row in of_4k.table.rows)
    assert np.divide(cifs, nfs) == pytest.approx([1.5] * 3, rel=0.02)
    assert rates.title == "Read"


def test_what_checking_contents_does_to_sums_is_told() -> None:
    def alter(contender: str, block: int, cell: dict[str, Any]) -> None:
        cell |= {"elapsed_s": 1.0, "verify_s": 0.25}

    def words(record: RunRecord) -> str:
        section = next(s for s in report_of(record).sections if s.id == "generator")
        return " ".join(block.text for block in section.blocks if isinstance(block, Text))

    one, four = (
        matrix_run(lambda *_: 1.1, tests=("read",), sizes=SMALL, blocks=2, change=alter, load_steps=(clients,))
        for clients in (1, 4)
    )
    assert "20 % of the clients' time" in words(one) and "--no-verify" not in words(one)
    assert "--no-verify" in words(four)
    assert "stamped" not in words(matrix_run(lambda *_: 1.1, tests=("read",), sizes=SMALL, blocks=2))


def draw(chart: Chart) -> str:
    """Its only drawing."""
    (panel,) = figure_of(chart).panels
    return panel.svg


def _fills(quads: list[dict[str, Any]]) -> list[set[str]]:
    half = len({row["q"] for row in quads}) // 2
    names = list(dict.fromkeys(row["q"] for row in quads))
    return [{row["f"] for row in quads if row["q"] in part} for part in (names[:half], names[half:])]


def test_a_cell_that_is_cached_and_an_outlier_has_both_marks() -> None:
    cell = Cell("4K", "64K", "9.0", 9.0, cached=True, outlier=True)
    marks = heat_map([cell], ["4K"], ["64K"], of_ratios((PALETTE[0], PALETTE[1]), 1.0), ("", "", "", "")).spec[
        "datasets"
    ]["marks"]
    assert {row["m"] for row in marks} == {"cached", "outlier"}


def test_block_sizes_have_rates_and_operations() -> None:
    report = report_of(blocks_run(lambda *_: 1.3))
    section = next(s for s in report.sections if s.id == "rates-of-cells")
    titles = [block.title for block in section.blocks if isinstance(block, Table)]
    assert titles[0] == "MB/s of each pattern" and len(titles) == 1 + len(PATTERNS)
    for table in section.blocks[1:]:
        assert isinstance(table, Table) and len(table.rows) == 18 and table.rows[0][0] == "512 B"
        assert not table.folded and [column.title for column in table.columns[1:]] == 2 * list(FIGURES)


def cells_texts(contender: str, block: int, cell: dict[str, Any]) -> None:
    """What the engine adds to a cell: its cache and its percentiles. One block of one contender was not proved."""
    missed = contender == "cifs" and block == 2 and cell["file_bytes"] == MIB
    cell["cache"] = {"asked": "cold", "name": "warm" if missed else "drop_caches", "proved": not missed}
    cell["cached"], cell["cached_reason"] = contender == "cifs", "3 % of 1.00 MiB came from the wire"
    cell["carried_bytes"] = 0.03 * cell["bytes"] if contender == "cifs" else None
    cell["service"] = {"p50_ns": 1000 * cell["record_bytes"], "p95_ns": 2e6, "p99_ns": 3e6}
    cell["cpu_us_per_io"] = 2.5


def table_of(report: Report, section: str, title: str) -> Table:
    found = next(s for s in report.sections if s.id == section)
    return next(b for b in found.blocks if isinstance(b, Table) and b.title == title)


def test_caches_are_shown_for_each_test_with_the_level_reached_in_all_blocks() -> None:
    report = report_of(matrix_run(lambda *_: 1.1, tests=("read", "write"), sizes=SMALL, change=cells_texts))
    rows = {row[:2]: row[2:] for row in table_of(report, "caches", "Caches of each test").rows}
    assert len(rows) == 4
    assert rows["nfs", "read"] == ("all caches of this machine dropped", "4", "4", "0", "–", "–")
    before, cells, empty, cached, carried, why = rows["cifs", "write"]
    assert before == "all caches of this machine dropped (2); as the test before left them (2)"
    assert (cells, empty, cached, carried) == ("4", "2", "4", "3 %")
    assert why == "1 MiB file, 64 KiB records: 3 % of 1.00 MiB came from the wire"


def test_times_of_single_operations_are_shown_by_size() -> None:
    report = report_of(matrix_run(lambda *_: 1.1, tests=("read",), sizes=SMALL, change=cells_texts))
    table = table_of(report, "times-of-cells", "p50 in ms, cifs")
    assert [column.title for column in table.columns] == ["Test", "4K", "64K"]
    assert table.rows == (("read", "4.10", "65.5"),)
    blocks = report_of(matrix_run(lambda *_: 1.1, 6, ("read",), SMALL, change=cells_texts, kind="file-blocks"))
    assert table_of(blocks, "times-of-cells", "CPU per I/O in µs, nfs").rows == (("read", "2.50", "2.50"),)


def test_times_by_record_size_are_drawn_over_cells_that_all_have() -> None:
    """Else whoever has too few operations for a p99 in its slowest cells would look the faster for it."""

    def known_times(contender: str, block: int, cell: dict[str, Any], few: bool = False) -> None:
        cells_texts(contender, block, cell)
        cell["operations"] = 20 if few and contender == "cifs" and cell["file_bytes"] == MIB else 1000
        cell["service"] |= {"p99_ns": 1e6 * cell["file_bytes"] / (64 * KIB)}

    def charts_of(few: bool, tests: tuple[str, ...]) -> dict[str, Chart]:
        def change(contender: str, block: int, cell: dict[str, Any]) -> None:
            known_times(contender, block, cell, few)

        report = report_of(matrix_run(lambda *_: 1.1, tests=tests, sizes=SMALL, change=change))
        return {chart.id: chart for chart in report.charts() if chart.id.startswith("chart-times-")}

    whole, short = (charts_of(few, ("read", "reread"))["chart-times-0-read"] for few in (False, True))
    for chart, p99_ms in ((whole, 4.0), (short, 1.0)):
        rows = chart.spec["datasets"]["rows"]
        assert {(row["size"], row["contender"]) for row in rows} == {(s, n) for s in (4, 64) for n in ("nfs", "cifs")}
        assert all(row["value"] == pytest.approx(p99_ms) for row in rows if row["time"] == "p99")
        assert chart.table.rows[0] == ("4K", "4.10", f"{p99_ms:.2f}", "4.10", f"{p99_ms:.2f}")
    drawn = charts_of(False, ("read", "reread"))
    assert not drawn["chart-times-0-read"].folded and drawn["chart-times-0-reread"].folded
    assert "K" in figure_of(drawn["chart-times-0-read"]).panels[0].svg


def test_a_test_that_a_contender_failed_is_shown_of_the_others() -> None:
    def change(contender: str, block: int, cell: dict[str, Any]) -> None:
        cells_texts(contender, block, cell)
        if contender == "cifs" and cell["test"] == "write":
            skip(cell, "read-only")

    report = report_of(matrix_run(lambda *_: 1.1, tests=("read", "write"), sizes=SMALL, change=change))
    assert [row[0] for row in table_of(report, "times-of-cells", "p50 in ms, nfs").rows] == ["read", "write"]
    assert [row[0] for row in table_of(report, "times-of-cells", "p50 in ms, cifs").rows] == ["read"]


def test_json_has_the_times_of_every_single_cell() -> None:
    record = matrix_run(lambda *_: 1.1, tests=("read",), sizes=SMALL, change=cells_texts)
    measured = json.loads(to_json(compare_run(record)))["matrix"]["measured"]
    rows = [dict(zip(measured["columns"], row, strict=True)) for row in measured["rows"]]
    assert len(rows) == 2 * len(SMALL)
    assert all(row["p50_ms"] == pytest.approx(row["record_kib"] * 1.024, rel=1e-4) for row in rows)
    document = json.loads("\n".join(document_lines(record)))
    cells = [cell for trial in document["trials"] for cell in trial["workload"]["cells"]]
    assert len(cells) == len(rows) * 6 and all(cell["service"]["p99_ns"] == 3e6 for cell in cells)


def test_cards_of_cells_tell_ratio_and_cells_won_not_a_peak() -> None:
    report = report_of(matrix_run(lambda *_: 1.25, tests=("read",), sizes=SMALL, spread=0.001, change=cells_texts))
    assert not ids(report) & {"fairness"} and ids(report) >= DETAILS
    nfs, cifs = next(b for b in report.sections[0].blocks if isinstance(b, Cards)).cards
    assert {label for label, _ in nfs.lines}.isdisjoint({"Saturation", "Shape", "p99 at the peak"})
    assert dict(nfs.lines)["Cells won"] == "0 of 4 (0 %) against cifs"
    assert dict(cifs.lines)["Cells won"] == "4 of 4 (100 %) against nfs"
    shown = [
        float(dict(lines)[label].split("×")[0])
        for lines, label in ((cifs.lines, "cifs ÷ nfs"), (nfs.lines, "cifs ÷ nfs"))
    ]
    assert shown == pytest.approx([1.25, 1.25], abs=0.002)
    assert dict(cifs.lines)["Cached cells"] == "4 of 4" and "Cached cells" not in dict(nfs.lines)
    assert not any(text.startswith("Peak") for text in report.headline)


def test_a_single_cell_has_no_range_and_no_curve() -> None:
    report = report_of(
        matrix_run(lambda *_: 0.734, 6, ("random read",), [(MIB, 64 * KIB)], spread=0.001, kind="file-blocks")
    )
    assert "sizes" not in ids(report)
    page = render_html(report)
    assert "cifs is 27 % slower overall" in page and "reaches" not in page
    assert "cifs against nfs, 1 cell: lost." in report.headline
    heat = next(section for section in report.sections if section.id == "heat-map")
    assert not any(isinstance(block, Chart) for block in heat.blocks)
    assert "geometric mean of 1 cell)" in report.headline[0]


def test_the_load_step_is_in_megabits_and_its_working_set_shown() -> None:
    record = mix_run()
    sections = {section.id: section.blocks for section in report_of(record).sections}
    chart, table = sections["rates"][0], sections["office-mix"][-1]
    assert isinstance(chart, Chart) and isinstance(table, Table)
    trials = [t for t in record.trials if t.contender == "nginx" and t.load_step.clients == 4]
    mean = math.prod((t.bytes_in + t.bytes_out) * 8 / 1e6 / t.window_s for t in trials) ** (1 / len(trials))
    row = next(r for r in chart.spec["datasets"]["rows"] if r["contender"] == "nginx" and r["load_step"] == 4)
    assert row["value"] == pytest.approx(mean, rel=1e-4)
    assert table.rows[1][:4] == ("4", "24.00", "23.0 – 25.0", "96.00")


def test_one_block_is_reported_without_intervals_or_verdict() -> None:
    report = report_of(matrix_run(lambda *_: 1.5, tests=("read",), sizes=SMALL, blocks=1))
    assert report.verdict == "Numbers without a verdict"
    assert "One block: there are no intervals" in render_html(report)


def test_a_terminal_shows_averages_and_sentences() -> None:
    text = shown(matrix_run(lambda *_: 1.2, tests=("read",), sizes=SMALL), width=100)
    assert "Read: cifs is 20 % faster overall" in text and "small office" in text


def calls_of(work: Callable[[], object]) -> int:
    """How often it calls a function, of Python or of C: the same on every machine."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_a_full_matrix_is_quick_and_small() -> None:
    """By the calls that its page takes, and by processor time beside that of a quarter of it."""
    all_sizes = (SMALL, pairs_of_sizes()[::4], pairs_of_sizes())
    cells = [len(TESTS) * len(sizes) for sizes in all_sizes]
    records = [
        matrix_run(lambda test, file, record: 1.2 if "read" in test else 1.0, sizes=sizes, spread=0.03)
        for sizes in all_sizes
    ]
    assert len(render_html(report_of(records[2])).encode()) < 1_500_000
    calls = [calls_of(partial(lambda record: render_html(report_of(record)), record)) for record in records]
    # Some seven million on Python 3.11, and less for a cell where there are many.
    assert calls[2] < 10_000_000, f"{calls[2]:,}"
    of_a_cell = [(calls[at + 1] - calls[at]) / (cells[at + 1] - cells[at]) for at in (0, 1)]
    assert of_a_cell[1] < 1.5 * of_a_cell[0], calls
    times_s: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(2):
        for at in times_s:
            before = time.process_time()
            render_html(report_of(records[at]))
            times_s[at].append(time.process_time() - before)
    # Twice what the number of its cells would make it; where each waited for all it would be four times that.
    assert min(times_s[2]) < 2 * cells[2] / cells[1] * min(times_s[1]), times_s


def test_a_matrix_of_hatched_and_cached_cells_is_small_too() -> None:
    record = matrix_run(lambda *_: 1.0, spread=0.1, change=lambda _, __, cell: cell.update(cached=True))
    page = render_html(report_of(record))
    assert page.count("<use ") > 2000
    assert len(page.encode()) < 1_500_000


@pytest.mark.parametrize("depth", [1, 4])
def test_how_deep_single_transfers_were_stacked_is_said(depth: int) -> None:
    """Seen: a run of `--outstanding 4` told its depth only among what is not as published."""
    record = blocks_run(lambda *_: 1.0, blocks=1)
    record = replace(record, plan={**record.plan, "settings": {"outstanding": depth, "cell_time_s": 0.3}})
    overview = next(section for section in report_of(record).sections if section.id == "overview")
    said = " ".join(block.text for block in overview.blocks if isinstance(block, Text))
    assert ("each client with 4 transfers outstanding." in said) == (depth == 4) and "is measured for 300ms" in said


def test_seconds_and_trials_of_the_load_step_are_in_operations() -> None:
    report = report_of(mix_run())
    tables = [block for section in report.sections for block in section.blocks if isinstance(block, Table)]
    (trials,) = [table for table in tables if any(column.title == "Marks" for column in table.columns)]
    assert "file operations/s" in {column.title for column in trials.columns}
    note = next(table.note for table in tables if table.title == "Verdicts")
    assert "throughput of the mix (Mbit/s)" in note
    cells = next(
        block
        for block in report_of(matrix_run(lambda *_: 1.1, tests=("read",), sizes=SMALL)).sections[0].blocks
        if isinstance(block, Table)
    )
    assert "geometric mean of 4 cells (MB/s)" in cells.note


def test_three_contenders_with_a_full_matrix_fit_into_the_page() -> None:
    two = matrix_run(lambda test, file, record: 1.2 if "read" in test else 1.0, spread=0.03)
    third = [
        replace(t, id=t.id + 1000, order=t.order + 1000, contender="sshfs") for t in two.trials if t.contender == "cifs"
    ]
    contenders = (*two.contenders, replace(two.contenders[1], name="sshfs"))
    record = replace(two, contenders=contenders, trials=(*two.trials, *third))
    page = render_html(report_of(record))
    assert "sshfs" in page and len(page.encode()) < 1_500_000, f"{len(page.encode()):,} bytes"


def test_the_throughput_of_the_load_step_is_that_of_the_comparison() -> None:
    """One figure with one interval in all places, and none from blocks that are too few for it."""
    for blocks in (5, 6):
        record = mix_run()
        record = replace(record, trials=tuple(t for t in record.trials if t.block <= blocks))
        (chart,) = [c for c in report_of(record).charts() if c.id == "chart-rate"]
        assert chart.table == Context(record, compare_run(record)).curve_table("rate")
        assert all(((row[2] == wording.MISSING) == (blocks < 6)) for row in chart.table.rows)


def test_labels_of_small_times_keep_their_figures() -> None:
    """Shortening numbers of shapes must not shorten the numbers that people read."""
    record = mix_run()
    quick = [replace(t, service=replace(t.service, mean_ns=(t.service.mean_ns or 0) / 1e4)) for t in record.trials]
    (chart,) = [c for c in report_of(replace(record, trials=tuple(quick))).charts() if c.id == "chart-mean"]
    labels = re.findall(r">(\d[\d.]*)</text>", draw(chart))
    decimals = [label for label in labels if "." in label]
    assert len(decimals) >= 3 and len(set(decimals)) == len(decimals)


def test_the_load_step_has_its_operations_with_counts_and_times_for_each_contender() -> None:
    def known(contender: str, name: str, operations: int, each_ms: float) -> OperationRecord:
        ns = each_ms * 1e6
        times = Summary(operations, ns, *(round(n * ns) for n in (1, 2, 3, 4, 5)), 1)
        return OperationRecord(name, operations, {}, 0, 0, times)

    record = mix_run()
    trials = tuple(
        replace(
            t,
            per_operation=(
                known(t.contender, "read", 1000, 0.5 if t.contender == record.contenders[0].name else 0.25),
                known(t.contender, "lock", 20, 7.0),
            ),
        )
        for t in record.trials
    )
    report = report_of(replace(record, trials=trials))
    found = next(s for s in report.sections if s.id == "mix-operations")
    first, second = (b for b in found.blocks if isinstance(b, Table))
    assert (first.title, first.folded) == ("Operations at 4 clients", False) and second.folded
    heads = ["count", "mean ms", "p50 ms", "p99 ms"]
    assert [column.title for column in first.columns] == ["Operation", *heads, *heads]
    # 6 blocks of 1,000; p50 is what each took, p99 three times that. Of 20 a block there is no p99 but the longest.
    assert first.rows[0] == ("read", "6,000", "0.500", "0.500", "1.50", "6,000", "0.250", "0.250", "0.750")
    assert first.note.endswith("Of these operations failed: none.")
    assert first.rows[1][1:5] == ("120", "7.00", "7.00", "max 35.0")


@pytest.mark.parametrize(("columns", "few"), [(3, True), (4, True), (5, False)])
def test_a_map_of_few_columns_may_be_as_narrow_as_a_telephone(columns: int, few: bool) -> None:
    names = [f"{column}K" for column in range(columns)]
    cells = [Cell(name, "64K", "1.00", 1.0) for name in names]
    drawing = heat_map(cells, names, ["64K"], of_ratios((PALETTE[0], PALETTE[1]), 1.0), ("", "", "", ""))
    figure = figure_of(Chart("chart-heat-0-write", "Write", "words", drawing, table=None))  # type: ignore[arg-type]
    assert figure.fixed and figure.few == few


def test_every_single_test_is_named_where_its_ratio_is_drawn_against_size() -> None:
    """Thirteen tests are too many for one drawing: two have them all, each with all tests together."""
    report = report_of(matrix_run(lambda *_: 1.1, sizes=SMALL, blocks=2))
    (section,) = [one for one in report.sections if one.id == "sizes"]
    charts = [block for block in section.blocks if isinstance(block, Chart)]
    ids = ["chart-sizes-0-record", "chart-sizes-0-record-1", "chart-sizes-0-file", "chart-sizes-0-file-1"]
    assert [chart.id for chart in charts] == ids
    for first, second in (charts[:2], charts[2:]):
        named = [[key.label for key in legend_of(chart.spec)] for chart in (first, second)]
        assert [len(labels) for labels in named] == [8, 7] and {labels[0] for labels in named} == {"all tests"}
        assert sorted(named[0][1:] + named[1][1:]) == sorted(title(test) for test in TESTS)
        assert len({(key.colour, key.shape, key.dash) for key in legend_of(first.spec)}) == 8
