"""Soaks: trials of many hours whose intervals are stored as they end.

A soak is one trial for each contender. Its intervals are in the run file before the trial is: after a crash the run
goes on with what is left of the time, in another segment. Rules of the plan, and a contender that is silent, end it
early.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bakeoff.agents.engine import load_engine
from bakeoff.agents.merge import most
from bakeoff.agents.result import DisturbancesResult, Snapshot, SoakInterval, summary_of
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.thresholds import LOST_REPORTED
from bakeoff.core.times import s_of
from bakeoff.core.units import format_rate, format_share
from bakeoff.load.load_step import Rate
from bakeoff.plan.model import Plan
from bakeoff.plan.rules.soak_stop_rules import StopRule, parse_rule
from bakeoff.plan.settings.network import NetworkSettings
from bakeoff.plan.settings.shared import INTERVAL_MIN_S
from bakeoff.run.fleet.session import FleetOutcome
from bakeoff.run.observe.observer import Observer, short_duration
from bakeoff.run.outcome.disturbances import LOST_LEAST_S, STOLEN_REPORTED, STOP_S, is_lost
from bakeoff.run.outcome.judge import without_result
from bakeoff.run.outcome.void_intervals import judged_by, ran_out, void_intervals
from bakeoff.store.records import run_records
from bakeoff.store.records.figures import Figures, SoakFigures
from bakeoff.store.records.run_records import PlannedTrial, SoakIntervalRecord, TrialRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, Summary
from bakeoff.store.sqlite.read import read_run, soak_histograms
from bakeoff.store.sqlite.write import RunWriter

# An interval that was cut shorter than this share of the plan's says too little to be held against a rule.
JUDGED_SHARE = 0.5
NO_INTERVAL = (
    "the load generator did not run in any interval long enough: let nothing stop it, and keep its machine awake"
)
# Samples are a second apart. What comes later was kept from coming, as the generator was: that is no silence of a
# server.
SAMPLE_MOST_S = 10.0
# Starts of a rate that are to be missing before a contender is silent.
MISSED_STARTS = 10


class Stretch:
    """One go at a soak: what is left of its time, from the start or from where a segment before was broken off."""

    def __init__(self, plan: Plan, trial: PlannedTrial, writer: RunWriter, observer: Observer) -> None:
        settings = plan.settings
        assert isinstance(settings, NetworkSettings) and settings.interval_s is not None
        self._settings, self._interval_s, self._trial = settings, settings.interval_s, trial
        self._writer, self._observer = writer, observer
        self._rules = [parse_rule(text) for text in settings.stop_if]
        intervals = self._stored()
        # Intervals are in the file: of them all that is kept here is what rules look at, and how many there are.
        self._last = deque(
            filter(self._is_judged, intervals), maxlen=max((rule.intervals for rule in self._rules), default=1)
        )
        self._before = self._count = len(intervals)
        self.number = 1 + max((interval.segment for interval in intervals), default=0)
        self.left_s = max(0.0, settings.window_s - sum(interval.length_s for interval in intervals))
        self._operations, self._unresponsive_s, self._sampled_s = 0, 0.0, 0.0
        self._void: tuple[int, ...] = ()
        self.stopped_by: str | None = None
        self.why_stopped = ""
        self._hold_against_rules()

    @property
    def is_over(self) -> bool:
        """Whether it is complete: it was broken off after its last interval, or a stored interval breaks a rule."""
        return self.left_s < INTERVAL_MIN_S or self.stopped_by is not None

    def specs(self, specs: Mapping[str, TrialSpec]) -> dict[str, TrialSpec]:
        """The specifications of the trial for the time that is left."""
        setup_teardown_s = self._settings.clock.ramp_up_s + self._settings.clock.ramp_down_s
        return {
            name: spec.model_copy(update={"length_s": setup_teardown_s + self.left_s}) if self._before else spec
            for name, spec in specs.items()
        }

    def take(self, intervals: Sequence[SoakInterval], elapsed_s: float) -> None:
        """Store intervals that ended, `elapsed_s` after the start of traffic being now, and hold them against the
        rules.
        """
        now = datetime.now(UTC)
        for interval in intervals:
            ago_s = max(0.0, elapsed_s - self._settings.clock.ramp_up_s - interval.figures.start_s)
            record = self._record(interval, now - timedelta(seconds=max(ago_s, interval.figures.length_s)))
            self._writer.add_soak_interval(record, interval.service, interval.response)
            self._count += 1
            if self._is_judged(record):
                self._last.append(record)
            self.left_s = max(0.0, self.left_s - record.length_s)
            self._observer.on_interval(record, self.left_s)
            self._hold_against_rules()

    def watch(self, snapshot: Snapshot) -> None:
        """See whether the contender has gone silent."""
        sampled_s, self._sampled_s = snapshot.elapsed_s - self._sampled_s, snapshot.elapsed_s
        if snapshot.operations > self._operations:
            self._operations, self._unresponsive_s = snapshot.operations, 0.0
        else:
            self._unresponsive_s += min(sampled_s, SAMPLE_MOST_S)
        if self._unresponsive_s > self._patience_s() and self.stopped_by is None:
            self.stopped_by = "give_up"
            self.why_stopped = f"nothing succeeded for {short_duration(self._unresponsive_s)}"

    def counted(self, outcome: FleetOutcome, disturbances: Sequence[DisturbancesResult]) -> FleetOutcome:
        """The outcome as it is judged: by the intervals of this segment that are not void."""
        intervals = self._stored()
        self._find_void(intervals, disturbances)
        own = intervals[self._before :]
        counted = [interval for interval in own if interval.number not in self._void]
        return outcome if len(counted) == len(own) else judged_by(outcome, counted)

    def without_void(
        self, record: TrialRecord, histograms: dict[str, bytes], disturbances: Sequence[DisturbancesResult]
    ) -> tuple[TrialRecord, dict[str, bytes]]:
        """The record of this segment, with its histograms, made of the intervals in which the generator ran, where
        there are
        others; void without any such interval.
        """
        intervals = self._stored()
        own = intervals[self._before :]
        counted = [interval for interval in own if interval.number not in self._void]
        record = _disturbed(record, counted, disturbances, self._stood_still(own))
        if len(counted) == len(own):
            return record, histograms
        # Where nothing of this segment counts, what was measured before it was broken off does.
        counted = counted or [interval for interval in intervals if interval.number not in self._void]
        if not counted:
            return replace(record, state=run_records.VOIDED, reason=_no_interval(intervals)), histograms
        figures, merged = self._figures(counted, intervals)
        # What intervals do not hold would tell of the void ones as well.
        without: dict[str, Any] = {"per_operation": (), "steps": (), "per_client": (), "starts": None, "statuses": {}}
        return replace(record, **{**without, **figures}), merged

    def concluded(self, record: TrialRecord) -> TrialRecord:
        """The record of this segment as that of the soak: how many segments it took, and what stopped it."""
        figures = SoakFigures(segments=self.number, stopped_by=self.stopped_by, void=self._void)
        record = replace(record, soak=figures.model_dump(mode="json"))
        if self.stopped_by is None or record.state == run_records.VOIDED:
            return record
        return replace(record, state=run_records.FAILED, reason=f"stopped early: {self.why_stopped}")

    def from_rows(self) -> tuple[TrialRecord, dict[str, bytes]]:
        """A record, with its histograms, of a soak that was broken off after its last interval: what intervals do not
        hold, such
        as steps and clients, is not in it.
        """
        self.number -= 1
        intervals = self._stored()
        self._find_void(intervals, ())
        counted = [interval for interval in intervals if interval.number not in self._void]
        figures, histograms = self._figures(counted or intervals, intervals)
        record = replace(
            without_result(self._trial, intervals[0].started_at, run_records.OK, ""),
            **figures,
            generator_cpu_share=max(interval.cpu_share for interval in intervals),
            generator_run_delay_share=most([interval.run_delay_share for interval in intervals]),
            generator_rss_bytes=max(interval.rss_bytes for interval in intervals),
        )
        if not counted:
            record = replace(record, state=run_records.VOIDED, reason=_no_interval(intervals))
        elif record.operations == 0:
            record = replace(record, state=run_records.FAILED, reason="no operation succeeded")
        record = _disturbed(record, counted, (), self._stood_still(intervals))
        return self.concluded(record), histograms

    def _find_void(self, intervals: Sequence[SoakIntervalRecord], disturbances: Sequence[DisturbancesResult]) -> None:
        """Which intervals are void: of this segment also by disturbances, of those before by what is stored."""
        ramp_up_s, planned = self._settings.clock.ramp_up_s, isinstance(self._trial.load_step, Rate)
        before, own = intervals[: self._before], intervals[self._before :]
        self._void = void_intervals(before, (), 0.0, planned) + void_intervals(own, disturbances, ramp_up_s, planned)

    def _stood_still(self, intervals: Sequence[SoakIntervalRecord]) -> bool:
        """Whether one of the intervals is void for another reason than what the generator ran out of."""
        return any(interval.number in self._void and not ran_out(interval) for interval in intervals)

    def _stored(self) -> list[SoakIntervalRecord]:
        """The intervals of this trial in the run file, those of segments before this one as well."""
        return [
            interval for interval in read_run(self._writer.path).soak_intervals if interval.order == self._trial.order
        ]

    def _is_judged(self, interval: SoakIntervalRecord) -> bool:
        lost = is_lost(interval.stopped_s or 0.0, interval.stolen_s or 0.0, interval.length_s)
        return interval.length_s >= JUDGED_SHARE * self._interval_s and not lost and not ran_out(interval)

    def _figures(
        self, intervals: Sequence[SoakIntervalRecord], everything: Sequence[SoakIntervalRecord]
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """What these intervals of `everything` come to, by the names of a trial's record, and their histograms."""
        window_s = sum(interval.length_s for interval in intervals)
        errors: dict[str, int] = {}
        for interval in intervals:
            for name, count in interval.errors.items():
                errors[name] = errors.get(name, 0) + count
        without = {interval.number for interval in everything} - {interval.number for interval in intervals}
        histograms, summaries = _merged(self._writer.path, self._trial.order, without)
        operations, bytes_in = (
            sum(interval.operations for interval in intervals),
            sum(interval.bytes_in for interval in intervals),
        )
        figures = {
            "window_s": window_s,
            "operations": operations,
            "operations_per_s": operations / window_s,
            "bytes_in": bytes_in,
            "bytes_out": sum(interval.bytes_out for interval in intervals),
            "bytes_per_s": bytes_in / window_s,
            "errors": errors,
            "service": summaries.get("service", EMPTY_SUMMARY),
            "response": summaries.get("response"),
        }
        return figures, histograms

    def _record(self, interval: SoakInterval, started: datetime) -> SoakIntervalRecord:
        f, trial = interval.figures, self._trial
        return SoakIntervalRecord(
            order=trial.order, contender=trial.contender, load_step=trial.load_step, block=trial.block,
            segment=self.number,
            number=self._count, started_at=started.isoformat(timespec="milliseconds"), length_s=f.length_s,
            operations=f.operations, errors=f.errors, bytes_in=f.bytes_in, bytes_out=f.bytes_out,
            cpu_share=f.cpu_share, run_delay_share=f.run_delay_share, stolen_s=f.stolen_s,
            stopped_s=f.stopped_s, rss_bytes=f.rss_bytes,
            service=f.service, response=f.response,
        )  # fmt: skip

    def _hold_against_rules(self) -> None:
        for rule in self._rules:
            last = list(self._last)[-rule.intervals :]
            if (
                self.stopped_by is None
                and len(last) == rule.intervals
                and all(_breaks(rule, interval) for interval in last)
            ):
                self.stopped_by = rule.text
                self.why_stopped = f"{rule.text}: {_stop_text(rule, last[-1])} in interval {last[-1].number + 1}"

    def _patience_s(self) -> float:
        """How long nothing may succeed: time-outs, pauses and the gaps of a low rate are no silence."""
        s, load_step = self._settings, self._trial.load_step
        gaps_s = MISSED_STARTS / load_step.per_s if isinstance(load_step, Rate) else 0.0
        waits_s = s.reply_timeout_s + s.connect_timeout_s + s.think_s * MISSED_STARTS + s.delay_s
        return s.give_up_s + waits_s + gaps_s


def stopped_early(record: TrialRecord) -> bool:
    """Whether a rule of the plan, or silence, ended the soak."""
    soak = record.figures(Figures).soak
    return soak is not None and soak.stopped_by is not None


def _no_interval(intervals: Sequence[SoakIntervalRecord]) -> str:
    """Why no interval counts."""
    return next(filter(None, map(ran_out, intervals)), NO_INTERVAL)


def _disturbed(
    record: TrialRecord, counted: Sequence[SoakIntervalRecord], disturbances: Sequence[DisturbancesResult], void: bool
) -> TrialRecord:
    """The record with the disturbances and their marks: intervals that are `void` do not count for the share."""
    window_s, stopped_s = (
        sum(interval.length_s for interval in counted),
        sum(interval.stopped_s or 0.0 for interval in counted),
    )
    lost_share = min(1.0, stopped_s / window_s) if window_s > 0.0 else 0.0
    stolen_s = sum(interval.stolen_s or 0.0 for interval in counted)
    paused = void or stopped_s >= max(LOST_LEAST_S / 2, LOST_REPORTED * window_s)
    stolen = stolen_s >= STOP_S and stolen_s > STOLEN_REPORTED * window_s
    if not (paused or stolen):
        return record
    marks = [mark for mark, there in (("generator-paused", paused), ("stolen-time", stolen)) if there]
    befell = {"disturbances": [one.model_dump(mode="json") for one in disturbances]}
    return replace(
        record,
        marks=tuple(dict.fromkeys((*record.marks, *marks))),
        machines=befell,
        lost_share=lost_share,
    )


def _breaks(rule: StopRule, interval: SoakIntervalRecord) -> bool:
    value = _value(rule, interval)
    return value is not None and rule.is_broken(value)


def _value(rule: StopRule, interval: SoakIntervalRecord) -> float | None:
    """The figure that a rule speaks of; a time without any success is endless if there were errors."""
    if rule.figure == "errors":
        return interval.error_share
    if rule.figure == "rate":
        return interval.operations_per_s
    time_ns: int | None = getattr(interval.times, f"{rule.figure}_ns")
    return float("inf") if time_ns is None and interval.errors_total else time_ns


def _stop_text(rule: StopRule, interval: SoakIntervalRecord) -> str:
    value = _value(rule, interval)
    assert value is not None
    if rule.figure == "errors":
        return f"{format_share(round(value, 6))} of operations failed"
    if rule.figure == "rate":
        return format_rate(value, "operations")
    return "no operation succeeded" if value == float("inf") else f"{rule.figure} {s_of(value):.3g} s"


def _merged(path: Path, order: int, without: Collection[int]) -> tuple[dict[str, bytes], dict[str, Summary]]:
    """The histograms of the intervals of a soak, but those of these numbers, as one of each sort, and as figures."""
    histograms, summaries = {}, {}
    for name, blobs in zip(("service", "response"), soak_histograms(path, order, without), strict=True):
        if blobs:
            histograms[name], summary = load_engine().merge_histograms(blobs)
            summaries[name] = summary_of(summary)
    return histograms, summaries
