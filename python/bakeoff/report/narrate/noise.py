"""What an A/A run comes to, in the sentence that stands first in its result."""

from __future__ import annotations

from bakeoff.compare.model import Sentence
from bakeoff.compare.noise_model import NoiseFloor
from bakeoff.report.narrate import wording
from bakeoff.thresholds import MINIMUM_BLOCKS

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
        f"Something other than the server tells equals apart here: {noise.contender} against itself is {ratio} "
        f"(95 % interval {wording.interval(primary.low, primary.high)}, {count}). The noise floor is {floor}."
    )
    return Sentence(BIAS, text)
