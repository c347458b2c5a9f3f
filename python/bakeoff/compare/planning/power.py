"""How many blocks a plan needs, by the spread that another run had: its pilot.

The chance is that of the verdict's own rule, at the level that the plan leaves it: what is kept for blocks that are
added later, planned interim analyses, and Holm's correction, of which the strictest step is counted on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.cube.cube import Cube, build_cube
from bakeoff.compare.cube.whole_blocks import whole_blocks_of
from bakeoff.compare.estimate.interim import planned_levels
from bakeoff.compare.estimate.pairs import pair_logs
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model import settings
from bakeoff.compare.planning.power_time import FORECAST
from bakeoff.compare.shapes import shape_of
from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.core.units import plural
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.model import Plan
from bakeoff.stats import (
    blocks_with_power,
    difference_with_power,
    power_of_difference,
    power_of_equivalence,
    spread_interval,
)
from bakeoff.store.records.run_records import RunRecord

SCHEMA = "bakeoff-power/1"
DIFFERENCES = (0.05, 0.03, 0.02)
POWERS = (0.8, 0.9)
# How sure the range of the spread is, and of how many blocks a pilot has to be to know any.
SURE, FEWEST = 0.8, 3
# Settings of a pilot that are told to differ.
LISTED = 4


@dataclass(frozen=True)
class Need:
    """What it takes to see a true `difference` (0.05 = 5 %; None: that there is none beyond δ) in a share `power` of
    runs. `blocks` is None beyond 10,000; `low` and `high` are the blocks if the spread is as small, or as large, as the
    pilot leaves possible (80 %). `duration_s` is of all `blocks`.
    """

    difference: float | None
    power: float
    blocks: int | None
    low: int | None
    high: int | None
    duration_s: float | None


@dataclass(frozen=True)
class Series:
    """What is judged: the primary endpoint (`load_step` is None), or one load step. `alpha` is the level of its test,
    `log_sd` the spread of the log-ratios of the pilot's `blocks` with its interval (80 %).
    """

    title: str
    load_step: LoadStep | None
    alpha: float
    blocks: int
    log_sd: float
    log_sd_low: float
    log_sd_high: float
    needs: tuple[Need, ...]
    # The smallest difference (0.05 = 5 %) that the plan's own blocks show in each of POWERS; NaN under six.
    shown: tuple[float, ...]


@dataclass(frozen=True)
class OtherSetting:
    """A setting that was another in the pilot; `name` is empty for those that single contenders have."""

    name: str
    pilot: object = None
    here: object = None


AssumptionKind = Literal["alone", "other_pair", "widest_pair", "other_work", "other_settings", "lost", "few_blocks"]


@dataclass(frozen=True)
class Assumption:
    """What must hold for the answer to hold. `names` are those of the plan that it is about, `pilot` who or what stands
    for them in the pilot, `number` how many trials were forfeited, blocks are few, or settings differ beside those
    listed.
    """

    kind: AssumptionKind
    names: tuple[str, ...] = ()
    pilot: tuple[str, ...] = ()
    number: int = 0
    settings: tuple[OtherSetting, ...] = ()


@dataclass(frozen=True)
class Power:
    """The answer, and all that it rests on. `plan_blocks` are those that the plan has as it stands; `block_by` says
    whether `block_s` is that of the pilot's blocks or of the forecast.
    """

    schema: str
    pilot: str
    pilot_plan_hash: str
    pilot_created_at: str
    contenders: tuple[str, ...]
    pairs: int
    interim_analyses: tuple[int, ...]
    delta: float
    plan_blocks: int
    block_s: float
    block_by: str
    assumed: tuple[Assumption, ...]
    series: tuple[Series, ...]


@dataclass(frozen=True)
class PairRatios:
    """The log-ratios of one pair of a run: of the primary endpoint by block, of these `blocks`, and of each load
    step.
    """

    pair: tuple[str, str]
    title: str
    primary: tuple[float, ...]
    load_steps: dict[LoadStep, tuple[float, ...]]
    forfeited: int
    blocks: tuple[int, ...]
    alone: bool = False


def power_of(
    pilot: RunRecord,
    plan: Plan,
    block_s: float,
    layout_s: float = 0.0,
    family: int | None = None,
    block_by: str = FORECAST,
) -> Power:
    """What `plan` needs, whose blocks take `block_s` each, known by `block_by`, after `layout_s` once.

    In a campaign its primary endpoint is one of a `family` of as many pairs as all suites have. Raises PlanError for a
    pilot of which no spread is known.
    """
    names = tuple(contender.name for contender in plan.contenders)
    measured = _widest(pilot, names)
    pairs = max(1, pairs_of(plan))
    usual = planned_levels(plan.interim_analyses or ())[-1]
    alpha = usual / (family or pairs)
    load_steps = [load_step for load_step in plan.load_steps if load_step in measured.load_steps] or list(
        measured.load_steps
    )

    def series(title: str, load_step: LoadStep | None, level: float, equal: float, logs: Sequence[float]) -> Series:
        log_sd = float(np.std(logs, ddof=1))
        low, high = spread_interval(log_sd, len(logs), SURE)
        needs = tuple(
            _need(each, power, (log_sd, low, high), equal if each is None else level, plan.delta, block_s, layout_s)
            for each in (*DIFFERENCES, None)
            for power in POWERS
        )
        shown = tuple(math.expm1(difference_with_power(plan.blocks, log_sd, level, power)) for power in POWERS)
        return Series(title, load_step, level, len(logs), log_sd, low, high, needs, shown)

    at_load_step = usual / pairs / max(1, len(load_steps))
    series_found = [series(measured.title, None, alpha, alpha, measured.primary)]
    series_found += [
        # A band of two sides must lie within ±δ: each has half of what one-sided tests of an endpoint have.
        series(f"at {load_step.words}", load_step, at_load_step, at_load_step / 2.0, measured.load_steps[load_step])
        for load_step in load_steps
        if len(measured.load_steps[load_step]) >= FEWEST and len(load_steps) > 1
    ]
    return Power(
        schema=SCHEMA,
        pilot=pilot.path.name,
        pilot_plan_hash=pilot.plan_hash,
        pilot_created_at=pilot.created_at,
        contenders=names,
        pairs=pairs,
        interim_analyses=tuple(plan.interim_analyses or ()),
        delta=plan.delta,
        plan_blocks=plan.blocks,
        block_s=block_s,
        block_by=block_by,
        assumed=tuple(_assumed(pilot, plan, measured, pairs)),
        series=tuple(series_found),
    )


def pairs_of(plan: Plan) -> int:
    """How many pairs of contenders a plan compares."""
    return math.comb(len(plan.contenders), 2)


def _need(
    difference: float | None,
    power: float,
    spreads: tuple[float, float, float],
    alpha: float,
    delta: float,
    block_s: float,
    layout_s: float,
) -> Need:
    def blocks(log_sd: float) -> int | None:
        if difference is None:
            return blocks_with_power(lambda n: power_of_equivalence(n, log_sd, delta, alpha), power)
        return blocks_with_power(lambda n: power_of_difference(n, log_sd, math.log1p(difference), alpha), power)

    usual, low, high = map(blocks, spreads)
    return Need(difference, power, usual, low, high, None if usual is None else layout_s + usual * block_s)


def _widest(pilot: RunRecord, names: Sequence[str]) -> PairRatios:
    """The pair of the pilot whose primary endpoint varies most, of those that the plan has where it has any."""
    if not pilot.planned.shape.steps:
        raise PlanError(f"{pilot.path} searched for capacities: give a run of `bakeoff run` as the pilot")
    cube = build_cube(pilot, pilot.contenders[0].name)
    metric = shape_of(pilot).endpoints(pilot, cube)[0]
    if len(cube.contenders) < 2:
        found = [_alone(cube, metric)]
    else:
        found = [spread_of_pair(cube, metric, *pair) for pair in combinations(cube.contenders, 2)]
    known = [each for each in found if len(each.primary) >= FEWEST]
    if not known:
        most = max(len(each.primary) for each in found)
        raise PlanError(
            f"{pilot.path} has {plural(most, 'usable block')}: a spread takes {FEWEST} at least, better "
            f"{MINIMUM_BLOCKS}"
        )
    if any(not np.std(each.primary, ddof=1) > 0.0 for each in known):
        raise PlanError(f"the blocks of {pilot.path} do not differ at all: that is no measured spread")
    named = [each for each in known if set(each.pair) <= set(names)] or known
    return max(named, key=lambda each: float(np.std(each.primary, ddof=1)))


def spread_of_pair(cube: Cube, metric: Metric, baseline: str, contender: str) -> PairRatios:
    """How the ratios of two contenders spread over the blocks that have all of their load steps."""
    outcomes = pair_logs(cube, metric, baseline, contender)
    logs, forfeited = outcomes.settled(), sum(int(side.sum()) for side in outcomes.forfeited)
    return _pilot((baseline, contender), metric.title, cube, logs, forfeited)


def _alone(cube: Cube, metric: Metric) -> PairRatios:
    """A single contender against another that is like it and knows nothing of it: twice its variance."""
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(cube.values(metric.extract)[0])
    name = cube.contenders[0]
    found = _pilot((name, name), metric.title, cube, np.where(np.isfinite(logs), logs, np.nan) * math.sqrt(2.0), 0)
    return PairRatios(found.pair, found.title, found.primary, found.load_steps, 0, found.blocks, alone=True)


def _pilot(pair: tuple[str, str], title: str, cube: Cube, logs: NDArray[np.float64], forfeited: int) -> PairRatios:
    kept = whole_blocks_of(cube, np.isfinite(logs))
    by_load_step = {
        load_step: tuple(map(float, row[np.isfinite(row)]))
        for load_step, row in zip(cube.load_steps, logs, strict=True)
    }
    return PairRatios(pair, title, tuple(map(float, kept.of_whole(logs))), by_load_step, forfeited, kept.blocks)


def _assumed(pilot: RunRecord, plan: Plan, measured: PairRatios, pairs: int) -> Iterator[Assumption]:
    """What must hold for the answer to hold."""
    names = tuple(contender.name for contender in plan.contenders)
    if measured.alone:
        yield Assumption("alone", names, measured.pair[:1])
    elif not set(measured.pair) <= set(names):
        yield Assumption("other_pair", names, measured.pair)
    elif pairs > 1:
        yield Assumption("widest_pair", names, measured.pair)
    if pilot.suite != plan.suite:
        yield Assumption("other_work", (plan.suite,), (pilot.suite,))
    elif different := _different(pilot, plan, measured.alone):
        listed = [one for one in different if one.name][:LISTED]
        own = [one for one in different if not one.name]
        yield Assumption("other_settings", number=len(different) - len(listed) - len(own), settings=(*listed, *own))
    if measured.forfeited:
        yield Assumption("lost", number=measured.forfeited)
    if len(measured.primary) < MINIMUM_BLOCKS:
        yield Assumption("few_blocks", number=len(measured.primary))


def _different(pilot: RunRecord, plan: Plan, alone: bool) -> list[OtherSetting]:
    """Settings that both have, in which they differ; first the order of trials, of which one contender `alone` has
    none.
    """
    earlier, now, order = pilot.planned.settings.stored(), plan.settings.stored(), pilot.planned.order
    differ = [OtherSetting("order", order, plan.order)] if order != plan.order and not alone else []
    differ += [
        OtherSetting(name, earlier[name], now[name]) for name in now if name in earlier and earlier[name] != now[name]
    ]
    own = {contender.name: contender.settings for contender in plan.contenders if contender.settings}
    return differ if own == settings.of_single(pilot.plan) else [*differ, OtherSetting("")]
