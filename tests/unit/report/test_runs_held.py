"""Runs that a report holds are read again bounded: whatever calls itself one is one, or refused in one sentence."""

from __future__ import annotations

import base64
import json
import lzma
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.cli.read.report_inputs import compose_embedded
from bakeoff.core.errors import BakeoffError, PlanError
from bakeoff.report.embed.embedded_runs import (
    MOST_UNPACKED,
    EmbeddedRuns,
    checked,
    digest,
    embedded_from,
    packed,
    read_embedded,
    repacked,
)
from bakeoff.report.embed.report_options import ReportOptions
from bakeoff.store.sqlite.rows import EMBEDDED, embedded_columns
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedRuns:
    record = run(load_steps=(4,), blocks=2, window_s=2.0)
    return embedded_from([stored(record, tmp_path_factory.mktemp("held") / "it.bakeoff")])


def rows(given: Any) -> str:
    return base64.b64encode(lzma.compress(given if isinstance(given, bytes) else json.dumps(given).encode())).decode()


def parsed_rows(embedded: EmbeddedRuns) -> Any:
    return json.loads(lzma.decompress(base64.b64decode(packed(embedded).rows)))


def test_what_was_packed_is_read_and_known_however_it_is_packed(embedded: EmbeddedRuns) -> None:
    inside = packed(embedded)
    again = checked(read_embedded(inside.rows, "it"), "it")
    assert [file.record.trials for file in again.files] == [file.record.trials for file in embedded.files]
    assert repacked(again, inside.rows) == inside and inside.about["sha256"] == digest(inside.rows)
    other = base64.b64encode(lzma.compress(lzma.decompress(base64.b64decode(inside.rows)), preset=0)).decode()
    assert other != inside.rows and digest(other) == digest(inside.rows)


def test_an_aa_run_that_cannot_be_told_keeps_out_itself_alone(tmp_path: Path) -> None:
    record = run(load_steps=(4,), blocks=2, window_s=2.0)
    plain = stored(record, tmp_path / "it.bakeoff")
    secret = [replace(trial, workload={"said": "https://me:hunter2@a/"}) for trial in record.trials]
    floor = stored(replace(record, trials=secret), tmp_path / "aa-it.bakeoff")
    found = parsed_rows(embedded_from([plain], [floor]))
    assert len(found["files"]) == 1 and "aa" not in found and "hunter2" not in json.dumps(found)
    assert len(parsed_rows(embedded_from([plain], [plain]))["aa"]) == 1
    assert not packed(embedded_from([floor])).rows and not packed(embedded_from([floor], [plain])).rows


def changed(embedded: EmbeddedRuns, path: tuple[Any, ...], value: Any) -> str:
    """The rows with one member replaced; without it where the value is `...`."""
    found = parsed_rows(embedded)
    place = found
    for name in path[:-1]:
        place = place[name]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return rows(found)


STORED = {"format": 1, "name": "x", "title": "X", "seed": 1, "contenders": ["a"], "suite_runs": []}
CAMPAIGN = {"folder": "lab", "stored": STORED, "plan_hash": "x", "faults": {}}
HOSTILE: dict[str, tuple[Callable[[EmbeddedRuns], str], str]] = {
    "no base64": (lambda _: "ä!", "damaged"),
    "nothing": (lambda _: rows(b""), "damaged"),
    "no LZMA": (lambda _: base64.b64encode(b"no").decode(), "damaged"),
    "cut off": (lambda embedded: packed(embedded).rows[:400], "cut off"),
    "more behind it": (
        lambda embedded: rows(parsed_rows(embedded))[:-4] + base64.b64encode(b"xyz" * 9).decode(),
        "damaged",
    ),
    "a bomb": (lambda _: rows(bytes(MOST_UNPACKED + 1)), "larger than any report's"),
    "much memory": (
        lambda _: base64.b64encode(lzma.compress(b"{}", preset=9)).decode(),
        "damaged",
    ),
    "millions of values": (lambda _: rows(b"[" + b"[]," * 4_000_000 + b"0]"), "more than 6,000,000 values"),
    "nested": (lambda _: rows(b"[" * 100_000), "damaged"),
    "no finite number": (lambda _: rows(b'{"format": 1e999}'), "damaged"),
    "half a sign": (lambda _: rows(b'{"format": "\\ud800"}'), "damaged"),
    "another format": (lambda embedded: changed(embedded, ("format",), 2), "another version"),
    "another version": (lambda embedded: changed(embedded, ("version",), 7), "another version"),
    "no files": (lambda embedded: changed(embedded, ("files",), []), "there are none"),
    "a path": (lambda embedded: changed(embedded, ("files", 0, "name"), "../x"), "files.0.name"),
    "a table less": (
        lambda embedded: changed(embedded, ("files", 0, "tables", "clients"), ...),
        "not have the tables of a run",
    ),
    "a column more": (
        lambda embedded: changed(embedded, ("files", 0, "tables", "clients", "x"), []),
        "not have the columns of a run",
    ),
    "a row less": (lambda embedded: changed(embedded, ("files", 0, "tables", "clients", "client"), []), "cut off"),
    "a list": (lambda embedded: changed(embedded, ("files", 0, "tables", "run", "name"), [[]]), "what no table can"),
    "a number for a name": (lambda embedded: changed(embedded, ("files", 0, "tables", "run", "kind"), [5]), "run.kind"),
    "a campaign of another": (
        lambda embedded: changed(embedded, ("campaign",), {**CAMPAIGN, "challenged": {"suites": [{"name": "y"}]}}),
        "suites differ from the campaign's",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_none_is_refused_in_one_sentence(embedded: EmbeddedRuns, what: str) -> None:
    made, sentence = HOSTILE[what]
    with pytest.raises(PlanError, match=r"the (runs|data) in it") as error:
        checked(read_embedded(made(embedded), "it"), "it")
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_whatever_rows_say_a_report_is_made_of_them_or_one_sentence(embedded: EmbeddedRuns) -> None:
    """Values that fit their columns, and mean something else."""
    chance = random.Random(6)
    text = json.dumps(parsed_rows(embedded))
    made = 0
    for _ in range(30):
        found = json.loads(text)
        tables = found["files"][0]["tables"]
        for _ in range(chance.randint(1, 3)):
            values = tables[table := chance.choice(EMBEDDED)][chance.choice(embedded_columns(table))]
            if values:
                like = values[place := chance.randrange(len(values))]
                numbers: list[Any] = [0, 1, 7, 10**15] if isinstance(like, int) else [0.0, 1e-9, 1e15]
                values[place] = chance.choice(numbers if isinstance(like, int | float) else [*values, "", "{}", "x"])
        try:
            compose_embedded(checked(read_embedded(rows(found), "it"), "it"), ReportOptions(), None)
            made += 1
        except BakeoffError as error:
            assert str(error) and "\n" not in str(error)
    assert made > 5


def test_a_file_that_is_no_report_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(PlanError):
        read_embedded("", str(tmp_path))
