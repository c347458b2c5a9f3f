"""The headline of a run that challenges a report: first how the challenger did, at last of whom nothing is known."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.challenge_model import Challenge
from bakeoff.compare.intervals import turned
from bakeoff.compare.model import Sentence
from bakeoff.compare.pair_model import PairComparison
from bakeoff.compare.ranking import WITHOUT_WINNER
from bakeoff.report.narrate import wording

# Kinds of sentences that stand above it: what was lost, and whether an objective was met.
FIRST = ("loss", "objective_met", "objective_missed", "objective_undecided")


def with_challenger(
    made: Challenge, pairs: Sequence[PairComparison], what: str, sentences: Sequence[Sentence]
) -> tuple[Sentence, ...]:
    """`sentences` with those about the challenger; `what` decides, such as requests/s."""
    at = next((at for at, sentence in enumerate(sentences) if sentence.kind not in FIRST), len(sentences))
    before, after = sentences[:at], sentences[at:]
    own = [pair for pair in pairs if made.challenger in (pair.baseline, pair.contender)]
    if not own:
        return (*before, _without_verdict(made), *after)
    if len(pairs) == 1 and after:
        # Of two the sentence about the pair says it all.
        first, *after = after
        lead = Sentence(first.kind, f"{made.challenger} challenges {made.report}: {first.text}")
    else:
        lead = _lead(made, own, what)
    return (*before, lead, *after, *_not_again(made))


def _lead(made: Challenge, own: Sequence[PairComparison], what: str) -> Sentence:
    """Against each of those beside it: "1.18× a (95 % interval 1.12–1.24), c is better"."""
    kinds = {pair.primary.verdict.kind for pair in own}
    won = all(pair.primary.verdict.winner == made.challenger for pair in own)
    # A mixed result is neither good nor bad.
    kind = kinds.pop() if len(kinds) == 1 and (won or "better" not in kinds) else ""
    parts = [_against(pair, made.challenger) for pair in own]
    return Sentence(kind, f"{made.challenger} challenges {made.report}, in {what}: {'; '.join(parts)}.")


def _against(pair: PairComparison, challenger: str) -> str:
    end = pair.primary
    other = pair.contender if pair.baseline == challenger else pair.baseline
    verdict = end.verdict
    word = f"{verdict.winner} is better" if verdict.winner else WITHOUT_WINNER.get(verdict.kind, verdict.text)
    if not end.blocks:
        return f"{other} has no block in common with it"
    if end.all_lost:
        return f"{end.all_lost} lost all of its trials beside {other if end.all_lost == challenger else challenger}"
    ratio, low, high = end.ratio, end.low, end.high
    if pair.baseline == challenger:
        ratio, (low, high) = 1.0 / ratio, turned(low, high)
    interval = wording.interval(low, high)
    reach = "" if interval == wording.MISSING else f" (95 % interval {interval})"
    return f"{wording.times(ratio, other, low, high)}{reach}, {word}"


def _without_verdict(made: Challenge) -> Sentence:
    """Where nobody of the report was measured beside it: how it stands to then, as far as that is known."""
    if made.challenger in made.absent:
        return Sentence("", f"{made.challenger} was to challenge {made.report} and could not be measured: no verdict.")
    absent, one = wording.names(list(made.absent)), len(made.absent) == 1
    then = f"{absent or 'its contenders'} {'was' if one else 'were'} measured at another time"
    ratios = [wording.times(one.ratio, one.then) for one in made.ratios if one.contender == made.challenger]
    known = f" Unpaired, in {made.metric}: {wording.names(ratios)}." if ratios else ""
    return Sentence("", f"{made.challenger} challenges {made.report} alone: {then}, so there is no verdict.{known}")


def _not_again(made: Challenge) -> list[Sentence]:
    """Of whom there is no verdict."""
    if not made.absent:
        return []
    names, one = wording.names(list(made.absent)), len(made.absent) == 1
    return [Sentence("", f"{names} {'was' if one else 'were'} not measured again, so there is no verdict on {names}.")]
