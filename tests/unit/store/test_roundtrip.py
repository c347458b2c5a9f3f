import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.core.errors import RunFileError
from bakeoff.load.arrivals import Constant, Steps
from bakeoff.load.load_step import Clients, Rate
from bakeoff.store.records.run_records import (
    FOUND,
    SEARCH,
    SHARE,
    UNRESPONSIVE,
    AgentRecord,
    EventRecord,
    PlannedTrial,
    SearchRecord,
)
from bakeoff.store.records.trial_parts import JudgedRecord, StartsRecord, TermRecord
from bakeoff.store.sqlite.canonical import plan_hash
from bakeoff.store.sqlite.read import histogram, pending, read_run, soak_histograms
from bakeoff.store.sqlite.seal import renew
from bakeoff.store.sqlite.write import RunWriter
from tests.unit.store.builders import EMPTY, OF_A_FLEET, header, planned, seen, share, soak_interval, trial

EVENT = EventRecord(
    "2026-11-20T10:00:01.000+00:00", "warning", "something", None, UNRESPONSIVE, "a", "its port is closed"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.bakeoff"


def test_everything_written_is_read_back(path: Path) -> None:
    first = trial(generator_run_delay_share=0.125)
    second = trial(order=1, contender="b", state="failed", reason="no operation succeeded", operations=0)
    with RunWriter.create(path, header(), planned()) as writer:
        writer.set_null_rate(1_000_000.0, {"local": 900_000.0})
        writer.add_events([EVENT])
        assert writer.add_trial(first, {"service": b"\x00\x01", "op/static/223": b"\x02"}, [EVENT]) == 1
        assert writer.add_trial(second, {}) == 2
        writer.finish()
    run = read_run(path)
    assert run.trials == (replace(first, id=1), replace(second, id=2))
    assert run.events == (EVENT, replace(EVENT, trial_id=1))
    assert (run.name, run.suite, run.kind, run.plan_hash) == ("demo", "web-static", "web", header().plan_hash)
    assert run.plan == {"suite": "web-static", "seed": 1}
    assert run.tool == {"version": "0.1.0"} and run.environment == {"cpu": {"model": "test"}}
    assert run.contenders == tuple(header().contenders)
    assert (run.load_steps, run.blocks_planned, run.delta, run.trials_planned) == ((Clients(4),), 2, 0.05, 4)
    assert run.null_operations_per_s == 1_000_000.0 and run.agents[0].null_operations_per_s == 900_000.0
    assert run.finished_at is not None and run.finished_at >= run.created_at
    assert histogram(path, 1, "service") == b"\x00\x01"
    with pytest.raises(RunFileError, match="no histogram 'nope'"):
        histogram(path, 1, "nope")


def test_a_search_for_a_capacity_plans_as_it_goes_and_is_read_back(path: Path) -> None:
    """Its trials are planned one by one; a search that ended says at which of them."""
    head = header(load_steps=[], plan={"capacity": {}}, plan_hash=plan_hash({"capacity": {}}))
    judged = JudgedRecord(
        False, 0.5, "", (TermRecord("p99<=50ms", 9e7, 0.5, False), TermRecord("mean<=1s", None, 1.0, False))
    )
    probe = PlannedTrial(0, "a", Clients(9), 1, 42, SEARCH)
    share = PlannedTrial(1, "a", Clients(7), 1, 42, SHARE, 0.7)
    with RunWriter.create(path, head, []) as writer:
        assert read_run(path).load_steps == () and read_run(path).trials_planned == 0
        writer.plan_trial(probe)
        writer.add_trial(trial(load_step=Clients(9), purpose=SEARCH, judged=judged), {})
        assert pending(path) == ()
        writer.add_search(SearchRecord("a", 1, FOUND, "", 0, None))
        writer.plan_trial(share)
        assert pending(path) == (share,)
        writer.add_trial(trial(order=1, load_step=Clients(7), purpose=SHARE, share=0.7), {})
    run = read_run(path)
    assert [(t.load_step, t.purpose, t.share, t.judged) for t in run.trials] == [
        (Clients(9), SEARCH, None, judged),
        (Clients(7), SHARE, 0.7, None),
    ]
    assert run.searches == (SearchRecord("a", 1, FOUND, "", 0, None),) and run.trials_planned == 2


def test_only_a_search_has_trials_that_no_load_step_stands_for(path: Path) -> None:
    """Nor has a run without a search no load steps at all."""
    for load_steps, purpose in (([Clients(4)], SEARCH), ([], "")):
        path.unlink(missing_ok=True)
        with RunWriter.create(path, header(load_steps=load_steps), [PlannedTrial(0, "a", Clients(4), 1, 42, purpose)]):
            pass
        with pytest.raises(RunFileError, match="is damaged"):
            read_run(path)


def test_is_a_marked_wal_database_and_one_file_remains(path: Path) -> None:
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(), {})
        assert writer._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert writer._connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert [p.name for p in path.parent.iterdir()] == ["x.bakeoff"]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone()[0] == 0x62616B65
    assert connection.execute("PRAGMA user_version").fetchone()[0] == 1


def test_a_run_in_progress_can_be_read(path: Path) -> None:
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(), {})
        assert len(read_run(path).trials) == 1
        writer.add_trial(trial(order=1, contender="b"), {})
        assert len(read_run(path).trials) == 2


def test_reading_leaves_the_bytes_alone(path: Path) -> None:
    RunWriter.create(path, header(), planned()).close()
    before = path.read_bytes()
    read_run(path)
    assert path.read_bytes() == before


def test_repeated_interrupted_trial_is_dropped_but_its_event_stays(path: Path) -> None:
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(state="interrupted", reason="stopped by the user", operations=7), {}, [EVENT])
        writer.add_trial(trial(order=1, contender="b"), {})
    assert [p.order for p in pending(path)] == [0, 2, 3]
    assert read_run(path).trials[0].state == "interrupted"
    with RunWriter.reopen(path) as writer:
        writer.add_trial(trial(), {})
    run = read_run(path)
    assert [(t.order, t.state, t.operations) for t in run.trials] == [(0, "ok", 100), (1, "ok", 100)]
    assert [e.trial_id for e in run.events] == [1]
    assert [p.order for p in pending(path)] == [2, 3]


def test_a_trial_that_cannot_be_stored_whole_is_not_stored_at_all(path: Path) -> None:
    with RunWriter.create(path, header(), planned()) as writer:
        doubled = trial(per_client=trial().per_client[:1] * 2)
        with pytest.raises(RunFileError):
            writer.add_trial(doubled, {})
        writer.add_trial(trial(order=1, contender="b"), {})
    assert [t.order for t in read_run(path).trials] == [1]


def test_reading_leaves_no_files_behind(path: Path) -> None:
    RunWriter.create(path, header(), planned()).close()
    read_run(path)
    pending(path)
    assert [p.name for p in path.parent.iterdir()] == ["x.bakeoff"]


def test_the_figures_of_every_agent_are_read_back(path: Path) -> None:
    agents = [AgentRecord("one", {"kernel": "6.1"}), AgentRecord("two", {"kernel": "6.2"})]
    shares = (
        share(agent="one", clients=3, disturbances={"stops": [{"at_s": 1.0}]}, **OF_A_FLEET),
        share(agent="two", clients=1, lost="the cable was cut", service=EMPTY, lag_p99_ns=None),
    )
    voided = trial(state="voided", reason="agent two was lost: the cable was cut", per_agent=shares)
    with RunWriter.create(path, header(agents=agents, environment={"content": {}}), planned()) as writer:
        writer.add_trial(voided, {})
    run = read_run(path)
    assert run.trials == (replace(voided, id=1),) and run.agents == tuple(agents)
    assert run.environment == {"kernel": "6.1", "content": {}}


def test_telemetry_is_read_back_and_what_never_changes_is_stored_once(path: Path) -> None:
    generator = seen(role="generator", name="local", source="this process", gaps=(), at_s=(), width_s=(), series={})
    written = trial(telemetry=(generator, seen()))
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(written, {})
        text = writer._connection.execute("SELECT series FROM telemetry WHERE position = 1").fetchone()[0]
    assert json.loads(text)["cpu_steal_s"] == 0.0 and json.loads(text)["own_user_s"] == [0.25, 0.5]
    assert read_run(path).trials[0].telemetry == written.telemetry


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("series", '{"at_s":[0.0],"width_s":[1.0]}'),
        ("series", '{"at_s":1.0,"width_s":1.0,"own_user_s":["1","2"]}'),
        ("series", '{"at_s":1.0}'),
        ("intervals", 10**9),
        ("gaps", '[{"from_s":1.0}]'),
        ("facts", "[]"),
        ("facts", '{"processor_shares":[0.5,1.5]}'),
        ("facts", '{"processor_shares":0.5}'),
        ("facts", '{"busiest_share":-1}'),
        ("cpu_s", -1.0),
        ("source", "x" * 2_000),
    ],
)
def test_what_is_no_telemetry_is_damage(path: Path, column: str, value: object) -> None:
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(telemetry=(seen(),)), {})
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute(f"UPDATE telemetry SET {column} = ?", (value,))
        renew(connection)
        connection.commit()
    with pytest.raises(RunFileError, match="telemetry"):
        read_run(path)


def test_paths_that_are_no_text_can_be_stored(path: Path) -> None:
    odd = "/srv/\udcff"
    with RunWriter.create(path, header(environment={"mount": odd}), planned()) as writer:
        writer.add_trial(trial(state="failed", reason=odd), {}, [replace(EVENT, text=odd)])
    run = read_run(path)
    assert run.environment["mount"] == run.trials[0].reason == run.events[0].text == "/srv/\ufffd"


@pytest.mark.parametrize("rate", [Rate(500.0, Constant(), 8), Rate(0.25, Steps(((0.5, 2.0), (1.5, 1.0))), 1)])
def test_a_rate_is_stored_with_its_starts_and_response_times(path: Path, rate: Rate) -> None:
    starts = StartsRecord(
        offered=500,
        started=490,
        never_started=10,
        answered=489,
        ran_out=17,
        connections_used=8,
        queue=(0, 3, 12),
        late=replace(trial().service, count=7),
    )
    order = [replace(one, load_step=rate) for one in planned(1)]
    changed = trial(load_step=rate, response=replace(trial().service, p50_ns=2_000), starts=starts)
    with RunWriter.create(path, header(load_steps=[rate], blocks_planned=1), order) as writer:
        writer.add_trial(changed, {})
    run = read_run(path)
    assert (run.load_steps, run.trials[0].load_step) == ((rate,), rate)
    assert (run.trials[0].response, run.trials[0].starts) == (changed.response, starts)


@pytest.mark.parametrize(
    "load_step", ["4", '{"clients": 0}', '{"clients": 2000000}', '{"rate": {"per_s": 5}}', '{"clients": 1, "rate": {}}']
)
def test_what_is_no_load_step_is_damage(path: Path, load_step: str) -> None:
    with RunWriter.create(path, header(), planned()):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("UPDATE planned SET load_step = ?", (load_step,))
        renew(connection)
        connection.commit()
    with pytest.raises(RunFileError, match=r"planned\.load_step does not hold what it must"):
        read_run(path)


PLANNED = {"offered": 500, "started": 490, "never_started": 10}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("links", '[{"name": "eth0"}]'),
        ("links", "[7]"),
        ("links", '{"name": "eth0"}'),
        ("starts", '{"offered": 3}'),
        ("response_p50_ns", "{}"),
        ("response_p50_ns", -1),
        ("response_count", None),
        ("agent", "nobody"),
        ("start_offset_ns", 0.5),
    ],
)
def test_what_is_no_share_is_damage(path: Path, column: str, value: object) -> None:
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(per_agent=(share(**OF_A_FLEET),)), {})
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute(f"UPDATE agent_results SET {column} = ?", (value,))
        renew(connection)
        connection.commit()
    with pytest.raises(RunFileError, match="is damaged"):
        read_run(path)


def test_rows_of_a_soak_are_there_when_they_were_stored_whatever_comes_after(path: Path) -> None:
    changed = [
        soak_interval(),
        soak_interval(number=1, segment=2, response=replace(trial().service, p99_ns=9_000), errors={}, **PLANNED),
    ]
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_soak_interval(changed[0], b"first", None)
        assert read_run(path).soak_intervals == (changed[0],)
        writer.add_soak_interval(changed[1], b"", b"second")
    assert read_run(path).soak_intervals == tuple(changed) and read_run(path).trials == ()
    assert soak_histograms(path, 0) == ([b"first"], [b"second"]) and soak_histograms(path, 1) == ([], [])
    assert [p.order for p in pending(path)] == [0, 1, 2, 3]


def test_a_histogram_of_a_row_is_the_one_that_was_stored(path: Path) -> None:
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_soak_interval(soak_interval(), b"first", None)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE soak_intervals SET hdr = x'00'")
        connection.commit()
    with pytest.raises(RunFileError, match="a histogram of row 0 is not the one that was written"):
        soak_histograms(path, 0)


@pytest.mark.parametrize("count", [2**32 + 1, 2**53 + 1, 2**63 - 1])
def test_counts_past_32_and_53_bits_are_stored_to_the_unit(path: Path, count: int) -> None:
    big = replace(trial().service, count=count)
    row = soak_interval(operations=count, errors={"refused": count}, bytes_in=count, bytes_out=count, service=big)
    one = trial(operations=count, bytes_in=count, bytes_out=count, errors={"refused": count}, service=big)
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_soak_interval(row, b"", None)
        writer.add_trial(one, {})
    run = read_run(path)
    assert run.soak_intervals == (row,) and run.trials == (replace(one, id=1),)
