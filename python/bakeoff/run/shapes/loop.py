"""Trials that are planned beforehand, one after the other. Other shapes say what differs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from bakeoff.plan.design.order import order_trials
from bakeoff.plan.model import Plan
from bakeoff.run.kind import Note
from bakeoff.store.records.run_records import PlannedTrial, RunRecord
from bakeoff.store.sqlite.write import RunWriter

if TYPE_CHECKING:
    from bakeoff.run.modes.soak import Stretch
    from bakeoff.run.observe.observer import Observer
    from bakeoff.run.trials import Trials


class RunShape:
    """What carries out a plan as its load is laid out: derive from it, and override what differs."""

    names: ClassVar[tuple[str, ...]] = ()

    def notes(self, plan: Plan, path: Path) -> list[Note]:
        """What is told before anything is measured into `path`."""
        return []

    def keeps_order(self, plan: Plan, stored: Sequence[PlannedTrial]) -> bool:
        """Whether a run file has the trials of its plan in their order."""
        return list(stored) == order_trials(plan)

    def refuse(self, run: RunRecord, changes: bool, retry: bool) -> None:
        """Raises PlanError where a run that is there `changes` by more blocks or repeated trials and may not, or where
        it is asked to `retry` and decides that itself.
        """

    def carry_out(
        self,
        plan: Plan,
        trials: Trials,
        writer: RunWriter,
        todo: Sequence[PlannedTrial],
        before: RunRecord | None,
        whole: bool,
    ) -> None:
        """Do what is to be done, behind what the run had `before`; the run is finished with it when that is the `whole`
        rest.
        """
        trials.run(todo, whole)

    def left(self, plan: Plan, run: RunRecord, todo: Sequence[PlannedTrial]) -> str:
        """How much is to be done of a run that goes on."""
        return f"{len(todo)} of {plan.trials} trials to do"

    def stretch(self, plan: Plan, trial: PlannedTrial, writer: RunWriter, observer: Observer) -> Stretch | None:
        """One go at a trial that is told while it goes on; None where it is told when it is over."""
        return None
