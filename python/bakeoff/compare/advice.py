"""What a reader must know besides the numbers, each with what to do about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bakeoff.compare import wording
from bakeoff.compare.content import facts_of
from bakeoff.compare.cube import UNPAIRED, Cube
from bakeoff.compare.fleet_model import Machines
from bakeoff.compare.fleet_words import busiest, fleet_advice, full_link
from bakeoff.compare.hung import hung
from bakeoff.compare.metrics import peak_operations
from bakeoff.compare.model import Advisory, Audit, ContenderSummary, PairComparison, RunInfo
from bakeoff.compare.spread import widest
from bakeoff.compare.starved import starved
from bakeoff.compare.working_set import fits_into_caches
from bakeoff.store.marks import BEHIND_SCHEDULE, GENERATOR_PAUSED, LINK_LIMITED, OUT_OF_CONNECTIONS, STOLEN_TIME
from bakeoff.store.records import INTERRUPTED, LEFT_OUT_REASON, RunRecord, TrialRecord
from bakeoff.thresholds import CEILING_SHARE, MINIMUM_BLOCKS, P99_OPERATIONS

FAIRNESS_FLOOR = 0.9
# Ends of the names of mount options that say where a folder is, not how it is read.
OF_THE_PLACE = ("addr", "port", "username", "domain", "uid", "gid", "dir", "ino")
AUDIT_ADVICE = {
    "Little's law": "See the audits for the trials. Short ones on a busy machine are often off: repeat them "
    "with a longer `--length` and nothing beside. If they still are, operations were lost, or a clock is wrong.",
    "Same content": "See the audits, and look at what each contender sends: their pages differ, so that they do not do "
    "the same work.",
}
STARVED_ADVICE = "Its rates are those of the clients that it served; each such trial, or cell, counts as lost."
LEFT_OUT_ADVICE = {
    "failed": "See the list of trials left out; repeat the run once the cause is known.",
    "interrupted": "See the list of trials left out; `bakeoff resume` repeats interrupted ones.",
    UNPAIRED: "See the list of trials left out; more blocks make up for them.",
    "voided": "See the list of trials left out: the reasons name what to change on the client machine.",
}


def advise(
    run: RunRecord,
    cube: Cube,
    info: RunInfo,
    contenders: tuple[ContenderSummary, ...],
    pairs: tuple[PairComparison, ...],
    audits: tuple[Audit, ...],
    machines: Machines | None = None,
) -> tuple[Advisory, ...]:
    """What must be known first, then notes, the most weighty first."""
    known = [
        *_imported(run),
        *_joined(run),
        *_incomplete(run),
        *_looks(info),
        *_repeated(run, info),
        *_without(info),
        *_left_out(cube, contenders),
        *(Advisory(text, STARVED_ADVICE) for text in starved(run)),
        *_mounts(run),
        *cube.kind.advice(run),
        *_blocks(pairs),
        *fleet_advice(machines),
    ]
    advisories = [replace(each, first=True) for each in known]
    for contender in contenders:
        advisories += [*_hung(cube, contender), *_contender(cube, contender)]
        advisories += _schedule(cube, contender.name)
    advisories += [*_waited(contenders), *_disturbed(cube), *fits_into_caches(run, list(cube.usable.values()))]
    advisories += [*_spread(cube), *_ceiling(run, info, contenders), *_short_trials(cube), *_audits(audits)]
    return tuple(sorted(advisories, key=lambda each: not each.first))


def _imported(run: RunRecord) -> list[Advisory]:
    if run.imported_from is None:
        return []
    text = (
        f"Bakeoff did not measure this: the figures are those of {run.imported_from}. What it does not state (how busy "
        "the generator was, the times of single operations) nobody can check, and repetitions are paired in the order "
        "in which they were given."
    )
    return [Advisory(text, f"`bakeoff run {run.kind}` measures the same, in interleaved blocks and with audits.")]


def _joined(run: RunRecord) -> list[Advisory]:
    if not run.joined:
        return []
    text = f"These runs were measured one after the other, unpaired: {', '.join(run.joined)}."
    if run.different:
        text += f" Their settings differ: {', '.join(run.different)}."
    stopped = [f"{trial.contender} ({trial.reason})" for trial in run.trials if trial.state == INTERRUPTED]
    if stopped:
        text += f" Stopped before the end, and so without figures here: {', '.join(stopped)}; make such a run anew."
    advice = f"`bakeoff run {run.suite}` measures contenders in interleaved blocks: from six on there are verdicts."
    return [Advisory(text, advice)]


def _incomplete(run: RunRecord) -> list[Advisory]:
    """Of several runs each has said it of itself."""
    if run.joined:
        return _incomplete_files(run)
    missing = max(len(run.pending), run.trials_planned - len(run.trials))
    if run.is_complete and run.finished_at is not None and missing <= 0:
        return []
    what = f"{missing} of {run.trials_planned} planned trials were not run" if missing > 0 else "the run did not end"
    return [Advisory(f"The run is not complete: {what}.", f"Finish it with `bakeoff resume {run.path.name}`.")]


def _incomplete_files(run: RunRecord) -> list[Advisory]:
    """Of runs that stand beside each other, each of those that were stopped."""
    named = {(trial.contender, trial.mix, trial.block) for trial in run.trials}  # as stopped before the end
    missing = Counter(t.contender for t in run.pending if (t.contender, t.mix, t.block) not in named)
    files = {contender.name: file for contender, file in zip(run.contenders, run.joined, strict=True)}
    return [
        Advisory(
            f"{files[name]} ({name}) is not complete: {wording.plural(number, 'trial')} of it missing.",
            "Finish or repeat that run, then put the runs together again.",
        )
        for name, number in missing.items()
    ]


def _looks(info: RunInfo) -> list[Advisory]:
    if info.look is None or not (text := info.look.words()):
        return []
    if info.look.added:
        advice = (
            "Who wants to look before the end says so in the plan: `--looks 6,12,18` costs less than adding blocks."
        )
    else:
        advice = "A look that the plan does not name has no verdict."
    return [Advisory(text, advice)]


def _repeated(run: RunRecord, info: RunInfo) -> list[Advisory]:
    """By contender and state, with the most frequent reason."""
    advisories = []
    kept = Counter((trial.contender, trial.state) for trial in run.earlier)
    for (contender, state), number in sorted(kept.items()):
        reasons = Counter(t.reason for t in run.earlier if (t.contender, t.state) == (contender, state))
        (reason, _), *others = reasons.most_common()
        more = " and other reasons" if others else ""
        trials = wording.plural(number, f"{state} trial")
        were = "was" if number == 1 else "were"
        text = f"{trials} of {contender} {were} repeated; what was {state} is kept: {reason}{more}."
        advice = "The repetitions count, in other moments than the trials they are compared with; see the list of them."
        advisories.append(Advisory(text, advice))
    return advisories


def _without(info: RunInfo) -> list[Advisory]:
    """Contenders that the run went on without."""
    return [
        Advisory(
            f"{each.contender}: {each.words}; what it was not asked any more counts as failed.",
            f"Bring it back, then `bakeoff resume {info.file} --retry-failed` asks it again.",
        )
        for each in info.left_out
    ]


def _mounts(run: RunRecord) -> list[Advisory]:
    """That folders are mounted in different ways, which may be all that differs."""
    found: dict[str, set[str]] = {}
    for contender in run.contenders:
        options = facts_of(run, contender.name).get("mount_options")
        if isinstance(options, str):
            parts = options.split(",")
            found[contender.name] = {part for part in parts if not part.partition("=")[0].endswith(OF_THE_PLACE)}
    if len(found) < 2:
        return []
    common = set.intersection(*found.values())
    if all(options == common for options in found.values()):
        return []
    own = [f"{name} {', '.join(sorted(options - common)) or 'none of these'}" for name, options in found.items()]
    text = f"The folders are mounted with different options: {'; '.join(own)}."
    return [Advisory(text, "Mount them alike, unless the options are what is compared.")]


def _left_out(cube: Cube, contenders: tuple[ContenderSummary, ...]) -> list[Advisory]:
    by_state = Counter((trial.state, trial.contender) for trial in cube.left_out)
    advisories = []
    for (state, contender), number in sorted(by_state.items()):
        if state == "failed":
            down = next(c.outages for c in contenders if c.name == contender)
            text = f"{contender} was {down}: {_why(cube, contender)}; each counts as lost."
            if not down.startswith("dead"):
                text = f"{contender} {down}: {_why(cube, contender)}; each counts as lost."
        else:
            pairs = "its pair enters" if number == 1 else "their pairs enter"
            text = f"{contender} has {wording.plural(number, f'{state} trial')}; {pairs} no ratio."
        advisories.append(Advisory(text, LEFT_OUT_ADVICE[state]))
    return advisories


def _why(cube: Cube, contender: str) -> str:
    """The most frequent reason of its failed trials."""
    told = [each.reason for each in cube.left_out if each.contender == contender and each.state == "failed"]
    reasons = Counter(why for why in told if not why.startswith(LEFT_OUT_REASON)) or Counter(told)
    (reason, number), *others = reasons.most_common()
    return f"{reason} ({number} of them)" if others else reason


def _blocks(pairs: tuple[PairComparison, ...]) -> list[Advisory]:
    if not pairs:
        return []
    scarce = min(pairs, key=lambda pair: pair.primary.blocks)
    fewest = scarce.primary.blocks
    if fewest >= MINIMUM_BLOCKS:
        return []
    between = f" of {scarce.contender} and {scarce.baseline}" if len(pairs) > 1 else ""
    text = f"Only {wording.plural(fewest, 'complete block')}{between}: numbers without a verdict."
    if not fewest:
        text = f"Nothing is comparable{between}: no block has usable trials of both."
    return [Advisory(text, f"Run at least {MINIMUM_BLOCKS} blocks; 8 is the usual number.")]


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


def _waited(contenders: tuple[ContenderSummary, ...]) -> list[Advisory]:
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
            "Give it cores of its own (`--pin` for the generator, `taskset` for servers on the same machine) or a "
            "machine of its own: its waits are in the response times shown.",
        )
    ]


def _schedule(cube: Cube, name: str) -> list[Advisory]:
    """What befell the schedule of a rate: the generator was late, or the connections were too few."""
    trials = [trial for trial in cube.of(name, cube.mixes) if trial.starts is not None]
    late = [trial for trial in trials if BEHIND_SCHEDULE in trial.marks]
    out = [trial.starts for trial in trials if OUT_OF_CONNECTIONS in trial.marks and trial.starts is not None]
    advisories = []
    if late:
        worst_ms = max((trial.generator_late_start.p99_ns or 0) for trial in late) / 1e6
        text = (
            f"The load generator itself began late in {len(late)} of {wording.plural(len(trials), 'trial')} of {name}, "
            f"with connections idle: p99 up to {wording.figures(worst_ms, 3)} ms, which is in the response times shown."
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
    if contender.fairness_lowest < FAIRNESS_FLOOR:
        advisories.append(
            Advisory(
                f"{contender.name} did not treat its clients alike: Jain index down to "
                f"{contender.fairness_lowest:.2f}.",
                "See the fairness chart: some clients were starved, the mean hides them.",
            )
        )
    return advisories


def _at(trials: list[TrialRecord], cube: Cube) -> str:
    """Which mixes these are of, where it is not all."""
    mixes = sorted({trial.mix for trial in trials})
    return "" if len(mixes) == len(cube.mixes) else f", at {wording.several(mixes)}"


def _ceiling(run: RunRecord, info: RunInfo, contenders: tuple[ContenderSummary, ...]) -> list[Advisory]:
    ceiling = info.null_operations_per_s
    if ceiling is None:
        return []
    peaks = {c.name: peak_operations(run, info, c) for c in contenders}
    close = [c for c in contenders if peaks[c.name] > CEILING_SHARE * ceiling]
    return [
        Advisory(
            f"The peak of {c.name} is {wording.percent(peaks[c.name] / ceiling)} of what the generator asks of a "
            "server on loopback that does nothing.",
            "This peak may be the generator's: give it more cores (`--cores`), or more machines (`--agents`).",
            first=True,
        )
        for c in close
    ]


def _short_trials(cube: Cube) -> list[Advisory]:
    short = [trial for trial in cube.usable.values() if trial.operations < P99_OPERATIONS]
    if not short:
        return []
    return [
        Advisory(
            f"{wording.plural(len(short), 'trial')} saw fewer than {P99_OPERATIONS} operations: too few for a p99.",
            "Use a longer `--length`, and read the mean or the median there.",
        )
    ]


def _audits(audits: tuple[Audit, ...]) -> list[Advisory]:
    return [
        Advisory(
            f"Audit “{audit.name}” does not hold in {len(audit.deviating)} of "
            f"{wording.plural(audit.checked, 'trial')}.",
            AUDIT_ADVICE.get(audit.name, "See the audits: the generator, lost operations or a wrong clock."),
        )
        for audit in audits
        if audit.deviating
    ]
