"""After the last trial: whoever died of it answers no more, which no figure shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from bakeoff.core.errors import ContenderError, GeneratorError
from bakeoff.plan.model import Plan
from bakeoff.run.contenders.dead_contenders import is_dead
from bakeoff.run.kind import Note
from bakeoff.store.records.run_records import UNRESPONSIVE, TrialRecord
from bakeoff.store.records.unresponsive import unresponsive_text

# So long is asked again whoever did not answer: one that still works off what it was sent is not dead.
PATIENCE_S, RETRY_S = 3.0, 0.1


def gone_notes(
    plan: Plan,
    last: Mapping[str, TrialRecord],
    why_not_asked: Callable[[str], str | None],
    answers: Callable[[str], None],
) -> list[Note]:
    """Who does not answer any more, of those whose `last` trial does not tell it and that were asked until the end.
    Nothing where contenders have reset commands: that of one may have stopped the server of another.
    """
    if any(contender.reset is not None for contender in plan.contenders):
        return []
    asked = [name for name, trial in last.items() if why_not_asked(name) is None and not is_dead([trial])]
    return [
        Note("warning", unresponsive_text(name, why), UNRESPONSIVE, name, why)
        for name, why in unresponsive(asked, answers).items()
    ]


def unresponsive(
    names: Iterable[str], answers: Callable[[str], None], clock: Callable[[], float] = time.monotonic
) -> dict[str, str]:
    """Which of these contenders do not answer, with why: asked one after the other, and those that fail again until all
    patience is over. `answers` raises ContenderError; what the laboratory cannot do says nothing about a contender.
    """
    left, until = list(names), clock() + PATIENCE_S
    while True:
        found = {name: why for name in left if (why := _why(name, answers)) is not None}
        left = list(found)
        if not left or clock() >= until:
            return found
        time.sleep(RETRY_S)


def _why(name: str, answers: Callable[[str], None]) -> str | None:
    try:
        answers(name)
    except ContenderError as error:
        return str(error)
    except GeneratorError:
        return None
    return None
