"""From a run to its comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bakeoff.compare.advice import advise
from bakeoff.compare.audits import LittlesLaw, audit_all, different_content, littles_law
from bakeoff.compare.behind import falls_behind
from bakeoff.compare.capacity import (
    capacity_metric,
    capacity_pairs,
    compare_capacities,
    is_search,
    joined,
    probes_view,
    unpaired,
    view_of,
)
from bakeoff.compare.ceiling import ceiling_of
from bakeoff.compare.cell_pairs import compare_cells
from bakeoff.compare.cells import has_cells, lost_cells
from bakeoff.compare.content import differences, facts_of
from bakeoff.compare.cube import Cube, build_cube, lost_trials
from bakeoff.compare.curves import contender_curves, summaries
from bakeoff.compare.faults import disqualified, faults_of
from bakeoff.compare.fleet import machines_of
from bakeoff.compare.gates import Judge
from bakeoff.compare.headline import headline
from bakeoff.compare.looks import LEVEL, Look, look_of
from bakeoff.compare.metrics import metrics_of, rate_of
from bakeoff.compare.model import SCHEMA, Audit, Comparison, RunInfo
from bakeoff.compare.pairs import compare_pairs
from bakeoff.compare.ranking import rank
from bakeoff.compare.regions import regions_of
from bakeoff.compare.repeated import left_out_contenders, repeated_trials
from bakeoff.compare.soak import soak_of
from bakeoff.errors import PlanError
from bakeoff.store.records import RunRecord

SAME_CONTENT = "Same content"


def compare_run(
    run: RunRecord, baseline: str | None = None, delta: float | None = None, both: bool = False
) -> Comparison:
    """Compare all contenders of `run`; with `both` each of a pair passes the gates only as the one ahead has to.

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
    whole, run = run, view_of(run)
    cube = build_cube(run, first)
    if is_search(whole):
        cube = replace(cube, left_out=(*cube.left_out, *unpaired(whole, first, cube.left_out)))
    measured = metrics_of(run, cube)
    little = littles_law(run, cube.kind)
    wrong = faults_of(whole)
    audits = _audits(whole, run, cube, little)
    look, repeated, most = look_of(whole), repeated_trials(whole), ceiling_of(run)
    different = different_content(cube, audits)
    judge = Judge(cube, little, smallest, wrong, different, differences(run), look, repeated, most, both)
    pairs = compare_pairs(cube, measured, judge)
    curves = contender_curves(cube, measured, LEVEL)
    contenders = summaries(run, cube, measured, curves)
    info = _info(whole, cube, first, smallest, rate_of(measured).unit, look)
    cells = None
    if has_cells(run.trials):
        cells = compare_cells(cube, look.level, run.kind, _in_memory(run), regions_of(run.plan), measured[0].weights)
    behind = falls_behind(cube)
    capacity = None
    if is_search(whole):
        unit = "clients" if whole.plan["capacity"].get("by") == "clients" else f"{cube.kind.turns or cube.kind.work}/s"
        pairs = joined(capacity_pairs(whole, first, judge, unit), pairs)
        capacity = compare_capacities(whole, cube.contenders, unit, LEVEL)
        measured = (capacity_metric(unit), *measured)
    machines = machines_of(run, cube, smallest)
    places = rank(pairs, tuple(names), first)
    sentences = headline(
        info, pairs, contenders, measured, cells, disqualified(wrong), behind, capacity, places, curves, repeated
    )
    return Comparison(
        schema=SCHEMA,
        run=info,
        headline=tuple(sentence.text for sentence in sentences),
        headline_kinds=tuple(sentence.kind for sentence in sentences),
        pairs=pairs,
        contenders=contenders,
        curves=curves,
        left_out=cube.left_out,
        repeated=repeated,
        lost=(*lost_trials(cube), *lost_cells(cube)),
        audits=audits,
        warnings=advise(run, cube, info, contenders, pairs, audits, machines),
        falls_behind=behind,
        cells=cells,
        capacity=capacity,
        own=cube.kind.summary(run),
        soak=soak_of(run),
        machines=machines,
        ranking=places,
    )


def _audits(whole: RunRecord, view: RunRecord, cube: Cube, little: LittlesLaw) -> tuple[Audit, ...]:
    """Every audit; of a search over all its probes, but for the one that holds trials against each other."""
    if not is_search(whole):
        return audit_all(view, cube, little)
    alone = [audit for audit in audit_all(whole, probes_view(whole), little) if audit.name != SAME_CONTENT]
    return (*alone, *(audit for audit in audit_all(view, cube, little) if audit.name == SAME_CONTENT))


def _in_memory(run: RunRecord) -> frozenset[str]:
    """Contenders whose files lie in memory: tmpfs and its like."""
    return frozenset(c.name for c in run.contenders if facts_of(run, c.name).get("carrier") == "memory")


def _info(run: RunRecord, cube: Cube, baseline: str, delta: float, rate_unit: str, look: Look) -> RunInfo:
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
        blocks_planned=run.blocks_wanted,
        blocks_measured=len(cube.blocks),
        trials_planned=run.trials_planned,
        trials=dict(Counter(trial.state for trial in run.trials)),
        delta=delta,
        level=LEVEL,
        baseline=baseline,
        null_operations_per_s=None if (most := ceiling_of(run)) is None else most.operations_per_s,
        plan_hash_first=run.first_plan_hash,
        amendments=run.amendments,
        look=look,
        left_out=left_out_contenders(run),
    )
