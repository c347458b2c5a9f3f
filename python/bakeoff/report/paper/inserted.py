"""Numbers that an author's text takes from the comparison: `{ratio suite=web-static contender=b}`.

They are asked for by name, so that whoever has the comparison can insert them again and see that they are the same.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from bakeoff.compare.estimate.intervals import turned
from bakeoff.compare.model.comparison import Comparison, ContenderSummary
from bakeoff.compare.model.pair import Endpoint, PairComparison, RatioPoint
from bakeoff.core.errors import PlanError
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.report.narrate import wording

NO_VERDICT = ("withheld", "disqualified")
Pick = Callable[..., RatioPoint]
# Load steps that may be named by what they are for the contender.
PICKS: Mapping[str, Pick] = {"best": max, "worst": min}


def inserted(asked: str, comparisons: Mapping[str, Comparison]) -> dict[str, Any]:
    """What is `asked` for: its `text` and the figures that it is made of. `comparisons` are by the name of the suite.

    Raises PlanError, a sentence that goes on after what was asked for.
    """
    name, keys = _parsed(asked)
    suite = keys.pop("suite", None)
    comparison = _of(comparisons, suite)
    make, known = NUMBERS[name]
    for key in keys:
        if key not in known:
            raise PlanError(f"has an unknown key {key!r}: {did_you_mean(key, (*known, 'suite'))}")
    text, values = make(comparison, keys)
    plain = {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in values}
    return {"asked": asked, "suite": suite or next(iter(comparisons)), "text": text, **plain}


Made = tuple[str, tuple[tuple[str, Any], ...]]


def _parsed(asked: str) -> tuple[str, dict[str, str]]:
    try:
        words = shlex.split(asked)
    except ValueError:
        raise PlanError("has a quotation mark that is not closed: close it") from None
    name = words[0] if words else ""
    if name not in NUMBERS:
        raise PlanError(f"is no number of the comparison: {did_you_mean(name, NUMBERS)}")
    keys = {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or not value or key in keys:
            raise PlanError(f"has {word!r} where KEY=VALUE is wanted, each key once: {{ratio contender=NAME}}")
        keys[key] = value
    return name, keys


def _of(comparisons: Mapping[str, Comparison], suite: str | None) -> Comparison:
    if suite is None:
        if len(comparisons) > 1:
            raise PlanError(f"says not of which suite: add suite=NAME, one of {', '.join(comparisons)}")
        return next(iter(comparisons.values()))
    if suite not in comparisons:
        raise PlanError(f"asks for suite {suite!r}, which has no figures here: {did_you_mean(suite, comparisons)}")
    return comparisons[suite]


def _contender(comparison: Comparison, keys: Mapping[str, str], key: str = "contender") -> ContenderSummary:
    known = {contender.name: contender for contender in comparison.contenders}
    if key not in keys:
        raise PlanError(f"says not of whom: add {key}=NAME, one of {', '.join(known)}")
    if keys[key] not in known:
        raise PlanError(f"asks for {key} {keys[key]!r}: {did_you_mean(keys[key], known)}")
    return known[keys[key]]


def pair_of(comparison: Comparison, contender: str, baseline: str) -> tuple[PairComparison, bool]:
    """The pair of two contenders, and whether it is the other way round. Raises PlanError where there is none."""
    for pair in comparison.pairs:
        if (pair.contender, pair.baseline) == (contender, baseline):
            return pair, False
        if (pair.baseline, pair.contender) == (contender, baseline):
            return pair, True
    raise PlanError(f"compares {contender} with {baseline}: there is no such pair")


def _endpoint(pair: PairComparison, metric: str | None) -> Endpoint:
    known = {endpoint.metric: endpoint for endpoint in (pair.primary, *pair.secondary)}
    if metric is None:
        return pair.primary
    if metric not in known:
        raise PlanError(f"asks for metric {metric!r}: {did_you_mean(metric, known)}")
    return known[metric]


@dataclass(frozen=True)
class _Asked:
    """A ratio of a pair, the way round that was asked for, over all load steps or `at` one."""

    contender: str
    baseline: str
    ratio: float
    low: float
    high: float
    kind: str
    at: LoadStep | None = None

    @property
    def taken_away(self) -> str:
        """What is told with the number where there is no verdict."""
        marks = {"withheld": " [verdict withheld]", "disqualified": " [disqualified]", "too_few": " [no verdict]"}
        return marks.get(self.kind, "")

    @property
    def values(self) -> tuple[tuple[str, Any], ...]:
        """What is kept of it."""
        where = () if self.at is None else (("load_step", f"{self.at}"),)
        return (("ratio", self.ratio), ("low", self.low), ("high", self.high), ("verdict", self.kind), *where)


def _asked(comparison: Comparison, keys: Mapping[str, str], pick: Pick | None = None) -> _Asked:
    """The ratio over all load steps, at the one that is named, or at the one that `pick` takes."""
    name = _contender(comparison, keys).name
    baseline = _contender(comparison, {"baseline": comparison.run.baseline, **keys}, "baseline").name
    pair, is_turned = pair_of(comparison, name, baseline)
    endpoint = _endpoint(pair, keys.get("metric"))
    found: Endpoint | RatioPoint = _at(pair, endpoint, keys["load_step"]) if "load_step" in keys else endpoint
    if pick is not None:
        found = pick(_points(pair, endpoint), key=lambda point: _gain(point, endpoint, is_turned))
    value, low, high = found.ratio, found.low, found.high
    if is_turned:
        value, (low, high) = 1.0 / value if value else math.nan, turned(low, high)
    kind = found.verdict.kind if pair.primary.verdict.kind not in NO_VERDICT else pair.primary.verdict.kind
    return _Asked(name, baseline, value, low, high, kind, found.load_step if isinstance(found, RatioPoint) else None)


def _points(pair: PairComparison, endpoint: Endpoint) -> list[RatioPoint]:
    """The load steps at which there is a ratio of what was measured of both."""
    curve = next((curve for curve in pair.curves if curve.metric == endpoint.metric), None)
    points = [] if curve is None else list(curve.measured)
    if not points:
        raise PlanError(f"asks for a load step of {endpoint.title}, and none has a ratio: leave it out")
    return points


def _gain(point: RatioPoint, endpoint: Endpoint, is_turned: bool) -> float:
    """How good a load step is for the one that was asked for."""
    return math.log(point.ratio) * (1.0 if endpoint.higher_is_better != is_turned else -1.0)


def _ratio(comparison: Comparison, keys: Mapping[str, str]) -> Made:
    """The ratio over all load steps, or at one, with its interval; a verdict that was taken away is told with it."""
    found = _asked(comparison, keys)
    return f"{_with_interval(found)}{found.taken_away}", found.values


def _extreme(pick: Pick, comparison: Comparison, keys: Mapping[str, str]) -> Made:
    """The ratio at the load step at which the contender is best, or worst."""
    found = _asked(comparison, keys, pick)
    assert found.at is not None
    return f"{_with_interval(found)} at {found.at.words}{found.taken_away}", found.values


def _span(comparison: Comparison, keys: Mapping[str, str]) -> Made:
    """The ratios at the worst and at the best load step for the contender."""
    worst, best = (_asked(comparison, keys, pick) for pick in (min, max))
    assert worst.at is not None and best.at is not None
    ends = " to ".join(f"{wording.ratio(one.ratio, one.low, one.high)} at {one.at.words}" for one in (worst, best))  # type: ignore[union-attr]
    kept = {f"{name}_{key}": value for name, one in (("worst", worst), ("best", best)) for key, value in one.values}
    return f"from {ends}{best.taken_away}", tuple(kept.items())


def _percent(comparison: Comparison, keys: Mapping[str, str]) -> Made:
    """By how many percent, from either side: "78 % less than a (1 − ratio); a 355 % more than b (1 ÷ ratio − 1)"."""
    pick = PICKS.get(keys.get("load_step", ""))
    kept = {key: value for key, value in keys.items() if key != "load_step"} if pick else keys
    found = _asked(comparison, kept, pick)
    at = f" at {found.at.words}" if found.at is not None else ""
    words = wording.percent_both_ways(found.ratio, found.contender, found.baseline)
    return f"{words}{at}{found.taken_away}", found.values


def _with_interval(found: _Asked) -> str:
    return f"{wording.ratio(found.ratio, found.low, found.high)} ({_interval(found.low, found.high)})"


def _interval(low: float, high: float) -> str:
    return "no interval" if math.isnan(low) or math.isnan(high) else wording.interval(low, high)


def _at(pair: PairComparison, endpoint: Endpoint, load_step: str) -> RatioPoint:
    curve = next((curve for curve in pair.curves if curve.metric == endpoint.metric), None)
    known = {f"{point.load_step}": point for point in curve.points} if curve else {}
    if load_step not in known:
        raise PlanError(f"asks for load step {load_step!r} of {endpoint.title}: {did_you_mean(load_step, known)}")
    return known[load_step]


def _peak(comparison: Comparison, keys: Mapping[str, str]) -> Made:
    contender = _contender(comparison, keys)
    if contender.peak_is_bimodal:
        raise PlanError(
            f"asks for a peak, and {contender.name} has no one peak, as its blocks differ too much: leave it out"
        )
    if not math.isfinite(contender.peak):
        raise PlanError(f"asks for a peak, and {contender.name} has none, as no trial of it counts: leave it out")
    interval = f" ({wording.span(contender.peak_low, contender.peak_high)})"
    text = f"{wording.rate(contender.peak)} {comparison.run.rate_unit}" + interval * math.isfinite(contender.peak_low)
    return text, (("value", contender.peak), ("low", contender.peak_low), ("high", contender.peak_high))


def _errors(comparison: Comparison, keys: Mapping[str, str]) -> Made:
    share = _contender(comparison, keys).error_share
    planned, done = comparison.run.trials_planned, sum(comparison.run.trials.values())
    # Who was gone has failed none of what it was not asked any more.
    rest = f" (of {done:,} of {planned:,} trials)" if done < planned else ""
    return wording.percent(share) + rest, (("value", share),)


def _blocks(comparison: Comparison, keys: Mapping[str, str]) -> Made:
    blocks = comparison.run.blocks_measured
    return wording.plural(blocks, "block"), (("value", blocks),)


# What may be inserted, and the keys of each beside `suite`.
NUMBERS: Mapping[str, tuple[Callable[[Comparison, Mapping[str, str]], Made], tuple[str, ...]]] = {
    "ratio": (_ratio, ("contender", "baseline", "metric", "load_step")),
    "percent": (_percent, ("contender", "baseline", "metric", "load_step")),
    "best": (partial(_extreme, max), ("contender", "baseline", "metric")),
    "worst": (partial(_extreme, min), ("contender", "baseline", "metric")),
    "span": (_span, ("contender", "baseline", "metric")),
    "peak": (_peak, ("contender",)),
    "errors": (_errors, ("contender",)),
    "blocks": (_blocks, ()),
}
