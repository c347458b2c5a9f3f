"""What is clear at a rate though the figure that decides is not: medians and high percentiles each by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.estimate.intervals import turned
from bakeoff.compare.model.comparison import Measure
from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.load.load_step import LoadStep, Rate
from bakeoff.report.narrate import wording

WORDS = {"p50": "median", "p95": "p95", "p99": "p99"}


def clear_at_rates(pair: PairComparison, metrics: Sequence[Measure], load_steps: Sequence[LoadStep]) -> list[str]:
    """One sentence, where the endpoint names no winner and a percentile does, or where one cannot be told: "The median
    response time of b is 18 times that of a (95 % interval 17–19); trials are too short for p99: use windows of at
    least 20 s."
    """
    ends = {end.metric: end for end in pair.secondary if end.metric in WORDS}
    is_better = pair.primary.verdict.kind == "better"
    parts = [
        _words(pair, end)
        for end in ends.values()
        if end.verdict.kind == "better" and not (is_better and end.ratio == pair.primary.ratio)
    ]
    rates = [load_step.per_s for load_step in load_steps if isinstance(load_step, Rate)]
    short = [
        (metric, math.ceil(metric.least / min(rates)))
        for metric in metrics
        if metric.metric in ends and metric.least > 1 and rates and ends[metric.metric].blocks < pair.primary.blocks
    ]
    if short:
        names = wording.names([WORDS[metric.metric] for metric, _ in short])
        length_s = max(length for _, length in short)
        parts.append(f"trials are too short for {names}: use windows of at least {length_s:,} s")
    text = "; ".join(parts)
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def _words(pair: PairComparison, end: Endpoint) -> str:
    """ "the median response time of b is 18 times that of a (95 % interval 17–19)"."""
    more = end.ratio > 1.0
    name, other = (pair.contender, pair.baseline) if more else (pair.baseline, pair.contender)
    low, high = (end.low, end.high) if more else turned(end.low, end.high)
    ratio = end.ratio if more else 1.0 / end.ratio
    interval = "" if math.isnan(low) else f" (95 % interval {wording.interval(low, high)})"
    return (
        f"the {WORDS[end.metric]} response time of {name} is {wording.figures(ratio)} times that of {other}{interval}"
    )
