"""A look at the contenders from another machine."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from bakeoff.agents.remote.host import notes_heard
from bakeoff.errors import LabError
from bakeoff.kinds import spec_part
from bakeoff.kinds.spec import Workload
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Check, Note


class RemoteCheck(Check):
    """The check of number `number` on the machine that `ask` asks; see Check. Its errors are those of the machine."""

    def __init__(self, ask: Callable[..., Any], plan: Plan, number: int) -> None:
        super().__init__(plan)
        self._ask, self._number = ask, number

    def examine(self, contender: Contender) -> None:
        """See Check."""
        self._ask("examine", self._number, contender.name)

    def answers(self, contender: Contender) -> None:
        """See Check."""
        self._ask("answers", self._number, contender.name)

    def unchanged(self, contender: Contender) -> None:
        """See Check."""
        self._ask("unchanged", self._number, contender.name)

    def compare(self) -> Sequence[Note]:
        """See Check."""
        return notes_heard(self._ask("compare", self._number))

    def addresses(self, contender: Contender) -> Sequence[str]:
        """See Check."""
        return [str(address) for address in self._ask("addresses", self._number, contender.name)]

    def workload(self, contender: Contender, addresses: Sequence[str]) -> Workload:
        """See Check."""
        text = self._ask("workload", self._number, contender.name, list(addresses))
        return spec_part(self.plan.kind).model_validate_json(text)

    def facts(self) -> dict[str, Any]:
        """See Check."""
        found: dict[str, Any] = json.loads(self._ask("found", self._number))
        return found

    def close(self) -> Sequence[Note]:
        """See Check. A machine that is gone kept nothing with the contenders but what it could not take away."""
        try:
            return notes_heard(self._ask("close", self._number))
        except LabError:
            return ()
