"""How many processors and how much memory the control groups of a process allow it."""

from collections.abc import Iterator
from pathlib import Path

from bakeoff.agents.machine.proc import read_text, whole


def quota_cores(system: Path = Path("/")) -> float | None:
    """Processors that the control groups of this process allow, the least of all levels; None without a limit."""
    return min((quota for group in _groups(system, "cpu") for quota in _quota(group)), default=None)


def memory_limit_bytes(system: Path = Path("/")) -> int | None:
    """Memory, with that of cached files, which they allow; None without a limit. The first version of control groups
    tells none as a number above all memories.
    """
    names = ("memory.max", "memory.limit_in_bytes")
    found = (whole(read_text(group / name)) for group in _groups(system, "memory") for name in names)
    return min((limit for limit in found if limit), default=None)


def _groups(system: Path, controller: str) -> Iterator[Path]:
    """The control groups of this process that have a controller, with those around them."""
    for line in read_text(system / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        root, names = system / "sys/fs/cgroup", controllers.split(",")
        if controllers and controller not in names:
            continue
        bases = [root] if not controllers else [root / controllers, root / controller]
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for base in bases:
            for depth in range(len(parts) + 1):
                yield base.joinpath(*parts[:depth])


def _quota(group: Path) -> list[float]:
    """The limit of one control group of either version, as a list of none or one."""
    words = read_text(group / "cpu.max").split()
    if not words:
        words = [read_text(group / "cpu.cfs_quota_us"), read_text(group / "cpu.cfs_period_us")]
    limit, period = (whole(word) for word in [*words, "", ""][:2])
    return [limit / period] if limit and period else []
