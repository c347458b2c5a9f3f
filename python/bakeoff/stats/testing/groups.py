"""Do groups differ by more than their members do among each other?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special


def groups_differ(groups: Sequence[NDArray[np.float64]]) -> float:
    """The p value of equal means: one-way analysis of variance over the members of the groups.

    NaN where it cannot be told: fewer than two groups, or no group with two members.
    """
    filled = [group for group in groups if len(group)]
    members = sum(map(len, filled))
    between, within = len(filled) - 1, members - len(filled)
    if between < 1 or within < 1:
        return float("nan")
    mean = np.concatenate(filled).mean()
    apart = sum(len(group) * (group.mean() - mean) ** 2 for group in filled) / between
    inside = sum(((group - group.mean()) ** 2).sum() for group in filled) / within
    if inside <= 0.0:
        return 0.0 if apart > 0.0 else 1.0
    return float(special.fdtrc(between, within, apart / inside))
