"""May load threads look for replies all the time instead of sleeping until they come?

Looking takes a whole core. On the machine of the server it may be the server's own core, or one that it could have
used: there it is only done when the user says so.
"""

import os
import socket
from collections.abc import Mapping, Sequence

from bakeoff.agents.spec import TrialSpec
from bakeoff.plan.settings import CommonSettings, NetworkSettings


def polls(settings: CommonSettings, addresses: Sequence[str]) -> bool:
    """Whether the load threads of trials against numeric `addresses` (none: a Unix socket) look instead of sleeping."""
    if not isinstance(settings, NetworkSettings) or settings.poll == "off":
        return False
    if settings.poll == "on":
        return True
    return bool(addresses) and not any(map(_is_here, addresses)) and _has_own_cores(settings)


def alike(specs: Mapping[str, TrialSpec]) -> dict[str, TrialSpec]:
    """The specifications with one way of waiting for all contenders: they are compared with each other."""
    poll = all(spec.poll for spec in specs.values())
    return {name: spec.model_copy(update={"poll": poll}) for name, spec in specs.items()}


def _has_own_cores(settings: NetworkSettings) -> bool:
    """A core for each load thread, and when they are not bound to theirs, one more for all else."""
    if settings.pin is not None:
        return len(settings.pin) >= settings.cores
    return settings.cores < len(os.sched_getaffinity(0))


def _is_here(address: str) -> bool:
    """Whether a numeric `host:port` is this machine: only its own addresses can be bound to."""
    host = address.rpartition(":")[0].strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True
