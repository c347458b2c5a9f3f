"""What befell the load generator itself in a trial: stops, suspends, steps of the clock, stolen time.

The figures of a trial are counts over a window. Time in which the generator did not run is missing from its rate,
and what servers did meanwhile looks like waiting. So such a trial says nothing about the contender.
"""

from typing import Any, Literal

from bakeoff.agents.result import DisturbancesResult
from bakeoff.core.thresholds import LOST_REPORTED
from bakeoff.core.units import format_share

# A sleeping thread of a loaded machine wakes some 10 ms late; what is later than this was stopped, or starved by more
# work than the machine has processors for.
STOP_S = 0.25
# Lost time moves a rate by its share of the window: 2 % is under half of the usual margin of equivalence (5 %).
LOST_SHARE = 0.02
# Of a short window one hiccup of the hypervisor is more than its share: less than this in all is no stop.
LOST_LEAST_S = 0.02
# Hypervisors steal a little on every shared machine. At a tenth both sides of a comparison are measured on another
# machine than the one that the report names; from a fiftieth on it is told.
STOLEN_SHARE = 0.10
STOLEN_REPORTED = 0.02


def why_void(disturbances: DisturbancesResult | None, window_s: float) -> str | None:
    """Why a trial with a window of `window_s` cannot be used, or None."""
    if disturbances is None:
        return None
    limit_s = max(STOP_S, LOST_SHARE * window_s)
    if disturbances.suspended_s >= limit_s:
        return f"the machine was suspended for {disturbances.suspended_s:.3g} s: keep it awake while a run goes on"
    stood_s = stood_still(disturbances)
    if stood_s > 0.0 and stood_s >= LOST_SHARE * window_s:
        return (
            f"the load generator did not run for {stood_s:.3g} s of the window of {window_s:.3g} s: other work had its "
            "processors, or it was stopped (SIGSTOP, a debugger, a paused virtual machine): keep other work off the "
            "machine, and do not stop it"
        )
    lost_limit_s = max(LOST_LEAST_S, LOST_SHARE * window_s)
    if (disturbances.throttled_s or 0.0) >= lost_limit_s:
        return (
            f"a control group stopped the load generator for {disturbances.throttled_s:.3g} s of the window of "
            f"{window_s:.3g} s, in {disturbances.throttled or 0:,} periods: raise its limit (cpu.max; "
            "`docker run --cpus`)"
        )
    if (disturbances.stopped_s or 0.0) >= lost_limit_s:
        return (
            f"the load generator was stopped for {disturbances.stopped_s:.3g} s of the window of {window_s:.3g} s"
            f"{_times(disturbances)}: let nothing stop it (SIGSTOP, a debugger, a paused virtual machine)"
        )
    if abs(disturbances.clock_step_s) >= limit_s:
        return (
            f"the clock of this machine was set by {disturbances.clock_step_s:+.3g} s during the trial, as after a "
            "paused virtual machine: run again once it is right"
        )
    stolen_s, stolen_share = disturbances.stolen_s or 0.0, disturbances.stolen_share or 0.0
    if stolen_share > STOLEN_SHARE and stolen_s >= STOP_S:
        return (
            f"the hypervisor gave {format_share(stolen_share)} of this machine's processor time to "
            "others: measure on a quieter host"
        )
    return None


def _times(disturbances: DisturbancesResult) -> str:
    times = disturbances.interrupted or 0
    return f", {times:,} times" if times > 1 else ""


def stood_still(disturbances: DisturbancesResult) -> float:
    """Seconds of the window in which it did not run for so long at once that no load of the machine explains it."""
    return sum(stop.window_s for stop in disturbances.stops if stop.length_s >= STOP_S)


def lost_s(disturbances: DisturbancesResult) -> float:
    """Seconds of the window in which the generator was stopped, in stops of any length."""
    return max(stood_still(disturbances), disturbances.stopped_s or 0.0, disturbances.throttled_s or 0.0)


def is_lost(missed_s: float, stolen_s: float, length_s: float) -> bool:
    """Whether a row of `length_s` says nothing: the generator, or its machine, missed too much of it."""
    stolen = stolen_s >= STOP_S and stolen_s > STOLEN_SHARE * length_s
    return stolen or missed_s >= max(LOST_LEAST_S, LOST_SHARE * length_s)


def disturbance_marks(
    disturbances: DisturbancesResult | None, window_s: float
) -> list[Literal["generator-paused", "stolen-time"]]:
    """Marks of a trial that was disturbed, though not so much that it is void."""
    if disturbances is None:
        return []
    lost = lost_s(disturbances)
    paused = (
        stood_still(disturbances) > 0.0
        or lost >= max(LOST_LEAST_S / 2, LOST_REPORTED * window_s)
        or disturbances.suspended_s >= STOP_S
        or abs(disturbances.clock_step_s) >= STOP_S
    )
    marks: list[Literal["generator-paused", "stolen-time"]] = ["generator-paused"] if paused else []
    if (disturbances.stolen_share or 0.0) > STOLEN_REPORTED and (disturbances.stolen_s or 0.0) >= STOP_S:
        marks.append("stolen-time")
    return marks


def disturbance_facts(disturbances: DisturbancesResult | None, window_s: float) -> dict[str, Any]:
    """What is worth storing: empty when nothing happened."""
    if disturbances is None:
        return {}
    if not (disturbance_marks(disturbances, window_s) or disturbances.stops or lost_s(disturbances) > 0.0):
        return {}
    lost_share = min(1.0, lost_s(disturbances) / window_s) if window_s > 0.0 else 0.0
    return {"disturbances": disturbances.model_dump(mode="json"), "lost_share": lost_share}
