"""How the threads of this process stand behind those that make load."""

import gc
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress

from bakeoff.agents.machine.listeners import owners, ports_of
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.system.own_process import THIS


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: a collection holds a processor for tens of milliseconds."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def idle_class_of(spec: TrialSpec, can_return: bool) -> tuple[bool, list[int]] | None:
    """Whether the other threads may be in the idle class during a trial, and their processors, none for any; None where
    they are not touched.
    """
    if not THIS.is_own:
        return None
    allowed = os.sched_getaffinity(0)
    contender = owners(ports_of(spec.workload)) if spec.pin else None
    return THIS.may_idle and can_return, spare(allowed, spec.pin, _processors_of(contender or ()))


def spare(allowed: Collection[int], pin: Collection[int] | None, contender: Collection[int]) -> list[int]:
    """Processors that neither load threads nor the contender have; where it leaves none, those that load threads leave;
    none when nobody is known to keep to some.
    """
    left = set(allowed) - set(pin or allowed)
    return sorted(left.difference(contender) or left)


def _processors_of(pids: Iterable[int]) -> set[int]:
    found = set[int]()
    for pid in pids:
        with suppress(OSError):  # it has ended
            found |= os.sched_getaffinity(pid)
    return found
