"""Cells weighed as the files of a share are: a file size counts by the number of files that the share has of it.

The weight of a file size is shared evenly by its cells, so that many record sizes give it no more of a say. Classes of
files that no cell has the size of count at the nearest one, by ratio; how many these are is told.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bakeoff.plan.settings.shared import CommonSettings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FileWeights:
    """`shares` of the `files` of `folder` by file size of the cells in bytes, together 1; `folded` of them are
    of other sizes and count at the nearest. `errors` names of the folder could not be looked at.
    """

    folder: str
    files: int
    errors: int
    shares: tuple[tuple[int, float], ...]
    folded: float

    def of(self, sizes: Sequence[int | None]) -> Floats:
        """The weights of cells of these file sizes, together 1; all 0 when the share has no file of any of them."""
        shares = dict(self.shares)
        weights = np.array([shares.get(size or 0, 0.0) / sizes.count(size) for size in sizes], dtype=np.float64)
        total = float(weights.sum())
        return weights / total if total > 0.0 else weights

    def has(self, size: int | None) -> bool:
        """Whether the share has files that count at this size."""
        return dict(self.shares).get(size or 0, 0.0) > 0.0

    def share_of(self, sizes: Iterable[int | None]) -> float:
        """How much of the weight lies on these file sizes."""
        known = set(sizes)
        return math.fsum(share for size, share in self.shares if size in known)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, sizes in KiB."""
        return {
            "folder": self.folder,
            "files": self.files,
            "errors": self.errors,
            "folded_share": self.folded,
            "sizes": [{"file_kib": size / 1024.0, "share": share} for size, share in self.shares],
        }


def weights_of(settings: CommonSettings, sizes: Iterable[int]) -> FileWeights | None:
    """The weights of a plan over the file `sizes` of its cells; None for a plan without."""
    stored = settings.file_weights
    known = sorted(set(sizes))
    if stored is None or not known:
        return None
    counts: dict[int, int] = defaultdict(int)
    folded = 0
    for one in stored.sizes:
        counts[min(known, key=lambda size: abs(math.log(size / one.up_to_bytes)))] += one.files
        folded += one.files if one.up_to_bytes not in known else 0
    total = sum(counts.values())
    if not total:
        return None
    shares = tuple((size, counts[size] / total) for size in known)
    return FileWeights(stored.folder, total, stored.errors, shares, folded / total)
