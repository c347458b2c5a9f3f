"""Each check with a number that it must find, and with the same one right."""

from __future__ import annotations

import ast
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.audit import checks
from bakeoff.audit.audit import Audit, audit
from bakeoff.audit.facts import CacheEnd, FitsConstant, ImpliedPause
from bakeoff.audit.given import Given
from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.importers import importer, sniffed
from bakeoff.formats.importers.base import Options
from bakeoff.report.audit.document import document
from bakeoff.report.audit.lines import summary
from bakeoff.report.audit.page import compose
from bakeoff.report.narrate.audit.findings import finding_text
from bakeoff.report.narrate.audit.laws import LAWS
from bakeoff.report.narrate.sentences import sentence
from tests.unit.audit import made

TIMES = {
    "operations": "1000",
    "minimum [ms]": "1.0",
    "p50 [ms]": "2.0",
    "p90 [ms]": "3.0",
    "p99 [ms]": "5.0",
    "maximum [ms]": "9.0",
    "mean [ms]": "2.2",
    "deviation [ms]": "0.8",
}


def of(cells: made.Cells, given: Given | None = None, **options: str) -> Audit:
    return audit([made.table(cells, **options)], given or Given())  # type: ignore[arg-type]


def grades(found: Audit) -> set[tuple[str, str]]:
    return {(finding.check, finding.grade) for finding in found.findings}


def test_a_clean_summary_is_consistent() -> None:
    found = of([TIMES])
    assert not found.findings and found.checked > 10


@pytest.mark.parametrize(
    ("heading", "text", "check"),
    [
        ("p99 [ms]", "2.5", "order"),  # below p90
        ("maximum [ms]", "4.5", "order"),  # below p99
        ("minimum [ms]", "2.4", "order"),  # above the median
        ("mean [ms]", "0.7", "order"),  # below the minimum
        ("mean [ms]", "1.3", "mean"),  # half of all are 2 ms or more
        ("mean [ms]", "3.4", "mean"),  # half of all are 2 ms or less, and so on
        ("deviation [ms]", "4.2", "deviation"),  # more than half of 9 − 1
        ("deviation [ms]", "3.3", "deviation"),  # more than √((9 − 2.2) · (2.2 − 1))
        ("deviation [ms]", "0.15", "deviation"),  # 9 is too far from the mean for 1,000
        ("operations", "60", "percentile-of-few"),
    ],
)
def test_summaries_of_times_that_cannot_be(heading: str, text: str, check: str) -> None:
    found = of([{**TIMES, heading: text}])
    assert check in {finding.check for finding in found.findings}
    assert any(finding.grade == "impossible" for finding in found.findings) or check == "percentile-of-few"


def test_digits_that_were_cut_and_not_rounded_are_consistent() -> None:
    """99.96 operations a second for 60 s are 5,997.6; a tool that cuts prints 99.9."""
    assert not of([{"rate [req/s]": "99.9", "duration [s]": "60.0", "operations": "5997"}], form="ab").findings
    assert of([{"rate [req/s]": "99.5", "duration [s]": "60.0", "operations": "5997"}], form="ab").impossible == 1


@pytest.mark.parametrize(
    ("byte_unit", "name"),
    [(1e6, "10^6 B"), (2.0**20, "2^20 B"), (1024e3, "10^3 · 2^10 B"), (2.0**40 / 1e6, "2^40 ÷ 10^6 B")],
)
def test_the_unit_that_fits_the_whole_table_is_told(byte_unit: float, name: str) -> None:
    found = of(made.blocks(random.Random(1), byte_unit))
    shows = [fact for outcome in found.outcomes for fact in outcome.shows if isinstance(fact, FitsConstant)]
    assert [(fact.name, fact.fit, fact.rows) for fact in shows] == [(name, 9, 9)]
    assert not found.impossible and bool(found.findings) == (name == "2^40 ÷ 10^6 B")


def test_rates_and_throughputs_are_averages_each_for_itself() -> None:
    """Published: bandwidths of fio beside its rates, over six rows from 2 to 30 millionths apart."""
    cells = [
        {"block size [KiB]": size, "throughput [MB/s]": speed, "rate [IOPS]": rate}
        for size, speed, rate in (
            ("128", "1303.87", "9947.74"),
            ("128", "2539.67", "19375.51"),
            ("1024", "6204.93", "5917.49"),
            ("1024", "12394.90", "11820.68"),
        )
    ]
    assert not of(cells).findings
    assert of([*cells, {**cells[0], "rate [IOPS]": "9974.74"}]).impossible == 1


def test_a_unit_without_a_name_is_told() -> None:
    found = of(made.blocks(random.Random(1), 1.3e6))
    fact = next(fact for outcome in found.outcomes for fact in outcome.shows if isinstance(fact, FitsConstant))
    assert fact.name == "" and fact.constant == pytest.approx(1.3e6, rel=1e-3)


@pytest.mark.parametrize("pause_s", [0.0, 0.05, 1.0])
def test_the_pause_that_a_table_implies_is_told(pause_s: float) -> None:
    found = of(made.closed_loop(random.Random(3), pause_s))
    fact = next(fact for outcome in found.outcomes for fact in outcome.shows if isinstance(fact, ImpliedPause))
    assert fact.fit == fact.rows == 10 and fact.pause_s == pytest.approx(pause_s, rel=0.02)


def test_more_requests_at_once_than_clients_are_impossible() -> None:
    row = {"clients": "4", "rate [req/s]": "1000.0", "mean [ms]": "7.1"}
    assert grades(of([row])) == {("load-law", "impossible")}
    assert not of([{**row, "mean [ms]": "4.00"}]).findings
    # Two of each client at once, or eight clients: a typed row alone does not tell, an output has them both.
    assert grades(of([{**row, "mean [ms]": "8.0"}])) == {("load-law", "off")}
    assert not of([{**row, "mean [ms]": "8.0"}], form="wrk").findings


def test_more_than_a_link_carries_is_a_cache_whose_end_is_told() -> None:
    cells = [
        {"file size [KiB]": str(size), "throughput [MB/s]": speed}
        for size, speed in ((64, "812.4"), (256, "640.2"), (1024, "371.5"), (4096, "116.2"), (16384, "109.8"))
    ]
    found = of(cells, Given(link_bytes_per_s=125e6, memory_bytes=1 << 20))
    assert found.impossible == 3 and grades(found) == {("speed", "impossible")}
    end = next(fact for outcome in found.outcomes for fact in outcome.shows if isinstance(fact, CacheEnd))
    assert (end.largest_bytes, end.next_bytes) == (1 << 20, 4 << 20)
    assert not of(cells).findings


def test_more_than_one_speed_names_each() -> None:
    found = of([{"throughput [MB/s]": "900"}], Given(125e6, 133e6, 20e9))
    assert len(found.findings) == 2


COMMANDS = [
    ("httperf --server a --num-conns=1000 --rate 100", {"connections": "1000", "duration [s]": "10.1"}, set()),
    ("httperf --server a --num-conns=1000 --rate 100", {"connections": "998", "duration [s]": "10.1"}, {"command"}),
    ("httperf --server a --num-conns=1000 --rate 100", {"connections": "1000", "duration [s]": "2.0"}, {"command"}),
    ("ab -n 5000 -c 8 http://a/", {"clients": "8", "requests": "5000"}, set()),
    ("ab -n 5000 -c 8 http://a/", {"clients": "4", "requests": "5000"}, {"command"}),
    ("wrk -t2 -c64 -d30s http://a/", {"clients": "64", "duration [s]": "30.1"}, set()),
    ("wrk -t2 -c64 -d30s http://a/", {"clients": "64", "duration [s]": "12.0"}, {"command"}),
]


@pytest.mark.parametrize(("command", "row", "checks_"), COMMANDS)
def test_what_a_command_asked_for_is_what_follows(command: str, row: dict[str, str], checks_: set[str]) -> None:
    found = audit([made.table([row], form="httperf", stated={"command line": command})])
    assert {finding.check for finding in found.findings} == checks_


def test_errors_that_the_rate_counts_are_told() -> None:
    row = {"rate [req/s]": "100.0", "duration [s]": "50.0", "operations": "4000", "errors": "1000", "requests": "5000"}
    found = of([row], form="ab")
    assert ("errors-in-rate", "off") in grades(found)
    assert "80" in finding_text(next(one for one in found.findings if one.check == "errors-in-rate"))


def test_shares_of_all_parts_are_all_of_it() -> None:
    cells = [{"part": name, "time [%]": text} for name, text in (("a", "40.1"), ("b", "33.3"), ("c", "26.6"))]
    assert not of(cells).findings
    cells[1]["time [%]"] = "36.3"
    assert grades(of(cells)) == {("shares", "impossible")}


def test_a_mean_of_parts_lies_between_them() -> None:
    cells = [{"part": name, "mean [ms]": text} for name, text in (("a", "4.0"), ("b", "6.0"), ("total", "6.3"))]
    assert grades(of(cells)) == {("parts", "impossible")}


def test_copied_files_are_told() -> None:
    cells = made.pair(random.Random(4))[:10]
    found = audit([made.table(cells, "a.csv"), made.table(cells, "b.csv")])
    assert [finding.fact.what for finding in found.findings] == ["file"]  # type: ignore[attr-defined]
    other = made.pair(random.Random(5))[:10]
    assert not audit([made.table(cells, "a.csv"), made.table(other, "b.csv")]).findings


def damaged_of_all_kinds() -> Audit:
    """An audit with findings of nearly every sort."""
    cells = made.closed_loop(random.Random(1))
    cells[3]["operations"] = "12"
    cells[5]["errors"] = "7777"
    cells[6]["rate [req/s]"] = "1.1"
    slow = [{**TIMES, "deviation [ms]": "4.2"}, {**TIMES, "p99 [ms]": "2.5"}, {**TIMES, "mean [ms]": "3.4"}]
    files = [
        made.table(cells, "loop.csv"),
        made.table(made.blocks(random.Random(1), 1e3), "blocks.csv"),
        made.table(slow, "times.csv"),
        made.table([{"rate [req/s]": "99.7", "duration [s]": "60.0", "operations": "99"}], "ab.txt", "ab"),
    ]
    return audit(files, Given(link_bytes_per_s=1e6))


def test_a_column_that_repeats_itself_is_no_copy_of_itself() -> None:
    speeds = ["10.552", "20.663", "30.771"] * 2
    assert not of([{"clients": str(at), "read speed [MB/s]": speed} for at, speed in enumerate(speeds, 1)]).findings


def test_all_that_is_found_is_told_in_words_json_and_a_page() -> None:
    found = damaged_of_all_kinds()
    texts = [finding_text(finding) for finding in found.findings]
    assert len({finding.check for finding in found.findings}) >= 7
    assert all(not text[0].islower() and text.endswith(".") and " nan" not in text for text in texts)
    assert all(sentence(fact) for outcome in found.outcomes for fact in outcome.shows)
    made_of = json.loads(json.dumps(document(found), allow_nan=False))
    assert (
        made_of["impossible"] == found.impossible == len([f for f in made_of["findings"] if f["grade"] == "impossible"])
    )
    report = compose(found)
    assert report.verdict == "Impossible" and "impossible" in summary(found)
    marked = [
        cell
        for s in report.sections[2:]
        for b in s.blocks
        for row in b.rows
        for cell in row
        if hasattr(cell, "severity")
    ]  # type: ignore[union-attr]
    assert len(marked) >= 6


def test_every_check_has_words() -> None:
    folder = Path(checks.__file__).parent
    keys = {
        node.value
        for path in folder.glob("*.py")
        for statement in ast.parse(path.read_text()).body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant | ast.Tuple)
        for node in ast.walk(statement.value)
        if isinstance(node, ast.Constant)
        and any(
            isinstance(name, ast.Name)
            and name.id in ("KEY", "ORDER", "MEANS", "DEVIATIONS", "TAIL", "ERRORS_IN", "SHARES")
            for target in statement.targets
            for name in ast.walk(target)
        )
    }
    assert len(keys) > 8 and keys <= set(LAWS)


def test_nothing_to_check_is_said() -> None:
    assert "nothing could be checked" in summary(of([{"throughput [MB/s]": "12.1"}]))


def test_files_of_real_tools_have_nothing_impossible() -> None:
    """They are true, whatever their tools leave out: nothing of them may be called impossible."""
    checked = 0
    for path in sorted((Path(__file__).parents[2] / "data/foreign").rglob("*")):
        try:
            source = Source(path)
            read = importer(sniffed(source)).read(source, Options())
        except PlanError:
            continue
        found = audit([replace(read, path=path.name)])
        assert not found.impossible, [(finding.check, finding.places[0]) for finding in found.findings]
        checked += found.checked
    assert checked > 300
