"""Why nothing is shown, and what an answer would still take: an inconclusive verdict in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bakeoff.compare.looks import Look
from bakeoff.compare.needed import Needed
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.looks import waits
from bakeoff.report.narrate.sentences import sentence
from bakeoff.stats import FLIP_ALPHA


@dataclass(frozen=True)
class Open:
    """`why` names the test that a difference did not pass though its interval does not reach 1, `needed` what would
    settle it; either may be missing.
    """

    why: str = ""
    needed: Needed | None = None

    def parts(self, look: Look) -> tuple[str, ...]:
        """What of both is there to say at this look."""
        needed = "" if self.needed is None else sentence(self.needed)
        parts = [waits(look)] if look.between else [self.why, waits(look) or needed]
        return tuple(part for part in parts if part)

    def words(self, verdict: str, look: Look) -> str:
        """`verdict` with both, at this look: "inconclusive: about 9 more blocks needed"."""
        told = "; ".join(self.parts(look))
        return f"{verdict}: {told}" if told else verdict


def why_open(
    interval: tuple[float, float], p_flip: float, p_adjusted: float, look: Look, family: str, blocks: int
) -> str:
    """The test that speaks against a difference; empty where the interval says it: it reaches 1, or there is none.
    `p_adjusted` is the p value of the t test after Holm over a `family` ("10 endpoints"; empty: of one), NaN where none
    was made.
    """
    low, high = interval
    if math.isnan(low) or math.isnan(high) or low <= 1.0 <= high:
        return ""
    if look.between:
        return waits(look)
    flips = max(look.alpha, FLIP_ALPHA)
    if p_flip > flips:
        over = wording.plural(blocks, "block")
        return f"p = {wording.probability(p_flip)} of the sign-flip test over {over} is above {flips:.3g}"
    if p_adjusted > look.alpha:
        after = f" after Holm over {family}" if family else ""
        return f"p = {wording.probability(p_adjusted)}{after} is above {look.alpha:.3g}"
    return ""


def family_words(number: int, of: str) -> str:
    """ "10 endpoints"; empty of one, which Holm leaves as it is."""
    return wording.plural(number, of) if number > 1 else ""
