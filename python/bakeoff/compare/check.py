"""From a comparison to a check: is a contender worse than the baseline by more than is allowed?

A check passes only when that is shown, so that few blocks, noise and failures never let a worse server through.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bakeoff.compare.check_model import Check, Checked, CheckedObjective, Outcome
from bakeoff.compare.looks import look_of
from bakeoff.compare.model import Comparison
from bakeoff.compare.needed import blocks_or_noise
from bakeoff.compare.noise import floor_of
from bakeoff.compare.noise_model import NoiseFloor, NoiseQuote
from bakeoff.compare.objective import objective_sentences
from bakeoff.compare.objective_model import Held
from bakeoff.compare.pair_model import Endpoint, PairComparison
from bakeoff.compare.run import compare_run
from bakeoff.errors import PlanError
from bakeoff.plan.messages import did_you_mean
from bakeoff.report.narrate import wording
from bakeoff.stats import AgainstLimit, against_limit, blocks_for_limit, holm
from bakeoff.store.records import CLEAR, RunRecord
from bakeoff.thresholds import MINIMUM_BLOCKS


@dataclass(frozen=True)
class _Judged:
    """An endpoint with what its tests say. More is better on `log_mean` and `log_limit`."""

    pair: PairComparison
    end: Endpoint
    most: float
    log_mean: float
    log_limit: float
    tests: AgainstLimit


def check_run(
    run: RunRecord,
    most: float | None = None,
    baseline: str | None = None,
    also: Mapping[str, float | None] | None = None,
    noise: NoiseFloor | None = None,
) -> tuple[Check, Comparison]:
    """Check every contender of `run` against `baseline` (default: the first of the plan), and the comparison that it
    rests on.

    `most` is the regression that the primary endpoint may have, 0.03 for 3 % (default: the plan's `delta`); `also`
    names further endpoints by their key, with a limit of their own or None for `most`. `noise`, what an A/A run has
    shown of the set-up, is told beside the primary endpoint and decides nothing: no file beside a run lets it pass, or
    fail. Where the plan has an objective, every contender is held to it, and one is enough. Raises PlanError when the
    baseline is no contender, there is none beside it and no objective, an endpoint is not known, or a limit is out of
    range.
    """
    if len(run.contenders) < 2:
        return _check_one(run, most is not None or bool(also), baseline)
    limit = _in_range("--max-regression", run.delta if most is None else most)
    found = compare_run(run, baseline, both=True, noise=noise)
    pairs = [pair for pair in found.pairs if pair.baseline == found.run.baseline]
    limits = {key: _in_range(f"--also {key}", limit if own is None else own) for key, own in (also or {}).items()}
    _refuse_unknown(limits, pairs[0])
    look = look_of(run)
    judged = [_judged(pair, pair.primary, limit, look.alpha) for pair in pairs]
    judged += [
        _judged(pair, end, limits[end.metric], look.alpha)
        for pair in pairs
        for end in pair.secondary
        if end.metric in limits
    ]
    # All must pass, which needs no correction; one that is worse is enough to fail, which does.
    beyond = holm([each.tests.p_beyond for each in judged])
    checked = tuple(
        _checked(run, each, float(p), len(judged), _floor(found, each), found.run.block_s)
        for each, p in zip(judged, beyond, strict=True)
    )
    return Check(run.path.name, run.suite, found.run.baseline, checked, _notes(found, judged), _held(run, found)), found


def _check_one(run: RunRecord, limited: bool, baseline: str | None) -> tuple[Check, Comparison]:
    """One contender against the objective of its plan."""
    found = compare_run(run, baseline, both=True)
    if limited or found.objective is None:
        raise PlanError(
            f"{run.path} has one contender: a check needs two in one run, the baseline and what was changed, or an "
            "objective in the plan (--objective of `bakeoff run`) and no --max-regression"
        )
    return Check(run.path.name, run.suite, found.run.baseline, (), _notes(found, ()), _held(run, found)), found


OUTCOMES: Mapping[Held, Outcome] = {"met": "pass", "missed": "missed", "undecided": "undecided"}


def _held(run: RunRecord, found: Comparison) -> tuple[CheckedObjective, ...]:
    """Each contender with the objective of the plan; what is met in a part of a run is not met in all of it."""
    held = found.objective
    if held is None:
        return ()
    whole = run.is_complete and (bool(run.joined) or run.trials_planned <= len(run.trials))
    left = f" (and it is not shown: the run is not complete, `bakeoff resume {shlex.quote(str(run.path))}`)"
    return tuple(
        CheckedObjective(
            contender=each.name,
            objective=held.objective,
            outcome="undecided" if each.verdict == "met" and not whole else OUTCOMES[each.verdict],
            text=sentence.text.removesuffix(".") + ("." if whole or each.verdict != "met" else f"{left}."),
        )
        for each, sentence in zip(held.contenders, objective_sentences(held), strict=True)
    )


def _in_range(flag: str, share: float) -> float:
    if not 0.0 <= share < 1.0:
        raise PlanError(f"{flag}: a limit lies between 0 % and 100 %, not {share:.0%}: give it as 3% or 0.03")
    return share


def _refuse_unknown(limits: Mapping[str, float], pair: PairComparison) -> None:
    known = [end.metric for end in pair.secondary]
    for key in limits:
        if key == pair.primary.metric:
            raise PlanError(f"--also {key}: this is the primary endpoint, whose limit is --max-regression")
        if key not in known:
            raise PlanError(f"--also: this run has no endpoint {key!r}: {did_you_mean(key, known)}")


def _judged(pair: PairComparison, end: Endpoint, most: float, alpha: float) -> _Judged:
    log_ratio = math.log(end.ratio) if end.ratio > 0.0 and math.isfinite(end.ratio) else math.nan
    sign = 1.0 if end.higher_is_better else -1.0
    limit = _log_limit(end, most)
    return _Judged(
        pair, end, most, sign * log_ratio, limit, against_limit(sign * log_ratio, end.log_sd, end.blocks, limit, alpha)
    )


def _log_limit(end: Endpoint, most: float) -> float:
    """Its logarithm, with more being better."""
    return (1.0 if end.higher_is_better else -1.0) * math.log(_limit(end, most))


def _limit(end: Endpoint, most: float) -> float:
    """The ratio that is just allowed: 0.97 of a rate, 1.03 of a time."""
    return 1.0 - most if end.higher_is_better else 1.0 + most


def _floor(found: Comparison, each: _Judged) -> float:
    """What equals differ by on this set-up, which is measured of the primary endpoint; NaN where it was not."""
    return floor_of(found, each.end.blocks) if each.end.metric == each.pair.primary.metric else math.nan


def _beside_floor(each: _Judged, outcome: Outcome, floor: float) -> str:
    """The end of a sentence: what equals differ by here. It takes nothing back, and says what may hide in it."""
    if math.isnan(floor):
        return ""
    told = f"; the noise floor of this set-up is {wording.percent(floor)}"
    if outcome == "worse" and abs(each.log_mean) < math.log1p(floor):
        return f"{told}, so that equals may differ as much: it counts as worse all the same"
    if outcome == "pass" and each.log_mean - each.log_limit < math.log1p(floor):
        return f"{told}, in which more than {wording.percent(each.most)} may hide"
    return told


def _checked(run: RunRecord, each: _Judged, p_beyond: float, family: int, floor: float, block_s: float) -> Checked:
    end, look = each.end, look_of(run)
    outcome, why, more = _outcome(run, each, p_beyond, family, block_s)
    low, high = each.tests.low, each.tests.high
    if not end.higher_is_better:
        low, high = 1.0 / high if high else math.inf, 1.0 / low if low else math.inf
    if end.blocks < MINIMUM_BLOCKS:
        low = high = math.nan
    level = 1.0 - look.alpha
    beside = _beside_floor(each, outcome, floor)
    return Checked(
        contender=each.pair.contender,
        metric=end.metric,
        title=end.title,
        outcome=outcome,
        text=why if outcome == "void" else f"{_figures(each, low, high, level)}, {why}{beside}.",
        ratio=end.ratio,
        low=low,
        high=high,
        level=level,
        blocks=end.blocks,
        most=each.most,
        limit=_limit(end, each.most),
        higher_is_better=end.higher_is_better,
        more_blocks=more,
        floor=floor,
    )


def _outcome(
    run: RunRecord, each: _Judged, p_beyond: float, family: int, block_s: float
) -> tuple[Outcome, str, int | None]:
    """The outcome, the end of its sentence, and how many more blocks would settle it."""
    end, look = each.end, look_of(run)
    reasons = _void(each)
    if reasons:
        return "void", f"{each.pair.contender} and {each.pair.baseline}: {'; '.join(reasons)}.", None
    beyond = f"more than {wording.percent(each.most)} worse"
    missing = len(run.pending)
    if not run.is_complete:
        resume = f"bakeoff resume {shlex.quote(str(run.path))}"
        left = f"{missing} of {run.trials_planned} trials are missing" if missing else "the run did not end"
        return "inconclusive", f"and {left}: {resume}", None
    if end.blocks < MINIMUM_BLOCKS:
        more = MINIMUM_BLOCKS - end.blocks
        return "inconclusive", f"and at least {MINIMUM_BLOCKS} blocks are needed: {_go_on(run, more)}", more
    if each.tests.p_within <= look.alpha / 2.0:
        return "pass", f"which is not {beyond}", None
    if p_beyond <= look.alpha / 2.0:
        return "worse", f"which is {beyond}", None
    needed, words = _needed(each, look.next_alpha, family, block_s)
    words = words if needed is None else f"{words}: {_go_on(run, needed)}"
    return "inconclusive", f"so that it may be {beyond} or not; {words}", needed


def _needed(each: _Judged, alpha: float, family: int, block_s: float) -> tuple[int | None, str]:
    """How many more blocks would settle it, None where no number is told, and either in words."""
    end = each.end

    def blocks(log_mean: float, log_limit: float) -> int | None:
        return blocks_for_limit(log_mean, end.log_sd, log_limit, alpha / (1 if log_mean > log_limit else family))

    def passes(most: float) -> int | None:
        limit = _log_limit(end, most)
        return blocks(each.log_mean, limit) if each.log_mean > limit else None

    wanted, equals = blocks(each.log_mean, each.log_limit), blocks(0.0, each.log_limit)
    more = None if wanted is None else max(1, wanted - end.blocks)
    return blocks_or_noise(more, end.blocks, end.log_sd, each.most, block_s, passes, equals)


def _void(each: _Judged) -> list[str]:
    """Why nothing can be said of a pair: a check that is red for either, failures, even repeated ones, and holes."""
    gates = (*each.pair.primary.gates, *each.end.gates)
    reasons = [gate.text for gate in gates if gate.level == "red" or gate.name == "repeated trials"]
    for end in (each.pair.primary, each.end):
        if not end.blocks or math.isnan(end.ratio):
            reasons.append(f"no block has usable trials of both for {_name(end)}")
        if not reasons:
            pairs = wording.plural(end.pairs_counted, "pair")
            reasons += [f"{name} lost {number} of {pairs}" for name, number in end.lost.items() if number]
    if each.pair.primary.mixes_left_out and each.pair.primary.blocks:
        reasons.append(f"too few pairs can be compared at {wording.several(each.pair.primary.mixes_left_out)}")
    return list(dict.fromkeys(reasons))


def _figures(each: _Judged, low: float, high: float, level: float) -> str:
    """ "Requests/s: b is at 0.98× a (95.5 % interval 0.97–0.99, 8 blocks)"."""
    end = each.end
    parts = [] if math.isnan(low) else [f"{100.0 * level:.4g} % interval {wording.interval(low, high)}"]
    parts.append(wording.plural(end.blocks, "block"))
    if end.mixes_left_out:
        parts.append(f"without {wording.several(end.mixes_left_out)}, where too few pairs can be compared")
    at = wording.times(end.ratio, each.pair.baseline, low, high)
    return f"{_name(end)}: {each.pair.contender} is at {at} ({', '.join(parts)})"


def _name(end: Endpoint) -> str:
    return wording.sentence(end.title)


def _go_on(run: RunRecord, more: int) -> str:
    if run.imported_from is not None or run.amended(CLEAR):
        return "measure anew with so many more"
    return f"bakeoff resume {shlex.quote(str(run.path))} --blocks +{more}"


def _notes(found: Comparison, judged: Sequence[_Judged]) -> tuple[str, ...]:
    gates = [gate for each in judged for gate in each.end.gates]
    notes = [gate.text for gate in gates if gate.level == "amber" and gate.name != "repeated trials"]
    notes += [f"{warning.text} {warning.advice}".strip() for warning in found.warnings if warning.first]
    notes += [] if found.noise_quote is None else [_of_floor(found.noise_quote)]
    return tuple(dict.fromkeys(notes))


def _of_floor(quote: NoiseQuote) -> str:
    """Where the noise floor comes from, and what was another there."""
    noise, when = quote.noise, quote.noise.measured_at[:10]
    differs = f"; it was not all alike: {'; '.join(quote.differs)}" if quote.differs else ""
    blocks = wording.plural(noise.primary.blocks, "block")
    return f"The noise floor is of {noise.file} ({when}, {blocks} of {noise.contender} against itself){differs}."
