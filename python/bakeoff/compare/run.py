"""From a run to its comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bakeoff.compare.advice.advice import advise
from bakeoff.compare.advice.caveat import caveat_of
from bakeoff.compare.collections.challenge import challenge_of
from bakeoff.compare.collections.joined import Together, between_pairs, file_gates, joined_pairs
from bakeoff.compare.collections.joined_files import if_counted, made_of
from bakeoff.compare.collections.joined_model import DatedNote, IfCounted
from bakeoff.compare.cube.cells import forfeited_cells
from bakeoff.compare.cube.cube import forfeited_trials
from bakeoff.compare.cube.repeated import left_out_contenders
from bakeoff.compare.estimate.factors import design_of
from bakeoff.compare.estimate.interim import LEVEL, precision
from bakeoff.compare.estimate.pairs import compare_pairs, without_number, without_result
from bakeoff.compare.failures.content import bodies_of, changed_of
from bakeoff.compare.failures.delayed_acks import delayed_steps
from bakeoff.compare.limits.objective import objective_outcome
from bakeoff.compare.metrics.curves import contender_curves, summaries
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.metrics import rate_of
from bakeoff.compare.metrics.time_breakdown import dominant_steps
from bakeoff.compare.metrics.units import unit_of
from bakeoff.compare.model.comparison import SCHEMA, Advisory, Comparison, Measure, RunInfo
from bakeoff.compare.model.pair import Exploratory, PairComparison
from bakeoff.compare.model.subject import Asked, Subject, asked_of, subject_of
from bakeoff.compare.planning.noise import is_aa, noise_advice, noise_of, quoted
from bakeoff.compare.planning.noise_model import NoiseFloor
from bakeoff.compare.resources.fleet import machines_of
from bakeoff.compare.resources.telemetry import resources_of
from bakeoff.compare.validity.client_options import client_options_advice
from bakeoff.compare.validity.gates import Judge
from bakeoff.compare.validity.generator_capacity import common_capacity
from bakeoff.compare.verdict.loser_gains import without_losers
from bakeoff.compare.verdict.ranking import rank
from bakeoff.store.collections.join import join
from bakeoff.store.records.absent import absent_of
from bakeoff.store.records.run_records import RunRecord

NOT_REPORTED = Exploratory(0, LEVEL, ())


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
    asked = asked_of(run, baseline, delta, both, block_s)
    subject = subject_of(run, asked)
    together = _together(subject, asked)
    if together is not None:
        judge = replace(subject.judge, files=file_gates(together, subject.metrics))
        subject = replace(subject, judge=judge)
    found = _found(subject, _pairs(subject), noise)
    found = found if together is None else _with_files(found, together, subject.judge)
    return replace(found, caveat=caveat_of(run, subject.cube, found))


def _pairs(subject: Subject) -> tuple[PairComparison, ...]:
    """Every pair, with its verdicts."""
    cube, judge, shape = subject.cube, subject.judge, subject.shape
    compared = compare_pairs(cube, subject.metrics, judge)
    pairs = tuple(
        replace(pair, exploratory=NOT_REPORTED) if subject.files_disagree(pair) else pair for pair in compared
    )
    decides = shape.metrics(subject)[0]
    pairs = tuple(without_losers(pair, decides.short) for pair in shape.verdicts(subject, pairs))
    # What would tell equals apart nobody wants to know.
    return tuple(without_number(pair) for pair in pairs) if is_aa(subject.whole) else pairs


def _found(subject: Subject, pairs: tuple[PairComparison, ...], noise: NoiseFloor | None) -> Comparison:
    """All that the run shows, with what is advised."""
    whole, run, cube, shape, judge = subject.whole, subject.run, subject.cube, subject.shape, subject.judge
    metrics, names = shape.metrics(subject), tuple(contender.name for contender in run.contenders)
    curves = contender_curves(cube, subject.metrics, LEVEL)
    contenders = summaries(run, cube, subject.metrics, curves)
    info = _info(subject, pairs)
    # Effects of several files at once would put together what disagrees: each file tells its own.
    design = None if whole.joined else design_of(whole, info.baseline)
    machines, levels, delayed = machines_of(run, cube, info.delta), shape.levels(subject), delayed_steps(cube, run.kind)
    quote = None if noise is None or is_aa(whole) else quoted(noise, whole, pairs)
    return Comparison(
        schema=SCHEMA,
        run=info,
        measures=tuple(map(_measure, metrics)),
        pairs=pairs,
        contenders=contenders,
        curves=curves,
        left_out=cube.left_out,
        repeated=judge.repeated,
        forfeited=(*forfeited_trials(cube), *without_result(cube, metrics[0]), *forfeited_cells(cube)),
        audits=subject.audits,
        warnings=(
            *(Advisory(fact, first=True) for fact in noise_advice(quote)),
            *map(Advisory, (*client_options_advice(judge.client_options, run.kind, names), *delayed)),
            *advise(run, cube, info, contenders, pairs, subject.audits, machines, judge.steady),
        ),
        client_options=judge.client_options,
        faults=judge.faults,
        changed=changed_of(whole),
        bodies=bodies_of(whole),
        dominant=dominant_steps(cube, run.kind),
        delayed=delayed,
        own=cube.kind.summary(run),
        machines=machines,
        resources=resources_of(run, cube),
        ranking=rank(pairs, names, info.baseline),
        levels=levels,
        challenge=challenge_of(whole, levels, LEVEL),
        factors=None if design is None else shape.factors(subject, design),
        steady=judge.steady,
        noise=noise_of(whole),
        noise_quote=quote,
        objective=objective_outcome(whole, judge.faults),
        notes=tuple(DatedNote(day, text) for day, text in whole.notes),
        shape=shape.names,
        **shape.findings(subject),
    )


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


def _together(subject: Subject, asked: Asked) -> Together | None:
    """Several files on one table, with what each says by itself; None for one."""
    run, first = subject.run, asked.baseline
    if not run.joined:
        return None
    alone = {
        file.label: compare_run(file.run, first if first in file.names else None, asked.delta, asked.both)
        for file in run.files
    }
    return Together(run, subject.cube, subject.metrics[0], alone, asked.delta)


def _with_files(found: Comparison, together: Together, judge: Judge) -> Comparison:
    """The comparison of several files: what they are and how they agree stands behind what decides."""
    run, by_file = together.run, joined_pairs(together, together.decides)
    counted: tuple[IfCounted, ...] = ()
    if any(file.failed for file in run.joined):
        whole = compare_run(join([file.run for file in run.joined]), found.run.baseline, found.run.delta, judge.both)
        counted = if_counted(found, whole)
    return replace(found, joined=made_of(together, by_file, between_pairs(together, judge, by_file), counted))


def _info(subject: Subject, pairs: tuple[PairComparison, ...]) -> RunInfo:
    run, cube, judge = subject.whole, subject.cube, subject.judge
    return RunInfo(
        name=run.name,
        suite=run.suite,
        kind=run.kind,
        file=run.path.name,
        plan_hash=run.plan_hash,
        created_at=run.created_at,
        finished_at=run.finished_at,
        work=cube.kind.work,
        rate_unit=rate_of(subject.metrics).unit,
        load_steps=cube.load_steps,
        blocks_planned=run.blocks_wanted,
        blocks_measured=len(cube.blocks),
        trials_planned=run.trials_planned,
        trials=dict(Counter(trial.state for trial in run.trials)),
        delta=judge.delta,
        level=LEVEL,
        baseline=cube.contenders[0],
        null_operations_per_s=None if (most := common_capacity(run)) is None else most.operations_per_s,
        plan_hash_first=run.first_plan_hash,
        amendments=run.amendments,
        interim=replace(judge.interim, precision=precision(pairs)),
        left_out=left_out_contenders(run),
        absent=absent_of(run),
        block_s=judge.block_s,
        unit=unit_of(run),
        equals=is_aa(run),
    )
