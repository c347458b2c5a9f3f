"""What cells are weighted by, in words."""

from __future__ import annotations

from collections.abc import Iterable

from bakeoff.compare.cube.file_weights import FileWeights
from bakeoff.report.narrate import wording


def weighted(weights: FileWeights) -> str:
    """ "weighted by the file sizes of /srv/share"."""
    return f"weighted by the file sizes of {weights.folder}"


def weights_sentence(weights: FileWeights, measured: Iterable[int | None]) -> str:
    """What the weights are, and how well the cells fit them; `measured` are the file sizes with a ratio."""
    parts = [f"Averages over cells are {weighted(weights)} ({wording.plural(weights.files, 'file')}, by number)"]
    if weights.folded:
        outside = wording.percent(weights.folded)
        parts.append(f"{outside} of them are of sizes outside the matrix and count at the nearest")
    unmeasured = 1.0 - weights.share_of(measured)
    if unmeasured > 1e-9:
        parts.append(f"{wording.percent(unmeasured)} count at sizes that have no ratio, and weigh nothing")
    if weights.errors:
        parts.append(f"{wording.plural(weights.errors, 'name')} of the share could not be read")
    return "; ".join(parts) + "."
