"""Whether contenders meet the objective of a plan, in words."""

from __future__ import annotations

from bakeoff.compare.limits.objective_model import (
    KINDS,
    AtLoad,
    ContenderObjective,
    FewAsked,
    FewUsable,
    Missed,
    NoTrial,
    ObjectiveOutcome,
    WrongAnswers,
)
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.capacity import term_value
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.validity.faults import clause


def objective_sentences(found: ObjectiveOutcome | None) -> list[Sentence]:
    """One for each contender."""
    if found is None:
        return []
    return [Sentence(KINDS[each.verdict], objective_sentence(found.objective, each)) for each in found.contenders]


def objective_sentence(objective: str, each: ContenderObjective) -> str:
    """ "api meets p99<=50ms at 200/s: at worst p99 was 31 ms"."""
    if each.verdict == "missed":
        return f"{each.name} misses {objective}: {sentence(each.why)}."
    if each.verdict == "undecided":
        return f"Whether {each.name} meets {objective} is not decided: {sentence(each.why)}."
    where = (
        each.loads[0].load_step.words
        if len(each.loads) == 1
        else wording.load_steps([load.load_step for load in each.loads])
    )
    top = each.loads[-1]
    asked = [term for term in top.worst if term.term in objective.split(",")]
    figures = wording.names([f"{term.name} was {term_value(term)}" for term in asked])
    at = "" if len(each.loads) == 1 else f" at {top.load_step.words}"
    trials = sum(load.met for load in each.loads)
    met = f"{each.name} meets {objective} at {where}, in all of {wording.plural(trials, 'trial')}"
    return f"{met}: at worst {figures}{at}."


@sentence.register
def at_load(why: AtLoad) -> str:
    """Why an objective is not met, or that is not decided, as those that follow."""
    return f"at {why.load_step.words} {sentence(why.why)}"


@sentence.register
def missed(why: Missed) -> str:
    """By its terms, or as trials failed."""
    terms = ", ".join(f"{term.name} was {term_value(term)}" for term in why.terms)
    other = f"a trial failed: {why.reason}" if why.reason else "it was missed"
    return f"{terms or other}" + ("" if why.of == 1 else f" in {why.trials} of {why.of} trials")


@sentence.register
def few_usable(why: FewUsable) -> str:
    """Of blocks."""
    return f"{why.usable} of {wording.plural(why.blocks, 'trial')} can be used"


@sentence.register
def few_asked(why: FewAsked) -> str:
    """Of operations."""
    return f"{why.operations:,} operations are too few to show it: {why.needed:,} would do (--length, --blocks)"


@sentence.register
def wrong_answers(why: WrongAnswers) -> str:
    """Of wrong content."""
    return f"it {clause(why.faults)}"


@sentence.register
def no_trial(why: NoTrial) -> str:
    """Of a contender that was not reached."""
    return "no trial was done"
