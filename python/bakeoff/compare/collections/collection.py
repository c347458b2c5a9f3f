"""From a collection of 1 … n runs to its comparison."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bakeoff.compare.collections.campaign import compare_folder
from bakeoff.compare.collections.campaign_model import CampaignComparison
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.planning.noise_model import NoiseFloor
from bakeoff.compare.run import compare_run
from bakeoff.store.collections.collection import THE_RUN, Collection


def compare_collection(
    collection: Collection,
    baseline: str | None = None,
    delta: float | None = None,
    noise: Mapping[str, NoiseFloor] = MappingProxyType({}),
) -> Comparison | CampaignComparison:
    """What the statistics say: of one run its comparison, of several one over all suites. `noise`, by the names of the
    runs, is what A/A runs have shown of the set-up. Raises PlanError as `compare_run` does.
    """
    if collection.folder is None:
        return compare_run(collection.runs[THE_RUN], baseline, delta, noise=noise.get(THE_RUN))
    return compare_folder(collection.folder, baseline, delta, noise)
