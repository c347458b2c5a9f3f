"""Which step is most of the time of a contender, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.model import DominantStep
from bakeoff.report.narrate import wording


def dominant_sentences(found: Sequence[DominantStep]) -> list[str]:
    """ "97 % of the sending time of exim is the reply to QUIT (of postfix 3 %)."."""
    return [_sentence(one) for one in found]


def _sentence(one: DominantStep) -> str:
    others = ", ".join(f"of {name} {wording.percent(share)}" for name, share in one.others.items())
    return f"{wording.percent(one.share)} of the {one.of} of {one.contender} is {one.words} ({others})."
