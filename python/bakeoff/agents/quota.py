"""How many processors the control groups of a process allow it."""

from pathlib import Path

from bakeoff.agents.proc import read_text, whole


def quota_cores(system: Path = Path("/")) -> float | None:
    """Processors that the control groups of this process allow, the least of all levels; None without a limit."""
    quotas: list[float] = []
    for line in read_text(system / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        root, names = system / "sys/fs/cgroup", controllers.split(",")
        if controllers and "cpu" not in names:
            continue
        bases = [root] if not controllers else [root / controllers, root / "cpu"]
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for base in bases:
            for depth in range(len(parts) + 1):
                quotas += _quota(base.joinpath(*parts[:depth]))
    return min(quotas, default=None)


def _quota(group: Path) -> list[float]:
    """The limit of one control group of either version, as a list of none or one."""
    words = read_text(group / "cpu.max").split()
    if not words:
        words = [read_text(group / "cpu.cfs_quota_us"), read_text(group / "cpu.cfs_period_us")]
    limit, period = (whole(word) for word in [*words, "", ""][:2])
    return [limit / period] if limit and period else []
