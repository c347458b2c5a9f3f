"""What a reader must know besides the numbers, each with what to do about it."""

from __future__ import annotations

from collections import Counter

from bakeoff.compare import wording
from bakeoff.compare.cube import Cube
from bakeoff.compare.hung import hung
from bakeoff.compare.mail import foreign_mail, lags
from bakeoff.compare.mail_delivery import deliveries
from bakeoff.compare.mail_limits import limits
from bakeoff.compare.metrics import P99_OPERATIONS, peak_operations, work_word
from bakeoff.compare.model import Advisory, Audit, ContenderSummary, PairComparison
from bakeoff.compare.spread import widest
from bakeoff.compare.surface import has_cells
from bakeoff.compare.working_set import fits_into_caches
from bakeoff.stats import MINIMUM_BLOCKS
from bakeoff.store.records import RunRecord

CEILING_SHARE = 0.7
FAIRNESS_FLOOR = 0.9
AUDIT_ADVICE = {
    "Same content": "See the audits, and look at what each contender sends: their pages differ, so that they do not do "
    "the same work.",
}
LEFT_OUT_ADVICE = {
    "failed": "See the list of trials left out; repeat the run once the cause is known.",
    "interrupted": "See the list of trials left out; `bakeoff resume` repeats interrupted ones.",
    "voided": "See the list of trials left out: the reasons name what to change on the client machine.",
}


def advise(
    run: RunRecord,
    cube: Cube,
    contenders: tuple[ContenderSummary, ...],
    pairs: tuple[PairComparison, ...],
    audits: tuple[Audit, ...],
) -> tuple[Advisory, ...]:
    """Warnings about the run, the most weighty first."""
    found = [*_incomplete(run), *_left_out(cube), *_mail(run), *_limits(run), *_blocks(pairs)]
    for contender in contenders:
        found += [*_hung(cube, contender), *_contender(contender), *_starved(contender)]
    found += _disturbed(cube)
    if run.kind.startswith("file-"):
        found += fits_into_caches(run, list(cube.usable.values()))
    found += [*_spread(cube, work_word(run.kind)), *_ceiling(run, contenders), *_short_trials(cube), *_audits(audits)]
    return tuple(found)


def _incomplete(run: RunRecord) -> list[Advisory]:
    missing = run.trials_planned - len(run.trials)
    if missing <= 0 and run.finished_at is not None:
        return []
    what = f"{missing} of {run.trials_planned} planned trials were not run" if missing > 0 else "the run did not end"
    return [Advisory(f"The run is not complete: {what}.", f"Finish it with `bakeoff resume {run.path.name}`.")]


def _left_out(cube: Cube) -> list[Advisory]:
    by_state = Counter((trial.state, trial.contender) for trial in cube.left_out)
    found = []
    for (state, contender), number in sorted(by_state.items()):
        trials = wording.plural(number, f"{state} trial")
        found.append(
            Advisory(
                f"{contender} has {trials}; "
                + ("each counts as lost." if state == "failed" else "their pairs enter no ratio."),
                LEFT_OUT_ADVICE[state],
            )
        )
    return found


def _limits(run: RunRecord) -> list[Advisory]:
    advice = "Such a number says how the server was set up, not how fast it is: raise the limit, or report it as one."
    raise_it = (
        "Raise the limit that the number equals, and run again: it was the limit if the rate of delivery follows."
    )
    return [
        *(Advisory(f"{text}.", advice) for text in limits(run)),
        *(Advisory(f"{text}.", raise_it) for text in deliveries(run)),
    ]


def _mail(run: RunRecord) -> list[Advisory]:
    found = [
        Advisory(
            f"{text}.",
            "Its rate of delivered messages is that of reading or of delivery, not that of taking mail: see backlog "
            "and visible times.",
        )
        for text in lags(run)
    ]
    stop = "Stop what delivers to these accounts, or use others: each session lists such mail again."
    return found + [Advisory(f"{text}.", stop) for text in foreign_mail(run)]


def _blocks(pairs: tuple[PairComparison, ...]) -> list[Advisory]:
    if not pairs:
        return []
    fewest = min(pair.primary.blocks for pair in pairs)
    if fewest >= MINIMUM_BLOCKS:
        return []
    text = f"Only {wording.plural(fewest, 'complete block')}: numbers without a verdict."
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


def _starved(contender: ContenderSummary) -> list[Advisory]:
    if not contender.generator_starved:
        return []
    share = wording.percent(contender.generator_wait_share)
    trials = f"{contender.generator_starved} of {wording.plural(contender.trials_ok, 'trial')} of {contender.name}"
    return [
        Advisory(
            f"The load generator waited up to {share} of its time for a processor in {trials}.",
            "Give it cores of its own (`--pin` for the generator, `taskset` for servers on the same machine) or a "
            "machine of its own: its waits are in the response times shown.",
        )
    ]


def _disturbed(cube: Cube) -> list[Advisory]:
    """Trials in which the generator's machine was disturbed, though not so much that they are void."""
    found = []
    for mark, what in (
        ("generator-paused", "was stopped for a moment"),
        ("stolen-time", "lost time to the hypervisor"),
    ):
        marked = [trial for trial in cube.usable.values() if mark in trial.marks]
        if marked:
            text = f"The load generator {what} in {wording.plural(len(marked), 'trial')}."
            found.append(Advisory(text, "The longest response times there may be the generator's own: leave it alone."))
    return found


def _spread(cube: Cube, work: str) -> list[Advisory]:
    found = []
    for name in cube.contenders:
        spread = widest([trial for (contender, _, _), trial in cube.usable.items() if contender == name])
        if spread is not None:
            text = spread.text(name, work)
            found.append(
                Advisory(
                    f"{text[0].upper()}{text[1:]}: the machine or the server has more than one speed.",
                    "Look for what changes between blocks: clock frequency, neighbours, the cores that processes land "
                    "on (`--pin`, `taskset`), warm-up. A mean of two speeds describes neither.",
                )
            )
    return found


def _contender(contender: ContenderSummary) -> list[Advisory]:
    found = []
    if contender.error_share > 0.0:
        total = sum(contender.errors.values())
        found.append(
            Advisory(
                f"{contender.name} failed {total:,} operations ({wording.percent(contender.error_share)}): "
                f"{wording.errors(contender.errors)}.",
                "Failed operations are in no rate and no response time: read its curves together with its errors.",
            )
        )
    if contender.generator_limited:
        share = f"{contender.generator_limited} of {wording.plural(contender.trials_ok, 'trial')}"
        found.append(
            Advisory(
                f"The load generator was the limit in {share} of {contender.name}.",
                "Give the generator more cores (`--cores`) or a machine of its own; such rates are lower bounds.",
            )
        )
    if contender.fairness_lowest < FAIRNESS_FLOOR:
        found.append(
            Advisory(
                f"{contender.name} did not treat its clients alike: Jain index down to "
                f"{contender.fairness_lowest:.2f}.",
                "See the fairness chart: some clients were starved, the mean hides them.",
            )
        )
    return found


def _ceiling(run: RunRecord, contenders: tuple[ContenderSummary, ...]) -> list[Advisory]:
    ceiling = run.null_operations_per_s
    if ceiling is None:
        return [
            Advisory(
                "The generator's own ceiling (null rate) was not measured.",
                "Without it nobody can tell a fast server from a slow generator: measure it in the run.",
            )
        ]
    if has_cells(run.trials):
        # The ceiling is in operations; cells are compared in bytes.
        return []
    peaks = {c.name: peak_operations(run, c) for c in contenders}
    close = [c for c in contenders if peaks[c.name] > CEILING_SHARE * ceiling]
    return [
        Advisory(
            f"The peak of {c.name} is {wording.percent(peaks[c.name] / ceiling)} of what the generator can do at all.",
            "Give the generator more cores (`--cores`): this peak may be the generator's.",
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
