"""What decides under open-loop load: fixed before a run starts, the same in its plan and in what is said of it."""

from collections.abc import Sequence

from bakeoff.core.thresholds import P95_OPERATIONS, P99_OPERATIONS
from bakeoff.load.load_step import LoadStep, Rate

# A contender that answers less than this share of what was offered is overloaded.
SUSTAINED_SHARE = 0.99
# Figures of a response time by how many answers each needs in a trial; what decides is the first that all load steps
# allow.
DECIDING: Sequence[tuple[str, int, str]] = (
    ("p99", P99_OPERATIONS, "99th percentile of response time"),
    ("p95", P95_OPERATIONS, "95th percentile of response time"),
    ("p50", 0, "median response time"),
)

PRIMARY = (
    "geometric mean over the rates of the ratio of the {figure}, which counts from the planned start; a contender that "
    "is overloaded (it answers less than 99 % of what was offered, a pause aside) forfeits that rate; where both are, "
    "the ratio of what they answer per second stands for it"
)


def deciding(
    load_steps: Sequence[LoadStep], begin_s: float, end_s: float, length_s: float, operations: int | None
) -> str:
    """The figure of response time that decides, by its key: the highest percentile that the fewest starts planned for
    the window of a load step allow. `operations` bounds a trial where it is given.
    """
    rates = [load_step for load_step in load_steps if isinstance(load_step, Rate)]
    planned = [load_step.arrivals.planned(load_step.per_s, begin_s, end_s, length_s) for load_step in rates]
    fewest = min(planned, default=0.0) if operations is None else float(operations)
    return next(key for key, needed, _ in DECIDING if not fewest < needed)


def words_of(figure: str) -> str:
    """A figure in words: `99th percentile of response time`."""
    return next(words for key, _, words in DECIDING if key == figure)
