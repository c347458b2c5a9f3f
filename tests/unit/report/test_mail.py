"""The mail section: its tables say what the trials say."""

import json
from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.report.blocks.tree import Chart, Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.document import to_dict
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import OperationRecord, StepRecord
from tests.unit.compare.synthetic import run, summary
from tests.unit.report.shown import shown


def mail_run() -> RunRecord:
    """Two blocks at one load step; `apache` has not logged in to SMTP."""
    record = run(load_steps=(8,), blocks=2)
    trials = []
    for trial in record.trials:
        names = ("smtp-auth", "pop3-retr") if trial.contender == "nginx" else ("pop3-retr",)
        operations = tuple(OperationRecord(name, 50, {}, 0, 0, summary(50, 2.0)) for name in names)
        unused = OperationRecord("pop3-capa", 0, {}, 0, 0, summary(0, 0.0))
        steps = (StepRecord("connect", summary(50, 1.0)), StepRecord("pop3-retr/first_byte", summary(50, 0.5)))
        trials.append(replace(trial, per_operation=(*operations, unused), steps=steps))
    return replace(record, kind="mail", suite="mail-pop", trials=tuple(trials))


def test_every_step_that_was_done_has_its_row_with_its_parts_behind_it() -> None:
    record = mail_run()
    section = next(s for s in compose(record, compare_run(record)).sections if s.id == "mail")
    (table,) = (b for b in section.blocks if isinstance(b, Table) and b.title == "Steps at 8 clients")
    rows = {row[0]: row[1:] for row in table.rows}
    assert list(rows) == ["smtp-auth", "pop3-retr", "pop3-retr: to first byte"]
    assert rows["pop3-retr"] == ("100", "2.000", "1.600", "3.600", "6.000") * 2
    assert rows["pop3-retr: to first byte"][1] == "0.5000"
    assert rows["smtp-auth"][5:] == ("–",) * 5


def test_sending_and_reading_are_saturated_apart_from_the_clients_on_at_which_a_step_takes_five_seconds() -> None:
    """Polls of empty mailboxes make the mean of all steps short: it does not matter here."""
    means_s = {
        ("nginx", 4): (4.9, 0.1),
        ("nginx", 8): (5.0, 0.1),
        ("apache", 4): (1.0, 7.0),
        ("apache", 8): (4.999, 9.0),
    }
    record = run(load_steps=(4, 8), blocks=2)
    trials = tuple(
        replace(
            t,
            service=summary(50, 1.0),
            workload={
                "response": {
                    side: {"steps": 10, "mean_s": mean_s}
                    for side, mean_s in zip(
                        ("sending", "reading"), means_s[t.contender, t.load_step.clients], strict=True
                    )
                }
            },
        )
        for t in record.trials
    )
    record = replace(record, kind="mail", suite="mail-pop", trials=trials)
    comparison = compare_run(record)
    section = next(s for s in compose(record, comparison).sections if s.id == "mail")
    said = [block.text for block in section.blocks if isinstance(block, Text) and "saturated" in block.text]
    assert [text.partition(":")[0] for text in said] == [
        "nginx is saturated by response time in sending from 8 clients on",
        "apache is saturated by response time in reading from 4 clients on",
        "apache is saturated by response time in sending and reading together from 8 clients on",
    ]
    assert "a step of POP3 takes 7.00 s on average (5 s or more)" in said[1]
    (table,) = (b for b in section.blocks if isinstance(b, Table) and b.title.startswith("Mean step of sending"))
    assert table.rows[:3] == (
        ("4", "nginx", "4.900", "0.1000", "2.500"),
        ("4", "apache", "1.000", "7.000 (saturated)", "4.000"),
        ("8", "nginx", "5.000 (saturated)", "0.1000", "2.550"),
    )
    assert table.rows[3][:4] == ("8", "apache", "4.999", "9.000 (saturated)") and "(saturated)" in table.rows[3][4]
    found = to_dict(comparison)["mail"]["saturated"]
    assert [(one["contender"], one["side"], one["protocol"], one["clients"], one["mean_s"]) for one in found] == [
        ("nginx", "sending", "SMTP", 8, 5.0),
        ("apache", "reading", "POP3", 4, 7.0),
        ("apache", "together", "SMTP and POP3", 8, 6.9995),
    ]
    assert said[0] in shown(record, Detail.SUMMARY, width=200)
    assert [row["sending_s"] for row in to_dict(comparison)["mail"]["saturation"]] == [4.9, 5.0, 1.0, 4.999]


def steps_of(means_s: dict[tuple[str, int], tuple[float, float]], **settings: object) -> RunRecord:
    """Mail whose steps of sending and of reading take so long on average; 0 for none that was timed."""
    record = run(load_steps=tuple(sorted({load_step for _, load_step in means_s})), blocks=2)
    trials = []
    for trial in record.trials:
        both = zip(("sending", "reading"), means_s[trial.contender, trial.load_step.clients], strict=True)
        response = {side: {"steps": 10 if mean_s else 0, "mean_s": mean_s or None} for side, mean_s in both}
        trials.append(replace(trial, service=summary(50, 1.0), workload={"response": response}))
    plan = {**record.plan, "settings": {**record.plan.get("settings", {}), **settings}}
    return replace(record, kind="mail", suite="mail-pop", trials=tuple(trials), plan=plan)


def flowing(trial: TrialRecord, accepted_per_s: float) -> TrialRecord:
    """A trial whose window has that rate, and whose seconds have ramps beside it."""
    flow = {
        **dict.fromkeys(("delivered_per_s", "read_per_s", "accepted_per_s"), accepted_per_s),
        **dict.fromkeys(("accepted", "read"), accepted_per_s * 10),
        "backlog": {"messages": 0},
        "drain": {"per_s": 1.0},
        "per_second": [{"second": at, "accepted": 7 * at, "read": 3 * at} for at in range(5)],
    }
    counts = {"accepted": 5, "delivered": 5, "not_sent": 2}
    return replace(trial, workload={"flow": flow, "ledger": {"counts": counts, "balanced": True}})


def test_a_mean_stands_once_and_who_was_not_sent_is_not_counted_as_sent() -> None:
    """Seen: 706.8 accepted per second under a chart, ramps and all, and 671.0 in the table of scores."""
    record = run(load_steps=(8,), blocks=2)
    trials = tuple(flowing(t, 100.0 if t.block == 1 else 400.0) for t in record.trials)
    record = replace(record, kind="mail", suite="mail-pop", trials=trials)
    section = next(s for s in compose(record, compare_run(record)).sections if s.id == "mail")
    tables = {block.title: block for block in section.blocks if isinstance(block, Table)}
    (scores,) = (table for title, table in tables.items() if title.startswith("Scores"))
    place = [column.title for column in scores.columns].index("accepted/s")
    (chart,) = (block for block in section.blocks if isinstance(block, Chart))
    found = dict(row[:2] for row in chart.table.rows)
    assert found["nginx: accepted"] == scores.rows[0][place].split(" ±")[0] == "200.0"
    assert "Geometric mean" in scores.note
    load_steps = tables["Messages at each load step, all blocks"]
    assert load_steps.columns[2].title == "tried" and load_steps.rows[0][2:4] == ("14", "10")
    # One legend: that of the page, which names contenders and series alike.
    assert '"legend": null' in json.dumps(chart.spec) and "symbolType" not in json.dumps(chart.spec)


# One word must not have two meanings on one page: the cards tell of rates.
BY_RATE = "From where on more clients bring no more messages is another question, which Result answers."


def saturation_text(record: RunRecord) -> list[str]:
    section = next(s for s in compose(record, compare_run(record)).sections if s.id == "mail")
    return [block.text for block in section.blocks if isinstance(block, Text) and "saturated" in block.text]


def test_the_threshold_of_the_plan_decides_and_who_is_not_saturated_is_told_with_how_near_it_came() -> None:
    means_s = {("nginx", 4): (1.5, 2.5), ("nginx", 8): (0.5, 2.0), ("apache", 4): (0.2, 0.3), ("apache", 8): (0.4, 1.9)}
    assert saturation_text(steps_of(means_s)) == [
        "nginx is not saturated by response time at any load step: a step takes 2.50 s on average at most (reading at "
        f"4 clients), and 5 s would be saturated. {BY_RATE}",
        "apache is not saturated by response time at any load step: a step takes 1.90 s on average at most (reading at "
        f"8 clients), and 5 s would be saturated. {BY_RATE}",
    ]
    first, second, third, last = saturation_text(steps_of(means_s, saturated_at_s=1.5))
    assert first.startswith(
        "nginx is saturated by response time in sending from 4 clients on, but for 8 clients: a step of SMTP"
    )
    assert (
        second.startswith("nginx is saturated by response time in reading from 4 clients on: ")
        and "(1.5 s or more)" in second
    )
    assert third.startswith(
        "nginx is saturated by response time in sending and reading together from 4 clients on, but for 8 clients"
    )
    assert last.startswith("apache is saturated by response time in reading from 8 clients on")


def test_a_load_step_of_which_no_step_was_timed_is_no_proof_of_speed() -> None:
    means_s = {("nginx", 4): (0.1, 0.1), ("nginx", 8): (0.1, 0.1), ("apache", 4): (0.2, 0.3), ("apache", 8): (0.0, 0.0)}
    assert saturation_text(steps_of(means_s))[-1].endswith(f"; of 8 clients nothing is known. {BY_RATE}")
