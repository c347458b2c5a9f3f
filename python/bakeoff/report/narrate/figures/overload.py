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
    if told.behind_mix is None:
        at = f"nowhere up to {told.unit.load(told.highest_mix)}"
    elif told.kept_mix is None:
        at = f"at {told.unit.load(told.behind_mix)}, the lowest rate"
    else:
        at = f"at {told.unit.load(told.behind_mix)}"
    details = [f"keeps up with {told.kept_mix.number}"] if told.kept_mix is not None and told.behind_mix else []
    if told.interval and told.low_mix != told.high_mix:
        over = f"over {told.highest_mix.number}"
        low, high = (over if mix is None else mix.number for mix in (told.low_mix, told.high_mix))
        details.append(f"95 % interval {low} to {high}")
    details.append(
        wording.plural(told.blocks, "block") + (" alike" if told.low_mix == told.high_mix and told.interval else "")
    )
    return f"{at} ({'; '.join(details)})"
