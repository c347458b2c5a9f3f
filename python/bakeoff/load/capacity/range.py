"""Where the load is searched, and how closely."""

import math
from dataclasses import dataclass

DIGITS = 5  # of a rate: below any width that a search may have
CLIMB = 4.0  # from a load that met the objective to the next, where nothing is known
GOAL_LOST = 0.01


@dataclass(frozen=True)
class Range:
    """Where to search and how closely: loads from `least` to `most`; bounds at most `width` apart, as a share; each
    load that decides is judged by the majority of `repeats` probes. `whole` loads are numbers of clients.
    """

    least: float
    most: float
    width: float
    repeats: int
    most_probes: int
    whole: bool
    strictest: float = GOAL_LOST

    def rounded(self, load: float) -> float:
        """A load that can be asked for."""
        if self.whole:
            return float(max(1, math.floor(load + 0.5)))
        return float(f"{load:.{DIGITS}g}")
