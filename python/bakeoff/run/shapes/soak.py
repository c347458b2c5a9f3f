"""Soaks: each trial is told while it goes on, and goes on after a crash."""

import shutil
from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_size
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.network import NetworkSettings
from bakeoff.run.checks.preflight import SOAK_INTERVAL_BYTES, intervals_of
from bakeoff.run.kind import Note
from bakeoff.run.modes.soak import Stretch
from bakeoff.run.observe.observer import Observer
from bakeoff.run.shapes.loop import RunShape
from bakeoff.store.records.run_records import PlannedTrial, RunRecord
from bakeoff.store.sqlite.write import RunWriter


class SoakShape(RunShape):
    def notes(self, plan: Plan, path: Path) -> list[Note]:
        """What the intervals may take of the disk."""
        intervals, free_bytes = intervals_of(plan) * plan.trials, shutil.disk_usage(path.absolute().parent).free
        most, whole = format_size(SOAK_INTERVAL_BYTES), format_size(intervals * SOAK_INTERVAL_BYTES)
        text = f"the run file takes at most {most} for each of {intervals:,} intervals, {whole} in all; "
        text += f"{format_size(free_bytes)} are free"
        growing = plan.settings.soak_note if isinstance(plan.settings, NetworkSettings) else ""
        return [Note("info", text), *([Note("warning", growing)] if growing else [])]

    def refuse(self, run: RunRecord, changes: bool, retry: bool) -> None:
        if changes:
            raise PlanError(f"{run.path} is a soak, one long trial of each contender: run its plan again")

    def stretch(self, plan: Plan, trial: PlannedTrial, writer: RunWriter, observer: Observer) -> Stretch:
        return Stretch(plan, trial, writer, observer)


PART = SoakShape
