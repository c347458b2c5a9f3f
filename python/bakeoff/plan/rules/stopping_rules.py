"""What a plan fixes of how its run goes on: interim analyses at which it may be judged, and what becomes of a dead
contender.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.plan.rules.until import Until
from bakeoff.plan.settings.fields import OptionalDuration, OptionalNumbers, Strict, Whole

ANALYSES_MAX = 100
HOW = "name the analyses at which the run may end, such as --interim-analyses 6,12,18"


class StoppingRules(Strict):
    """Keys of the table `[plan]`."""

    interim_analyses: OptionalNumbers = Field(
        None,
        description="Numbers of blocks after which the run may be judged, such as 6,12,18: all analyses together make "
        "at most 5 % false calls. Early ones are strict, so the last one loses little. The last number is that of all "
        "blocks; auto: one analysis, at the end.",
    )
    until: Until = Field(
        None,
        json_schema_extra={"values": ["clear", "precision=2%"]},
        description="End at the first interim analysis at which the verdict of the primary endpoint is clear (clear), "
        "or the half-width of its interval is at most this (precision=2%), for every pair.",
    )
    when_dead: Literal["ask", "leave-out", "go-on"] = Field(
        "ask",
        json_schema_extra={"metavar": "WHAT"},
        description="When a contender is dead in --dead-blocks blocks in a row: ask (at a terminal; otherwise leave "
        "it out), leave-out, or go-on. Trials skipped this way count as failed.",
    )
    dead_blocks: Whole = Field(
        2, ge=1, le=1000, description="Visits in a row without one success after which a contender is dead."
    )
    dead_after_s: OptionalDuration = Field(
        10.0,
        alias="dead_after",
        ge=1,
        description="Cut a trial after this time with failures alone, if it has failed by then. End the slot if the "
        "contender does not answer. auto: never.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.until is not None and self.interim_analyses is None:
            raise ValueError(f"until: an analysis repeated until the result suits finds differences by chance: {HOW}")
        if self.interim_analyses is None:
            return self
        if not 2 <= len(self.interim_analyses) <= ANALYSES_MAX or list(self.interim_analyses) != sorted(
            set(self.interim_analyses)
        ):
            raise ValueError("interim_analyses: give two or more rising numbers of blocks, such as 6,12,18")
        if self.interim_analyses[0] < MINIMUM_BLOCKS:
            raise ValueError(
                f"interim_analyses: {self.interim_analyses[0]} blocks give no verdict: analyse after {MINIMUM_BLOCKS} "
                "at the soonest"
            )
        if self.interim_analyses[-1] > 1000:
            raise ValueError("interim_analyses: at most 1000 blocks")
        return self


def analyses_and_blocks(interim_analyses: tuple[int, ...] | None, blocks: int | None) -> str | None:
    """Why these do not fit together, or None: the last analysis is the end of the run."""
    if interim_analyses is None or blocks is None or blocks == interim_analyses[-1]:
        return None
    return (
        f"the last analysis is after {interim_analyses[-1]} blocks, and {blocks} are asked for: leave the blocks out, "
        "or analyse then"
    )
