"""What loads that are planned beforehand would do, in words. Other shapes say what differs."""

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar

from rich.table import Table

from bakeoff.core.units import plural
from bakeoff.load.load_step import Rate
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import LOAD_STEPS, Plan
from bakeoff.store.records.run_records import PlannedTrial

MOST_TURNS = 6


class PlanWords:
    """What `bakeoff plan` says of a shape: derive from it, and override what differs. `verdict` is what blocks are for,
    `lost` in which pairs of trials a contender forfeits.
    """

    verdict: ClassVar[str] = "the verdict of the suite"
    lost: ClassVar[str] = "which a trial is lost"

    def loads(self, plan: Plan) -> list[str]:
        """Which loads there are, in how many trials."""
        load_steps = plan.settings.load_steps
        unit = plan_part(plan.kind).unit(plan.settings)
        made_of = unit.sentence([load_step.per_s for load_step in load_steps if isinstance(load_step, Rate)])
        return [
            f"load steps ({load_steps[0].unit}): " + ", ".join(map(str, load_steps)),
            f"{plan.trials} trials = {plural(len(plan.contenders), 'contender')} x "
            f"{plural(len(load_steps), 'load step', 'load steps')} x {plural(plan.blocks, 'block')}",
            *([made_of.removesuffix(".")] if made_of else []),
        ]

    def blocks(self, plan: Plan) -> Table:
        """The blocks in their order."""
        table = Table(box=None, pad_edge=False)
        columns = (
            ("contenders in this order, at each load step in turn",)
            if plan.order == LOAD_STEPS
            else ("slots in this order",)
        )
        for column in ("block", *columns, "load steps in this order", "seed"):
            table.add_column(column, overflow="fold")
        for block, members in groupby(order_trials(plan), key=lambda trial: trial.block):
            trials = list(members)
            load_steps = list(dict.fromkeys(trial.load_step for trial in trials))
            shown = (
                ", ".join(map(str, load_steps))
                if len(load_steps) <= 6
                else f"{load_steps[0]}, {load_steps[1]} … {load_steps[-1]}"
            )
            table.add_row(str(block), _in_order(plan, trials), shown, str(trials[0].seed))
        return table


def _in_order(plan: Plan, trials: Sequence[PlannedTrial]) -> str:
    """The contenders of a block in their order; by load steps that of each load step, with those of many load steps
    left out.
    """
    if plan.order != LOAD_STEPS:
        return ", ".join(dict.fromkeys(trial.contender for trial in trials))
    turns = [
        " ".join(trial.contender for trial in turn) for _, turn in groupby(trials, key=lambda trial: trial.load_step)
    ]
    return " | ".join(turns if len(turns) <= MOST_TURNS else [*turns[: MOST_TURNS - 1], "…"])
