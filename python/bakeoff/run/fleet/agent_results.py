"""From what the agents of a trial tell to its record: what they measured together, and the share of each."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bakeoff.agents.result import TrialResult
from bakeoff.core.times import ms_of, s_of
from bakeoff.run.checks.capacity_limit import GeneratorCapacity
from bakeoff.run.fleet.session import AgentOutcome, FleetOutcome
from bakeoff.run.kind import RunPart
from bakeoff.run.outcome.disturbances import disturbance_facts, why_void
from bakeoff.run.outcome.judge import (
    UNDONE_SHARE,
    generator_marks,
    other_facts,
    taken,
    to_record,
    undone_idle,
    undone_words,
    without_result,
)
from bakeoff.store.records.run_records import INTERRUPTED, VOIDED, PlannedTrial, TrialRecord
from bakeoff.store.records.trial_parts import CLOCK_ERROR, AgentResultRecord


def trial_record(
    planned: PlannedTrial,
    started_at: str,
    outcome: FleetOutcome,
    error_limit: float,
    capacity: GeneratorCapacity | None,
    part: RunPart,
    stopped: bool,
    start_spread_s: float,
) -> TrialRecord:
    """The record of a trial that ended, or was `stopped` by the user. One that lost an agent is void. `capacity` is
    what they could have asked.
    """
    shares = tuple(map(_share, outcome.parts))
    if outcome.whole is None:
        state = INTERRUPTED if stopped else VOIDED
        return replace(without_result(planned, started_at, state, outcome.lost), per_agent=shares)
    record = to_record(planned, started_at, outcome.whole.result, error_limit, capacity, part)
    if (began_at := _began_at(outcome)) is not None:
        record = replace(record, began_at=began_at)
    if outcome.lost and not stopped:
        record = replace(record, state=VOIDED, reason=outcome.lost)
    elif len(outcome.parts) > 1:
        record = _judged_by_each(record, outcome, start_spread_s, capacity)
        apart = part.apart(outcome.whole.result, start_spread_s)
        if apart is not None and record.state != INTERRUPTED:
            record = replace(record, state=VOIDED, reason=apart)
    seen = (None if (result := _result(part)) is None else result.telemetry for part in outcome.parts)
    return replace(record, per_agent=shares, telemetry=tuple(each for each in seen if each is not None))


def _began_at(outcome: FleetOutcome) -> str | None:
    """When traffic began, by the wall clock of the first agent that tells it: what a trial makes ready comes before."""
    starts = (result.start for part in outcome.parts if (result := _result(part)) is not None)
    starts_ns = (start.unix_ns for start in starts if start is not None)
    unix_ns = next(starts_ns, None)
    return None if unix_ns is None else datetime.fromtimestamp(s_of(unix_ns), UTC).isoformat(timespec="milliseconds")


def _judged_by_each(
    record: TrialRecord, outcome: FleetOutcome, start_spread_s: float, capacity: GeneratorCapacity | None
) -> TrialRecord:
    """What befell one of several machines befell the trial; only their own results tell it: a slow one is nothing among
    many.
    """
    marks = list(record.marks)
    if outcome.spread_s + outcome.spread_error_s > start_spread_s and record.state != INTERRUPTED:
        record = replace(record, state=VOIDED, reason=_apart(outcome, start_spread_s))
    if (undone := _undone(outcome)) is not None and record.state != INTERRUPTED:
        record = replace(record, state=VOIDED, reason=undone)
    for part in outcome.parts:
        result = _result(part)
        disturbed = why_void(result.generator.disturbances, result.window_s) if result is not None else None
        if disturbed is not None and record.state != INTERRUPTED:
            record = replace(record, state=VOIDED, reason=f"agent {part.agent}: {disturbed}")
        marks += (
            generator_marks(result, None if capacity is None else capacity.of(part.agent)) if result is not None else []
        )
    return replace(record, marks=tuple(dict.fromkeys(marks)))


def _undone(outcome: FleetOutcome) -> str | None:
    """Why agents that did not keep their schedules void the trial: where the server kept all connections of another one
    busy it is not to blame for theirs, which were idle.
    """
    starts = {part.agent: result.starts for part in outcome.parts if (result := _result(part)) and result.starts}
    undone = {part.agent: undone_idle(result) for part in outcome.parts if (result := _result(part))}
    offered = sum(one.offered for one in starts.values())
    if sum(undone.values()) <= UNDONE_SHARE * offered:
        return None
    capacity = max(undone, key=lambda agent: undone[agent])
    return undone_words(f"agent {capacity}", undone[capacity], starts[capacity].offered)


def _apart(outcome: FleetOutcome, limit_s: float) -> str:
    """Which agents began how much later than the first, for a trial that had no common start."""
    late = [f"{part.agent} {ms_of(part.start_offset_ns):.1f} ms" for part in outcome.parts if part.start_offset_ns]
    first = next((part.agent for part in outcome.parts if part.start_offset_ns == 0), "")
    error = f" ± {outcome.spread_error_s * 1e3:.1f} ms" if outcome.spread_error_s else ""
    return (
        f"the agents did not begin together: {', '.join(late)}{error} after {first}, over the limit of "
        f"{limit_s * 1e3:g} ms (see what else their machines do, and the network between them)"
    )


def _result(part: AgentOutcome) -> TrialResult | None:
    return None if part.outcome is None else part.outcome.result


def _disturbances(result: TrialResult) -> dict[str, Any]:
    facts = disturbance_facts(result.generator.disturbances, result.window_s)
    stops: dict[str, Any] = facts.get("disturbances", {})
    more = {name: each for name, each in facts.items() if name != "disturbances"}
    return stops | more | other_facts(result)


def _clock_error(part: AgentOutcome) -> dict[str, int]:
    return {} if part.clock_error_ns is None else {CLOCK_ERROR: part.clock_error_ns}


def _share(part: AgentOutcome) -> AgentResultRecord:
    result = _result(part)
    if result is None:
        return AgentResultRecord(agent=part.agent, clients=part.clients, lost=part.lost)
    figures = {
        "errors": {name: count for name, count in result.errors.items() if count},
        "late_start_p99_ns": result.generator.late_start.p99_ns,
        "lag_p99_ns": result.generator.lag.p99_ns,
        "disturbances": _disturbances(result) | _clock_error(part),
        "start_offset_ns": part.start_offset_ns,
    }
    return AgentResultRecord(agent=part.agent, clients=part.clients, **(taken(AgentResultRecord, result) | figures))
