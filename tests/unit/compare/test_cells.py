"""Surfaces with known ratios: what the comparison finds in them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats as distributions

from bakeoff.compare import Comparison, compare_run
from bakeoff.compare.cube.cell_find import crossings
from bakeoff.compare.model.cell import (
    CacheRule,
    CellPair,
    CellRatio,
    FewFileSizes,
    NeighbourOutliers,
    SizePoint,
    WildBlock,
)
from bakeoff.report.blocks.tree import Chart, Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.figures import cells as cell_words
from bakeoff.report.narrate.figures.cells import pair_summary, sentences_of_tests, size
from bakeoff.report.narrate.sentences import sentence
from bakeoff.stats import ratio_from_logs, ratios_by_row
from tests.told import headline_of
from tests.unit.compare.synthetic import change, run
from tests.unit.compare.synthetic_cells import KIB, MIB, Change, Ratio, blocks_run, matrix_run, skip

SMALL = [(f * KIB, r * KIB) for f in (64, 256, 1024, 4096, 16384) for r in (4, 16, 64) if r <= f]


def falling(test: str, file: int, record: int) -> float:
    """Writes: 2 at 4 KiB records, exactly 1 at 64 KiB, 0.5 at 1 MiB. All else 1.2."""
    return 2.0 ** (1.0 - math.log2(record / (4 * KIB)) / 4.0) if test == "write" else 1.2


def level(test: str, file: int, record: int) -> float:
    return 1.0


def compared(ratio: Ratio, change: Change | None = None, **more: Any) -> tuple[Comparison, CellPair]:
    comparison = compare_run(matrix_run(ratio, change=change, **more))
    assert comparison.cells is not None
    return comparison, comparison.cells.pairs[0]


def cell_at(pair: CellPair, test: str, file: int, record: int) -> CellRatio:
    return next(c for c in pair.cells if (c.test, c.file_kib, c.record_kib) == (test, file / KIB, record / KIB))


def test_many_rows_agree_with_one_at_a_time_and_with_scipy() -> None:
    logs = np.random.default_rng(3).normal(0.02, 0.05, (20, 6))
    logs[3, 2:] = math.nan
    logs[4, 1:] = math.nan
    logs[5] = math.nan
    rows = ratios_by_row(logs)
    for i, row in enumerate(logs):
        one = ratio_from_logs(row)
        got = (rows.blocks[i], rows.ratio[i], rows.low[i], rows.high[i], rows.p[i])
        assert got == pytest.approx((one.blocks, one.ratio, one.low, one.high, one.p_t), nan_ok=True)
    assert rows.p[0] == pytest.approx(distributions.ttest_1samp(logs[0], 0.0).pvalue)


def test_ratios_averages_and_shares_are_those_put_in() -> None:
    _, pair = compared(lambda test, file, record: 1.5 if test == "read" else 0.8, tests=("read", "write"), sizes=SMALL)
    read, write = pair.tests
    assert (read.name, write.name) == ("read", "write")
    assert read.ratio == pytest.approx(1.5, rel=0.01) and write.ratio == pytest.approx(0.8, rel=0.01)
    assert read.low < 1.5 < read.high or read.ratio == pytest.approx(1.5, rel=0.005)
    assert (read.ahead, read.behind) == (len(SMALL), 0) and (write.ahead, write.behind) == (0, len(SMALL))
    assert pair.overall.ratio == pytest.approx(math.sqrt(1.5 * 0.8), rel=0.01)
    assert pair.overall.arithmetic == pytest.approx(1.15, rel=0.01)


def test_the_verdict_is_that_of_the_geometric_mean_of_cells() -> None:
    comparison, pair = compared(lambda test, file, record: 1.2, tests=("read",), sizes=SMALL)
    primary = comparison.pairs[0].primary
    assert primary.verdict.winner == "cifs"
    assert primary.ratio == pytest.approx(pair.overall.ratio) and primary.low == pytest.approx(pair.overall.low)
    assert headline_of(comparison)[0].startswith("cifs is better: cifs serves 1.2")
    assert f"geometric mean of {len(SMALL)} cells" in headline_of(comparison)[0]


def test_equal_contenders_win_few_cells() -> None:
    _, pair = compared(level, spread=0.05)
    assert pair.overall.cells > 1500
    assert pair.overall.ahead + pair.overall.behind <= 0.01 * pair.overall.cells


def test_a_crossing_is_found_where_it_was_put_and_named() -> None:
    _, pair = compared(falling, tests=("write", "read"))
    curve = pair.curve("write", "record")
    assert curve is not None
    (crossing,) = curve.crossings
    assert crossing.falls and 56.0 < crossing.near_kib < 72.0
    assert crossing.last_kib in (32.0, 64.0) and crossing.first_kib in (64.0, 128.0)
    write, read = sentences_of_tests(pair)
    assert write.startswith("Write: cifs is ") and "behind from 128 KiB records on" in write
    assert "near 6" in write and "4 KiB records" in write
    assert read.startswith("Read: cifs is 20 % faster overall") and "no crossing of 1.00" in read
    other = pair.curve("read", "record")
    assert other is not None and not other.crossings


def test_points_that_show_neither_side_are_no_crossing() -> None:
    def points(*ratios: float, known: bool = True) -> tuple[SizePoint, ...]:
        spread = 0.02 if known else math.nan
        return tuple(SizePoint(4.0 * 2**i, 5, r, r - spread, r + spread) for i, r in enumerate(ratios))

    assert crossings(points(1.01, 0.99, 1.01, 0.995), True) == ()
    assert crossings(points(1.03, 0.97, 1.03, known=False), False) == ()
    (up,) = crossings(points(0.8, 0.99, 1.01, 1.3), True)
    assert (up.last_kib, up.first_kib, up.falls) == (4.0, 32.0, False) and 8.0 < up.near_kib < 16.0


def test_cached_cells_are_marked_counted_and_left_out_only_beside() -> None:
    def cache(contender: str, block: int, cell: dict[str, Any]) -> None:
        if contender == "cifs" and cell["file_bytes"] <= 256 * KIB:
            cell["cached"] = True
            cell["rate_kib_s"] *= 4.0

    comparison, pair = compared(level, cache, tests=("read",), sizes=SMALL)
    marked = [cell for cell in pair.cells if cell.cached]
    assert len(marked) == 6 and {cell.cached for cell in marked} == {("cifs",)}
    assert pair.overall.cells == len(SMALL) and pair.overall.ratio > 1.3
    assert pair.uncached is not None and pair.uncached.cells == len(SMALL) - 6
    assert pair.uncached.ratio == pytest.approx(1.0, abs=0.01)
    said = "6 cells of 15 can only be explained by a cache (marked; of cifs alone); without them cifs is "
    assert any(text.startswith(said) for text in headline_of(comparison)), headline_of(comparison)


@pytest.mark.parametrize(("blocks", "alone"), [(5, True), (6, False)])
def test_means_of_cells_without_an_interval_are_told_as_numbers_alone(blocks: int, alone: bool) -> None:
    """Seen: "Write: xfs is 68 % faster overall" of five blocks, beside cells "by the numbers alone"."""
    found = compare_run(matrix_run(lambda *_: 1.2, blocks=blocks, tests=("read",), sizes=SMALL)).cells
    assert found is not None
    (pair,) = found.pairs
    texts = [text for text in (*pair_summary(pair), *sentences_of_tests(pair)) if "20 % faster overall" in text]
    assert len(texts) == 2
    assert {"20 % faster overall by the numbers alone" in text for text in texts} == {alone}


def test_a_ratio_of_blocks_has_one_notation() -> None:
    """Seen: "1103.9 %" of a mean of cells beside "11.0×" of the result."""
    record = blocks_run(lambda *_: 11.0)
    texts = list(headline_of(compare_run(record)))
    for section in compose(record, compare_run(record)).sections:
        for block in section.blocks:
            if isinstance(block, Chart | Table):
                table = block if isinstance(block, Table) else block.table
                texts += [block.title, *(cell for row in table.rows for cell in row)]
            texts += [block.text] if isinstance(block, Text) else []
    assert any("11.0×" in text for text in texts)
    assert not [text for text in texts if re.search(r"\b1[,.]?1\d\d(\.\d)? %|percentage", text)]


def test_small_ratios_of_cells_are_one_over_something_in_tables_and_sentences() -> None:
    comparison = compare_run(
        matrix_run(lambda test, _, record: 0.05 if record == 4 * KIB else 0.3, tests=("read",), sizes=SMALL)
    )
    assert comparison.cells is not None
    said = " ".join(sentences_of_tests(comparison.cells.pairs[0]))
    assert "0.050× as fast at 4 KiB records" in said and "times as fast" not in said, said


def test_a_run_of_cached_cells_only_says_so() -> None:
    comparison, pair = compared(level, lambda _, __, cell: cell.update(cached=True), tests=("read",), sizes=SMALL)
    assert pair.uncached is None and pair.overall.cells == len(SMALL)
    assert any(text.endswith("explained by a cache (marked); no other is left.") for text in headline_of(comparison))


def test_outliers_are_named_counted_and_left_out_only_beside() -> None:
    def wild(contender: str, block: int, cell: dict[str, Any]) -> None:
        if contender == "cifs" and (cell["file_bytes"], cell["record_bytes"]) == (MIB, 16 * KIB):
            cell["rate_kib_s"] *= 3.0
        if contender == "cifs" and block == 2 and (cell["file_bytes"], cell["record_bytes"]) == (64 * KIB, 4 * KIB):
            cell["rate_kib_s"] /= 2.5

    _, pair = compared(level, wild, tests=("read",), sizes=SMALL)
    lone, block = cell_at(pair, "read", MIB, 16 * KIB), cell_at(pair, "read", 64 * KIB, 4 * KIB)
    assert isinstance(lone.outlier, NeighbourOutliers) and lone.outlier.around == pytest.approx(1.0, abs=0.01)
    assert isinstance(block.outlier, WildBlock) and block.outlier.others > 2.0 * block.outlier.ratio
    assert "among neighbours at 1.0" in sentence(lone.outlier) and "in one block" in sentence(block.outlier)
    assert sum(bool(cell.outlier) for cell in pair.cells) == 2
    assert pair.overall.cells == len(SMALL) and pair.overall.highest == pytest.approx(3.0, rel=0.05)
    assert pair.without_outliers is not None and pair.without_outliers.cells == len(SMALL) - 2
    assert pair.without_outliers.ratio == pytest.approx(1.0, abs=0.01)


def test_skipped_and_damaged_cells_are_in_no_average_and_say_why() -> None:
    def spoil(contender: str, block: int, cell: dict[str, Any]) -> None:
        if cell["file_bytes"] == 64 * KIB:
            skip(cell, "the file is smaller than the cut-off")
        elif contender == "cifs" and block == 3 and cell["record_bytes"] == 64 * KIB and cell["file_bytes"] == MIB:
            cell["damaged"] = 3

    comparison, pair = compared(level, spoil, tests=("read",), sizes=SMALL)
    states = {(cell.file_kib, cell.record_kib): cell for cell in pair.cells}
    assert states[64.0, 4.0].state == "skipped" and "cut-off" in sentence(states[64.0, 4.0].reason)
    assert states[1024.0, 64.0].state == "void" and "3 damaged records" in sentence(states[1024.0, 64.0].reason)
    assert pair.overall.cells == len(SMALL) - 3 - 1
    # The same cells in the headline as in the table.
    assert comparison.pairs[0].primary.blocks == pair.overall.blocks == 6
    assert comparison.pairs[0].primary.ratio == pytest.approx(pair.overall.ratio)


def test_small_office_is_apart() -> None:
    def ratio(test: str, file: int, record: int) -> float:
        return 1.4 if file <= 2 * MIB and record <= 32 * KIB else 1.0

    _, pair = compared(ratio, tests=("read",), sizes=SMALL)
    (region,) = pair.regions
    assert (region.words, region.average.cells) == ("small office region (files to 2 MiB, records to 32 KiB)", 6)
    assert region.average.ratio == pytest.approx(1.4, rel=0.01)


def test_the_end_of_a_cache_is_read_from_the_jump_of_rates() -> None:
    comparison, _ = compared(level, tests=("read", "reread"))
    rules = caching(comparison)
    ends = {(rule.contender, zone.strong_kib, zone.none_kib) for rule in rules for zone in rule.zones}
    assert ends == {("nfs", 65536.0, 262144.0), ("cifs", 65536.0, 262144.0)}
    assert {rule.tests for rule in rules} == {("read", "reread")}
    comparison, _ = compared(level, tests=("read",), sizes=SMALL)
    assert all(rule.zones == () and rule.unknown for rule in caching(comparison))


def caching(comparison: Comparison) -> tuple[CacheRule, ...]:
    assert comparison.cells is not None
    return comparison.cells.caching


def test_where_caching_is_strong_weak_and_none_is_told_along_files_and_records() -> None:
    """Programmed: records to 64 KiB leave a cache at 64 MiB, larger ones at 16 MiB already; weak are the two sizes
    that follow. Records over 2 MiB never fall."""
    sizes = [(64 * KIB << i, 4 * KIB << j) for i in range(14) for j in range(12) if 4 * KIB << j <= 64 * KIB << i]

    def zone(file: int, record: int) -> float:
        end = 64 * MIB if record <= 64 * KIB else 16 * MIB
        return 1.0 if file <= end or record > 2 * MIB else 0.4 if file <= 4 * end else 0.05

    def flattened(contender: str, block: int, cell: dict[str, Any]) -> None:
        cell["rate_kib_s"] = 1e6 * zone(cell["file_bytes"], cell["record_bytes"])

    comparison, _ = compared(level, flattened, tests=("read", "write"), sizes=sizes)
    (rule, other) = caching(comparison)
    assert (rule.contender, other.contender, rule.tests) == ("nfs", "cifs", ("read", "write"))
    small, large = rule.zones
    assert (small.record_low_kib, small.record_high_kib, small.strong_kib, small.none_kib) == (4, 64, 65536, 524288)
    assert small.weak_kib == (131072, 262144) and small.fall == pytest.approx(20.0, rel=0.01)
    assert not small.levelled, "only the largest files were as slow: nobody saw where the fall ends"
    assert (large.record_low_kib, large.record_high_kib, large.strong_kib) == (128, 2048, 16384) and large.levelled
    assert large.weak_kib == (32768, 65536) and large.none_kib == 131072
    ((unknown),) = rule.unknown
    assert (unknown.record_low_kib, unknown.record_high_kib) == (4096, 8192) and "do not fall by 3 times" in sentence(
        unknown.why
    )
    first, why = cell_words.cache_rule(rule)
    assert first == (
        "Caching of nfs (read and write) by the jump of its rates: with records of 4 KiB to 64 KiB: strong for files "
        "to 64 MiB, weak at 128 MiB to 256 MiB, none from 512 MiB on (20 times slower, the largest measured, so that "
        "the fall may go on); with records of 128 KiB to 2 MiB: strong for files to 16 MiB, weak at 32 MiB to 64 MiB, "
        "none from 128 MiB on (20 times slower)."
    )
    assert why.startswith(
        "Where caching of nfs (read and write) ends is not known with records of 4 MiB to 8 MiB: up to"
    )


def test_caching_does_not_end_where_cells_behind_the_fall_were_cached_as_well() -> None:
    """Rates fall at 128 MiB, but neither disk nor wire carried what the largest files delivered."""

    def cached(contender: str, block: int, cell: dict[str, Any]) -> None:
        cell["cached"] = contender == "nfs"

    comparison, _ = compared(level, cached, tests=("read", "reread"))
    rules = {rule.contender: rule for rule in caching(comparison)}
    assert rules["nfs"].zones == () and any(
        "came from a cache as well" in sentence(one.why) for one in rules["nfs"].unknown
    )
    assert rules["cifs"].zones
    assert comparison.cells is not None
    (pair,) = comparison.cells.pairs
    assert pair.cached_cells == pair.overall.cells
    assert f"all of it cache: {pair.cached_cells} of {pair.cached_cells} cells" in headline_of(comparison)[0]


def test_two_file_sizes_tell_nothing_of_caching() -> None:
    comparison, _ = compared(level, tests=("read",), sizes=[(64 * KIB, 4 * KIB), (MIB, 4 * KIB)])
    (rule, _) = caching(comparison)
    assert rule.zones == () and rule.unknown[0].why == FewFileSizes(3)


def test_one_block_gives_numbers_without_verdict() -> None:
    comparison, pair = compared(falling, blocks=1, tests=("write", "read"))
    assert {cell.state for cell in pair.cells} == {"open"}
    assert math.isnan(pair.overall.low) and (pair.overall.ahead, pair.overall.behind) == (0, 0)
    assert comparison.pairs[0].primary.verdict.kind == "too_few"
    assert "by the numbers alone" in pair_summary(pair)[0]
    assert "by the numbers alone" in sentences_of_tests(pair)[0] and "crossed near" in sentences_of_tests(pair)[0]


def test_blocks_are_told_as_all_ratios_are() -> None:
    comparison = compare_run(blocks_run(lambda test, file, record: 1.3 if "read" in test else 0.9))
    assert comparison.cells is not None
    pair = comparison.cells.pairs[0]
    assert len(pair.cells) == 18 * 5 and pair.regions == ()
    assert sentences_of_tests(pair)[0].startswith("Sequential read: cifs is 30 % faster overall")
    assert pair.tests[1].lowest < 0.9 < pair.tests[1].highest


def test_several_numbers_of_clients_are_several_surfaces() -> None:
    comparison = compare_run(matrix_run(level, tests=("read",), sizes=SMALL, load_steps=(1, 4)))
    assert comparison.cells is not None
    assert [pair.load_step.clients for pair in comparison.cells.pairs] == [1, 4]
    # A sentence that names no number of clients would be read as one about all.
    about_cells = [text for text in headline_of(comparison) if "cells" in text or "records" in text][1:]
    assert about_cells and all(text.startswith(("At 1 client: ", "At 4 clients: ")) for text in about_cells)


def test_it_is_plain_json_with_cells_as_rows() -> None:
    comparison, pair = compared(level, tests=("read",), sizes=SMALL, blocks=1)
    plain = json.loads(to_json(comparison))["matrix"]["pairs"][0]
    assert plain["overall"]["low"] is None
    assert len(plain["cells"]["rows"]) == len(pair.cells)
    assert dict(zip(plain["cells"]["columns"], plain["cells"]["rows"][0], strict=True))["test"] == "read"


def test_failed_trials_and_other_suites() -> None:
    assert compare_run(run(blocks=2)).cells is None
    broken = change(matrix_run(level, tests=("read",), sizes=SMALL), "cifs", None, None, state="failed", reason="gone")
    left = compare_run(broken).cells
    assert left is not None and not left.pairs and {level.contender for level in left.measured} == {"nfs"}


def test_words() -> None:
    assert (
        wording.faster(1.17) == "17 % faster"
        and wording.faster(0.97) == "3.0 % slower"
        and wording.faster(2.4) == "2.40× as fast"
    )
    assert [size(kib) for kib in (0.5, 4.0, 2048.0, 63 * 1024.0, None)] == [
        "512 B",
        "4 KiB",
        "2 MiB",
        "63 MiB",
        "mixed",
    ]
    assert size(274.3, 2) == "270 KiB"


def test_regions_are_those_of_the_plan() -> None:
    record = matrix_run(lambda test, file, record: 1.5 if file >= MIB else 1.0, tests=("read",), sizes=SMALL)
    stored = [
        {"name": "large", "file_least": MIB, "file_most": None, "record_least": None, "record_most": None},
        {"name": "none", "file_least": 1 << 40, "file_most": None, "record_least": None, "record_most": None},
    ]
    settings = {**record.plan.get("settings", {}), "regions": stored}
    found = compare_run(replace(record, plan={**record.plan, "settings": settings})).cells
    assert found is not None
    (region,) = found.pairs[0].regions
    assert (region.words, region.average.name) == ("large region (files from 1 MiB)", "large")
    assert region.average.ratio == pytest.approx(1.5, rel=0.01)
    assert any("In the large region (files from 1 MiB)" in line for line in pair_summary(found.pairs[0]))
