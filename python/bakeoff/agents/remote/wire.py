"""What crosses between the machine that controls a run and one that sends its load: texts, numbers, bytes and lists.

No class of ours is pickled: another build at the other end is refused by a sentence, not by a traceback.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, TypeAdapter

from bakeoff.agents.base import Facts
from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.result import EngineEvent, IntervalResult, Outcome, Snapshot, SoakInterval, TrialResult
from bakeoff.core.errors import BakeoffError, ContenderError, GeneratorError, PlanError, RunFileError

FACTS = TypeAdapter(Facts)
DEMAND = TypeAdapter(Demand)
# Between pulses; while traffic runs nothing wakes up beside it more often than it must.
PULSE_S, TRAFFIC_PULSE_S = 0.2, 1.0
# Without a word of the other end for so long: the controller gives an agent up, an agent its trial.
SILENCE_S, DEAD_MAN_S = 3.0, 10.0
# Between trials nothing is at stake, and a machine may be busy with looking at a corpus.
IDLE_SILENCE_S = 10.0
BEGIN_S = 60.0  # until a process there says its first word
# A named error of this package, and the text of anything else, which is a defect there.
Answer = tuple[str, Any]
PackedInterval = tuple[str, bytes, bytes | None]
KINDS: tuple[type[BakeoffError], ...] = (PlanError, GeneratorError, ContenderError, RunFileError)
ERRORS = {kind.__name__: kind for kind in KINDS}


class LineDownError(Exception):
    """The other machine does not answer any more; the text says why, as the end of a sentence."""


class Reply(Protocol):
    """An answer that is on its way."""

    def get(self, timeout_s: float) -> Answer:
        """Raises TimeoutError while it is not there, LineDownError when it will never be."""


class Line(Protocol):
    """The way to one machine. All calls may come from any thread."""

    def ask(self, method: str, *words: Any) -> Reply:
        """Have `Host.answer(method, …)` done there."""

    def pulse(self, timeout_s: float) -> str | None:
        """The next pulse of the machine, None when none came. Raises LineDownError. One thread listens."""

    def drop(self) -> None:
        """Let the machine go: what it still does is ended there."""


class Pulse(BaseModel):
    """What a machine tells of itself and of its trial, number `trial`: how far it is, how many events and rows
    there were so far, and at which meeting its clients wait. `folded` says that the snapshot of another agent has its
    figures.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    trial: int | None = None
    armed: bool = False
    over: bool = False
    events: int = 0
    rows: int = 0
    barrier: int = 0
    snapshot: Snapshot | None = None
    folded: bool = False


def answered(work: Callable[[], Any]) -> Answer:
    """What `work` gives, or the class and the sentence of the error that a user can put right."""
    try:
        return "", work()
    except BakeoffError as error:
        return (type(error).__name__ if type(error).__name__ in ERRORS else "GeneratorError"), str(error)


def opened(answer: Answer) -> Any:
    """What was answered; raises the error that was."""
    kind, content = answer
    if kind:
        raise ERRORS.get(kind, GeneratorError)(str(content))
    return content


def pack_outcome(outcome: Outcome) -> tuple[str, dict[str, bytes]]:
    """An outcome as it crosses: figures as JSON, histograms as bytes."""
    return outcome.result.model_dump_json(), dict(outcome.histograms)


def unpack_outcome(sent: tuple[str, dict[str, bytes]]) -> Outcome:
    """The outcome that crossed."""
    return Outcome(TrialResult.model_validate_json(sent[0]), dict(sent[1]))


def pack_interval(row: SoakInterval) -> PackedInterval:
    """An interval of a soak as it crosses."""
    return row.figures.model_dump_json(), row.service, row.response


def unpack_interval(sent: PackedInterval) -> SoakInterval:
    """The row that crossed."""
    return SoakInterval(IntervalResult.model_validate_json(sent[0]), sent[1], sent[2])


def pack_events(events: Sequence[EngineEvent]) -> str:
    """Events as they cross."""
    return json.dumps([event.model_dump() for event in events])


def unpack_events(text: str) -> list[EngineEvent]:
    """The events that crossed."""
    return [EngineEvent.model_validate(event) for event in json.loads(text)]
