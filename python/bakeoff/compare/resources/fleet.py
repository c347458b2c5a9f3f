"""What each of several machines did of the trials that count, and how alike they were."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.resources.fleet_model import BusyThreads, FleetChange, FullLink, Machine, MachineRange, Machines
from bakeoff.core.thresholds import BUSY_SHARE
from bakeoff.core.times import ms_of, ms_or_nan
from bakeoff.load.load_step import LoadStep
from bakeoff.stats import groups_differ
from bakeoff.store.records.links import fullest
from bakeoff.store.records.run_records import AgentRecord, RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import AgentResultRecord

# Chance has to explain a difference between machines this badly, over all that are looked at together.
UNFAIR_P = 0.01


def machines_of(run: RunRecord, cube: Cube, delta: float) -> Machines | None:
    """None where one machine did it all; `delta` is the smallest difference that matters."""
    if len(run.agents) < 2:
        return None
    usable = list(cube.usable.values())
    return Machines(
        agents=tuple(_machine(agent, run, usable) for agent in run.agents),
        ranges=_judged(
            [_range(name, load_step, cube) for name in cube.contenders for load_step in cube.load_steps], delta
        ),
        changes=_changes(run),
    )


def _machine(agent: AgentRecord, run: RunRecord, usable: Sequence[TrialRecord]) -> Machine:
    mine = [(trial, share) for trial in usable for share in trial.per_agent if share.agent == agent.name]
    shares = [share for _, share in mine]
    operations = sum(share.operations for share in shares)
    links = [link for share in shares for link in share.links]
    judged = [link for link in links if link.share is not None]
    fullest = max(judged, key=lambda link: link.share or 0.0, default=links[0] if links else None)
    cost = sum(share.cpu_us_per_operation * share.operations for share in shares)
    return Machine(
        name=agent.name,
        trials=len(shares),
        lost=sum(bool(s.lost) and s.agent == agent.name for trial in run.trials for s in trial.per_agent),
        limited=sum(share.cpu_share > BUSY_SHARE for share in shares),
        link_limited=sum(any((link.share or 0.0) > BUSY_SHARE for link in share.links) for share in shares),
        clients=max((share.clients for share in shares), default=0),
        operations_share=operations / max(1, sum(trial.operations for trial in usable)),
        null_operations_per_s=agent.null_operations_per_s or math.nan,
        us_per_operation=cost / operations if operations else math.nan,
        cpu_share=_most(share.cpu_share for share in shares),
        waited_share=_most(share.run_delay_share for share in shares if share.run_delay_share is not None),
        lag_p99_ms=_most(ms_or_nan(share.lag_p99_ns) for share in shares),
        late_p99_ms=_most(ms_or_nan(share.late_start_p99_ns) for share in shares),
        link="" if fullest is None else fullest.name,
        link_share=_most(link.share or 0.0 for link in judged),
        unjudged="" if judged or fullest is None else fullest.unjudged,
    )


def _range(contender: str, load_step: LoadStep, cube: Cube) -> MachineRange:
    trials = [trial for (name, at, _), trial in cube.usable.items() if name == contender and at == load_step]
    by_agent: dict[str, list[AgentResultRecord]] = {}
    for share in (share for trial in trials for share in trial.per_agent if not share.lost):
        by_agent.setdefault(share.agent, []).append(share)

    def each(of: Callable[[list[AgentResultRecord]], float]) -> list[float]:
        return [value for shares in by_agent.values() if math.isfinite(value := of(shares))] or [math.nan]

    rates = each(lambda shares: sum(share.operations_per_s for share in shares) / len(shares))
    p50 = each(lambda shares: _geometric([share.times.p50_ns for share in shares]))
    p99 = each(lambda shares: _geometric([share.times.p99_ns for share in shares]))
    cpu = each(lambda shares: _most(share.cpu_share for share in shares))
    shares = [share for one in by_agent.values() for share in one]
    starts = [[s.start_offset_ns for s in t.per_agent if s.start_offset_ns is not None] for t in trials]
    found = MachineRange(
        contender=contender, load_step=load_step, trials=len(trials), agents=len(by_agent),
        rate_low=min(rates), rate_high=max(rates), p50_low_ms=min(p50), p50_high_ms=max(p50),
        p99_low_ms=min(p99), p99_high_ms=max(p99), cpu_share_low=min(cpu), cpu_share_high=max(cpu),
        late_ms=_most(ms_or_nan(share.late_start_p99_ns) for share in shares),
        link_share=_most(link.share for share in shares for link in share.links if link.share is not None),
        start_spread_ms=_most(ms_or_nan(max(offsets) - min(offsets)) for offsets in starts if offsets),
        start_error_ms=_most(ms_or_nan(error_ns) for error_ns in map(_start_error_ns, trials) if error_ns is not None),
        slowest="", fastest="", ratio=math.nan, jain=math.nan, probability=math.nan, unfair=False,
    )  # fmt: skip
    return found if any(trial.starts for trial in trials) else _with_fairness(found, trials, by_agent)


def _start_error_ns(trial: TrialRecord) -> int | None:
    """What is not known of the two clocks that are known least."""
    errors = sorted(share.clock_error_ns for share in trial.per_agent if share.clock_error_ns is not None)
    return sum(errors[-2:]) if errors else None


def _with_fairness(
    found: MachineRange, trials: Sequence[TrialRecord], by_agent: dict[str, list[AgentResultRecord]]
) -> MachineRange:
    """How much a client got on each machine; machines without a client of this load step are not compared."""
    per_client = {
        agent: sum(share.operations_per_s / share.clients for share in shares) / len(shares)
        for agent, shares in by_agent.items()
        if all(share.clients for share in shares)
    }
    if len(per_client) < 2 or not any(per_client.values()):
        return found
    rates = list(per_client.values())
    ranked = sorted(per_client, key=lambda agent: per_client[agent])
    slowest, fastest = ranked[0], ranked[-1]
    squares = sum(rate * rate for rate in rates)
    return replace(
        found,
        slowest=slowest,
        fastest=fastest,
        ratio=per_client[slowest] / per_client[fastest],
        jain=sum(rates) ** 2 / (len(rates) * squares),
        probability=_by_chance(trials),
    )


def _by_chance(trials: Sequence[TrialRecord]) -> float:
    """Probability that equal clients differ so much between machines. The unit is the client: what it did in each
    block, against the mean client of that block, is averaged over blocks before.
    """
    done: dict[str, dict[int, list[float]]] = {}
    for trial in trials:
        counts = [client.operations for client in sorted(trial.per_client, key=lambda client: client.client)]
        if sum(share.clients for share in trial.per_agent) != len(counts) or not sum(counts):
            continue
        mean, first = sum(counts) / len(counts), 0
        for share in trial.per_agent:
            of_agent = done.setdefault(share.agent, {})
            for client in range(first, first + share.clients):
                of_agent.setdefault(client, []).append(counts[client] / mean)
            first += share.clients
    return groups_differ([np.array([np.mean(one) for one in clients.values()]) for clients in done.values()])


def _judged(ranges: Sequence[MachineRange], delta: float) -> tuple[MachineRange, ...]:
    """Those are unfair that chance cannot explain, over all of them together, and that matter."""
    looked_at = sum(math.isfinite(one.probability) for one in ranges)
    return tuple(
        replace(one, unfair=one.probability * looked_at < UNFAIR_P and 1.0 - one.ratio > delta) for one in ranges
    )


def _changes(run: RunRecord) -> tuple[FleetChange, ...]:
    """Where fewer machines, or more again, sent the load than in the trial before."""
    names = [agent.name for agent in run.agents]
    before: tuple[str, ...] = ()
    changes: list[FleetChange] = []
    for trial in sorted(run.trials, key=lambda trial: trial.order):
        if not trial.per_agent or trial.load_step.clients < len(
            names
        ):  # a low load step leaves machines without a client
            continue
        present = {share.agent for share in trial.per_agent}
        without = tuple(name for name in names if name not in present)
        if without != before:
            changes.append(FleetChange(trial.id, trial.order, len(names) - len(without), len(names), without))
        before = without
    return tuple(changes)


def _geometric(values: Iterable[int | None]) -> float:
    logs = [math.log(ms_of(value)) for value in values if value]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def _most(values: Iterable[float]) -> float:
    return max((value for value in values if math.isfinite(value)), default=math.nan)


def full_link_of(trials: Sequence[TrialRecord]) -> FullLink:
    """The fullest of all."""
    found = fullest(trials)
    if found is None:
        return FullLink("", "", None)
    agent, link = found
    return FullLink(agent if agents_of(trials) > 1 else "", link.name, link.share)


def busy_threads(trials: Iterable[TrialRecord]) -> BusyThreads:
    """Who of several had load threads without a pause."""
    listed = list(trials)
    agents = agents_of(listed)
    shares = (share for trial in listed for share in trial.per_agent)
    busy = {share.agent for share in shares if share.cpu_share > BUSY_SHARE} if agents > 1 else set()
    return BusyThreads(tuple(sorted(busy)), agents)


def agents_of(trials: Iterable[TrialRecord]) -> int:
    """How many sent load together."""
    return max((len(trial.per_agent) for trial in trials), default=0)
