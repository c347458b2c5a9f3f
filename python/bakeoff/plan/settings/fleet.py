"""The tables `[fleet]` and `[agents.NAME]` of a plan: how many machines send load, and what differs on one."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean, explain
from bakeoff.plan.settings.fields import Duration, OptionalWhole, Strict, Whole

AGENTS_MAX = 1000
SPREAD_MAX_S = 60.0
AGENT = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"


class FleetPlan(Strict):
    """The machines that send load together. `addresses` maps an agent to contenders and how that machine reaches them;
    a contender that it does not name is where the plan says. `least` is the fewest agents with which a run goes on when
    some are lost, None for all.
    """

    agents: Whole = Field(
        1,
        ge=1,
        le=AGENTS_MAX,
        description="Machines that send the load together; each load step is divided among them.",
    )
    least: OptionalWhole = Field(
        None,
        ge=1,
        description="Continue after losing machines while at least this many are left; auto needs all of them.",
        json_schema_extra={"flag": "agents-least"},
    )
    start_spread_s: Duration = Field(
        0.005,
        alias="start_spread",
        gt=0,
        le=SPREAD_MAX_S,
        description="Void a trial if the machines did not all begin within this time.",
    )
    addresses: dict[str, dict[str, str]] = Field(
        default={}, description="How an agent reaches a contender, by agent and contender."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.least is not None and self.least > self.agents:
            raise ValueError(f"least: a run of {self.agents} machines cannot go on with {self.least}: give fewer")
        return self

    def address(self, agent: str, contender: str) -> str | None:
        """How an agent reaches a contender where that is another than the contender's own address."""
        return self.addresses.get(agent, {}).get(contender)

    def one_sided(self, contenders: Sequence[str]) -> list[str]:
        """Warnings of agents that reach some contenders by addresses of their own, and others as the plan says: what
        goes over another link, or lies on another mount, is not compared alike.
        """
        warnings = []
        for agent, places in self.addresses.items():
            left = [name for name in contenders if name not in places]
            if left and len(left) < len(contenders):
                warnings.append(
                    f"[agents.{agent}] addresses: they name {', '.join(places)}, and not {', '.join(left)}, which that "
                    "machine reaches as the plan says: name all, unless both ways are alike"
                )
        return warnings


ONE_MACHINE = FleetPlan.model_validate({})


def fleet_of(
    given: Mapping[str, Any],
    agents: Mapping[str, Any],
    contenders: list[str],
    label: Callable[[str], str],
    origin: str,
) -> FleetPlan:
    """The fleet that a plan asks for, from its tables `[fleet]` and `[agents.NAME]`; `label` says where a key of the
    first was given. Raises PlanError.
    """
    if "addresses" in given:
        raise PlanError(f"{label('addresses')}: belongs in a table of its agent: [agents.NAME] addresses = {{…}}")
    try:
        return FleetPlan.model_validate({**given, "addresses": _addresses(agents, contenders, origin)})
    except ValidationError as error:
        raise explain(error, FleetPlan, label) from None


def _addresses(agents: Mapping[str, Any], contenders: list[str], origin: str) -> dict[str, dict[str, str]]:
    if len(agents) > AGENTS_MAX:
        raise PlanError(f"{origin}: {len(agents):,} tables of agents are too many: at most {AGENTS_MAX:,}")
    found: dict[str, dict[str, str]] = {}
    for agent, table in agents.items():
        where = f"{origin} [agents.{agent[:80]}]"
        if not re.fullmatch(AGENT, agent):
            raise PlanError(
                f"{where}: agents are called by letters, digits and . _ + -, as `bakeoff cluster join` says"
            )
        if not isinstance(table, dict):
            raise PlanError(f'{where}: write it as a table: [agents.NAME] addresses = {{ CONTENDER = "ADDRESS" }}')
        for key in table:
            if key != "addresses":
                raise PlanError(f"{where} {key}: unknown key: {did_you_mean(key, ['addresses'])}")
        places = table.get("addresses", {})
        if not isinstance(places, dict) or not all(isinstance(place, str) and place for place in places.values()):
            raise PlanError(f'{where} addresses: write them as {{ CONTENDER = "ADDRESS" }}')
        for name in places:
            if name not in contenders:
                raise PlanError(f"{where} addresses: there is no contender {name!r}: {did_you_mean(name, contenders)}")
        found[agent] = dict(places)
    return {agent: found[agent] for agent in sorted(found) if found[agent]}
