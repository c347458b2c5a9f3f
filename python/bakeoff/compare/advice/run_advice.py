"""What a reader must know of a run as a whole: what is missing, repeated or left out, and what was chosen when."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from bakeoff.compare.advice.advice_model import (
    DeltaChosen,
    FewBlocks,
    FileNotComplete,
    InterimAnalysesMade,
    MeasuredApart,
    NotComplete,
    NotMeasuredHere,
    Outages,
    StoppedTrials,
    TrialsForfeited,
    TrialsLeftOut,
    TrialsRepeated,
    UnresponsiveAtEnd,
    WentOnWithout,
)
from bakeoff.compare.collections.joined_differences import differences
from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.model.comparison import ContenderSummary, RunInfo
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import PairComparison
from bakeoff.compare.shapes import shape_of
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.store.records.run_records import INTERRUPTED, LEFT_OUT, RunRecord
from bakeoff.store.records.unresponsive import unresponsive_contenders

# The class of errors of connections where nothing listens.
REFUSED = "refused"


def run_advice(run: RunRecord, cube: Cube, info: RunInfo, contenders: tuple[ContenderSummary, ...]) -> tuple[Fact, ...]:
    """Who measured it, what is missing, and what was left out."""
    return (
        *_imported(run),
        *_joined(run),
        *_incomplete(run),
        *_interim(info),
        *_repeated(run),
        *_without(info),
        *_left_out(cube, info.file, contenders, run),
        *_unresponsive(run),
    )


def _unresponsive(run: RunRecord) -> list[Fact]:
    """Contenders that were gone when all was measured."""
    return [UnresponsiveAtEnd(name, why) for name, why in unresponsive_contenders(run).items()]


def _imported(run: RunRecord) -> list[Fact]:
    return [] if run.imported_from is None else [NotMeasuredHere(run.imported_from, run.kind)]


def _joined(run: RunRecord) -> list[Fact]:
    if not run.joined or all(file.names == run.joined[0].names for file in run.joined):
        return _stopped(run)
    differ = tuple(d.item.removeprefix("settings · ") for d in differences(run.files) if d.sort == "work")
    return [MeasuredApart(tuple(f.run.path.name for f in run.files), differ, run.suite), *_stopped(run)]


def _stopped(run: RunRecord) -> list[Fact]:
    """Of several files the trials without figures."""
    stopped = tuple((t.contender, t.reason) for t in run.trials if t.state == INTERRUPTED) if run.joined else ()
    return [StoppedTrials(stopped)] if stopped else []


def _incomplete(run: RunRecord) -> list[Fact]:
    """Of several runs each has said it of itself."""
    if run.joined:
        return _incomplete_files(run)
    missing = max(len(run.pending), run.trials_planned - len(run.trials), 0)
    if run.is_complete and run.finished_at is not None and not missing:
        return []
    return [NotComplete(run.path.name, missing, run.trials_planned)]


def _incomplete_files(run: RunRecord) -> list[Fact]:
    """Of runs that stand beside each other, each of those that were stopped."""
    missing: Counter[str] = Counter()
    for file in run.joined:
        named = {
            (trial.contender, trial.load_step, trial.block) for trial in file.run.trials
        }  # as stopped before the end
        missing[file.run.path.name] += sum((t.contender, t.load_step, t.block) not in named for t in file.run.pending)
    return [FileNotComplete(name, number) for name, number in missing.items() if number]


def _interim(info: RunInfo) -> list[Fact]:
    return [InterimAnalysesMade(info.interim)] if info.interim is not None and info.interim.is_reported else []


def _repeated(run: RunRecord) -> list[Fact]:
    """By contender and state, with the most frequent reason."""
    facts: list[Fact] = []
    kept = Counter((trial.contender, trial.state) for trial in run.earlier)
    for (contender, state), number in sorted(kept.items()):
        reasons = Counter(t.reason for t in run.earlier if (t.contender, t.state) == (contender, state))
        (reason, _), *others = reasons.most_common()
        facts.append(TrialsRepeated(contender, state, number, reason, bool(others)))
    return facts


def delta_advice(run: RunRecord, info: RunInfo) -> list[Fact]:
    """That who compares chose the smallest difference that matters, when the figures were there to be seen."""
    planned = sorted({file.run.delta for file in run.files})
    if run.imported_from is not None or info.delta in planned:
        return []
    return [DeltaChosen(info.delta, tuple(planned))]


def _without(info: RunInfo) -> list[Fact]:
    """Contenders that the run went on without."""
    return [WentOnWithout(info.file, each.contender, each.words) for each in info.left_out]


def _again(run: RunRecord) -> Literal["file", "run"]:
    """What does failed and voided trials once more: where no single file can go on with them, a new run."""
    one_file = not run.joined and run.imported_from is None
    return "file" if one_file and shape_of(run).goes_on else "run"


def _left_out(cube: Cube, file: str, contenders: tuple[ContenderSummary, ...], run: RunRecord) -> list[Fact]:
    by_state = Counter((trial.state, trial.contender) for trial in cube.left_out)
    again, facts = _again(run), list[Fact]()
    for (state, contender), number in sorted(by_state.items()):
        if state == "failed":
            outages = next(outages_of(c) for c in contenders if c.name == contender)
            facts.append(TrialsForfeited(file, contender, outages, *_why(cube, contender), again))
        else:
            facts.append(TrialsLeftOut(file, contender, state, number, again))
    return facts


def outages_of(c: ContenderSummary) -> Outages:
    """In which trials a contender was dead, failed and was not asked."""
    dead, failed = c.trials_dead - c.trials_not_asked, c.trials_failed - c.trials_dead
    return Outages(dead, failed, c.trials_not_asked, c.trials_ok + c.trials_failed)


def _why(cube: Cube, contender: str) -> tuple[Fact, int | None, bool]:
    """The most frequent reason of its failed trials, in how many where there are others, and whether connections were
    refused in one of them.
    """
    failed = [each for each in cube.left_out if each.contender == contender and each.state == "failed"]
    reasons = Counter(e.reason for e in failed if e.code != LEFT_OUT) or Counter(e.reason for e in failed)
    (reason, number), *others = reasons.most_common()
    refused = any(REFUSED in cube.trials[e.contender, e.load_step, e.block].errors for e in failed)
    return reason, number if others else None, refused


def blocks_advice(pairs: tuple[PairComparison, ...], measured: int, is_imported: bool = False) -> list[Fact]:
    """That there are too few blocks for a verdict."""
    if not pairs:
        return []
    fewest = min(pair.primary.blocks for pair in pairs)
    if fewest >= MINIMUM_BLOCKS:
        return []
    scarce = tuple((pair.contender, pair.baseline) for pair in pairs if pair.primary.blocks == fewest)
    return [FewBlocks(fewest, scarce if len(pairs) > 1 else (), measured, is_imported)]
