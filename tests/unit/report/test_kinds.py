"""What reports know of kinds: where their sections stand, and what every kind gets without saying anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.cube.cell_form import CellForm, SizeAxis
from bakeoff.compare.kind import ComparePart
from bakeoff.kinds import KINDS
from bakeoff.report.blocks.tree import Chart, Report, Table
from bakeoff.report.compose import compose
from bakeoff.report.kind import report_part
from bakeoff.report.layout import context
from bakeoff.report.narrate.figures.cells import pair_summary
from bakeoff.report.narrate.kind import WordsPart
from bakeoff.report.narrate.validity import advice
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.sections import SECTIONS
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import change, run
from tests.unit.compare.synthetic_cells import KIB, MIB, matrix_run


def report_of(record: RunRecord) -> Report:
    return compose(record, compare_run(record))


def tables(record: RunRecord, section_id: str) -> list[Table]:
    section = next((one for one in report_of(record).sections if one.id == section_id), None)
    return [block for block in section.blocks if isinstance(block, Table)] if section else []


@pytest.mark.parametrize("name", [*KINDS, "unheard-of"])
def test_sections_of_kinds_stand_behind_general_ones(name: str) -> None:
    general = [section.id for section in SECTIONS]
    assert len(set(general)) == len(general)
    assert {section.after for section in report_part(name).sections} <= set(general)


def test_general_sections_stand_under_their_own_ids() -> None:
    places = [section.id for section in SECTIONS]
    for record in (run(), matrix_run(lambda *_: 1.1, tests=("read",), sizes=[(64 * KIB, 4 * KIB)], load_steps=(1, 4))):
        shown = [section.id for section in report_of(replace(record, kind="unheard-of")).sections]
        assert set(shown) <= set(places) and shown == sorted(shown, key=places.index)


@pytest.mark.parametrize("kind", ["web", "unheard-of"])
def test_operations_are_shown_apart_though_no_difference_is_found(kind: str) -> None:
    record = replace(run(blocks=1), kind=kind)
    assert not compare_run(record).pairs[0].exploratory.tested
    (table,) = tables(record, "operations")
    assert table.title == "Operations at 8 clients"
    row = next(cells for cells in table.rows if cells[0] == "735")
    (one,) = [t for t in record.trials if t.contender == "nginx" and t.load_step.clients == 8]
    operation = next(o for o in one.per_operation if o.name == "735")
    assert float(row[1].replace(",", "")) == pytest.approx(operation.operations / one.window_s, rel=1e-3)


def test_figures_without_a_section_are_printed() -> None:
    values = {"slots": {"used": 3, "in_all": 8}, "engine": "fast", "whole": True, "bodies_hashed": 4, "list": [1, 2]}
    record = change(run(blocks=2), "nginx", None, None, workload=values)
    record = change(record, "nginx", 8, (2,), workload={**values, "slots": {"used": 5, "in_all": 8}, "engine": "slow"})
    (table,) = tables(record, "figures")
    assert [row[1:] for row in table.rows] == [
        ("4 (3 – 5)", "–"),
        ("8", "–"),
        ("2 different", "–"),
        ("yes", "–"),
        ("2", "–"),
    ]
    assert [row[0] for row in table.rows] == ["slots · used", "slots · in all", "engine", "whole", "list · entries"]
    assert not tables(run(blocks=2), "figures")


def known_as(monkeypatch: pytest.MonkeyPatch, part: ComparePart, words: WordsPart | None = None) -> None:
    """Every kind is this one, with these words."""
    monkeypatch.setattr("bakeoff.compare.kind.compare_part", lambda name: part)
    monkeypatch.setattr(context, "compare_part", lambda name: part)
    for module in (context, advice):
        monkeypatch.setattr(module, "words_part", lambda name: words or WordsPart())


def test_a_kind_has_its_own_words_for_classes_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory(ComparePart):
        work = "commands"
        wrong = ("protocol",)

    known_as(monkeypatch, Memory(), WordsPart(error_words={"wrong_status": "-OOM"}))
    record = change(run(), "nginx", None, None, errors={"wrong_status": 3_000})
    comparison = compare_run(record)
    assert {gate.name for gate in comparison.pairs[0].primary.gates} == {"errors"}, "no wrong answers"
    assert any("-OOM" in warning.text for warning in warnings_of(comparison))
    assert "-OOM" in [column.title for table in tables(record, "errors") for column in table.columns]


def test_cells_are_told_as_their_form_says(monkeypatch: pytest.MonkeyPatch) -> None:
    class Streams(ComparePart):
        cells = CellForm("way", "ways", (SizeAxis("record", "stream size", "streams of {}"),), "GB/s", 1e-6)

    def drawn(record: RunRecord) -> list[Any]:
        return [chart for chart in report_of(record).charts() if chart.id.startswith("chart-heat")]

    known_as(monkeypatch, Streams())
    record = matrix_run(lambda *_: 1.2, tests=("up", "down"), sizes=[(MIB, 4 * KIB), (MIB, 64 * KIB)])
    matrix = compare_run(record).cells
    assert matrix is not None and matrix.to_dict()["form"]["rate_unit"] == "GB/s"
    assert any("By stream size, over all ways: " in text for text in pair_summary(matrix.pairs[0]))
    (chart,) = drawn(record)
    assert isinstance(chart, Chart) and chart.title == "All ways: cifs ÷ nfs"
    assert [chart.table.columns[0].title, *(row[0] for row in chart.table.rows)] == ["Way", "up", "down"]
    assert [table.title for table in tables(record, "rates-of-cells")] == [
        "GB/s of each way",
        "Every cell: rates and response times",
    ]
