"""Mail servers are compared by the messages they deliver, not by the steps that they answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.kinds.mail.figures import Ledger
from bakeoff.kinds.mail.run import unchecked_mail
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.rates import rates_table
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import run


def flow(delivered: float, accepted: float, read: float, backlog: int = 0, after_ms: float = 0.0) -> dict[str, Any]:
    """The workload of a trial with these rates over its window of some seconds."""
    return {
        "flow": {
            "delivered_per_s": delivered,
            "delivered_at_last_per_s": accepted,
            "accepted_per_s": accepted,
            "read_per_s": read,
            "accepted": accepted * 10,
            "read": read * 10,
            "backlog": {"messages": backlog},
            "in_delivery": {"peak": 40, "mean": 20.0},
        },
        "visible": {"after": {"p95_ns": after_ms * 1e6}, "by": {"p95_ns": after_ms * 1e6 + 20e6}},
        "response": {"without_empty_polls": {"steps": 100, "mean_s": 0.002}},
        "ledger": {"counts": {"accepted": 100, "delivered": 100}, "balanced": True},
    }


def mail(nginx: dict[str, Any], apache: dict[str, Any], blocks: int = 8, **settings: Any) -> RunRecord:
    """nginx answers a quarter more steps than apache, whatever it delivers."""
    record = run(load_steps=(4, 8), blocks=blocks)
    of = {"nginx": nginx, "apache": apache}
    trials = tuple(replace(t, workload=scaled(of[t.contender], t.block)) for t in record.trials)
    plan = {**record.plan, "settings": {**record.plan.get("settings", {}), **settings}}
    return replace(record, kind="mail", suite="mail-pop", trials=trials, plan=plan)


def scaled(workload: dict[str, Any], block: int) -> dict[str, Any]:
    """Rates that differ a little from block to block."""
    rates = {k: v * (1 + block / 1000) if isinstance(v, float) else v for k, v in workload["flow"].items()}
    return {**workload, "flow": rates}


def warnings(comparison: Comparison) -> list[str]:
    return [warning.text for warning in warnings_of(comparison)]


def test_polls_of_empty_mailboxes_do_not_win() -> None:
    """The one that delivers more wins, though the other answers more steps in a second."""
    found = compare_run(mail(nginx=flow(100.0, 101.0, 100.0), apache=flow(172.0, 173.0, 172.0)))
    (pair,) = found.pairs
    assert pair.primary.verdict.winner == "apache"
    assert pair.primary.title.startswith("Messages delivered")
    assert "the delivered messages/s of nginx" in headline_of(found)[0]
    steps = next(end for end in pair.secondary if end.metric == "steps")
    assert steps.ratio < 1.0, "as published, it stays beside"
    assert sentence(steps.verdict) == "withheld: nginx is behind in delivered messages/s"


def test_a_server_that_delivers_after_the_load_is_neither_better_nor_equivalent() -> None:
    putting_off = flow(delivered=0.4, accepted=180.0, read=0.4, backlog=900, after_ms=4_000.0)
    found = compare_run(mail(nginx=putting_off, apache=flow(170.0, 172.0, 170.0)))
    assert found.pairs[0].primary.verdict.winner == "apache"
    (lag,) = (text for text in warnings(found) if "lags" in text)
    assert lag.startswith("nginx: reading lags behind sending at 4 and 8 clients")
    assert lag.endswith("it accepted 14,465 messages, and clients read 32. 7,200 messages waited at the end."), (
        "sums, no means"
    )
    (limit,) = (text for text in warnings(found) if "default_destination_concurrency_limit" in text)
    assert limit.startswith("nginx: up to 40 accepted messages at once were certainly not delivered yet")


@pytest.mark.parametrize(("waiting", "lags"), [(4, False), (9, True)])
def test_a_message_for_each_client_that_waits_is_no_lag(waiting: int, lags: bool) -> None:
    """Of 20 accepted messages 4 are a fifth, and what four clients and more have in hand."""
    found = compare_run(mail(nginx=flow(2.0, 2.0, 1.6, backlog=waiting), apache=flow(170.0, 172.0, 170.0)))
    assert any(text.startswith("nginx: reading lags") for text in warnings(found)) is lags


def test_a_trial_that_delivered_nothing_is_named_where_pairs_were_lost() -> None:
    """Seen: "1 of 18 pairs lost by postfix", and no word on which, as all of its trials were ok."""
    record = mail(nginx=flow(100.0, 101.0, 100.0), apache=flow(172.0, 173.0, 172.0))
    nothing = {**record.trials[0].workload, **flow(0.0, 101.0, 0.0)}
    first = record.trials[0]
    found = compare_run(replace(record, trials=(replace(first, workload=nothing), *record.trials[1:])))
    assert found.pairs[0].primary.forfeited[first.contender] == 1
    (lost,) = found.forfeited
    assert (lost.contender, lost.load_step, lost.block) == (first.contender, first.load_step, first.block)
    assert (
        sentence(lost.reason)
        == f"0 delivered messages/s in the window, though {first.operations:,} operations succeeded"
    )


def test_a_loss_stands_beside_the_mean_that_it_is_in() -> None:
    """Seen: means of 10.25 and 4.473 beside a ratio of 1.20, which counts the lost trial otherwise."""
    record = mail(nginx=flow(100.0, 101.0, 100.0), apache=flow(172.0, 173.0, 172.0))
    first = record.trials[0]
    nothing = replace(first, workload={**first.workload, **flow(0.0, 101.0, 0.0)})
    record = replace(record, trials=(nothing, *record.trials[1:]))
    table = rates_table(Context(record, compare_run(record)))
    row = next(row for row in table.rows if row[0] == str(first.load_step))
    (observed,) = (cell for cell in row if "(nothing in 1 of 8)" in cell)
    assert table.columns[row.index(observed)].title == first.contender
    assert table.note.startswith("A trial that was lost is in the mean with what was done in it")
    whole = mail(nginx=flow(100.0, 101.0, 100.0), apache=flow(172.0, 173.0, 172.0))
    table = rates_table(Context(whole, compare_run(whole)))
    assert not table.note and "nothing in" not in str(table.rows)


def test_a_rate_that_is_made_of_two_messages_is_said_to_be() -> None:
    """Seen: 1.000 ± 0 messages/s, which were two in each window, and a verdict on them."""
    window_s = run(load_steps=(4, 8), blocks=1).trials[0].window_s
    found = compare_run(mail(nginx=flow(2.0 / window_s, 2.0, 2.0), apache=flow(170.0, 172.0, 170.0)))
    (few,) = (text for text in warnings(found) if "handful" in text)
    assert (
        few
        == "nginx: a window holds only a handful of delivered messages at 4 and 8 clients: 2.0 on average at 4 clients."
    )


def test_secondary_endpoints_have_intervals() -> None:
    found = compare_run(mail(nginx=flow(100.0, 101.0, 100.0, 3, 1.0), apache=flow(172.0, 173.0, 172.0, 5, 2.0)))
    ends = {end.metric: end for end in found.pairs[0].secondary}
    for metric in ("accepted", "read", "response", "visible_after", "visible_by", "mean"):
        assert ends[metric].blocks == 8, metric
        assert ends[metric].low <= ends[metric].ratio <= ends[metric].high, metric
    point = found.curve("backlog", "nginx").points[0]
    assert (point.centre, point.blocks) == (pytest.approx(4), 8), "one more than there are"
    assert found.to_dict()["mail"]["ledgers"][0]["counts"] == {"accepted": 1600, "delivered": 1600}


def test_where_nobody_reads_under_load_the_drain_is_what_counts() -> None:
    rows = {"nginx": flow(0.0, 101.0, 0.0, 9), "apache": flow(0.0, 173.0, 0.0, 9)}
    found = compare_run(mail(**rows, sending_share=1.0))
    assert found.pairs[0].primary.verdict.winner == "apache"
    assert not any("lags" in text for text in warnings(found))


def test_lost_mail_is_not_waiting() -> None:
    lossy = flow(100.0, 200.0, 100.0, backlog=1000)
    lossy["ledger"]["counts"]["lost"] = 1000
    assert not any("lags" in text for text in warnings(compare_run(mail(nginx=lossy, apache=flow(9.0, 9.0, 9.0)))))


def test_foreign_mail_is_named_with_its_mailboxes() -> None:
    visited = flow(100.0, 100.0, 100.0)
    visited["ledger"]["foreign"] = {"u2@x.test": 1, "u1@x.test": 2}
    found = warnings(compare_run(mail(nginx=visited, apache=flow(100.0, 100.0, 100.0), blocks=1)))
    (text,) = (text for text in found if "not Bakeoff's" in text)
    assert text.startswith("nginx: 6 messages") and text.endswith("u1@x.test, u2@x.test.")


@pytest.mark.parametrize("missing", [0, 271])
def test_a_trial_whose_mail_could_not_be_looked_for_fails_with_this_reason(missing: int) -> None:
    counts = {"accepted": 418, "unchecked": missing}
    said = unchecked_mail(Ledger(counts=counts, unchecked_mailboxes={"refused": 9, "reply_timeout": 1}))
    assert said == (
        "271 of 418 accepted messages could not be checked: after the trial 10 mailboxes could not be read "
        "(refused 9, reply timeout 1)"
        if missing
        else ""
    )


@pytest.mark.parametrize(("drain_s", "doubtful"), [(3.0, True), (60.0, False)])
def test_mail_that_nobody_waited_for_is_said_to_be_perhaps_slow(drain_s: float, doubtful: bool) -> None:
    slow = flow(100.0, 101.0, 100.0)
    slow["ledger"] = {"counts": {"accepted": 100, "delivered": 90, "lost": 10}, "balanced": True}
    comparison = warnings(
        compare_run(mail(nginx=slow, apache=flow(172.0, 173.0, 172.0), drain_limit_s=drain_s, late_after_s=5.0))
    )
    assert any("may have been in a queue" in text and "nginx" in text for text in comparison) == doubtful


def test_mail_that_a_later_trial_finds_was_late_and_not_lost() -> None:
    """What lay in the mailboxes before the first trial is another run's; nobody looks behind the last."""
    slow = flow(100.0, 101.0, 100.0)
    slow["ledger"] = {"counts": {"accepted": 100, "delivered": 90, "lost": 10, "stale": 1}, "balanced": True}
    slow["init"] = {"ours": 2, "mailboxes": 5}
    comparison = warnings(
        compare_run(mail(nginx=slow, apache=flow(172.0, 173.0, 172.0), drain_limit_s=9.0, late_after_s=5.0))
    )
    (text,) = (text for text in comparison if "may only have been slow" in text)
    trials = 2 * 8
    assert f"as nginx ({3 * (trials - 1)} of {10 * trials})" in text and "apache" not in text
