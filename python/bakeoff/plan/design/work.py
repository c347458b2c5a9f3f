"""What a trial does that ends with its work, and what a run takes on a disk or a link of a known speed."""

from dataclasses import dataclass

# What a network of 1 Gbit/s carries of file data: how long a size takes is told for it where no folder is known.
LINK_BYTES_PER_S = 110e6


@dataclass(frozen=True)
class Work:
    """One trial of a load step: parts that are timed one by one, what of it lasts a set time, and what it moves.

    `laid_bytes` are written before the first trial of a contender and stay for the run; `emptied` times the caches of
    the machine are dropped, or a command makes them cold.
    """

    cells: int = 0
    timed_s: float = 0.0
    bytes: int = 0
    calls: int = 0
    laid_bytes: int = 0
    emptied: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.cells + other.cells,
            self.timed_s + other.timed_s,
            self.bytes + other.bytes,
            self.calls + other.calls,
            self.laid_bytes + other.laid_bytes,
            self.emptied + other.emptied,
        )
