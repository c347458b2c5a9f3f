"""How long a plan takes: exactly where time bounds its trials, by the bytes that they move where their work does."""

from dataclasses import dataclass, replace
from typing import Literal

from bakeoff.plan.model import Plan
from bakeoff.plan.settings import CommonSettings
from bakeoff.plan.work import LINK_BYTES_PER_S, Work

OVERHEAD_S = 0.1  # between two trials, until the first ones have shown it

How = Literal["exact", "speed", "limit", "measured"]


@dataclass(frozen=True)
class Expected:
    """How long a run is expected to take and how that is known: `exact` by time, `speed` by bytes at
    LINK_BYTES_PER_S, `limit` where it is only what it may take at most, `measured` by a try in the folders.
    """

    trials_s: float
    laid_s: float
    how: How

    @property
    def run_s(self) -> float:
        """All of it, in seconds; resets are not known before they run."""
        return self.trials_s + self.laid_s


def expected(plan: Plan) -> Expected:
    """What is known of a plan without a look at its contenders."""
    found = expected_of(plan.settings, len(plan.contenders), plan.blocks)
    return replace(found, trials_s=plan.trials * (trial_s(plan.settings) + OVERHEAD_S))


def expected_of(settings: CommonSettings, contenders: int, blocks: int) -> Expected:
    """The same of settings alone."""
    known = [work for mix in settings.mix_values if (work := settings.work(mix)) is not None]
    laid_bytes = max((work.laid_bytes for work in known), default=0) * contenders
    how: How = "exact" if is_known(settings) else "speed" if known else "limit"
    trials = contenders * len(settings.mix_values) * blocks
    return Expected(trials * (trial_s(settings) + OVERHEAD_S), laid_bytes / LINK_BYTES_PER_S, how)


def trial_s(settings: CommonSettings) -> float:
    """How long a trial lasts, as far as it is known before: the mean over the mixes."""
    if settings.counted_s is not None:
        return settings.counted_s
    works = [settings.work(mix) for mix in settings.mix_values]
    if not settings.ends_with_its_work or None in works:
        return settings.length_s
    return sum(at_link_speed_s(work) for work in works if work is not None) / len(works)


def at_link_speed_s(work: Work) -> float:
    """What a trial takes where bytes alone decide."""
    return work.timed_s + work.bytes / LINK_BYTES_PER_S


def is_known(settings: CommonSettings) -> bool:
    """Whether time bounds a trial, so that its duration is no estimate."""
    return not settings.ends_with_its_work or settings.counted_s is not None
