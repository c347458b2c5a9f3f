"""A run that challenges a report, held against what that report says: never paired, and never a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.model.fact import Fact


@dataclass(frozen=True)
class NoFigures(Fact):
    """The report has no figures of this suite, and why."""

    why: str


@dataclass(frozen=True)
class Searched(Fact):
    """Capacities are compared inside of one run alone."""


@dataclass(frozen=True)
class NotByBlock(Fact):
    """What decides is known of pairs alone, or the report does not hold it by block."""


@dataclass(frozen=True)
class OtherMetric(Fact):
    """The report decides by something else than this run."""

    reported: str
    now: str


@dataclass(frozen=True)
class OtherLoadSteps(Fact):
    """The report has other load steps than this run."""


@dataclass(frozen=True)
class OtherContent(Fact):
    """The contenders serve another content now."""


Machine = tuple[str, ...]
"""What is told of a machine, as its processor and kernel."""


@dataclass(frozen=True)
class OtherMachines(Fact):
    """The load came from other machines."""

    reported: tuple[Machine, ...]
    now: tuple[Machine, ...]


@dataclass(frozen=True)
class AskedOtherwise(Fact):
    """Clients talked otherwise with a contender then than with the challenger now, in these settings."""

    contender: str
    challenger: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class ReferenceRatio:
    """`contender` as it was measured now, by `then` as the report has it, over so many blocks of either.

    With a bridge, `over` those who stand beside either in its own run, it is a ratio of ratios: what changed between
    the two for all alike is not in it. The interval is Welch's. Of a contender to itself it says how much that was.
    Without a bridge there is none (NaN): a change of the machine cannot be told from a difference of servers.
    """

    contender: str
    reference: str
    over: tuple[str, ...]
    blocks_now: int
    reference_blocks: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Challenge:
    """The report by name and SHA-256, what it said, and how this run stands to it. `again` are its contenders that were
    measured again, `absent` the others with why they were not.

    `ratios` are of those who were measured again to themselves, and of the challenger to the others; there are none
    where `why_none` says why; `missing` says why the report has no figures of this suite. `differences` are those of
    the machines and of what was served, `other_settings` what of the plan is another beside the contenders.
    """

    report: str
    sha256: str
    seal: str
    file: str
    suite: str
    created_at: str
    plan_hash: str
    reported: tuple[str, ...]
    challenger: str
    again: tuple[str, ...]
    absent: dict[str, str]
    metric: str
    unit: str
    higher_is_better: bool
    ratios: tuple[ReferenceRatio, ...]
    why_none: Fact | None
    missing: str
    differences: tuple[Fact, ...]
    other_settings: tuple[str, ...]


@dataclass(frozen=True)
class SuiteChallenge:
    """A suite of the report, and what it said of it, or why it had no figures then. `left_out` says why it was not to
    be measured again, `missing` why it was not, where that is known, if it has no figures now; else `again` are those
    of its contenders that were measured beside the challenger, `absent` the others with why they were not.
    """

    suite: str
    left_out: str
    missing: str
    again: tuple[str, ...]
    absent: dict[str, str]
    reported: tuple[str, ...]
    had_no_figures: str = ""
    has_figures: bool = True


@dataclass(frozen=True)
class CampaignChallenge:
    """The report on a campaign that a campaign challenges: its title, what it said over all suites, and each of them.

    How the challenger stands to it in a suite is in that suite's own comparison.
    """

    report: str
    sha256: str
    title: str
    reported: tuple[str, ...]
    challenger: str
    suites: tuple[SuiteChallenge, ...]

    @property
    def measured(self) -> tuple[SuiteChallenge, ...]:
        """The suites that have figures now."""
        return tuple(suite for suite in self.suites if suite not in self.without)

    @property
    def without(self) -> tuple[SuiteChallenge, ...]:
        """The others: those of which the challenger has no figures."""
        return tuple(
            suite for suite in self.suites if suite.left_out or not suite.has_figures or self.challenger in suite.absent
        )

    @property
    def again(self) -> tuple[str, ...]:
        """Those who were measured again in every suite that was."""
        somewhere = dict.fromkeys(name for suite in self.measured for name in suite.again)
        return tuple(name for name in somewhere if all(name in suite.again for suite in self.measured))

    @property
    def absent(self) -> dict[str, tuple[str, ...]]:
        """Those who were not measured again in some suite that was and in which they had been, with its names."""
        names = dict.fromkeys(name for suite in self.measured for name in suite.absent)
        return {name: tuple(suite.suite for suite in self.measured if name in suite.absent) for name in names}
