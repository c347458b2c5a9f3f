"""Several run files in sentences: no word of a winner without what it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.compare.collections.joined_model import (
    BetweenPair,
    BridgesContradict,
    CountedWhy,
    DatedNote,
    Drift,
    ForfeitedPairs,
    Joined,
    JoinedPair,
    OtherWork,
    WithheldInFile,
)
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.verdict.gates import each_file, gate_text

# Verdicts that files can contradict each other by.
CALLED = ("better", "equivalent")
# So many pairs are told one by one.
NAMED = 3
UNPAIRED = "unpaired: measured in other files"
WHY: dict[CountedWhy, str] = {
    "other_plans": "the plans differ",
    "other_sizes": "the files differ in size, not in who is better",
    "differ": "the files differ by more than their blocks do",
    "one_block": "nothing shows that they differ",
    "not_shown": "not shown to differ",
    "within_delta": "they differ by less than δ",
}


def joined_sentences(joined: Joined, notes: Sequence[DatedNote]) -> list[Sentence]:
    """What the files are, whether they agree, what is between them, and what failed."""
    sentences = [Sentence(_kind(pair), _pair(pair)) for pair in joined.pairs[:NAMED]]
    if len(joined.pairs) > NAMED:
        sentences.append(
            Sentence("", f"{len(joined.pairs) - NAMED} further pairs are in several files: see the table.")
        )
    sentences += [Sentence(pair.kind, _between(pair, joined)) for pair in joined.between[:NAMED]]
    if (more := len(joined.between) - NAMED) > 0:
        text = f"Of {wording.plural(more, 'further pair')} of contenders no file has both: see the table."
        sentences.append(Sentence("withheld", text))
    alone = "Each file alone shows effects of factors: `bakeoff compare` of it." if joined.with_factors else ""
    texts = (_files(joined), _drift(joined.drifts, joined.figure), *_failed(joined, notes), alone)
    sentences += [Sentence("", text) for text in texts if text]
    return sentences


def names_of(joined: Joined) -> str:
    """ "A monday.bakeoff, B tuesday.bakeoff"."""
    return ", ".join(f"{file.label} {file.file}" for file in joined.files)


def _files(joined: Joined) -> str:
    number = len(joined.files)
    plan = "one plan" if joined.same_work else "plans that differ"
    items = wording.names([d.item for d in joined.differences if d.sort == "work"][:6])
    what = "" if joined.same_work else f" (in {items}): contenders of one name are separated by file"
    return f"{number} run files of {plan}{what}: {names_of(joined)}."


def _kind(pair: JoinedPair) -> str:
    return "withheld" if pair.counted == "apart" else ""


def _pair(pair: JoinedPair) -> str:
    name = f"{pair.contender} ÷ {pair.baseline}"
    if not pair.same_work:
        return f"{name} by file: {sentence(pair)}: nothing is put together."
    if pair.counted == "apart":
        return f"{name} by file: {sentence(pair)}. No verdict holds for all of them."
    if pair.counted == "each":
        return f"{name} by file: {sentence(pair)}; no one size holds."
    own = "the verdict is the same in each" if pair.same_verdict else f"by themselves: {_own(pair)}"
    if all(one.verdict.kind == "too_few" for one in pair.files):
        own = "none of them has blocks enough for a verdict of its own"
    return f"{name} by file: {sentence(pair)}, so that their blocks count together; {own}."


@sentence.register
def reported_pair(pair: JoinedPair) -> str:
    """What it is in each file, how far these are apart, and whether blocks of all of them count together."""
    return f"{each_file([(one.file, one.ratio, one.low, one.high) for one in pair.files])}; {_far(pair)}: {_why(pair)}"


def _far(pair: JoinedPair) -> str:
    """ "B ÷ A 1.02× (0.98–1.06)"."""
    if math.isnan(pair.apart_low):
        return "one block each does not show how far files are apart"
    earlier, later = pair.apart_files
    ratio = wording.ratio(pair.apart, pair.apart_low, pair.apart_high)
    return f"{later} ÷ {earlier} {ratio} ({wording.interval(pair.apart_low, pair.apart_high)})"


def _why(pair: JoinedPair) -> str:
    if pair.why == "held":
        withheld = next(each for each in pair.files if each.verdict.kind == "withheld")
        return f"{withheld.file} by itself has its verdict {sentence(withheld.verdict)}"
    if pair.why == "contradiction":
        each = "; ".join(f"{one.file} {sentence(one.verdict)}" for one in pair.files if one.verdict.kind in CALLED)
        return f"the files contradict each other ({each})"
    return WHY[pair.why]


@sentence.register
def reported_between(pair: BetweenPair) -> str:
    """What may be said of two contenders that no file has both of."""
    if pair.verdict is None:
        text = f"cannot tell: {UNPAIRED}, and no contender is in both; a difference of days looks the same"
        return (
            f"{text}; trials that {wording.names(pair.forfeited)} forfeited are in no figure here"
            if pair.forfeited
            else text
        )
    text = sentence(pair.verdict) if pair.why_not is None else f"withheld: {sentence(pair.why_not)}"
    return f"{text} (over the bridge of {wording.names(pair.bridges)}, {UNPAIRED})"


@sentence.register
def other_work(fact: OtherWork) -> str:
    """What keeps a bridge from carrying a verdict, as those that follow."""
    return "the plans of the files differ, so that the bridge did other work in each"


@sentence.register
def forfeited_pairs(fact: ForfeitedPairs) -> str:
    """Of trials without a ratio."""
    return "trials were forfeited, of which a ratio of ratios cannot say by how much"


@sentence.register
def bridges_contradict(fact: BridgesContradict) -> str:
    """Of two bridges."""
    return f"the bridges contradict each other, {fact.pair.contender} ÷ {fact.pair.baseline} is {sentence(fact.pair)}"


@sentence.register
def withheld_in_file(fact: WithheldInFile) -> str:
    """Of a gate."""
    return f"beside the bridge {gate_text(fact.gate)}"


def _own(pair: JoinedPair) -> str:
    return "; ".join(f"{each.file} {sentence(each.verdict)}" for each in pair.files)


def _between(pair: BetweenPair, joined: Joined) -> str:
    ratio = wording.ratio(pair.ratio, pair.low, pair.high)
    interval = "" if math.isnan(pair.low) else f" (95 % interval {wording.interval(pair.low, pair.high)})"
    name = f"{pair.contender} ÷ {pair.baseline}"
    if math.isnan(pair.ratio):
        return f"{pair.contender} and {pair.baseline} are in different files, and have no figures that can be compared."
    if not pair.bridges:
        return (
            f"{pair.contender} and {pair.baseline} cannot be ranked: they are in different files, and no contender is "
            f"in both. {wording.sentence(_drift_of(pair.explained_by))} between the files would explain the whole "
            f"ratio of {ratio} ({joined.figure}, unpaired)."
        )
    bridge = wording.names(pair.bridges)
    return (
        f"{name}, over the bridge {bridge}, which is in files of both: {ratio}{interval}, {joined.figure}, unpaired. A "
        f"change between the files cancels if it hit all alike. Verdict: {sentence(pair)}."
    )


def _drift_of(explained_by: float) -> str:
    return f"a change of {wording.percent(explained_by)}" if explained_by < 1.0 else "a change by the same factor"


def _drift(drifts: Sequence[Drift], figure: str) -> str:
    """The contender that was most unlike itself."""
    known = [one for one in drifts if one.same_work and one.ratio > 0.0]
    if not known:
        return ""
    most = max(known, key=lambda one: abs(math.log(one.ratio)))
    interval = "" if math.isnan(most.low) else f" ({wording.interval(most.low, most.high)})"
    ratio = f"{most.file} ÷ {most.against} {wording.ratio(most.ratio, most.low, most.high)}{interval}"
    return f"How far the files are apart: {most.contender} {ratio} in {figure}, unpaired."


def _failed(joined: Joined, notes: Sequence[DatedNote]) -> list[str]:
    labels = [file.label for file in joined.files if file.failed]
    if not labels:
        return []
    broken = sum(one.state != "ok" for one in joined.failed)
    missing = sum(file.trials_planned - sum(file.trials.values()) for file in joined.files if file.failed)
    how = f"{wording.plural(broken, 'trial')} without figures, {missing} never made"
    noted = " ".join(f"{note.date}: {note.text}" for note in notes)
    text = f"{wording.names(labels)} failed and was repeated; it counts in no ratio, and is shown beside its repetition"
    text += f" ({how}). Noted by its user: {noted}"
    return [text if text.endswith(".") else f"{text}."]
