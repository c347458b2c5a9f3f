"""One row for each of several load generators; nothing about agents where one has done it all."""

from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Chart, Report, Section, Table, Text
from bakeoff.report.compose import compose
from bakeoff.store.records.run_records import AgentRecord, RunRecord
from tests.unit.compare.fleets import Machines, divided
from tests.unit.compare.synthetic import run
from tests.unit.report.shown import shown
from tests.unit.store.builders import share

AGENTS = (
    AgentRecord("one", {"cpu": {"model": "EPYC", "available": 64}, "kernel": "6.1"}),
    AgentRecord("two", {}),
)


def section(record: RunRecord, name: str) -> Section:
    report: Report = compose(record, compare_run(record))
    return next(found for found in report.sections if found.id == name)


def fleet_run() -> RunRecord:
    record = run(load_steps=(4,), blocks=2)
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
    (table,) = (found for found in tables(section(record, "machines")) if found.title == "The agents")
    usable = len(record.trials) - 1
    heads = ["Agent", "Processor", "Trials", "lost", "clients", "share %", "capacity /s", "CPU %"]
    assert [column.title for column in table.columns[:8]] == heads
    one, two = table.rows
    assert one[:5] == ("one", "64 × EPYC, Linux 6.1", f"{usable}", "0", "3") and float(one[7]) == 25.0
    assert two[:5] == ("two", "–", f"{usable}", "1", "1") and float(two[7]) == 50.0
    assert 74.0 < float(one[5]) < 76.0 and float(one[10]) == 2.0 and two[10] == "–"


def test_one_agent_has_no_section_of_machines() -> None:
    record = replace(run(load_steps=(4,), blocks=2), agents=AGENTS[:1])
    assert all(found.id != "machines" for found in compose(record, compare_run(record)).sections)


def test_in_which_trial_a_machine_was_lost_and_why() -> None:
    (table,) = (found for found in tables(section(fleet_run(), "machines")) if found.title.startswith("Agents lost"))
    (row,) = table.rows
    assert row[-2:] == ("two", "the cable was cut")


def test_what_differs_between_machines_comes_first() -> None:
    titles = [found.title for found in tables(section(divided(Machines()), "machines"))]
    assert titles.index("In what the machines differ") < titles.index("Alike on all machines")
    of_four = section(divided(Machines()), "machines")
    (differ,) = (found for found in tables(of_four) if found.title == "In what the machines differ")
    assert differ.rows == (("kernel", "6.1", "6.1", "6.1", "6.5"),)
    many = section(divided(Machines(names=(*(f"m{i:02}" for i in range(9)), "dog")), run(load_steps=(20,))), "machines")
    (differ,) = (found for found in tables(many) if found.title == "In what the machines differ")
    assert differ.rows[1] == ("kernel", "6.5", "1", "dog") and differ.rows[0][2:] == (
        "9",
        "m00, m01, m02, m03, m04, m05 …",
    )


def test_the_sentence_about_a_full_link_stands_before_the_first_chart() -> None:
    record = divided(Machines(link={"dog": 0.94}))
    report = compose(record, compare_run(record))
    blocks = [block for found in report.sections for block in found.blocks]
    first_chart = next(place for place, block in enumerate(blocks) if isinstance(block, Chart))
    sentences = [block.text for block in blocks[:first_chart] if isinstance(block, Text)]
    assert any("Agent dog's link eth0 was up to 94 % full" in text for text in sentences)


def test_a_terminal_shows_the_machines_and_their_ranges() -> None:
    text = shown(divided(Machines(speed={"cat": 0.8})))
    assert "The agents" in text and "Over agents, at each load step" in text and "(cat)" in text


def test_a_report_says_which_version_a_file_was_read_from() -> None:
    record = run(load_steps=(4,), blocks=2)
    assert "run file version" not in str(section(record, "method"))
