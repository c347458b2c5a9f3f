"""What trials tell of themselves: believed when it fits the model of its kind, refused in one sentence otherwise."""

from __future__ import annotations

import copy
import json
import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import BakeoffError, RunFileError
from bakeoff.kinds import KINDS
from bakeoff.kinds.mail.compare.ledger import LOSSES
from bakeoff.kinds.mail.report.words import CLASSES
from bakeoff.report.compose import compose
from bakeoff.store.records.figures import figures_of, parsed
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunWriter
from tests.unit.compare.synthetic import run
from tests.unit.compare.synthetic_cells import KIB, cell
from tests.unit.store.builders import header, planned, trial
from tests.unit.store.test_damage import seal_anew

ROOT = Path(__file__).parents[3]
HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 1, 1e308, 2**63, 0.5, "x", "", [], [[]], [1, "a"], {}, {"a": 1}, {"": None}, [{"a": [0]}],
)  # fmt: skip


def cells(kind: str) -> list[dict[str, Any]]:
    """Four measured cells with everything that a cell may tell."""
    direction = {"ios": 9, "bytes": 900, "errors": 0, "total_ns": 9_000, "max_ns": 2_000}
    found = []
    for file, record in ((64 * KIB, 4 * KIB), (64 * KIB, 8 * KIB), (128 * KIB, 4 * KIB), (128 * KIB, 8 * KIB)):
        one = cell("read", file, record, 1_000.0 + record)
        one |= {
            "elapsed_s": 1.0, "slowest_kib_s": 1.0, "fastest_kib_s": 2.0, "first_done_s": 0.5, "last_done_s": 1.0,
            "per_client": [[900, 1.0], [1_000, 2.0]], "idle_clients": 0, "verify_s": 0.1, "cached": True,
            "cached_reason": "too fast", "carried_bytes": 10, "stretched": False, "empty": False,
            "cache": {"asked": "cold", "level": 2, "name": "dropped", "proved": True},
            "service": {"p50_ns": 10, "p95_ns": 20, "p99_ns": 30},
        }  # fmt: skip
        if kind == "file-blocks":
            one |= {"reads": direction, "writes": direction, "outstanding": 1, "bins": [1] * 21, "cpu_us_per_io": 2.0}
        found.append(one)
    return found


MAIL = {
    "ledger": {
        "counts": {"accepted": 100, "delivered": 97, "lost": 2, "late": 1},
        "mark": "00112233445566aa",
        "ids": {
            "lost": [
                {"id": "0.0.1", "mailbox": "u", "sender": "s", "accepted_s": 0.5},
                {"id": "0.0.2", "mailbox": "u"},
            ],
            "misdelivered": [{"id": "0.0.3", "mailbox": "u", "sender": "s", "accepted_s": None}],
        },
        "totals": {"accepted": 100, "accounted": 100, "ids_seen": 97, "classified": 97},
        "foreign": {"u@x": 1},
        "unchecked_mailboxes": {"refused": 1},
    },
    "flow": {
        "delivered_per_s": 9.0, "delivered_at_last_per_s": 9.5, "accepted_per_s": 10.0, "read_per_s": 9.0,
        "accepted": 100, "read": 90, "offered": {"messages": 110, "bytes": 9_000},
        "put_off": {"messages": 10, "bytes": 5_000}, "in_delivery": {"mean": 1.0, "peak": 3},
        "backlog": {"messages": 10}, "drain": {"per_s": 4.0},
        "per_second": [{"second": 0, "accepted": 10, "read": 9}, {"second": 1, "accepted": 9, "read": 9}],
    },
    "visible": {end: {"count": 97, "mean_ns": 2e9, "p95_ns": 3e9} for end in ("after", "by")},
    "response": {side: {"steps": 9, "mean_s": 6.0} for side in ("without_empty_polls", "sending", "reading")},
    "sessions": {"smtp": {"peak": 3, "at_peak": {"let_in_expected": 40.0}}, "pop3": {"peak": 1, "at_peak": None}},
    "refusals": {when: {"counts": {"busy_421": 2, "connect_1s": 1}, "texts": ["421"]} for when in ("init", "measured")},
    "share": {"sending": 0.3},
    "polls": {"all": 7, "empty": 5},
}  # fmt: skip


def path_row(path: str) -> dict[str, Any]:
    """A path of a replayed log."""
    times = {"time_s": 0.5, "p50_ns": 1e6, "p99_ns": 9e6}
    reply_difference = {"other_status": 2, "logged_status": 200, "got_status": 404}
    counts = {"in_log": 9, "asked": 80, "answered": 70, "statuses": {"200": 70, "404": 2}, "errors": {"refused": 1}}
    return {"path": path, **counts, **times, **reply_difference}


SAMPLES: dict[str, dict[str, Any]] = {
    "web": {"bodies_hashed": 7, "stale_connections": 1, "unsolicited": 0, "polled_share": 0.5},
    "web-session": {
        "failed": {"requests": {"log in": {"503": 3, "value not found: csrf": 2}}, "others": 1},
        "stale_connections": 1,
    },
    "replay": {
        "paths": {
            "rows": [path_row("GET /"), path_row("GET /a")],
            "others": {"paths": 9, "sum": path_row("other paths")},
        }
    },
    "mail": MAIL,
    "app": {
        "server": {"cpu_share": 0.5, "watched_s": 8.0, "disk_read_bytes": 9, "disk_written_bytes": None},
        "verified": {"records": 9, "damaged": 0, "lost": 1, "wrong_results": 2},
        "read_back": {"writes": 9, "records": 8, "asked": 7, "read": 6, "damaged": 1, "lost": 2},
        "worked_again": {"answers": 9, "checked": 8, "wrong": 1},
        "times": {"told": 9, "too_long": 1, "too_short": 2},
    },
    "httperf": {
        "test_duration_s": 9.9,
        "connections": 100,
        "requests": 200,
        "replies": 199,
        "requests_failed": 1,
        "concurrent_max": 3,
        "connect_burst_max": 1,
        "starts": 100,
        "starts_planned": 100,
        "connect": {"count": 100, "sum_s": 0.1},
        "lifetime_median_s": 0.0025,
        "lifetimes": [[2, 70], [5, 30]],
        "lifetime": {"count": 100, "sum": 0.3, "sum_of_squares": 0.01, "min": 0.002, "max": 0.006},
        "reply_rate": {"count": 1, "sum": 20.0, "sum_of_squares": 400.0, "min": 20.0, "max": 20.0},
        "request_bytes": 12_400,
        "reply_header_bytes": 40_000,
        "reply_content_bytes": 99_000,
        "statuses": {"s2xx": 199, "s200": 199},
        "errors": {"connreset": 1},
        "cpu_user_s": 0.5,
        "cpu_system_s": 0.75,
        "sessions": {"completed": 9, "failed": 1, "lengths": [0, 1, 9], "lifetime": {"count": 9, "sum_s": 8.5}},
    },
    "file-matrix": {"cells": cells("file-matrix"), "complete": True},
    "file-blocks": {"cells": cells("file-blocks"), "complete": True, "region_bytes": 128 * KIB},
    "file-mix": {
        "iterations": {"bytes": 2_000_000, "pause_s": 2.0, "count": 9, "rest_ms": 2e3, "implied_sessions": 3.0},
        "link_bytes_per_s": 125e6,
        "beyond_link": True,
        "touched_bytes": 900,
        "touched_bytes_per_client": {"min": 400, "max": 500, "mean": 450.0},
        "outside_s": 0.1,
    },
}
ANY = {"outside": {"operations": 3, "errors": 1}}


def record_of(kind: str, workload: dict[str, Any]) -> RunRecord:
    """A short run in which every trial of the first contender tells this."""
    record = replace(run(load_steps=(1, 4), blocks=1), kind=kind)
    own = {**ANY, **SAMPLES[kind]}
    trials = (replace(t, workload=workload if t.contender == "nginx" else own) for t in record.trials)
    return replace(record, trials=tuple(trials))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(inner):
        yield value, key
        yield from places(item)


def spoiled(kind: str, seed: int) -> dict[str, Any]:
    """The sample of a kind with one to three values that are something else."""
    chance = random.Random(seed)
    found = copy.deepcopy({**ANY, **SAMPLES[kind]})
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(list(places(found)))
        container[key] = copy.deepcopy(chance.choice(HOSTILE))
    return found


def test_every_kind_has_a_sample() -> None:
    assert set(SAMPLES) == set(KINDS)
    for kind, sample in SAMPLES.items():
        record = record_of(kind, {**ANY, **sample})
        compose(record, compare_run(record))


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_figures_are_refused_in_one_sentence_or_do_no_harm(kind: str) -> None:
    model, harmless, refused = figures_of(kind), [], 0
    for seed in range(400):
        workload = spoiled(kind, seed)
        try:
            parsed(model, workload, "the figures of trial 7")
            if len(harmless) < 12:
                harmless.append(workload)
        except RunFileError as error:
            refused += 1
            assert re.fullmatch(r"the figures of trial 7: [^\n]+ does not hold what it must", str(error))
    assert refused > 40 and len(harmless) == 12
    for workload in harmless:
        record = record_of(kind, workload)
        try:
            compose(record, compare_run(record))
        except BakeoffError as error:
            assert "\n" not in str(error)


def test_a_forged_file_with_seals_of_its_own_is_refused_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with RunWriter.create(path, replace(header(), kind="mail"), planned()) as writer:
        writer.add_trial(replace(trial(), workload=MAIL), {})
    assert read_run(path).trials[0].workload == MAIL
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE trials SET workload = ?", (json.dumps({**MAIL, "ledger": 5}),))
        connection.commit()
    seal_anew(path)
    with pytest.raises(RunFileError, match=r"the figures of trial 1: ledger does not hold what it must") as caught:
        read_run(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_figures_are_parsed_once_and_by_the_model_of_the_kind() -> None:
    one = trial(workload=MAIL)
    found = one.figures(figures_of("mail"))
    assert one.figures(figures_of("mail")) is found and one.figures(figures_of("unheard-of")) is found


def test_what_a_newer_engine_tells_besides_is_left_alone() -> None:
    one = trial(workload={"polled_share": 0.25, "of_the_future": [1, {"a": None}]})
    assert one.figures(figures_of("web")).polled_share == 0.25


def test_the_classes_of_messages_are_those_of_the_engine() -> None:
    source = (ROOT / "crates/workloads/src/mail/ledger/mod.rs").read_text()
    listed = re.search(r"const CLASSES: \[&str; \d+\] = \[(.*?)\];", source, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r'"(\w+)"', listed.group(1))) == set(CLASSES) >= set(LOSSES)
