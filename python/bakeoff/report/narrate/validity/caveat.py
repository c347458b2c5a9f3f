"""What a reader of the result must know beside it, in words."""

from __future__ import annotations

from functools import singledispatch

from bakeoff.compare.advice.advice_model import (
    AuditDoesNotHold,
    BeganLate,
    BlocksDiffer,
    GeneratorLimit,
    LinkFull,
    NearGeneratorCapacity,
    NotComplete,
    NotMeasuredHere,
    OthersRan,
    Waited,
    WorkingSet,
)
from bakeoff.compare.advice.caveat_model import Caveat, GeneratorStopped, ShortTrials, SuiteCaveat, TrialsVoid
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.planning.noise_model import WithinFloor
from bakeoff.core.thresholds import P99_OPERATIONS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.fleet import busy_words, link_words
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.advice import memory_words
from bakeoff.report.narrate.validity.audits import audit_title
from bakeoff.report.narrate.verdict.spread import spread_caveat


def box(caveat: Caveat | SuiteCaveat | None) -> str:
    """As it stands in the box beside the result; empty without one."""
    if caveat is None:
        return ""
    if isinstance(caveat, SuiteCaveat):
        return f"Beware, in {caveat.suite}: {caveat_text(caveat.caveat)}."
    return f"Beware: {caveat_text(caveat)}."


@sentence.register
def caveat_text(caveat: Caveat) -> str:
    """A clause that begins with a small letter, or a name."""
    return caveat_words(caveat.about)


@singledispatch
def caveat_words(fact: Fact) -> str:
    """What a caveat says of a fact; it may be what is said of it everywhere."""
    return sentence(fact)


@caveat_words.register
def _(fact: NotMeasuredHere) -> str:
    return f"Bakeoff did not measure this, {fact.tool} did: figures that it does not state cannot be checked"


@caveat_words.register
def _(fact: NotComplete) -> str:
    return f"{fact.missing:,} of {wording.plural(fact.planned, 'planned trial')} were not run"


@caveat_words.register
def _(fact: TrialsVoid) -> str:
    were = "was" if fact.trials == 1 else "were"
    return f"{wording.plural(fact.trials, 'trial')} of {fact.of:,} {were} void and count nowhere"


@caveat_words.register
def _(fact: AuditDoesNotHold) -> str:
    trials = wording.plural(fact.checked, "trial")
    return f"the audit “{audit_title(fact.audit)}” does not hold in {fact.deviating:,} of {trials}"


@caveat_words.register
def _(fact: OthersRan) -> str:
    who = f", most of it by {wording.names(list(fact.crowd.names))}" if fact.crowd.names else ""
    return (
        f"others took {wording.percent(fact.crowd.others or 0.0)} of the processors of the machine that sent load in "
        f"{fact.trials:,} of {wording.plural(fact.of, 'trial')}{who}: sizes of differences are uncertain"
    )


@caveat_words.register
def _(fact: GeneratorStopped) -> str:
    trials, most = wording.plural(fact.of, "trial"), wording.percent(fact.lost_share)
    return f"the load generator was stopped in {fact.trials:,} of {trials}, for up to {most} of one"


@caveat_words.register
def _(fact: LinkFull) -> str:
    return f"{link_words(fact.link)} {_where(fact)}: the network was measured, not the server"


@caveat_words.register
def _(fact: GeneratorLimit) -> str:
    return f"{busy_words(fact.busy)} was the limit {_where(fact)}: such rates are lower bounds"


@caveat_words.register
def _(fact: BeganLate) -> str:
    return f"the load generator started requests late {_where(fact)}; response times include this delay"


@caveat_words.register
def _(fact: Waited) -> str:
    most = wording.percent(fact.share)
    return f"the load generator waited up to {most} of its time for a processor {_where(fact)}"


def _where(fact: LinkFull | GeneratorLimit | BeganLate | Waited) -> str:
    return f"in {fact.trials:,} of {wording.plural(fact.of, 'trial')} of {fact.contender}"


@caveat_words.register
def _(fact: WithinFloor) -> str:
    return f"{sentence(fact)} on this set-up"


@caveat_words.register
def _(fact: BlocksDiffer) -> str:
    return "; ".join(spread_caveat(spread, name, fact.work) for name, spread in fact.spreads.items())


@caveat_words.register
def _(fact: NearGeneratorCapacity) -> str:
    return (
        f"the peak of {fact.contender} is {wording.percent(fact.share)} of the generator's capacity (null server), so "
        "it may be the generator's"
    )


@caveat_words.register
def _(fact: WorkingSet) -> str:
    text = memory_words(fact).rstrip(".")
    return text[0].lower() + text[1:]


@caveat_words.register
def _(fact: ShortTrials) -> str:
    trials = wording.plural(fact.of, "trial")
    return f"{fact.trials:,} of {trials} saw fewer than {P99_OPERATIONS} operations, too few for a p99"
