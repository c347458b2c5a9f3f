"""What equals differ by on a set-up, and what a comparison quotes of it; immutable values that go into JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.client_options_model import ClientOptionsDiffer
from bakeoff.stats.intervals.blocks import t_quantile


@dataclass(frozen=True)
class NoiseSeries:
    """The ratios of the same server to itself, by block: of the primary endpoint (`load_step` is empty) or at a load
    step.

    `ratio` is their geometric mean with its 95 % interval, `log_sd` their spread; `lowest`, `median` and `highest` are
    those of blocks. `shown` is the smallest difference (0.05 = 5 %) that so many blocks show in 80 % of runs.
    """

    title: str
    load_step: str
    blocks: int
    ratio: float
    low: float
    high: float
    log_sd: float
    lowest: float
    median: float
    highest: float
    shown: float

    def floor(self, blocks: int) -> float:
        """By what share equals differ at most in the mean of so many blocks, in 95 % of runs: the bias that was seen,
        and chance in what was seen and in those blocks (a prediction interval).
        """
        if blocks < 1 or self.blocks < 2 or not self.ratio > 0.0:
            return math.nan
        chance = t_quantile(self.blocks - 1, 0.95) * self.log_sd * math.sqrt(1.0 / blocks + 1.0 / self.blocks)
        return math.expm1(abs(math.log(self.ratio)) + chance)


@dataclass(frozen=True)
class NoiseFloor:
    """An A/A run: one server as two contenders, in the same interleaved blocks.

    `first` is the ratio of whoever was measured first at a load step to the other, with its interval: what the order
    does. `drawn` times `draw_blocks` of the blocks were drawn: `called` of these made a winner, `shown` told the two
    apart at all. `setup` is what the set-up is known by, `settings` those of the suite.
    """

    schema: str
    file: str
    plan_hash: str
    measured_at: str
    contender: str
    address: str
    suite: str
    delta: float
    setup: dict[str, str]
    settings: dict[str, str]
    series: tuple[NoiseSeries, ...]
    first: float
    first_low: float
    first_high: float
    draw_blocks: int
    drawn: int
    called: int
    shown: int

    @property
    def primary(self) -> NoiseSeries:
        """That of the primary endpoint."""
        return self.series[0]


@dataclass(frozen=True)
class OtherDay(Fact):
    """The A/A run was measured so many days before this run; after it where they are below 0."""

    days: int


@dataclass(frozen=True)
class OtherSuite(Fact):
    """It is of another suite."""

    earlier: str
    here: str


@dataclass(frozen=True)
class NoContender(Fact):
    """Its server is no contender here."""

    address: str


@dataclass(frozen=True)
class OtherHere(Fact):
    """Something of its set-up, or a setting, is another here; None where nobody knows what."""

    name: str
    earlier: str
    here: str | None


@dataclass(frozen=True)
class MoreSettings(Fact):
    """So many more settings are others here."""

    number: int


@dataclass(frozen=True)
class ClientOptionsNoise(Fact):
    """It asked in one way; here contenders are asked in several."""

    here: ClientOptionsDiffer


@dataclass(frozen=True)
class WithinFloor(Fact):
    """A lead that is called, and by how much equals differ in as many blocks."""

    contender: str
    baseline: str
    lead: float
    floor: float
    blocks: int


@dataclass(frozen=True)
class SmallerThanFloor(Fact):
    """Verdicts that are smaller than what equals show on this set-up, as an A/A run has it."""

    file: str
    verdicts: tuple[WithinFloor, ...]


@dataclass(frozen=True)
class NoiseQuote:
    """What a comparison says of the noise floor of its set-up: `floor` for its own blocks, 0.02 is 2 %; `differs` is
    in what the set-up of the A/A run was another; `within` are the verdicts that are smaller than it.
    """

    noise: NoiseFloor
    blocks: int
    floor: float
    differs: tuple[Fact, ...]
    within: tuple[WithinFloor, ...]
