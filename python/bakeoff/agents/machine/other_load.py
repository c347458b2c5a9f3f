"""What others took of this machine during a trial: all that is neither the generator nor the contender measured.

Two samples, before traffic begins and after it has ended, and nothing in between. Processes are told by their own
clocks, which are exact where those of a machine count ticks; threads of the kernel work for those that are measured as
for others, and are nobody's. A contender that is not measured now is one of the others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bakeoff.agents.machine.listeners import is_fuse, owners, ports_of, with_children
from bakeoff.agents.result import OtherLoad, OtherProcess
from bakeoff.core.thresholds import OTHER_LOAD_SHARE, OTHERS_LEAST_S
from bakeoff.core.times import s_of_us
from bakeoff.kinds.spec import Workload
from bakeoff.telemetry.readers.proc_text import TICKS_PER_S
from bakeoff.telemetry.readers.processes import Process, all_processes

KERNEL_THREADS = 2  # their parent
MOST_NAMED = 3
# Less than a share of a processor that is worth a name.
LEAST_NAMED = 0.01
LEAST_SHOWN = 0.05  # in a sentence with one decimal
SAMPLE_S = 0.3

Processes = Mapping[tuple[int, int], Process]


@dataclass(frozen=True)
class Sample:
    """What was seen at one moment; None what this kernel does not tell."""

    at_s: float
    processes: Processes
    pressure_us: int | None
    load_average: float | None


class Others:
    """Made before a trial begins; `told` when it is over. Without a `workload` no contender is told apart."""

    def __init__(
        self,
        workload: Workload | None,
        proc: Path = Path("/proc"),
        clock: Callable[[], float] = time.monotonic,
        own: int | None = None,
    ) -> None:
        self._proc, self._clock, self._own = proc, clock, os.getpid() if own is None else own
        self._ports = frozenset[int]() if workload is None else ports_of(workload)
        self._fuse = workload is not None and is_fuse(workload)
        self._before = self._sample()

    def measure(self) -> OtherLoad | None:
        """What others took since; None where it cannot be told apart from what the contender took."""
        after = self._sample()
        span_s = after.at_s - self._before.at_s
        contender = self._contender()
        if contender is None or span_s <= 0.0:
            return None
        seen = {each.pid: each for each in (*self._before.processes.values(), *after.processes.values())}
        measured = with_children(contender, seen)
        taken = {
            pid: ticks / TICKS_PER_S / span_s
            for pid, ticks in spent(self._before.processes, after.processes).items()
            if pid not in (self._own, KERNEL_THREADS) and seen[pid].parent != KERNEL_THREADS
        }
        others = {pid: share for pid, share in taken.items() if pid not in measured}
        most = sorted(others, key=lambda pid: -others[pid])[:MOST_NAMED]
        return OtherLoad(
            span_s=span_s,
            cores=os.cpu_count() or 1,
            # Of a short time ticks tell more than there was.
            taken=min(sum(others.values()), float(os.cpu_count() or 1)),
            contender=sum(taken[pid] for pid in measured if pid in taken) if self._ports or self._fuse else None,
            processes=tuple(
                OtherProcess(name=_name(self._proc, pid), pid=pid, taken=others[pid])
                for pid in most
                if others[pid] >= LEAST_NAMED
            ),
            pressure_share=_share(self._before.pressure_us, after.pressure_us, span_s),
            load_average=after.load_average,
        )

    def _contender(self) -> frozenset[int] | None:
        if not (self._ports or self._fuse):
            return frozenset()  # on another machine
        return owners(self._ports, self._fuse, self._proc) or None

    def _sample(self) -> Sample:
        seen = all_processes(self._proc).values()
        text = _read(self._proc / "loadavg").split()
        load = float(text[0]) if text and text[0].replace(".", "", 1).isdigit() else None
        return Sample(self._clock(), {each.key: each for each in seen}, _pressure_us(self._proc), load)


def other_load_now(sample_s: float = SAMPLE_S) -> list[str]:
    """A warning when others take this machine's processors now, before anything is measured."""
    others = Others(None)
    time.sleep(sample_s)
    return other_load_texts(others.measure())


def other_load_texts(found: OtherLoad | None) -> list[str]:
    """The same of what was found."""
    if found is None or found.share <= OTHER_LOAD_SHARE or found.taken * found.span_s < OTHERS_LEAST_S:
        return []
    names = [f"{each.name} {each.taken:.1f}" for each in found.processes if each.taken >= LEAST_SHOWN]
    who = f" ({', '.join(names)})" if names else ""
    return [
        f"other processes take {found.taken:.1f} of {found.cores} processors{who}: stop them, or sizes of differences "
        "will be withheld"
    ]


def spent(before: Processes, after: Processes) -> dict[int, int]:
    """Ticks of those that live after, between two samples, with those of children that they waited for: of a child that
    was there before, what it had used until then is not of this time.
    """
    ended: dict[int, int] = {}
    for key, each in before.items():
        if key not in after:
            ended[each.parent] = ended.get(each.parent, 0) + _total(each)
    found = {}
    for key, each in after.items():
        earlier = before.get(key)
        found[each.pid] = max(0, _total(each) - (0 if earlier is None else _total(earlier)))
        grown = (
            each.waited_user
            + each.waited_system
            - (0 if earlier is None else earlier.waited_user + earlier.waited_system)
        )
        found[each.pid] -= min(ended.get(each.pid, 0), max(0, grown), found[each.pid])
    return found


def _total(each: Process) -> int:
    return each.user + each.system + each.waited_user + each.waited_system


def _name(proc: Path, pid: int) -> str:
    return _read(proc / f"{pid}/comm").strip()[:32] or "?"


def _pressure_us(proc: Path) -> int | None:
    """For how long some task waited for a processor since the machine began; None of kernels that do not tell."""
    total = next((word[6:] for word in _read(proc / "pressure/cpu").split() if word.startswith("total=")), "")
    return int(total) if total.isdigit() else None


def _share(before_us: int | None, after_us: int | None, span_s: float) -> float | None:
    if before_us is None or after_us is None:
        return None
    return min(1.0, max(0.0, s_of_us(after_us - before_us) / span_s))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
