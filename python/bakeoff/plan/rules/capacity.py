"""The table `[capacity]` of a plan: which load is searched, and how closely."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_share, parse_rate, parse_share
from bakeoff.load.arrivals import Ramp, Replay, Steps
from bakeoff.load.capacity.objective import EXAMPLE, Objective, parse_objective
from bakeoff.load.capacity.range import CLIMB, Range
from bakeoff.load.load_step import RATE_MAX_PER_S, Clients, InFlight, LoadStep, Rate
from bakeoff.plan.input.messages import explain
from bakeoff.plan.rules.objective import refuse_unfit_objective
from bakeoff.plan.settings.fields import Share, Strict, Whole, is_resolved
from bakeoff.plan.settings.shared import CLIENTS_MAX, CommonSettings

# Settings that say which loads there are.
LOADS = ("clients", "rate")
LEAST = {"rate": 10.0, "clients": 1.0}
MOST = {"rate": 1_000_000.0, "clients": 1_000.0}
SHARES = (0.5, 0.7, 0.85, 0.95, 1.05)
# What a forecast says, fitted to simulated searches (docs/decisions/0034-capacity.md): each halving of the bounds takes
# a probe, and those that decide are repeated, the more so where a server is not the same in each of them.
HALVING, REPEAT, SAVED = 1.0, 0.28, 2.0
# The first search of a contender climbs, by half of its range on average, and narrows wider bounds.
CLIMBS, WIDER = 0.5, 1.0


class CapacityPlan(Strict):
    """A search for the highest load that meets an objective, for each contender in each block."""

    objective: str = Field(
        description="Objective of the load, terms separated by commas: p99<=50ms,errors<=0.1%. Times are p50, p95, "
        "p99.9 or any other percentile, mean and max; shares are errors and achieved (achieved>=99%).",
        json_schema_extra={"metavar": "TERM,..."},
    )
    by: Literal["rate", "clients"] = Field(
        "rate",
        description="The load that is searched: an open-loop rate of operations, judged by "
        "response times, or a number of clients that do, judged by service times.",
        json_schema_extra={"metavar": "rate|clients"},
    )
    least: float = Field(
        0.0, gt=0, description="Load to begin with: 10/s, or 1 client.", json_schema_extra={"metavar": "LOAD"}
    )
    most: float = Field(
        0.0,
        gt=0,
        description="Highest load to try: 1000000/s, or 1000 clients.",
        json_schema_extra={"metavar": "LOAD"},
    )
    width: Share = Field(
        0.01,
        ge=0.001,
        le=0.2,
        description="Largest final gap between the highest load that met the objective and the lowest that did not: "
        "1%.",
    )
    repeats: Whole = Field(
        3,
        ge=1,
        le=15,
        description="Probes of a deciding load, judged by their majority: an odd number. Other loads have one.",
    )
    most_probes: Whole = Field(60, ge=5, le=1000, description="End a search after this many probes.")
    shares: tuple[float, ...] = Field(
        SHARES,
        max_length=20,
        description="Loads to measure afterwards, as percentages of the capacity found: 50%,70%,85%,95%,105%; none "
        "skips this.",
        json_schema_extra={"metavar": "PERCENT,..."},
    )

    @field_validator("objective")
    @classmethod
    def _canonical(cls, value: str) -> str:
        return str(parse_objective(value))

    @field_validator("least", "most", mode="before")
    @classmethod
    def _load(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            return parse_rate(value)
        return value

    @field_validator("shares", mode="before")
    @classmethod
    def _shares(cls, value: Any, info: ValidationInfo) -> Any:
        if is_resolved(info):
            return value
        if isinstance(value, str):
            value = [] if value.strip() == "none" else value.split(",")
        if not isinstance(value, Sequence):
            raise ValueError(f"{value!r} is not a list of shares: write it like 50%,70%,95%")
        return tuple(_share(item) for item in value)

    @model_validator(mode="before")
    @classmethod
    def _by_sort(cls, value: Any) -> Any:
        """What a rate begins with is too much for clients."""
        if isinstance(value, dict) and (by := value.get("by", "rate")) in LEAST:
            return {"least": LEAST[by], "most": MOST[by], **value}
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        highest = RATE_MAX_PER_S if self.by == "rate" else CLIENTS_MAX
        if not self.least < self.most <= highest:
            raise ValueError(f"least and most: loads must rise and be {highest:,.0f} at most: 10, 1000000")
        if self.by == "clients" and not (self.least.is_integer() and self.most.is_integer()):
            raise ValueError("least and most: give whole numbers of clients: 1, 1000")
        if list(self.shares) != sorted(set(self.shares)):
            raise ValueError("shares: give different shares, rising: 50%,70%,95%")
        if self.repeats % 2 == 0:
            raise ValueError("repeats: a majority needs an odd number of probes, such as 3")
        if self.by == "clients" and (term := self.goal.needs_rate):
            raise ValueError(f"objective: {term} applies to rates: closed-loop clients offer no more than is answered")
        return self

    @property
    def goal(self) -> Objective:
        """The objective."""
        return parse_objective(self.objective)

    @property
    def range(self) -> Range:
        """Where to search."""
        return Range(
            least=self.least,
            most=self.most,
            width=self.width,
            repeats=self.repeats,
            most_probes=self.most_probes,
            whole=self.by == "clients",
            strictest=self.goal.strictest,
        )

    def words(self, load: float) -> str:
        """A load in a sentence: `1,200/s`."""
        return Clients(round(load)).words if self.by == "clients" else f"{load:,.5g}/s"

    @property
    def usual_probes(self) -> tuple[float, float]:
        """How many probes a search usually takes: the first of a contender, and each in later blocks, which begins at
        what the block before found.
        """
        # Whole loads end a whole one apart: by the middle of their range.
        width = max(self.width, 1.0 / math.sqrt(self.least * self.most)) if self.by == "clients" else self.width
        later = (HALVING + REPEAT * self.repeats) * math.log2(1.0 / width) - SAVED
        first = later + CLIMBS * math.log(self.most / self.least, CLIMB) + WIDER
        return min(self.most_probes, first), min(self.most_probes, later)

    def usual_trials(self, blocks: int) -> int:
        """How many trials the searches of a contender in so many blocks usually take, with those at shares."""
        first, later = self.usual_probes
        return round(first + (blocks - 1) * later) + blocks * len(self.shares)

    @property
    def most_trials(self) -> int:
        """How many it takes at most."""
        return self.most_probes + len(self.shares)

    @property
    def loads(self) -> dict[str, Any]:
        """The settings that say where the search begins and how far it may go."""
        if self.by == "rate":
            return {"rate": [self.least, self.most]}
        return {"clients": [round(self.least), round(self.most)]}

    def load_step(self, settings: CommonSettings, load: float) -> LoadStep:
        """The load step that puts `load` on a contender."""
        first = settings.load_steps[0]
        return replace(first, per_s=load) if isinstance(first, Rate) else Clients(round(load))


def capacity_of(given: Mapping[str, Any], label: Callable[[str], str]) -> CapacityPlan:
    """The search that a plan asks for. Raises PlanError; `label` says where a key was given."""
    if "objective" not in given:
        raise PlanError(f"{label('objective')}: is missing: state the objective, such as {EXAMPLE!r}")
    try:
        return CapacityPlan.model_validate(dict(given))
    except ValidationError as error:
        raise explain(error, CapacityPlan, label) from None


def refuse_unfit(
    plan: CapacityPlan, settings: CommonSettings, delta: float, error_limit: float, label: Callable[[str], str]
) -> None:
    """Raise PlanError for a search that these settings do not allow."""
    if settings.clock.operations is not None:
        raise PlanError("operations: a probe is bounded by its length: leave it out")
    first = settings.load_steps[0]
    if isinstance(first, Rate) and isinstance(first.arrivals, Ramp | Steps | Replay):
        raise PlanError(f"arrivals: a search needs the same load all through a probe, not {first.arrivals}")
    if isinstance(first, InFlight):
        raise PlanError("outstanding: a search has one depth: give one number")
    if plan.width > delta / 2.0:
        raise PlanError(
            f"{label('width')}: bounds {format_share(plan.width)} apart are too wide to tell differences of "
            f"{format_share(delta)} (delta): give at most half of it, {format_share(delta / 2.0)}"
        )
    refuse_unfit_objective(plan.goal, settings, error_limit, label)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{value!r} is not a share: write it like 70%")
    text = str(value).strip()
    share = float(text[:-1]) / 100.0 if text.endswith("%") and _is_number(text[:-1]) else parse_share(text)
    if not 0.01 <= share <= 2.0:
        raise ValueError(f"{text!r}: shares of a capacity are 1% to 200%")
    return round(share, 6)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
