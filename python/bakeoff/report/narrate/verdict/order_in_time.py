"""That a lead changed hands while a run went on, in words."""

from __future__ import annotations

from bakeoff.compare.verdict.order_in_time import Turned
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@sentence.register
def turned(one: Turned) -> str:
    """The end of a sentence."""
    return (
        f"the order turned while the run went on: {one.first} led by {wording.ratio(one.before)} in all blocks before "
        f"block {one.at}, {one.later} by {wording.ratio(one.after)} from then on, and their mean describes neither"
    )
