"""A run as a whole: what is missing, repeated or left out, and what was chosen when."""

from __future__ import annotations

from bakeoff.compare.advice.advice_model import (
    DeltaChosen,
    FewBlocks,
    FileNotComplete,
    InterimAnalysesMade,
    MeasuredApart,
    NotComplete,
    NotMeasuredHere,
    OfFile,
    Outages,
    StoppedTrials,
    TrialsForfeited,
    TrialsLeftOut,
    TrialsRepeated,
    UnresponsiveAtEnd,
    WentOnWithout,
)
from bakeoff.compare.advice.run_advice import outages_of
from bakeoff.compare.cube.cube import UNPAIRED
from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.kinds import KINDS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.interim import interim_text
from bakeoff.store.records.unresponsive import unresponsive_text

# Pairs that are named in one sentence.
MOST_NAMED = 4
LEFT_OUT = {
    "failed": "`bakeoff show` lists them with the reasons; {repeat} once the cause is known.",
    "interrupted": "`bakeoff show` lists them; `bakeoff resume` repeats interrupted ones.",
    UNPAIRED: "`bakeoff report` lists them; more blocks make up for them.",
    "voided": "`bakeoff show` lists them with reasons. Change the client machine accordingly, then {repeat}.",
}


@advised.register
def _(fact: NotMeasuredHere) -> tuple[str, str]:
    text = (
        f"Bakeoff did not measure this: the figures come from {fact.tool}. It does not state how busy the generator "
        "was, or times of single operations: these cannot be checked. Repetitions are paired in their order on the "
        "command line."
    )
    if fact.kind_of_suite not in KINDS:
        return text, "`bakeoff suites` lists what measures the like, in interleaved blocks and with audits."
    return text, f"`bakeoff run {fact.kind_of_suite}` measures the same, in interleaved blocks and with audits."


@advised.register
def _(fact: MeasuredApart) -> tuple[str, str]:
    text = f"These runs were measured one after the other, unpaired: {', '.join(fact.files)}."
    if fact.settings:
        text += f" Their settings differ: {', '.join(fact.settings)}."
    return text, f"`bakeoff run {fact.suite}` measures all contenders in the blocks of one run, which pairs them."


@advised.register
def _(fact: StoppedTrials) -> tuple[str, str]:
    stopped = ", ".join(f"{contender} ({reason})" for contender, reason in fact.trials)
    return f"These trials stopped before their end and have no figures: {stopped}.", "Make such a run again."


@advised.register
def _(fact: NotComplete) -> tuple[str, str]:
    missing = f"{fact.missing} of {fact.planned} planned trials were not run" if fact.missing else "the run did not end"
    return f"The run is not complete: {missing}.", f"Finish it with `bakeoff resume {fact.folder or fact.file}`."


@advised.register
def _(fact: FileNotComplete) -> tuple[str, str]:
    return (
        f"{fact.file} is not complete: {wording.plural(fact.missing, 'trial')} of it missing.",
        "Finish or repeat that run, then put the runs together again.",
    )


@advised.register
def _(fact: InterimAnalysesMade) -> tuple[str, str]:
    if not fact.interim.added:
        return interim_text(fact.interim), "An analysis that the plan does not name has no verdict."
    if fact.interim.joined:
        return (
            interim_text(fact.interim),
            "To spread a plan over days, stop its run by Ctrl-C and `bakeoff resume` it: that is no interim analysis.",
        )
    return (
        interim_text(fact.interim),
        "To analyse before the end, say so in the plan: `--interim-analyses 6,12,18` costs less than adding blocks.",
    )


@advised.register
def _(fact: TrialsRepeated) -> tuple[str, str]:
    trials = wording.plural(fact.trials, f"{fact.state} trial")
    were = "was" if fact.trials == 1 else "were"
    more = " and other reasons" if fact.other_reasons else ""
    return (
        f"{trials} of {fact.contender} {were} repeated; the {fact.state} trials stay in the file: {fact.reason}{more}.",
        "The repetitions count, although they ran at other times than the other contenders' trials; see their list.",
    )


@advised.register
def _(fact: WentOnWithout) -> tuple[str, str]:
    return (
        f"{fact.contender}: {fact.why}; trials skipped this way count as failed.",
        f"Bring it back, then {_again(fact)} asks it again.",
    )


@advised.register
def _(fact: TrialsLeftOut) -> tuple[str, str]:
    pairs = "its pair enters" if fact.trials == 1 else "their pairs enter"
    text = f"{fact.contender} has {wording.plural(fact.trials, f'{fact.state} trial')}; {pairs} no ratio."
    return text, LEFT_OUT[fact.state].format(repeat=_repeat(fact))


@advised.register
def _(fact: TrialsForfeited) -> tuple[str, str]:
    was = "was " if fact.outages.dead else ""
    of_them = "" if fact.with_reason is None else f" ({fact.with_reason} of them)"
    why = f"{sentence(fact.reason)}{of_them}"
    advice = LEFT_OUT["failed"].format(repeat=_repeat(fact))
    if fact.refused:
        nothing = "Connections are refused where nothing listens: the server's log, and `dmesg` after a crash,"
        advice = f"{nothing} may say why. {advice}"
    return f"{fact.contender} {was}{outages(fact.outages)}: {why}; each of these trials counts as forfeited.", advice


def outages(found: Outages) -> str:
    """ "dead in 8 of 18 trials", in which it answered nothing; "failed in 2 of 18 trials"; "not asked in 8 of 12
    trials", as the run went on without it; empty without any.
    """
    counts = ((found.dead, "dead"), (found.failed, "failed"), (found.not_asked, "not asked"))
    parts = [f"{word} in {number}" for number, word in counts if number]
    return f"{wording.names(parts)} of {wording.plural(found.of, 'trial')}" if parts else ""


def outages_words(c: ContenderSummary) -> str:
    """The same of a contender."""
    return outages(outages_of(c))


def _repeat(fact: TrialsLeftOut | TrialsForfeited) -> str:
    """How failed and voided trials are done once more."""
    return "repeat the run" if fact.again == "run" else f"{_again(fact)} repeats them"


def _again(fact: OfFile) -> str:
    """The command that asks once more; in a campaign it names the file of the suite."""
    path = f"{fact.folder}/{fact.file}" if fact.folder else fact.file
    return f"`bakeoff resume {path} --retry-failed`"


@advised.register
def _(fact: UnresponsiveAtEnd) -> tuple[str, str]:
    return (
        f"{unresponsive_text(fact.contender, fact.why.rstrip('.'))}.",
        "Look into its log and `dmesg`: the load may have killed it. The figures here stand.",
    )


@advised.register
def _(fact: DeltaChosen) -> tuple[str, str]:
    named = wording.names([wording.percent(delta) for delta in fact.planned])
    text = (
        f"The smallest difference that matters was chosen for this comparison: {wording.percent(fact.chosen)}, not "
        f"{named} as planned."
    )
    return text, "Another difference may give other verdicts: leave `--delta` out for the planned ones."


@advised.register
def _(fact: FewBlocks) -> tuple[str, str]:
    between = _of(fact.pairs)
    text = f"Only {wording.plural(fact.blocks, 'complete block')}{between}: numbers without a verdict."
    if not fact.blocks:
        text = f"Nothing is comparable{between}: no block has usable trials of both."
    advice = f"Run at least {MINIMUM_BLOCKS} blocks; 8 is the usual number."
    if fact.is_imported:
        advice = f"Import {MINIMUM_BLOCKS} or more files of each contender, one a repetition: NAME=1.txt NAME=2.txt …"
    if fact.measured >= MINIMUM_BLOCKS:
        advice = (
            f"{fact.measured} blocks were measured, but in the others a trial is missing or does not count; see above."
        )
    return text, advice


def _of(pairs: tuple[tuple[str, str], ...]) -> str:
    """Whose blocks are so few: by name, the first of them where they are many."""
    named = [f"of {contender} and {baseline}" for contender, baseline in pairs]
    if len(named) > MOST_NAMED:
        named = [*named[: MOST_NAMED - 1], f"of {len(named) - MOST_NAMED + 1} more pairs"]
    return f" {', '.join(named)}" if named else ""
