"""Audits that cost nothing: every usable trial must add up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bakeoff.compare.cube.cells import cells_of, has_cells, key_of
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.metrics.metrics import error_share
from bakeoff.compare.model.comparison import Audit, AuditTrial
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.audit_model import (
    BytesRule,
    CellBytes,
    CellsRule,
    ContentRule,
    CountsRule,
    FatesRule,
    LittleRule,
    NotMeasuredCells,
    OffRate,
    OffSessions,
    OffStarts,
    OtherSize,
    RatesRule,
    StartsRule,
    Unequal,
)
from bakeoff.core.times import s_of
from bakeoff.load.load_step import Rate
from bakeoff.stats import littles_law_clients
from bakeoff.store.records.figures import CellFigures, Figures
from bakeoff.store.records.run_records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from bakeoff.compare.kind import ComparePart

LITTLE_TOLERANCE = 0.02
LITTLE_RED = 0.10
# Above this share of failed operations the time they took is missing from R, and the law cannot be checked.
LITTLE_ERRORS = 0.001
# Chance exceeds so many standard deviations of a Poisson count less than once in a million.
CHANCE_DEVIATIONS = 5.0
# The files of a class differ a little.
CONTENT_TOLERANCE = 0.25
CONTENT_OPERATIONS = 30
# Headers are each server's own, and are most of a small reply. Whole bodies of GET are compared before timing.
HEADER_BYTES = 512
# Standard deviation ÷ mean of the sizes in a class as uneven as the large files of web-static.
UNEVEN_SIZES = 0.85


@dataclass(frozen=True)
class LittlesLaw:
    """N = X · (R + Z) for closed load steps: `per_client` sessions per client, `think_s` seconds between
    operations. Sessions that fill and check data between operations are busy in that time, too.

    It does not hold, and is not checked, where a trial is made of cells: what is between two cells (making files
    ready, dropping caches) is no part of the window.
    """

    kind: ComparePart
    per_client: int
    think_s: float
    applies: bool = True

    def deviation(self, trial: TrialRecord) -> float | None:
        """Relative deviation of the implied sessions from the real ones; None when the law cannot be
        checked, and of a rate, which leaves the number of sessions that are busy to the server.
        """
        sessions = trial.load_step.sessions(self.per_client)
        if not self.applies or sessions is None or error_share(trial) > LITTLE_ERRORS:
            return None
        implied = self.kind.implied_sessions(trial, self)
        return None if implied is None else (implied + _outside(trial)) / sessions - 1.0

    def tolerance(self, trial: TrialRecord) -> float:
        """How far the law may be off in `trial`, as a share."""
        return self.kind.law_tolerance(trial, self)


def implied_sessions(trial: TrialRecord, law: LittlesLaw) -> float | None:
    """X · (R + Z) over single operations; None without any."""
    mean_ns = trial.service.mean_ns
    if mean_ns is None or trial.operations == 0:
        return None
    return littles_law_clients(trial.operations_per_s, s_of(mean_ns), law.think_s)


def law_tolerance(trial: TrialRecord, law: LittlesLaw) -> float:
    """2 %, and one operation per session for those cut by the edges of the window."""
    return LITTLE_TOLERANCE + trial.load_step.clients * law.per_client / max(1, trial.operations)


def littles_law(run: RunRecord, kind: ComparePart) -> LittlesLaw:
    """The law with the virtual users, streams and think time of the plan of `run`."""
    settings = run.planned.settings
    return LittlesLaw(kind, settings.sessions_per_client, settings.think_s, not has_cells(run.trials))


def _outside(trial: TrialRecord) -> float:
    """Sessions that were filling and checking data on average, instead of being in an operation."""
    outside_s = trial.figures(Figures).outside_s or 0.0
    return outside_s / trial.window_s if trial.window_s > 0.0 else 0.0


def audit_all(run: RunRecord, cube: Cube, little: LittlesLaw) -> tuple[Audit, ...]:
    """Every audit over the usable trials of `cube`."""
    trials = sorted(cube.usable.values(), key=lambda trial: trial.order)
    law = (_little(trials, little),) if little.applies else ()
    starts: tuple[Audit, ...] = ()
    if any(trial.starts for trial in trials):
        starts = (_starts(run, trials, cube.kind.ends_with_its_starts), _fates(trials))
    same = (_cells(cube, run.imported_from is None),) if has_cells(trials) else tuple(cube.kind.same_work(run, cube))
    rates = _rates(trials if run.imported_from is None else [], len(trials))
    if any(trial.figures(Figures).stated for trial in trials):  # figures without the counts that they come from
        unknown = (_counts(trials), _bytes(trials), rates, *same)
        return tuple(replace(audit, checked=0, not_applicable=0, not_stated=len(trials)) for audit in unknown)
    return (*law, *starts, _counts(trials), _bytes(trials), rates, *same)


def deviating(trial: TrialRecord, *found: Fact) -> AuditTrial:
    return AuditTrial(trial.id, trial.contender, trial.load_step, trial.block, found)


def _little(trials: list[TrialRecord], law: LittlesLaw) -> Audit:
    bad, worst, checked = [], 0.0, 0
    for trial in trials:
        off = law.deviation(trial)
        if off is None:
            continue
        checked += 1
        worst = max(worst, abs(off))
        if abs(off) > law.tolerance(trial):
            sessions = trial.load_step.clients * law.per_client
            bad.append(deviating(trial, OffSessions(sessions, sessions * (1.0 + off))))
    rule = LittleRule(LITTLE_TOLERANCE, law.kind.law_allows, any(_outside(trial) for trial in trials))
    return Audit("Little's law", rule, checked, len(trials) - checked, worst, tuple(bad))


def _starts(run: RunRecord, trials: list[TrialRecord], counted: bool) -> Audit:
    """What a rate offers: as many starts as its shape has in the window, but for its edges, or for chance.

    A trial that ended with its count of operations ended its plan there, as do those whose starts are `counted`.
    """
    settings = run.planned.settings
    bounded = counted or bool(settings.clock.operations)
    begin_s, length_s = settings.clock.ramp_up_s, settings.length_s
    bad, worst, checked = [], 0.0, 0
    for trial in trials:
        if trial.starts is None or not isinstance(trial.load_step, Rate) or bounded:
            continue
        arrivals = trial.load_step.arrivals
        expected = arrivals.planned(trial.load_step.per_s, begin_s, begin_s + trial.window_s, length_s)
        if not math.isfinite(expected):  # the workload knows its own moments
            continue
        checked += 1
        allowed = arrivals.slack(expected) + CHANCE_DEVIATIONS * arrivals.deviation(expected)
        off = abs(trial.starts.offered - expected)
        worst = max(worst, off / max(1.0, expected))
        if off > allowed:
            bad.append(deviating(trial, OffStarts(trial.starts.offered, expected)))
    rule = StartsRule(CHANCE_DEVIATIONS)
    return Audit("Offered starts", rule, checked, len(trials) - checked, worst, tuple(bad))


def _fates(trials: list[TrialRecord]) -> Audit:
    """Each start that was planned for a window has one fate, in all and with each machine that sent load."""

    def sums(trial: TrialRecord) -> list[tuple[str, int, int]]:
        of_all = [("all", trial.starts), *((share.agent, share.starts) for share in trial.per_agent)]
        return [
            (f"fates ({who})", s.fates.answered + s.fates.failed + s.fates.open + s.never_started, s.offered)
            for who, s in of_all
            if s is not None and s.fates is not None
        ]

    with_fates = [trial for trial in trials if trial.starts is not None and trial.starts.fates is not None]
    audit = exact("Fates", FatesRule(), with_fates, map(sums, with_fates))
    return replace(audit, not_applicable=len(trials) - len(with_fates))


def exact(
    name: str, rule: Fact, trials: list[TrialRecord], pairs: Iterable[list[tuple[str, int, int]]], not_stated: int = 0
) -> Audit:
    """An audit of equalities: each trial gives (what, sum, total) triples that must agree exactly."""
    bad, worst = [], 0.0
    for trial, sums in zip(trials, pairs, strict=True):
        wrong = [Unequal(label, part, total) for label, part, total in sums if part != total]
        worst = max([worst, *(abs(part - total) / max(1, total) for _, part, total in sums)])
        if wrong:
            bad.append(deviating(trial, *wrong))
    return Audit(name, rule, len(trials), 0, worst, tuple(bad), not_stated)


def _counts(trials: list[TrialRecord]) -> Audit:
    def sums(trial: TrialRecord) -> list[tuple[str, int, int]]:
        checks = [("histogram", trial.service.count, trial.operations)]
        if trial.per_operation:
            checks.append(("operations", sum(o.operations for o in trial.per_operation), trial.operations))
            errors = sum(sum(o.errors.values()) for o in trial.per_operation)
            checks.append(("operation errors", errors, trial.errors_total))
        if trial.per_client:
            checks.append(("clients", sum(c.operations for c in trial.per_client), trial.operations))
        return checks

    stated = [trial for trial in trials if trial.service.count or trial.per_operation or trial.per_client]
    return exact("Counts", CountsRule(), stated, [sums(trial) for trial in stated], len(trials) - len(stated))


def _bytes(trials: list[TrialRecord]) -> Audit:
    def sums(trial: TrialRecord) -> list[tuple[str, int, int]]:
        checks = []
        if trial.per_operation:
            checks.append(("operation bytes", sum(o.bytes_in for o in trial.per_operation), trial.bytes_in))
        if trial.per_client:
            checks.append(("client bytes", sum(c.bytes_in for c in trial.per_client), trial.bytes_in))
        return checks

    stated = [trial for trial in trials if trial.per_operation or trial.per_client]
    return exact("Bytes", BytesRule(), stated, [sums(trial) for trial in stated], len(trials) - len(stated))


def _rates(trials: list[TrialRecord], all_trials: int) -> Audit:
    """Of `trials`, whose rates were counted; importers divide by the time themselves, which proves nothing."""
    bad, worst = [], 0.0
    for trial in trials:
        expected = trial.operations / trial.window_s if trial.window_s > 0.0 else math.inf
        off = abs(trial.operations_per_s / expected - 1.0)
        worst = max(worst, off)
        if off > 1e-6:
            bad.append(deviating(trial, OffRate(trial.operations_per_s, trial.operations, trial.window_s)))
    rest = all_trials - len(trials)
    return Audit("Rates", RatesRule(), len(trials), 0, worst, tuple(bad), rest)


def same_content(
    cube: Cube, own: frozenset[str] = frozenset(), comparable: Callable[[TrialRecord], bool] = lambda trial: True
) -> Audit:
    """The same work for all: bytes per operation of each class against the baseline at the same load step and block;
    classes in `own` are each contender's own, and of trials that are not `comparable` nothing is asked.

    Class by class, for in a short trial chance decides how many of the large ones are among them, and which: few
    operations may differ by more.
    """
    bad, worst, checked = [], 0.0, 0
    for (contender, load_step, block), trial in sorted(cube.usable.items(), key=lambda item: item[1].order):
        other = cube.usable.get((cube.contenders[0], load_step, block))
        if contender == cube.contenders[0] or other is None or not (comparable(trial) and comparable(other)):
            continue
        pairs = {name: pair for name, pair in _bytes_by_class(trial, other).items() if name not in own}
        checked += bool(pairs)
        off = {name: pair.off for name, pair in pairs.items()}
        worst = max([worst, *off.values()])
        parts = [
            OtherSize(name, pairs[name].mine, other.contender, pairs[name].theirs)
            for name, by in off.items()
            if by > pairs[name].allowed
        ]
        if parts:
            bad.append(deviating(trial, *parts[:3]))
    rule = ContentRule(HEADER_BYTES, CONTENT_OPERATIONS, CONTENT_TOLERANCE)
    return Audit("Same content", rule, checked, len(cube.usable) - checked, worst, tuple(bad))


@dataclass(frozen=True)
class _Sizes:
    """Mean bytes per operation of one class, `mine` and the baseline's; `spread` is what chance may make of their
    logarithms' difference, in standard deviations of 1.
    """

    mine: float
    theirs: float
    spread: float

    @property
    def off(self) -> float:
        """Share by which they differ, beyond what headers may."""
        return max(0.0, abs(self.mine - self.theirs) - HEADER_BYTES) / self.theirs

    @property
    def allowed(self) -> float:
        by_chance = math.exp(CHANCE_DEVIATIONS * UNEVEN_SIZES * self.spread)
        return max(CONTENT_TOLERANCE, by_chance - 1.0 if self.mine > self.theirs else 1.0 - 1.0 / by_chance)


def different_content(cube: Cube, audits: tuple[Audit, ...]) -> frozenset[str]:
    """Contenders whose pages differ from the baseline's in more than half of their trials. Cells name theirs."""
    if has_cells(cube.usable.values()):
        return frozenset()
    bad = Counter(t.contender for audit in audits if audit.name == "Same content" for t in audit.deviating)
    number = Counter(contender for contender, _, _ in cube.usable)
    return frozenset(name for name, times in bad.items() if 2 * times > number[name])


def _bytes_by_class(trial: TrialRecord, other: TrialRecord) -> dict[str, _Sizes]:
    """Bytes per operation of both, of the classes in which both have enough operations."""
    base = {part.name: part for part in other.per_operation}
    return {
        part.name: _Sizes(
            part.bytes_in / part.operations,
            base[part.name].bytes_in / base[part.name].operations,
            math.sqrt(1.0 / part.operations + 1.0 / base[part.name].operations),
        )
        for part in trial.per_operation
        if part.name in base
        and min(part.operations, base[part.name].operations) >= CONTENT_OPERATIONS
        and base[part.name].bytes_in
    }


def _cells(cube: Cube, counted: bool) -> Audit:
    """The same work for all: each cell has moved whole records only, and the cells are those of the baseline. Bytes
    that were not `counted` follow from the sizes and prove nothing.
    """
    bad, worst, checked = [], 0.0, 0
    for (name, load_step, block), trial in sorted(cube.usable.items(), key=lambda item: item[1].order):
        sizes = {key_of(cell): _sizes(cell) for cell in cells_of(trial)}
        wrong = {key: pair for key, pair in sizes.items() if counted and pair is not None and pair[0] != pair[1]}
        checked += 1
        worst = max([worst, *(abs(moved / due - 1.0) if due else 1.0 for moved, due in wrong.values())])
        parts: list[Fact] = [CellBytes(key[0], *pair) for key, pair in list(wrong.items())[:3]]
        base = cube.usable.get((cube.contenders[0], load_step, block))
        if base is not None:
            theirs = {key_of(cell) for cell in cells_of(base)}
            for missing, whose in ((theirs - set(sizes), cube.contenders[0]), (set(sizes) - theirs, name)):
                other = name if whose != name else cube.contenders[0]
                if missing:
                    parts.append(NotMeasuredCells(len(missing), whose, other))
        if parts:
            bad.append(deviating(trial, *parts))
    return Audit("Same content", CellsRule(counted), checked, 0, worst, tuple(bad))


def _sizes(cell: CellFigures) -> tuple[int, int] | None:
    """Bytes moved and bytes due; None where transfers differ in size or the cell was not measured."""
    if cell.bytes is None or cell.operations is None or cell.record_bytes is None:
        return None
    return cell.bytes, cell.operations * cell.record_bytes
