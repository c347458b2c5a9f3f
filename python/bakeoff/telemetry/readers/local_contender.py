"""Contenders on this machine: a process with its children, or a control group."""

from __future__ import annotations

from pathlib import Path

from bakeoff.core.times import s_of, s_of_us
from bakeoff.telemetry.readers.proc_text import number
from bakeoff.telemetry.readers.processes import Tree, process
from bakeoff.telemetry.readers.this_machine import here, read
from bakeoff.telemetry.reading import QuietSource, Reading, SampleError


class WatchedProcess(QuietSource):
    """A process by its number, with its children. Once it is gone nothing more is known: another one with its number
    is another process.
    """

    def __init__(self, pid: int, proc: Path = Path("/proc")) -> None:
        self._pid, self._proc = pid, proc
        self._tree: Tree | None = None

    def sample(self, deadline_s: float) -> Reading:
        if self._tree is None:
            found = process(self._pid, self._proc)
            if found is None:
                raise SampleError(f"there is no process {self._pid}")
            self._tree = Tree(found.key, self._proc)
        return here(self._pid).with_(self._tree.sample())


class WatchedPidFile(QuietSource):
    """The process that a file names. After a restart it is another one, whose counts begin again."""

    def __init__(self, path: Path, proc: Path = Path("/proc")) -> None:
        self._path, self._proc = path, proc
        self._key: tuple[int, int] | None = None
        self._tree: Tree | None = None

    def sample(self, deadline_s: float) -> Reading:
        text = (read(self._path) or "").strip()[:12]
        pid = number(text)
        if pid is None or pid == 0:
            raise SampleError(f"{self._path} names no process")
        found = process(pid, self._proc)
        if found is None:
            raise SampleError(f"{self._path} names process {pid}, which is gone")
        if self._tree is None or found.key != self._key:
            restarted = self._key is not None
            self._key, self._tree = found.key, Tree(found.key, self._proc)
            if restarted:
                self._tree.sample()
                raise SampleError(f"it was started again as process {pid}")
        return here(pid).with_(self._tree.sample())


class WatchedGroup(QuietSource):
    """A control group of version 2, or of version 1 where its controllers have it."""

    def __init__(self, path: str, root: Path = Path("/sys/fs/cgroup")) -> None:
        self._inside, self._root = path.lstrip("/"), root

    def sample(self, deadline_s: float) -> Reading:
        own = self._unified(self._root / self._inside) or self._unified(self._root / "unified" / self._inside)
        own = own or self._split()
        if own is None:
            raise SampleError(f"there is no control group /{self._inside} that counts processor time")
        pids = (read(self._folder() / "cgroup.procs") or "").split()
        pid = number(pids[0]) if pids else None
        own.gauges["own_processes"] = float(len(pids))
        return here(pid).with_(own)

    def _folder(self) -> Path:
        places = (self._root, self._root / "unified", self._root / "cpuacct", self._root / "cpu,cpuacct")
        return next((p / self._inside for p in places if (p / self._inside / "cgroup.procs").exists()), self._root)

    def _unified(self, folder: Path) -> Reading | None:
        found = _table(folder / "cpu.stat")
        user, system = (number(found.get(name, "")) for name in ("user_usec", "system_usec"))
        if user is None or system is None:
            return None
        own = Reading({"own_user_s": s_of_us(user), "own_system_s": s_of_us(system)})
        self._memory(own, folder / "memory.current", ("file", "shmem"))
        return own

    def _split(self) -> Reading | None:
        for name in ("cpuacct", "cpu,cpuacct"):
            folder = self._root / name / self._inside
            user, system = (number((read(folder / f"cpuacct.usage_{of}") or "").strip()) for of in ("user", "sys"))
            if user is not None and system is not None:
                own = Reading({"own_user_s": s_of(user), "own_system_s": s_of(system)})
                usage = self._root / "memory" / self._inside / "memory.usage_in_bytes"
                self._memory(own, usage, ("total_cache", "total_shmem"))
                return own
        return None

    def _memory(self, own: Reading, path: Path, cached: tuple[str, str]) -> None:
        """Without files that the kernel keeps for it, as that of processes; shared memory is among these."""
        used, statistics = number((read(path) or "").strip()), _table(path.with_name("memory.stat"))
        files, shared = (number(statistics.get(name, "")) or 0 for name in cached)
        if used is not None:
            own.gauges["own_memory_bytes"] = float(max(0, used - max(0, files - shared)))


def _table(path: Path) -> dict[str, str]:
    """A file of names and values, a pair in each line."""
    words = (line.split() for line in (read(path) or "").splitlines())
    return {each[0]: each[1] for each in words if len(each) > 1}
