"""What a trial does that ends with its work, and what a run takes on a disk or a link of a known speed."""

from dataclasses import dataclass

# What a network of 1 Gbit/s carries of file data: how long a size takes is told for it where no folder is known.
LINK_BYTES_PER_S = 110e6


@dataclass(frozen=True)
class TrialWork:
    """One trial of a load step: parts that are timed one by one, what of it lasts a set time, and what it moves.

    `layout_bytes` are written before the first trial of a contender and stay for the run; `cache_drops` times the
    caches of the machine are dropped, or a command makes them cold.
    """

    cells: int = 0
    timed_s: float = 0.0
    bytes: int = 0
    calls: int = 0
    layout_bytes: int = 0
    cache_drops: int = 0

    def __add__(self, other: "TrialWork") -> "TrialWork":
        return TrialWork(
            self.cells + other.cells,
            self.timed_s + other.timed_s,
            self.bytes + other.bytes,
            self.calls + other.calls,
            self.layout_bytes + other.layout_bytes,
            self.cache_drops + other.cache_drops,
        )
