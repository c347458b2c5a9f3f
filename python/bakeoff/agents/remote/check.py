"""A look at the contenders from another machine."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from bakeoff.agents.remote.host import notes_heard
from bakeoff.core.errors import GeneratorError
from bakeoff.kinds.spec import Workload, spec_part
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Check, Note


def texts(answer: Any) -> list[str]:
    """A list of texts that crossed."""
    return [str(text) for text in answer]


class RemoteCheck(Check):
    """The check of number `number` on a machine, of whose answers `read` gives what a function makes of
    them; see Check. Its errors are those of the machine.
    """

    def __init__(self, read: Callable[..., Any], plan: Plan, number: int) -> None:
        super().__init__(plan)
        self._read, self._number = read, number

    def _ask(self, method: str, *words: Any) -> None:
        self._read(lambda answer: None, method, self._number, *words)

    def examine(self, contender: Contender) -> None:
        self._ask("examine", contender.name)

    def answers(self, contender: Contender) -> None:
        self._ask("answers", contender.name)

    def unchanged(self, contender: Contender) -> None:
        self._ask("unchanged", contender.name)

    def compare(self) -> Sequence[Note]:
        notes: Sequence[Note] = self._read(notes_heard, "compare", self._number)
        return notes

    def addresses(self, contender: Contender) -> Sequence[str]:
        found: list[str] = self._read(texts, "addresses", self._number, contender.name)
        return found

    def workload(self, contender: Contender, addresses: Sequence[str]) -> Workload:
        read = spec_part(self.plan.kind).model_validate_json
        found: Workload = self._read(read, "workload", self._number, contender.name, list(addresses))
        return found

    def learn(self, contender: Contender, lessons: Sequence[dict[str, Any]]) -> None:
        self._ask("learn", contender.name, json.dumps(list(lessons)))

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = self._read(json.loads, "found", self._number)
        return found

    def close(self) -> Sequence[Note]:
        """See Check. A machine that is gone kept nothing with the contenders but what it could not take away."""
        try:
            notes: Sequence[Note] = self._read(notes_heard, "close", self._number)
            return notes
        except GeneratorError:
            return ()
