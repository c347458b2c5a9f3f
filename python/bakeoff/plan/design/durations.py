"""How long a plan takes: exactly where time bounds its trials, by the bytes that they move where their work does."""

from dataclasses import dataclass, replace
from typing import Literal

from bakeoff.plan.design.work import LINK_BYTES_PER_S, TrialWork
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.shared import CommonSettings

OVERHEAD_S = 0.03  # between two trials, until the first ones have shown it
CELL_S = 0.2e-3  # to store a cell of a trial, and to compare it in the end
SETUP_TEARDOWN_S = 2.0  # once in a run: to start, to look at the contenders, and to compare in the end

How = Literal["exact", "speed", "limit", "measured"]


@dataclass(frozen=True)
class ExpectedDuration:
    """How long a run is expected to take and how that is known: `exact` by time, `speed` by bytes at
    LINK_BYTES_PER_S, `limit` where it is only what it may take at most, `measured` by a try in the folders.

    `trials_s` are those of all trials with what is between them, `layout_s` of what is laid out once,
    `setup_teardown_s` of what comes before the first trial and after the last.
    """

    trials_s: float
    layout_s: float
    how: How
    setup_teardown_s: float = SETUP_TEARDOWN_S

    @property
    def measuring_s(self) -> float:
        """From the first trial to the end of the last."""
        return self.trials_s + self.layout_s

    @property
    def run_s(self) -> float:
        """From the command to its prompt, in seconds; resets are not known before they run."""
        return self.measuring_s + self.setup_teardown_s


def expected_duration(plan: Plan) -> ExpectedDuration:
    """What is known of a plan without a look at its contenders."""
    found = expected_duration_of(plan.settings, len(plan.contenders), plan.blocks)
    return replace(found, trials_s=plan.trials * (trial_s(plan.settings) + between_s(plan.settings)))


def expected_duration_of(settings: CommonSettings, contenders: int, blocks: int) -> ExpectedDuration:
    """The same of settings alone."""
    known = [work for load_step in settings.load_steps if (work := settings.work(load_step)) is not None]
    layout_bytes = max((work.layout_bytes for work in known), default=0) * contenders
    how: How = "exact" if is_known(settings) else "speed" if known else "limit"
    trials = contenders * len(settings.load_steps) * blocks
    return ExpectedDuration(trials * (trial_s(settings) + between_s(settings)), layout_bytes / LINK_BYTES_PER_S, how)


def between_s(settings: CommonSettings) -> float:
    """What comes with a trial beside its own time: the mean over the load steps."""
    works = [settings.work(load_step) for load_step in settings.load_steps]
    cells = sum(work.cells for work in works if work is not None) / len(works)
    return OVERHEAD_S + cells * CELL_S


def trial_s(settings: CommonSettings) -> float:
    """How long a trial lasts, as far as it is known before: the mean over the load steps."""
    if settings.counted_length_s is not None:
        return settings.counted_length_s
    works = [settings.work(load_step) for load_step in settings.load_steps]
    if not settings.ends_with_its_work or None in works:
        return settings.length_s
    return sum(at_link_speed_s(work) for work in works if work is not None) / len(works)


def at_link_speed_s(work: TrialWork) -> float:
    """What a trial takes where bytes alone decide."""
    return work.timed_s + work.bytes / LINK_BYTES_PER_S


def is_known(settings: CommonSettings) -> bool:
    """Whether time bounds a trial, so that its duration is no estimate."""
    return not settings.ends_with_its_work or settings.counted_length_s is not None
