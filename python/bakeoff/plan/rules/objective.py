"""What trials of a plan are held to, where it states an objective: refused where they could not tell."""

from collections.abc import Callable

from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration, format_share
from bakeoff.load.capacity.objective import Objective, parse_objective
from bakeoff.plan.settings.shared import CommonSettings

# No longer times are held against an objective than this share of the trial up to the end of its window.
LONGEST_SHARE = 0.1


def plain_objective(
    text: str | None, is_search: bool, settings: CommonSettings, error_limit: float, label: Callable[[str], str]
) -> str:
    """The objective of a plan that searches nothing, empty where it states none. Raises PlanError."""
    if text is None:
        return ""
    where = label("objective")
    if is_search:
        raise PlanError(f"{where}: a search has its objective in the table [capacity]: move it there")
    if not settings.SEARCHABLE:
        raise PlanError(f"{where}: only suites of web, mail and application servers can have one: leave it out")
    if settings.clock.interval_s is not None:
        raise PlanError(f"{where}: a soak is held to limits row by row: give them by --stop")
    goal = parse_objective(text)
    if (term := goal.needs_rate) is not None and not settings.is_at_rates:
        raise PlanError(
            f"{where}: {term} applies to rates: closed-loop clients offer no more than is answered: add --rate"
        )
    refuse_unfit_objective(goal, settings, error_limit, label)
    return str(goal)


def refuse_unfit_objective(
    goal: Objective, settings: CommonSettings, error_limit: float, label: Callable[[str], str]
) -> None:
    """Raise PlanError for an objective that no trial with these settings could tell."""
    if goal.longest_s > LONGEST_SHARE * (settings.length_s - settings.clock.ramp_down_s):
        needed_s = goal.longest_s / LONGEST_SHARE + settings.clock.ramp_down_s
        raise PlanError(
            f"{label('objective')}: replies of {format_duration(goal.longest_s)} are too long for so short a "
            f"trial: make trials at least {format_duration(float(f'{needed_s:.3g}'))} long (--length)"
        )
    for term in goal.terms:
        if term.sort == "errors" and term.limit > error_limit:
            raise PlanError(
                f"{label('objective')}: {term} is more than the {format_share(error_limit)} at which a trial is "
                "failed: raise --error-limit"
            )
