"""The mail section: its tables say what the trials say."""

from dataclasses import replace

from bakeoff.compare import compare_run
from bakeoff.report.blocks import Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.depth import Depth
from bakeoff.store.records import OperationRecord, RunRecord, StepRecord
from tests.unit.compare.synthetic import run, summary
from tests.unit.report.shown import shown


def mail_run() -> RunRecord:
    """Two blocks at one mix; `apache` has not logged in to SMTP."""
    record = run(mixes=(8,), blocks=2)
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
    record = run(mixes=(4, 8), blocks=2)
    trials = tuple(
        replace(
            t,
            service=summary(50, 1.0),
            workload={
                "response": {
                    side: {"steps": 10, "mean_s": mean_s}
                    for side, mean_s in zip(("sending", "reading"), means_s[t.contender, t.mix.clients], strict=True)
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
        "nginx is saturated in sending from 8 clients on",
        "apache is saturated in reading from 4 clients on",
    ]
    assert said[0] in shown(record, Depth.SUMMARY, width=200)
    assert [row["sending_s"] for row in comparison.to_dict()["mail"]["saturation"]] == [4.9, 5.0, 1.0, 4.999]
