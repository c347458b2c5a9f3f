"""Searches for capacities in virtual time: what their probes fail in is what trials on sockets failed in."""

from dataclasses import replace
from typing import Any

from bakeoff.agents.result import TrialResult
from bakeoff.compare import Comparison, compare_run
from bakeoff.load.capacity.judge import Answers, judge
from bakeoff.load.capacity.search import Search
from bakeoff.plan.design.order import Slot, order_slots
from bakeoff.run.kind import run_part
from bakeoff.run.modes.search_probe import _timed
from bakeoff.store.records.run_records import SEARCH, SHARE, PlannedTrial, SearchRecord, TrialRecord
from bakeoff.store.records.trial_parts import JudgedRecord, OperationRecord, StartsRecord
from tests.faults.bench import NONE, Measured, mean_of, record_of, run_of

# So many operations at a time are what a contender can do.
SESSIONS = 10
WINDOW_S = 1.0


def searched(measured: Measured, slow: bool) -> Comparison:
    """The comparison of searches whose probes fail as these trials did, at whatever load."""
    trials: list[TrialRecord] = []
    searches = [_search(measured, slot, slow, trials) for slot in order_slots(measured.plan)]
    return compare_run(run_of(measured, trials, searches))


def _search(measured: Measured, slot: Slot, slow: bool, trials: list[TrialRecord]) -> SearchRecord:
    """One search, whose trials are added to `trials`."""
    plan, capacity = measured.plan, measured.plan.capacity
    assert capacity is not None
    result, orders = measured.results[slot.contender], dict[tuple[float | None, bool], int]()
    most_per_s = SESSIONS * 1e9 / mean_of(measured, slot.contender, slot.block, slow)

    def at(load: float, purpose: str = SEARCH, share: float | None = None) -> JudgedRecord:
        load_step = capacity.load_step(plan.settings, load)
        planned = PlannedTrial(len(trials), slot.contender, load_step, slot.block, slot.seed, purpose, share)
        record = record_of(measured, planned, under(result, load, most_per_s), slow)
        also = run_part(plan.kind).further_answers(record.workload, _timed)
        verdict = judge(capacity.goal, answers_of(record), record.reason, also=also)
        trials.append(replace(record, purpose=purpose, share=share, judged=verdict))
        orders[load, verdict.met] = planned.order
        return verdict

    found = Search(at, capacity.range, None).run()
    if found.met is not None:
        for share in capacity.shares:
            at(capacity.range.rounded(share * found.met), SHARE, share)
    met, missed = orders.get((found.met, True)), orders.get((found.missed, False))
    return SearchRecord(slot.contender, slot.block, found.outcome, found.reason, met, missed)


def under(result: TrialResult, load: float, most: float) -> TrialResult:
    """A result as it would be at a rate of `load`, of which a contender answers `most` and lets the others queue."""
    offered, tried = round(load * WINDOW_S), result.operations + result.errors_total
    ended = min(offered, round(most * WINDOW_S))
    errors = {name: round(count * ended / tried) for name, count in result.errors.items()}
    good = ended - sum(errors.values())
    waits = offered - ended
    starts: dict[str, Any] = {"offered": offered, "started": offered, "never_started": 0, "answered": good}
    starts |= {
        "ran_out": 0,
        "connections_used": 1,
        "late": NONE,
        "queue": tuple(round(waits * i / 50) for i in range(51)),
    }
    times = replace(result.service, count=good)
    return result.model_copy(
        update={
            "window_s": WINDOW_S,
            "operations": good,
            "errors": errors,
            "errors_total": sum(errors.values()),
            "statuses": {"2xx": good},
            "service": times,
            "response": times,
            "bytes_in": round(result.bytes_in * good / result.operations) if result.operations else 0,
            "per_operation": tuple(_part(one, good / max(1, result.operations)) for one in result.per_operation),
            "per_client": (),
            "starts": StartsRecord(**starts),
            "workload": _again(result.workload, ended / tried if tried else 0.0),
        }
    )


def _again(workload: dict[str, Any] | None, share: float) -> dict[str, Any] | None:
    """The kind's own figures with so much of the requests that were asked again."""
    if workload is None:
        return None
    found = [name for name in ("stale_connections", "put_back") if workload.get(name)]
    return {**workload, **{name: round(workload[name] * share) for name in found}}


def _part(part: OperationRecord, share: float) -> OperationRecord:
    """So much of a class of operations."""
    operations = round(part.operations * share)
    service = replace(part.service, count=operations)
    return replace(part, operations=operations, bytes_in=round(part.bytes_in * share), service=service)


def answers_of(record: TrialRecord) -> Answers:
    """What the objective is held against: made-up times, as in the record."""
    assert record.starts is not None
    points = [(0.0, record.service.min_ns), (0.5, record.service.p50_ns), (0.95, record.service.p95_ns)]
    points += [(0.99, record.service.p99_ns), (0.999, record.service.p999_ns), (1.0, record.service.max_ns)]
    known = [(share, time_ns or 0) for share, time_ns in points]
    count, starts = record.service.count, record.starts
    return Answers(
        asked=starts.offered,
        good=starts.answered,
        failed=record.errors_total,
        timed=count,
        mean_ns=record.service.mean_ns,
        within=lambda limit_ns: round(
            count * max((share for share, time_ns in known if time_ns <= limit_ns), default=0.0)
        ),
        at=lambda share: next(time_ns for level, time_ns in known if level >= share - 1e-9) if count else None,
        grown=float(starts.queue[-1]) if starts.queue else 0.0,
    )
