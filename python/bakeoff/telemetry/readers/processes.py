"""A process with all its children, by their files below /proc: also those that live for a moment only.

The time of a child that ended is in that of its parent once that has waited for it (`cutime` in proc_pid_stat(5)).
What was counted while it lived must not be counted again then. Of children that nobody waits for, what was seen stays,
and is told apart: the time of others like them, which lived between two samples, nobody knows.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bakeoff.telemetry.readers.proc_text import TICKS_PER_S, number
from bakeoff.telemetry.reading import Reading, SampleError

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
MOST_PROCESSES = 20_000
# Of a 64-bit count, with its sign.
MOST_DIGITS = 20


@dataclass(frozen=True)
class Process:
    """A process as /proc/PID/stat tells it, times in ticks; `waited_*` are those of children that ended."""

    pid: int
    parent: int
    started: int
    user: int
    system: int
    waited_user: int
    waited_system: int
    pages: int

    @property
    def key(self) -> tuple[int, int]:
        """A number is used again, but not with the same start."""
        return self.pid, self.started


def parsed(text: str) -> Process | None:
    """The text of /proc/PID/stat; None for what is none. The name stands in brackets and may hold any."""
    head, bracket, rest = text.rpartition(")")
    words = rest.split()
    pid = head.partition(" ")[0]
    if not bracket or len(words) < 22 or number(pid) is None or max(map(len, words[:22])) > MOST_DIGITS:
        return None
    try:
        parent, user, system, waited_user, waited_system = (int(words[place]) for place in (1, 11, 12, 13, 14))
        return Process(
            int(pid), parent, int(words[19]), user, system, max(0, waited_user), max(0, waited_system), int(words[21])
        )
    except ValueError:
        return None


def process(pid: int, proc: Path = Path("/proc")) -> Process | None:
    """A process that lives; None for one that does not, or is a zombie's number without a file."""
    try:
        return parsed((proc / f"{pid}/stat").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def all_processes(proc: Path = Path("/proc")) -> dict[int, Process]:
    """Those that can be seen."""
    pids = [int(path.name) for path in proc.iterdir() if path.name.isdigit()][:MOST_PROCESSES]
    found = (process(pid, proc) for pid in pids)
    return {each.pid: each for each in found if each is not None}


def forks(proc: Path) -> int | None:
    """How many processes and threads were ever begun; None where nobody tells."""
    try:
        lines = (proc / "stat").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    words = next((line.split() for line in lines if line.startswith("processes ")), [])
    return number(words[1]) if len(words) == 2 else None


def own_of(pid: int, proc: Path = Path("/proc")) -> Reading:
    """A process by itself, with all its threads. Raises SampleError when it is gone."""
    each = process(pid, proc)
    if each is None:
        raise SampleError(f"process {pid} is gone")
    counters = {"own_user_s": each.user / TICKS_PER_S, "own_system_s": each.system / TICKS_PER_S}
    return Reading(counters, {"own_memory_bytes": each.pages * PAGE_BYTES, "own_processes": 1.0})


@dataclass
class _Time:
    user: int = 0
    system: int = 0


def ignores_children(pid: int, proc: Path = Path("/proc")) -> bool:
    """Whether a process ignores SIGCHLD; not where nobody knows."""
    try:
        lines = (proc / f"{pid}/status").read_text(errors="replace").splitlines()
        mask = next(int(line.split()[1], 16) for line in lines if line.startswith("SigIgn:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return False
    return bool(mask >> (signal.SIGCHLD - 1) & 1)


class Tree:
    """A process and its descendants over time. What they used only grows, whatever becomes of them."""

    def __init__(self, root: tuple[int, int], proc: Path = Path("/proc")) -> None:
        self._root, self._proc = root, proc
        self._before: dict[tuple[int, int], Process] = {}
        self._used = _Time()
        # Those for which no other one waits, at the last sample; what was read of parents; and how many of them ended.
        self._alone = frozenset[tuple[int, int]]()
        self._ignoring: dict[tuple[int, int], bool] = {}
        self._ended_alone = 0
        self._forks: int | None = None

    def sample(self) -> Reading:
        """What all of them have used since the first sample. Raises SampleError when the first process is gone."""
        seen = self._seen()
        top = seen.get(self._root[0])
        if top is None or top.key != self._root:
            raise SampleError(f"process {self._root[0]} is gone")
        members = self._members(seen)
        if self._before:
            self._add(members)
        self._before = members
        self._ended_alone += sum(key not in members for key in self._alone)
        self._alone = self._left_alone(members)
        counters = {
            "own_user_s": self._used.user / TICKS_PER_S,
            "own_system_s": self._used.system / TICKS_PER_S,
            "own_unwaited": float(self._ended_alone),
        }
        gauges = {"own_memory_bytes": float(self._memory(members)), "own_processes": float(len(members))}
        return Reading(counters, gauges)

    def _seen(self) -> Mapping[int, Process]:
        """All processes; those that are known where none was begun since: reading all takes a while."""
        begun = forks(self._proc)
        is_same, self._forks = begun is not None and begun == self._forks, begun
        if not is_same:
            return all_processes(self._proc)
        found = (process(pid, self._proc) for pid, _ in self._before)
        return {each.pid: each for each in found if each is not None}

    def _members(self, seen: Mapping[int, Process]) -> dict[tuple[int, int], Process]:
        """The first one, its descendants, and those that were: who loses a parent gets another one."""
        children: dict[int, list[Process]] = {}
        for each in seen.values():
            children.setdefault(each.parent, []).append(each)
        known = [each for each in seen.values() if each.key in self._before]
        members, left = dict[tuple[int, int], Process](), [seen[self._root[0]], *known]
        while left:
            each = left.pop()
            if each.key not in members:
                members[each.key] = each
                left += children.get(each.pid, [])
        return members

    def _left_alone(self, members: Mapping[tuple[int, int], Process]) -> frozenset[tuple[int, int]]:
        """Those whose time nobody has when they end: their parent is none of the server's, or ignores their end."""
        of = {each.pid: each for each in members.values()}
        self._ignoring = {key: known for key, known in self._ignoring.items() if key in members}
        others = [each for key, each in members.items() if key != self._root]
        return frozenset(each.key for each in others if each.parent not in of or self._ignores(of[each.parent]))

    def _ignores(self, parent: Process) -> bool:
        """Whether the end of its children is nothing to it: the kernel then keeps no time of theirs (wait(2))."""
        if parent.key not in self._ignoring:
            self._ignoring[parent.key] = ignores_children(parent.pid, self._proc)
        return self._ignoring[parent.key]

    def _add(self, members: Mapping[tuple[int, int], Process]) -> None:
        gone = [each for key, each in self._before.items() if key not in members]
        for own, waited in (("user", "waited_user"), ("system", "waited_system")):
            grown = ended = 0
            for key, each in members.items():
                before = self._before.get(key)
                grown += getattr(each, own) - (0 if before is None else getattr(before, own))
                ended += getattr(each, waited) - (0 if before is None else getattr(before, waited))
            counted = sum(getattr(each, own) + getattr(each, waited) for each in gone)
            setattr(self._used, own, getattr(self._used, own) + max(0, grown) + max(0, ended - counted))

    def _memory(self, members: Mapping[tuple[int, int], Process]) -> int:
        """Pages of their own, and those that one of them shares, once: forked servers share most of theirs."""
        own = shared = 0
        for each in members.values():
            try:
                words = (self._proc / f"{each.pid}/statm").read_text().split()
                resident, common = int(words[1]), int(words[2])
            except (OSError, ValueError, IndexError):
                continue
            own += max(0, resident - common)
            shared = max(shared, common)
        return (own + shared) * PAGE_BYTES
