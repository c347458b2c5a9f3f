"""What every kind of workload provides."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from bakeoff.corpus.manifest import Manifest
from bakeoff.plan.settings import CommonSettings
from bakeoff.plan.suites import Suite, SuiteClass

if TYPE_CHECKING:
    from bakeoff.plan.model import Contender, Plan


class Kind(Protocol):
    """One kind of workload."""

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
