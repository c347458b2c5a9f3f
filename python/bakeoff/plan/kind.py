"""What plans know of a kind of workload."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from bakeoff.corpus.manifest import Manifest
from bakeoff.kinds import KINDS, plan_part
from bakeoff.plan.settings import CommonSettings
from bakeoff.plan.suites import Suite, SuiteClass

if TYPE_CHECKING:
    from bakeoff.plan.model import Contender, Plan


class PlanPart(Protocol):
    """The part of a kind for plans."""

    name: str
    settings: type[CommonSettings]

    def check_address(self, address: str, settings: CommonSettings) -> None:
        """Raise PlanError when `address` cannot be the address of a contender of this kind."""

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[SuiteClass]:
        """The classes with their final weights. Raises PlanError when the settings do not fit them."""

    def workload(
        self, plan: "Plan", contender: "Contender", addresses: Sequence[str], manifest: Manifest | None
    ) -> dict[str, Any]:
        """The `workload` part of a trial spec for one contender at its resolved numeric `addresses`."""


def setting_owners() -> dict[str, list[str]]:
    """Names of the kinds by setting name (as in a plan file), for messages and flags."""
    owners: dict[str, list[str]] = {}
    for name in KINDS:
        for field_name, field in plan_part(name).settings.model_fields.items():
            owners.setdefault(field.alias or field_name, []).append(name)
    return owners
