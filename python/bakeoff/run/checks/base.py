"""What a check provides to the driver."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bakeoff.corpus.manifest import Manifest
from bakeoff.plan.model import Contender, Plan


@dataclass(frozen=True)
class Note:
    """Something worth knowing about the contenders; `level` is `info` or `warning`."""

    level: str
    text: str


class Check(Protocol):
    """Looks at the contenders of one plan, one after the other, then compares them."""

    manifest: Manifest | None

    def __init__(self, plan: Plan) -> None:
        """Raises PlanError when the corpus that the plan names is missing."""

    def answers(self, contender: Contender) -> None:
        """Raises TargetError unless the contender answers now."""

    def examine(self, contender: Contender) -> None:
        """Look at a contender that is ready. Raises TargetError when it serves other content than it must."""

    def compare(self) -> Sequence[Note]:
        """Differences that do not forbid the comparison; TargetError for one that does."""

    def addresses(self, contender: Contender) -> Sequence[str]:
        """The numeric addresses to use, the best first."""

    def ready(self, contender: Contender) -> None:
        """Raises TargetError when a trial on the contender would be one on something else. Sends it nothing."""

    def facts(self) -> dict[str, Any]:
        """What was found, as JSON values, for the record of the run."""

    def close(self) -> None:
        """The run is over, in whatever way: remove what it kept with the contenders. Raises nothing."""
