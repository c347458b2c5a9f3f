"""Which order of trials a plan has, unless it says one, and why."""

from collections.abc import Sequence
from typing import Literal

from bakeoff.core.errors import PlanError
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import BY_CONTENDERS, LOAD_STEPS, Contender, Order, Plan
from bakeoff.plan.rules.capacity import CapacityPlan

OrderChoice = Literal["auto", "load_steps", "contenders"]
AUTO: OrderChoice = "auto"
# Each order in words, for the plan and the report.
WORDS: dict[Order, str] = {
    "load_steps": "all contenders back to back at each load step",
    "contenders": "each contender with all its load steps in one piece",
}
BACK_TO_BACK = "so that drift between trials hits all alike"
ALONE = "as there is one contender"
SEARCH = "as a search goes on with one contender until its capacity is found"


def order_of(
    asked: OrderChoice, kind: str, contenders: Sequence[Contender], search: CapacityPlan | None, label: str
) -> Order:
    """The order that is `asked` for, or the one that fits. Raises PlanError, which calls the setting by its `label`."""
    if search is not None and asked == LOAD_STEPS:
        raise PlanError(f"{label}: a search goes on with one contender until its capacity is found: leave it out")
    return _fitting(kind, contenders, search)[0] if asked == "auto" else asked


def fits(plan: Plan) -> bool:
    """Whether the order of a plan is the one that it would have without saying one."""
    return plan.order == _fitting(plan.kind, plan.contenders, plan.capacity)[0]


def why(plan: Plan) -> str:
    """Why the trials of a plan are ordered as they are."""
    return _fitting(plan.kind, plan.contenders, plan.capacity)[1] if fits(plan) else "as the plan says"


def _fitting(kind: str, contenders: Sequence[Contender], search: CapacityPlan | None) -> tuple[Order, str]:
    if search is not None:
        return BY_CONTENDERS, SEARCH
    if len(contenders) == 1:
        return BY_CONTENDERS, ALONE
    if reset := [contender.name for contender in contenders if contender.reset is not None]:
        return BY_CONTENDERS, f"as {', '.join(reset)} would be reset before each trial otherwise"
    left = plan_part(kind).leaves_behind
    return (LOAD_STEPS, BACK_TO_BACK) if left is None else (BY_CONTENDERS, f"as {left}")
