"""What several agents tell of one trial as one: results in the engine, which knows histograms, snapshots here."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bakeoff.agents.engine import explained, load_engine, read_outcome
from bakeoff.agents.result import (
    AgentSnapshot,
    IntervalResult,
    OperationCount,
    Outcome,
    RecentResult,
    Snapshot,
    SoakInterval,
    summary_of,
)
from bakeoff.agents.spec import TrialSpec
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, Summary

EMPTY_SNAPSHOT = Snapshot(elapsed_s=0, phase="done", operations=0, errors=0, bytes_in=0)
# A trial is as far as the agent that is furthest back.
PHASES = ("prepare", "armed", "starting", "ramp_up", "window", "ramp_down", "drain", "done")


def merged_outcome(spec: TrialSpec, parts: Sequence[tuple[str, Outcome]]) -> Outcome:
    """The outcome of a trial, from those of its agents by name; that of a single agent as it is.

    Raises GeneratorError when they do not fit together.
    """
    if len(parts) == 1:
        return parts[0][1]
    slices = [
        (name, part.result.model_dump_json(exclude={"links", "telemetry", "others", "control"}), dict(part.histograms))
        for name, part in parts
    ]
    with explained():
        whole = read_outcome(load_engine().merge_slices(spec.to_json(), slices))
    took = [part.result.control for _, part in parts if part.result.control is not None]
    most = max(took, key=lambda control: control.cpu_share, default=None)
    return replace(whole, result=whole.result.model_copy(update={"control": most}))


def merged_interval(parts: Sequence[SoakInterval]) -> SoakInterval:
    """An interval of a soak, from those of its agents, which end at their moments; that of a single agent as it is."""
    if len(parts) == 1:
        return parts[0]
    figures = [part.figures for part in parts]
    errors = Counter[str]()
    for each in figures:
        errors.update(each.errors)
    service, service_summary = _merged_histogram([part.service for part in parts])
    planned = [part.response for part in parts if part.response is not None]
    response, response_summary = _merged_histogram(planned) if planned else (None, None)
    row = IntervalResult(
        number=figures[0].number,
        start_s=min(each.start_s for each in figures),
        length_s=max(each.length_s for each in figures),
        operations=sum(each.operations for each in figures),
        errors=dict(errors),
        bytes_in=sum(each.bytes_in for each in figures),
        bytes_out=sum(each.bytes_out for each in figures),
        service=service_summary or EMPTY_SUMMARY,
        response=response_summary or (EMPTY_SUMMARY if planned else None),
        cpu_share=max(each.cpu_share for each in figures),
        run_delay_share=most([each.run_delay_share for each in figures]),
        stolen_s=most([each.stolen_s for each in figures]),
        stopped_s=most([each.stopped_s for each in figures]),
        rss_bytes=max(each.rss_bytes for each in figures),
    )
    return SoakInterval(row, service, response)


def most(values: Sequence[float | None]) -> float | None:
    """The largest; None where one of them was not measured, which may be larger."""
    known = [each for each in values if each is not None]
    return max(known) if known and len(known) == len(values) else None


def _merged_histogram(blobs: Sequence[bytes]) -> tuple[bytes, Summary | None]:
    """One histogram of all, and its figures; none where nothing was done."""
    filled = [blob for blob in blobs if blob]
    if not filled:
        return b"", None
    with explained():
        blob, summary = load_engine().merge_histograms(filled)
    return blob, summary_of(summary)


def merged_snapshot(parts: Sequence[tuple[str, Snapshot]]) -> Snapshot:
    """How far a trial is, from what its agents tell, by name; that of a single one as it is. Without any it is over."""
    if not parts:
        return EMPTY_SNAPSHOT
    if len(parts) == 1:
        return parts[0][1]
    snapshots = [snapshot for _, snapshot in parts]
    return Snapshot(
        elapsed_s=max(part.elapsed_s for part in snapshots),
        phase=min((part.phase for part in snapshots), key=lambda phase: PHASES.index(phase) if phase in PHASES else 0),
        operations=sum(part.operations for part in snapshots),
        errors=sum(part.errors for part in snapshots),
        bytes_in=sum(part.bytes_in for part in snapshots),
        per_operation=_per_operation(snapshots),
        recent=_recent([part.recent for part in snapshots]),
        per_agent=tuple(agent for name, part in parts for agent in part.per_agent or (_of_agent(name, part),)),
    )


def _of_agent(name: str, snapshot: Snapshot) -> AgentSnapshot:
    return AgentSnapshot(
        agent=name,
        elapsed_s=snapshot.elapsed_s,
        operations=snapshot.operations,
        errors=snapshot.errors,
        p50_ns=snapshot.recent.p50_ns,
        p99_ns=snapshot.recent.p99_ns,
    )


def _per_operation(parts: Sequence[Snapshot]) -> tuple[OperationCount, ...]:
    counts: dict[str, tuple[int, int]] = {}
    for count in (count for part in parts for count in part.per_operation):
        operations, errors = counts.get(count.name, (0, 0))
        counts[count.name] = operations + count.operations, errors + count.errors
    return tuple(OperationCount(name=name, operations=n, errors=errors) for name, (n, errors) in counts.items())


def _recent(parts: Sequence[RecentResult]) -> RecentResult:
    """Counts of times add up where percentiles do not."""
    sums = Counter[int]()
    for part in parts:
        for time_ns, count in part.times:
            sums[time_ns] += count
    times = tuple(sorted(sums.items()))
    return RecentResult(
        span_s=max(part.span_s for part in parts),
        operations=sums.total(),
        p50_ns=_quantile(times, 50),
        p99_ns=_quantile(times, 99),
        times=times,
    )


def _quantile(times: Sequence[tuple[int, int]], percent: int) -> int | None:
    """The least time that so many percent of the operations did not exceed, as the engine tells it."""
    rank, seen = -(-sum(count for _, count in times) * percent // 100), 0
    for time_ns, count in times:
        seen += count
        if seen >= rank:
            return time_ns
    return None
