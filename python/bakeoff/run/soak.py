"""Soaks: trials of many hours whose rows are stored as they end.

A soak is one trial for each contender. Its rows are in the run file before the trial is: after a crash the run goes
on with what is left of the time, in another stretch. Rules of the plan, and a contender that is silent, end it early.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bakeoff.agents.local import load_engine
from bakeoff.agents.result import Snapshot, SoakRow, SummaryResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.mix import Rate
from bakeoff.plan.model import Plan
from bakeoff.plan.network_settings import NetworkSettings
from bakeoff.plan.settings import ROW_MIN_S
from bakeoff.plan.stop_rules import StopRule, parse_rule
from bakeoff.run.judge import without_result
from bakeoff.run.kind import Note
from bakeoff.run.observer import Observer, short_duration
from bakeoff.run.preflight import SOAK_ROW_BYTES, rows_of
from bakeoff.store import records
from bakeoff.store.figures import Figures, SoakFigures
from bakeoff.store.read import read_run, soak_histograms
from bakeoff.store.records import PlannedTrial, SoakRowRecord, TrialRecord
from bakeoff.store.trial_parts import EMPTY_SUMMARY, Summary
from bakeoff.store.write import RunWriter
from bakeoff.units import format_rate, format_share, format_size

# A row that was cut shorter than this share of the plan's says too little to be held against a rule.
JUDGED_SHARE = 0.5
# Starts of a rate that are to be missing before a contender is silent.
MISSED_STARTS = 10


def soaks(plan: Plan) -> bool:
    """Whether the trials of a plan are soaks."""
    return plan.settings.clock.row_s is not None


class Stretch:
    """One go at a soak: what is left of its time, from the start or from where a stretch before was broken off."""

    def __init__(self, plan: Plan, trial: PlannedTrial, writer: RunWriter, observer: Observer) -> None:
        settings = plan.settings
        assert isinstance(settings, NetworkSettings) and settings.row_s is not None
        self._settings, self._row_s, self._trial = settings, settings.row_s, trial
        self._writer, self._observer = writer, observer
        self._rules = [parse_rule(text) for text in settings.stop_if]
        self._rows = [row for row in read_run(writer.path).soak_rows if row.order == trial.order]
        self._before = len(self._rows)
        self.number = 1 + max((row.stretch for row in self._rows), default=0)
        self.left_s = max(0.0, settings.window_s - sum(row.length_s for row in self._rows))
        self._operations, self._last_success_s = 0, 0.0
        self.stopped_by: str | None = None
        self.why_stopped = ""
        self._hold_against_rules()

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do: it was broken off after its last row, or a stored row breaks a rule."""
        return self.left_s < ROW_MIN_S or self.stopped_by is not None

    def specs(self, specs: Mapping[str, TrialSpec]) -> dict[str, TrialSpec]:
        """The specifications of the trial for the time that is left."""
        around_s = self._settings.clock.ramp_up_s + self._settings.clock.ramp_down_s
        return {
            name: spec.model_copy(update={"length_s": around_s + self.left_s}) if self._before else spec
            for name, spec in specs.items()
        }

    def take(self, rows: Sequence[SoakRow], elapsed_s: float) -> None:
        """Store rows that ended, `elapsed_s` after the start of traffic being now, and hold them against the rules."""
        now = datetime.now(UTC)
        for row in rows:
            ago_s = max(0.0, elapsed_s - self._settings.clock.ramp_up_s - row.figures.start_s)
            record = self._record(row, now - timedelta(seconds=max(ago_s, row.figures.length_s)))
            self._writer.add_soak_row(record, row.service, row.response)
            self._rows.append(record)
            self.left_s = max(0.0, self.left_s - record.length_s)
            self._observer.on_row(record, self.left_s)
            self._hold_against_rules()

    def watch(self, snapshot: Snapshot) -> None:
        """See whether the contender has gone silent."""
        if snapshot.operations > self._operations:
            self._operations, self._last_success_s = snapshot.operations, snapshot.elapsed_s
        silent_s = snapshot.elapsed_s - self._last_success_s
        if silent_s > self._patience_s() and self.stopped_by is None:
            self.stopped_by = "give_up"
            self.why_stopped = f"nothing succeeded for {short_duration(silent_s)}"

    def concluded(self, record: TrialRecord) -> TrialRecord:
        """The record of this stretch as that of the soak: how many stretches it took, and what stopped it."""
        told = SoakFigures(stretches=self.number, stopped_by=self.stopped_by)
        record = replace(record, workload={**record.workload, "soak": told.model_dump()})
        if self.stopped_by is None or record.state == records.VOIDED:
            return record
        return replace(record, state=records.FAILED, reason=f"stopped early: {self.why_stopped}")

    def from_rows(self) -> tuple[TrialRecord, dict[str, bytes]]:
        """A record, with its histograms, of a soak that was broken off after its last row: what rows do not hold, such
        as steps and clients, is not in it.
        """
        self.number -= 1
        window_s = sum(row.length_s for row in self._rows)
        errors: dict[str, int] = {}
        for row in self._rows:
            for name, count in row.errors.items():
                errors[name] = errors.get(name, 0) + count
        histograms, summaries = _merged(self._writer.path, self._trial.order)
        operations, bytes_in = sum(r.operations for r in self._rows), sum(r.bytes_in for r in self._rows)
        record = replace(
            without_result(self._trial, self._rows[0].started_at, records.OK, ""),
            window_s=window_s,
            operations=operations,
            operations_per_s=operations / window_s,
            bytes_in=bytes_in,
            bytes_out=sum(row.bytes_out for row in self._rows),
            bytes_per_s=bytes_in / window_s,
            errors=errors,
            service=summaries.get("service", EMPTY_SUMMARY),
            response=summaries.get("response"),
            generator_cpu_share=max(row.cpu_share for row in self._rows),
            generator_run_delay_share=max(row.run_delay_share for row in self._rows),
            generator_rss_bytes=max(row.rss_bytes for row in self._rows),
        )
        if operations == 0:
            record = replace(record, state=records.FAILED, reason="no operation succeeded")
        return self.concluded(record), histograms

    def _record(self, row: SoakRow, started: datetime) -> SoakRowRecord:
        f, trial = row.figures, self._trial
        return SoakRowRecord(
            order=trial.order, contender=trial.contender, mix=trial.mix, block=trial.block, stretch=self.number,
            number=len(self._rows), started_at=started.isoformat(timespec="milliseconds"), length_s=f.length_s,
            operations=f.operations, errors=f.errors, bytes_in=f.bytes_in, bytes_out=f.bytes_out,
            cpu_share=f.cpu_share, run_delay_share=f.run_delay_share, stolen_s=f.stolen_s, rss_bytes=f.rss_bytes,
            service=_summary(f.service), response=None if f.response is None else _summary(f.response),
        )  # fmt: skip

    def _hold_against_rules(self) -> None:
        for rule in self._rules:
            judged = [row for row in self._rows if row.length_s >= JUDGED_SHARE * self._row_s]
            last = judged[-rule.rows :]
            if self.stopped_by is None and len(last) == rule.rows and all(_breaks(rule, row) for row in last):
                self.stopped_by = rule.text
                self.why_stopped = f"{rule.text}: {_told(rule, last[-1])} in row {last[-1].number + 1}"

    def _patience_s(self) -> float:
        """How long nothing may succeed: time-outs, pauses and the gaps of a low rate are no silence."""
        s, mix = self._settings, self._trial.mix
        gaps_s = MISSED_STARTS / mix.per_s if isinstance(mix, Rate) else 0.0
        waits_s = s.reply_timeout_s + s.connect_timeout_s + s.think_s * MISSED_STARTS + s.delay_s
        return s.give_up_s + waits_s + gaps_s


def stopped_early(record: TrialRecord) -> bool:
    """Whether a rule of the plan, or silence, ended the soak."""
    soak = record.figures(Figures).soak
    return soak is not None and soak.stopped_by is not None


def soak_notes(plan: Plan, path: Path) -> list[Note]:
    """What the rows may take of the disk, told before anything is measured; nothing of other plans."""
    if not soaks(plan):
        return []
    rows, free_bytes = rows_of(plan) * plan.trials, shutil.disk_usage(path.absolute().parent).free
    most, all_rows = format_size(SOAK_ROW_BYTES), format_size(rows * SOAK_ROW_BYTES)
    text = f"the run file takes at most {most} for each of {rows:,} rows, {all_rows} in all; {format_size(free_bytes)} "
    text += "are free"
    growing = plan.settings.soak_note if isinstance(plan.settings, NetworkSettings) else ""
    return [Note("info", text), *([Note("warning", growing)] if growing else [])]


def _breaks(rule: StopRule, row: SoakRowRecord) -> bool:
    value = _value(rule, row)
    return value is not None and rule.is_broken(value)


def _value(rule: StopRule, row: SoakRowRecord) -> float | None:
    """The figure that a rule speaks of; a time without any success is endless if there were errors."""
    if rule.figure == "errors":
        return row.error_share
    if rule.figure == "rate":
        return row.operations_per_s
    time_ns: int | None = getattr(row.times, f"{rule.figure}_ns")
    return float("inf") if time_ns is None and row.errors_total else time_ns


def _told(rule: StopRule, row: SoakRowRecord) -> str:
    value = _value(rule, row)
    assert value is not None
    if rule.figure == "errors":
        return f"{format_share(round(value, 6))} of operations failed"
    if rule.figure == "rate":
        return format_rate(value, "operations")
    return "no operation succeeded" if value == float("inf") else f"{rule.figure} {value / 1e9:.3g} s"


def _merged(path: Path, order: int) -> tuple[dict[str, bytes], dict[str, Summary]]:
    """The histograms of all rows of a soak as one of each sort, and as figures."""
    histograms, summaries = {}, {}
    for name, blobs in zip(("service", "response"), soak_histograms(path, order), strict=True):
        if blobs:
            histograms[name], told = load_engine().merge_histograms(blobs)
            summaries[name] = _summary(SummaryResult.model_validate_json(told))
    return histograms, summaries


def _summary(summary: SummaryResult) -> Summary:
    return Summary(**summary.model_dump())
