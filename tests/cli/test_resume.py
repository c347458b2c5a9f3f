"""`bakeoff resume` of a run file that came from elsewhere."""

from pathlib import Path

from bakeoff.plan.design.order import order_trials
from bakeoff.plan.load import read_plan_file, resolve_plan
from bakeoff.store.records.run_records import AgentRecord, ContenderRecord
from bakeoff.store.sqlite.read import read_run
from bakeoff.store.sqlite.write import RunHeader, RunWriter
from tests.cli.conftest import Bakeoff, Serve


def test_a_file_that_was_passed_on_runs_by_its_plan_or_by_trust(bakeoff: Bakeoff, serve: Serve, tmp_path: Path) -> None:
    words = ["web-dynamic", f"a={serve()}", "--clients", "1", "--length", "300ms", "--blocks", "1"]
    log, run_file, plan_file = tmp_path / "log", tmp_path / "r.bakeoff", tmp_path / "p.toml"
    plan_file.write_text(bakeoff("plan", *words, "--reset", f"a=echo x >> {log}", "--toml").stdout)
    plan = resolve_plan(read_plan_file(plan_file))
    header = RunHeader(
        name=plan.name, suite=plan.suite, kind=plan.kind, plan=plan.to_dict(), plan_hash=plan.hash,
        tool={}, environment={}, contenders=[ContenderRecord(c.name, c.address, c.reset) for c in plan.contenders],
        load_steps=plan.settings.load_steps, blocks_planned=plan.blocks, delta=plan.delta, agents=[AgentRecord("local",
        {})],
    )  # fmt: skip
    RunWriter.create(run_file, header, order_trials(plan)).close()

    done = bakeoff("resume", "r.bakeoff")
    assert done.returncode == 2 and "Traceback" not in done.stderr and done.stdout == ""
    assert f"run in a shell before each block of a: echo x >> {log}" in done.stderr
    assert "bakeoff resume r.bakeoff --trust" in done.stderr and not log.exists()

    (tmp_path / "other.toml").write_text(plan_file.read_text().replace("300ms", "301ms"))
    done = bakeoff("resume", "r.bakeoff", "--plan", "other.toml")
    assert (
        done.returncode == 2
        and "they differ in settings.length_s, settings.ramp_down_s" in done.stderr
        and not log.exists()
    )

    done = bakeoff("resume", "r.bakeoff", "--plan", "p.toml")
    assert "another corpus" in done.stderr, "it got as far as asking the contender"
    assert log.exists()
    log.unlink()
    done = bakeoff("resume", "r.bakeoff", "--trust")
    assert f"trusted: run in a shell before each block of a: echo x >> {log}" in done.stderr and log.exists()
    assert read_run(run_file).trials == ()
