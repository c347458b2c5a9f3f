"""The resolved plan: everything that a run needs to know, fixed before it starts."""

from typing import Any

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator

from bakeoff.kinds import plan_part
from bakeoff.mix import Mix
from bakeoff.plan.capacity import CapacityPlan
from bakeoff.plan.classes import SuiteClass
from bakeoff.plan.fields import RESOLVED, Duration, Strict
from bakeoff.plan.fleet import ONE_MACHINE, FleetPlan
from bakeoff.plan.settings import CommonSettings
from bakeoff.plan.suites import SizeName, classes_of
from bakeoff.plan.upgrade import upgraded
from bakeoff.store.canonical import plan_hash

FORMAT = 2
NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"


class Contender(Strict):
    """A server under test. `ready_timeout_s` counts from the end of its reset command."""

    name: str = Field(pattern=f"^{NAME}$", description="Name of the contender in all results.")
    address: str = Field(min_length=1, description="Where it is: http(s)://host[:port][/path] or unix:/path/to/socket.")
    reset: str | None = Field(None, min_length=1, description="Shell command that restores it before each visit.")
    ready_timeout_s: Duration = Field(
        30.0, alias="ready_timeout", gt=0, description="How long to wait until it answers after a reset."
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
    assumed: tuple[str, ...]
    differences: tuple[str, ...] = ()
    capacity: CapacityPlan | None = None
    fleet: FleetPlan = ONE_MACHINE
    looks: tuple[int, ...] | None = None
    boundary: str = "obrien-fleming"
    until_clear: bool = False
    when_dead: str = "ask"
    dead_visits: int = 2
    dead_after_s: float | None = 10.0

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

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, units in the names."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "Plan":
        """The plan that `to_dict` stored. Raises pydantic.ValidationError when it is not one."""
        return cls.model_validate(upgraded(stored), by_alias=False, by_name=True, context=RESOLVED)

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
    def mixes(self) -> tuple[Mix, ...]:
        """The mixes that are planned beforehand: none by a search, which makes them as it goes."""
        return () if self.capacity else self.settings.mix_values

    @property
    def trials(self) -> int:
        """Number of trials: contenders x mixes x blocks; of a search so many as it usually takes."""
        visit = self.capacity.usual_trials if self.capacity else len(self.settings.mix_values)
        return len(self.contenders) * visit * self.blocks

    @property
    def most_trials(self) -> int:
        """The same, but of a search so many as it takes at most."""
        return len(self.contenders) * self.capacity.most_trials * self.blocks if self.capacity else self.trials
