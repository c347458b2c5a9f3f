"""What an open question of a suite would still take among those of all suites of a campaign: Holm counts them all."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from bakeoff.compare.estimate.interim import ONLY_ANALYSIS
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.factor import Effect
from bakeoff.compare.model.pair import Endpoint
from bakeoff.compare.verdict.blocks_needed import Needed, needed
from bakeoff.compare.verdict.why_open import Open, Why, open_at
from bakeoff.stats import Decision, PairedRatio, more_blocks


def open_among_all(end: Endpoint | Effect, suite: Comparison, family: int, why: Why | None) -> Open:
    """The `why` of a verdict of `suite`, and what it would take in a `family` of so many pairs, or effects."""
    of: Literal["pairs", "effects"]
    if isinstance(end, Effect):
        # The whole interval of an effect has to lie within the margin.
        found = _needed(end, suite, family, 2 * family, False)
        own, of = 0 if suite.factors is None else suite.factors.family, "effects"
    else:
        found = _needed(end, suite, family, family, any(end.forfeited.values()))
        own, of = len(suite.pairs), "pairs"
    if found is not None and family > own:
        found = replace(found, family=family, of=of)
    return open_at(suite.run.interim or ONLY_ANALYSIS, why, found)


def _needed(end: Endpoint | Effect, suite: Comparison, family: int, equal: int, by_signs: bool) -> Needed | None:
    if not (end.ratio > 0.0 and math.isfinite(end.ratio)):
        return None
    log, delta = math.log(end.ratio), suite.run.delta
    low, high, p_t, p_flip = end.low, end.high, end.p_t, end.p_sign_flip
    seen = PairedRatio(end.blocks, log, end.log_sd, end.ratio, low, high, p_t, p_flip, by_signs=by_signs)
    matters = abs(log) >= math.log1p(delta)
    alpha = (suite.run.interim or ONLY_ANALYSIS).next_alpha / (family if matters else equal)
    return needed(Decision("inconclusive", more_blocks(seen, delta, alpha)), seen, delta, alpha, suite.run.block_s)[1]
