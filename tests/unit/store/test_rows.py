"""The rows of a run file as plain values give the record that the file gives, or are refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import RunFileError
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY
from bakeoff.store.sqlite.read import read_run, read_tables, record_of
from bakeoff.store.sqlite.rows import EMBEDDED, Tables, embedded_columns
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored


def without_what_is_left_out(record: RunRecord) -> RunRecord:
    """Seconds have their rates and tails alone."""

    def trial(one: Any) -> Any:
        seconds = tuple(
            replace(
                each,
                errors=0,
                bytes_in=0,
                service=replace(EMPTY_SUMMARY, count=each.service.count, p99_ns=each.service.p99_ns),
            )
            for each in one.per_second
        )
        return replace(one, per_second=seconds)

    trials, earlier = tuple(map(trial, record.trials)), tuple(map(trial, record.earlier))
    return replace(record, trials=trials, earlier=earlier, started_here=None)


def test_rows_that_went_through_json_give_the_record_of_the_file(tmp_path: Path) -> None:
    path = stored(run(blocks=2, load_steps=(1, 4)), tmp_path / "it.bakeoff")
    tables: Tables = json.loads(json.dumps(read_tables(path)))
    assert set(tables) == set(EMBEDDED)
    assert record_of(path, tables) == without_what_is_left_out(read_run(path))


def test_seconds_and_clients_are_there(tmp_path: Path) -> None:
    path = stored(run(blocks=2, window_s=3.0), tmp_path / "it.bakeoff")
    tables = read_tables(path)
    assert record_of(path, tables) == without_what_is_left_out(read_run(path))
    assert len(tables["seconds"]["service_p99_ns"]) > len(tables["trials"]["id"]) < len(tables["clients"]["busy_s"])
    assert "started_here" not in embedded_columns("run") and "sha256" in embedded_columns("run")


def test_whatever_calls_itself_rows_is_a_record_or_one_sentence(tmp_path: Path) -> None:
    path = stored(run(blocks=2, load_steps=(1,), window_s=2.0), tmp_path / "it.bakeoff")
    whole = json.dumps(read_tables(path))
    chance = random.Random(5)
    values: list[Any] = [None, -1, 1 << 70, 0.5, "x", "[" * 50, "{}", "\ud800", True, [], {}, 1e308, 0]
    refused = 0
    for number in range(250):
        tables = json.loads(whole)
        table = chance.choice(EMBEDDED)
        column = chance.choice(embedded_columns(table))
        found = tables[table][column]
        match number % 5:
            case 0:
                del tables[table][column]
            case 1:
                found.append(chance.choice(values))
            case 2:
                tables[table] = chance.choice(values)
            case _ if found:
                found[chance.randrange(len(found))] = chance.choice(values)
        try:
            record_of(path, tables)
        except RunFileError as error:
            assert "is damaged" in str(error) and "\n" not in str(error)
            refused += 1
    assert refused > 150
    for none in (None, [], {}, "x", {"run": {}}, {**json.loads(whole), "histograms": {}}):
        with pytest.raises(RunFileError):
            record_of(path, none)  # type: ignore[arg-type]
