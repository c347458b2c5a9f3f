"""The table `[plan]` of a plan file."""

from pydantic import Field, field_validator

from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.load.capacity.objective import parse_objective
from bakeoff.plan.design.order_choice import OrderChoice
from bakeoff.plan.rules.stopping_rules import StoppingRules
from bakeoff.plan.settings.fields import OptionalShare, OptionalWhole, Share, Whole
from bakeoff.plan.suites import BLOCKS, SizeName

MAX_SEED = 2**53 - 1
# The smallest difference that matters, unless a plan says otherwise: of capacities twice what a search leaves open.
DELTA, DELTA_OF_CAPACITIES = 0.05, 0.02
ORDER: OrderChoice = Field(
    "auto",
    json_schema_extra={"metavar": "ORDER"},
    description="Order of the trials of a block: load steps (all contenders back to back at each load step, so that "
    "drift hits all alike), contenders (each contender with all its load steps in one piece), or auto: contenders "
    "where a contender is reset, where its trials leave caches, files or queues (file suites, app, "
    "mail-pop) and in searches, else load steps.",
)


class PlanSection(StoppingRules):
    """The `[plan]` table of a plan file."""

    name: str | None = Field(None, min_length=1, max_length=80, description="Name of the run in reports.")
    suite: str = Field(description="Name of the suite: see `bakeoff suites`.")
    size: SizeName = Field(
        "quick",
        json_schema_extra={"metavar": "SIZE"},
        description="quick (a minute or two; the default), medium (15 to 20 minutes), long (hours), full (the "
        "published load steps and times) or published (to the letter); `bakeoff suites SUITE` lists what a suite has.",
    )
    blocks: OptionalWhole = Field(
        None,
        ge=1,
        le=1000,
        description=f"Visits of every contender: {BLOCKS['full']}, in quick and medium {BLOCKS['quick']}; fewer than "
        f"{MINIMUM_BLOCKS} give no verdict.",
    )
    seed: Whole = Field(1, ge=0, le=MAX_SEED, description="Seed of all random choices.")
    order: OrderChoice = ORDER
    delta: OptionalShare = Field(
        None,
        gt=0,
        lt=1,
        description=f"Smallest difference that matters: {DELTA:.0%}, of capacities {DELTA_OF_CAPACITIES:.0%}.",
    )
    error_limit: Share = Field(
        0.05, ge=0, le=1, description="Share of failed operations above which a trial is failed: 5%."
    )
    objective: str | None = Field(
        None,
        json_schema_extra={"metavar": "TERM,..."},
        description="Objective of each contender at each load, terms separated by commas: p99<=50ms,errors<=0.1%. The "
        "exit code says whether it was met. Times are response times at a rate, service times in a closed "
        "loop.",
    )

    @field_validator("objective")
    @classmethod
    def _canonical(cls, value: str | None) -> str | None:
        return None if value is None else str(parse_objective(value))


# By their keys in a plan file.
PLAN_FIELDS = {field.alias or name: field for name, field in PlanSection.model_fields.items()}
