"""What a reader must know besides the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from bakeoff.compare.advice.advice_model import (
    AuditDoesNotHold,
    BeganLate,
    BlocksDiffer,
    DifferentMounts,
    FewOperations,
    GeneratorDisturbed,
    GeneratorLimit,
    GeneratorWaited,
    LinkFull,
    NearGeneratorCapacity,
    OperationsFailed,
    OperationsHung,
    OthersRan,
    OutOfConnections,
    SharedAddress,
    Unfair,
    UnpairedCells,
    Waited,
)
from bakeoff.compare.advice.run_advice import blocks_advice, delta_advice, run_advice
from bakeoff.compare.cube.cells import cells_of, unpaired_cells
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.spread import widest
from bakeoff.compare.failures.content import facts_of
from bakeoff.compare.failures.hung import hung
from bakeoff.compare.failures.starved import starved_advice, unrun_advice
from bakeoff.compare.metrics.metrics import near_generator_capacity
from bakeoff.compare.model.comparison import Advisory, Audit, ContenderSummary, RunInfo
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.resources.fleet import busy_threads, full_link_of
from bakeoff.compare.resources.fleet_advice import fleet_advice
from bakeoff.compare.resources.fleet_model import Machines
from bakeoff.compare.validity.cold_caches import cold_advice
from bakeoff.compare.validity.disturbances import crowd
from bakeoff.compare.validity.generator_capacity import generator_capacities
from bakeoff.compare.validity.quantization import quantization_advice
from bakeoff.compare.validity.steadiness import STEADY_STATE, steady_advice
from bakeoff.compare.validity.steadiness_model import SteadyState
from bakeoff.compare.validity.working_set import fits_into_caches
from bakeoff.core.thresholds import P95_OPERATIONS, P99_OPERATIONS
from bakeoff.core.times import ms_of
from bakeoff.plan.design.shared_addresses import shared_addresses
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.marks import (
    BEHIND_SCHEDULE,
    GENERATOR_PAUSED,
    LINK_LIMITED,
    OTHER_LOAD,
    OUT_OF_CONNECTIONS,
    STOLEN_TIME,
)
from bakeoff.store.records.run_records import RunRecord, TrialRecord

FAIRNESS_FLOOR = 0.9
# Ends of the names of mount options that say where a folder is, not how it is read.
PLACE_OPTIONS = ("addr", "port", "username", "domain", "uid", "gid", "dir", "ino")
# Options that several file systems have and that change what is measured. Of different ones no others are compared:
# each has options of its own, and lists them whether or not anybody chose them.
SHARED_MOUNT_OPTIONS = frozenset(
    (
        "ro", "rw", "sync", "dirsync", "noatime", "relatime", "strictatime", "nodiratime", "lazytime",
        "discard", "barrier", "nobarrier", "rsize", "wsize", "noac", "actimeo", "acregmin", "acregmax", "acdirmin",
        "acdirmax", "hard", "soft", "nconnect", "cache",
    )
)  # fmt: skip


def advise(
    run: RunRecord,
    cube: Cube,
    info: RunInfo,
    contenders: tuple[ContenderSummary, ...],
    pairs: tuple[PairComparison, ...],
    audits: tuple[Audit, ...],
    machines: Machines | None = None,
    steady: SteadyState | None = None,
) -> tuple[Advisory, ...]:
    """What must be known first, then notes, the most weighty first."""
    first = [
        *run_advice(run, cube, info, contenders),
        *starved_advice(run),
        *_one_address(run),
        *_unpaired(cube),
        *_mounts(run),
        *cold_advice(cube),
        *cube.kind.advice(run),
        *blocks_advice(pairs, info.blocks_measured, run.imported_from is not None),
        *fleet_advice(machines, any(capacity.is_floor for capacity in generator_capacities(run).values())),
        *(limit for contender in contenders for limit in _limits(cube, contender)),
        *_others(cube),
        *_generator_capacity(run, info, contenders),
    ]
    notes = [
        *(note for contender in contenders for note in _of_contender(cube, contender, run.kind)),
        *_fairness(contenders),
        *_waited(contenders, run),
        *_disturbed(cube),
        *fits_into_caches(run, list(cube.usable.values())),
        *_spread(cube),
        *delta_advice(run, info),
        *_short_trials(cube),
        *quantization_advice(run, cube, info),
        *steady_advice(run, steady),
        *_audits(audits),
    ]
    return (*(Advisory(fact, first=True) for fact in first), *map(Advisory, notes))


def _one_address(run: RunRecord) -> list[Fact]:
    """That contenders are one server by two names. Files from elsewhere and files of other tools say less of them."""
    if run.joined or run.imported_from is not None:
        return []
    found = shared_addresses([each.model_dump(mode="json") for each in run.planned.contenders])
    return [SharedAddress(one) for one in found]


def _unpaired(cube: Cube) -> list[Fact]:
    """That contenders were not tried in the same cells."""
    alone = unpaired_cells(cube)
    return [UnpairedCells(alone)] if alone else []


def _mounts(run: RunRecord) -> list[Fact]:
    """That folders are mounted in different ways, which may be all that differs."""
    found: dict[str, set[str]] = {}
    sorts: set[str] = set()
    for contender in run.contenders:
        facts = facts_of(run, contender.name)
        options = facts.get("mount_options")
        if isinstance(options, str):
            sorts.add(str(facts.get("file_system")))
            parts = options.split(",")
            found[contender.name] = {part for part in parts if not part.partition("=")[0].endswith(PLACE_OPTIONS)}
    if len(found) < 2:
        return []
    if len(sorts) > 1:
        found = {
            name: {part for part in options if part.partition("=")[0] in SHARED_MOUNT_OPTIONS}
            for name, options in found.items()
        }
    common = set.intersection(*found.values())
    if all(options == common for options in found.values()):
        return []
    own = {name: tuple(sorted(options - common)) for name, options in found.items()}
    return [DifferentMounts(own, tuple(sorted(sorts)))]


def _of_contender(cube: Cube, contender: ContenderSummary, kind_of_suite: str) -> Iterator[Fact]:
    """What befell its operations and its schedule."""
    if contender.hung_trials:
        yield OperationsHung(contender.name, hung(cube.of(contender.name, cube.load_steps)))
    if contender.error_share > 0.0:
        share = None if contender.trials_dead else contender.error_share
        yield OperationsFailed(contender.name, contender.errors, share, kind_of_suite)
    yield from _schedule(cube, contender.name)


def _limits(cube: Cube, contender: ContenderSummary) -> Iterator[Fact]:
    """That not the contender was the limit."""
    name, of = contender.name, contender.trials_ok
    if contender.link_limited:
        limited = [trial for trial in cube.of(name, cube.load_steps) if LINK_LIMITED in trial.marks]
        load_steps = sorted({trial.load_step for trial in limited})
        at = () if len(load_steps) == len(cube.load_steps) else tuple(load_steps)
        yield LinkFull(name, full_link_of(limited), contender.link_limited, of, at)
    if contender.generator_limited:
        yield GeneratorLimit(name, busy_threads(cube.of(name, cube.load_steps)), contender.generator_limited, of)


def _waited(contenders: tuple[ContenderSummary, ...], run: RunRecord) -> list[Fact]:
    """One note of all of them: what else ran on the machine took its time from each."""
    waited = [each for each in contenders if each.generator_waited]
    waited_contenders = tuple(Waited(c.name, c.generator_wait_share, c.generator_waited, c.trials_ok) for c in waited)
    return [GeneratorWaited(waited_contenders, bool(run.planned.settings.pin))] if waited_contenders else []


def late_ms(trials: Sequence[TrialRecord]) -> float:
    """How late the latest machine began, p99; NaN where nobody knows."""
    of_each = [share.late_start_p99_ns for trial in trials for share in trial.per_agent]
    of_all = [trial.generator_late_start.p99_ns for trial in trials]
    return max((ms_of(late_ns) for late_ns in (*of_each, *of_all) if late_ns is not None), default=math.nan)


def _others(cube: Cube) -> list[Fact]:
    """Who took the processors of the machine that sent load, and how much of them."""
    marked = [trial for trial in cube.usable.values() if OTHER_LOAD in trial.marks]
    if not marked or (crowded := crowd(marked)).others is None:
        return []
    return [OthersRan(crowded, len(marked), len(cube.usable))]


def _schedule(cube: Cube, name: str) -> Iterator[Fact]:
    """What befell the schedule of a rate: the generator was late, or the connections were too few."""
    trials = [trial for trial in cube.of(name, cube.load_steps) if trial.starts is not None]
    late = [trial for trial in trials if BEHIND_SCHEDULE in trial.marks]
    out = [trial.starts for trial in trials if OUT_OF_CONNECTIONS in trial.marks and trial.starts is not None]
    if late:
        # One of several machines may be late, and nothing of it in the percentile of all.
        yield BeganLate(name, len(late), len(trials), late_ms(late))
    if out:
        waited, never = sum(starts.ran_out for starts in out), sum(starts.never_started for starts in out)
        yield OutOfConnections(name, len(out), len(trials), waited, never)


HOW: Mapping[str, Literal["stopped", "stolen"]] = {GENERATOR_PAUSED: "stopped", STOLEN_TIME: "stolen"}


def _disturbed(cube: Cube) -> list[Fact]:
    """Trials in which the generator's machine was disturbed, though not so much that they are void."""
    marked = {how: sum(mark in trial.marks for trial in cube.usable.values()) for mark, how in HOW.items()}
    return [*(GeneratorDisturbed(how, trials) for how, trials in marked.items() if trials), *unrun_advice(cube)]


def _spread(cube: Cube) -> list[Fact]:
    spreads = {
        name: spread
        for name in cube.contenders
        if (spread := widest([trial for (contender, _, _), trial in cube.usable.items() if contender == name]))
    }
    return [BlocksDiffer(spreads, cube.kind.work)] if spreads else []


def _fairness(contenders: tuple[ContenderSummary, ...]) -> list[Fact]:
    """One note of all that did not treat their clients alike, the worst first."""
    unfair = sorted((c for c in contenders if c.fairness_lowest < FAIRNESS_FLOOR), key=lambda c: c.fairness_lowest)
    return [Unfair({c.name: c.fairness_lowest for c in unfair})] if unfair else []


def _generator_capacity(run: RunRecord, info: RunInfo, contenders: tuple[ContenderSummary, ...]) -> list[Fact]:
    return [
        NearGeneratorCapacity(name, share) for name, share in near_generator_capacity(run, info, contenders).items()
    ]


def _short_trials(cube: Cube) -> list[Fact]:
    # Of cells each has its own times, or none; that they are too few stands beside them.
    whole = (trial for trial in cube.usable.values() if not (cells_of(trial) or trial.figures(Figures).stated))
    short = [trial.operations for trial in whole if trial.operations < P99_OPERATIONS]
    return [FewOperations(len(short), sum(number < P95_OPERATIONS for number in short))] if short else []


def _audits(audits: tuple[Audit, ...]) -> list[Fact]:
    bad = [audit for audit in audits if audit.deviating and audit.name != STEADY_STATE]
    return [AuditDoesNotHold(audit.name, len(audit.deviating), audit.checked) for audit in bad]
