"""Connections of web clients: as they were counted, and never as requests imply them."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.kinds.web.connections import ConnectionsAtLoadStep, WebSummary
from bakeoff.report.blocks.tree import Chart, Section, Table, Text
from bakeoff.report.charts.palette import PALETTE
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.store.records.run_records import RunRecord, StepRecord
from tests.unit.compare.synthetic import at_rates, run, summary
from tests.unit.report.shown import shown


def opened(per_window: dict[str, int], failed: int = 0, blocks: int = 6) -> RunRecord:
    """Each contender opened so many connections in each window, 2 ms each, and took 7 ms to receive a reply."""
    record = run(load_steps=(4, 8), blocks=blocks)
    trials = []
    for trial in record.trials:
        connect = StepRecord("connect", summary(per_window[trial.contender], 2.0))
        steps = (connect, StepRecord("transfer", summary(trial.operations, 7.0)))
        connections = {"opened": per_window[trial.contender] + 99, "failed": failed}
        trials.append(replace(trial, steps=steps, connections=connections))
    return replace(record, trials=tuple(trials))


def connecting(record: RunRecord) -> tuple[ConnectionsAtLoadStep, ...]:
    own = compare_run(record).own
    assert isinstance(own, WebSummary)
    return own.connections


def section(record: RunRecord) -> Section:
    (found,) = [one for one in compose(record, compare_run(record)).sections if one.id == "connections"]
    return found


def test_connections_of_a_client_are_those_opened_in_the_window_by_its_length_and_the_clients() -> None:
    record = opened({"nginx": 400, "apache": 1_200}, failed=3)
    length_s = record.trials[0].window_s
    for one in connecting(record):
        each = {"nginx": 400, "apache": 1_200}[one.contender]
        assert one.opened == 6 * each and one.per_s == pytest.approx(each / length_s)
        assert one.per_client_s == pytest.approx(each / length_s / one.load_step.clients)
        assert one.per_client_low == pytest.approx(one.per_client_s) == one.per_client_high
        assert (one.connect_ms, one.receive_ms, one.failed) == (pytest.approx(2.0), pytest.approx(7.0), 18)
    chart, table = section(record).blocks
    assert isinstance(chart, Chart) and isinstance(table, Table)
    assert [row[:2] for row in table.rows] == [("4", "nginx"), ("4", "apache"), ("8", "nginx"), ("8", "apache")]
    assert table.rows[0][-3:] == ("2.000", "7.000", "18")
    assert "Connections opened in the window" in shown(record, Detail.DETAILS, width=200)


def test_connections_that_stayed_open_from_before_the_window_are_none_of_it() -> None:
    record = opened({"nginx": 0, "apache": 0})
    for one in connecting(record):
        assert (one.opened, one.per_s, one.per_client_s) == (0, 0.0, 0.0)
        assert math.isnan(one.requests_each) and math.isnan(one.connect_ms)
    (text,) = section(record).blocks
    assert isinstance(text, Text) and text.text == (
        "No trial of nginx and apache opened a connection within its window: clients reused earlier connections (99 "
        "in each trial)."
    ), "one sentence, and no page of zeros"
    assert "clients reused earlier" in shown(record, Detail.COMPARISON, width=200)


def test_those_who_opened_connections_are_shown_beside_a_sentence_of_those_who_kept_theirs() -> None:
    """A curve has the contender's own colour; a single load step of several is no curve; load steps without any have
    no line.
    """
    record = opened({"nginx": 0, "apache": 1_200})
    text, ended, chart, table = section(record).blocks
    assert isinstance(text, Text) and text.text.startswith("No trial of nginx opened") and "99 in each" in text.text
    assert isinstance(ended, Text) and "apache" in ended.text, "one ends connections, the other does not"
    assert isinstance(chart, Chart) and {row["contender"] for row in chart.spec["datasets"]["rows"]} == {"apache"}
    assert PALETTE[1] in json.dumps(chart.spec) and PALETTE[0] not in json.dumps(chart.spec)
    assert isinstance(table, Table) and [row[:2] for row in table.rows] == [("4", "apache"), ("8", "apache")]
    quiet = [
        s if t.load_step.clients == 8 else replace(s, summary=summary(0, 2.0))
        for t in record.trials
        for s in t.steps[:1]
    ]
    trials = [replace(t, steps=(s, *t.steps[1:])) for t, s in zip(record.trials, quiet, strict=True)]
    *_, table = section(replace(record, trials=tuple(trials))).blocks
    assert isinstance(table, Table) and [row[:2] for row in table.rows] == [("8", "apache")]
    assert table.note.endswith("none was opened and none failed.")


def test_a_connection_that_was_not_had_is_told_where_none_was_opened() -> None:
    text, table = section(opened({"nginx": 0, "apache": 0}, failed=3)).blocks
    assert isinstance(text, Text) and isinstance(table, Table)
    assert [row[-1] for row in table.rows] == ["18"] * 4


def test_under_a_rate_there_are_no_clients_to_divide_by() -> None:
    for one in connecting(at_rates(opened({"nginx": 400, "apache": 400}))):
        assert one.per_s > 0.0 and math.isnan(one.per_client_s)


def test_a_run_that_tells_no_steps_has_no_such_section() -> None:
    record = opened({"nginx": 1, "apache": 1})
    record = replace(record, trials=tuple(replace(trial, steps=()) for trial in record.trials))
    assert connecting(record) == ()
    assert all(one.id != "connections" for one in compose(record, compare_run(record)).sections)
