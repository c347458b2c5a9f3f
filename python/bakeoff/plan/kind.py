"""What plans know of a kind of workload."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from bakeoff.kinds import KINDS, load
from bakeoff.plan.design.unit import OPERATIONS, LoadUnit
from bakeoff.plan.settings.classes import SuiteClass
from bakeoff.plan.settings.fields import extra_of, full_path
from bakeoff.plan.settings.shared import CommonSettings

if TYPE_CHECKING:
    from bakeoff.plan.suites import Suite

# In a line of the help.
CLIENTS = "Clients at each load step: 1,4,16."
RATE = "Open loop: operations started per second: 100,200."
LENGTH = "Length of a trial, ramps included: 10s."
INSECURE = "Do not check TLS certificates."


class PlanPart:
    """The part of a kind for plans. A kind gives at least its settings and checks its addresses."""

    settings: type[CommonSettings]
    # The `[[class]]` tables of its suites.
    suite_class: type[SuiteClass] = SuiteClass
    # What the verdict of a run is about, of which the geometric mean over the load steps is taken.
    endpoint = "operations per second"
    # The built-in server that answers what it asks, where that is not called like the kind.
    target: str | None = None
    # Its settings that are given most, as in a plan file, each in a line for the help: the first comes first.
    common_settings: Mapping[str, str] = MappingProxyType({"clients": CLIENTS, "length": LENGTH})
    # Settings with which the duration of its sizes is told, where their own do not fix it, and these in words; what
    # fixes it where no setting does.
    example: tuple[Mapping[str, str], str] = ({}, "")
    lasts: str | None = None
    # Addresses that are assumed where a plan is shown without contenders.
    placeholders: Sequence[str] = ("http://a.invalid", "http://b.invalid")
    # By what name a contender has an address for it in a campaign: kinds of one sort of server share it.
    address_kind: str
    # What its trials leave behind that those of others on the same machine would drive out, or suffer from, so that
    # contenders are not measured in turns; None where nothing is.
    leaves_behind: str | None = None
    # What a run does to a contender, before its address.
    acts_by = "send load to"
    # Settings, as in a plan file, of how its clients talk, and not of what is measured: contenders may differ in them.
    client_options: Sequence[str] = ()

    def check_address(self, address: str, settings: CommonSettings) -> None:
        """Raise PlanError when `address` cannot be the address of a contender of this kind."""
        raise NotImplementedError

    def located(self, address: str, base: Path) -> str:
        """The address as it is stored: one that is a path here, and is relative to `base`, is made a full one."""
        is_socket = address.startswith("unix:")
        return f"unix:{full_path(address.removeprefix('unix:'), base)}" if is_socket else address

    def why_indivisible(self, settings: CommonSettings) -> str | None:
        """Why several machines cannot share a trial, and what to do instead; None when they can."""
        return None

    def unit(self, settings: CommonSettings) -> LoadUnit:
        """What is offered and counted a second."""
        return OPERATIONS

    def classes(self, suite: "Suite", settings: CommonSettings) -> Sequence[SuiteClass]:
        """The classes with their final weights. Raises PlanError when the settings do not fit them."""
        return suite.classes


def plan_part(name: str) -> PlanPart:
    """What plans know of a kind. Raises PlanError when there is no such kind, or when it lacks this part."""
    part: PlanPart = load(name, "plan")
    return part


@cache
def setting_owners() -> Mapping[str, Sequence[str]]:
    """Names of the kinds by setting name (as in a plan file), for messages and flags."""
    owners: dict[str, list[str]] = {}
    for name in KINDS:
        for field_name, field in plan_part(name).settings.model_fields.items():
            owners.setdefault(field.alias or field_name, []).append(name)
    return owners


@cache
def plan_section_keys() -> frozenset[str]:
    """Settings that stand in the table `[plan]` of a plan file, as they are no property of the load."""
    fields = [item for name in KINDS for item in plan_part(name).settings.model_fields.items()]
    return frozenset(field.alias or name for name, field in fields if extra_of(field).get("table") == "plan")
