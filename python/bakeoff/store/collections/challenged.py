"""Of a run or a campaign that challenges a report: what that report said, kept in the run file and sealed with it.

It is told as what somebody else's report says. Nothing of it was measured here, and nothing of it takes part in a
verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.canonical import plan_hash

CHALLENGES = "challenges"
"""Its key in the environment of a run."""
MOST_NAMES, MOST_SENTENCES, MOST_BLOCKS, LONGEST = 100, 50, 2_000, 2_000
Text = Field(default="", max_length=LONGEST)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ReportedLevel(_Part):
    """What a contender came to in each block, None where it has nothing; `lost` trials were lost."""

    contender: str = Text
    values: tuple[float | None, ...] = Field(default=(), max_length=MOST_BLOCKS)
    forfeited: int = 0


class ReportedLevels(_Part):
    title: str = Text
    unit: str = Text
    higher_is_better: bool = True
    load_steps: tuple[Any, ...] = Field(default=(), max_length=10_000)
    contenders: tuple[ReportedLevel, ...] = Field(default=(), max_length=MOST_NAMES)


class ReportedRun(_Part):
    """The run that the report told of."""

    name: str = Text
    suite: str = Text
    kind: str = Text
    file: str = Text
    created_at: str = Text
    plan_hash: str = Text


class ReportedMachine(_Part):
    """A machine that sent its load."""

    cpu: str | None = Text
    kernel: str | None = Text


class ReportedOrigin(_Part):
    """What was measured by which machines, and the seal of the file."""

    seal: str = Text
    corpus: str | None = Text
    machines: tuple[ReportedMachine, ...] = Field(default=(), max_length=1_000)


class ReportedComparison(_Part):
    """What of a comparison is read again."""

    run: ReportedRun
    headline: tuple[str, ...] = Field(default=(), max_length=MOST_SENTENCES)
    levels: ReportedLevels | None = None


NOTHING_REPORTED = ReportedComparison(run=ReportedRun())


class Challenged(_Part):
    """The report that is challenged, by whom, and who of its contenders runs beside: `absent` has why others do not.

    `data` is what that report holds for programs, as it holds it. Of a suite of a campaign `missing` says why the
    report has no figures of it, and `campaign` is the SHA-256 of what the whole campaign challenges.
    """

    report: str = Text
    sha256: str = Text
    challenger: str = Text
    contenders: tuple[str, ...] = Field(default=(), max_length=MOST_NAMES)
    absent: Mapping[str, str] = Field(default={}, max_length=MOST_NAMES)
    missing: str = Text
    campaign: str = Text
    data: Mapping[str, Any] = {}

    @property
    def reported(self) -> ReportedComparison:
        """What the report says. Raises pydantic.ValidationError where it is not one of Bakeoff's."""
        return NOTHING_REPORTED if self.missing else ReportedComparison.model_validate(self.data.get("comparison"))

    @property
    def origin(self) -> ReportedOrigin:
        """Who measured it. Raises as `said` does."""
        return ReportedOrigin.model_validate(self.data.get("measured") or {})


class ChallengedSuite(_Part):
    """A suite of the campaign that a report tells of. `left_out` says why it is not measured again, `missing` why the
    report has no figures of it; the rest is as in Challenged.
    """

    name: str = Text
    weight: float = 1.0
    left_out: str = Text
    missing: str = Text
    contenders: tuple[str, ...] = Field(default=(), max_length=MOST_NAMES)
    absent: Mapping[str, str] = Field(default={}, max_length=MOST_NAMES)
    data: Mapping[str, Any] = {}


class ChallengedCampaign(_Part):
    """The report on a campaign that is challenged: its title, what it says over all suites, and each suite of it."""

    report: str = Text
    sha256: str = Text
    challenger: str = Text
    title: str = Text
    contenders: tuple[str, ...] = Field(default=(), max_length=MOST_NAMES)
    headline: tuple[str, ...] = Field(default=(), max_length=MOST_SENTENCES)
    suites: tuple[ChallengedSuite, ...] = Field(default=(), max_length=MOST_NAMES)

    @property
    def left_out(self) -> Mapping[str, ChallengedSuite]:
        """The suites that are not measured again, by name."""
        return {suite.name: suite for suite in self.suites if suite.left_out}

    def of(self, name: str, campaign: str) -> dict[str, Any]:
        """What the run file of a suite holds of it; `campaign` is the SHA-256 of all of it."""
        suite = next(one for one in self.suites if one.name == name)
        return {
            "report": self.report,
            "sha256": self.sha256,
            "challenger": self.challenger,
            "contenders": list(suite.contenders),
            "absent": dict(suite.absent),
            "missing": suite.missing,
            "campaign": campaign,
            "data": dict(suite.data),
        }


def challenged(run: RunRecord) -> Challenged | None:
    """What a run challenges; None where it challenges nothing, or nothing that can be read."""
    found = run.environment.get(CHALLENGES)
    if found is None:
        return None
    try:
        read = Challenged.model_validate(found)
        _ = read.reported, read.origin
    except ValidationError:
        return None
    return read


def challenged_campaign_of(run: RunRecord) -> str:
    """The SHA-256 of what the campaign challenges of which a run is a suite; empty where it challenges nothing."""
    found = run.environment.get(CHALLENGES)
    return str(found.get("campaign", "")) if isinstance(found, dict) else ""


def corpus_of(run: RunRecord) -> str | None:
    """By what is known what the contenders of a run served, where that was found out."""
    content = run.environment.get("content")
    corpus = content.get("corpus") if isinstance(content, dict) else None
    return None if corpus is None else plan_hash({"corpus": corpus})
