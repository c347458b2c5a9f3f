"""What a check found, in sentences."""

from __future__ import annotations

import math
import shlex

from bakeoff.compare.limits.check_model import (
    BlocksMissing,
    Check,
    CheckedObjective,
    FewPairs,
    LimitCheck,
    NothingUsable,
    NotSettled,
    PairsForfeited,
    Resume,
    TrialsMissing,
    Void,
)
from bakeoff.compare.model.comparison import Advisory
from bakeoff.compare.model.pair import Gate
from bakeoff.compare.planning.noise_model import NoiseQuote
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.noise import difference_text
from bakeoff.report.narrate.figures.objective import objective_sentence
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.report.narrate.warned import warned


def check_sentences(check: Check) -> tuple[str, ...]:
    """One for each endpoint and objective, the outcome first: what decides over all comes first."""
    return tuple(dict.fromkeys(f"{each.outcome}: {check_sentence(each, check.baseline)}" for each in check.ordered))


def check_sentence(each: LimitCheck | CheckedObjective, baseline: str) -> str:
    """All that was found of one endpoint, or of an objective."""
    if isinstance(each, CheckedObjective):
        return _objective_words(each)
    if isinstance(each.why, Void):
        reasons = dict.fromkeys(map(sentence, each.why.reasons))
        return f"{each.contender} and {baseline}: {'; '.join(reasons)}."
    return f"{_figures(each, baseline)}, {_why(each)}{_floor_text(each)}."


def check_notes(check: Check) -> tuple[str, ...]:
    """What must be known besides."""
    return tuple(dict.fromkeys(_note(each) for each in check.notes))


def _note(note: Gate | Advisory | NoiseQuote) -> str:
    if isinstance(note, Gate):
        return gate_text(note)
    if isinstance(note, NoiseQuote):
        return _of_floor(note)
    warning = warned(note)
    return f"{warning.text} {warning.advice}".strip()


def _of_floor(quote: NoiseQuote) -> str:
    """Where the noise floor comes from, and what was another there."""
    noise, when = quote.noise, quote.noise.measured_at[:10]
    differs = f"; it was not all alike: {difference_text(quote)}" if quote.differs else ""
    blocks = wording.plural(noise.primary.blocks, "block")
    return f"The noise floor is of {noise.file} ({when}, {blocks} of {noise.contender} against itself){differs}."


def _objective_words(each: CheckedObjective) -> str:
    text = objective_sentence(each.objective, each.objectives)
    if each.rest is None:
        return text
    return f"{text.removesuffix('.')} (and it is not shown: the run is not complete, `{resume(each.rest)}`)."


def _figures(each: LimitCheck, baseline: str) -> str:
    """ "Requests/s: b is at 0.98× a (95.5 % interval 0.97–0.99, 8 blocks)"."""
    parts = [] if math.isnan(each.low) else [f"{100.0 * each.level:.4g} % interval {_interval(each)}"]
    parts.append(wording.plural(each.blocks, "block"))
    if each.load_steps_left_out:
        parts.append(f"without {wording.several(each.load_steps_left_out)}, where too few pairs can be compared")
    at = wording.times(each.ratio, baseline, each.low, each.high)
    return f"{wording.sentence(each.title)}: {each.contender} is at {at} ({', '.join(parts)})"


def _interval(each: LimitCheck) -> str:
    return wording.interval(each.low, each.high)


def _why(each: LimitCheck) -> str:
    """The end of its sentence."""
    beyond = f"more than {wording.percent(each.most)} worse"
    if each.outcome in ("pass", "worse"):
        return f"which is {'not ' if each.outcome == 'pass' else ''}{beyond}"
    match each.why:
        case TrialsMissing() as why:
            missing = f"{why.missing} of {why.planned} trials are missing" if why.missing else "the run did not end"
            return f"and {missing}: {resume(why.rest)}"
        case BlocksMissing() as why:
            return f"and at least {MINIMUM_BLOCKS} blocks are needed: {resume(why.rest)}"
        case NotSettled() as why:
            rest = "" if why.rest is None else f": {resume(why.rest)}"
            return f"so that it may be {beyond} or not; {sentence(why.needed)}{rest}"
    raise TypeError(f"there are no words for {each.why}")


def _floor_text(each: LimitCheck) -> str:
    """The end of a sentence: what equals differ by here. It takes nothing back, and says what may hide in it."""
    if math.isnan(each.floor):
        return ""
    clause = f"; the noise floor of this set-up is {wording.percent(each.floor)}"
    if each.floor_hides and each.outcome == "worse":
        return f"{clause}, so that equals may differ as much: it counts as worse all the same"
    return f"{clause}, in which more than {wording.percent(each.most)} may hide" if each.floor_hides else clause


@sentence.register
def _(reason: NothingUsable) -> str:
    return f"no block has usable trials of both for {wording.sentence(reason.title)}"


@sentence.register
def _(reason: PairsForfeited) -> str:
    return f"{reason.contender} forfeited {reason.forfeited} of {wording.plural(reason.pairs, 'pair')}"


@sentence.register
def _(reason: FewPairs) -> str:
    return f"too few pairs can be compared at {wording.several(reason.load_steps)}"


def resume(rest: Resume) -> str:
    """The command that goes on with a run."""
    if rest.file is None:
        return "measure again with so many more"
    more = f" --blocks +{rest.more_blocks}" if rest.more_blocks else ""
    return f"bakeoff resume {shlex.quote(rest.file)}{more}"
