"""What a user asks of a run that is there: more blocks, or its failed trials once more. Both are written down."""

from dataclasses import dataclass

from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import BLOCKS_MAX
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.model import Plan
from bakeoff.run.shapes import run_shape
from bakeoff.store.records.run_records import (
    ADDED,
    CLEAR,
    FAILED,
    RETRIED,
    VOIDED,
    AmendmentRecord,
    PlannedTrial,
    RunRecord,
)
from bakeoff.store.sqlite.write import RunWriter, utc_now


@dataclass(frozen=True)
class Asked:
    """What is asked for beside what is left to do."""

    more_blocks: int = 0
    retry_failed: bool = False

    def repeats(self, run: RunRecord) -> set[int]:
        """The orders of the trials to be repeated."""
        failed = {trial.order for trial in run.trials if trial.state in (FAILED, VOIDED)}
        return failed if self.retry_failed else set()

    def leaves_as_it_is(self, run: RunRecord) -> bool:
        """Whether nothing of this concerns the run."""
        return not self.more_blocks and not self.repeats(run)

    def plan(self, run: RunRecord, plan: Plan) -> Plan:
        """The plan with the blocks that are asked for. Raises PlanError where that cannot be."""
        run_shape(plan).refuse(run, not self.leaves_as_it_is(run), self.retry_failed)
        if not self.more_blocks:
            return plan
        if run.amended(CLEAR):
            raise PlanError(
                f"{run.path} ended at a planned interim analysis; more blocks would be a choice by the result: run its "
                f"plan again (`bakeoff run {run.path}`)"
            )
        if plan.blocks + self.more_blocks > BLOCKS_MAX:
            raise PlanError(
                f"--blocks: {plan.blocks} blocks and {self.more_blocks} more are too many for one run: at most "
                f"{BLOCKS_MAX}"
            )
        return plan.model_copy(update={"blocks": plan.blocks + self.more_blocks})


NOTHING = Asked()


def amend(run: RunRecord, before: Plan, plan: Plan, asked: Asked, writer: RunWriter) -> set[int]:
    """Write down what is asked for; the orders of the trials to be repeated."""
    seen, now = run.blocks_whole, utc_now()
    if plan.blocks != before.blocks:
        more: list[PlannedTrial] = order_trials(plan)[len(order_trials(before)) :]
        added = AmendmentRecord(
            now, ADDED, f"--blocks +{asked.more_blocks}", seen, before.blocks, plan.blocks, None, run.plan_hash
        )
        writer.add_blocks(added, plan.to_dict(), plan.hash, more)
    repeats = asked.repeats(run)
    if repeats:
        text = f"--retry-failed: {len(repeats)} failed or voided trial{'s' if len(repeats) > 1 else ''}"
        hash_now = plan.hash if plan.blocks != before.blocks else run.plan_hash
        writer.amend(AmendmentRecord(now, RETRIED, text, seen, plan.blocks, plan.blocks, None, hash_now))
    return repeats
