"""Runs of factorial designs that never happened, with programmed effects."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from bakeoff.compare.cube.cube import build_cube
from bakeoff.compare.estimate.factors import compare_factors, design_of
from bakeoff.compare.model.comparison import Measure
from bakeoff.compare.model.factor import Effect, FactorComparison
from bakeoff.compare.shapes import shape_of
from bakeoff.compare.validity.audits import littles_law
from bakeoff.compare.validity.gates import Judge
from bakeoff.report.narrate.figures.factors import factor_sentences
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import Server, run

Levels = Mapping[str, str]
SHAPE: Mapping[str, Sequence[str]] = {"server": ("nginx", "apache"), "raid": ("5", "0")}
WINDOW_S = 8.0


def combinations(shape: Mapping[str, Sequence[str]] = SHAPE) -> dict[str, Levels]:
    """The levels of each contender."""
    return {"-".join(chosen): dict(zip(shape, chosen, strict=True)) for chosen in product(*shape.values())}


def planned(record: RunRecord, levels: Mapping[str, Levels], shape: Mapping[str, Sequence[str]]) -> RunRecord:
    """`record` with the plan of a design."""
    contenders = [{"name": name, "levels": own} for name, own in levels.items()]
    factors = [{"name": name, "levels": list(known)} for name, known in shape.items()]
    return replace(record, plan={**record.plan, "contenders": contenders, "factors": factors})


def design(
    speed: Callable[[Levels], float],
    shape: Mapping[str, Sequence[str]] = SHAPE,
    load_steps: tuple[int, ...] = (1, 4),
    blocks: int = 8,
    seed: int = 1,
    spread: float = 0.02,
) -> RunRecord:
    """A run in which a combination is so many times as fast as 1,000 operations a second of one client."""
    levels = combinations(shape)
    servers = tuple(
        Server(name, 1e6 * speed(own), 1.0 / speed(own), spread) for name, own in levels.items()
    )  # far from their capacity: the ratios are exact
    return planned(run(servers, load_steps, blocks, seed=seed), levels, shape)


def redrawn(record: RunRecord, speed: Callable[[Levels], float], spread: float, seed: int) -> RunRecord:
    """The same run with other rates: blocks and trials vary on logarithms, by 5 % and `spread`."""
    random = np.random.default_rng(seed)
    levels = {c["name"]: c["levels"] for c in record.plan["contenders"]}
    blocks = {block: random.normal(0.0, 0.05) for block in sorted({trial.block for trial in record.trials})}
    trials = []
    for trial in record.trials:
        rate = 1e4 * speed(levels[trial.contender]) * math.exp(blocks[trial.block] + random.normal(0.0, spread))
        # Clients that never rest: Little's law holds.
        service = replace(trial.service, mean_ns=trial.load_step.clients / rate * 1e9)
        trials.append(replace(trial, operations_per_s=rate, service=service))
    return replace(record, trials=tuple(trials))


def effects_of(record: RunRecord, delta: float = 0.05) -> FactorComparison:
    """The effects on the rate alone."""
    baseline = record.contenders[0].name
    cube = build_cube(record, baseline)
    found = design_of(record, baseline)
    assert found is not None
    return compare_factors(
        found, cube, shape_of(record).endpoints(record, cube)[:1], Judge(cube, littles_law(record, cube.kind), delta)
    )


def said_of(found: FactorComparison, delta: float = 0.05) -> tuple[str, ...]:
    """What its factors do to the rate, in sentences."""
    rate = Measure("rate", "Requests/s", "requests/s", "requests/s", True, False, 0, "")
    return tuple(one.text for one in factor_sentences(found, rate, delta))


def effect(found: FactorComparison, *factors: str) -> Effect:
    """The only effect of these factors."""
    (one,) = (each for each in found.effects if each.factors == factors)
    return one
