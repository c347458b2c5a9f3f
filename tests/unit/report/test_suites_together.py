"""Run files of different suites in one report: each a chapter, where each was measured first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.compare.collections.campaign import compare_folder
from bakeoff.core.errors import PlanError
from bakeoff.report.blocks.tree import Section, Table, Text
from bakeoff.report.collections.campaign import compose_campaign
from bakeoff.store.collections.suites import as_campaign
from bakeoff.store.records.run_records import AgentRecord, RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, run


def of(suite: str, agent: str, **changes: object) -> RunRecord:
    facts = {"cpu": {"model": f"{agent} chip", "logical": 4}, "memory_bytes": 1 << 34}
    record = replace(run(blocks=6), suite=suite, path=Path(f"{suite}.bakeoff"), agents=(AgentRecord("local", facts),))
    return replace(record, **changes)  # type: ignore[arg-type]


def section_of(*runs: RunRecord) -> Section:
    folder = as_campaign(runs)
    assert folder is not None and not folder.is_planned
    report = compose_campaign(compare_folder(folder), folder, (("Runs", "x"), ("Files", "y")))
    assert {section.chapter for section in report.sections} == {"", *folder.runs}
    (section,) = [one for one in report.sections if one.id == "run-files"]
    return section


def test_what_differs_between_machines_and_files_is_told_before_any_chapter() -> None:
    text, table, same = section_of(of("web-static", "old"), of("web-dynamic", "new")).blocks
    assert isinstance(text, Text) and text.text == "The suites were not measured in one place: load generators differ."
    assert isinstance(table, Table) and isinstance(same, Table)
    assert [column.title for column in table.columns] == ["Item", "web-static", "web-dynamic"]
    assert ("Load generators", "1 × (4 × old chip, 16 GiB)", "1 × (4 × new chip, 16 GiB)") in table.rows
    assert ("File", "web-static.bakeoff", "web-dynamic.bakeoff") in table.rows
    assert any(row[0] == "Address of nginx" for row in same.rows)


def test_one_place_is_called_so() -> None:
    text = section_of(of("web-static", "old"), of("web-dynamic", "old")).blocks[0]
    assert isinstance(text, Text) and "by the same machines" in text.text


def test_the_verdict_is_that_of_a_campaign_with_each_suite_of_one_weight() -> None:
    folder = as_campaign([of("web-static", "a"), of("web-dynamic", "a")])
    assert folder is not None
    found = compare_folder(folder)
    assert [(one.name, one.weight) for one in found.suites] == [("web-static", 1.0), ("web-dynamic", 1.0)]
    assert found.winner == "nginx" and "over 2 suites" in headline_of(found)[0]


def test_files_of_one_suite_are_none_and_strangers_are_refused() -> None:
    assert as_campaign([of("web-static", "a"), of("web-static", "b")]) is None
    others = replace(run((replace(FAST, name="x"), replace(FAST, name="y")), blocks=6), suite="web-dynamic")
    with pytest.raises(PlanError, match="no contender in common"):
        as_campaign([of("web-static", "a"), others])
