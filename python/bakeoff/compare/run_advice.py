"""What a reader must know of a run as a whole: what is missing, repeated or left out, and what was chosen when."""

from __future__ import annotations

from collections import Counter

from bakeoff.compare.cube import UNPAIRED, Cube
from bakeoff.compare.joined_differences import differences
from bakeoff.compare.model import Advisory, ContenderSummary, RunInfo
from bakeoff.compare.pair_model import PairComparison
from bakeoff.report.narrate import wording
from bakeoff.store.records import INTERRUPTED, LEFT_OUT, RunRecord
from bakeoff.store.silent import silent_of, silent_words
from bakeoff.thresholds import MINIMUM_BLOCKS

# Pairs that are named in one sentence.
MOST_NAMED = 4
REFUSED_ADVICE = (
    "Connections are refused where nothing listens: the server's log, and `dmesg` after a crash, may say why."
)
LEFT_OUT_ADVICE = {
    "failed": "`bakeoff show` lists them with the reasons; {repeat} once the cause is known.",
    "interrupted": "`bakeoff show` lists them; `bakeoff resume` repeats interrupted ones.",
    UNPAIRED: "`bakeoff report` lists them; more blocks make up for them.",
    "voided": "`bakeoff show` lists them: the reasons name what to change on the client machine; then {repeat}.",
}


def run_advice(
    run: RunRecord, cube: Cube, info: RunInfo, contenders: tuple[ContenderSummary, ...]
) -> tuple[Advisory, ...]:
    """Who measured it, what is missing, and what was left out."""
    return (
        *_imported(run),
        *_joined(run),
        *_incomplete(run),
        *_looks(info),
        *_repeated(run, info),
        *_without(info),
        *_left_out(cube, contenders, _repeat(run, info)),
        *_silent(run),
    )


def _silent(run: RunRecord) -> list[Advisory]:
    """Contenders that were gone when all was measured."""
    advice = "Look into its log, and into `dmesg`: it may have died of what it was asked. No figure here changes by it."
    return [Advisory(f"{silent_words(name, why.rstrip('.'))}.", advice) for name, why in silent_of(run).items()]


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
    if not run.joined or all(file.names == run.joined[0].names for file in run.joined):
        return _stopped(run)
    files = [file for file in run.joined if not file.failed]
    text = f"These runs were measured one after the other, unpaired: {', '.join(f.run.path.name for f in files)}."
    if different := [d.item.removeprefix("settings · ") for d in differences(files) if d.sort == "work"]:
        text += f" Their settings differ: {', '.join(different)}."
    advice = f"`bakeoff run {run.suite}` measures all contenders in the blocks of one run, which pairs them."
    return [Advisory(text, advice), *_stopped(run)]


def _stopped(run: RunRecord) -> list[Advisory]:
    """Of several files the trials without figures."""
    stopped = [f"{t.contender} ({t.reason})" for t in run.trials if t.state == INTERRUPTED] if run.joined else []
    if not stopped:
        return []
    text = f"Stopped before the end, and so without figures here: {', '.join(stopped)}."
    return [Advisory(text, "Make such a run anew.")]


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
    missing: Counter[str] = Counter()
    for file in run.joined:
        named = {(trial.contender, trial.mix, trial.block) for trial in file.run.trials}  # as stopped before the end
        missing[file.run.path.name] += sum((t.contender, t.mix, t.block) not in named for t in file.run.pending)
    return [
        Advisory(
            f"{name} is not complete: {wording.plural(number, 'trial')} of it missing.",
            "Finish or repeat that run, then put the runs together again.",
        )
        for name, number in missing.items()
        if number
    ]


def _looks(info: RunInfo) -> list[Advisory]:
    if info.look is None or not (text := info.look.words()):
        return []
    if info.look.added:
        advice = (
            "To spread a plan over days, stop its run by Ctrl-C and `bakeoff resume` it: that is no look."
            if info.look.joined
            else "Who wants to look before the end says so in the plan: `--looks 6,12,18` costs less than adding "
            "blocks."
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


def delta_advice(run: RunRecord, info: RunInfo) -> list[Advisory]:
    """That who compares chose the smallest difference that matters, when the figures were there to be seen."""
    planned = sorted({file.run.delta for file in run.joined if not file.failed} or {run.delta})
    if run.imported_from is not None or info.delta in planned:
        return []
    named = wording.names([wording.percent(delta) for delta in planned])
    text = (
        f"The smallest difference that matters was chosen for this comparison: {wording.percent(info.delta)}, not "
        f"{named} as planned."
    )
    return [Advisory(text, "Verdicts by another one may be others: leave `--delta` out for those that were planned.")]


def _without(info: RunInfo) -> list[Advisory]:
    """Contenders that the run went on without."""
    return [
        Advisory(
            f"{each.contender}: {each.words}; what it was not asked any more counts as failed.",
            f"Bring it back, then `bakeoff resume {info.file} --retry-failed` asks it again.",
        )
        for each in info.left_out
    ]


def _repeat(run: RunRecord, info: RunInfo) -> str:
    """How failed and voided trials are done once more: where no single file can go on with them, in a new run."""
    whole = run.searches or run.soak_rows or run.joined or run.imported_from is not None
    return "repeat the run" if whole else f"`bakeoff resume {info.file} --retry-failed` repeats them"


def _left_out(cube: Cube, contenders: tuple[ContenderSummary, ...], repeat: str) -> list[Advisory]:
    by_state = Counter((trial.state, trial.contender) for trial in cube.left_out)
    advisories = []
    for (state, contender), number in sorted(by_state.items()):
        advice = LEFT_OUT_ADVICE[state].format(repeat=repeat)
        if state == "failed":
            if "refused" in _why(cube, contender):
                advice = f"{REFUSED_ADVICE} {advice}"
            down = next(c.outages for c in contenders if c.name == contender)
            text = f"{contender} was {down}: {_why(cube, contender)}; each counts as lost."
            if not down.startswith("dead"):
                text = f"{contender} {down}: {_why(cube, contender)}; each counts as lost."
        else:
            pairs = "its pair enters" if number == 1 else "their pairs enter"
            text = f"{contender} has {wording.plural(number, f'{state} trial')}; {pairs} no ratio."
        advisories.append(Advisory(text, advice))
    return advisories


def _why(cube: Cube, contender: str) -> str:
    """The most frequent reason of its failed trials."""
    failed = [each for each in cube.left_out if each.contender == contender and each.state == "failed"]
    reasons = Counter(e.reason for e in failed if e.code != LEFT_OUT) or Counter(e.reason for e in failed)
    (reason, number), *others = reasons.most_common()
    return f"{reason} ({number} of them)" if others else reason


def _of(scarce: list[PairComparison]) -> str:
    """Whose blocks are so few: by name, the first of them where they are many."""
    named = [f"of {pair.contender} and {pair.baseline}" for pair in scarce]
    if len(named) > MOST_NAMED:
        named = [*named[: MOST_NAMED - 1], f"of {len(named) - MOST_NAMED + 1} more pairs"]
    return f" {', '.join(named)}"


def blocks_advice(pairs: tuple[PairComparison, ...], measured: int) -> list[Advisory]:
    """That there are too few blocks for a verdict."""
    if not pairs:
        return []
    fewest = min(pair.primary.blocks for pair in pairs)
    if fewest >= MINIMUM_BLOCKS:
        return []
    between = _of([pair for pair in pairs if pair.primary.blocks == fewest]) if len(pairs) > 1 else ""
    text = f"Only {wording.plural(fewest, 'complete block')}{between}: numbers without a verdict."
    if not fewest:
        text = f"Nothing is comparable{between}: no block has usable trials of both."
    advice = f"Run at least {MINIMUM_BLOCKS} blocks; 8 is the usual number."
    if measured >= MINIMUM_BLOCKS:
        advice = f"{measured} blocks were measured, but in the others a trial is missing or does not count; see above."
    return [Advisory(text, advice)]
