"""Trials that were not steady, in words."""

from __future__ import annotations

from bakeoff.compare.validity.steadiness_model import NotSteady, Unsteady, UnsteadyTrials
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.sentences import sentence

# So many changes of a trial are told one by one.
MOST_CHANGES = 3


@sentence.register
def course(trial: Unsteady) -> str:
    """ "settled after 6 s of the window, rose by 43 % by then, sank by 8 % over the trial"."""
    sentences = []
    if trial.settled_s:
        sentences.append(f"settled after {trial.settled_s:g} s of the window, {_moved(1.0 / trial.early)} by then")
    sentences += [f"{_moved(factor)} at second {at:g} of the window" for at, factor in trial.changes[:MOST_CHANGES]]
    if len(trial.changes) > MOST_CHANGES:
        sentences.append(f"and changed {len(trial.changes) - MOST_CHANGES} more times")
    if trial.growth != 1.0:
        sentences.append(f"{_moved(trial.growth, 'sank', 'rose')} over the trial")
    return ", ".join(sentences)


def _moved(factor: float, down: str = "fell", up: str = "rose") -> str:
    """ "sank by 8 %", "rose by 12 %"."""
    return f"{down if factor < 1.0 else up} by {wording.percent(abs(factor - 1.0))}"


@sentence.register
def unsteady_clause(unsteady: UnsteadyTrials) -> str:
    """ "apache was not steady in 3 of 8 trials: it sank by 8 % over the trial (trial 3, 8 clients, block 2)"."""
    trials, worst = f"{unsteady.trials} of {wording.plural(unsteady.of, 'trial')}", unsteady.worst
    where = f"trial {worst.trial_id}, {worst.load_step.words}, block {worst.block}"
    return f"{unsteady.contender} was not steady in {trials}: it {course(worst)} ({where})"


def unsteady_too(unsteady: UnsteadyTrials) -> str:
    """ "nor was apache in 2 of 8", after the clause of another contender."""
    return f"nor was {unsteady.contender} in {unsteady.trials} of {unsteady.of}"


@advised.register
def _(fact: NotSteady) -> tuple[str, str]:
    advice = (
        "Look for what changes in a trial: clock frequency, caches that fill, collections of garbage, logs. "
        "A longer `--length` shows where it leads; the mean of a course is no steady rate."
    )
    if fact.ramp_up_s is not None:
        advice = f"Leave the warm-up out of the window: `--ramp-up {fact.ramp_up_s}s`, with as much more `--length`."
    return f"{'; '.join(map(unsteady_clause, fact.contenders))}.", advice
