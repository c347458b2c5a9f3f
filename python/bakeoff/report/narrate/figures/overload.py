"""Overload points in words."""

from __future__ import annotations

from bakeoff.compare.model.comparison import OverloadPoint
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@sentence.register
def overload_text(told: OverloadPoint) -> str:
    """ "overloaded from 5,000 operations/s on (sustains 2,000; 95 % interval 2,000 to 5,000; 8 blocks)"."""
    if not told.blocks:
        return "not known: trials are missing"
    if told.overload_load_step is None:
        at = f"overloaded at no rate up to {told.unit.load(told.highest_load_step)}"
    elif told.sustained_load_step is None:
        at = f"overloaded from {told.unit.load(told.overload_load_step)} on, the lowest rate"
    else:
        at = f"overloaded from {told.unit.load(told.overload_load_step)} on"
    details = (
        [f"sustains {told.sustained_load_step.number}"]
        if told.sustained_load_step is not None and told.overload_load_step
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
