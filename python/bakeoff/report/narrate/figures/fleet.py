"""The machines that sent load, in words: which of them was the limit, slow or away, and what was full."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.advice.advice_model import AgentSlow, AgentsWeak, FleetChanged
from bakeoff.compare.resources.fleet_model import BusyThreads, FleetChange, FullLink
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.store.records.links import whose


def change_text(change: FleetChange) -> str:
    """`From trial 13 on 3 of 4 agents sent the load, without c`."""
    without = f", without {few(change.without)}" if change.without else ", as at the start"
    return f"From trial {change.trial_id} on {change.agents} of {change.of} agents sent the load{without}."


@advised.register
def _(fact: FleetChanged) -> tuple[str, str]:
    return (
        change_text(fact.change),
        "Each of them drove more clients from then on; the load as a whole was the plan's. Blocks on both sides of it "
        "count alike; a pair within a block that was not sent by the same machines is left out.",
    )


@advised.register
def _(fact: AgentSlow) -> tuple[str, str]:
    worst = fact.worst
    text = (
        f"Clients of agent {worst.slowest} did {wording.percent(1.0 - worst.ratio)} fewer operations than those of "
        f"{worst.fastest} at {worst.load_step.words} of {worst.contender} (Jain's index over agents {worst.jain:.3f}): "
        "more than chance between so many clients explains"
    )
    if len(fact.with_contenders) == fact.of_contenders > 1:
        return (
            f"{text}; {worst.slowest} was the slowest with every contender.",
            "The machine, or its way to the servers, is slower: look for it in the table of machines.",
        )
    alone = f"; so it was with {wording.names(list(fact.with_contenders))} alone" if fact.of_contenders > 1 else ""
    return (
        f"{text}{alone}.",
        "If its way there is as short as that of the others, the server favours some addresses: its balancing, its "
        "queues for each processor, its limits for each address.",
    )


@advised.register
def _(fact: AgentsWeak) -> tuple[str, str]:
    first, *others = fact.agents
    who = f"Agents {few(fact.agents)} reach as little as" if others else f"Agent {first} reaches"
    return (
        f"{who} {wording.percent(fact.share)} of what the others ask of the null server.",
        "Each drives an equal part of the load: use machines that are alike, or fewer of them.",
    )


def link_words(link: FullLink) -> str:
    """`agent b's link eth0 was up to 94 % full`."""
    if link.share is None:
        return "a link of the load generator was full"
    owner = whose(link.agent, 2) if link.agent else "the load generator's"
    return f"{owner} link {link.link} was up to {wording.percent(link.share)} full"


def busy_words(threads: BusyThreads) -> str:
    """Who of several had load threads without a pause: `the load generator`, or the names of up to three agents."""
    if not threads.busy:
        return "the load generator"
    if len(threads.busy) == threads.agents:
        return f"each of the {threads.agents} agents"
    return f"agent{'s' if len(threads.busy) > 1 else ''} {few(threads.busy)}"


def few(names: Sequence[str]) -> str:
    """At most three by name."""
    return wording.names(list(names)) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} more"
