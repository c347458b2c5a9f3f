"""The report of a collection of 1 … n runs, and what a page of it holds for programs."""

from __future__ import annotations

from typing import Any

from bakeoff.compare.collections.campaign_model import CampaignComparison
from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.blocks.tree import Report
from bakeoff.report.charts.palette import AS_PLANNED, Placed
from bakeoff.report.collections.campaign import compose_campaign, data_of_campaign, facts_of
from bakeoff.report.compose import compose, data_of_run
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.shown_pairs import BASELINE_AND_FEW, ShownPairs
from bakeoff.store.collections.collection import THE_RUN, Collection


def compose_collection(
    collection: Collection,
    found: Comparison | CampaignComparison,
    surfaces: bool = False,
    detail: Detail = Detail.PAGE,
    shown: ShownPairs = BASELINE_AND_FEW,
    among: Placed = AS_PLANNED,
) -> Report:
    """The report for a reader at `detail`, with what was `found`; `among` has the contenders in the author's order and
    colours, where there are any.
    """
    if isinstance(found, Comparison):
        return compose(collection.runs[THE_RUN], found, surfaces, detail, shown, among)
    assert collection.folder is not None
    return compose_campaign(found, collection.folder, facts_of(collection.folder), surfaces, detail, shown, among)


def data_of_collection(collection: Collection, found: Comparison | CampaignComparison) -> dict[str, Any]:
    """What a page holds: with it all that was measured can be measured again."""
    if isinstance(found, Comparison):
        return data_of_run(collection.runs[THE_RUN], found)
    assert collection.folder is not None
    return data_of_campaign(collection.folder, found)
