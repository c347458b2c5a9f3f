"""What many machines cost the one that controls them: their snapshots merged as they come, their results at the end.

Simulated agents tell over TCP what real ones tell over Ray, in the same JSON, to the same `RemoteAgent`, `Relay` and
`Together`. What Ray costs comes on top. `--write` puts the table into docs/performance.md.

    python benchmarks/cluster.py [--agents 64,250,1000] [--seconds 10] [--write]
"""

import argparse
import math
import multiprocessing as mp
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import psutil
from common import ROOT, machine_line, put_table
from simulated_agents import TRIAL, agents_of, fleet, sizes, threads

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.merge import merged_outcome
from bakeoff.agents.remote.agent import RemoteAgent, RemoteSession
from bakeoff.agents.remote.relay import WIDTH
from bakeoff.agents.result import Outcome
from bakeoff.agents.spec import NullWorkload, Slice, TrialSpec
from bakeoff.load.load_step import Clients
from bakeoff.run.fleet.multi_agent_trial import FOLDED_POLL_S, POLL_S, AgentPart, Together

LOOK_S = 0.2
SETTLE_S = 2.0
MOST_WITHOUT = 250
"""Agents without a tree: they fill a core. Relays of more are simulated as well, because they want machines."""


@dataclass(frozen=True)
class Carried:
    """A controller with so many agents for some time. `cpu` is in cores; ages are how old what a merged view shows of
    an agent is, in ms, of all agents in all views.
    """

    agents: int
    tree: bool
    cpu: float
    cpu_of_merging: float
    rss_bytes: int
    bytes_per_s: float
    views_per_s: float
    age_p50_ms: float
    age_p99_ms: float
    threads: int
    lost: int

    def _way(self) -> str:
        return "none" if not self.tree else f"relays of {WIDTH}" + (", simulated" if self.agents > MOST_WITHOUT else "")

    def row(self) -> str:
        """Its line of the table."""
        cells = (
            f"{self.agents:,}", self._way(), f"{self.cpu:.2f}",
            f"{1e3 * self.cpu / self.agents:.2f}", f"{self.cpu_of_merging:.2f}", f"{self.rss_bytes / 1e6:.0f}",
            f"{self.bytes_per_s / 1e6:.2f}", f"{self.views_per_s:.1f}", f"{self.age_p50_ms:.0f}",
            f"{self.age_p99_ms:.0f}",
            f"{self.threads:,}", f"{self.lost}",
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


class Listening(Together):
    """Agents whose trial goes on already: nothing is begun, and a thread for each asks how far it is."""

    def _carry_out(self, part: AgentPart) -> None:
        assert isinstance(part.agent, RemoteAgent)
        session = RemoteSession(part.agent, TRIAL)
        self._tell(part, session=session, armed=True)
        while not part.over:
            self._ask(part, session, session.wait(POLL_S if part.snapshot is not None else FOLDED_POLL_S))


def carry(count: int, tree: bool, seconds: float) -> Carried:
    """Look at `count` simulated agents every 200 ms, as a run does for its progress display."""
    length_s = seconds + 300.0  # processes begin slowly on a busy machine
    with fleet(count, WIDTH if tree else None, 2, length_s, count > MOST_WITHOUT) as lines:
        agents = agents_of(lines, count, WIDTH if tree else None)
        whole = spec(count)
        parts = [AgentPart(agent, Slice(index=n, of=count), whole, 1) for n, agent in enumerate(agents)]
        session = Listening(parts, whole)
        session.begin()
        until = time.monotonic() + length_s
        while len(session.snapshot().per_agent) + _lost(parts) < count and time.monotonic() < until:
            time.sleep(LOOK_S)
        time.sleep(SETTLE_S)
        received, cpu, began = sum(line.received for line in lines.values()), time.process_time(), time.monotonic()
        merging, views, ages = 0.0, 0, list[float]()
        while (now := time.monotonic()) < began + seconds:
            before = time.thread_time()
            view = session.snapshot()
            merging, views = merging + time.thread_time() - before, views + 1
            seen = time.monotonic()
            ages += [1e3 * (seen - agent.elapsed_s) for agent in view.per_agent]
            time.sleep(max(0.0, LOOK_S - (time.monotonic() - now)))
        span_s, used_s = time.monotonic() - began, time.process_time() - cpu
        observed = Carried(
            agents=count, tree=tree, cpu=used_s / span_s, cpu_of_merging=merging / span_s,
            rss_bytes=psutil.Process().memory_info().rss,
            bytes_per_s=(sum(line.received for line in lines.values()) - received) / span_s, views_per_s=views / span_s,
            age_p50_ms=_quantile(ages, 50), age_p99_ms=_quantile(ages, 99), threads=threads(), lost=_lost(parts),
        )  # fmt: skip
        for part in parts:
            part.lost = part.lost or "it is over"  # or its thread goes on to ask beside the next ones
        for agent in agents:
            agent._closed = True  # all at once, then each waits for its thread
        for agent in agents:
            agent.close()
    return observed


def _lost(parts: Sequence[AgentPart]) -> int:
    return sum(bool(part.lost) for part in parts)


def _quantile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1] if values else math.nan


def spec(count: int) -> TrialSpec:
    """A trial with a client for each agent."""
    return TrialSpec(workload=NullWorkload(), load=Clients(count), length_s=0.05)


def final(count: int) -> tuple[float, int, int]:
    """Time in s and memory in bytes to merge the results of `count` agents, and what these results have in bytes."""
    whole = spec(count)
    one = LocalAgent("one").start(whole, Slice(index=0, of=count)).go().wait(30.0)
    assert one is not None
    outcomes = [(f"agent{n:04}", _as(one, n)) for n in range(count)]
    size = sum(len(one.result.model_dump_json()) + sum(map(len, one.histograms.values())) for _, one in outcomes)
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    merged = merged_outcome(whole, outcomes)
    took_s, grown = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert merged.result.operations == count * one.result.operations
    return took_s, grown * 1024, size


def _as(outcome: Outcome, number: int) -> Outcome:
    """The same of another agent: its client has another number."""
    clients = tuple(replace(client, client=number) for client in outcome.result.per_client)
    return replace(outcome, result=outcome.result.model_copy(update={"per_client": clients}))


HEADS = (
    "agents", "tree", "CPU, cores", "for each agent, ms/s", "merging, cores", "memory, MB", "received, MB/s", "views/s",
    "age p50, ms", "age p99, ms", "threads", "lost",
)  # fmt: skip


def table(rows: Sequence[Carried], merged: tuple[float, int, int], most: int, seconds: float) -> str:
    """The text for the page."""
    pulse, times = sizes()
    took_s, grown, size = merged
    lines = [
        f"{machine_line()}; {seconds:g} s each; a pulse of {pulse:,} bytes with {times} different times from each "
        "agent, and a view of all, every 200 ms; simulated agents and relays share the machine",
        "",
        f"| {' | '.join(HEADS)} |",
        f"|{' --: |' * len(HEADS)}",
        *(row.row() for row in rows),
        "",
        f"Final results of {most:,} agents ({size / 1e6:.1f} MB of JSON and histograms) merged into one: "
        f"{took_s:.2f} s, {grown / 1e6:.0f} MB of memory.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", default="64,250,1000")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    counts = [int(word) for word in arguments.agents.split(",")]
    rows = []
    for count in counts:
        for tree in [False] * (count <= MOST_WITHOUT) + [True] * (count > WIDTH):
            rows.append(carry(count, tree, arguments.seconds))
            print(rows[-1].row(), flush=True)
    with mp.get_context("spawn").Pool(1) as pool:  # a process that had no peak of memory before
        merged = pool.apply(final, (max(counts),))
    text = table(rows, merged, max(counts), arguments.seconds)
    print(text)
    if arguments.write:
        put_table(ROOT / "docs/performance.md", "cluster", text)


if __name__ == "__main__":
    main()
