"""The noise floor of a set-up: what it shows of a server against itself, and what that says of other runs there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from bakeoff.compare.cube.cube import Cube, build_cube
from bakeoff.compare.cube.whole_blocks import whole_blocks_of_pair
from bakeoff.compare.estimate.interim import planned_levels
from bakeoff.compare.estimate.pairs import pair_logs
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.planning.noise_model import (
    ClientOptionsNoise,
    MoreSettings,
    NoContender,
    NoiseFloor,
    NoiseQuote,
    NoiseSeries,
    OtherDay,
    OtherHere,
    OtherSuite,
    SmallerThanFloor,
    WithinFloor,
)
from bakeoff.compare.planning.power import spread_of_pair
from bakeoff.compare.shapes import shape_of
from bakeoff.compare.validity.client_options import client_options_of, settings_by_name
from bakeoff.compare.validity.client_options_model import ClientOptionsDiffer, differing
from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import (
    MeanInterval,
    decide,
    difference_with_power,
    equivalence_p,
    mean_interval,
    ratio_from_logs,
)
from bakeoff.store.records.run_records import RunRecord

SCHEMA = "bakeoff-noise/1"
SEED, MOST_DRAWS = 65, 500
POWER = 0.8
# Settings that differ are listed up to so many.
LISTED = 4
# Settings that do not change what a trial does.
ASIDE = frozenset({"blocks", "seed", "name"})


def is_aa(run: RunRecord) -> bool:
    """Whether a run has one server as two contenders, and so is an A/A run."""
    if len(run.contenders) != 2 or run.joined or run.imported_from is not None or not run.load_steps:
        return False
    one, other = run.contenders
    return one.address == other.address and one.reset == other.reset


def noise_of(run: RunRecord) -> NoiseFloor | None:
    """What an A/A run has shown; None of other runs, and below six whole blocks."""
    if not is_aa(run):
        return None
    cube = build_cube(run, run.contenders[0].name)
    metric = shape_of(run).endpoints(run, cube)[0]
    measured = spread_of_pair(cube, metric, cube.contenders[0], cube.contenders[1])
    if len(measured.primary) < MINIMUM_BLOCKS or not np.std(measured.primary) > 0.0:
        return None
    logs = np.array(measured.primary)
    series = [_series(measured.title, "", measured.primary)]
    if len(measured.load_steps) > 1:
        enough = (
            (load_step, values) for load_step, values in measured.load_steps.items() if len(values) >= MINIMUM_BLOCKS
        )
        series += [_series(f"at {load_step.words}", f"{load_step}", values) for load_step, values in enough]
    order = _order(cube, metric)
    draw_blocks, draws = _draws(logs)
    outcomes = [_outcome(draw, run.delta) for draw in draws]
    return NoiseFloor(
        schema=SCHEMA,
        file=run.path.name,
        plan_hash=run.plan_hash,
        measured_at=run.created_at,
        contender=run.contenders[0].name,
        address=run.contenders[0].address,
        suite=run.suite,
        delta=run.delta,
        setup=setup_of(run),
        settings=_settings(run),
        series=tuple(series),
        first=math.exp(order.centre),
        first_low=math.exp(order.low),
        first_high=math.exp(order.high),
        draw_blocks=draw_blocks,
        drawn=len(outcomes),
        called=sum(outcome in ("higher", "lower") for outcome in outcomes),
        shown=sum(outcome in ("higher", "lower", "near_margin") for outcome in outcomes),
    )


def _series(title: str, load_step: str, logs: Sequence[float]) -> NoiseSeries:
    found = ratio_from_logs(np.array(logs))
    lowest, median, highest = (float(each) for each in np.exp(np.quantile(logs, [0.0, 0.5, 1.0])))
    alpha = planned_levels(())[-1]
    shown = math.expm1(difference_with_power(len(logs), found.log_sd, alpha, POWER))
    ends = found.ratio, found.low, found.high
    return NoiseSeries(title, load_step, len(logs), *ends, found.log_sd, lowest, median, highest, shown)


def _order(cube: Cube, metric: Metric) -> MeanInterval:
    """The ratio, as a logarithm, of whoever was measured first at a load step to the other, over load steps and blocks:
    in a block each of the two may be first at some of the load steps.
    """
    outcomes = pair_logs(cube, metric, *cube.contenders)
    return mean_interval(whole_blocks_of_pair(cube, outcomes).of_whole(outcomes.settled() * _signs(cube)))


def _signs(cube: Cube) -> Any:
    """1 where the second contender came first, -1 elsewhere, shape (load steps, blocks)."""
    one, other = (
        np.array([[_place(cube, name, load_step, block) for block in cube.blocks] for load_step in cube.load_steps])
        for name in cube.contenders
    )
    return np.where(other < one, 1.0, -1.0)


def _place(cube: Cube, name: str, load_step: LoadStep, block: int) -> int:
    trial = cube.trials.get((name, load_step, block))
    return -1 if trial is None else trial.order


def _draws(logs: Any) -> tuple[int, list[Any]]:
    """Parts of the blocks as runs of their own, all of them where they are few; of how many blocks each is."""
    size = max(MINIMUM_BLOCKS, logs.size // 2)
    if math.comb(logs.size, size) <= MOST_DRAWS:
        return size, [logs[list(chosen)] for chosen in combinations(range(logs.size), size)]
    random = np.random.default_rng(SEED)
    return size, [random.choice(logs, size, replace=False) for _ in range(MOST_DRAWS)]


def _outcome(logs: Any, delta: float) -> str:
    found = ratio_from_logs(logs)
    tost = equivalence_p(found.log_mean, found.log_sd, found.blocks, delta)
    return decide(found, delta, found.p_t, tost, planned_levels(())[-1]).outcome


def setup_of(run: RunRecord) -> dict[str, str]:
    """What the machine that sends load is known by."""
    facts = run.environment
    cpu = facts.get("cpu")
    known = {
        "host": facts.get("hostname"),
        "processor": cpu.get("model") if isinstance(cpu, dict) else None,
        "kernel": facts.get("kernel"),
        "bakeoff": run.tool.get("version"),
        "machines": f"{max(1, len(run.agents))}",
        "order": run.planned.order,
    }
    return {name: str(value) for name, value in known.items() if value is not None}


def _settings(run: RunRecord) -> dict[str, str]:
    # Texts may hold cookies and passwords, and this goes into reports.
    # Of an A/A run both contenders have them alike.
    return {
        name: _plain(value)
        for name, value in next(iter(settings_by_name(run).values()), {}).items()
        if name not in ASIDE and _is_plain(value)
    }


def _is_plain(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return 0 < len(items) <= 100 and all(isinstance(item, int | float) for item in items)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_noise(stored: dict[str, Any]) -> NoiseFloor:
    """What was embedded in a report. Raises PlanError."""
    try:
        return TypeAdapter(NoiseFloor).validate_python(stored)
    except ValidationError as error:
        raise PlanError(f"the noise floor in the report cannot be read ({error.error_count()} faults)") from None


def stored_noise(noise: NoiseFloor) -> dict[str, Any]:
    """As it is embedded in a report."""
    return dataclasses.asdict(noise)


def same_setup(noise: NoiseFloor, run: RunRecord) -> bool:
    """Whether it may be quoted without being named: the same machine, suite and one of the addresses."""
    here = setup_of(run)
    is_same = all(noise.setup.get(name) == here.get(name) for name in ("host", "processor", "machines"))
    return is_same and noise.suite == run.suite and any(c.address == noise.address for c in run.contenders)


def quoted(noise: NoiseFloor, run: RunRecord, pairs: tuple[PairComparison, ...]) -> NoiseQuote:
    """What it says of `run`."""
    blocks = min((pair.primary.blocks for pair in pairs if pair.primary.blocks), default=0)
    floor = noise.primary.floor(blocks)
    within = []
    for pair in pairs:
        end = pair.primary
        lead = max(end.ratio, 1.0 / end.ratio) - 1.0 if end.ratio > 0.0 else math.nan
        most = noise.primary.floor(end.blocks)
        if end.verdict.kind in ("better", "near_margin") and lead < most:
            within.append(WithinFloor(pair.contender, pair.baseline, lead, most, end.blocks))
    return NoiseQuote(noise, blocks, floor, tuple(_differs(noise, run)), tuple(within))


def _differs(noise: NoiseFloor, run: RunRecord) -> Iterator[Fact]:
    """In what the set-up of the A/A run was another than that of `run`: when, where, what."""
    if days := _days(noise.measured_at, run.created_at):
        yield OtherDay(days)
    if noise.suite != run.suite:
        yield OtherSuite(noise.suite, run.suite)
    if all(contender.address != noise.address for contender in run.contenders):
        yield NoContender(noise.address)
    here = setup_of(run)
    for name, earlier in noise.setup.items():
        if here.get(name) != earlier:
            yield OtherHere(name, earlier, here.get(name))
    now = _settings(run)
    differ = [name for name, value in noise.settings.items() if name in now and now[name] != value]
    for name in differ[:LISTED]:
        yield OtherHere(name, noise.settings[name], now[name])
    if len(differ) > LISTED:
        yield MoreSettings(len(differ) - LISTED)
    names = tuple(contender.name for contender in run.contenders)
    if differing_options := differing(client_options_of(run), names):
        yield ClientOptionsNoise(ClientOptionsDiffer(run.kind, differing_options, names))


def _days(earlier: str, now: str) -> int:
    try:
        return int((datetime.fromisoformat(now) - datetime.fromisoformat(earlier)).total_seconds() / 86_400)
    except (ValueError, TypeError):
        return 0


def noise_advice(quote: NoiseQuote | None) -> list[Fact]:
    """Verdicts that are smaller than what equals show on this set-up."""
    return [SmallerThanFloor(quote.noise.file, quote.within)] if quote is not None and quote.within else []


def floor_of(comparison: Comparison, blocks: int) -> float:
    """What equals differ by at most in so many blocks of the set-up of a comparison; NaN where it quotes nothing."""
    quote = comparison.noise_quote
    return math.nan if quote is None else quote.noise.primary.floor(blocks)
