"""Whether contenders meet the objective of a plan, in words."""

from __future__ import annotations

from bakeoff.compare.objective_model import KINDS, ContenderHeld, ObjectiveHeld
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.capacity import term_value
from bakeoff.report.narrate.sentences import Sentence


def objective_sentences(found: ObjectiveHeld | None) -> list[Sentence]:
    """One for each contender."""
    if found is None:
        return []
    return [Sentence(KINDS[each.verdict], objective_sentence(found.objective, each)) for each in found.contenders]


def objective_sentence(objective: str, each: ContenderHeld) -> str:
    """ "api meets p99<=50ms at 200/s: at worst p99 was 31 ms"."""
    if each.verdict == "missed":
        return f"{each.name} misses {objective}: {each.why}."
    if each.verdict == "undecided":
        return f"Whether {each.name} meets {objective} is not decided: {each.why}."
    where = each.loads[0].mix.words if len(each.loads) == 1 else wording.mixes([load.mix for load in each.loads])
    top = each.loads[-1]
    asked = [term for term in top.worst if term.term in objective.split(",")]
    figures = wording.names([f"{term.name} was {term_value(term)}" for term in asked])
    at = "" if len(each.loads) == 1 else f" at {top.mix.words}"
    trials = sum(load.met for load in each.loads)
    held = f"{each.name} meets {objective} at {where}, in all of {wording.plural(trials, 'trial')}"
    return f"{held}: at worst {figures}{at}."
