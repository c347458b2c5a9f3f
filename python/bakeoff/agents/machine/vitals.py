"""What `bakeoff doctor` asks of this machine beyond the facts that are stored with a run: limits of this process, and
how busy the machine is just now. What cannot be read is None.
"""

import resource
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bakeoff.agents.base import Facts
from bakeoff.agents.machine.proc import read_text, whole
from bakeoff.agents.machine.quota import quota_cores
from bakeoff.agents.machine.socket_capacity import Machine, this_machine

CLOCK_READINGS = 2000
UNKNOWN = Machine(ports=None, reuse=0, listen_queue=None)


@dataclass(frozen=True)
class Vitals:
    """A machine in numbers. Shares are of all processors together, between 0 and 1: `busy_share` is what other
    processes took while it was looked at, `stolen_share` what the hypervisor gave to others meanwhile,
    `stolen_since_boot` ever.

    `environment` is that of `bakeoff.agents.base.Facts`; `open_files` is the hard limit of this process, None without
    one; `quota_cores` the processors that a control group allows; `clock_ns` what a reading of the clock takes at best;
    `io_uring_disabled` the kernel's switch: 0 open, 1 for some groups, 2 for nobody.
    """

    environment: Mapping[str, Any] = field(default_factory=dict)
    sockets: Machine = UNKNOWN
    cores: int = 1
    quota_cores: float | None = None
    open_files: int | None = None
    busy_share: float | None = None
    stolen_share: float | None = None
    stolen_since_boot: float | None = None
    clock_ns: float | None = None
    clock_sources: tuple[str, ...] = ()
    time_waits: int | None = None
    memory_free_bytes: int | None = None
    disk_free_bytes: int | None = None
    io_uring_disabled: int | None = None


def take_vitals(
    facts: Facts,
    folder: Path,
    watch_s: float = 1.0,
    sleep: Callable[[float], None] = time.sleep,
    system: Path = Path("/"),
) -> Vitals:
    """Look at this machine for `watch_s`; `folder` is where run files go, `system` where /proc and /sys are."""
    busy, stolen, ever = _processors(watch_s, sleep)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Vitals(
        environment=facts.environment,
        sockets=this_machine(system / "proc/sys/net"),
        cores=len(facts.processors),
        quota_cores=quota_cores(system),
        open_files=None if hard == resource.RLIM_INFINITY else hard,
        busy_share=busy,
        stolen_share=stolen,
        stolen_since_boot=ever,
        clock_ns=_clock_ns(),
        clock_sources=tuple(
            read_text(system / "sys/devices/system/clocksource/clocksource0/available_clocksource").split()
        ),
        time_waits=time_waits(read_text(system / "proc/net/sockstat")),
        memory_free_bytes=psutil.virtual_memory().available,
        disk_free_bytes=_disk_free(folder),
        io_uring_disabled=whole(read_text(system / "proc/sys/kernel/io_uring_disabled")),
    )


def time_waits(sockstat: str) -> int | None:
    """Sockets in TIME_WAIT, from the text of /proc/net/sockstat."""
    for line in sockstat.splitlines():
        words = line.split()
        if words[:1] == ["TCP:"] and "tw" in words[:-1]:
            return whole(words[words.index("tw") + 1])
    return None


def _processors(watch_s: float, sleep: Callable[[float], None]) -> tuple[float | None, float | None, float | None]:
    """Shares of all processors: what others than this process took, what was stolen, what was stolen since boot."""
    before, own = psutil.cpu_times(), time.process_time()
    sleep(watch_s)
    after, own = psutil.cpu_times(), time.process_time() - own
    total_s = sum(after[:8]) - sum(before[:8])  # guest times are within user times
    if total_s <= 0:
        return None, None, None
    stolen_s = after.steal - before.steal
    idle_s = after.idle + after.iowait - before.idle - before.iowait
    busy_s = max(0.0, total_s - idle_s - stolen_s - own)
    return busy_s / total_s, stolen_s / total_s, after.steal / sum(after[:8])


def _clock_ns() -> float:
    """What a reading of the clock takes, the call from Python included: the best of some."""
    best = float("inf")
    for _ in range(CLOCK_READINGS):
        first, second = time.monotonic_ns(), time.monotonic_ns()
        best = min(best, second - first)
    return best


def _disk_free(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
