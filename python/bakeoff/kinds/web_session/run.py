"""Do the contenders answer? Whether a session comes to its end with one the engine tries itself, before timing."""

from collections.abc import Sequence
from typing import Any

from bakeoff.kinds.web.check import HttpCheck
from bakeoff.kinds.web_session.plan import workload
from bakeoff.kinds.web_session.spec import SessionWorkload
from bakeoff.plan.model import Contender
from bakeoff.run.kind import Note, RunPart


class SessionCheck(HttpCheck):
    """See bakeoff.run.kind.Check."""

    def examine(self, contender: Contender) -> None:
        """See Check. What a session asks for is asked by the session alone: it may change something."""
        prober = self._prober(contender)
        prober.begin()
        prober.connect()

    def compare(self) -> Sequence[Note]:
        """See Check."""
        asked = "one session was made with each contender before timing"
        held = (
            "replies are held to the statuses and texts that its steps expect; nobody has compared what else they say"
        )
        return [*self._repeated(), Note("warning", f"{asked}, and {held}")]

    def facts(self) -> dict[str, Any]:
        """See Check."""
        contenders = {name: {"addresses": list(prober.addresses)} for name, prober in self._probers.items()}
        return {"corpus": None, "contenders": contenders}

    def workload(self, contender: Contender, addresses: Sequence[str]) -> SessionWorkload:
        """See Check."""
        return workload(self.plan, contender, addresses)


PART = RunPart(SessionCheck)
