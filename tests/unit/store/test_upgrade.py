"""Files of every earlier version are read as if this one had written them, and stay as they are.

The files were made by the stores of their time: `tests/data/runs/make.py`.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bakeoff.compare import compare_run
from bakeoff.errors import RunFileError
from bakeoff.mix import Clients
from bakeoff.store import seal
from bakeoff.store.read import histogram, pending, planned, read_run, soak_histograms
from bakeoff.store.records import AgentRecord, RunRecord, TrialRecord
from bakeoff.store.schema import SCHEMA_VERSION
from bakeoff.store.trial_parts import Summary
from bakeoff.store.write import RunWriter

RUNS = Path(__file__).parents[2] / "data/runs"
VERSIONS = {
    "version-1a": 1,
    "version-1b": 1,
    "version-1": 1,
    "version-1-to-2": 2,
    "version-2": 2,
    "version-3": 3,
    "version-4": 4,
    "version-5": 5,
    "version-6": 6,
    "version-7": 7,
}
NAMES = list(VERSIONS)
SUMMARY = Summary(100, 1500.5, 1400, 2000, 2500, 2600, 3000, 900)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "x.bakeoff"


def old(name: str) -> RunRecord:
    return read_run(RUNS / f"{name}.bakeoff")


def without_what_is_new(trial: TrialRecord) -> dict[str, object]:
    """What every version has stored alike."""
    newer = {"connections", "generator_run_delay_share", "per_second", "per_agent"}
    return {name: value for name, value in vars(trial).items() if name not in newer}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost(name: str) -> None:
    run, newest = old(name), old("version-3")
    assert (run.upgraded_from, run.schema_version) == (VERSIONS[name], SCHEMA_VERSION)
    assert [t.state for t in run.trials] == ["ok", "ok", "failed", "ok"]
    assert list(map(without_what_is_new, run.trials)) == list(map(without_what_is_new, newest.trials))
    assert run.events == newest.events and [e.trial_id for e in run.events] == [None, 1, 2]
    assert (run.contenders, run.plan, run.mixes, run.delta) == (newest.contenders, newest.plan, (Clients(4),), 0.05)
    assert {(trial.mix, trial.response, trial.starts) for trial in run.trials} == {(Clients(4), None, None)}
    assert (run.finished_at, run.null_operations_per_s) == (newest.finished_at, 1_000_000.0)
    assert run.environment == {"cpu": {"model": "test"}, "kernel": "6.1", "content": {"corpus": {"files": 3}}}
    assert histogram(run.path, 2, "op/static/223") == histogram(newest.path, 2, "op/static/223")
    assert pending(run.path) == () and len(planned(run.path)) == 4


@pytest.mark.parametrize(
    ("name", "connections", "widths", "waits"),
    [
        ("version-1a", {"opened": 102}, [1.0, 1.0], [0.0] * 4),
        ("version-1b", {"opened": 102}, [0.5, 0.5], [0.0] * 4),
        ("version-1", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.0] * 4),
        ("version-1-to-2", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.0, 0.0, 0.0, 0.125]),
        ("version-2", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.125] * 4),
        ("version-3", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.125] * 4),
        ("version-4", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.125] * 4),
        ("version-5", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.125] * 4),
        ("version-6", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.125] * 4),
        ("version-7", {"opened": 102, "failed": 1}, [0.5, 0.5], [0.125] * 4),
    ],
)
def test_what_a_version_did_not_know_has_the_value_it_stood_for(
    name: str, connections: dict[str, int], widths: list[float], waits: list[float]
) -> None:
    trials = old(name).trials
    assert [t.connections for t in trials] == [connections] * 4
    assert [second.width_s for second in trials[0].per_second] == widths
    assert [t.generator_run_delay_share for t in trials] == waits


@pytest.mark.parametrize("name", NAMES)
def test_the_one_agent_did_it_all(name: str) -> None:
    run = old(name)
    assert run.agents == (AgentRecord("local", {"cpu": {"model": "test"}, "kernel": "6.1"}),)
    for trial in run.trials:
        (share,) = trial.per_agent
        assert (share.agent, share.clients, share.lost) == ("local", trial.mix.clients, "")
        assert (share.operations, share.errors, share.service) == (trial.operations, trial.errors, SUMMARY)
        assert (share.run_delay_share, share.lag_p99_ns) == (trial.generator_run_delay_share, 2500)
        assert (share.start_offset_ns, share.links, share.starts, share.response) == (None, (), None, None)


def test_rows_of_soaks_are_taken_over_with_their_histograms() -> None:
    run = old("version-5")
    assert [(row.order, row.number, row.service, row.response) for row in run.soak_rows] == [
        (3, 0, SUMMARY, SUMMARY),
        (3, 1, SUMMARY, None),
    ]
    assert {(row.offered, row.started, row.never_started) for row in run.soak_rows} == {(None, None, None)}
    service, response = soak_histograms(run.path, 3)
    assert len(service) == 2 and response == service[:1]


@pytest.mark.parametrize(
    "statement", ["UPDATE soak_rows SET operations = 101 WHERE number = 1", "DELETE FROM soak_rows WHERE number = 1"]
)
def test_rows_of_soaks_that_were_damaged_are_not_sealed_anew(copy: Path, statement: str) -> None:
    shutil.copyfile(RUNS / "version-5.bakeoff", copy)
    change(copy, statement)
    with pytest.raises(RunFileError, match="is damaged"):
        read_run(copy)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_stays_as_it_is_and_no_run_goes_on_in_it(name: str, copy: Path) -> None:
    shutil.copyfile(RUNS / f"{name}.bakeoff", copy)
    before = copy.read_bytes()
    assert read_run(copy).trials
    compare_run(read_run(copy))
    with pytest.raises(RunFileError, match=rf"run file version {VERSIONS[name]}, .* a run cannot go on in it"):
        RunWriter.reopen(copy)
    assert copy.read_bytes() == before and [p.name for p in copy.parent.iterdir()] == [copy.name]


def test_a_file_that_was_born_sealed_says_so(copy: Path) -> None:
    from tests.unit.store.builders import header, trial
    from tests.unit.store.builders import planned as four

    with RunWriter.create(copy, header(), four()) as writer:
        writer.add_trial(trial(), {})
    assert read_run(copy).upgraded_from is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trials SET operations = 101 WHERE id = 2",
        "DELETE FROM trials WHERE id = 5",
        "UPDATE seconds SET width_s = 1 WHERE trial_id = 2",
        "UPDATE events SET text = 'nothing'",
        "UPDATE contenders SET address = 'http://127.0.0.1:9'",
        "UPDATE run SET delta = 0.5",
    ],
)
def test_a_sealed_file_that_was_damaged_is_not_sealed_anew(copy: Path, statement: str) -> None:
    shutil.copyfile(RUNS / "version-3.bakeoff", copy)
    change(copy, statement)
    with pytest.raises(RunFileError, match="is damaged"):
        read_run(copy)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trials SET workload = 'not JSON'",
        "UPDATE trials SET operations = x'ff'",
        "UPDATE run SET environment = '[]'",
        "UPDATE run SET plan_hash = 'another'",
        "UPDATE events SET at = 'tomorrow'",
        "UPDATE planned SET block = 9",
        "UPDATE summaries SET series = 'other' WHERE series = 'lag'",
        "DELETE FROM run",
        "PRAGMA ignore_check_constraints = ON; UPDATE trials SET state = 'grand'",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM trials; END",
        "ALTER TABLE trials ADD COLUMN more TEXT",
        "PRAGMA user_version = 8",
        "PRAGMA user_version = 0",
    ],
)
def test_what_an_old_file_must_not_hold_is_refused_in_one_sentence(name: str, copy: Path, statement: str) -> None:
    shutil.copyfile(RUNS / f"{name}.bakeoff", copy)
    change(copy, statement)
    with pytest.raises(RunFileError, match="is damaged") as caught:
        read_run(copy)
    assert str(copy) in str(caught.value) and "\n" not in str(caught.value)


def test_a_histogram_is_the_one_that_was_sealed(copy: Path) -> None:
    shutil.copyfile(RUNS / "version-3.bakeoff", copy)
    change(copy, "UPDATE histograms SET hdr = x'00'")
    with pytest.raises(RunFileError, match="is not the one that was written"):
        histogram(copy, 2, "service")


def test_what_is_made_of_an_old_file_is_sealed_whole() -> None:
    from bakeoff.store import checked
    from bakeoff.store.schema import connect
    from bakeoff.store.upgrade import upgraded

    for name in NAMES:
        with (
            closing(connect(RUNS / f"{name}.bakeoff", write=False, quiet=True)) as connection,
            closing(upgraded(connection)) as made,
        ):
            run = checked.run_row(made)
            assert run["upgraded_from"] == VERSIONS[name]
            assert len(list(checked.trial_rows(made, run, tuple(seal.PARTS)))) == 5


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
        connection.commit()
