import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.store.records.run_records import AgentRecord
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunWriter
from tests.stored_runs.files import cases, run_files, unpack
from tests.unit.store.builders import EMPTY, header, planned, share, trial


def run_file(folder: Path) -> Path:
    path = folder / "x.bakeoff"
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(), {})
        writer.add_trial(
            trial(
                order=1,
                contender="b",
                state="failed",
                reason="no operation [succeeded]",
                service=EMPTY,
                operations=0,
            ),
            {},
        )
    return path


def output(*words: str) -> str:
    outcome = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome.output


def test_json_has_one_object_per_trial_with_the_promised_keys(tmp_path: Path) -> None:
    document = json.loads(output("show", str(run_file(tmp_path)), "--json"))
    trials = document["trials"]
    assert document["schema"] == "bakeoff-show/1" and len(document["contenders"]) == 2
    assert len(trials) == 2
    promised = {
        "contender",
        "load_step_clients",
        "block",
        "order",
        "state",
        "reason",
        "window_s",
        "operations",
        "operations_per_s",
        "bytes_per_s",
        "errors",
        "service_ms",
        "per_operation",
        "fairness_jain",
        "generator_cpu_us_per_operation",
        "generator_cpu_share",
        "generator_run_delay_share",
    }
    assert promised <= set(trials[0])
    assert trials[0]["service_ms"] == {
        "mean": 0.0015005,
        "p50": 0.0014,
        "p95": 0.002,
        "p99": 0.0025,
        "p999": 0.0026,
        "max": 0.003,
        "min": 0.0009,
        "count": 100,
    }
    assert trials[0]["errors"] == {"refused": 2}
    assert trials[0]["per_operation"]["static/223"]["operations"] == 90
    assert trials[1]["service_ms"]["p99"] is None
    assert (trials[1]["state"], trials[1]["reason"]) == ("failed", "no operation [succeeded]")


def test_the_table_names_what_is_missing_and_what_failed(tmp_path: Path) -> None:
    text = output("show", str(run_file(tmp_path)))
    assert "not complete, 2 of 4 trials missing" in text
    assert "block 1, b, 4 clients: failed: no operation [succeeded]" in text
    assert "operations/s" in text and "noisy" in text


def test_what_decides_stands_beside_the_operations_where_it_is_something_else(tmp_path: Path) -> None:
    """Of mail: messages delivered, as polls of empty mailboxes are operations as well."""
    path = tmp_path / "mail.bakeoff"
    flow = {"delivered_per_s": 12.34, "accepted_per_s": 13.0, "read_per_s": 12.0}
    table = {"flow": flow, "ledger": {"counts": {"accepted": 1, "delivered": 1}, "balanced": True}}
    with RunWriter.create(path, replace(header(), kind="mail", suite="mail-pop"), planned()) as writer:
        writer.add_trial(trial(workload=table), {})
    text = CliRunner().invoke(app, ["show", str(path)], env={"COLUMNS": "300"}).output
    assert "delivered messages/s" in text and " 12.3 " in text and "operations/s" in text
    assert "requests/s" not in output("show", str(run_file(tmp_path)))


@pytest.mark.parametrize("case", cases())
def test_runs_of_every_sort_are_listed_with_their_events(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen: no list of a search, which names no loads beforehand."""
    monkeypatch.setenv("COLUMNS", "300")
    unpack(case, tmp_path)
    for path in run_files(tmp_path):
        text, run = output("show", str(path), "--events"), read_run(path)
        rows = [line.split()[:2] for line in text.splitlines()]
        assert all([str(trial.id), str(trial.order)] in rows for trial in run.trials)
        assert all(event.at in text for event in run.events)


def test_an_empty_run(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    RunWriter.create(path, header(), planned()).close()
    assert json.loads(output("show", str(path), "--json"))["trials"] == []


@pytest.mark.parametrize("width", [40, 60, 100])
def test_on_a_narrow_terminal_no_number_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    path = tmp_path / "x.bakeoff"
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(operations_per_s=123_456.7, errors={"refused": 1_234_567}), {})
    text = output("show", str(path))
    table = text[text.index("contender", text.index("contender b") + 1) :]
    assert "123,456.7" in table and "1,234,567" in table and "0.003" in table
    assert "…" not in text and max(map(len, table.splitlines())) <= width


def test_several_agents_have_a_row_for_each_trial(tmp_path: Path) -> None:
    path = tmp_path / "two.bakeoff"
    agents = [AgentRecord("one", {}), AgentRecord("two", {})]
    shares = (share(agent="one", clients=3), share(agent="two", clients=1, lost="the cable was cut", operations=0))
    with RunWriter.create(path, header(agents=agents), planned()) as writer:
        writer.add_trial(trial(state="voided", reason="agent two was lost: the cable was cut", per_agent=shares), {})
    found = json.loads(output("show", str(path), "--json"))["trials"][0]["per_agent"]
    assert (found["one"]["operations"], found["one"]["lost"], found["one"]["lag_p99_ms"]) == (100, None, 0.0025)
    assert (found["two"]["clients"], found["two"]["lost"]) == (1, "the cable was cut")
    rows = [line.split() for line in output("show", str(path)).splitlines() if line.split()[1:2] in (["one"], ["two"])]
    assert [(row[1], row[2], row[-1]) for row in rows] == [("one", "3", "ok"), ("two", "1", "lost")]


def test_marks_have_a_legend_with_a_line_each() -> None:
    from bakeoff.store.records.mark_docs import legend

    lines = legend(["late-start", "few-operations", "late-start"])
    assert [line.partition(":")[0] for line in lines] == ["few-operations", "late-start"]
    assert "the generator itself was late" in lines[1] and "--load-threads" in lines[1]


def test_a_trial_has_in_every_list_the_number_that_messages_call_it_by(tmp_path: Path) -> None:
    """Seen: "trial 27" in a comparison, 26 in the list of trials."""
    path = run_file(tmp_path)
    text = CliRunner().invoke(app, ["show", str(path)], env={"COLUMNS": "300"}).output
    head, *rows = [line.split() for line in text.splitlines() if line.lstrip().startswith(("trial ", "1 ", "2 "))]
    assert head[:2] == ["trial", "order"] and [row[0] for row in rows] == ["1", "2"]
