"""What is offered and counted a second, in words: operations, or sessions of several requests."""

from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.core.units import format_rate
from bakeoff.load.load_step import LoadStep, Rate


@dataclass(frozen=True)
class LoadUnit:
    """A trial counts `work` a second, and a rate offers `starts` a second, each of `each` `parts` on average: 3
    requests. `each` is 0 where a start is one operation, or nobody knows of how many it is made.
    """

    work: str = "operations"
    starts: str = "operations"
    parts: str = ""
    each: float = 0.0

    def load(self, load_step: LoadStep) -> str:
        """A load step in a sentence: `67 sessions/s = 201 requests/s`, `8 clients`."""
        if not isinstance(load_step, Rate):
            return load_step.words
        return f"{load_step.number} {self.starts}/s{self._made_of(load_step.per_s)}"

    def offered(self, load_step: LoadStep) -> str:
        """A load step while it is measured: `67 sessions/s = 201 requests/s offered`, `67/s offered`."""
        return f"{self.load(load_step)} offered" if isinstance(load_step, Rate) and self.each else load_step.asked

    def rate(self, per_s: float) -> str:
        """What was counted: `67 sessions/s = 201 requests/s`."""
        return format_rate(per_s, self.work) + (self._made_of(per_s) if self.work == self.starts else "")

    def sentence(self, loads: Sequence[float]) -> str:
        """ "67 sessions/s are 201 requests/s: a session has 3 requests." of rising loads a second; empty where a start
        is one operation.
        """
        known = [load for load in loads if load > 0.0]
        if not self.each or not known:
            return ""
        ends = [known[0], known[-1]] if len(known) > 1 else known
        starts, parts = (" to ".join(_number(load * by) for load in ends) for by in (1.0, self.each))
        has = f"{self.each:.3g} {self.parts if self.each != 1.0 else self.parts.removesuffix('s')}"
        one = self.starts.removesuffix("s")
        return f"{starts} {self.starts}/s are {parts} {self.parts}/s: a {one} has {has}."

    def _made_of(self, per_s: float) -> str:
        return f" = {_number(per_s * self.each)} {self.parts}/s" if self.each else ""


OPERATIONS = LoadUnit()
REQUESTS = LoadUnit("requests", "requests")


def _number(per_s: float) -> str:
    return format_rate(per_s).removesuffix("/s")
