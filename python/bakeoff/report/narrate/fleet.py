"""The machines that sent load, in words: which of them was the limit, slow or away, and what was full."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from bakeoff.compare.fleet_model import FleetChange, Machines
from bakeoff.compare.model import Advisory
from bakeoff.report.narrate import wording
from bakeoff.store.links import fullest, whose
from bakeoff.store.records import TrialRecord
from bakeoff.thresholds import BUSY_SHARE

# A machine that does less than this share of what the others do without a server is named.
SLOW_SHARE = 0.75


def full_link(trials: Sequence[TrialRecord]) -> str:
    """`agent b's link eth0 was up to 94 % full`, of the fullest of all."""
    found = fullest(trials)
    if found is None:
        return "a link of the load generator was full"
    agent, link = found
    owner = whose(agent, _agents(trials)) if _agents(trials) > 1 else "the load generator's"
    return f"{owner} link {link.name} was up to {wording.percent(link.share or 0.0)} full"


def busiest(trials: Iterable[TrialRecord]) -> str:
    """Who of several had load threads without a pause: `the load generator`, or the names of up to three agents."""
    listed = list(trials)
    if _agents(listed) < 2:
        return "the load generator"
    busy = {s.agent: s.cpu_share for t in listed for s in t.per_agent if s.cpu_share > BUSY_SHARE}
    names = sorted(busy)
    if not names:
        return "the load generator"
    if len(names) == _agents(listed):
        return f"each of the {len(names)} agents"
    return f"agent{'s' if len(names) > 1 else ''} {_few(names)}"


def _agents(trials: Iterable[TrialRecord]) -> int:
    return max((len(trial.per_agent) for trial in trials), default=0)


def fleet_advice(machines: Machines | None, are_floors: bool) -> list[Advisory]:
    """What a reader must know of machines that were slower than the others, or away; nothing of a single one. Where
    their ceilings `are_floors`, no more than lower bounds, a low one says nothing of a machine.
    """
    if machines is None:
        return []
    return [*_went(machines), *_uneven(machines), *([] if are_floors else _slow(machines))]


def change_text(change: FleetChange) -> str:
    """`From trial 13 on 3 of 4 agents sent the load, without c`."""
    without = f", without {_few(change.without)}" if change.without else ", as at the start"
    return f"From trial {change.trial_id} on {change.agents} of {change.of} agents sent the load{without}."


def _went(machines: Machines) -> list[Advisory]:
    advice = (
        "Each of them drove more clients from then on; the load as a whole was the plan's. Blocks on both sides of it "
        "count alike; a pair within a block that was not sent by the same machines is left out."
    )
    return [Advisory(change_text(change), advice) for change in machines.changes]


def _uneven(machines: Machines) -> list[Advisory]:
    """Clients of one machine got less than those of another: with every contender it is the machine, else a server."""
    unfair = [told for told in machines.ranges if told.unfair]
    if not unfair:
        return []
    worst = min(unfair, key=lambda told: told.ratio)
    contenders = {told.contender for told in machines.ranges if told.agents > 1}
    of_it = {told.contender for told in unfair if told.slowest == worst.slowest}
    text = (
        f"Clients of agent {worst.slowest} did {wording.percent(1.0 - worst.ratio)} fewer operations than those of "
        f"{worst.fastest} at {worst.mix.words} of {worst.contender} (Jain's index over agents {worst.jain:.3f}): "
        "more than chance between so many clients explains"
    )
    if of_it == contenders and len(contenders) > 1:
        text += f"; {worst.slowest} was the slowest with every contender."
        advice = "The machine, or its way to the servers, is slower: look for it in the table of machines."
    else:
        text += f"; so it was with {wording.names(sorted(of_it))} alone." if len(contenders) > 1 else "."
        advice = (
            "If its way there is as short as that of the others, the server favours some addresses: its balancing, its "
            "queues for each processor, its limits for each address."
        )
    return [Advisory(text, advice)]


def _slow(machines: Machines) -> list[Advisory]:
    ceilings = {m.name: m.null_operations_per_s for m in machines.agents if math.isfinite(m.null_operations_per_s)}
    if len(ceilings) < 2:
        return []
    usual = median(ceilings.values())
    slow = sorted(name for name, ceiling in ceilings.items() if ceiling < SLOW_SHARE * usual)
    if not slow:
        return []
    least = min(ceilings[name] for name in slow)
    who = f"Agent {slow[0]} reaches" if len(slow) == 1 else f"Agents {_few(slow)} reach"
    least_of = "" if len(slow) == 1 else "as little as "
    text = f"{who} {least_of}{wording.percent(least / usual)} of what the others ask of a server that does nothing."
    return [Advisory(text, "Each drives an equal part of the load: use machines that are alike, or fewer of them.")]


def _few(names: Sequence[str]) -> str:
    """At most three by name."""
    return wording.names(list(names)) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} more"
