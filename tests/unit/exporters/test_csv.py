"""Tidy rows of every kind of suite: what stands in a run is found in its tables, in a form that every reader takes."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.csv_table import CSV
from bakeoff.formats.exporters.csv_text import DEFUSED, cell, csv_text
from bakeoff.formats.exporters.tables import MOST_COLUMNS, TABLES, of_load_step, table_of
from bakeoff.kinds import KINDS
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Rate
from bakeoff.store.records.run_records import ContenderRecord, RunRecord, SearchRecord
from tests.unit.compare.synthetic import run
from tests.unit.store import builders
from tests.unit.store.builders import stored
from tests.unit.store.test_figures import SAMPLES, record_of

Rows = list[dict[str, str]]


def rows(record: RunRecord, table: str | None = None) -> Rows:
    return list(csv.DictReader(io.StringIO(CSV.content(record, table), newline="")))


@pytest.mark.parametrize("kind", KINDS)
def test_every_trial_of_every_kind_has_its_rows(kind: str) -> None:
    record = record_of(kind, SAMPLES[kind])
    broken = replace(record.trials[1], state="failed", reason="it died, twice", operations=0, workload={})
    record = replace(record, trials=(record.trials[0], broken, *record.trials[2:]))
    found = rows(record)
    cells = len(SAMPLES[kind].get("cells", [0]))
    assert len(found) == 1 + cells * (len(record.trials) - 1)
    for one, trial in zip(found[:1] + found[cells:], [record.trials[0], broken], strict=False):
        assert (one["contender"], one["block"], one["clients"]) == (
            trial.contender,
            str(trial.block),
            str(trial.load_step),
        )
        assert (one["state"], one["reason"]) == (trial.state, trial.reason)
    assert found[cells]["left_out"] == "it died, twice" and found[0]["left_out"] == ""
    if cells > 1:
        assert [one["file_bytes"] for one in found[:cells]] == [str(1024 * n) for n in (64, 64, 128, 128)]
        assert float(found[0]["rate_kib_s"]) == SAMPLES[kind]["cells"][0]["rate_kib_s"]
    assert all(len(rows(record, name)) == len(list(TABLES[name].rows(record))) for name in TABLES)


def test_figures_stand_there_in_full_with_their_units() -> None:
    record = run(load_steps=(4,), blocks=1)
    one, trial = rows(record)[0], record.trials[0]
    assert float(one["operations_per_s"]) == trial.operations_per_s
    assert float(one["service_p99_ms"]) == (trial.service.p99_ns or 0) / 1e6
    assert (one["errors"], one["in_bytes"]) == (str(trial.errors_total), str(trial.bytes_in))
    mail = rows(record_of("mail", SAMPLES["mail"]))[0]
    assert (mail["ledger_counts_accepted"], mail["ledger_counts_lost"]) == ("100", "2")
    assert (mail["flow_delivered_per_s"], mail["visible_by_p95_ns"]) == ("9.0", "3000000000.0")
    assert not any("@" in name for name in mail), "mailboxes are no columns"


def test_operations_seconds_clients_and_agents_add_up_to_their_trial() -> None:
    record = run(load_steps=(4,), blocks=1)
    shared = replace(record.trials[0], per_agent=(builders.share(**builders.OF_A_FLEET),))
    record = replace(record, trials=(shared, *record.trials[1:]))
    for table in ("operations", "clients"):
        found = [one for one in rows(record, table) if one["order"] == "0"]
        assert sum(int(one["operations"]) for one in found) == shared.operations, table
    assert {one["phase"] for one in rows(record, "seconds")} == {second.phase for second in shared.per_second}
    (agent,) = rows(record, "agents")
    assert (agent["agent"], agent["offered"], agent["start_offset_ms"]) == ("local", "500", "0.12")
    assert float(agent["fullest_link_share"]) == shared.per_agent[0].links[0].share


def test_failed_requests_soaks_and_searches() -> None:
    record = run(load_steps=(4,), blocks=1)
    failed = {"failed": {"requests": {"GET /a,b": {"404": 3, "refused": 1}}, "others": 2}}
    trials = (replace(record.trials[0], workload=failed), *record.trials[1:])
    record = replace(record, trials=trials, soak_intervals=(builders.soak_interval(),))
    record = replace(record, searches=(SearchRecord("nginx", 1, "found", "", 0, None),))
    found = [(one["request"], one["fault"], one["times"]) for one in rows(record, "failed")]
    assert found == [("GET /a,b", "404", "3"), ("GET /a,b", "refused", "1"), ("", "others", "2")]
    (row,) = rows(record, "soak")
    assert (row["length_s"], row["errors_refused"], row["stolen_s"]) == ("3600.0", "2", "0.25")
    (search,) = rows(record, "searches")
    assert (search["outcome"], search["met_clients"], search["missed_clients"]) == ("found", "4", "")


def test_a_table_without_rows_still_has_its_first_columns() -> None:
    assert CSV.content(run(blocks=1), "searches").startswith("contender,block,order,clients,")


def test_lines_are_those_of_rfc_4180() -> None:
    text = csv_text(["a", "b"], [['x,"y"\nz', None], [1.5, True]])
    assert text == 'a,b\r\n"x,""y""\nz",\r\n1.5,true\r\n'


@given(some.one_of(some.text(), some.sampled_from(DEFUSED).flatmap(lambda c: some.text().map(lambda t: c + t))))
def test_no_text_is_a_formula_and_each_is_found_again(text: str) -> None:
    (read,), *_ = list(csv.reader(io.StringIO(csv_text([text], []), newline=""), strict=True)) or [("",)]
    assert not read or not read.startswith(tuple("=+-@\t\r\n"))
    assert (read[1:] if read.startswith("'") else read) == text


def test_numbers_are_not_text() -> None:
    assert [cell(value) for value in (-1, -0.5, float("nan"), float("inf"), False)] == ["-1", "-0.5", "", "", "false"]


def test_hostile_names_are_defused_wherever_they_stand(tmp_path: Path) -> None:
    record = run(load_steps=(4,), blocks=1)
    evil = '=HYPERLINK("http://x.invalid")'
    names = {"nginx": evil, "apache": "@SUM(1)"}
    trials = tuple(
        replace(t, contender=names[t.contender], state="failed", reason="-2+3", workload={}) for t in record.trials
    )
    contenders = tuple(ContenderRecord(name, "http://x", None) for name in names.values())
    text = CSV.content(replace(record, contenders=contenders, trials=trials))
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {one["contender"] for one in read} == {f"'{evil}", "'@SUM(1)"} and read[0]["reason"] == "'-2+3"


def test_more_figures_than_a_run_can_have_are_refused() -> None:
    record = run(load_steps=(4,), blocks=1)
    many = {f"e{number}": 1 for number in range(MOST_COLUMNS + 1)}
    record = replace(record, trials=(replace(record.trials[0], errors=many),))
    with pytest.raises(PlanError, match="different figures"):
        table_of(record, "trials")


def test_rates_say_what_was_offered() -> None:
    found = of_load_step(Rate(500.0, Constant(), 60))
    assert (found["offered_per_s"], found["most_connections"], found["clients"]) == (500.0, 60, None)


def test_the_command_prints_writes_and_names_its_tables(tmp_path: Path) -> None:
    path = str(stored(run(load_steps=(4,), blocks=1), tmp_path / "x.bakeoff"))
    printed = CliRunner().invoke(app, ["export", path, "--to", "csv", "--table", "operations", "-o", "-"])
    assert printed.exit_code == 0 and printed.stdout.splitlines()[0].startswith("contender,block,order,clients")
    assert CliRunner().invoke(app, ["export", path, "--to", "csv", "--table", "operations"]).exit_code == 0
    assert (tmp_path / "x.operations.csv").read_bytes().decode() == printed.stdout_bytes.decode()
    refused = CliRunner().invoke(app, ["export", path, "--to", "csv", "--table", "operation"])
    assert isinstance(refused.exception, PlanError) and "operations" in str(refused.exception)
    refused = CliRunner().invoke(app, ["export", path, "--to", "iometer-csv", "--table", "trials"])
    assert isinstance(refused.exception, PlanError) and "leave it out" in str(refused.exception)
