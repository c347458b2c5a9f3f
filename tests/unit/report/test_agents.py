"""One row for each of several load generators; nothing about agents where one has done it all."""

from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.report.blocks import Report, Section, Table
from bakeoff.report.compose import compose
from bakeoff.store.records import AgentRecord, RunRecord
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import share

AGENTS = (
    AgentRecord("one", {"cpu": {"model": "EPYC", "available": 64}, "kernel": "6.1"}),
    AgentRecord("two", {}),
)


def section(record: RunRecord, name: str) -> Section:
    report: Report = compose(record, compare_run(record))
    return next(found for found in report.sections if found.id == name)


def fleet_run() -> RunRecord:
    record = run(mixes=(4,), blocks=2)
    trials = []
    for trial in record.trials:
        three, one = trial.operations * 3 // 4, trial.operations - trial.operations * 3 // 4
        shares = (
            share(agent="one", clients=3, operations=three, cpu_share=0.25, lag_p99_ns=2_000_000),
            share(agent="two", clients=1, operations=one, cpu_share=0.5, lag_p99_ns=None),
        )
        trials.append(replace(trial, per_agent=shares))
    lost = (trials[-1].per_agent[0], replace(trials[-1].per_agent[1], lost="the cable was cut", operations=0))
    reason = "agent two was lost: the cable was cut"
    trials[-1] = replace(trials[-1], state="voided", reason=reason, per_agent=lost)
    return replace(record, agents=AGENTS, trials=tuple(trials))


def tables(found: Section) -> list[Table]:
    return [block for block in found.blocks if isinstance(block, Table)]


def test_each_agent_has_a_row_with_its_machine_and_its_part() -> None:
    record = fleet_run()
    (table,) = (found for found in tables(section(record, "generator")) if found.title == "The agents")
    usable = len(record.trials) - 1
    heads = ["Agent", "Machine", "Trials", "lost", "clients", "share of operations %", "CPU %"]
    assert [column.title for column in table.columns[:7]] == heads
    one, two = table.rows
    assert one[:5] == ("one", "64 × EPYC, Linux 6.1", f"{usable}", "0", "3") and float(one[6]) == 25.0
    assert two[:5] == ("two", "–", f"{usable}", "1", "1") and float(two[6]) == 50.0
    assert 74.0 < float(one[5]) < 76.0 and float(one[9]) == 2.0 and two[9] == "–"


def test_one_agent_has_no_table() -> None:
    record = replace(run(mixes=(4,), blocks=2), agents=AGENTS[:1])
    assert all(found.title != "The agents" for found in tables(section(record, "generator")))


def test_a_report_says_which_version_a_file_was_read_from() -> None:
    record = run(mixes=(4,), blocks=2)
    assert "run file version" not in str(section(record, "method"))
    assert "Read from run file version 3." in str(section(replace(record, upgraded_from=3), "method"))
    assert "version 1, which had no seals" in str(section(replace(record, upgraded_from=1), "method"))
