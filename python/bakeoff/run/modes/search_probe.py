"""A trial of a search held against its objective: what was asked for, what came of it, and what limited the generator.

At a rate what counts is response time, from the planned start: service time would hide the queue. Clients that wait for
their replies have service time alone.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from bakeoff.agents.engine import explained, load_engine
from bakeoff.core.errors import GeneratorError
from bakeoff.core.times import ns_of, s_of
from bakeoff.core.units import format_duration
from bakeoff.load.capacity.judge import Answers, judge
from bakeoff.load.capacity.objective import Objective
from bakeoff.load.load_step import Rate
from bakeoff.run.kind import RunPart
from bakeoff.store.records.links import fullest_link
from bakeoff.store.records.marks import GENERATOR_LIMITED, LINK_LIMITED
from bakeoff.store.records.run_records import FAILED, VOIDED, TrialRecord
from bakeoff.store.records.served import never_served, parts_of
from bakeoff.store.records.trial_parts import JudgedRecord

# What a late generator may have cost: a probe that lost more was too much for its contender.
PASSING_LOST = 0.05
# A generator that begins later than this share of the shortest time asked for, at p99, makes the times itself.
LATE_SHARE = 0.2
LATE_NS = 50e6  # where no time is asked for


def judged(objective: Objective, record: TrialRecord, histograms: Mapping[str, bytes], part: RunPart) -> JudgedRecord:
    """What the objective makes of a trial of this kind. Raises GeneratorError for a histogram that cannot be read."""
    failed = record.reason if record.state in (FAILED, VOIDED) else ""
    # However seldom it is asked for: a load is not carried under which some page is never answered.
    failed = failed or "; ".join(part.words for part in never_served(parts_of(record)))
    answers = Answers(0, 0, 0, 0, None, lambda limit_ns: 0, lambda share: None)
    if record.window_s > 0.0 and record.operations:
        answers = _answers(record, histograms)
    verdict = judge(objective, answers, failed, also=part.further_answers(record.workload, _timed))
    return replace(verdict, limit=limit_of(objective, record, verdict.lost))


def _answers(record: TrialRecord, histograms: Mapping[str, bytes]) -> Answers:
    starts, errors = record.starts, record.errors_total
    grown, unbegun = None, 0
    times = record.service if record.response is None else record.response
    blob = histograms.get("service" if record.response is None else "response")
    if blob is None:
        raise GeneratorError("the engine gave no times of a trial: build it again with `make build`")
    good, asked = record.operations, record.operations + errors
    if starts is not None:
        from bakeoff.stats import queue_growth  # NumPy takes a moment to load

        good, asked, unbegun = starts.answered, starts.offered, starts.never_started
        fills_s = s_of(record.service.p50_ns or 0)
        grown = max(float(unbegun), queue_growth(starts.queue, fills_s / record.window_s))
    within, quantile = _timed(blob)

    def at(share: float) -> int | None:
        return quantile(share) if times.count else None

    return Answers(asked, good, errors, times.count, times.mean_ns, within, at, grown, unbegun)


def _timed(blob: bytes) -> tuple[Callable[[int], int], Callable[[float], int | None]]:
    """How many times of a histogram are at most so long, and how long such a share of them is at most."""
    engine = load_engine()

    def within(limit_ns: int) -> int:
        with explained():
            count: int = engine.counts_within(blob, [limit_ns])[0]
        return count

    def at(share: float) -> int | None:
        with explained():
            value: int = engine.quantiles(blob, [share])[0]
        return value

    return within, at


def limit_of(objective: Objective, record: TrialRecord, lost: float) -> str:
    """What limited the generator in a trial that lost such a share, in words; empty when nothing did."""
    if record.state == VOIDED:
        return f"the generator was the limit: {record.reason}"
    if GENERATOR_LIMITED in record.marks:
        return f"the generator was the limit: it was busy for {record.generator_cpu_share:.0%} of the time"
    if LINK_LIMITED in record.marks:
        return f"the generator was the limit: {fullest_link(record)}"
    times = [term.limit for term in objective.terms if term.is_time]
    if lost <= PASSING_LOST and _is_late(objective, record):
        late_ns = record.generator_late_start.p99_ns or 0
        return f"the generator was the limit: it began late itself, by {format_duration(_short(late_ns))} at p99"
    starts, load_step = record.starts, record.load_step
    # Where no connection is idle though so many answer in time, more connections would have carried more.
    if starts is not None and isinstance(load_step, Rate) and starts.ran_out and times:
        needed = math.ceil(load_step.per_s * min(times))
        if load_step.most_connections < needed:
            return (
                f"the connections were the limit: {needed:,} may be under way in time, and there were "
                f"{load_step.most_connections:,} (--most-connections)"
            )
    return ""


def says_nothing(objective: Objective, record: TrialRecord) -> bool:
    """Whether a trial is to be done again, as something befell the generator that may pass: it was voided, or missed
    while the generator, though not busy, began late.
    """
    verdict = record.judged
    if record.state == VOIDED or verdict is None:
        return True
    passing = GENERATOR_LIMITED not in record.marks and _is_late(objective, record)
    return passing and not verdict.met and verdict.lost <= PASSING_LOST


def _is_late(objective: Objective, record: TrialRecord) -> bool:
    times = [term.limit for term in objective.terms if term.is_time]
    bound_ns = ns_of(min(times)) * LATE_SHARE if times else LATE_NS
    return (record.generator_late_start.p99_ns or 0) > bound_ns


def _short(time_ns: float) -> float:
    return float(f"{s_of(time_ns):.2g}")
