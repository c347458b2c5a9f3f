"""Columns of changes: read as no result, calculated again, and named where they are wrong."""

from __future__ import annotations

import pytest

from bakeoff.audit.audit import Audit, audit
from bakeoff.audit.facts import NoBase, OtherChange, WrongBase, WrongChange
from bakeoff.report.audit.page import compose
from bakeoff.report.blocks.tree import SeverityText, Table
from tests.unit.importers.reading import table_of

RATES = "server,requests/s,{}\nfirst,200.0,{}\nsecond,250.0,{}\nthird,150.0,{}\nfourth,500.0,{}\n"


def of(heading: str, *cells: str, text: str = RATES) -> Audit:
    return audit([table_of("table", text.format(heading, *cells))])


def test_a_column_of_changes_is_no_result() -> None:
    found = table_of("table", RATES.format("change", "–", "+25.0%", "−25%", "150.00 %"))
    assert found.metrics() == ("rate",) and found.stated["calculated columns"] == "change"
    values = [value for row in found.changes for value in row.values.values()]
    assert [(one.number.text, one.line, one.column) for one in values] == [
        ("25.0", 3, 3),
        ("-25", 4, 3),
        ("150.00", 5, 3),
    ]
    assert (values[1].low, values[1].high) == (-0.255, -0.245)


@pytest.mark.parametrize("heading", ["overhead [ms]", "overhead (MB/s)", "speedy [/s]"])
def test_what_has_a_unit_of_its_own_is_a_result(heading: str) -> None:
    assert not table_of("table", f"server,requests/s,{heading}\nfirst,200.0,3\nsecond,250.0,4\n").changes


@pytest.mark.parametrize(
    ("heading", "cells"),
    [
        ("diff %", ("0.0", "25.0", "-25.0", "150.0")),  # of the first
        ("Difference with slowest", ("+ 33.3 %", "+ 66.7 %", "", "+ 233.3 %")),
        ("improvement", ("–", "25 %", "-25 %", "150 %")),
        ("speedup", ("1.00x", "1.25x", "0.75x", "2.50x")),
        ("speedup", ("1.33x", "1.67x", "1x", "3.33x")),  # of the slowest
        ("slowdown", ("2.50×", "2.00×", "3.33×", "1×")),  # of the fastest
        ("overhead", ("60.0%", "50.0%", "70.0%", "0")),
        ("change", ("100 %", "150 %", "50 %", "400 %")),  # of 100 requests/s, which the table has not
    ],
)
def test_changes_of_any_row_and_of_one_that_is_not_there_are_consistent(heading: str, cells: tuple[str, ...]) -> None:
    found = of(heading, *cells)
    assert not found.findings and next(one.checked for one in found.outcomes if one.check == "changes") >= 3


def test_a_wrong_change_is_named_with_its_slip() -> None:
    (finding,) = of("change", "0.0%", "52.0%", "-25.0%", "150.0%").findings
    assert (finding.grade, finding.places[0].line, finding.places[0].text) == ("impossible", 3, "52.0")
    assert isinstance(finding.fact, WrongChange) and finding.fact.low < 25.0 < finding.fact.high
    assert finding.repairs[0].text == "25.0" and [place.text for place in finding.places[1:]] == ["250.0", "200.0"]


def test_a_wrong_base_is_named_where_the_others_agree() -> None:
    (finding,) = of("change", "0.00%", "108.33%", "25.00%", "316.67%").findings
    assert isinstance(finding.fact, WrongBase) and finding.places[0].text == "200.0"
    assert finding.fact.expected.low < 120.0 < finding.fact.expected.high


def test_percentages_of_the_number_itself_are_another_base() -> None:
    (finding,) = of("change", "0.0%", "20.0%", "-33.3%", "60.0%").findings
    assert isinstance(finding.fact, OtherChange) and finding.grade == "off" and finding.places[0].line == 4
    assert finding.fact.low <= -25.0 <= finding.fact.high


def test_changes_of_nothing_are_off() -> None:
    (finding,) = of("change", "–", "11.0%", "48.0%", "7.0%").findings
    assert isinstance(finding.fact, NoBase) and finding.grade == "off"


def test_before_and_after_in_columns() -> None:
    text = "test,before (ms),after (ms),{}\nread,8.0,4.0,{}\nwrite,9.0,6.0,{}\nlist,5.0,3.0,{}\nstat,2.0,1.5,{}\n"
    assert not of("reduction", "50 %", "33 %", "40 %", "25 %", text=text).findings
    assert not of("speedup", "2.00x", "1.50x", "1.67x", "1.33x", text=text).findings
    (finding,) = of("reduction", "50 %", "43 %", "40 %", "25 %", text=text).findings
    assert finding.places[0].line == 3 and {place.text for place in finding.places[1:]} == {"9.0", "6.0"}


def test_changes_within_each_load() -> None:
    text = "clients,server,requests/s,{}\n1,a,100.0,{}\n1,b,120.0,{}\n8,a,700.0,{}\n8,b,770.0,{}\n"
    assert not of("change", "0 %", "20 %", "0 %", "10 %", text=text).findings


def test_the_page_marks_a_change() -> None:
    page = compose(of("change", "0.0%", "52.0%", "-25.0%", "150.0%"))
    tables = [block for section in page.sections for block in section.blocks if isinstance(block, Table)]
    cells = [cell for table in tables for row in table.rows for cell in row]
    assert "-25.0" in cells and any(isinstance(cell, SeverityText) and cell == "52.0 [1]" for cell in cells)
