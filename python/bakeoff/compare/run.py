"""From a run to its comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bakeoff.compare.advice import advise
from bakeoff.compare.audits import LittlesLaw, audit_all, different_content, littles_law
from bakeoff.compare.behind import falls_behind
from bakeoff.compare.capacity import (
    capacity_judge,
    capacity_metric,
    capacity_pairs,
    compare_capacities,
    is_search,
    joined,
    missed_loads,
    probes_view,
    unpaired,
    view_of,
)
from bakeoff.compare.caveat import caveat_of
from bakeoff.compare.ceiling import ceilings_of, common_ceiling
from bakeoff.compare.cell_model import CellPair
from bakeoff.compare.cell_pairs import compare_cells
from bakeoff.compare.cells import has_cells, lost_cells
from bakeoff.compare.challenge import challenge_of
from bakeoff.compare.content import bodies_of, changed_of, differences, facts_of
from bakeoff.compare.cube import Cube, build_cube, lost_trials
from bakeoff.compare.curves import contender_curves, summaries
from bakeoff.compare.delayed import delayed_advice, delayed_steps
from bakeoff.compare.factors import compare_factors, design_of
from bakeoff.compare.faults import faults_of
from bakeoff.compare.fleet import machines_of
from bakeoff.compare.gates import Judge
from bakeoff.compare.joined import Together, between_pairs, file_gates, joined_pairs
from bakeoff.compare.joined_files import if_counted, made_of
from bakeoff.compare.joined_model import DatedNote, IfCounted
from bakeoff.compare.levels import levels_of
from bakeoff.compare.looks import LEVEL, look_of, precision
from bakeoff.compare.losers import without_losers
from bakeoff.compare.manners import manner_advice, manners_of
from bakeoff.compare.metric import Metric
from bakeoff.compare.metrics import metrics_of, rate_of
from bakeoff.compare.model import SCHEMA, Advisory, Audit, Comparison, Measure, RunInfo
from bakeoff.compare.needed import block_lengths_s
from bakeoff.compare.noise import is_aa, noise_advice, noise_of, quoted
from bakeoff.compare.noise_model import NoiseFloor
from bakeoff.compare.objective import objective_held
from bakeoff.compare.pair_model import Exploratory, PairComparison
from bakeoff.compare.pairs import compare_pairs, without_number, without_result
from bakeoff.compare.parts_of_time import dominant_steps
from bakeoff.compare.ranking import rank
from bakeoff.compare.regions import regions_of
from bakeoff.compare.repeated import left_out_contenders, repeated_trials
from bakeoff.compare.soak import soak_of
from bakeoff.compare.steady import steady_audit, steady_state
from bakeoff.compare.telemetry import resources_of
from bakeoff.compare.telemetry_cost import cost_metrics
from bakeoff.compare.units import unit_of
from bakeoff.errors import PlanError
from bakeoff.store.absent import absent_of
from bakeoff.store.join import join
from bakeoff.store.records import RunRecord

NOT_TOLD = Exploratory(0, LEVEL, ())
SAME_CONTENT = "Same content"


def compare_run(
    run: RunRecord,
    baseline: str | None = None,
    delta: float | None = None,
    both: bool = False,
    noise: NoiseFloor | None = None,
    block_s: float | None = None,
) -> Comparison:
    """Compare all contenders of `run`; with `both` each of a pair passes the gates only as the one ahead has to.

    `baseline` is the contender that the others are divided by (default: the first of the plan);
    `delta` the smallest ratio minus 1 that matters (default: the plan's); `noise` what an A/A run has shown of
    the set-up; `block_s` how long a block takes (default: as the run tells), NaN where nobody knows. Raises PlanError
    when the baseline is no contender or delta is out of range.
    """
    names = [contender.name for contender in run.contenders]
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise PlanError(f"there is no contender {first!r} in this run: choose one of {', '.join(names)}")
    smallest = _delta(run) if delta is None else delta
    if not 0.0 <= smallest < 1.0:
        raise PlanError(f"delta must lie between 0 % and 100 %, not {smallest:.0%}: give it as 5% or 0.05")
    whole, run = run, view_of(run)
    cube = build_cube(run, first)
    if is_search(whole):
        cube = replace(cube, left_out=(*cube.left_out, *unpaired(whole, first, cube.left_out)))
    measured = (*metrics_of(run, cube), *cost_metrics(run, cube))
    little = littles_law(run, cube.kind)
    wrong = faults_of(whole, cube.kind.faults)
    steady = steady_state(cube)
    audits = _audits(whole, run, cube, little)
    audits += () if steady is None else (steady_audit(steady),)
    look, repeated, most = look_of(whole), repeated_trials(whole), ceilings_of(run)
    different = different_content(cube, audits)
    judge = Judge(cube, little, smallest, wrong, different, differences(run), look, repeated, most, both, steady)
    judge = replace(judge, block_s=block_lengths_s({"": whole})[""] if block_s is None else block_s)
    together = _together(run, cube, measured[0], smallest, both)
    if together is not None:
        judge = replace(judge, files=file_gates(together, measured))
    manners = manners_of(whole)
    judge = replace(judge, kind=run.kind, manners=manners)
    pairs = tuple(
        replace(pair, exploratory=NOT_TOLD) if _disagree(pair, judge, measured[0]) else pair
        for pair in compare_pairs(cube, measured, judge)
    )
    curves = contender_curves(cube, measured, LEVEL)
    contenders = summaries(run, cube, measured, curves)
    info = _info(whole, cube, first, smallest, rate_of(measured).unit, judge)
    cells = None
    if has_cells(run.trials):
        cells = compare_cells(
            cube, look.level, run.kind, _in_memory(run), regions_of(run.planned.settings), measured[0].weights
        )
        cells = cells and replace(cells, pairs=tuple(p for p in cells.pairs if not _disagree(p, judge, measured[0])))
    behind = falls_behind(cube, info.unit)
    capacity = None
    if whole.planned.capacity is not None:
        unit = "clients" if whole.planned.capacity.by == "clients" else f"{cube.kind.turns or cube.kind.work}/s"
        pairs = joined(capacity_pairs(whole, first, judge, unit), pairs)
        capacity = compare_capacities(whole, cube.contenders, unit, LEVEL)
        measured = (capacity_metric(unit, missed_loads(whole)), *measured)
    pairs = tuple(without_losers(pair, measured[0].short) for pair in pairs)
    # What would tell equals apart nobody wants to know.
    pairs = tuple(without_number(pair) for pair in pairs) if is_aa(whole) else pairs
    info = replace(info, look=replace(look, precision=precision(pairs)))
    # Effects of several files at once would put together what disagrees: each file tells its own.
    design, factors = None if whole.joined else design_of(whole, first), None
    if design is not None:
        decides = capacity_judge(whole, first, judge) if is_search(whole) else judge
        factors = compare_factors(design, decides.cube, measured[:1] if is_search(whole) else measured, decides)
    machines = machines_of(run, cube, smallest)
    levels = None if is_search(whole) else levels_of(cube, measured[0])
    delayed = delayed_steps(cube)
    quote = None if noise is None or is_aa(whole) else quoted(noise, whole, pairs)
    found = Comparison(
        schema=SCHEMA,
        run=info,
        measures=tuple(map(_measure, measured)),
        pairs=pairs,
        contenders=contenders,
        curves=curves,
        left_out=cube.left_out,
        repeated=repeated,
        lost=(*lost_trials(cube), *without_result(cube, measured[0]), *lost_cells(cube)),
        audits=audits,
        warnings=(
            *(Advisory(fact, first=True) for fact in noise_advice(quote)),
            *map(Advisory, (*manner_advice(manners, cube.kind, names), *delayed_advice(delayed))),
            *advise(run, cube, info, contenders, pairs, audits, machines, steady),
        ),
        manners=manners,
        faults=wrong,
        changed=changed_of(whole),
        bodies=bodies_of(whole),
        falls_behind=behind,
        dominant=dominant_steps(cube),
        delayed=delayed,
        cells=cells,
        capacity=capacity,
        own=cube.kind.summary(run),
        soak=soak_of(run),
        machines=machines,
        resources=resources_of(run, cube),
        ranking=rank(pairs, tuple(names), first),
        levels=levels,
        challenge=challenge_of(whole, levels, LEVEL),
        factors=factors,
        steady=steady,
        noise=noise_of(whole),
        noise_quote=quote,
        objective=objective_held(whole, wrong),
        notes=tuple(DatedNote(day, text) for day, text in whole.notes),
    )
    found = found if together is None else _with_files(found, together, judge)
    return replace(found, caveat=caveat_of(whole, cube, found))


def _measure(metric: Metric) -> Measure:
    return Measure(
        metric=metric.key,
        title=metric.title,
        short=metric.short,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        paired=metric.paired is not None,
        least=metric.least,
        weighted_by="" if metric.weights is None else metric.weights.folder,
    )


def _delta(run: RunRecord) -> float:
    """The smallest difference that matters, as planned. Raises PlanError where several files have several."""
    planned = sorted({file.run.delta for file in run.joined if not file.failed} or {run.delta})
    if len(planned) > 1:
        named = " and ".join(f"{each:.3g}" for each in planned)
        raise PlanError(f"the plans of these files name different smallest differences ({named}): give one by --delta")
    return planned[0]


def _disagree(pair: PairComparison | CellPair, judge: Judge, decides: Metric) -> bool:
    """Whether files disagree about a pair: then no figure of all of them together is told of it."""
    gate = judge.files.get((decides.key, frozenset((pair.baseline, pair.contender))))
    return gate is not None and gate.level == "red"


def _together(run: RunRecord, cube: Cube, decides: Metric, delta: float, both: bool) -> Together | None:
    """Several files on one table, with what each says by itself; None for one."""
    if not run.joined:
        return None
    counted = [file for file in run.joined if not file.failed]
    first = cube.contenders[0]
    alone = {file.label: compare_run(file.run, first if first in file.names else None, delta, both) for file in counted}
    return Together(run, cube, decides, alone, delta)


def _with_files(found: Comparison, together: Together, judge: Judge) -> Comparison:
    """The comparison of several files: what they are and how they agree stands behind what decides."""
    run, by_file = together.run, joined_pairs(together, together.decides)
    counted: tuple[IfCounted, ...] = ()
    if any(file.failed for file in run.joined):
        whole = compare_run(join([file.run for file in run.joined]), found.run.baseline, found.run.delta, judge.both)
        counted = if_counted(found, whole)
    return replace(found, joined=made_of(together, by_file, between_pairs(together, judge, by_file), counted))


def _audits(whole: RunRecord, view: RunRecord, cube: Cube, little: LittlesLaw) -> tuple[Audit, ...]:
    """Every audit; of a search over all its probes, but for the one that holds trials against each other."""
    if not is_search(whole):
        return audit_all(view, cube, little)
    alone = [audit for audit in audit_all(whole, probes_view(whole), little) if audit.name != SAME_CONTENT]
    return (*alone, *(audit for audit in audit_all(view, cube, little) if audit.name == SAME_CONTENT))


def _in_memory(run: RunRecord) -> frozenset[str]:
    """Contenders whose files lie in memory: tmpfs and its like."""
    return frozenset(c.name for c in run.contenders if facts_of(run, c.name).get("carrier") == "memory")


def _info(run: RunRecord, cube: Cube, baseline: str, delta: float, rate_unit: str, judge: Judge) -> RunInfo:
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
        null_operations_per_s=None if (most := common_ceiling(run)) is None else most.operations_per_s,
        plan_hash_first=run.first_plan_hash,
        amendments=run.amendments,
        look=judge.look,
        left_out=left_out_contenders(run),
        absent=absent_of(run),
        block_s=judge.block_s,
        unit=unit_of(run),
        equals=is_aa(run),
    )
