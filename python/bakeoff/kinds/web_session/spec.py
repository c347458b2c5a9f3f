"""What the engine is told of sessions of several requests."""

from typing import Any, Literal, Self

from pydantic import Field

from bakeoff.kinds.spec import Spec
from bakeoff.kinds.web.spec import OverWeb


class BodySpec(Spec):
    """What a request carries, hexadecimal; with `fill` words in braces stand for values."""

    content: str
    fill: bool


class TakeSpec(Spec):
    """A value that is taken from a reply; `what` is the name of field or cookie, the JSON pointer, or both marks."""

    name: str
    way: Literal["header", "cookie", "json", "between"]
    what: tuple[str, ...]


class StepSpec(Spec):
    """One request; method and statuses are those of the class of the same number in `web`."""

    name: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: BodySpec | None
    texts: tuple[str, ...]
    take: tuple[TakeSpec, ...]
    think_s: float


class SessionWorkload(OverWeb):
    """Sessions; `prefix` stands before each path that begins with no value."""

    kind: Literal["web-session"] = "web-session"
    keep_cookies: Literal["session", "client", "off"]
    cookies: tuple[tuple[str, str], ...]
    steps: tuple[StepSpec, ...] = Field(min_length=1)

    @property
    def rehearsed(self) -> bool:
        """See Workload: whether its values are found only a session itself can tell."""
        return True

    @property
    def learning(self) -> Self:
        return self.model_copy(update={"web": self.web.model_copy(update={"learn": True})})

    @property
    def pauses_s(self) -> float:
        return sum(step.think_s for step in self.steps)

    def objection(self, figures: dict[str, Any]) -> str | None:
        """See Workload: where the session broke, and why."""
        failed = figures.get("failed", {}).get("requests", {})
        for step, faults in failed.items():
            fault = next(iter(faults), "it failed")
            text = f"status {fault}" if fault.isdigit() else fault.replace("_", " ")
            return f"{text} in step {step}: correct the session file, or the server"
        return None


PART = SessionWorkload
