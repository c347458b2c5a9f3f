"""Overload points in words."""

from __future__ import annotations

from bakeoff.compare.model.comparison import OverloadPoint
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@sentence.register
def overload_text(point: OverloadPoint) -> str:
    """ "overloaded from 5,000 operations/s on (sustains 2,000; 95 % interval 2,000 to 5,000; 8 blocks)"."""
    if not point.blocks:
        return "not known: trials are missing"
    if point.overload_load_step is None:
        at = f"overloaded at no rate up to {point.unit.load(point.highest_load_step)}"
    elif point.sustained_load_step is None:
        at = f"overloaded from {point.unit.load(point.overload_load_step)} on, the lowest rate"
    else:
        at = f"overloaded from {point.unit.load(point.overload_load_step)} on"
    details = (
        [f"sustains {point.sustained_load_step.number}"]
        if point.sustained_load_step is not None and point.overload_load_step
        else []
    )
    if point.interval and point.low_load_step != point.high_load_step:
        over = f"over {point.highest_load_step.number}"
        low, high = (
            over if load_step is None else load_step.number for load_step in (point.low_load_step, point.high_load_step)
        )
        details.append(f"95 % interval {low} to {high}")
    details.append(
        wording.plural(point.blocks, "block")
        + (" alike" if point.low_load_step == point.high_load_step and point.interval else "")
    )
    return f"{at} ({'; '.join(details)})"
