"""May load threads poll for replies all the time instead of sleeping until they come?

Polling takes a whole core. On the machine of the server it may be the server's own core, or one that it could have
used: there it is only done when the user says so.
"""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import TypeVar

from bakeoff.agents.base import Facts
from bakeoff.agents.spec import TrialSpec
from bakeoff.plan.settings.network import NetworkSettings
from bakeoff.plan.settings.shared import CommonSettings

K = TypeVar("K")


def polls(settings: CommonSettings, addresses: Sequence[str], facts: Facts) -> bool:
    """Whether the load threads of an agent poll instead of sleeping in trials against numeric `addresses` (none: a Unix
    socket).
    """
    if not isinstance(settings, NetworkSettings) or settings.poll == "off":
        return False
    if settings.poll == "on":
        return True
    there = any(_is_of(address, facts) for address in addresses)
    return bool(addresses) and not there and _has_own_cores(settings, facts)


def common_polling(specs: Mapping[K, TrialSpec]) -> dict[K, TrialSpec]:
    """The specifications with one way of waiting for all contenders: they are compared with each other."""
    poll = all(spec.poll for spec in specs.values())
    return {key: spec.model_copy(update={"poll": poll}) for key, spec in specs.items()}


def _has_own_cores(settings: NetworkSettings, facts: Facts) -> bool:
    """A core for each load thread, and when they are not bound to theirs, one more for all else."""
    if settings.pin is not None:
        return len(settings.pin) >= settings.load_threads
    return settings.load_threads < len(facts.processors)


def _is_of(address: str, facts: Facts) -> bool:
    """Whether a numeric `host:port` is the agent's own machine."""
    host = ip_address(address.rpartition(":")[0].strip("[]").partition("%")[0])
    return host.is_loopback or host.is_unspecified or any(host == ip_address(own) for own in facts.addresses)
