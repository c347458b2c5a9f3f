"""Searches, which plan their trials as they go."""

from collections.abc import Sequence

from bakeoff.core.errors import PlanError
from bakeoff.plan.model import Plan
from bakeoff.run.modes.searches import Before, Searches
from bakeoff.run.shapes.loop import RunShape
from bakeoff.run.trials import Trials
from bakeoff.store.records.run_records import INTERRUPTED, PlannedTrial, RunRecord
from bakeoff.store.sqlite.read import planned
from bakeoff.store.sqlite.write import RunWriter


class SearchShape(RunShape):
    def keeps_order(self, plan: Plan, stored: Sequence[PlannedTrial]) -> bool:
        """There is none beforehand."""
        return True

    def refuse(self, run: RunRecord, changes: bool, retry: bool) -> None:
        if retry:
            raise PlanError(f"{run.path} searched capacities, and its searches decide what is repeated: run it again")

    def carry_out(
        self,
        plan: Plan,
        trials: Trials,
        writer: RunWriter,
        todo: Sequence[PlannedTrial],
        before: RunRecord | None,
        whole: bool,
    ) -> None:
        known = Before() if before is None else Before(planned(before.path), before.trials, before.searches)
        Searches(plan, trials, writer, known).run()

    def left(self, plan: Plan, run: RunRecord, todo: Sequence[PlannedTrial]) -> str:
        searches = len(plan.contenders) * plan.blocks
        done = sum(trial.state != INTERRUPTED for trial in run.trials)
        return f"{len(run.searches)} of {searches} searches done, in {done} trials"


PART = SearchShape
