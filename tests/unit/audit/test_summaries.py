"""Rows that were calculated from others: no load step, and held to what they are called."""

from __future__ import annotations

import pytest

from bakeoff.audit.audit import Audit, audit
from bakeoff.audit.facts import OutOfBounds, WrongSum
from tests.unit.importers.reading import table_of

HEAD = "clients,nginx (MB/s),apache (MB/s)\n1,12.5,11.0\n8,80.2,70.5\n64,238.6,190.2\n"


def audited(last: str, head: str = HEAD) -> Audit:
    return audit([table_of("table", head + last + "\n")])


def grades(found: Audit) -> list[tuple[str, str]]:
    return [(finding.check, finding.grade) for finding in found.findings]


@pytest.mark.parametrize("label", ["Total", "sum", "Gesamt", "**Total**", "Overall:", "Average", "Mittelwert"])
def test_a_calculated_row_is_no_load_step(label: str) -> None:
    found = table_of("table", f"{HEAD}{label.strip('*')},110.4,90.6\n")
    assert [row.where() for row in found.rows] == [f"{n} client{'s' * (n > 1)}" for n in (1, 8, 64) for _ in range(2)]
    assert [(row.contender, row.line) for row in found.summaries] == [("nginx", 5), ("apache", 5)]
    assert "line 5" in found.stated["calculated rows"]


def test_a_row_of_parts_is_none_of_them() -> None:
    found = table_of("table", "test,nginx (ms),apache (ms)\nread,3,4\nwrite,5,6\nAverage,4,5\n")
    assert [row.part for row in found.rows] == ["read", "read", "write", "write"] and len(found.summaries) == 2
    assert not audit([found]).findings


@pytest.mark.parametrize(
    "last",
    [
        "Total,331.3,271.7",
        "Total,110.4,90.6",
        "Average,110.4,90.6",
        "Geometric mean,62.1,52.8",
        "Mean,31.1,27.2",
        "Total,331.3,271.7\nAverage,110.4,90.6",
        "Overall,120,100",
    ],
)
def test_sums_and_means_of_the_rows_are_consistent(last: str) -> None:
    found = audited(last)
    assert not found.findings and sum(one.checked for one in found.outcomes if one.check in ("totals", "averages")) > 1


def test_an_altered_total_is_impossible_and_its_slip_is_named() -> None:
    found = audited("Total,331.3,277.1")
    (finding,) = found.findings
    assert (finding.check, finding.grade, finding.places[0].line) == ("totals", "impossible", 5)
    assert isinstance(finding.fact, WrongSum) and finding.fact.expected.low < 271.7 < finding.fact.expected.high
    assert [(one.slip, one.text) for one in finding.repairs] == [("exchanged", "271.7")]


def test_a_row_that_was_altered_shows_in_the_total() -> None:
    assert grades(audited("Total,331.3,271.7", HEAD.replace("238.6", "283.6"))) == [("totals", "impossible")]


def test_counts_have_a_total_and_no_rate_of_all_time() -> None:
    head = "clients,requests,errors\n1,1000,2\n8,8000,3\n64,9000,4\n"
    assert not audited("Total,18000,9", head).findings
    assert grades(audited("Total,8000,9", head)) == [("totals", "impossible")]


def test_a_mean_beyond_its_rows_is_impossible_and_another_one_is_off() -> None:
    found = audited("Average,245.0,90.6")
    assert grades(found) == [("averages", "impossible")] and isinstance(found.findings[0].fact, OutOfBounds)
    assert grades(audited("Average,140.4,90.6")) == [("averages", "off")]


def test_subtotals_are_of_the_rows_since_the_last_one() -> None:
    head = "test,nginx (MB/s)\na,10\nb,20\nTotal,30\nc,5\nd,6\n"
    assert not audited("Total,11", head).findings and not audited("Total,41", head).findings
    assert grades(audited("Total,99", head)) == [("totals", "impossible")]


def test_cells_are_added_up_by_columns() -> None:
    head = "file\\record (KB),4,8\n64,10,20\n128,30,40\n"
    said = {"unit": "MB/s"}
    assert not audit([table_of("table", head + "Total,40,60\n", **said)]).findings
    assert grades(audit([table_of("table", head + "Total,40,90\n", **said)])) == [("totals", "impossible")]
