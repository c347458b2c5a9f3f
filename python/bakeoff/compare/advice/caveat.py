"""Which caveat stands beside the result: the weightiest of those that no sentence of the headline has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from bakeoff.compare.advice.advice import late_ms
from bakeoff.compare.advice.advice_model import (
    AuditDoesNotHold,
    BeganLate,
    BlocksDiffer,
    GeneratorLimit,
    LinkFull,
    NearGeneratorCapacity,
    NotComplete,
    NotMeasuredHere,
    OthersRan,
    Waited,
)
from bakeoff.compare.advice.caveat_model import (
    Caveat,
    CaveatKind,
    GeneratorStopped,
    ShortTrials,
    SuiteCaveat,
    TrialsVoid,
)
from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.spread import widest
from bakeoff.compare.metrics.metrics import near_generator_capacity
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.resources.fleet import busy_threads, full_link_of
from bakeoff.compare.shapes import shape_of
from bakeoff.compare.validity.disturbances import crowd, lost_share
from bakeoff.compare.validity.steadiness import STEADY_STATE
from bakeoff.compare.validity.working_set import fits_into_caches
from bakeoff.compare.verdict.order_in_time import turned_in_time
from bakeoff.compare.verdict.ranking import leading
from bakeoff.core.thresholds import P99_OPERATIONS
from bakeoff.plan.shapes import PlanShape
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.marks import (
    BEHIND_SCHEDULE,
    GENERATOR_LIMITED,
    GENERATOR_PAUSED,
    GENERATOR_WAITED,
    LINK_LIMITED,
    OTHER_LOAD,
)
from bakeoff.store.records.run_records import RunRecord, TrialRecord

RANKS = {kind: rank for rank, kind in enumerate(get_args(CaveatKind))}


def caveat_of(run: RunRecord, cube: Cube, found: Comparison) -> Caveat | None:
    """The one to show; None where nothing speaks against the result, or the headline says all of it."""
    gate_names = _headline_gates(found, run.planned.shape)
    return weightiest(caveat for caveat in caveats_of(run, cube, found) if caveat.kind not in gate_names)


def _headline_gates(found: Comparison, shape: PlanShape) -> set[str]:
    """The names of the gates that the headline tells of beside the verdict."""
    pairs = leading(found.ranking, found.pairs) if found.ranking else found.pairs
    ends = [] if found.run.equals and shape.steps else [pair.primary for pair in pairs]
    names = {gate.name for end in ends for gate in end.decisive}
    unsized = any(end.verdict.kind == "better" and not end.verdict.sized and not end.all_forfeited for end in ends)
    return names | ({"other load"} if unsized else set())


def weightiest(caveats: Iterable[Caveat]) -> Caveat | None:
    """What is of the run or of most trials comes first, then what makes more of the result wrong, then more trials."""
    return min(
        caveats,
        key=lambda each: (not each.in_most, RANKS[each.kind], -(each.trials / each.of if each.of else 1.0)),
        default=None,
    )


def of_suites(suites: Mapping[str, Comparison]) -> SuiteCaveat | None:
    """The weightiest of all suites, the first of those that are alike."""
    caveats = {name: found.caveat for name, found in suites.items() if found.caveat is not None}
    first = weightiest(caveats.values())
    return None if first is None else SuiteCaveat(next(n for n, caveat in caveats.items() if caveat is first), first)


def caveats_of(run: RunRecord, cube: Cube, found: Comparison) -> Iterator[Caveat]:
    """All of them."""
    usable = list(cube.usable.values())
    yield from _of_the_run(run, found)
    yield from _audits(found)
    yield from _order_in_time(run, cube, found)
    yield from _disturbed(usable)
    for name in cube.contenders:
        yield from _generator(name, [trial for trial in usable if trial.contender == name])
    yield from _noise_floor(found)
    yield from _speeds(cube)
    yield from _unsteady(found)
    yield from _generator_capacity(run, found)
    yield from _cache(run, usable)
    yield from _short(usable)


def _of_the_run(run: RunRecord, found: Comparison) -> Iterator[Caveat]:
    if run.imported_from is not None:
        yield Caveat("imported", "", 0, 0, NotMeasuredHere(run.imported_from, run.kind))
    missing = 0 if run.joined else max(len(run.pending), run.trials_planned - len(run.trials))
    if missing > 0:
        yield Caveat("incomplete", "", 0, 0, NotComplete(run.path.name, missing, run.trials_planned))
    voided, of = sum(each.state == "voided" for each in found.left_out), len(run.trials)
    if voided:
        yield Caveat("left out", "", voided, of, TrialsVoid(voided, of))


def _audits(found: Comparison) -> Iterator[Caveat]:
    for audit in found.audits:
        if audit.deviating and audit.name != STEADY_STATE:
            off, of = len(audit.deviating), audit.checked
            yield Caveat("audit", "", off, of, AuditDoesNotHold(audit.name, off, of))


def _order_in_time(run: RunRecord, cube: Cube, found: Comparison) -> Iterator[Caveat]:
    """Of the pairs that are compared, by what decides."""
    metrics = {metric.key: metric for metric in shape_of(run).endpoints(run, cube)}
    for pair in found.pairs:
        metric = metrics.get(pair.primary.metric)
        turned = None if metric is None else turned_in_time(cube, metric, (pair.baseline, pair.contender))
        if turned is not None:
            yield Caveat("order turned", turned.later, 0, 0, turned)


def _disturbed(usable: Sequence[TrialRecord]) -> Iterator[Caveat]:
    """What befell the machine that sent load, whichever contender was measured then."""
    of = len(usable)
    crowded = [trial for trial in usable if OTHER_LOAD in trial.marks]
    if crowded and (crowd_found := crowd(crowded)).others is not None:
        yield Caveat("other load", "", len(crowded), of, OthersRan(crowd_found, len(crowded), of))
    stopped = [trial for trial in usable if GENERATOR_PAUSED in trial.marks]
    if stopped:
        about = GeneratorStopped(len(stopped), of, max(map(lost_share, stopped)))
        yield Caveat("generator stopped", "", len(stopped), of, about)


def _generator(name: str, usable: Sequence[TrialRecord]) -> Iterator[Caveat]:
    """What kept the generator from measuring a contender as it should."""
    of = len(usable)

    def marked(mark: str) -> list[TrialRecord]:
        return [trial for trial in usable if mark in trial.marks]

    if hit := marked(LINK_LIMITED):
        yield Caveat("link", name, len(hit), of, LinkFull(name, full_link_of(hit), len(hit), of, ()))
    if hit := marked(GENERATOR_LIMITED):
        yield Caveat("generator", name, len(hit), of, GeneratorLimit(name, busy_threads(hit), len(hit), of))
    if hit := marked(BEHIND_SCHEDULE):
        yield Caveat("schedule", name, len(hit), of, BeganLate(name, len(hit), of, late_ms(hit)))
    if hit := marked(GENERATOR_WAITED):
        most = max(trial.generator_run_delay_share or 0.0 for trial in hit)
        yield Caveat("generator waited", name, len(hit), of, Waited(name, most, len(hit), of))


def _noise_floor(found: Comparison) -> Iterator[Caveat]:
    quote = found.noise_quote
    if quote is not None and quote.within:
        yield Caveat("noise floor", "", 0, 0, quote.within[0])


def _speeds(cube: Cube) -> Iterator[Caveat]:
    """The contender whose blocks differ most."""
    spreads = {name: widest([t for t in cube.usable.values() if t.contender == name]) for name in cube.contenders}
    wide = {name: spread for name, spread in spreads.items() if spread is not None}
    if wide:
        name = max(wide, key=lambda each: wide[each].factor)
        yield Caveat("blocks", name, 0, 0, BlocksDiffer({name: wide[name]}, cube.kind.work))


def _unsteady(found: Comparison) -> Iterator[Caveat]:
    for steadiness in found.steady.contenders if found.steady is not None else ():
        if (unsteady := steadiness.unsteady_trials) is not None:
            yield Caveat("not steady", steadiness.contender, unsteady.trials, unsteady.of, unsteady)


def _generator_capacity(run: RunRecord, found: Comparison) -> Iterator[Caveat]:
    for name, share in near_generator_capacity(run, found.run, found.contenders).items():
        yield Caveat("generator capacity", name, 0, 0, NearGeneratorCapacity(name, share))


def _cache(run: RunRecord, usable: list[TrialRecord]) -> Iterator[Caveat]:
    for each in fits_into_caches(run, usable):
        yield Caveat("cache", "", 0, 0, each)


def _short(usable: Sequence[TrialRecord]) -> Iterator[Caveat]:
    whole = [trial for trial in usable if not (cells_of(trial) or trial.figures(Figures).stated)]
    short = [trial.operations for trial in whole if trial.operations < P99_OPERATIONS]
    if short:
        about = ShortTrials(len(short), len(whole), min(short))
        yield Caveat("short trials", "", len(short), len(whole), about)
