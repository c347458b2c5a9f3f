"""Figures of a fleet: how far apart its agents begin, how soon all of them have stopped, and what arming costs.

`benchmarks/cluster.py` asks for them with agents of a cluster; by itself this file takes two agents in this process:

    python benchmarks/fleet.py
"""

import time
from collections.abc import Sequence

import numpy as np

from bakeoff.agents.base import Agent
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.core.errors import GeneratorError
from bakeoff.load.load_step import Clients
from bakeoff.run.fleet.sessions import Fleet

PATIENCE_S = 60.0


def _spec(agents: int, length_s: float) -> TrialSpec:
    return TrialSpec(workload=NullWorkload(), load=Clients(agents), length_s=length_s)


def start_spreads(agents: Sequence[Agent], trials: int, length_s: float = 0.05) -> list[float]:
    """Of so many trials of `length_s`, the time from the start of the first agent to that of the last, s."""
    fleet, spec = Fleet(agents), _spec(len(agents), length_s)
    spreads: list[float] = []
    for _ in range(trials):
        outcome = fleet.start({agent.name: spec for agent in agents}).wait(length_s + PATIENCE_S)
        if outcome is None or outcome.lost:
            raise GeneratorError(outcome.lost if outcome else "a trial does not end")
        spreads.append(outcome.spread_s)
    return spreads


def cancel_times(agents: Sequence[Agent], trials: int) -> list[float]:
    """Of so many running trials, the time from the word to stop until the outcome of all agents is there, s."""
    fleet, spec = Fleet(agents), _spec(len(agents), 3600.0)
    times: list[float] = []
    for _ in range(trials):
        session = fleet.start({agent.name: spec for agent in agents})
        while session.snapshot().phase != "window":
            if session.wait(0.02) is not None:
                raise GeneratorError("a trial ended before it was stopped")
        began_s = time.perf_counter()
        session.cancel()
        if session.wait(PATIENCE_S) is None:
            raise GeneratorError("a trial does not stop")
        times.append(time.perf_counter() - began_s)
    return times


def overheads(agent: Agent, trials: int, length_s: float = 0.05) -> list[float]:
    """Of so many trials of a single agent, the time that each took beyond its length, s."""
    fleet, spec = Fleet([agent]), _spec(1, length_s)
    times: list[float] = []
    for _ in range(trials):
        began_s = time.perf_counter()
        fleet.start({agent.name: spec}).wait(length_s + PATIENCE_S)
        times.append(time.perf_counter() - began_s - length_s)
    return times


def summary(values_s: Sequence[float]) -> str:
    """Median, p99 and the largest, ms."""
    p50, p99, most = np.quantile(values_s, [0.5, 0.99, 1.0]) * 1e3
    return f"p50 {p50:.3g} ms, p99 {p99:.3g} ms, most {most:.3g} ms ({len(values_s)} trials)"


def main() -> None:
    """The figures of two agents in this process."""
    agents = [LocalAgent("one"), LocalAgent("two")]
    print(f"start spread: {summary(start_spreads(agents, 200))}")
    print(f"cancel:       {summary(cancel_times(agents, 50))}")
    print(f"one trial:    {summary(overheads(agents[0], 200))} beyond its length")


if __name__ == "__main__":
    main()
