"""Which processors of a machine send load, and which are left to Ray."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bakeoff.agents.cluster.settings import CORES_VARIABLE
from bakeoff.core.errors import PlanError

SPAN = re.compile(r"(?P<first>[0-9]{1,5})(-(?P<last>[0-9]{1,5}))?")


def parse_cores(text: str) -> tuple[int, ...]:
    """The processors of `1-3,6`. Raises PlanError for what is none, or may not be used."""
    usable, found = os.sched_getaffinity(0), set[int]()
    for part in text.split(","):
        span = SPAN.fullmatch(part)
        if span is None:
            raise PlanError(f"{text!r} names no cores: write them as 1,2 or 1-3")
        found |= set(range(int(span["first"]), int(span["last"] or span["first"]) + 1)) or {-1}
    if not found <= usable:
        raise PlanError(f"cores {text} are not all among {sorted(usable)}, which this process may use")
    return tuple(sorted(found))


def divide(pin: str | None, spare: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The processors that send load and those of everything else of Ray: all of both, unless told otherwise. Raises
    PlanError.
    """
    usable = tuple(sorted(os.sched_getaffinity(0)))
    if pin is not None and spare:
        raise PlanError("--pin says which cores send load, and --spare-core all but the first: give one of them")
    if spare and len(usable) < 2:
        raise PlanError("--spare-core leaves a core to Ray, and this process may use one only: join without it")
    load = parse_cores(pin) if pin is not None else usable[1:] if spare else usable
    return load, tuple(core for core in usable if core not in load) or usable


def use_agent_cores() -> None:
    """Keep this process, which is to send load, to the processors that `join` set apart for it, if it did."""
    text = os.environ.get(CORES_VARIABLE)
    if not text:
        return
    cores = _listed(text)
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread.name), cores)


def _listed(text: str) -> Sequence[int]:
    return [int(word) for word in text.split(",")]
