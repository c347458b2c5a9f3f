"""What factors do, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from bakeoff.compare.collections.campaign_model import SuiteEffect
from bakeoff.compare.limits.capacity_model import CAPACITY
from bakeoff.compare.model.comparison import Comparison, Measure
from bakeoff.compare.model.factor import (
    Effect,
    EffectAt,
    EffectVerdict,
    FactorComparison,
    FactorLevels,
    NotMeasured,
    TrialsForfeited,
    TrialsUnusable,
)
from bakeoff.compare.verdict.why_open import why_of
from bakeoff.plan.design.factors import SERVER
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.report.narrate.verdict.verdicts import open_text, with_open

VerdictText = tuple[str, str]
NOT_EQUAL = "not equal"


def label(factor: str, level: str) -> str:
    """ "raid 5", and "server nginx": a level alone would be taken for a contender."""
    return f"{factor} {level}"


def effect_words(effect: Effect | SuiteEffect) -> str:
    """ "effect of raid (0 ÷ 5)"; of interactions "server × raid", with the levels where there are more than two. No
    pair of contenders is named so.
    """
    if effect.is_main:
        return f"effect of {effect.factors[0]} ({effect.above[0]} ÷ {effect.below[0]})"
    return " × ".join(effect.factors)


def levels_words(effect: Effect | SuiteEffect) -> str:
    """The levels that an interaction holds against each other: "server apache ÷ server nginx, raid 0 ÷ raid 5"."""
    ends = zip(effect.factors, effect.above, effect.below, strict=True)
    return ", ".join(f"{label(factor, above)} ÷ {label(factor, below)}" for factor, above, below in ends)


def title_words(effect: Effect | SuiteEffect) -> str:
    """ "effect of raid (0 ÷ 5)", "server × raid: server apache ÷ server nginx, raid 0 ÷ raid 5"."""
    return effect_words(effect) if effect.is_main else f"{effect_words(effect)}: {levels_words(effect)}"


@sentence.register
def verdict_text(verdict: EffectVerdict) -> str:
    """What may be said of an effect, with what an answer would still take."""
    return with_open(bare(verdict), verdict.still)


def bare(verdict: EffectVerdict) -> str:
    """The same without that."""
    match verdict.kind:
        case "not_estimated":
            return "cannot be estimated"
        case "too_few":
            return f"no verdict: {wording.plural(verdict.blocks, 'usable block')}"
        case "withheld":
            return f"withheld: {_decisive(verdict)}"
        case "equivalent":
            return f"the same within ±{wording.percent(verdict.margin)}"
        case "near_margin":
            return f"{NOT_EQUAL}; whether by more than {wording.percent(verdict.margin)} is open"
        case "inconclusive":
            return "not shown to differ"
        case "shown":
            return f"{label(*verdict.better)} better" if verdict.better else "depend on each other"


def _decisive(verdict: EffectVerdict) -> str:
    return "; ".join(dict.fromkeys(map(gate_text, verdict.decisive)))


def _why_open(verdict: EffectVerdict, before: str) -> str:
    why = why_of(verdict.still)
    return f"{before}{sentence(why)}" if why else ""


@sentence.register
def not_measured(fact: NotMeasured) -> str:
    """Why a combination is part of no effect, as those that follow."""
    return "was not measured"


@sentence.register
def trials_forfeited(fact: TrialsForfeited) -> str:
    """Of losses."""
    return f"forfeited {fact.trials} of {wording.plural(fact.of, 'trial')} ({sentence(fact.reason)})"


@sentence.register
def trials_unusable(fact: TrialsUnusable) -> str:
    """Of trials without figures."""
    return f"has {fact.trials} of {wording.plural(fact.of, 'trial')} {'voided' if fact.voided else 'without figures'}"


def not_estimated(found: FactorComparison) -> list[str]:
    """What no number can be given of, and why."""
    factors, combinations, effects = found.factors, found.combinations, found.effects
    sentences = [
        f"{one.contender} {sentence(one.missing)}: it is part of no effect." for one in combinations if one.missing
    ]
    known = {tuple(one.levels.values()) for one in combinations}
    whole_design = [] if found.is_partial else product(*(factor.levels for factor in factors))
    absent = [levels for levels in whole_design if levels not in known]
    if absent:
        named = [_combination(factors, levels) for levels in absent[:3]]
        more = [f"{len(absent) - 3} more combinations"] if len(absent) > 3 else []
        sentences.append(f"Not among the contenders: {wording.names([*named, *more])}.")
    lacking: dict[str, None] = {}
    for effect in effects:
        if not effect.estimated:
            whole = all(not other.estimated for other in effects if other.factors == effect.factors)
            lacking[_named(effect, whole)] = None
    if lacking:
        sentences.append(f"Cannot be estimated: {wording.names(list(lacking))}.")
    for effect in effects:
        if effect.estimated and effect.contexts < effect.contexts_wanted:
            sentences.append(
                f"{wording.sentence(_named(effect, False))} is a mean over {effect.contexts} of "
                f"{wording.plural(effect.contexts_wanted, 'combination')} of the other factors."
            )
    return sentences


def _combination(factors: Sequence[FactorLevels], levels: Sequence[str]) -> str:
    return " with ".join(label(factor.name, level) for factor, level in zip(factors, levels, strict=True))


def _named(effect: Effect, whole: bool) -> str:
    if effect.is_main:
        return f"the effect of {effect.factors[0]}" if whole else f"the {effect_words(effect)}"
    levels = "" if whole else f" ({levels_words(effect)})"
    return f"the interaction of {wording.names(list(effect.factors))}{levels}"


def without_level(found: Comparison) -> list[str]:
    """The contenders that have no level of any factor, and take no part in what these do."""
    named = [] if found.factors is None else [one.contender for one in found.factors.combinations]
    return [contender.name for contender in found.contenders if named and contender.name not in named]


def in_headline(found: Comparison) -> list[Sentence]:
    """What factors do, where the pairs do not say it all: of one factor that all contenders have they do."""
    if found.factors is None or (len(found.factors.factors) == 1 and not without_level(found)):
        return []
    return factor_sentences(found.factors, found.measures[0], found.run.delta)


def factor_sentences(own: FactorComparison, decides: Measure, delta: float) -> list[Sentence]:
    """A sentence for each factor, with what the others do to its effect, and one for each interaction of more than two
    that is shown.
    """
    sentences = [_factor(own, factor, decides, delta) for factor in own.factors]
    high = [effect for effect in own.effects if len(effect.factors) > 2 and effect.verdict.kind == "shown"]
    return [*(Sentence(*one) for one in sentences), *(Sentence("better", _high(effect)) for effect in high)]


def _high(effect: Effect) -> str:
    return (
        f"{wording.names(list(effect.factors))} act together (interaction {_reach(effect)}): how two of them depend on "
        "each other is not the same at each level of the rest."
    )


def _factor(found: FactorComparison, factor: FactorLevels, metric: Measure, delta: float) -> VerdictText:
    own = [effect for effect in found.effects if effect.factors == (factor.name,)]
    first = [effect for effect in own if effect.below[0] == factor.levels[0] and effect.estimated]
    if not first:
        return "withheld", f"The effect of {factor.name} cannot be estimated: {_why(found)}."
    others = [other for other in found.factors if other.name != factor.name]
    depends = [other for other in others if _joint(found, factor.name, other.name) == "shown"]
    average = "on average " if depends else ""
    if len(factor.levels) == 2:
        kind, text = _of_two(first[0], metric, delta, average, _from(found, first[0]))
    else:
        kind, text = _of_more(factor, first, metric, average)
    if kind in ("withheld", "too_few"):
        return kind, f"{text}."
    clauses = list(_clauses(found, factor, first, others))
    sentence_text = f"{text}{''.join(clauses)}."
    return ("better" if depends else kind), wording.sentence(sentence_text) if sentence_text.startswith(
        "the "
    ) else sentence_text


def _from(found: FactorComparison, effect: Effect) -> list[str]:
    """From whom an effect is estimated: a mean over others, or a pair of contenders by its names."""
    if effect.contexts > 1:
        return [f"a mean over {effect.contexts} pairs of contenders"]
    if not found.is_partial and len(found.factors) > 1:
        return []
    ends = [
        [one.contender for one in found.combinations if one.levels.get(effect.factors[0]) == level and not one.missing]
        for level in (effect.above[0], effect.below[0])
    ]
    return [f"of {ends[0][0]} and {ends[1][0]} alone"] if [len(end) for end in ends] == [1, 1] else []


def _of_two(effect: Effect, metric: Measure, delta: float, average: str, whose: Sequence[str]) -> VerdictText:
    """What the second level does against the first, up to its end."""
    factor, verdict = effect.factors[0], effect.verdict
    below, above = (label(factor, ends[0]) for ends in (effect.below, effect.above))
    now, past = (_effect_text(effect, metric, average, whose, is_past) for is_past in (False, True))
    if verdict.kind == "withheld":
        return "withheld", f"Verdict on {factor} withheld, {_decisive(verdict)}: {past}"
    if verdict.kind == "too_few":
        return "too_few", f"{past}; {sentence(verdict)}"
    if verdict.kind == "equivalent":
        return "equivalent", f"{above} and {below} are equivalent {average}within ±{wording.percent(delta)}: {now}"
    if verdict.kind == "near_margin":
        return "near_margin", f"{now}; whether it is more than {wording.percent(delta)} is open"
    if verdict.kind == "inconclusive":
        needed = "" if verdict.still is None else open_text(verdict.still)
        return "inconclusive", f"{factor} is not shown to matter {average}".rstrip() + f": {past}" + (
            f"; {needed}" if needed else ""
        )
    return "better", now


def _of_more(factor: FactorLevels, effects: Sequence[Effect], metric: Measure, average: str) -> VerdictText:
    """Each further level against the first."""
    withheld = next((effect.verdict for effect in effects if effect.verdict.kind in ("withheld", "too_few")), None)
    parts = []
    for effect in effects:
        kind = effect.verdict.kind
        why = _why_open(effect.verdict, ": ")
        ending = "" if kind in ("shown", "withheld", "too_few") else f", {bare(effect.verdict)}{why}"
        parts.append(f"{label(factor.name, effect.above[0])} {_reach(effect, ending)}")
    what = _what(metric)
    text = f"{what[0].upper()}{what[1:]} {average}against {label(factor.name, factor.levels[0])}: {'; '.join(parts)}"
    text = f"{text} (95 % intervals, {wording.plural(min(effect.blocks for effect in effects), 'block')})"
    if withheld is not None:
        return withheld.kind, f"{text}; {sentence(withheld)}"
    kinds = [effect.verdict.kind for effect in effects]
    ranked = ("shown", "near_margin", "inconclusive", "equivalent")
    kind = next(kind for kind in ranked if kind in kinds)
    return ("better" if kind == "shown" else kind), text


def _what(metric: Measure) -> str:
    if metric.metric == CAPACITY:
        return "the load carried"
    return f"the {metric.unit}" if metric.higher_is_better else f"the {metric.short}"


def _effect_text(effect: Effect, metric: Measure, average: str, whose: Sequence[str], is_past: bool) -> str:
    """ "raid 0 gives 1.90× the requests/s of raid 5 (95 % interval 1.80–2.00, 8 blocks, a mean over 2 pairs …)"."""
    factor = effect.factors[0]
    below, above = (label(factor, ends[0]) for ends in (effect.below, effect.above))
    basis = [] if math.isnan(effect.low) else [f"95 % interval {wording.interval(effect.low, effect.high)}"]
    basis += [wording.plural(effect.blocks, "block"), *whose]
    if effect.contexts < effect.contexts_wanted:
        basis.append(f"over {effect.contexts} of {wording.plural(effect.contexts_wanted, 'combination')} of the others")
    end = f"{below} ({', '.join(basis)})"
    if not metric.higher_is_better:
        ratio = wording.times(effect.ratio, "that of", effect.low, effect.high)
        return f"the {metric.short} of {above} {'was' if is_past else 'is'} {average}{ratio} {end}"
    carried = metric.metric == CAPACITY
    ratio = wording.times(effect.ratio, "the load of" if carried else f"the {metric.unit} of", effect.low, effect.high)
    verb = ("carries", "carried") if carried else ("gives", "gave")
    return f"{above} {verb[is_past]} {average}{ratio} {end}"


def _joint(found: FactorComparison, one: str, other: str) -> str:
    """What may be said of all interactions of two factors together."""
    kinds = [effect.verdict.kind for effect in _pair(found, one, other)]
    for kind in ("shown", "withheld", "too_few", "near_margin", "inconclusive"):
        if kind in kinds:
            return kind
    # What could not be estimated may be another: only all of them are the same.
    return "equivalent" if set(kinds) == {"equivalent"} else "not_estimated"


def _pair(found: FactorComparison, one: str, other: str) -> list[Effect]:
    return [effect for effect in found.effects if set(effect.factors) == {one, other}]


def _clauses(
    found: FactorComparison, factor: FactorLevels, own: Sequence[Effect], others: Sequence[FactorLevels]
) -> Iterator[str]:
    """How the effect depends on each of the other factors: what is the same first, what is open last."""
    joint = {other.name: _joint(found, factor.name, other.name) for other in others}
    same = [other for other in others if joint[other.name] == "equivalent"]
    if same:
        yield f", the same {wording.names([_everywhere(other) for other in same])}{_size(found, factor, same)}"
    for other in others:
        if joint[other.name] == "shown":
            split = [at for effect in own[:1] for at in effect.at if at.factor == other.name and at.blocks]
            where = ", ".join(_at(at) for at in split) if len(own) == 1 else "see the table"
            yield f"; it depends on the {other.name}: {where}{_size(found, factor, [other])}"
    for other in others:
        size = _size(found, factor, [other])
        if joint[other.name] == "near_margin":
            yield f"; not quite the same {_everywhere(other)}{size}"
        elif joint[other.name] == "inconclusive":
            yield f"; not shown to differ {_between(other)}{size}"
        elif joint[other.name] == "not_estimated":
            yield f"; whether it is the same {_everywhere(other)} cannot be estimated ({_why(found)})"
        elif joint[other.name] == "withheld":
            yield f"; whether it is the same {_everywhere(other)} is withheld"


def _why(found: FactorComparison) -> str:
    missing = [f"{one.contender} {sentence(one.missing)}" for one in found.combinations if one.missing]
    return "; ".join(missing) or "combinations are not among the contenders, or have no block in common"


def _at(at: EffectAt) -> str:
    where = f"on {at.level}" if at.factor == SERVER else f"with {at.factor} {at.level}"
    return f"{where} {wording.ratio(at.ratio, at.low, at.high)} ({wording.interval(at.low, at.high)})"


def _size(found: FactorComparison, factor: FactorLevels, others: Sequence[FactorLevels]) -> str:
    """The interaction in numbers where it is one of one other factor; of more levels the farthest from 1."""
    if len(others) != 1:
        return ""
    effects = [effect for effect in _pair(found, factor.name, others[0].name) if effect.estimated]
    if not effects:
        return ""
    farthest = max(effects, key=lambda effect: abs(math.log(effect.ratio)))
    most = "interaction" if len(effects) == 1 else f"largest of {len(effects)} interactions"
    interval = "" if math.isnan(farthest.low) else f", {wording.interval(farthest.low, farthest.high)}"
    why = _why_open(farthest.verdict, "; ")
    return f" ({most} {wording.ratio(farthest.ratio, farthest.low, farthest.high)}{interval}{why})"


def _everywhere(factor: FactorLevels) -> str:
    number = len(factor.levels)
    if factor.name == SERVER:
        return "on both servers" if number == 2 else f"on all {number} servers"
    if number == 2:
        return f"with {factor.name} {factor.levels[0]} and {factor.levels[1]}"
    return f"at all {number} levels of {factor.name}"


def _between(factor: FactorLevels) -> str:
    return "between the servers" if factor.name == SERVER else f"between the levels of {factor.name}"


def _reach(effect: Effect, ending: str = "") -> str:
    """ "1.90× (1.80–2.00)"."""
    interval = wording.MISSING if math.isnan(effect.low) else wording.interval(effect.low, effect.high)
    return f"{wording.ratio(effect.ratio, effect.low, effect.high)} ({interval}{ending})"
