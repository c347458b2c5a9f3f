"""A mail server that takes quickly and delivers late is not the better one, at rates either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.report.narrate.sentences import sentence
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import at_rates, run


def work(tried: int, failed: int, ms: float) -> dict[str, Any]:
    times = {f"{name}_ns": ms * 1e6 for name in ("p50", "p95", "p99", "p999", "mean")}
    return {"tried": tried, "failed": failed, "time": {"count": tried - failed, **times}}


def figures(delivered: float, after_ms: float, inside: tuple[int, int] = (0, 0), refused: int = 0) -> dict[str, Any]:
    """Of a trial that accepted 200 messages, with a time until they were visible."""
    after = {f"{name}_ns": after_ms * 1e6 for name in ("p50", "p95", "p99", "p999", "mean")}
    return {
        "flow": {
            "delivered_per_s": delivered,
            "accepted_per_s": 20.0,
            "read_per_s": delivered,
            "accepted": 200.0,
            "in_delivery": {"peak": 5, "mean": 1.0, "at_start": inside[0], "at_end": inside[1]},
            "backlog": {"messages": 1},
        },
        "visible": {"after": {"count": 200, **after}, "by": {"count": 200, **after}},
        "ledger": {"counts": {"accepted": 200, "delivered": 200}, "balanced": True},
        "done": {"messages": work(200 + refused, refused, 3.0), "visits": work(400, 0, 4.0)},
    }


def mail(honest: dict[str, Any], putting_off: dict[str, Any], rate: bool, faster: float = 30.0) -> RunRecord:
    """nginx is honest; apache answers so many times faster, whatever becomes of its mail."""
    record = run(load_steps=(4,), blocks=8)
    made = []
    for trial in record.trials:
        quick = trial.contender == "apache"
        if not rate:
            made.append(replace(trial, workload=putting_off if quick else honest))
            continue
        ms = 100.0 * (1 + trial.block / 500) / (faster if quick else 1.0)
        times = {name: int(ms * 1e6) for name in ("p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns", "min_ns")}
        service = replace(trial.service, mean_ns=ms * 1e6, **times)
        made.append(replace(trial, service=service, workload=putting_off if quick else honest))
    record = replace(record, kind="mail", suite="mail-pop", trials=tuple(made))
    return at_rates(record) if rate else record


def pair(found: Comparison) -> Any:
    return found.pairs[0]


@pytest.mark.parametrize("after_ms", [3_000.0, 150.0])
def test_at_a_rate_the_time_until_visible_is_in_what_decides(after_ms: float) -> None:
    found = compare_run(mail(figures(20.0, 0.0), figures(18.0, after_ms), rate=True))
    assert pair(found).primary.verdict.winner == "nginx"
    assert "time until a message is visible" in pair(found).primary.title
    assert {"delivered", "accepted", "visible_after", "visible_by"} <= {end.metric for end in pair(found).secondary}


def test_at_a_rate_equal_delivery_leaves_response_times_to_decide() -> None:
    found = compare_run(mail(figures(20.0, 0.0), figures(20.0, 0.0), rate=True))
    assert pair(found).primary.verdict.winner == "apache"


def test_who_accepts_more_than_it_delivers_is_overloaded() -> None:
    found = compare_run(mail(figures(20.0, 0.0), figures(2.0, 0.0, inside=(2, 150)), rate=True))
    assert pair(found).primary.verdict.winner == "nginx"
    behind = {told.contender: told for told in found.overload_points}
    assert behind["apache"].overload_load_step is not None and behind["nginx"].overload_load_step is None


def test_what_is_always_under_way_is_nothing_that_piles_up() -> None:
    found = compare_run(mail(figures(20.0, 0.0), figures(20.0, 0.0, inside=(60, 70)), rate=True))
    assert all(one.overload_load_step is None for one in found.overload_points)


@pytest.mark.parametrize("rate", [False, True])
def test_no_time_of_the_loser_is_called_better_anywhere(rate: bool) -> None:
    """Seen: "p99 0.18 ×: defer better" of a server that had delivered nothing."""
    late = figures(0.5, 4_000.0)
    late["done"]["messages"] = work(200, 0, 0.5)
    found = compare_run(mail(figures(20.0, 0.0), late, rate))
    verdicts = [pair(found).primary.verdict, *(end.verdict for end in pair(found).secondary)]
    verdicts += [point.verdict for curve in pair(found).curves for point in curve.points]
    assert not any(verdict.winner == "apache" for verdict in verdicts)
    (p99,) = [end for end in pair(found).secondary if end.metric == "p99"]
    assert p99.ratio < 0.5 and sentence(p99.verdict).startswith("withheld: apache is behind in ")
    assert not any("apache better" in sentence for sentence in headline_of(found))


def test_a_server_that_never_lets_delay_end_has_no_ratio_by_it() -> None:
    """Honest mail is there before anybody interim_analyses: of nothing there is a ratio all the same."""
    found = compare_run(mail(figures(20.0, 0.0), figures(20.0, 3_000.0), rate=False))
    (after,) = [end for end in pair(found).secondary if end.metric == "visible_after"]
    assert after.ratio > 1_000.0 and after.verdict.winner == "nginx"


def test_refused_recipients_are_a_share_of_messages_and_cost_the_lead() -> None:
    """5 % of recipients were 0.212 % of steps, and within the budget."""
    record = mail(figures(20.0, 0.0), figures(40.0, 0.0, refused=11), rate=False)
    found = compare_run(record)
    (errors,) = [sentence for sentence in headline_of(found) if sentence.startswith("Errors")]
    assert "apache 88 (5.21 %) of 1,688 messages, none of 3,200 visits of a mailbox" in errors
    assert pair(found).primary.verdict.kind == "withheld"
    assert "apache failed 5.21 % of the messages" in sentence(pair(found).primary.verdict)
    (summary,) = [c for c in found.contenders if c.name == "apache"]
    assert summary.error_share == pytest.approx(88 / 1_688)


def with_errors(record: RunRecord) -> RunRecord:
    """apache's failures are few of its steps."""
    trials = tuple(replace(t, errors={"wrong_status": 12}) if t.contender == "apache" else t for t in record.trials)
    return replace(record, trials=trials)


@pytest.mark.parametrize("who", ["failing_mailboxes", "failing_clients"])
@pytest.mark.parametrize("sort", ["messages", "visits"])
@pytest.mark.parametrize("rate", [False, True])
def test_a_mailbox_or_client_that_never_succeeds_is_lost_however_few_its_messages(
    who: str, sort: str, rate: bool
) -> None:
    """A few in a thousand: under any budget of the whole. At rates, connections stand in for each other."""
    drops = figures(20.0, 3.0)
    drops["done"][sort] |= {"tried": 5_000, "failed": 12, who: {"7": {"tried": 12, "failed": 12}}}
    found = compare_run(with_errors(mail(figures(10.0, 3.0), drops, rate)))
    if rate and who == "failing_clients":
        assert not found.forfeited
        return
    words = f"{sort} {'by client' if who == 'failing_clients' else 'to' if sort == 'messages' else 'of'} 7"
    assert {(one.contender, sentence(one.reason)) for one in found.forfeited} == {
        ("apache", f"{words}: none of 12 succeeded")
    }
    assert "apache" not in {end.verdict.winner for end in (pair(found).primary, *pair(found).secondary)}


def test_a_mailbox_over_its_own_budget_withholds_the_lead() -> None:
    some = figures(20.0, 3.0)
    some["done"]["messages"] |= {"failed": 1, "failing_mailboxes": {"u7@x.test": {"tried": 40, "failed": 8}}}
    some["done"]["messages"]["tried"] = 5_000
    found = compare_run(with_errors(mail(figures(10.0, 3.0), some, rate=False)))
    assert pair(found).primary.verdict.kind == "withheld"
    assert "20 % of messages to u7@x.test" in sentence(pair(found).primary.verdict)
