"""From a comparison to a check: is a contender worse than the baseline by more than is allowed?

A check passes only when that is shown, so that few blocks, noise and failures never let a worse server through.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bakeoff.compare.estimate.interim import interim_of
from bakeoff.compare.limits.check_model import (
    BlocksMissing,
    Check,
    CheckedObjective,
    FewPairs,
    LimitCheck,
    NothingUsable,
    NotSettled,
    Outcome,
    PairsForfeited,
    Resume,
    TrialsMissing,
    Void,
)
from bakeoff.compare.limits.objective_model import ObjectiveVerdict
from bakeoff.compare.model.comparison import Advisory, Comparison
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import Endpoint, Gate, GateName, PairComparison
from bakeoff.compare.planning.noise import floor_of
from bakeoff.compare.planning.noise_model import NoiseFloor, NoiseQuote
from bakeoff.compare.run import compare_run
from bakeoff.compare.verdict.blocks_needed import Needed, blocks_or_noise
from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.stats import AgainstLimit, against_limit, blocks_for_limit, holm
from bakeoff.store.records.run_records import CLEAR, RunRecord


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
    interim = interim_of(run)
    judged = [_judged(pair, pair.primary, limit, interim.alpha) for pair in pairs]
    judged += [
        _judged(pair, end, limits[end.metric], interim.alpha)
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
    return _made(run, found, checked, judged), found


def _check_one(run: RunRecord, limited: bool, baseline: str | None) -> tuple[Check, Comparison]:
    """One contender against the objective of its plan."""
    found = compare_run(run, baseline, both=True)
    if limited or found.objective is None:
        raise PlanError(
            f"{run.path} has one contender: a check needs two in one run, the baseline and what was changed, or an "
            "objective in the plan (--objective of `bakeoff run`) and no --max-regression"
        )
    return _made(run, found), found


def _made(
    run: RunRecord, found: Comparison, checked: tuple[LimitCheck, ...] = (), judged: Sequence[_Judged] = ()
) -> Check:
    base = found.run.baseline
    measured_s = {c.name: sum(t.window_s for t in run.trials if t.contender == c.name) for c in run.contenders}
    notes, objectives = _notes(found, judged), _objectives(run, found)
    return Check(run.path.name, run.suite, base, checked, notes, objectives, run.created_at, measured_s)


REPEATED: GateName = "repeated trials"
OUTCOMES: Mapping[ObjectiveVerdict, Outcome] = {"met": "pass", "missed": "missed", "undecided": "undecided"}


def _objectives(run: RunRecord, found: Comparison) -> tuple[CheckedObjective, ...]:
    """Each contender with the objective of the plan; what is met in a part of a run is not met in all of it."""
    objectives = found.objective
    if objectives is None:
        return ()
    whole = run.is_complete and (bool(run.joined) or run.trials_planned <= len(run.trials))
    rest = None if whole else Resume(str(run.path))
    return tuple(
        CheckedObjective(each.name, objectives.objective, OUTCOMES[each.verdict], each)
        if whole or each.verdict != "met"
        else CheckedObjective(each.name, objectives.objective, "undecided", each, rest)
        for each in objectives.contenders
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


def _floor_hides(each: _Judged, outcome: Outcome, floor: float) -> bool:
    """Whether what equals differ by here is as much as what decided. It takes nothing back."""
    decided = abs(each.log_mean) if outcome == "worse" else each.log_mean - each.log_limit
    return outcome in ("worse", "pass") and decided < math.log1p(floor)


def _checked(run: RunRecord, each: _Judged, p_beyond: float, family: int, floor: float, block_s: float) -> LimitCheck:
    end, interim = each.end, interim_of(run)
    outcome, why, more = _outcome(run, each, p_beyond, family, block_s)
    low, high = each.tests.low, each.tests.high
    if not end.higher_is_better:
        low, high = 1.0 / high if high else math.inf, 1.0 / low if low else math.inf
    if end.blocks < MINIMUM_BLOCKS:
        low = high = math.nan
    return LimitCheck(
        contender=each.pair.contender,
        metric=end.metric,
        title=end.title,
        outcome=outcome,
        why=why,
        ratio=end.ratio,
        low=low,
        high=high,
        level=1.0 - interim.alpha,
        blocks=end.blocks,
        most=each.most,
        limit=_limit(end, each.most),
        higher_is_better=end.higher_is_better,
        more_blocks=more,
        load_steps_left_out=end.load_steps_left_out,
        floor=floor,
        floor_hides=_floor_hides(each, outcome, floor),
    )


def _outcome(
    run: RunRecord, each: _Judged, p_beyond: float, family: int, block_s: float
) -> tuple[Outcome, Fact | None, int | None]:
    """The outcome, why, and how many more blocks would settle it."""
    end, interim = each.end, interim_of(run)
    reasons = _void(each)
    if reasons:
        return "void", Void(reasons), None
    if not run.is_complete:
        return "inconclusive", TrialsMissing(len(run.pending), run.trials_planned, Resume(str(run.path))), None
    if end.blocks < MINIMUM_BLOCKS:
        more = MINIMUM_BLOCKS - end.blocks
        return "inconclusive", BlocksMissing(_go_on(run, more)), more
    if each.tests.p_within <= interim.alpha / 2.0:
        return "pass", None, None
    if p_beyond <= interim.alpha / 2.0:
        return "worse", None, None
    found = _needed(each, interim.next_alpha, family, block_s)
    rest = None if found.fits is None else _go_on(run, found.fits)
    return "inconclusive", NotSettled(found, rest), found.fits


def _needed(each: _Judged, alpha: float, family: int, block_s: float) -> Needed:
    """How many more blocks would settle it, or why no number is told."""
    end = each.end

    def blocks(log_mean: float, log_limit: float) -> int | None:
        return blocks_for_limit(log_mean, end.log_sd, log_limit, alpha / (1 if log_mean > log_limit else family))

    def passes(most: float) -> int | None:
        limit = _log_limit(end, most)
        return blocks(each.log_mean, limit) if each.log_mean > limit else None

    wanted, equals = blocks(each.log_mean, each.log_limit), blocks(0.0, each.log_limit)
    more = None if wanted is None else max(1, wanted - end.blocks)
    return blocks_or_noise(more, end.blocks, end.log_sd, each.most, block_s, passes, equals)


def _void(each: _Judged) -> tuple[Gate | NothingUsable | PairsForfeited | FewPairs, ...]:
    """Why nothing can be said of a pair: a check that is red for either, failures, even repeated ones, and holes."""
    primary = each.pair.primary
    gates = (*primary.gates, *each.end.gates)
    reasons: list[Gate | NothingUsable | PairsForfeited | FewPairs] = [
        gate for gate in gates if gate.level == "red" or gate.name == REPEATED
    ]
    for end in (primary, each.end):
        if not end.blocks or math.isnan(end.ratio):
            reasons.append(NothingUsable(end.title))
        if not reasons:
            reasons += [
                PairsForfeited(name, count, end.pairs_counted) for name, count in end.forfeited.items() if count
            ]
    if primary.load_steps_left_out and primary.blocks:
        reasons.append(FewPairs(primary.load_steps_left_out))
    return tuple(reasons)


def _go_on(run: RunRecord, more: int) -> Resume:
    alone = run.imported_from is not None or run.amended(CLEAR)
    return Resume(None if alone else str(run.path), more)


def _notes(found: Comparison, judged: Sequence[_Judged]) -> tuple[Gate | Advisory | NoiseQuote, ...]:
    gates = (gate for each in judged for gate in each.end.gates if gate.level == "amber" and gate.name != REPEATED)
    warnings = (warning for warning in found.warnings if warning.first)
    return (*gates, *warnings, *(() if found.noise_quote is None else (found.noise_quote,)))
