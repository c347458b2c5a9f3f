"""The resolved plan: everything that a run needs to know, fixed before it starts."""

import operator
from functools import partial
from typing import Any, Literal, Self

from pydantic import Field, SerializeAsAny, StrictInt, ValidationInfo, field_validator, model_validator

from bakeoff.load.capacity.objective import Objective
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.design.factors import Factor
from bakeoff.plan.kind import plan_part
from bakeoff.plan.rules.capacity import CapacityPlan
from bakeoff.plan.settings.classes import SuiteClass
from bakeoff.plan.settings.client_options import merged
from bakeoff.plan.settings.fields import RESOLVED, Duration, Strict
from bakeoff.plan.settings.fleet import ONE_MACHINE, FleetPlan
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.shapes import PlanShape, plan_shape
from bakeoff.plan.suites import SizeName, classes_of
from bakeoff.store.sqlite.canonical import plan_hash
from bakeoff.telemetry import where

FORMAT = 2
Order = Literal["load_steps", "contenders"]
LOAD_STEPS: Order = "load_steps"
BY_CONTENDERS: Order = "contenders"
NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"


class Contender(Strict):
    """A server under test. `ready_timeout_s` counts from the end of its reset command."""

    name: str = Field(pattern=f"^{NAME}$", description="Name of the contender in results.")
    address: str = Field(min_length=1, description="Its address: http(s)://host[:port][/path] or unix:/path/to/socket.")
    reset: str | None = Field(None, min_length=1, description="Shell command that restores it before each block.")
    ready_timeout_s: Duration = Field(
        30.0, alias="ready_timeout", gt=0, description="How long to wait until it answers after a reset."
    )
    watch: str | None = Field(
        None,
        description=f"How its processors, memory, disks and network are watched during trials: {where.FORMS}.",
    )

    @field_validator("watch")
    @classmethod
    def _can_be_watched(cls, word: str | None) -> str | None:
        return None if word is None else where.parse(word).word

    levels: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=operator.not_,
        description="Its level of each factor, where it is one combination of several; see `[factors]`.",
    )
    settings: dict[str, Any] = Field(
        default_factory=dict,
        exclude_if=operator.not_,
        description="Client options of this contender alone, such as http or direct.",
    )


class Plan(Strict):
    """A plan with all defaults filled in. `to_dict` is what is stored and what the hash is made of."""

    format: int = FORMAT
    name: str
    suite: str
    kind: str
    title: str
    modelled_on: str
    size: SizeName
    blocks: int
    seed: int
    delta: float
    error_limit: float
    primary: str
    settings: SerializeAsAny[CommonSettings]
    changed: tuple[str, ...]
    classes: tuple[SerializeAsAny[SuiteClass], ...]
    contenders: tuple[Contender, ...]
    # The hash of a plan without any is what it was before there were factors.
    factors: tuple[Factor, ...] = Field(default=(), exclude_if=operator.not_)
    assumed: tuple[str, ...]
    differences: tuple[str, ...] = ()
    capacity: CapacityPlan | None = None
    # What each trial is held to where nothing is searched; empty: nothing.
    objective: str = Field(default="", exclude_if=operator.not_)
    fleet: FleetPlan = ONE_MACHINE
    interim_analyses: tuple[StrictInt, ...] | None = None
    until: str | None = None
    when_dead: str = "ask"
    dead_blocks: int = 2
    dead_after_s: float | None = 10.0
    # That of plans before there was a choice, whose hash stays; `design/order_choice.py` says which one fits.
    order: Order = Field(default=BY_CONTENDERS, exclude_if=partial(operator.eq, BY_CONTENDERS))

    @field_validator("settings", mode="before")
    @classmethod
    def _settings_of_its_kind(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        model = plan_part(info.data["kind"]).settings
        return model.model_validate(value, by_alias=False, by_name=True, context=RESOLVED)

    @field_validator("classes", mode="before")
    @classmethod
    def _classes_of_its_kind(cls, value: Any, info: ValidationInfo) -> Any:
        return classes_of(info.data["kind"], value) if "kind" in info.data else value

    @model_validator(mode="after")
    def _check_client_options(self) -> Self:
        for contender in self.contenders:
            merged(self.kind, self.settings, contender.settings)
        return self

    @property
    def goal(self) -> Objective | None:
        """What trials are held to: the objective of a search, or that of the plan."""
        return self.shape.goal(self)

    @property
    def shape(self) -> PlanShape:
        """How its load is laid out."""
        return plan_shape(self)

    def settings_of(self, name: str) -> CommonSettings:
        """The settings of a contender: those of the run, but for what it has otherwise."""
        own = next(contender.settings for contender in self.contenders if contender.name == name)
        return merged(self.kind, self.settings, own)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The contenders, in groups that are talked to alike."""
        groups: list[tuple[dict[str, Any], list[str]]] = []
        for contender in self.contenders:
            known = next((names for own, names in groups if own == contender.settings), None)
            if known is None:
                groups.append((contender.settings, [contender.name]))
            else:
                known.append(contender.name)
        return tuple(tuple(names) for _, names in groups)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, units in the names."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Plan":
        """The plan that `to_dict` stored. Raises pydantic.ValidationError when it is not one."""
        return cls.model_validate(stored, by_alias=False, by_name=True, context=RESOLVED)

    def seen_by(self, agent: str) -> "Plan":
        """The plan with the addresses under which an agent reaches the contenders."""
        contenders = tuple(self._seen(agent, contender) for contender in self.contenders)
        return self if contenders == self.contenders else self.model_copy(update={"contenders": contenders})

    def _seen(self, agent: str, contender: Contender) -> Contender:
        address = self.fleet.address(agent, contender.name)
        return contender if address is None else contender.model_copy(update={"address": address})

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of the plan, in hex."""
        return plan_hash(self.to_dict())

    @property
    def load_steps(self) -> tuple[LoadStep, ...]:
        """The load steps that are planned beforehand: none by a search, which makes them as it goes."""
        return self.shape.load_steps(self)

    @property
    def trials(self) -> int:
        """Number of trials: contenders x load steps x blocks; of a search so many as it usually takes."""
        return len(self.contenders) * self.shape.trials(self)

    @property
    def most_trials(self) -> int:
        """The same, but of a search so many as it takes at most."""
        return len(self.contenders) * self.shape.most_trials(self)
