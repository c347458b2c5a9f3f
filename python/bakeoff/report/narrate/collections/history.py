"""Runs over time in sentences: where a level changed, by how much, and what else changed there."""

from __future__ import annotations

from bakeoff.compare.collections.history_model import (
    CopiedRun,
    GatesClosed,
    History,
    ImportedRun,
    LevelChange,
    NothingMeasured,
    NoValue,
    PlanHistory,
    Series,
    TrialsLost,
    UnreadFile,
    WithoutMetric,
)
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

# Of a change so many differences are named in its sentence.
MOST_NAMED = 3


@sentence.register
def _(fact: TrialsLost) -> str:
    return f"it forfeited {fact.forfeited:,} of {wording.plural(fact.of, 'trial')}"


@sentence.register
def _(fact: NoValue) -> str:
    return "no trial has a value"


@sentence.register
def _(fact: GatesClosed) -> str:
    return wording.names([sentence(gate) for gate in fact.gates])


@sentence.register
def _(fact: UnreadFile) -> str:
    return fact.stated


@sentence.register
def _(fact: ImportedRun) -> str:
    return f"it was imported from {fact.tool}, which states no plan"


@sentence.register
def _(fact: NothingMeasured) -> str:
    return "it has no trial that ended well"


@sentence.register
def _(fact: CopiedRun) -> str:
    return f"it is a copy of {fact.path}, or goes on with it"


@sentence.register
def _(fact: WithoutMetric) -> str:
    return f"it has no {fact.metric}" if fact.metric else "it has no figure of each contender by itself"


def summary(found: History) -> str:
    """All of it in a sentence."""
    number = sum(len(plan.runs) for plan in found.plans)
    changes = sum(len(series.changes) for plan in found.plans for series in plan.levels)
    runs = f"{wording.plural(number, 'run')} of {wording.plural(len(found.plans), 'plan')}"
    return f"{runs}: {wording.plural(changes, 'change') if changes else 'no change'} of a level found."


def day(moment: str) -> str:
    """A moment to the minute."""
    return moment[:16].replace("T", " ")


def who(series: Series) -> str:
    """`nginx`, or `nginx ÷ apache`."""
    return f"{series.contender} ÷ {series.baseline}" if series.baseline else series.contender


def change_sentence(plan: PlanHistory, series: Series, change: LevelChange) -> str:
    """One change: when, by how much, from what to what."""
    run = plan.runs[change.run]
    how = "better" if change.is_better else "worse"
    old, new = (
        wording.ratio(level) if series.baseline else f"{wording.figures(level)} {plan.unit}" for level in change.levels
    )
    ratio = wording.ratio(change.ratio, change.low, change.high)
    before, after = change.runs
    return (
        f"{who(series)} is {how} since {day(run.began_at)} UTC. {plan.title}: {ratio} the level before "
        f"(95 % interval {wording.interval(change.low, change.high)}), {new} in {wording.plural(after, 'run')} after "
        f"{old} in {before:,}."
    )


def cause_sentence(plan: PlanHistory, change: LevelChange) -> str:
    """What else changed there; empty when nothing is known to have."""
    texts = []
    if change.is_shared:
        texts.append("All contenders changed alike there: look at the machine, the network and the generator first.")
    named = [
        f"{each.item.replace(' · ', ' ')} ({before} → {after})"
        for each in plan.differences.get(change.run, ())
        if (before := each.values[0]) is not None and (after := each.values[1]) is not None
    ]
    if named:
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        texts.append(f"The first run after it differs in {'; '.join(named[:MOST_NAMED])}{more}.")
    return " ".join(texts)
