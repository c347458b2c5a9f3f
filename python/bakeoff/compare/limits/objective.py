"""Whether contenders meet the objective of a plan.

It is met at a load when every usable trial there meets it, half of the planned blocks or more are usable, and together
they asked for enough operations: three in a row that could have been the one that may miss (of a p99 300), so that with
none of them missing the limit holds at 95 %. It is missed when one usable trial misses it. All else is undecided.
A trial says nothing when it was voided or interrupted, or when the generator was the limit of one that missed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bakeoff.compare.failures.faults_model import Fault
from bakeoff.compare.limits.objective_model import (
    AtLoad,
    ContenderObjective,
    FewAsked,
    FewUsable,
    Missed,
    NoTrial,
    ObjectiveAtStep,
    ObjectiveOutcome,
    ObjectiveVerdict,
    WrongAnswers,
)
from bakeoff.compare.model.fact import Fact
from bakeoff.load.capacity.objective import Objective, parse_objective
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.run_records import INTERRUPTED, VOIDED, RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import TermRecord

# Of so many operations for each that may miss, with none that misses, a limit is shown at 95 %.
RULE_OF_THREE = 3.0


def objective_outcome(run: RunRecord, faults: Mapping[str, tuple[Fault, ...]]) -> ObjectiveOutcome | None:
    """What came of the objective of a run; None where it has none, or its files have several."""
    stated = {file.run.planned.objective for file in run.files}
    if len(stated) != 1 or not (text := stated.pop()):
        return None
    try:
        goal = parse_objective(text)
    except ValueError:  # of a plan that somebody altered
        return None
    found = tuple(_contender(run, contender.name, goal, faults) for contender in run.contenders)
    return ObjectiveOutcome(text, worst([each.verdict for each in found]), found)


def _contender(
    run: RunRecord, name: str, goal: Objective, faults: Mapping[str, tuple[Fault, ...]]
) -> ContenderObjective:
    trials = [trial for trial in run.trials if trial.contender == name]
    # Loads that were not reached are not met either.
    tried: set[LoadStep] = {trial.load_step for trial in run.trials} | {trial.load_step for trial in run.pending}
    load_steps = sorted(tried, key=lambda load_step: load_step.x)
    # Of several files not each has every contender.
    blocks = len({trial.block for trial in trials}) if run.joined else run.blocks_wanted
    loads = tuple(
        _at(load_step, [t for t in trials if t.load_step == load_step], goal, blocks) for load_step in load_steps
    )
    if name in faults:
        return ContenderObjective(name, "missed", WrongAnswers(faults[name]), loads)
    if not loads:
        return ContenderObjective(name, "undecided", NoTrial(), loads)
    verdict = worst([load.verdict for load in loads])
    first = next(load for load in loads if load.verdict == verdict)
    return ContenderObjective(name, verdict, None if first.why is None else AtLoad(first.load_step, first.why), loads)


def _at(load_step: LoadStep, trials: Sequence[TrialRecord], goal: Objective, blocks: int) -> ObjectiveAtStep:
    usable = [trial for trial in trials if _says(trial)]
    met = [trial for trial in usable if trial.judged is not None and trial.judged.met]
    missed = [trial for trial in usable if trial not in met]
    worst = _worst_terms(missed or met)
    why = _why_not(usable, missed, worst, goal, blocks)
    verdict: ObjectiveVerdict = "met" if why is None else "missed" if missed else "undecided"
    return ObjectiveAtStep(
        load_step, verdict, len(met), len(missed), max(blocks, len(trials)) - len(usable), worst, why
    )


def _says(trial: TrialRecord) -> bool:
    judged = trial.judged
    return trial.state not in (VOIDED, INTERRUPTED) and judged is not None and (judged.met or not judged.limit)


def _why_not(
    usable: Sequence[TrialRecord],
    missed: Sequence[TrialRecord],
    worst: Sequence[TermRecord],
    goal: Objective,
    blocks: int,
) -> Fact | None:
    """Why it is not met: missed, or not decided; None where it is."""
    if missed:
        reason = next((trial.reason for trial in missed if trial.reason), "")
        return Missed(tuple(term for term in worst if not term.met), reason, len(missed), len(usable))
    if 2 * len(usable) < max(blocks, 1):
        return FewUsable(len(usable), blocks)
    asked = sum(_asked(trial) for trial in usable)
    allowed = [share for term in goal.terms if (share := term.allowed)]
    needed = math.ceil(RULE_OF_THREE / min(allowed) - 1e-9) if allowed else 1
    return FewAsked(asked, needed) if asked < needed else None


def _asked(trial: TrialRecord) -> int:
    return trial.operations + trial.errors_total


def _worst_terms(trials: Sequence[TrialRecord]) -> tuple[TermRecord, ...]:
    """Each term as the trial came to it that lost most by it; of equals the one with the largest value."""
    by_name: dict[str, TermRecord] = {}
    for trial in trials:
        for term in trial.judged.terms if trial.judged is not None else ():
            known = by_name.get(term.term)
            if known is None or _badness(term) > _badness(known):
                by_name[term.term] = term
    return tuple(by_name.values())


def _badness(term: TermRecord) -> tuple[bool, float, float]:
    return not term.met, term.lost, math.inf if term.value is None else term.value


def worst(verdicts: Sequence[ObjectiveVerdict]) -> ObjectiveVerdict:
    """Missed by one is missed, not decided of one is not decided."""
    return next((one for one in ("missed", "undecided") if one in verdicts), "met")
