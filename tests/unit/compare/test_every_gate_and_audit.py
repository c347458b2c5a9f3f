"""Each gate and each audit by a made-up run that trips exactly this one.

The run behind all of them is sound: nginx is faster than apache in every block, and nothing else is to be said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.compare.kind import compare_part
from bakeoff.compare.model.comparison import AuditName
from bakeoff.compare.model.pair import GateLevel, GateName
from bakeoff.kinds import KINDS
from bakeoff.store.collections.join import join
from bakeoff.store.records.run_records import OutsideRecord, RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import FatesRecord
from tests.told import headline_of, kinds_of
from tests.unit.compare.synthetic import at_rates, change, run

BLOCKS = 8
LEADER, FOLLOWER = "nginx", "apache"

Trip = Callable[[RunRecord], RunRecord]


def on(chosen: Callable[[TrialRecord], bool], make: Callable[[TrialRecord], TrialRecord]) -> Trip:
    """A run with some of its trials made again."""
    return lambda record: replace(
        record, trials=tuple(make(trial) if chosen(trial) else trial for trial in record.trials)
    )


def of(name: str) -> Callable[[TrialRecord], bool]:
    """All trials of a contender."""
    return lambda trial: trial.contender == name


def one(trial: TrialRecord) -> bool:
    """One trial of the leader."""
    return (trial.contender, trial.load_step.clients, trial.block) == (LEADER, 8, 2)


def had_failed(record: RunRecord) -> RunRecord:
    """One trial of the leader failed, and was repeated."""
    first = next(trial for trial in record.trials if one(trial))
    return replace(record, earlier=(replace(first, id=999, state="failed", reason="refused", operations=0),))


def talked_to_otherwise(record: RunRecord) -> RunRecord:
    """The leader over HTTP/2."""
    contenders = [{"name": c.name, "settings": {"http": "2"} if c.name == LEADER else {}} for c in record.contenders]
    settings = {**record.plan["settings"], "http": "1.1"}
    return replace(record, plan={**record.plan, "contenders": contenders, "settings": settings})


def slower(trial: TrialRecord, factor: float) -> TrialRecord:
    """The same operations in a mean time that is `factor` times as long."""
    assert trial.service.mean_ns is not None
    return replace(trial, service=replace(trial.service, mean_ns=trial.service.mean_ns * factor))


def at_half_speed(trial: TrialRecord) -> TrialRecord:
    """A trial that took 2.5 times as long, for every operation and as a whole."""
    found = slower(trial, 2.5)
    return replace(found, window_s=2.5 * trial.window_s, operations_per_s=trial.operations_per_s / 2.5)


def fatter(trial: TrialRecord) -> TrialRecord:
    """Each reply with twice as many bytes, in every count of them."""
    return replace(
        trial,
        bytes_in=2 * trial.bytes_in,
        per_operation=tuple(replace(part, bytes_in=2 * part.bytes_in) for part in trial.per_operation),
        per_client=tuple(replace(part, bytes_in=2 * part.bytes_in) for part in trial.per_client),
    )


def more_for_the_first_client(trial: TrialRecord, **more: int) -> TrialRecord:
    """A count of the first client that is too high."""
    first, *others = trial.per_client
    raised = {name: getattr(first, name) + by for name, by in more.items()}
    return replace(trial, per_client=(replace(first, **raised), *others))  # type: ignore[arg-type]


def starve(trial: TrialRecord) -> TrialRecord:
    """The last client got nothing, the first one all that it would have got."""
    first, *others, last = trial.per_client
    raised = replace(first, operations=first.operations + last.operations, bytes_in=first.bytes_in + last.bytes_in)
    return replace(trial, per_client=(raised, *others, replace(last, operations=0, bytes_in=0)))


def asked_again(trial: TrialRecord, share: float) -> TrialRecord:
    """So many of the requests, ramps included, met a kept connection that the server had closed."""
    asked = trial.operations + trial.errors_total + 1_000
    outside = OutsideRecord(operations=990, errors=10)
    return replace(trial, workload={"stale_connections": round(share * asked)}, outside=outside)


def ledger(accounted: int) -> Trip:
    """A run of mail whose books say that so many of 100 accepted messages were accounted for."""
    totals = {"accounted": accounted, "accepted": 100, "classified": 100, "ids_seen": 100}
    counts = {"accepted": 100, "delivered": 100}
    workload = {"ledger": {"totals": totals, "counts": counts, "balanced": True}}
    return of_mail(on(one, lambda trial: replace(trial, workload=workload)))


def requests_beyond_replies(count: int) -> Trip:
    """A run of httperf in which a trial has so many requests more than had any end."""

    def sums(trial: TrialRecord, more: int) -> TrialRecord:
        n = trial.operations
        figures = {"requests": n + more, "replies": n, "statuses": {"s2xx": n}, "test_duration_s": trial.window_s}
        return replace(trial, workload=figures)

    def trip(record: RunRecord) -> RunRecord:
        whole = on(lambda trial: True, lambda trial: sums(trial, 0))(replace(record, kind="httperf"))
        return on(one, lambda trial: sums(trial, count))(whole)

    return trip


def of_mail(trip: Trip) -> Trip:
    """The same in a run of mail."""
    return lambda record: trip(replace(record, kind="mail"))


def answering_differently(record: RunRecord) -> RunRecord:
    """A run whose checks found that the contenders answer the same path with different pages."""
    found = {"between": [FOLLOWER, LEADER], "text": "they differ", "withhold": True}
    return replace(record, environment={**record.environment, "content": {"differences": [found]}})


def mail_of_which(put_off: int, put_off_bytes: int) -> Callable[[TrialRecord], TrialRecord]:
    """A trial in which 1,000 messages of 10 MB in all were offered, and these put off."""
    flow = {
        "offered": {"messages": 1_000, "bytes": 10_000_000},
        "put_off": {"messages": put_off, "bytes": put_off_bytes},
    }
    return lambda trial: replace(trial, workload={"flow": flow})


def not_given_back(unread: int) -> Trip:
    """A run of application servers, the leader of which did not give back so many of 50 records."""
    kept = {"writes": 90, "records": 60, "asked": 50, "read": 50 - unread, "damaged": 0, "lost": 0}
    trip = on(of(LEADER), lambda trial: replace(trial, workload={"read_back": kept}))
    return lambda record: trip(replace(record, kind="app"))


def crowded(taken: float) -> Callable[[TrialRecord], TrialRecord]:
    """Others took so many of two processors."""
    others = {"cores": 2, "taken": taken, "processes": [{"name": "stress", "taken": taken}]}
    return lambda trial: replace(trial, marks=("other-load",), others=others)


def sinking(trial: TrialRecord) -> TrialRecord:
    """Seconds whose rate sinks by a fifth, in a trial that is else as it was."""
    first = trial.per_second[1]
    sunk = (replace(first, second=at, operations=round(first.operations * (1.0 - at / 200.0))) for at in range(1, 42))
    return replace(trial, per_second=tuple(sunk))


def another_day(record: RunRecord) -> RunRecord:
    """Beside it a file of the same plan, on whose day the slower one was as much faster."""
    day = replace(run(blocks=BLOCKS, seed=2), created_at="2026-11-21T10:00:00.000+00:00")
    turned = {LEADER: FOLLOWER, FOLLOWER: LEADER}
    trials = tuple(replace(trial, contender=turned[trial.contender]) for trial in day.trials)
    return join([record, replace(day, path=Path("another.bakeoff"), plan=record.plan, trials=trials)])


GATES: dict[str, tuple[Trip, GateLevel]] = {
    "wrong content": (on(one, lambda trial: replace(trial, errors={"wrong_content": 1})), "red"),
    "different content": (on(of(FOLLOWER), fatter), "red"),
    "different pages": (answering_differently, "red"),
    "failed trials": (on(one, lambda trial: replace(trial, state="failed", reason="crashed")), "red"),
    "starved clients": (on(one, starve), "red"),
    "unfinished": (on(one, lambda trial: replace(trial, errors={"unfinished": 1})), "red"),
    "wrong answers": (on(of(LEADER), lambda trial: replace(trial, errors={"protocol": 2_000})), "red"),
    "errors": (on(of(LEADER), lambda trial: replace(trial, errors={"refused": 10_000})), "red"),
    "generator": (on(of(FOLLOWER), lambda trial: replace(trial, marks=("generator-limited",))), "red"),
    "link": (on(of(FOLLOWER), lambda trial: replace(trial, marks=("link-limited",))), "red"),
    "generator capacity": (on(of(FOLLOWER), lambda trial: replace(trial, marks=("near-generator-capacity",))), "amber"),
    "generator waited": (
        on(one, lambda trial: replace(trial, marks=("generator-waited",), generator_run_delay_share=0.2)),
        "amber",
    ),
    "generator stopped": (
        on(of(FOLLOWER), lambda trial: replace(trial, marks=("generator-paused",), lost_share=0.015)),
        "red",
    ),
    "other load": (on(of(FOLLOWER), crowded(1.0)), "red"),
    "schedule": (on(of(FOLLOWER), lambda trial: replace(trial, marks=("behind-schedule",))), "red"),
    "Little's law": (on(of(LEADER), lambda trial: slower(trial, 1.2)), "red"),
    "smaller mail": (of_mail(on(of(LEADER), mail_of_which(10, 1_000_000))), "red"),
    "unreturned data": (not_given_back(1), "red"),
    "blocks": (on(one, at_half_speed), "amber"),
    "error replies": (on(of(LEADER), lambda trial: replace(trial, statuses={"5xx": trial.operations})), "red"),
    "repeated trials": (had_failed, "amber"),
    "not steady": (on(of(LEADER), sinking), "amber"),
    "files": (another_day, "red"),
    "stale connections": (on(of(LEADER), lambda trial: asked_again(trial, 0.011)), "amber"),
    "settings": (talked_to_otherwise, "amber"),
}


def offering(more: int) -> Trip:
    """A run under rates, one trial of which had so many starts more than its rate gives."""

    def changed(trial: TrialRecord) -> TrialRecord:
        assert trial.starts is not None
        return replace(trial, starts=replace(trial.starts, offered=trial.starts.offered + more))

    return lambda record: on(one, changed)(at_rates(record))


def with_fates(open_more: int) -> Trip:
    """A run under rates whose starts have a fate each, but for so many in one trial."""

    def with_workload(trial: TrialRecord) -> TrialRecord:
        assert trial.starts is not None
        offered = trial.starts.offered
        return replace(trial, starts=replace(trial.starts, fates=FatesRecord(offered - 3, 1, 2)))

    def more(trial: TrialRecord) -> TrialRecord:
        starts = trial.starts
        assert starts is not None and starts.fates is not None
        fates = replace(starts.fates, open=starts.fates.open + open_more)
        return replace(trial, starts=replace(starts, fates=fates))

    return lambda record: on(one, more)(on(lambda _: True, with_workload)(at_rates(record)))


AUDITS: dict[str, Trip] = {
    "Little's law": on(one, lambda trial: slower(trial, 1.05)),
    "Offered starts": offering(2),
    "Fates": with_fates(open_more=1),
    "Ledger": ledger(accounted=99),
    "Connections": requests_beyond_replies(1),
    "Counts": on(one, lambda trial: more_for_the_first_client(trial, operations=1)),
    "Bytes": on(one, lambda trial: more_for_the_first_client(trial, bytes_in=1)),
    "Rates": on(one, lambda trial: replace(trial, operations_per_s=trial.operations_per_s * 1.001)),
    "Same content": on(one, fatter),
    "Steady state": on(one, sinking),
}


def tripped(record: RunRecord) -> tuple[dict[str, GateLevel], set[str]]:
    """Gates of the primary endpoint with their levels, and audits with a trial that deviates."""
    found: Comparison = compare_run(record)
    gates = {gate.name: gate.level for gate in found.pairs[0].primary.gates}
    return dict(gates), {audit.name for audit in found.audits if audit.deviating}


def test_every_gate_and_every_audit_has_its_row() -> None:
    parts = [compare_part(name) for name in KINDS]
    assert set(GATES) == {*get_args(GateName), *(name for part in parts for name in part.gates_of_its_own)}
    assert set(AUDITS) == {*get_args(AuditName), *(name for part in parts for name in part.audits_of_its_own)}


def test_of_a_rate_little_s_law_does_not_apply_and_its_starts_are_audited() -> None:
    closed, rated = (compare_run(record) for record in (run(blocks=BLOCKS), at_rates(run(blocks=BLOCKS))))
    by_name = {audit.name: audit for audit in rated.audits}
    trials = len(rated.run.load_steps) * 2 * BLOCKS
    assert (by_name["Little's law"].checked, by_name["Little's law"].not_applicable) == (0, trials)
    assert (by_name["Offered starts"].checked, by_name["Offered starts"].deviating) == (trials, ())
    assert "Offered starts" not in {audit.name for audit in closed.audits}
    (closed_p99,) = (end for end in closed.pairs[0].secondary if end.metric == "p99")
    same = pytest.approx(closed_p99.ratio, rel=1e-12)
    assert rated.pairs[0].primary.ratio == same, "it decides, and rates weigh as the clients did"


def test_a_sound_run_trips_none() -> None:
    assert tripped(run(blocks=BLOCKS)) == ({}, set())
    assert tripped(offering(1)(run(blocks=BLOCKS))) == ({}, set())
    assert tripped(with_fates(0)(run(blocks=BLOCKS))) == ({}, set())
    assert compare_run(run(blocks=BLOCKS)).pairs[0].primary.verdict.winner == LEADER
    assert tripped(ledger(accounted=100)(run(blocks=BLOCKS))) == ({}, set())
    assert tripped(requests_beyond_replies(0)(run(blocks=BLOCKS))) == ({}, set())
    assert tripped(not_given_back(0)(run(blocks=BLOCKS))) == ({}, set())


def test_replies_to_head_have_no_content_that_could_differ() -> None:
    record = on(of(FOLLOWER), fatter)(run(blocks=BLOCKS))
    assert tripped(record) == ({"different content": "red"}, {"Same content"})
    heads = {**record.plan, "settings": {**record.plan["settings"], "method": "HEAD"}}
    assert tripped(replace(record, plan=heads)) == ({}, set())


def test_pages_of_errors_are_each_servers_own() -> None:
    record = on(of(FOLLOWER), fatter)(run(blocks=BLOCKS))
    names = {part.name for trial in record.trials for part in trial.per_operation}
    for source, gates in (("files", {"different content": "red"}), ("missing", {})):
        classes = [{"name": name, "source": source} for name in names]
        assert tripped(replace(record, plan={**record.plan, "classes": classes}))[0] == gates


@pytest.mark.parametrize("name", GATES)
def test_exactly_this_gate(name: str) -> None:
    trip, level = GATES[name]
    record = trip(run(blocks=BLOCKS))
    gates, _ = tripped(record)
    assert gates == {name: level}
    verdict = compare_run(record).pairs[0].primary.verdict
    taken = "disqualified" if name == "wrong content" else "withheld"
    assert (verdict.kind == taken) == (level == "red"), "red takes the verdict away, amber leaves it"


@pytest.mark.parametrize(("put_off", "put_off_bytes"), [(0, 0), (100, 1_000_000), (10, 500_000), (500, 1_000_000)])
def test_mail_put_off_of_any_size_or_of_small_mail_is_no_smaller_mail(put_off: int, put_off_bytes: int) -> None:
    """Just under the margin of 5 % with 10 messages of half a megabyte in all."""
    record = of_mail(on(of(LEADER), mail_of_which(put_off, put_off_bytes)))(run(blocks=BLOCKS))
    assert tripped(record) == ({}, set())


@pytest.mark.parametrize(
    "name", ["wrong content", "failed trials", "unfinished", "wrong answers", "errors", "smaller mail"]
)
def test_what_the_follower_did_wrong_leaves_the_leader_its_lead(name: str) -> None:
    record = replace(run(blocks=BLOCKS), kind="mail" if name == "smaller mail" else "web")
    fields: dict[str, object] = {
        "failed trials": {"state": "failed", "reason": "crashed"},
        "unfinished": {"errors": {"unfinished": 1}},
        "wrong content": {"errors": {"wrong_content": 1}},
        "wrong answers": {"errors": {"protocol": 2_000}},
        "errors": {"errors": {"refused": 10_000}},
        "smaller mail": {"workload": mail_of_which(10, 1_000_000)(record.trials[0]).workload},
    }[name]  # type: ignore[assignment]
    blocks = (2,) if name == "failed trials" else None
    record = change(record, FOLLOWER, 8 if blocks else None, blocks, **fields)
    assert tripped(record)[0] == {name: "amber"}
    assert compare_run(record).pairs[0].primary.verdict.winner == LEADER


def test_a_winner_whose_requests_were_asked_again_is_named_in_the_headline() -> None:
    output = [
        compare_run(on(of(name), lambda t: asked_again(t, 0.011))(run(blocks=BLOCKS))) for name in (LEADER, FOLLOWER)
    ]
    said = [
        [text for text in headline_of(found) if "ended the kept connection of 1.1 % of" in text] for found in output
    ]
    assert [len(texts) for texts in said] == [1, 0] and said[0][0].startswith(f"{LEADER.capitalize()} ended")


def test_a_few_stale_connections_are_how_keeping_them_open_works() -> None:
    record = on(of(LEADER), lambda trial: asked_again(trial, 0.009))(run(blocks=BLOCKS))
    assert tripped(record) == ({}, set())


@pytest.mark.parametrize("name", AUDITS)
def test_exactly_this_audit(name: str) -> None:
    gates, audits = tripped(AUDITS[name](run(blocks=BLOCKS)))
    assert audits == {name}
    assert gates == {}


@pytest.mark.parametrize("blocks", [1, 2, BLOCKS])
def test_contenders_that_answer_differently_get_no_verdict_and_the_first_line_says_so(blocks: int) -> None:
    found = compare_run(answering_differently(run(blocks=blocks)))
    assert kinds_of(found)[0] == "withheld"
    assert headline_of(found)[0].startswith("Verdict withheld: they differ.")
    harmless = {"between": [FOLLOWER, LEADER], "text": "they differ", "withhold": False}
    record = run(blocks=blocks)
    record = replace(record, environment={**record.environment, "content": {"differences": [harmless]}})
    assert headline_of(compare_run(record))[0] == headline_of(compare_run(run(blocks=blocks)))[0]
