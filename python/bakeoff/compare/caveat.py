"""Which caveat stands beside the result: the weightiest of those that no sentence of the headline has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from bakeoff.compare.caveat_model import Caveat, CaveatKind, SuiteCaveat
from bakeoff.compare.cells import cells_of
from bakeoff.compare.cube import Cube
from bakeoff.compare.disturbed import crowd, lost_share
from bakeoff.compare.metrics import metrics_of, near_ceiling
from bakeoff.compare.model import Comparison
from bakeoff.compare.order_in_time import turned_in_time
from bakeoff.compare.ranking import leading
from bakeoff.compare.spread import widest
from bakeoff.compare.steady import STEADY_STATE
from bakeoff.compare.working_set import fits_into_caches
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advice import memory_words
from bakeoff.report.narrate.fleet import busiest, full_link
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.spread import spread_caveat
from bakeoff.report.narrate.steady import unsteady_clause
from bakeoff.store.marks import (
    BEHIND_SCHEDULE,
    GENERATOR_LIMITED,
    GENERATOR_PAUSED,
    GENERATOR_WAITED,
    LINK_LIMITED,
    OTHER_LOAD,
)
from bakeoff.store.records import RunRecord, TrialRecord
from bakeoff.thresholds import P99_OPERATIONS

RANKS = {kind: rank for rank, kind in enumerate(get_args(CaveatKind))}


def caveat_of(run: RunRecord, cube: Cube, found: Comparison) -> Caveat | None:
    """The one to show; None where nothing speaks against the result, or the headline says all of it."""
    said = _said(found)
    return weightiest(caveat for caveat in caveats_of(run, cube, found) if caveat.kind not in said)


def _said(found: Comparison) -> set[str]:
    """The names of the gates that the headline tells of beside the verdict."""
    pairs = leading(found.ranking, found.pairs) if found.ranking else found.pairs
    ends = [] if found.run.equals and found.capacity is None else [pair.primary for pair in pairs]
    names = {gate.name for end in ends for gate in end.decisive}
    unsized = any(end.verdict.kind == "better" and not end.verdict.sized and not end.all_lost for end in ends)
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
    told = {name: found.caveat for name, found in suites.items() if found.caveat is not None}
    first = weightiest(told.values())
    return None if first is None else SuiteCaveat(next(n for n, caveat in told.items() if caveat is first), first)


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
    yield from _ceiling(run, found)
    yield from _cache(run, usable)
    yield from _short(usable)


def _of_the_run(run: RunRecord, found: Comparison) -> Iterator[Caveat]:
    if run.imported_from is not None:
        text = f"Bakeoff did not measure this, {run.imported_from} did; what it does not state nobody can check"
        yield Caveat("imported", "", 0, 0, {}, text)
    missing = 0 if run.joined else max(len(run.pending), run.trials_planned - len(run.trials))
    if missing > 0:
        figures = {"missing": float(missing), "planned": float(run.trials_planned)}
        text = f"{missing:,} of {wording.plural(run.trials_planned, 'planned trial')} were not run"
        yield Caveat("incomplete", "", 0, 0, figures, text)
    voided = sum(each.state == "voided" for each in found.left_out)
    if voided:
        of = len(run.trials)
        text = f"{wording.plural(voided, 'trial')} of {of:,} {'was' if voided == 1 else 'were'} void and count nowhere"
        yield Caveat("left out", "", voided, of, {}, text)


def _audits(found: Comparison) -> Iterator[Caveat]:
    for audit in found.audits:
        if audit.deviating and audit.name != STEADY_STATE:
            off, of = len(audit.deviating), audit.checked
            text = f"the audit “{audit.name}” does not hold in {off:,} of {wording.plural(of, 'trial')}"
            yield Caveat("audit", "", off, of, {"worst_share": audit.worst}, text)


def _order_in_time(run: RunRecord, cube: Cube, found: Comparison) -> Iterator[Caveat]:
    """Of the pairs that are compared, by what decides."""
    metrics = {metric.key: metric for metric in metrics_of(run, cube)}
    for pair in found.pairs:
        metric = metrics.get(pair.primary.metric)
        turned = None if metric is None else turned_in_time(cube, metric, (pair.baseline, pair.contender))
        if turned is not None:
            figures = {"block": float(turned.at), "before": turned.before, "after": turned.after}
            yield Caveat("order in time", turned.then, 0, 0, figures, sentence(turned))


def _disturbed(usable: Sequence[TrialRecord]) -> Iterator[Caveat]:
    """What befell the machine that sent load, whichever contender was measured then."""
    of = wording.plural(len(usable), "trial")
    crowded = [trial for trial in usable if OTHER_LOAD in trial.marks]
    if crowded and (told := crowd(crowded)).others is not None:
        who = f", most of it by {wording.names(list(told.names))}" if told.names else ""
        text = (
            f"others took {wording.percent(told.others)} of the processors of the machine that sent load in "
            f"{len(crowded):,} of {of}{who}: sizes of differences are uncertain"
        )
        shares = {"others_share": told.others, "waited_share": told.waited}
        figures = {name: share for name, share in shares.items() if share is not None}
        yield Caveat("other load", "", len(crowded), len(usable), figures, text)
    stopped = [trial for trial in usable if GENERATOR_PAUSED in trial.marks]
    if stopped:
        most = max(map(lost_share, stopped))
        text = f"the load generator was stopped in {len(stopped):,} of {of}, for up to {wording.percent(most)} of one"
        yield Caveat("generator stopped", "", len(stopped), len(usable), {"lost_share": most}, text)


def _generator(name: str, usable: Sequence[TrialRecord]) -> Iterator[Caveat]:
    """What kept the generator from measuring a contender as it should."""

    def marked(mark: str) -> list[TrialRecord]:
        return [trial for trial in usable if mark in trial.marks]

    def where(trials: Sequence[TrialRecord]) -> str:
        return f"in {len(trials):,} of {wording.plural(len(usable), 'trial')} of {name}"

    if hit := marked(LINK_LIMITED):
        text = f"{full_link(hit)} {where(hit)}: the network was measured, not the server"
        yield Caveat("link", name, len(hit), len(usable), {}, text)
    if hit := marked(GENERATOR_LIMITED):
        text = f"{busiest(hit)} was the limit {where(hit)}: such rates are lower bounds"
        yield Caveat("generator", name, len(hit), len(usable), {}, text)
    if hit := marked(BEHIND_SCHEDULE):
        text = f"the load generator itself began late {where(hit)}, which is in its response times"
        yield Caveat("schedule", name, len(hit), len(usable), {}, text)
    if hit := marked(GENERATOR_WAITED):
        most = max(trial.generator_run_delay_share or 0.0 for trial in hit)
        text = f"the load generator waited up to {wording.percent(most)} of its time for a processor {where(hit)}"
        yield Caveat("generator waited", name, len(hit), len(usable), {"waited_share": most}, text)


def _noise_floor(found: Comparison) -> Iterator[Caveat]:
    quote = found.noise_quote
    if quote is not None and quote.within:
        figures = {"floor_share": quote.floor, "blocks": float(quote.blocks)}
        yield Caveat("noise floor", "", 0, 0, figures, f"{sentence(quote.within[0])} on this set-up")


def _speeds(cube: Cube) -> Iterator[Caveat]:
    """The contender whose blocks differ most."""
    spreads = {name: widest([t for t in cube.usable.values() if t.contender == name]) for name in cube.contenders}
    wide = {name: spread for name, spread in spreads.items() if spread is not None}
    if wide:
        name = max(wide, key=lambda each: wide[each].factor)
        figures = {"lowest": wide[name].lowest, "highest": wide[name].highest}
        yield Caveat("blocks", name, 0, 0, figures, spread_caveat(wide[name], name, cube.kind.work))


def _unsteady(found: Comparison) -> Iterator[Caveat]:
    for pace in found.steady.contenders if found.steady is not None else ():
        if pace.unsteady:
            text = f"{pace.contender} {unsteady_clause(pace)}"
            figures = {"worst_share": pace.worst}
            yield Caveat("not steady", pace.contender, len(pace.unsteady), pace.judged, figures, text)


def _ceiling(run: RunRecord, found: Comparison) -> Iterator[Caveat]:
    for name, share in near_ceiling(run, found.run, found.contenders).items():
        text = (
            f"the peak of {name} is {wording.percent(share)} of what the generator asks of a server that does nothing, "
            "so it may be the generator's"
        )
        yield Caveat("ceiling", name, 0, 0, {"ceiling_share": share}, text)


def _cache(run: RunRecord, usable: list[TrialRecord]) -> Iterator[Caveat]:
    for each in fits_into_caches(run, usable):
        text = memory_words(each).rstrip(".")
        yield Caveat("cache", "", 0, 0, {}, text[0].lower() + text[1:])


def _short(usable: Sequence[TrialRecord]) -> Iterator[Caveat]:
    whole = [trial for trial in usable if not cells_of(trial)]
    short = [trial for trial in whole if trial.operations < P99_OPERATIONS]
    if short:
        text = (
            f"{len(short):,} of {wording.plural(len(whole), 'trial')} saw fewer than {P99_OPERATIONS} operations, too "
            "few for a p99"
        )
        fewest = float(min(trial.operations for trial in short))
        yield Caveat("short trials", "", len(short), len(whole), {"fewest_operations": fewest}, text)
