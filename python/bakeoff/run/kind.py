"""What runs know of a kind of workload."""

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

    def facts(self) -> dict[str, Any]:
        """What was found, as JSON values, for the record of the run."""

    def unchanged(self, contender: Contender) -> None:
        """Asked before each trial, so it must cost nothing and may not wait. Raises TargetError when the address does
        not lead to what was examined any more.
        """

    def close(self) -> Sequence[Note]:
        """The trials are over, in whatever way: remove what they kept with the contenders. Raises nothing."""


@dataclass(frozen=True)
class RunPart:
    """The part of a kind for runs."""

    check: type[Check]
