"""Can the plan be run at all? Asked before anything is written or sent: of each agent by what it is to do, and of the
disk that the run file is to lie on.
"""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

from bakeoff.agents.machine.socket_capacity import Demand
from bakeoff.agents.spec import WHOLE, Slice
from bakeoff.core.errors import GeneratorError
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.network import NetworkSettings

BASE_BYTES = 4_000_000
TRIAL_BYTES = 24_000
CLASS_BYTES = 6_000
ROW_BYTES = 120
# An interval of a soak with both histograms as full as they can be, and its figures.
SOAK_INTERVAL_BYTES = 60_000


def demand_of(plan: Plan, slice_: Slice = WHOLE) -> Demand:
    """What the highest load step of the plan asks of the agent that drives this slice of its clients."""
    s = plan.settings
    clients = slice_.clients(max(s.clients_by_step))
    sessions = clients * s.virtual_users
    if not isinstance(s, NetworkSettings):
        return Demand(sessions, by_port=False, leaves=False, load_threads=s.clock.load_threads, pin=s.pin)
    local = tuple(c.name for c in plan.contenders if is_local(c.address))
    closes = _closes(plan)
    return Demand(
        sessions=sessions,
        threads_at_work=max(1, min(s.clock.load_threads, clients)),
        addresses=s.source_count,
        closes=None if closes is None else -(-closes // slice_.of),
        by_port=not all(c.address.startswith(("unix:", "http+unix:")) for c in plan.contenders),
        loopback=local,
        all_loopback=len(local) == len(plan.contenders),
        load_threads=s.clock.load_threads,
        pin=s.pin,
    )


def _closes(plan: Plan) -> int | None:
    """Connections that a trial of the contender ends from this side with which it ends most; None where only their
    speed decides.
    """
    own = [s.closes for c in plan.contenders if isinstance(s := plan.settings_of(c.name), NetworkSettings)]
    known = [closes for closes in own if closes is not None]
    return max(known, default=0) if len(known) == len(own) else None


def is_local(address: str) -> bool:
    """Whether an address, as the plan gives it, is plainly this machine; of one with several places each of them."""
    if address.startswith(("unix:", "http+unix:")):
        return True
    if "://" in address:
        return _is_here(urlsplit(address).hostname)
    places = (place.rpartition("=")[2] for place in address.split(","))
    return all(_is_here(urlsplit(f"//{place}").hostname) for place in places)


def _is_here(host: str | None) -> bool:
    return host is not None and (host == "localhost" or host.startswith(("127.", "::1")))


def intervals_of(plan: Plan) -> int:
    """How many rows a trial has when it is a soak; 0 when it is none."""
    interval_s = plan.settings.clock.interval_s
    return 0 if interval_s is None else -int(-plan.settings.window_s // interval_s)


def estimate_bytes(plan: Plan) -> int:
    """Upper estimate of the size of the run file."""
    return BASE_BYTES + plan.most_trials * trial_bytes(plan)


def trial_bytes(plan: Plan) -> int:
    """Upper estimate of what one trial adds to the run file."""
    soak_intervals = intervals_of(plan)
    seconds = 0 if soak_intervals else plan.settings.length_s + 1
    sessions = max(plan.settings.clients_by_step) * plan.settings.sessions_per_client
    trial = (
        SOAK_INTERVAL_BYTES * soak_intervals
        + TRIAL_BYTES
        + CLASS_BYTES * len(plan.classes)
        + ROW_BYTES * (seconds + sessions)
    )
    return int(trial)


def check_disk(run_file: Path, needed: int) -> None:
    """Raises GeneratorError when the disk of the run file has less than `needed` bytes free."""
    folder = run_file.absolute().parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise GeneratorError(
            f"{folder} cannot be used for the run file: {error.strerror}; choose another place with -o"
        ) from None
    if free < needed:
        raise GeneratorError(
            f"the disk of {folder} has {free / 1e6:.1f} MB free, the run file may need {needed / 1e6:.1f} MB: free "
            "some space or choose another place with -o"
        )
