"""Can this machine run the plan at all? Asked before anything is written or sent."""

import os
import resource
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from bakeoff.errors import LabError, PlanError
from bakeoff.plan.model import Plan
from bakeoff.plan.settings import NetworkSettings
from bakeoff.run.capacity import Demand, Machine, check_ports, check_queues, open_files, this_machine

BASE_BYTES = 4_000_000
TRIAL_BYTES = 24_000
CLASS_BYTES = 6_000
ROW_BYTES = 120


def preflight(plan: Plan, run_file: Path, machine: Machine | None = None) -> list[str]:
    """Raise the limit of open files, look at disk and cores; returns warnings.

    Raises LabError or PlanError with advice when the run could not end well.
    """
    demand, machine = demand_of(plan), machine or this_machine()
    raise_open_files(open_files(demand))
    warnings = [*check_ports(demand, machine), *check_queues(demand, machine)]
    check_disk(run_file, estimate_bytes(plan))
    available = os.sched_getaffinity(0)
    if plan.settings.pin is not None and not set(plan.settings.pin) <= available:
        raise PlanError(
            f"pin names cores {list(plan.settings.pin)}, but this process may use {sorted(available)}: "
            f"choose among these"
        )
    if plan.settings.clock.cores > len(available):
        warnings.append(
            f"{plan.settings.clock.cores} load threads share {len(available)} cores of this machine: set cores "
            f"to {len(available)}"
        )
    shared = [c.name for c in plan.contenders if is_local(c.address)]
    if shared and plan.settings.pin is None:
        warnings.append(
            f"{' and '.join(shared)} run on this machine and share its {len(available)} cores with the load "
            f"generator: figures are steadier when each has cores of its own (--pin {max(available)} for the "
            "generator, `taskset` for the servers)"
        )
    return warnings


def demand_of(plan: Plan) -> Demand:
    """What the plan's largest mix asks of the sockets of this machine."""
    s = plan.settings
    sessions = max(s.mixes) * s.threads
    if not isinstance(s, NetworkSettings):
        return Demand(sessions, by_port=False, leaves=False)
    local = tuple(c.name for c in plan.contenders if is_local(c.address))
    return Demand(
        sessions=sessions,
        load_threads=max(1, min(s.clock.cores, max(s.mixes))),
        addresses=s.source_count,
        closes=s.closes,
        by_port=not all(c.address.startswith(("unix:", "http+unix:")) for c in plan.contenders),
        loopback=local,
        all_loopback=len(local) == len(plan.contenders),
    )


def is_local(address: str) -> bool:
    """Whether an address, as the plan gives it, is plainly this machine."""
    host = urlsplit(address).hostname or ""
    return address.startswith(("unix:", "http+unix:")) or host == "localhost" or host.startswith(("127.", "::1"))


def raise_open_files(needed: int) -> int:
    """Raise the soft limit of open files to the hard one; returns it. Raises LabError when it is under
    `needed`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise LabError(
            f"the largest mix needs {needed} open files, but the limit is {hard}: raise it (`ulimit -Hn "
            f"{needed}` as root) "
            "or use smaller mixes"
        )
    return hard


def estimate_bytes(plan: Plan) -> int:
    """Upper estimate of the size of the run file."""
    seconds = plan.settings.length_s + 1
    sessions = max(plan.settings.mixes) * plan.settings.threads
    trial = TRIAL_BYTES + CLASS_BYTES * len(plan.classes) + ROW_BYTES * (seconds + sessions)
    return int(BASE_BYTES + plan.trials * trial)


def check_disk(run_file: Path, needed: int) -> None:
    """Raises LabError when the disk of the run file has less than `needed` bytes free."""
    folder = run_file.absolute().parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise LabError(
            f"{folder} cannot be used for the run file: {error.strerror}; choose another place with -o"
        ) from None
    if free < needed:
        raise LabError(
            f"the disk of {folder} has {free / 1e6:.1f} MB free, the run file may need {needed / 1e6:.1f} "
            f"MB: free some "
            "space or choose another place with -o"
        )
