"""From the engine's result to the record of a trial: its state, its reason and its marks.

A state is decided in this order: interrupted (the user stopped it), voided (the generator failed, so the
trial
says nothing about the contender), failed (the contender failed), ok. Nothing is ever left out because of it.
"""

from collections.abc import Sequence
from typing import Any

from bakeoff.agents.result import GeneratorResult, TrialResult
from bakeoff.core.thresholds import (
    BUSY_SHARE,
    CONTROL_LONGEST_S,
    CONTROL_SHARE,
    LATE_START_P99_NS,
    MOST_WAITED,
    OTHER_LOAD_SHARE,
    OTHERS_LEAST_S,
    P99_OPERATIONS,
    STARVED_SHARE,
    WAIT_SHARE,
)
from bakeoff.core.units import format_share
from bakeoff.load.steadiness import steadiness_marks
from bakeoff.run.checks.capacity_limit import GeneratorCapacity
from bakeoff.run.kind import RunPart, figures_of
from bakeoff.run.outcome.disturbances import disturbance_facts, disturbance_marks, why_void
from bakeoff.store.records import run_records
from bakeoff.store.records.figure import fields_of
from bakeoff.store.records.figures import Common, Figures
from bakeoff.store.records.marks import (
    BEHIND_SCHEDULE,
    BEYOND_LINK,
    CONTROL_BUSY,
    GENERATOR_LIMITED,
    GENERATOR_WAITED,
    LINK_LIMITED,
    NEAR_GENERATOR_CAPACITY,
    OTHER_LOAD,
    OUT_OF_CONNECTIONS,
    STUCK_OPERATIONS,
    Mark,
)
from bakeoff.store.records.run_records import OutsideRecord, PlannedTrial, TrialRecord

# Of a rate: a generator that is late by this share of the response time itself, and by so much, is named.
SCHEDULE_SHARE, SCHEDULE_LEAST_NS = 0.1, 1_000_000
# One that leaves this share of the planned starts undone, with connections idle, says nothing about the server.
UNDONE_SHARE = 0.01
STUCK_S = 1.0
VOIDING = {
    "ports_exhausted": "the generator ran out of local ports: use keep_alive or more source_addresses",
    "too_many_files": "the generator ran out of open files: raise `ulimit -n`",
}


def judge(result: TrialResult, error_limit: float, part: RunPart) -> tuple[str, str]:
    """State and reason of a trial of this kind; the reason is empty when the state is ok."""
    if result.cancelled:
        return run_records.INTERRUPTED, f"stopped after {result.elapsed_s:.1f} s"
    for error, advice in VOIDING.items():
        if result.errors.get(error, 0) > 0:
            return run_records.VOIDED, f"{advice} ({result.errors[error]} times)"
    disturbed = why_void(result.generator.disturbances, result.window_s)
    if disturbed is not None:
        return run_records.VOIDED, disturbed
    if (undone := left_undone(result)) is not None:
        return run_records.VOIDED, undone
    if result.fatal:
        return run_records.FAILED, result.fatal
    fault = part.fault(result)
    if fault is not None:
        return fault.state, fault.reason
    if never_asked(result):
        return run_records.VOIDED, "nothing was asked for in the window: make it longer, or the rate higher"
    if result.operations == 0:
        return run_records.FAILED, f"no operation succeeded ({list_errors(result.errors)})"
    unasked = unsolicited(result)
    if unasked:
        return (
            run_records.FAILED,
            f"{unasked:,} {'reply' if unasked == 1 else 'replies'} came that no request had asked for: any figure may "
            "count one as an answer",
        )
    share = result.errors_total / (result.operations + result.errors_total)
    if share > error_limit:
        limit = format_share(error_limit)
        return (
            run_records.FAILED,
            f"{share:.1%} of operations failed, more than {limit} ({list_errors(result.errors)})",
        )
    for what, failed, tried in part.failed(result):
        if tried and failed / tried > error_limit:
            of = f"{failed:,} of {tried:,} {what} failed ({failed / tried:.1%}), more than {format_share(error_limit)}"
            return run_records.FAILED, f"{of} ({list_errors(result.errors)})"
    if (waited := unrun(result)) is not None:
        return run_records.VOIDED, waited
    return run_records.OK, ""


def unrun(result: TrialResult) -> str | None:
    """Why a trial is void in which a client did (next to) nothing: a load thread waited for a processor for most of the
    window, so that nobody knows whether the contender is to blame. None where that is not so. The clients that carry a
    rate stand in for each other.
    """
    waited = result.generator.run_delay_share or 0.0
    if result.starts is not None or waited <= MOST_WAITED:
        return None
    least = STARVED_SHARE * result.operations / max(1, len(result.per_client))
    idle = [client for client in result.per_client if client.operations < least]
    if not idle:
        return None
    return (
        f"{len(idle):,} of {len(result.per_client):,} clients did (next to) nothing, and a thread of the load "
        f"generator waited for a processor for {format_share(waited)} of the window: keep other work off the machine, "
        "or give the generator cores of its own (--load-threads, --pin)"
    )


def never_asked(result: TrialResult) -> bool:
    """Whether chance planned no start for the window, and none from before it was still open: who was asked for nothing
    has failed at nothing.
    """
    asked = result.operations or result.errors_total or result.unfinished.operations
    return result.starts is not None and result.starts.offered == 0 and not asked


def left_undone(result: TrialResult) -> str | None:
    """Why a generator that did not keep its schedule voids the trial; None when it did, or the server is to blame: it
    kept every connection busy.
    """
    undone = undone_idle(result)
    if result.starts is None or undone <= UNDONE_SHARE * result.starts.offered:
        return None
    return undone_words("the generator", undone, result.starts.offered)


def undone_idle(result: TrialResult) -> int:
    """Planned starts that one machine did not begin though it had connections idle."""
    return 0 if result.starts is None or result.starts.ran_out else result.starts.never_started


def undone_words(who: str, undone: int, offered: int) -> str:
    """Why so many of the planned starts void a trial."""
    return (
        f"{who} did not begin {undone:,} of {offered:,} planned starts, with connections idle: give it more cores "
        "(--load-threads), or a lower rate"
    )


def unsolicited(result: TrialResult) -> int:
    """Replies, or other bytes, that came on connections without a request."""
    return result.connections.unsolicited + figures_of(Common, result).unsolicited


def list_errors(errors: dict[str, int]) -> str:
    """`refused 12, reply timeout 3`, the most frequent first."""
    counts = sorted(((n, name) for name, n in errors.items() if n), key=lambda pair: (-pair[0], pair[1]))
    return ", ".join(f"{name.replace('_', ' ')} {n:,}" for n, name in counts) or "none was finished in the window"


def marks(result: TrialResult, capacity: GeneratorCapacity | None, part: RunPart) -> tuple[Mark, ...]:
    """Warnings that do not change the state."""
    all_marks: list[Mark] = [*part.marks(result), *generator_marks(result, capacity)]
    if figures_of(Common, result).beyond_link:
        all_marks.append(BEYOND_LINK)
    if 0 < result.operations < P99_OPERATIONS:
        all_marks.append("few-operations")
    counts = [c.operations for c in result.per_client]
    if result.starts is None and result.operations >= 10 * len(counts) > 0 and min(counts) == 0:
        all_marks.append("starved-client")
    # A hung operation ends neither in success nor in error within the window: it must not go unseen.
    if result.unfinished.oldest_s > max(STUCK_S, result.window_s / 2):
        all_marks.append(STUCK_OPERATIONS)
    if result.starts is not None and result.starts.ran_out:
        all_marks.append(OUT_OF_CONNECTIONS)
    # At a rate the load sets the rate, and cells are not alike.
    if result.starts is None and not figures_of(Figures, result).cells:
        all_marks += steadiness_marks(result.per_second)
    return tuple(all_marks)


def generator_marks(result: TrialResult, capacity: GeneratorCapacity | None) -> list[Mark]:
    """What a machine that sent load did to a trial. Of several each has its own: in a sum nobody sees the slow one."""
    all_marks: list[Mark] = []
    rate = result.operations / result.window_s if result.window_s > 0 else 0.0
    generator = result.generator
    # Polling for replies in vain is no work: a thread that does it has room for more. File calls spend their CPU in the
    # system under test: there a busy thread limits nothing.
    busy_share = generator.cpu_share if generator.busy_share is None else generator.busy_share
    if busy_share > BUSY_SHARE and not figures_of(Common, result).cpu_is_work:
        all_marks.append(GENERATOR_LIMITED)
    if (generator.run_delay_share or 0.0) > WAIT_SHARE:
        all_marks.append(GENERATOR_WAITED)
    others = result.others
    if others is not None and others.share > OTHER_LOAD_SHARE and others.taken * others.span_s >= OTHERS_LEAST_S:
        all_marks.append(OTHER_LOAD)
    if any((link.share or 0.0) > BUSY_SHARE for link in result.links):
        all_marks.append(LINK_LIMITED)
    if capacity is not None and capacity.is_near(rate, busy_share):
        all_marks.append(NEAR_GENERATOR_CAPACITY)
    late_ns = generator.late_start.p99_ns
    if late_ns is not None and late_ns > LATE_START_P99_NS:
        all_marks.append("late-start")
    planned = result.response is not None and result.starts is not None
    response_ns = 0 if result.response is None else result.response.p99_ns or 0
    if planned and late_ns is not None and late_ns > max(SCHEDULE_LEAST_NS, SCHEDULE_SHARE * response_ns):
        all_marks.append(BEHIND_SCHEDULE)
    control = result.control
    if control is not None and (control.cpu_share > CONTROL_SHARE or control.longest_s > CONTROL_LONGEST_S):
        all_marks.append(CONTROL_BUSY)
    return [*all_marks, *disturbance_marks(generator.disturbances, result.window_s)]


def other_facts(result: TrialResult) -> dict[str, Any]:
    """What others took of the machine; empty where nobody could tell."""
    return {} if result.others is None else {"others": result.others.model_dump(mode="json")}


def _polled_share(result: TrialResult) -> float | None:
    """The share of the window that a load thread spent on polling for replies in vain; None when none did."""
    polled_s, lived_s = result.generator.polled_s, result.window_s * result.generator.threads
    return polled_s / lived_s if polled_s > 0.0 and lived_s > 0.0 else None


def jain(counts: Sequence[int]) -> float:
    """Jain's fairness index: 1 when all counts are equal, 1/n when one client got everything."""
    squares = sum(n * n for n in counts)
    return sum(counts) ** 2 / (len(counts) * squares) if squares else 1.0


def to_record(
    planned: PlannedTrial,
    started_at: str,
    result: TrialResult,
    error_limit: float,
    capacity: GeneratorCapacity | None,
    part: RunPart,
) -> TrialRecord:
    """The record of a trial that ran."""
    window_s = result.window_s
    per_s = 1 / window_s if window_s > 0 else 0.0
    generator = result.generator
    measured = taken(TrialRecord, result, "generator_")
    figures = {
        "errors": {name: n for name, n in result.errors.items() if n},
        "per_client": tuple(c for c in result.per_client if result.starts is None or c.operations or c.errors),
        "connections": {name: count for name, count in result.connections.model_dump().items() if count},
        "telemetry": (),
        # Connections that carry a rate stand in for each other: the one that was idle last has most to do.
        "fairness_jain": 1.0 if result.starts is not None else jain([c.operations for c in result.per_client]),
        "workload": result.workload or {},
        "outside": OutsideRecord(result.outside.operations, result.outside.errors_total),
        "polled_share": _polled_share(result),
        **disturbance_facts(generator.disturbances, window_s),
        **other_facts(result),
        "control_cpu_share": None if result.control is None else result.control.cpu_share,
        "control_longest_s": None if result.control is None else result.control.longest_s,
    }
    state, reason = judge(result, error_limit, part)
    return TrialRecord(
        **vars(planned),
        id=0,
        state=state,
        reason=reason,
        marks=marks(result, capacity, part),
        started_at=started_at,
        operations_per_s=result.operations * per_s,
        bytes_per_s=result.bytes_in * per_s,
        **(measured | figures),
    )


def without_result(planned: PlannedTrial, started_at: str, state: str, reason: str) -> TrialRecord:
    """The record of a trial that could not run: it is stored like any other, never left out."""
    return TrialRecord(**vars(planned), id=0, state=state, reason=reason, marks=(), started_at=started_at)


def taken(record: type, result: TrialResult, of_generator: str = "") -> dict[str, Any]:
    """The fields of a record that a result, or its generator, has by the same name, but what was not measured."""
    names = {one.name for one in fields_of(record)}
    found = {name: getattr(result, name) for name in names & set(TrialResult.model_fields)}
    for name in GeneratorResult.model_fields:
        if f"{of_generator}{name}" in names:
            found[f"{of_generator}{name}"] = getattr(result.generator, name)
    return {name: value for name, value in found.items() if value is not None}
