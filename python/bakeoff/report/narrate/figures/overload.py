"""From which rate on contenders fall behind, in words."""

from __future__ import annotations

from bakeoff.compare.model.comparison import FallsBehind
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@sentence.register
def behind_words(told: FallsBehind) -> str:
    """ "at 5,000 operations/s (keeps up with 2,000; 95 % interval 2,000 – 5,000, 8 blocks)"."""
    if not told.blocks:
        return "not known: trials are missing"
    if told.behind_load_step is None:
        at = f"nowhere up to {told.unit.load(told.highest_load_step)}"
    elif told.kept_load_step is None:
        at = f"at {told.unit.load(told.behind_load_step)}, the lowest rate"
    else:
        at = f"at {told.unit.load(told.behind_load_step)}"
    details = (
        [f"keeps up with {told.kept_load_step.number}"]
        if told.kept_load_step is not None and told.behind_load_step
        else []
    )
    if told.interval and told.low_load_step != told.high_load_step:
        over = f"over {told.highest_load_step.number}"
        low, high = (
            over if load_step is None else load_step.number for load_step in (told.low_load_step, told.high_load_step)
        )
        details.append(f"95 % interval {low} to {high}")
    details.append(
        wording.plural(told.blocks, "block")
        + (" alike" if told.low_load_step == told.high_load_step and told.interval else "")
    )
    return f"{at} ({'; '.join(details)})"
