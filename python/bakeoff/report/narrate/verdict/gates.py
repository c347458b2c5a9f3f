"""What speaks against a verdict, in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from bakeoff.compare.failures.hung_model import Hung
from bakeoff.compare.model import gate as of
from bakeoff.compare.model.pair import Gate
from bakeoff.compare.validity.disturbances import Crowd, Crowded
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.fleet import busy_words, link_words
from bakeoff.report.narrate.kind import words_part
from bakeoff.report.narrate.sentences import sentence, words_for
from bakeoff.report.narrate.validity.client_options import client_option_words
from bakeoff.report.narrate.validity.error_replies import error_replies_text
from bakeoff.report.narrate.validity.faults import clause
from bakeoff.report.narrate.validity.steadiness import unsteady_clause, unsteady_too
from bakeoff.report.narrate.verdict.spread import spread_text, spread_too

AT_LEAST = ", so its lead is at least the one shown"


@sentence.register
def gate_text(gate: Gate) -> str:
    """What was found, as a clause."""
    return gate_words(gate.detail, gate.contender)


def also(gate: Gate) -> str:
    """The same after the clause of another contender; empty where it has no shorter form."""
    return _too(gate.detail, gate.contender)


@singledispatch
def gate_words(detail: of.GateDetail, name: str) -> str:
    """What a check has found of the contender of this name; a kind of suite registers its own."""
    words: str = words_for(gate_words, type(detail))(detail, name)
    return words


@singledispatch
def _too(detail: of.GateDetail, name: str) -> str:
    return ""


def _trials(detail: of.InTrials) -> str:
    return f"{detail.trials} of {wording.plural(detail.of, 'trial')}"


def _in_trials(detail: of.InTrials) -> str:
    return f"{detail.trials} of {detail.of}"


@gate_words.register
def _(detail: of.StoredWords, name: str) -> str:
    return detail.stated


@gate_words.register
def _(detail: of.FilesDiffer, name: str) -> str:
    return f"the run files differ: {each_file(detail.files)}"


def each_file(files: Sequence[tuple[str, float, float, float]]) -> str:
    """ "1.02× in A and 1.04× in B"."""
    return wording.names([f"{wording.ratio(ratio, low, high)} in {label}" for label, ratio, low, high in files])


@gate_words.register
def _(detail: of.DifferentPages, name: str) -> str:
    return detail.stated or "they answer differently"


@gate_words.register
def _(detail: of.OtherContent, name: str) -> str:
    return f"{detail.leader} and {detail.follower} sent different content, which is not the same work"


@gate_words.register
def _(detail: of.ClientOptionsDifferGate, name: str) -> str:
    return client_option_words(detail.client_options, words_part(detail.kind), detail.between)


@gate_words.register
def _(detail: of.MoreErrorReplies, name: str) -> str:
    away = error_replies_text(detail.own)
    rest = error_replies_text(detail.theirs) if detail.theirs.statuses else "none"
    return f"replies of {name}: {away}; replies of {detail.other}: {rest}; this is not the same work"


@gate_words.register
def _(detail: of.Stopped, name: str) -> str:
    return (
        f"the load generator was stopped in {wording.plural(detail.trials, 'trial')} of {name}, for "
        f"{wording.percent(detail.lost_share)} of its time, and for {wording.percent(detail.other_lost_share)} with "
        f"{detail.other}"
    )


@gate_words.register
def _(detail: of.Faulty, name: str) -> str:
    return f"{name} {clause(detail.faults)}"


@gate_words.register
def _(detail: of.FailedTrials, name: str) -> str:
    return f"{name} failed {_trials(detail)}"


@gate_words.register
def _(detail: of.Repetitions, name: str) -> str:
    trials = wording.plural(detail.trials, "trial")
    return f"{name} had failed {trials} that {'was' if detail.trials == 1 else 'were'} repeated"


@gate_words.register
def _(detail: of.Starving, name: str) -> str:
    return f"{name} starved clients in {_trials(detail)}"


@gate_words.register
def _(detail: of.LeftOpen, name: str) -> str:
    return hung_text(detail.hung, name)


def hung_text(hung: Hung, name: str) -> str:
    """Operations that never ended; none is counted where one began after the window."""
    where = f"{hung.trials} of {wording.plural(hung.of, 'trial')}"
    if hung.operations:
        return f"{wording.plural(hung.operations, 'operation')} of {name} never ended, in {where}"
    return f"{name} left operations hanging at the end of {where}"


@gate_words.register
def _(detail: of.WrongAnswers, name: str) -> str:
    return f"{name} answered {wording.percent(detail.share)} of the {detail.work} wrongly"


@gate_words.register
def _(detail: of.ErrorsOver, name: str) -> str:
    return f"{name} failed {wording.percent(detail.share)} of {detail.of}"


@gate_words.register
def _(detail: of.Flattering, name: str) -> str:
    return (
        f"{name} failed {wording.percent(detail.share)} of {detail.of}: were each of them as slow as the slowest "
        "answer, its lead would disappear"
    )


@gate_words.register
def _(detail: of.GeneratorLimit, name: str) -> str:
    at_least = AT_LEAST if detail.is_bound else ""
    return f"{busy_words(detail.threads)} was the limit in {_trials(detail)} of {name}{at_least}"


@gate_words.register
def _(detail: of.LinkLimit, name: str) -> str:
    why = AT_LEAST if detail.is_bound else ": the network was measured, not the server"
    return f"{link_words(detail.link)} in {_trials(detail)} of {name}{why}"


@gate_words.register
def _(detail: of.NearGeneratorCapacity, name: str) -> str:
    busy = ", whose load threads were busy then" if detail.is_floor else ""
    return (
        f"{name} answered up to {wording.percent(detail.share)} of the generator's capacity (null server){busy}, in "
        f"{_trials(detail)}: it may be faster than shown"
    )


@_too.register
def _(detail: of.NearGeneratorCapacity, name: str) -> str:
    return f"and so may {name} ({wording.percent(detail.share)}, in {_in_trials(detail)})"


@gate_words.register
def _(detail: of.LateStarts, name: str) -> str:
    return (
        f"the load generator started requests late in {_trials(detail)} of {name} although connections were idle; "
        "response times include this delay"
    )


@_too.register
def _(detail: of.LateStarts, name: str) -> str:
    return f"and in {_in_trials(detail)} of {name}"


@gate_words.register
def _(detail: of.Waits, name: str) -> str:
    share = wording.percent(detail.share)
    return f"the load generator waited up to {share} of its time for a processor in {_trials(detail)} of {name}"


@_too.register
def _(detail: of.Waits, name: str) -> str:
    return f"{wording.percent(detail.share)} in {_in_trials(detail)} of {name}"


@gate_words.register
def _(detail: of.Uneven, name: str) -> str:
    return spread_text(detail.spread, name, detail.work)


@_too.register
def _(detail: of.Uneven, name: str) -> str:
    return spread_too(detail.spread, name)


@gate_words.register
def _(detail: of.NotSteady, name: str) -> str:
    return unsteady_clause(detail.trials)


@_too.register
def _(detail: of.NotSteady, name: str) -> str:
    return unsteady_too(detail.trials)


@gate_words.register
def _(detail: of.StaleConnections, name: str) -> str:
    return (
        f"{name} ended the kept connection of {wording.percent(detail.share)} of the {detail.work} before its answer; "
        "clients asked again on new ones"
    )


@_too.register
def _(detail: of.StaleConnections, name: str) -> str:
    return f"{name} of {wording.percent(detail.share)}"


@gate_words.register
def _(detail: of.LawOff, name: str) -> str:
    return f"Little's law is off by more than {wording.percent(detail.by)} in {_in_trials(detail)} trials of {name}"


@gate_words.register
def _(detail: Crowded, name: str) -> str:
    words = "; ".join(crowded for who, crowd in detail.crowds.items() if (crowded := _crowd(crowd, who)))
    alone = f", which alone could make {detail.leader} {wording.times(detail.explained, 'as fast')}"
    return f"other load ({words})" + (alone if detail.explained > 1.0 else "")


def _crowd(crowd: Crowd, name: str) -> str:
    """What a contender's trials met; nothing where none of them tells."""
    who = f" ({', '.join(crowd.names)})" if crowd.names else ""
    parts = [] if crowd.others is None else [f"others took {wording.percent(crowd.others)} of the processors{who}"]
    parts += [] if crowd.waited is None else [f"the load generator waited {wording.percent(crowd.waited)} of its time"]
    return f"{name}: {', '.join(parts)}" if parts else ""


@gate_words.register
def _(detail: of.NotConfirmed, name: str) -> str:
    why = (
        f"at {wording.percent(detail.share)} of it {name} missed the objective in {detail.missed} of "
        f"{wording.plural(detail.of, 'trial')}"
        if detail.of
        else "no trial at a share of it followed the search"
    )
    return f"the capacity of {name} is not confirmed: {why}"


@gate_words.register
def _(detail: of.WorseInPrimary, name: str) -> str:
    return f"{name} is behind in {detail.decides}"


@gate_words.register
def _(detail: of.CutOff, name: str) -> str:
    of_all = wording.plural(detail.of, "search", "searches")
    part = f"the capacity of {name} is cut off in {detail.searches} of {of_all} ({detail.reason})"
    return f"{part}{AT_LEAST if detail.is_bound else ''}"
