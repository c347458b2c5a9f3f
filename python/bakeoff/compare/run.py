"""From a run to its comparison."""

from __future__ import annotations

from collections import Counter

from bakeoff.compare.advice import advise
from bakeoff.compare.audits import audit_all, different_content, littles_law
from bakeoff.compare.behind import falls_behind
from bakeoff.compare.cell_pairs import compare_cells
from bakeoff.compare.cells import has_cells, lost_cells
from bakeoff.compare.content import differences, facts_of
from bakeoff.compare.cube import Cube, build_cube, lost_trials
from bakeoff.compare.curves import contender_curves, summaries
from bakeoff.compare.faults import disqualified, faults_of
from bakeoff.compare.gates import Judge
from bakeoff.compare.headline import headline
from bakeoff.compare.metrics import metrics_of, rate_of
from bakeoff.compare.model import SCHEMA, Comparison, RunInfo
from bakeoff.compare.pairs import compare_pairs
from bakeoff.compare.regions import regions_of
from bakeoff.compare.soak import soak_of
from bakeoff.compare.starved import starved
from bakeoff.errors import PlanError
from bakeoff.store.records import RunRecord

LEVEL = 0.95


def compare_run(run: RunRecord, baseline: str | None = None, delta: float | None = None) -> Comparison:
    """Compare all contenders of `run`.

    `baseline` is the contender that the others are divided by (default: the first of the plan);
    `delta` the smallest ratio minus 1 that matters (default: the plan's). Raises PlanError when the
    baseline is no contender or delta is out of range.
    """
    names = [contender.name for contender in run.contenders]
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise PlanError(f"there is no contender {first!r} in this run: choose one of {', '.join(names)}")
    smallest = run.delta if delta is None else delta
    if not 0.0 <= smallest < 1.0:
        raise PlanError(f"delta must lie between 0 % and 100 %, not {smallest:.0%}: give it as 5% or 0.05")
    cube = build_cube(run, first)
    measured = metrics_of(run, cube)
    little = littles_law(run, cube.kind)
    wrong = faults_of(run)
    audits = audit_all(run, cube, little)
    judge = Judge(cube, little, smallest, wrong, different_content(cube, audits), differences(run))
    pairs = compare_pairs(cube, measured, judge, LEVEL)
    curves = contender_curves(cube, measured, LEVEL)
    contenders = summaries(run, cube, measured, curves)
    info = _info(run, cube, first, smallest, rate_of(measured).unit)
    cells = None
    if has_cells(run.trials):
        cells = compare_cells(cube, LEVEL, run.kind, _in_memory(run), regions_of(run.plan), measured[0].weights)
    behind = falls_behind(cube)
    sentences = headline(info, pairs, contenders, measured, cells, starved(run), disqualified(wrong), behind)
    return Comparison(
        schema=SCHEMA,
        run=info,
        headline=tuple(sentence.text for sentence in sentences),
        headline_kinds=tuple(sentence.kind for sentence in sentences),
        pairs=pairs,
        contenders=contenders,
        curves=curves,
        left_out=cube.left_out,
        lost=(*lost_trials(cube), *lost_cells(cube)),
        audits=audits,
        warnings=advise(run, cube, info, contenders, pairs, audits),
        falls_behind=behind,
        cells=cells,
        own=cube.kind.summary(run),
        soak=soak_of(run),
    )


def _in_memory(run: RunRecord) -> frozenset[str]:
    """Contenders whose files lie in memory: tmpfs and its like."""
    return frozenset(c.name for c in run.contenders if facts_of(run, c.name).get("carrier") == "memory")


def _info(run: RunRecord, cube: Cube, baseline: str, delta: float, rate_unit: str) -> RunInfo:
    return RunInfo(
        name=run.name,
        suite=run.suite,
        kind=run.kind,
        file=run.path.name,
        plan_hash=run.plan_hash,
        created_at=run.created_at,
        finished_at=run.finished_at,
        work=cube.kind.work,
        rate_unit=rate_unit,
        mixes=cube.mixes,
        blocks_planned=run.blocks_planned,
        blocks_measured=len(cube.blocks),
        trials_planned=run.trials_planned,
        trials=dict(Counter(trial.state for trial in cube.trials.values())),
        delta=delta,
        level=LEVEL,
        baseline=baseline,
        null_operations_per_s=run.null_operations_per_s,
    )
