"""From the runs of a campaign to one comparison: a primary endpoint for each suite, Holm over all of them, and an order
over the suites by their weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from bakeoff.compare import wording
from bakeoff.compare.campaign_model import (
    SCHEMA,
    CampaignComparison,
    OverallPair,
    OverallPlace,
    SuiteResult,
    SuiteVerdict,
)
from bakeoff.compare.model import Comparison, Endpoint, PairComparison
from bakeoff.compare.run import compare_run
from bakeoff.stats.intervals import t_quantile, t_two_sided_p
from bakeoff.stats.multiplicity import holm
from bakeoff.store.records import RunRecord
from bakeoff.thresholds import MINIMUM_BLOCKS

LEVEL = 0.95
ALPHA = 1.0 - LEVEL
NOT_ALONE = {"better": "better in this suite alone", "equivalent": "equivalent in this suite alone"}


@dataclass(frozen=True)
class Measured:
    """A suite of a campaign as it was measured: `run` is None where it was not, and `missing` says why."""

    name: str
    weight: float
    run: RunRecord | None
    missing: str = ""


def compare_campaign(
    name: str,
    title: str,
    contenders: tuple[str, ...],
    measured: Sequence[Measured],
    baseline: str | None = None,
    delta: float | None = None,
) -> CampaignComparison:
    """Compare all contenders over all suites. Raises PlanError as `compare_run` does."""
    suites = tuple(_suite(one, baseline, delta) for one in measured)
    verdicts = _verdicts(suites)
    overall = _overall(contenders, suites)
    places = _places(contenders, suites, overall)
    sentences = _headline(contenders, suites, verdicts, overall, places)
    return CampaignComparison(
        schema=SCHEMA,
        name=name,
        title=title,
        contenders=contenders,
        suites=suites,
        verdicts=verdicts,
        overall=overall,
        places=places,
        headline=tuple(text for text, _ in sentences),
        headline_kinds=tuple(kind for _, kind in sentences),
    )


def _suite(one: Measured, baseline: str | None, delta: float | None) -> SuiteResult:
    if one.run is None or not one.run.trials:
        return SuiteResult(one.name, one.weight, None, one.missing or "nothing of it was measured yet")
    known = baseline if baseline in [contender.name for contender in one.run.contenders] else None
    return SuiteResult(one.name, one.weight, compare_run(one.run, known, delta), one.missing)


def _compared(suites: Sequence[SuiteResult]) -> list[tuple[SuiteResult, Comparison]]:
    return [(suite, suite.comparison) for suite in suites if suite.comparison is not None]


def _verdicts(suites: Sequence[SuiteResult]) -> tuple[SuiteVerdict, ...]:
    """The verdict of each suite and pair, with Holm over all of these. Within a suite Holm has counted its pairs; here
    it counts them all together from the start.
    """
    ends = [(suite.name, pair, pair.primary) for suite, one in _compared(suites) for pair in one.pairs]
    p_values = holm([end.p_t for _, _, end in ends])
    q_values = holm([end.p_equivalence_adjusted for _, _, end in ends])
    return tuple(
        _verdict(suite, pair, end, float(p), float(q), len(ends))
        for (suite, pair, end), p, q in zip(ends, p_values, q_values, strict=True)
    )


def _verdict(suite: str, pair: PairComparison, end: Endpoint, p: float, q: float, family: int) -> SuiteVerdict:
    kind, winner, text = end.verdict.kind, end.verdict.winner, end.verdict.text
    lost = (kind == "better" and not p <= ALPHA) or (kind == "equivalent" and not q <= ALPHA)
    if lost:
        text = f"inconclusive: {NOT_ALONE[kind]}, not after Holm over {family}"
        kind, winner = "inconclusive", None
    return SuiteVerdict(suite, pair.baseline, pair.contender, end.ratio, end.low, end.high, p, q, kind, winner, text)


@dataclass(frozen=True)
class _Part:
    """What a suite says of a pair: ln(ratio), above 0 good for the second, its error and the degrees of freedom."""

    suite: str
    weight: float
    log: float
    error: float
    freedom: int
    trouble: str
    # By either contender: pairs of trials that it lost outright, of which no ratio tells how far it was behind.
    lost: Mapping[str, int]


def _overall(contenders: Sequence[str], suites: Sequence[SuiteResult]) -> tuple[OverallPair, ...]:
    pairs = [(pair, _parts(pair, suites)) for pair in combinations(contenders, 2)]
    joint = [(pair, parts, *_joint(parts)) for pair, parts in pairs if parts]
    adjusted = holm([p for *_, p in joint])
    return tuple(
        _overall_pair(pair, parts, ratio, low, high, p, float(after), suites)
        for (pair, parts, ratio, low, high, p), after in zip(joint, adjusted, strict=True)
    )


def _parts(pair: tuple[str, str], suites: Sequence[SuiteResult]) -> list[_Part]:
    return [
        part
        for suite, comparison in _compared(suites)
        for one in comparison.pairs
        if {one.baseline, one.contender} == set(pair) and (part := _part(suite, one, pair)) is not None
    ]


def _part(suite: SuiteResult, one: PairComparison, pair: tuple[str, str]) -> _Part | None:
    end = one.primary
    if not end.blocks or not end.ratio > 0.0 or math.isinf(end.ratio):
        return None
    log = math.log(end.ratio) * (1.0 if end.higher_is_better else -1.0)
    if one.baseline != pair[0]:
        log = -log
    few = "" if end.blocks >= MINIMUM_BLOCKS else f"{suite.name} has {wording.plural(end.blocks, 'block')}"
    held = f"{suite.name}: {end.verdict.text}" if end.verdict.kind in ("withheld", "disqualified") else ""
    return _Part(
        suite.name, suite.weight, log, end.log_sd / math.sqrt(end.blocks), end.blocks - 1, held or few, end.lost
    )


def _joint(parts: Sequence[_Part]) -> tuple[float, float, float, float]:
    """Ratio, its interval and the p value of no difference: the weighted mean of the logarithms, whose error has the
    degrees of freedom of Welch and Satterthwaite.
    """
    whole = sum(part.weight for part in parts)
    weights = [part.weight / whole for part in parts]
    mean = sum(weight * part.log for weight, part in zip(weights, parts, strict=True))
    errors = [(weight * part.error) ** 2 for weight, part in zip(weights, parts, strict=True)]
    error = math.sqrt(sum(errors))
    if not all(part.freedom > 0 for part in parts) or not math.isfinite(error):
        return math.exp(mean), math.nan, math.nan, math.nan
    if error == 0.0:
        return math.exp(mean), math.exp(mean), math.exp(mean), 0.0 if mean else 1.0
    freedom = sum(errors) ** 2 / sum(e**2 / part.freedom for e, part in zip(errors, parts, strict=True))
    half = t_quantile(freedom, LEVEL) * error
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half), t_two_sided_p(mean / error, freedom)


def _overall_pair(
    pair: tuple[str, str],
    parts: Sequence[_Part],
    ratio: float,
    low: float,
    high: float,
    p: float,
    adjusted: float,
    suites: Sequence[SuiteResult],
) -> OverallPair:
    without = [suite.name for suite in suites if suite.name not in [part.suite for part in parts]]
    reasons = [part.trouble for part in parts if part.trouble]
    if without:
        reasons.append(f"not both in {wording.names(without)}")
    delta = max(one.run.delta for _, one in _compared(suites))
    if math.isnan(adjusted) or not adjusted <= ALPHA:
        reasons.append("the difference is not shown" if not math.isnan(adjusted) else "no interval")
    elif abs(math.log(ratio)) < math.log1p(delta):
        reasons.append(f"the difference is smaller than {delta:.0%}")
    leader = pair[1] if ratio > 1.0 else pair[0]
    reasons += [f"{leader} lost trials outright in {part.suite}" for part in parts if part.lost.get(leader)]
    names = tuple(part.suite for part in parts)
    winner = None if reasons else leader
    return OverallPair(*pair, names, ratio, low, high, p, adjusted, winner, "; ".join(reasons))


def _places(
    contenders: Sequence[str], suites: Sequence[SuiteResult], overall: Sequence[OverallPair]
) -> tuple[OverallPlace, ...]:
    """As in a run: one stands above another only where it is certain."""
    out = _disqualified(suites)
    ranked = [name for name in contenders if name not in out]
    beaten = {
        name: tuple(
            next(iter({pair.baseline, pair.contender} - {name}))
            for pair in overall
            if pair.winner == name and {pair.baseline, pair.contender} <= set(ranked)
        )
        for name in contenders
    }
    places = []
    for name in contenders:
        if name in out:
            places.append(OverallPlace(name, None, None, ()))
            continue
        above = sum(name in beaten[other] for other in ranked)
        places.append(OverallPlace(name, 1 + above, len(ranked) - len(beaten[name]), beaten[name]))
    return tuple(sorted(places, key=lambda place: (place.first is None, place.first or 0, place.last or 0)))


def _disqualified(suites: Sequence[SuiteResult]) -> set[str]:
    return {
        gate.contender
        for _, one in _compared(suites)
        for pair in one.pairs
        for gate in pair.primary.gates
        if gate.name == "wrong content"
    }


def _headline(
    contenders: Sequence[str],
    suites: Sequence[SuiteResult],
    verdicts: Sequence[SuiteVerdict],
    overall: Sequence[OverallPair],
    places: Sequence[OverallPlace],
) -> list[tuple[str, str]]:
    sentences = [_order_sentence(contenders, suites, overall, places)]
    sentences += [_suite_sentence(suite, verdicts) for suite in suites if suite.comparison is not None]
    sentences += [(f"{suite.name}: {suite.missing}.", "withheld") for suite in suites if suite.missing]
    return sentences


def _order_sentence(
    contenders: Sequence[str],
    suites: Sequence[SuiteResult],
    overall: Sequence[OverallPair],
    places: Sequence[OverallPlace],
) -> tuple[str, str]:
    by = f"{wording.plural(len(_compared(suites)), 'suite')}, {weights_of(suites)}"
    first = next((place.contender for place in places if place.first == place.last == 1), None)
    if first is None:
        return f"No contender is certainly the best over {by}.", "inconclusive"
    if len(contenders) == 2:
        pair = overall[0]
        ratio, low, high = pair.ratio, pair.low, pair.high
        if first == pair.baseline:
            ratio, low, high = 1.0 / ratio, 1.0 / high, 1.0 / low
        other = next(iter({pair.baseline, pair.contender} - {first}))
        reach = f"{wording.ratio(ratio, low, high)} (95 % interval {wording.interval(low, high)})"
        return f"{first} is better over {by}: {reach} as good as {other} on average.", "better"
    rest = "; ".join(f"{place.words} {place.contender}" for place in places)
    return f"{first} is the best over {by}: {rest}.", "better"


def weights_of(suites: Sequence[SuiteResult]) -> str:
    """ "all of one weight", "weights web-static 1, file-mix 2"."""
    if len({suite.weight for suite in suites}) == 1:
        return "all of one weight"
    return "weights " + ", ".join(f"{suite.name} {suite.weight:g}" for suite in suites)


def _suite_sentence(suite: SuiteResult, verdicts: Sequence[SuiteVerdict]) -> tuple[str, str]:
    assert suite.comparison is not None
    own = [verdict for verdict in verdicts if verdict.suite == suite.name]
    if len(own) == 1 and own[0].text.startswith("inconclusive: "):
        one = own[0]
        ratio = f"{wording.ratio(one.ratio, one.low, one.high)} ({wording.interval(one.low, one.high)})"
        return f"{suite.name}: {one.contender} ÷ {one.baseline} {ratio}, {one.text}.", one.kind
    return f"{suite.name}: {suite.comparison.headline[0]}", suite.comparison.headline_kinds[0]
