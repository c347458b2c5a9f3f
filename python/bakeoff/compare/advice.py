"""What a reader must know besides the numbers, each with what to do about it."""

from __future__ import annotations

from dataclasses import replace

from bakeoff.compare.ceiling import ceilings_of
from bakeoff.compare.cells import cells_of, unpaired_cells
from bakeoff.compare.coarse import coarse_advice
from bakeoff.compare.cold import cold_advice
from bakeoff.compare.content import facts_of
from bakeoff.compare.cube import Cube
from bakeoff.compare.disturbed import crowd
from bakeoff.compare.fleet_model import Machines
from bakeoff.compare.hung import hung
from bakeoff.compare.metrics import near_ceiling
from bakeoff.compare.model import Advisory, Audit, ContenderSummary, RunInfo
from bakeoff.compare.pair_model import PairComparison
from bakeoff.compare.run_advice import blocks_advice, delta_advice, run_advice
from bakeoff.compare.spread import widest
from bakeoff.compare.starved import starved, unrun
from bakeoff.compare.steady import STEADY_STATE, steady_advice
from bakeoff.compare.steady_model import SteadyState
from bakeoff.compare.working_set import fits_into_caches
from bakeoff.plan.one_address import ADVICE, one_address
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.fleet import busiest, fleet_advice, full_link
from bakeoff.store.marks import (
    BEHIND_SCHEDULE,
    GENERATOR_PAUSED,
    LINK_LIMITED,
    OTHER_LOAD,
    OUT_OF_CONNECTIONS,
    STOLEN_TIME,
)
from bakeoff.store.records import RunRecord, TrialRecord
from bakeoff.thresholds import P95_OPERATIONS, P99_OPERATIONS
from bakeoff.times import ms_of

FAIRNESS_FLOOR = 0.9
# Ends of the names of mount options that say where a folder is, not how it is read.
OF_THE_PLACE = ("addr", "port", "username", "domain", "uid", "gid", "dir", "ino")
# Options that several file systems have and that change what is measured. Of different ones no others are compared:
# each has options of its own, and lists them whether or not anybody chose them.
OF_SEVERAL = frozenset(
    (
        "ro", "rw", "sync", "dirsync", "noatime", "relatime", "strictatime", "nodiratime", "lazytime",
        "discard", "barrier", "nobarrier", "rsize", "wsize", "noac", "actimeo", "acregmin", "acregmax", "acdirmin",
        "acdirmax", "hard", "soft", "nconnect", "cache",
    )
)  # fmt: skip
LISTED = "`bakeoff report` lists the trials under Audits"
AUDIT_ADVICE = {
    "Little's law": f"{LISTED}. Short ones on a busy machine are often off: repeat them with a longer `--length` and "
    "nothing beside. If they still are, operations were lost, or a clock is wrong.",
    "Same content": f"{LISTED}; look at what each contender sends: their pages differ, so that they do not do the same "
    "work.",
}
CEILING_ADVICE = "This peak may be the generator's: give it more cores (`--cores`), or more machines (`--agents`)."
CEILING_TOO_LOW_ADVICE = (
    "That server shared the processors, or the machine was busier when that was measured, at the start of the run. How "
    "near the generator was to its limit, the use of its processors tells; with nothing beside, the next run does."
)
UNRUN_ADVICE = (
    "Such cells are left out of their blocks, and nobody has lost them. Keep other work off the machine, or give the "
    "generator cores of its own (`--cores`, `--pin`)."
)
STARVED_ADVICE = "Its rates are those of the clients that it served; each such trial, or cell, counts as lost."


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
    known = [
        *run_advice(run, cube, info, contenders),
        *(Advisory(text, STARVED_ADVICE) for text in starved(run)),
        *_one_address(run),
        *_unpaired(cube),
        *_mounts(run),
        *cold_advice(cube),
        *cube.kind.advice(run),
        *blocks_advice(pairs, info.blocks_measured),
        *fleet_advice(machines, any(ceiling.is_floor for ceiling in ceilings_of(run).values())),
    ]
    advisories = [replace(each, first=True) for each in known]
    for contender in contenders:
        advisories += [*_hung(cube, contender), *_contender(cube, contender)]
        advisories += _schedule(cube, contender.name)
    advisories += _fairness(contenders)
    advisories += [
        *_waited(contenders, run),
        *_others(cube),
        *_disturbed(cube),
        *fits_into_caches(run, list(cube.usable.values())),
    ]
    advisories += [
        *_spread(cube),
        *delta_advice(run, info),
        *_ceiling(run, info, contenders),
        *_short_trials(cube),
        *coarse_advice(run, cube, info),
        *steady_advice(run, steady),
        *_audits(audits),
    ]
    return tuple(sorted(advisories, key=lambda each: not each.first))


def _one_address(run: RunRecord) -> list[Advisory]:
    """That contenders are one server by two names. Files from elsewhere and files of other tools say less of them."""
    if run.joined or run.imported_from is not None:
        return []
    told = one_address([each.model_dump(mode="json") for each in run.planned.contenders])
    return [Advisory(f"{text}.", ADVICE) for text in told]


def _unpaired(cube: Cube) -> list[Advisory]:
    """That contenders were not tried in the same cells."""
    parts = [f"{name} has {alone:,} of {own:,} alone" for name, (alone, own) in unpaired_cells(cube).items()]
    if not parts:
        return []
    text = f"Not all were tried in the same cells: {'; '.join(parts)}. Cells without a counterpart count nowhere."
    return [Advisory(text, "Measure all of them in the same cells, with the same command.")]


def _mounts(run: RunRecord) -> list[Advisory]:
    """That folders are mounted in different ways, which may be all that differs."""
    found: dict[str, set[str]] = {}
    sorts: set[str] = set()
    for contender in run.contenders:
        facts = facts_of(run, contender.name)
        options = facts.get("mount_options")
        if isinstance(options, str):
            sorts.add(str(facts.get("file_system")))
            parts = options.split(",")
            found[contender.name] = {part for part in parts if not part.partition("=")[0].endswith(OF_THE_PLACE)}
    if len(found) < 2:
        return []
    if len(sorts) > 1:
        found = {
            name: {part for part in options if part.partition("=")[0] in OF_SEVERAL} for name, options in found.items()
        }
    common = set.intersection(*found.values())
    if all(options == common for options in found.values()):
        return []
    own = [f"{name} {', '.join(sorted(options - common)) or 'none of these'}" for name, options in found.items()]
    text = f"The folders are mounted with different options: {'; '.join(own)}."
    advice = "Mount them alike, unless the options are what is compared."
    if len(sorts) > 1:
        advice = (
            f"{wording.names(sorted(sorts))} do not have the same options: make alike what both have (sizes of "
            "transfers, how long attributes are kept, sync), unless the options are what is compared."
        )
    return [Advisory(text, advice)]


def _hung(cube: Cube, contender: ContenderSummary) -> list[Advisory]:
    if not contender.hung_trials:
        return []
    return [
        Advisory(
            f"{hung(cube.of(contender.name, cube.mixes)).text(contender.name)}: still open when the trial ended, far "
            "beyond its p99.",
            "Look for requests that the server swallowed (its log, its queue, a lost wake-up); a shorter "
            "`--reply-timeout` shows when they begin to hang. No verdict goes to a server that does this.",
        )
    ]


def _waited(contenders: tuple[ContenderSummary, ...], run: RunRecord) -> list[Advisory]:
    """One note of all of them: what else ran on the machine took its time from each."""
    parts: list[str] = []
    for each in (one for one in contenders if one.generator_waited):
        share = wording.percent(each.generator_wait_share)
        trials = f"{each.generator_waited} of {wording.plural(each.trials_ok, 'trial')} of {each.name}"
        parts.append(f"{share} in {trials}" if parts else f"{share} of its time for a processor in {trials}")
    if not parts:
        return []
    return [
        Advisory(
            f"The load generator waited up to {', '.join(parts)}.",
            _room(run),
        )
    ]


def _late_ns(trial: TrialRecord) -> int:
    """How late the latest machine began, p99."""
    of_each = [share.late_start_p99_ns or 0 for share in trial.per_agent]
    return max(trial.generator_late_start.p99_ns or 0, *of_each, 0)


def _room(run: RunRecord) -> str:
    """How the generator gets its own processors, by what was not done yet."""
    ends = "its waits are in the response times shown."
    if run.planned.settings.pin:
        return (
            "Its threads are bound to cores already, and others ran there: end what else runs (`top`), keep servers of "
            f"the same machine off these cores (`taskset`), or give it a machine of its own; {ends}"
        )
    return (
        "Give it cores of its own (`--pin` for the generator, `taskset` for servers on the same machine) or a "
        f"machine of its own: {ends}"
    )


def _others(cube: Cube) -> list[Advisory]:
    """Who took the processors of the machine that sent load, and how much of them."""
    marked = [trial for trial in cube.usable.values() if OTHER_LOAD in trial.marks]
    if not marked or (told := crowd(marked)).others is None:
        return []
    who = f", most of it by {wording.names(list(told.names))}" if told.names else ""
    text = (
        f"Others took {wording.percent(told.others)} of the processors of the machine that sent load in "
        f"{len(marked)} of {wording.plural(len(cube.usable), 'trial')}{who}."
    )
    return [Advisory(text, "End them, or wait until they are done; `bakeoff doctor` tells when.", first=True)]


def _schedule(cube: Cube, name: str) -> list[Advisory]:
    """What befell the schedule of a rate: the generator was late, or the connections were too few."""
    trials = [trial for trial in cube.of(name, cube.mixes) if trial.starts is not None]
    late = [trial for trial in trials if BEHIND_SCHEDULE in trial.marks]
    out = [trial.starts for trial in trials if OUT_OF_CONNECTIONS in trial.marks and trial.starts is not None]
    advisories = []
    if late:
        # One of several machines may be late, and nothing of it in the percentile of all.
        worst_ms = ms_of(max(_late_ns(trial) for trial in late))
        how = f"p99 up to {wording.figures(worst_ms, 3)} ms, which is" if worst_ms else "that is"
        text = (
            f"The load generator itself began late in {len(late)} of {wording.plural(len(trials), 'trial')} of {name}, "
            f"with connections idle: {how} in the response times shown."
        )
        advice = "Give it cores of its own (`--cores`, `--pin`), or a machine of its own; service times are free of it."
        advisories.append(Advisory(text, advice))
    if out:
        text = (
            f"{name} kept all connections busy in {len(out)} of {wording.plural(len(trials), 'trial')}: "
            f"{sum(starts.ran_out for starts in out):,} starts found none idle and waited, "
            f"{sum(starts.never_started for starts in out):,} of them to the end."
        )
        advice = "Their wait is in the response time; raise `--most-connections` if its clients would open more."
        advisories.append(Advisory(text, advice))
    return advisories


def _disturbed(cube: Cube) -> list[Advisory]:
    """Trials in which the generator's machine was disturbed, though not so much that they are void."""
    advisories = []
    for mark, what in (
        (GENERATOR_PAUSED, "was stopped for a moment"),
        (STOLEN_TIME, "lost time to the hypervisor"),
    ):
        marked = [trial for trial in cube.usable.values() if mark in trial.marks]
        if marked:
            text = f"The load generator {what} in {wording.plural(len(marked), 'trial')}."
            advisories.append(
                Advisory(text, "The longest response times there may be the generator's own: leave it alone.")
            )
    if text := unrun(cube):
        advisories.append(Advisory(text, UNRUN_ADVICE))
    return advisories


def _spread(cube: Cube) -> list[Advisory]:
    spreads = {
        name: spread
        for name in cube.contenders
        if (spread := widest([trial for (contender, _, _), trial in cube.usable.items() if contender == name]))
    }
    if not spreads:
        return []
    (first, widest_of_first), *others = spreads.items()
    told = [widest_of_first.text(first, cube.kind.work), *(spread.also(name) for name, spread in others)]
    who = "server has" if len(told) == 1 else "servers have"
    return [
        Advisory(
            f"F{'; '.join(told)[1:]}: the machine or the {who} more than one speed.",
            "Look for what changes between blocks: clock frequency, neighbours, the cores that processes land on "
            "(`--pin`, `taskset`), warm-up. A mean of two speeds describes neither.",
        )
    ]


def _contender(cube: Cube, contender: ContenderSummary) -> list[Advisory]:
    advisories = []
    if contender.error_share > 0.0:
        total = sum(contender.errors.values())
        share = "" if contender.trials_dead else f" ({wording.percent(contender.error_share)})"
        advisories.append(
            Advisory(
                f"{contender.name} failed {total:,} operations{share}: "
                f"{wording.errors(contender.errors, cube.kind.error_words)}.",
                "Failed operations are in no rate and no response time: read its curves together with its errors.",
            )
        )
    if contender.link_limited:
        limited = [trial for trial in cube.of(contender.name, cube.mixes) if LINK_LIMITED in trial.marks]
        share = f"{contender.link_limited} of {wording.plural(contender.trials_ok, 'trial')}"
        advisories.append(
            Advisory(
                f"{wording.sentence(full_link(limited))} in {share} of {contender.name}{_at(limited, cube)}: the "
                "network was measured, not the server.",
                "Use a faster link, more machines (`--agents`), or a load of fewer bytes; such rates are lower bounds.",
                first=True,
            )
        )
    if contender.generator_limited:
        share = f"{contender.generator_limited} of {wording.plural(contender.trials_ok, 'trial')}"
        advisories.append(
            Advisory(
                f"{wording.sentence(busiest(cube.of(contender.name, cube.mixes)))} was the limit in {share} of "
                f"{contender.name}.",
                "Give the generator more cores (`--cores`) or a machine of its own; such rates are lower bounds.",
                first=True,
            )
        )
    return advisories


def _fairness(contenders: tuple[ContenderSummary, ...]) -> list[Advisory]:
    """One note of all that did not treat their clients alike, the worst first."""
    unfair = sorted((c for c in contenders if c.fairness_lowest < FAIRNESS_FLOOR), key=lambda c: c.fairness_lowest)
    if not unfair:
        return []
    first, *others = unfair
    text = f"{first.name} did not treat its clients alike: Jain index down to {first.fairness_lowest:.2f}"
    text += "".join(f", nor did {each.name}: down to {each.fairness_lowest:.2f}" for each in others)
    advice = "See the fairness chart of the report: some clients got more than others, which the mean hides."
    return [Advisory(f"{text}.", advice)]


def _at(trials: list[TrialRecord], cube: Cube) -> str:
    """Which mixes these are of, where it is not all."""
    mixes = sorted({trial.mix for trial in trials})
    return "" if len(mixes) == len(cube.mixes) else f", at {wording.several(mixes)}"


def _ceiling(run: RunRecord, info: RunInfo, contenders: tuple[ContenderSummary, ...]) -> list[Advisory]:
    return [
        Advisory(
            f"The peak of {name} is {wording.percent(share)} of what the generator asks of a server on loopback that "
            "does nothing.",
            CEILING_ADVICE if share <= 1.0 else CEILING_TOO_LOW_ADVICE,
            first=True,
        )
        for name, share in near_ceiling(run, info, contenders).items()
    ]


def _short_trials(cube: Cube) -> list[Advisory]:
    # Of cells each has its own times, or none; that they are too few stands beside them.
    whole = (trial for trial in cube.usable.values() if not cells_of(trial))
    short = [trial for trial in whole if trial.operations < P99_OPERATIONS]
    if not short:
        return []
    shorter = sum(trial.operations < P95_OPERATIONS for trial in short)
    p95 = f" ({shorter} fewer than {P95_OPERATIONS}: for a p95, too)" if shorter else ""
    return [
        Advisory(
            f"{wording.plural(len(short), 'trial')} saw fewer than {P99_OPERATIONS} operations: too few for a p99"
            f"{p95}.",
            "Blocks with such a trial have no part in verdicts on that. Use a longer `--length`, and read the mean or "
            "the median there.",
        )
    ]


def _audits(audits: tuple[Audit, ...]) -> list[Advisory]:
    return [
        Advisory(
            f"Audit “{audit.name}” does not hold in {len(audit.deviating)} of "
            f"{wording.plural(audit.checked, 'trial')}.",
            AUDIT_ADVICE.get(
                audit.name,
                f"{LISTED}: the generator, lost operations or a wrong clock.",
            ),
        )
        for audit in audits
        if audit.deviating and audit.name != STEADY_STATE
    ]
