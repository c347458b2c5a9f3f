"""What several run files come to together: immutable values, ready to be written as JSON.

Ratios of a pair are contender divided by baseline; ratios of two files the later divided by the earlier. What is called
unpaired has no block in which both were measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import Gate, Verdict
from bakeoff.load.load_step import LoadStep

DifferenceSort = Literal["work", "plan", "contenders", "environment", "software"]
FileVerdictKind = Literal["together", "each", "apart"]
# Why: plans that differ; a file that withholds its verdict; verdicts that contradict each other; the same winner by
# sizes that differ; a difference beyond that of blocks; nothing that shows one; none shown; one below δ.
CountedWhy = Literal[
    "other_plans", "held", "contradiction", "other_sizes", "differ", "one_block", "not_shown", "within_delta"
]


@dataclass(frozen=True)
class FileInfo:
    """A run file. Its blocks are those from `first_block` to `last_block` of all, both 0 when it `failed`: then another
    repeats it, and it counts no more. `machine` is the one that sent the load, `trials` counts its trials by state.
    """

    label: str
    file: str
    contenders: tuple[str, ...]
    created_at: str
    finished_at: str | None
    plan_hash: str
    version: str
    kernel: str
    machine: str
    first_block: int
    last_block: int
    trials_planned: int
    trials: dict[str, int]
    failed: bool


@dataclass(frozen=True)
class FileDifference:
    """Something in which files differ, with its value in each of them, None for one that is not shown. What is of the
    sort `work` makes their trials different ones.
    """

    sort: DifferenceSort
    item: str
    values: tuple[str | None, ...]


@dataclass(frozen=True)
class FileRatio:
    """What a file by itself says of a pair: its primary endpoint, and the verdict of its own report."""

    file: str
    ratio: float
    low: float
    high: float
    blocks: int
    verdict: Verdict


@dataclass(frozen=True)
class JoinedPair:
    """A pair that several files have. `apart` is the ratio of the two files that differ most, `apart_files` which they
    are, `apart_p` the p value that no two files differ (Welch, Holm). `files_low` to `files_high` is the interval of
    the ratio in which each file counts as one. `same_work` says whether their plans ask for the same; `counted` is
    `together` when all blocks count as of one run, `each` when every file calls the same one better though by sizes
    that differ, `apart` when no verdict holds for all of them, and `why` says by what.
    """

    baseline: str
    contender: str
    files: tuple[FileRatio, ...]
    same_work: bool
    apart_files: tuple[str, str]
    apart: float
    apart_low: float
    apart_high: float
    apart_p: float
    files_low: float
    files_high: float
    counted: FileVerdictKind
    why: CountedWhy
    same_verdict: bool


@dataclass(frozen=True)
class Drift:
    """How much else a contender did in one file than `against` another, unpaired: by it the days differ, and all that
    differs with them. `blocks` are how many `against` and `file` have.
    """

    contender: str
    file: str
    against: str
    same_work: bool
    ratio: float
    low: float
    high: float
    p: float
    blocks: tuple[int, int]


@dataclass(frozen=True)
class OtherWork(Fact):
    """The plans of the files differ, so that the bridge did other work in each."""


@dataclass(frozen=True)
class ForfeitedPairs(Fact):
    """Trials were forfeited, of which a ratio of ratios cannot say by how much."""


@dataclass(frozen=True)
class BridgesContradict(Fact):
    """Two bridges are not together in one file what they are in another."""

    pair: JoinedPair


@dataclass(frozen=True)
class WithheldInFile(Fact):
    """What is red beside the bridge."""

    gate: Gate


@dataclass(frozen=True)
class BetweenPair:
    """Two contenders that no file has both of, unpaired. Over `bridges`, contenders that are in files of either, the
    ratio is one of ratios: what changed all alike between the files is not in it. Without any it is the bare ratio, and
    the interval has in it nothing of what changed between the files. `explained_by` is the drift that would be the
    whole of it, as a share. `blocks` are how many of baseline and contender. The `verdict` is that over the bridges,
    unless `why_not` takes it away; `lost` are those whose trials without figures are in nothing of a bare ratio.
    """

    baseline: str
    contender: str
    bridges: tuple[str, ...]
    ratio: float
    low: float
    high: float
    p: float
    p_adjusted: float
    blocks: tuple[int, int]
    explained_by: float
    kind: str
    winner: str | None
    verdict: Verdict | None = None
    why_not: Fact | None = None
    forfeited: tuple[str, ...] = ()


@dataclass(frozen=True)
class FailedTrial:
    """A trial of a file that failed, beside its repetition. `value` is the primary figure, NaN where there is none;
    `repeated` that of the files that count, at the same load step, over their blocks.
    """

    file: str
    contender: str
    load_step: LoadStep
    block: int
    state: str
    reason: str
    value: float
    repeated: float


@dataclass(frozen=True)
class IfCounted:
    """A pair as it would stand if the files that failed counted, too."""

    baseline: str
    contender: str
    ratio: float
    low: float
    high: float
    blocks: int
    verdict: Verdict


@dataclass(frozen=True)
class DatedNote:
    """What the user noted, with the day."""

    date: str
    text: str


@dataclass(frozen=True)
class Joined:
    """All of several run files. `figure` is what ratios are of, `unit` that of the figures of failed trials; the plans
    of all files that count ask for the `same_work` or do not. Effects of factors each file tells alone.
    """

    files: tuple[FileInfo, ...]
    figure: str
    unit: str
    same_work: bool
    with_factors: bool
    differences: tuple[FileDifference, ...]
    drifts: tuple[Drift, ...]
    pairs: tuple[JoinedPair, ...]
    between: tuple[BetweenPair, ...]
    failed: tuple[FailedTrial, ...]
    if_counted: tuple[IfCounted, ...]
