"""What a run tells while it goes on, and the observer for anything that is not a terminal: plain lines."""

import math
import time
from typing import Protocol, TextIO

from bakeoff.agents.result import Snapshot
from bakeoff.core.sanitize import sanitize
from bakeoff.core.system.lossy_stream import SteadyStream
from bakeoff.core.times import ms_of
from bakeoff.core.units import format_duration, format_rate, format_share, format_size
from bakeoff.plan.design.durations import ExpectedDuration, between_s, expected_duration, trial_s
from bakeoff.plan.design.unit import OPERATIONS, LoadUnit
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import Plan
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.mark_docs import legend
from bakeoff.store.records.marks import OTHER_LOAD
from bakeoff.store.records.run_records import OK, EventRecord, PlannedTrial, SoakIntervalRecord, TrialRecord
from bakeoff.store.records.trial_parts import JudgedRecord


class Observer(Protocol):
    """Told by the driver, in this order; must return quickly because the engine runs meanwhile."""

    def on_run_start(self, plan: Plan, trials: int) -> None:
        """`trials` are about to run."""

    def on_forecast(self, trials: int) -> None:
        """So many trials are expected in all, by what was done so far: a search plans its trials as it goes."""

    def on_trial_start(self, trial: PlannedTrial) -> None:
        """A trial begins."""

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        """About once a second while a trial runs."""

    def on_interval(self, row: SoakIntervalRecord, left_s: float) -> None:
        """An interval of a soak was stored; its trial goes on for `left_s`."""

    def on_trial_end(self, record: TrialRecord) -> None:
        """A trial was stored."""

    def on_event(self, event: EventRecord) -> None:
        """Something worth knowing."""

    def on_question(self, open: bool) -> None:
        """A question to the user is open, or over: nothing may be drawn over it."""

    def on_run_end(self) -> None:
        """No more trials come, whether all ran or not."""


class Clock:
    """How many trials are done and how long the rest will take."""

    def __init__(self, plan: Plan, trials: int, found: ExpectedDuration | None = None) -> None:
        self.trials = trials
        self.done = 0
        own_s = trial_s(plan.settings) + between_s(plan.settings)
        self._planned_s = own_s if found is None else found.measuring_s / plan.trials
        self._began = self._ended = time.monotonic()
        self._soak_ends: float | None = None

    def soak_goes_on(self, left_s: float) -> None:
        """The trial in progress is a soak and has so long to go."""
        self._soak_ends = time.monotonic() + left_s

    def trial_ended(self) -> None:
        """Count one more."""
        self.done += 1
        self._ended = time.monotonic()
        self._soak_ends = None

    @property
    def left_s(self) -> float:
        """Seconds to go: by the time of the trials so far, before the first one has ended by the plan; while a soak
        goes on by its intervals.
        """
        if self._soak_ends is not None:
            return max(0.0, self._soak_ends - time.monotonic()) + (self.trials - self.done - 1) * self._planned_s
        pace = (self._ended - self._began) / self.done if self.done else self._planned_s
        return max(0.0, (self.trials - self.done) * pace - (time.monotonic() - self._ended))


def unit_of(plan: Plan) -> LoadUnit:
    """What is offered and counted a second."""
    return plan_part(plan.kind).unit(plan.settings)


def trial_line(record: TrialRecord, unit: LoadUnit = OPERATIONS) -> str:
    """One trial in one line."""
    where = f"block {record.block}, {record.contender}, {unit.load(record.load_step)}"
    if record.share is not None:
        where += f", {record.share:.0%} of the capacity"
    if record.state != OK:
        return f"{where}: {record.state}: {record.reason}"
    # At a rate the time that decides counts from when an operation was due.
    # Pooled over cells of all sizes a rate and a time would be nobody's.
    cells = record.figures(Figures).cells
    p99 = None if cells else (record.response or record.service).p99_ns
    figures = f"{len(cells)} cells" if cells else unit.rate(record.operations_per_s)
    figures += f", p99 {milliseconds(p99)}" if p99 is not None else ""
    figures += f", {record.errors_total:,} errors"
    if len(record.per_agent) > 1:
        by_rate = sorted(record.per_agent, key=lambda share: share.operations_per_s)
        least, most = by_rate[0], by_rate[-1]
        figures += (
            f"; {len(by_rate)} agents, from {format_rate(least.operations_per_s)} ({least.agent}) to "
            f"{format_rate(most.operations_per_s)} ({most.agent})"
        )
    if record.judged is not None:
        figures += "; met" if record.judged.met else f"; missed {', '.join(_beyond(record.judged)) or 'it'}"
    return f"{where}: {figures}" + (f" ({', '.join(record.marks)})" if record.marks else "")


def others_words(record: TrialRecord) -> str:
    """ "others took 48% of the processors (stress)" of a trial that is marked for it; empty of all others."""
    load = record.figures(Figures).others
    if load is None or OTHER_LOAD not in record.marks:
        return ""
    names = f" ({', '.join(each.name for each in load.processes[:2])})" if load.processes else ""
    return f"others took {format_share(load.share)} of the processors{sanitize(names)}"


def _beyond(judged: JudgedRecord) -> list[str]:
    """Each term that was missed, and how far: the mean itself, or what share of all that was asked for lies outside."""
    texts = []
    for term in judged.terms:
        if not term.met:
            is_mean = term.term.removeprefix("visible ").startswith("mean") and term.value is not None
            how = milliseconds(term.value or 0.0) if is_mean else f"{100.0 * term.lost:.3g} % outside"
            texts.append(f"{term.term} ({how})")
    return texts


def interval_line(row: SoakIntervalRecord, unit: LoadUnit = OPERATIONS) -> str:
    """One interval of a soak in one line."""
    times = "".join(
        f", {name} {milliseconds(time_ns)}"
        for name, time_ns in (("p50", row.times.p50_ns), ("p99", row.times.p99_ns), ("max", row.times.max_ns))
        if time_ns is not None
    )
    rate, length = unit.rate(row.operations_per_s), format_duration(round(row.length_s, 1))
    return (
        f"{row.contender}, interval {row.number + 1} ({length}): {rate}{times}, "
        f"{row.errors_total:,} errors, generator {row.cpu_share:.0%} CPU, {format_size(row.rss_bytes)}"
    )


def milliseconds(time_ns: float) -> str:
    """`0.52 ms`, `12,345 ms`."""
    value = ms_of(time_ns)
    return f"{value:.3g} ms" if value < 999.5 else f"{value:,.0f} ms"


def short_duration(seconds: float) -> str:
    """Whole seconds, for times that are estimates."""
    return format_duration(float(round(seconds)))


# How often a line is written where nobody watches.
LINE_EVERY_S = 60.0


class PlainObserver:
    """For pipes, files and CI logs, where nobody watches: a line of a trial a minute, of the first and the last, and of
    each that failed or has a mark that none had before; a line per event. Never raises for want of a reader.
    """

    def __init__(self, stream: TextIO, found: ExpectedDuration | None = None) -> None:
        self._found = found
        self._stream = SteadyStream(stream)
        self._clock: Clock | None = None
        self._unit = OPERATIONS
        self._marks: set[str] = set()
        self._explained: set[str] = set()
        self._next_line_s = -math.inf

    def on_run_start(self, plan: Plan, trials: int) -> None:
        self._clock, self._unit, self._next_line_s = Clock(plan, trials, self._found), unit_of(plan), -math.inf
        count = f"{trials} trial" if trials == 1 else f"{trials} trials"
        how = "at most" if expected_duration(plan).how == "limit" else "about"
        self._line(f"{plan.name}: {count}, {how} {short_duration(self._clock.left_s)}")

    def on_forecast(self, trials: int) -> None:
        assert self._clock is not None
        self._clock.trials = max(trials, self._clock.done)

    def on_trial_start(self, trial: PlannedTrial) -> None:
        pass

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        pass

    def on_interval(self, row: SoakIntervalRecord, left_s: float) -> None:
        assert self._clock is not None
        self._clock.soak_goes_on(left_s)
        self._line(f"{interval_line(row, self._unit)}; {short_duration(self._clock.left_s)} left")

    def on_trial_end(self, record: TrialRecord) -> None:
        assert self._clock is not None
        self._clock.trial_ended()
        marks = set(record.marks) if record.state == OK else set()
        is_news = record.state != OK or not marks <= self._marks | self._explained
        is_last = self._clock.done == self._clock.trials
        self._marks |= marks
        if not (is_news or is_last or time.monotonic() >= self._next_line_s):
            return
        self._next_line_s = time.monotonic() + LINE_EVERY_S
        place = f"[{self._clock.done}/{self._clock.trials}]"
        self._line(f"{place} {trial_line(record, self._unit)}; {short_duration(self._clock.left_s)} left")

    def on_event(self, event: EventRecord) -> None:
        self._line(f"{event.level}: {event.text}")

    def on_question(self, open: bool) -> None:
        pass

    def on_run_end(self) -> None:
        """See Observer. What the marks on the lines mean is told once, also where a campaign has many blocks."""
        for line in legend(self._marks - self._explained):
            self._line(f"mark {line}")
        self._explained |= self._marks
        self._marks.clear()

    def _line(self, text: str) -> None:
        self._stream.write(sanitize(text) + "\n")
        self._stream.flush()
