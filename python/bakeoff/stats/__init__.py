"""Statistics of a bake-off: pure functions on arrays. Only NumPy and SciPy are imported here.

The unit of every inference is the block. Ratios are handled as natural logarithms, so that
`a / b` and `b / a` are judged alike.
"""

import bakeoff.stats._one_thread  # noqa: F401 - before all that imports NumPy
from bakeoff.stats.design.factorial import Contrast, at_level, between, block_logs, contrasts
from bakeoff.stats.design.power import (
    FLIP_ALPHA,
    blocks_for_difference,
    blocks_for_equivalence,
    blocks_for_sign_flip,
    blocks_with_power,
    difference_with_power,
    power_of_difference,
    power_of_equivalence,
    spread_interval,
)
from bakeoff.stats.intervals.bands import MAX_T, Bands, simultaneous_bands
from bakeoff.stats.intervals.blocks import (
    MeanInterval,
    PairedRatio,
    finite,
    geometric_interval,
    mean_interval,
    paired_log_ratio,
    ratio_between,
    ratio_by_signs,
    ratio_from_logs,
)
from bakeoff.stats.intervals.order_statistics import median_ranks
from bakeoff.stats.intervals.rows import RowRatios, ratios_by_row
from bakeoff.stats.intervals.strata import OverStrata, Stratum, over_strata, stratum_of
from bakeoff.stats.intervals.unpaired import (
    Apart,
    UnpairedRatio,
    farthest_apart,
    over_groups,
    unpaired_from_logs,
    unpaired_ratio,
)
from bakeoff.stats.series.audit import jain_index, littles_law_clients
from bakeoff.stats.series.change_points import Change, change_points
from bakeoff.stats.series.curve import Collapse, Saturation, collapse_after_peak, saturation, trapezoid_weights
from bakeoff.stats.series.trend import queue_growth
from bakeoff.stats.testing.budget import binomial_at_least
from bakeoff.stats.testing.equivalence import equivalence_p
from bakeoff.stats.testing.group_sequential import nominal_levels, spent
from bakeoff.stats.testing.groups import groups_differ
from bakeoff.stats.testing.limit import AgainstLimit, against_limit, blocks_for_limit
from bakeoff.stats.testing.multiplicity import benjamini_hochberg, fcr_level, holm
from bakeoff.stats.testing.permutation import sign_flip_interval, sign_flip_p, smallest_sign_flip_p
from bakeoff.stats.testing.verdict import Decision, decide, decision_of, more_blocks

__all__ = [
    "FLIP_ALPHA",
    "MAX_T",
    "AgainstLimit",
    "Apart",
    "Bands",
    "Change",
    "Collapse",
    "Contrast",
    "Decision",
    "MeanInterval",
    "OverStrata",
    "PairedRatio",
    "RowRatios",
    "Saturation",
    "Stratum",
    "UnpairedRatio",
    "against_limit",
    "at_level",
    "benjamini_hochberg",
    "between",
    "binomial_at_least",
    "block_logs",
    "blocks_for_difference",
    "blocks_for_equivalence",
    "blocks_for_limit",
    "blocks_for_sign_flip",
    "blocks_with_power",
    "change_points",
    "collapse_after_peak",
    "contrasts",
    "decide",
    "decision_of",
    "difference_with_power",
    "equivalence_p",
    "farthest_apart",
    "fcr_level",
    "finite",
    "geometric_interval",
    "groups_differ",
    "holm",
    "jain_index",
    "littles_law_clients",
    "mean_interval",
    "median_ranks",
    "more_blocks",
    "nominal_levels",
    "over_groups",
    "over_strata",
    "paired_log_ratio",
    "power_of_difference",
    "power_of_equivalence",
    "queue_growth",
    "ratio_between",
    "ratio_by_signs",
    "ratio_from_logs",
    "ratios_by_row",
    "saturation",
    "sign_flip_interval",
    "sign_flip_p",
    "simultaneous_bands",
    "smallest_sign_flip_p",
    "spent",
    "spread_interval",
    "stratum_of",
    "trapezoid_weights",
    "unpaired_from_logs",
    "unpaired_ratio",
]
