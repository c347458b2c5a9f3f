"""What an A/A run comes to, in the sentence that stands first in its result."""

from __future__ import annotations

from bakeoff.compare.planning.noise_model import (
    ClientOptionsNoise,
    MoreSettings,
    NoContender,
    NoiseFloor,
    NoiseQuote,
    OtherDay,
    OtherHere,
    OtherSuite,
    SmallerThanFloor,
    WithinFloor,
)
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.sentences import Sentence, sentence

FLOOR, BIAS, NONE = "noise_floor", "noise_bias", "noise_unknown"
"""The kinds of that sentence."""


def noise_sentence(noise: NoiseFloor | None, blocks: int, file: str) -> Sentence:
    """The noise floor, or why an A/A run of so many whole `blocks` in `file` has none."""
    if noise is None and blocks < MINIMUM_BLOCKS:
        missing = MINIMUM_BLOCKS - blocks
        text = (
            f"No noise floor yet: it takes {MINIMUM_BLOCKS} whole blocks, and this run has {blocks}. "
            f"`bakeoff resume {file} --blocks +{missing}` adds {wording.plural(missing, 'block')}."
        )
        return Sentence(NONE, text)
    if noise is None:
        return Sentence(NONE, "No noise floor: the ratio is the same in all blocks, which no measurement shows.")
    primary = noise.primary
    count = wording.plural(primary.blocks, "block")
    floor = wording.percent(primary.floor(primary.blocks))
    if primary.low <= 1.0 <= primary.high:
        text = (
            f"The noise floor of {noise.contender} under {noise.suite} is {floor}: in {count} equals differ by no more "
            "here (95 %). A smaller difference between servers is noise."
        )
        return Sentence(FLOOR, text)
    ratio = wording.ratio(primary.ratio, primary.low, primary.high)
    text = (
        f"Something other than the server makes equals differ here: {noise.contender} against itself is {ratio} (95 % "
        f"interval {wording.interval(primary.low, primary.high)}, {count}). The noise floor is {floor}."
    )
    return Sentence(BIAS, text)


def difference_text(quote: NoiseQuote) -> str:
    """In what the set-up of the A/A run was another; empty where it was not."""
    return "; ".join(map(sentence, quote.differs))


@sentence.register
def other_day(fact: OtherDay) -> str:
    """In what the A/A run was another, as those that follow."""
    return f"measured {wording.plural(abs(fact.days), 'day')} {'before' if fact.days > 0 else 'after'} this run"


@sentence.register
def other_suite(fact: OtherSuite) -> str:
    """Of the work."""
    return f"suite {fact.earlier}, here {fact.here}"


@sentence.register
def no_contender(fact: NoContender) -> str:
    """Of the server."""
    return f"{fact.address} is no contender here"


@sentence.register
def other_here(fact: OtherHere) -> str:
    """Of the set-up, or of a setting."""
    name = "order of trials" if fact.name == "order" else fact.name
    return f"{name} {fact.earlier}, here {fact.here or 'unknown'}"


@sentence.register
def more_settings(fact: MoreSettings) -> str:
    """Of those that are not listed."""
    return f"{fact.number} more settings"


@sentence.register
def client_options_noise(fact: ClientOptionsNoise) -> str:
    """Of how clients talk."""
    return f"it asked in one way; here {sentence(fact.here)}"


@sentence.register
def within_floor(fact: WithinFloor) -> str:
    """A lead beside that of equals."""
    return (
        f"{fact.contender} and {fact.baseline} differ by {wording.percent(fact.lead)}, and equals by up to "
        f"{wording.percent(fact.floor)} in {wording.plural(fact.blocks, 'block')}"
    )


@advised.register
def smaller_than_floor(fact: SmallerThanFloor) -> tuple[str, str]:
    """Verdicts that equals show, too."""
    return (
        f"Smaller than the noise floor of this set-up ({fact.file}): {'; '.join(map(sentence, fact.verdicts))}.",
        "Do not call it a difference of the servers: find what makes equals differ here, or measure more blocks.",
    )
