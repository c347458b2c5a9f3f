"""What httperf prints while it runs: messages, rates of five seconds, counts of each second."""

import json

from bakeoff.agents.result import EngineEvent
from bakeoff.core.errors import GeneratorError


def live_lines(event: EngineEvent) -> list[str] | None:
    """The lines of an event; None for one that is no part of the output. Raises GeneratorError for figures that are
    none.
    """
    if event.level == "print":
        return shown(event.text).split("\n")
    if event.level not in ("rate", "periodic"):
        return None
    try:
        figures = json.loads(event.text)
        if event.level == "periodic":
            return [f"[{event.at_s:.6f} s] 200={figures['200']:d}, 302={figures['302']:d}"]
        lines = [f"reply-rate = {figures['replies_per_s']:<8.1f}"]
        if figures["sessions_per_s"] is not None:
            lines.append(f"session-rate = {figures['sessions_per_s']:<8.1f}")
    except (ValueError, KeyError, TypeError) as error:
        raise GeneratorError(f"the engine's result cannot be read ({str(error)[:200]}): build it again") from None
    return lines


def shown(octets: str) -> str:
    """Bytes of messages as text in UTF-8; those that are none as they are written in Python."""
    return octets.encode("latin-1", "replace").decode("utf-8", "backslashreplace")
