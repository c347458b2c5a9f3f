"""Can a machine send the load of a plan at all? Asked there, before anything is written or sent."""

import os
import resource

from bakeoff.agents.machine.socket_capacity import Demand, Machine, check_ports, check_queues, open_files, this_machine
from bakeoff.core.errors import GeneratorError, PlanError


def preflight(demand: Demand, machine: Machine | None = None) -> list[str]:
    """Raise the limit of open files, look at ports, queues and cores of this machine; returns warnings.

    Raises GeneratorError or PlanError with advice when a run could not end well.
    """
    machine = machine or this_machine()
    raise_open_files(open_files(demand))
    return [*check_ports(demand, machine), *check_queues(demand, machine), *_check_cores(demand)]


def _check_cores(demand: Demand) -> list[str]:
    available = os.sched_getaffinity(0)
    if demand.pin is not None and not set(demand.pin) <= available:
        raise PlanError(
            f"pin names cores {list(demand.pin)}, but this process may use {sorted(available)}: choose among these"
        )
    warnings = []
    if demand.load_threads > len(available):
        warnings.append(
            f"{demand.load_threads} load threads share {len(available)} cores of this machine: set load_threads to "
            f"{len(available)}"
        )
    if demand.loopback and demand.pin is None:
        *some, last = demand.loopback
        they = (
            f"{', '.join(some)} and {last} run on this machine and share"
            if some
            else f"{last} runs on this machine and shares"
        )
        warnings.append(
            f"{they} its {len(available)} cores with the load "
            f"generator: figures are steadier when each has cores of its own (--pin {max(available)} for the "
            "generator, `taskset` for the servers)"
        )
    return warnings


def raise_open_files(needed: int) -> int:
    """Raise the soft limit of open files to the hard one; returns it. Raises GeneratorError when it is under
    `needed`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise GeneratorError(
            f"the highest load step needs {needed} open files, but the limit is {hard}: raise it (`ulimit -Hn "
            f"{needed}` as root) "
            "or use fewer clients"
        )
    return hard
