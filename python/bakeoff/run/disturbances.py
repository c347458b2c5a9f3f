"""What befell the load generator itself in a trial: stops, suspends, steps of the clock, stolen time.

The figures of a trial are counts over a window. Time in which the generator did not run is missing from its rate,
and what servers did meanwhile looks like waiting. So such a trial says nothing about the contender.
"""

from typing import Any, Literal

from bakeoff.agents.result import DisturbancesResult
from bakeoff.units import format_share

# A sleeping thread of a loaded machine wakes some 10 ms late; what is later than this was stopped, or starved by more
# work than the machine has processors for.
STOP_S = 0.25
# Lost time moves a rate by its share of the window: 2 % is under half of the usual margin of equivalence (5 %).
LOST_SHARE = 0.02
# Hypervisors steal a little on every shared machine. At a tenth both sides of a comparison are measured on another
# machine than the one that the report names; from a fiftieth on it is told.
STOLEN_SHARE = 0.10
STOLEN_TOLD = 0.02


def why_void(disturbances: DisturbancesResult | None, window_s: float) -> str | None:
    """Why a trial with a window of `window_s` cannot be used, or None."""
    if disturbances is None:
        return None
    limit_s = max(STOP_S, LOST_SHARE * window_s)
    if disturbances.suspended_s >= limit_s:
        return f"the machine was suspended for {disturbances.suspended_s:.3g} s: keep it awake while a run goes on"
    stopped_s = stopped(disturbances)
    if stopped_s > 0.0 and stopped_s >= LOST_SHARE * window_s:
        return (
            f"the load generator did not run for {stopped_s:.3g} s of the window of {window_s:.3g} s: other work had "
            "its processors, it was stopped, or the machine stood still; keep other work off the machine, and let "
            "nothing stop it (SIGSTOP, a debugger, a paused virtual machine)"
        )
    if abs(disturbances.clock_step_s) >= limit_s:
        return (
            f"the clock of this machine was set by {disturbances.clock_step_s:+.3g} s during the trial, as after a "
            "paused virtual machine: run again once it is right"
        )
    if disturbances.stolen_share > STOLEN_SHARE and disturbances.stolen_s >= STOP_S:
        return (
            f"the hypervisor gave {format_share(disturbances.stolen_share)} of this machine's processor time to "
            "others: measure on a quieter host"
        )
    return None


def stopped(disturbances: DisturbancesResult) -> float:
    """Seconds of the window in which the generator did not run."""
    return sum(stop.window_s for stop in disturbances.stops if stop.length_s >= STOP_S)


def disturbance_marks(disturbances: DisturbancesResult | None) -> list[Literal["generator-paused", "stolen-time"]]:
    """Marks of a trial that was disturbed, though not so much that it is void."""
    if disturbances is None:
        return []
    paused = (
        stopped(disturbances) > 0.0 or disturbances.suspended_s >= STOP_S or abs(disturbances.clock_step_s) >= STOP_S
    )
    marks: list[Literal["generator-paused", "stolen-time"]] = ["generator-paused"] if paused else []
    if disturbances.stolen_share > STOLEN_TOLD and disturbances.stolen_s >= STOP_S:
        marks.append("stolen-time")
    return marks


def disturbance_facts(disturbances: DisturbancesResult | None) -> dict[str, Any]:
    """What is worth storing: empty when nothing happened."""
    if disturbances is None or not (disturbance_marks(disturbances) or disturbances.stops):
        return {}
    return {"disturbances": disturbances.model_dump(mode="json")}
