"""What is made of the intervals of a soak, by intervals that were made up."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.limits.soak import ContenderSoak, Soak, SoakTrend, soak_of
from bakeoff.report.blocks.tree import Chart, Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.document import to_json
from bakeoff.report.renderers import html
from bakeoff.store.records.run_records import RunRecord, SoakIntervalRecord
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import SUMMARY, soak_interval

BEGAN = datetime.fromisoformat("2026-11-20T10:00:00.000+00:00")
HOUR_S = 3600.0


def hours(
    count: int, segment: int = 1, first: int = 0, late_s: float = 0.0, factor: float = 1.0
) -> list[SoakIntervalRecord]:
    """Intervals of an hour each, whose p99 is `factor` times as long at the end as at the begin."""
    return [
        soak_interval(
            number=number,
            segment=segment,
            started_at=(BEGAN + timedelta(seconds=number * HOUR_S + late_s)).isoformat(timespec="milliseconds"),
            operations=3_600_000,
            errors={},
            service=replace(SUMMARY, p99_ns=round(2e6 * factor ** ((number - first + 0.5) / count))),
        )
        for number in range(first, first + count)
    ]


def soaked(intervals: list[SoakIntervalRecord], planned_s: float = 28 * HOUR_S) -> RunRecord:
    record = run(load_steps=(4,), blocks=1)
    plan = {**record.plan, "interval_s": HOUR_S, "length_s": planned_s, "ramp_up_s": 0.0, "ramp_down_s": 0.0}
    settings = {**record.plan.get("settings", {}), **plan}
    return replace(record, plan={**plan, "settings": settings}, soak_intervals=tuple(intervals))


def soak_found(record: RunRecord) -> Soak:
    soak = soak_of(record)
    assert soak is not None
    return soak


def trend(one: ContenderSoak, figure: str) -> SoakTrend:
    return next(trend for trend in one.trends if trend.figure == figure)


def test_growth_is_that_of_the_rows_and_what_is_steady_has_none() -> None:
    (one,) = soak_found(soaked(hours(28, factor=1.03))).contenders
    assert (one.measured_s, one.planned_s, one.operations) == (28 * HOUR_S, 28 * HOUR_S, 28 * 3_600_000)
    p99 = trend(one, "p99")
    assert p99.moves and p99.change == pytest.approx(0.03, abs=1e-4) and p99.intervals == 28
    assert not trend(one, "rate").moves and trend(one, "rate").change == pytest.approx(0.0, abs=1e-12)
    assert one.gaps == () and one.segments == 1


def test_gaps_and_stretches_are_told_and_the_time_adds_up() -> None:
    intervals = [*hours(5), *hours(23, segment=2, first=5, late_s=1800.0)]
    (one,) = soak_found(soaked(intervals)).contenders
    assert (one.segments, one.measured_s) == (2, 28 * HOUR_S)
    assert [(gap.after, gap.length_s) for gap in one.gaps] == [(4, 1800.0)]
    asleep = [*hours(5), *hours(5, first=5, late_s=60.0)]
    assert [gap.length_s for gap in soak_found(soaked(asleep)).contenders[0].gaps] == [60.0]


def test_short_rows_are_not_compared_with_whole_ones() -> None:
    intervals = hours(8)
    intervals[-1] = replace(intervals[-1], length_s=60.0, operations=1)
    (one,) = soak_found(soaked(intervals)).contenders
    assert trend(one, "rate").intervals == 7 and trend(one, "rate").last == 1000.0
    (short,) = soak_found(soaked(hours(3))).contenders
    assert trend(short, "rate").intervals == 3 and trend(short, "rate").change != trend(short, "rate").change


def test_rows_without_a_success_have_no_times_and_break_nothing() -> None:
    dead = [
        replace(
            interval, operations=0, errors={"refused": 9}, service=replace(SUMMARY, count=0, p50_ns=None, p99_ns=None)
        )
        for interval in hours(3)
    ]
    record = soaked([*hours(6), *[replace(interval, number=interval.number + 6) for interval in dead]])
    (one,) = soak_found(record).contenders
    assert trend(one, "p99").intervals == 6 and one.errors == {"refused": 27}
    assert json.loads(to_json(compare_run(record)))["soak"]["contenders"][0]["intervals"][8]["p99_ms"] is None
    html.render(compose(record, compare_run(record)))


def test_few_rows_that_say_nothing_of_a_trend_are_told_in_words() -> None:
    """Six intervals that are like their neighbours are worth few: the interval of the slope has no end."""
    steps = [1, 1, 1, 4, 4, 4]
    record = soaked(
        [replace(interval, operations=interval.operations * steps[interval.number]) for interval in hours(6)]
    )
    (one,) = soak_found(record).contenders
    assert trend(one, "rate").is_open and not trend(one, "rate").moves
    texts = html.render(compose(record, compare_run(record))).decode()
    assert ": 6 whole intervals over 6h, too few for a trend; first interval" in texts


def test_a_run_that_is_none_has_no_soak() -> None:
    record = run(load_steps=(4,), blocks=1)
    assert soak_of(record) is None and compare_run(record).to_dict()["soak"] is None


def test_the_report_says_it_in_sentences_a_table_and_charts() -> None:
    record = soaked([*hours(5, factor=1.03), *hours(20, segment=2, first=5, late_s=1800.0, factor=1.03)])
    report = compose(record, compare_run(record))
    section = next(section for section in report.sections if section.id == "soak")
    assert section.title == "Hour by hour"
    said = [block.text for block in section.blocks if isinstance(block, Text)]
    assert any(text.startswith("a: 25h of 28h under 4 clients in 2 segments, 90,000,000 operations") for text in said)
    assert "a: 30m are missing after interval 5." in said
    assert any("last segment alone" in text for text in said)
    tables = [block for block in section.blocks if isinstance(block, Table)]
    assert [len(table.rows) for table in tables] == [25]
    charts = [block.id for block in section.blocks if isinstance(block, Chart)]
    assert charts == [f"chart-soak-{name}" for name in ("rate", "p99", "p50", "errors", "memory")]
    at_the_end = [block for block in report.blocks(Detail.SUMMARY) if isinstance(block, Table)]
    assert tables[0] in at_the_end


def test_thousands_of_rows_are_shown_by_their_ends() -> None:
    record = soaked(hours(1000), planned_s=1000 * HOUR_S)
    report = compose(record, compare_run(record))
    section = next(section for section in report.sections if section.id == "soak")
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert len(table.rows) == 48 and "of 1,000 intervals" in table.note


@pytest.mark.parametrize("count", [2**32 + 3, 2**53 + 1])
def test_counts_past_32_and_53_bits_stay_whole_from_rows_to_json_and_page(count: int) -> None:
    intervals = [
        replace(interval, operations=count, errors={"refused": count}, bytes_in=count) for interval in hours(3)
    ]
    record = soaked(intervals)
    comparison = compare_run(record)
    one = json.loads(to_json(comparison))["soak"]["contenders"][0]
    assert one["operations"] == 3 * count and one["errors"] == {"refused": 3 * count}
    assert [interval["operations"] for interval in one["intervals"]] == [count] * 3
    assert f"{3 * count:,} operations" in html.render(compose(record, comparison)).decode()
