"""Made-up runs as several machines would have measured them, with what is wrong with one of them known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bakeoff.store.records.run_records import AgentRecord, RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import AgentResultRecord, LinkRecord
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import share

FOUR = ("ant", "bee", "cat", "dog")
CARD = {"cpu": {"model": "EPYC 7543", "available": 64, "governor": "performance"}, "kernel": "6.1"}


@dataclass(frozen=True)
class Machines:
    """`speed` is what clients of a machine get done relative to the others, `cpu` the share of its busiest thread,
    `link` how full its link is, `spread` the coefficient of variation between clients. `of` are the trials for which
    all this is so.
    """

    names: tuple[str, ...] = FOUR
    speed: Mapping[str, float] = field(default_factory=dict)
    cpu: Mapping[str, float] = field(default_factory=dict)
    link: Mapping[str, float] = field(default_factory=dict)
    capacities: Mapping[str, float] = field(default_factory=dict)
    spread: float = 0.01
    of: Callable[[TrialRecord], bool] = lambda trial: True


def divided(machines: Machines, record: RunRecord | None = None, seed: int = 5) -> RunRecord:
    """A run whose trials these machines drove together."""
    record = run(load_steps=(4, 8, 40), blocks=6) if record is None else record
    rng = np.random.default_rng(seed)
    agents = [
        AgentRecord(name, CARD | {"kernel": "6.5" if name == "dog" else "6.1"}, machines.capacities.get(name, 1e6))
        for name in machines.names
    ]
    trials = tuple(_divided(trial, machines, rng) for trial in record.trials)
    return replace(record, agents=tuple(agents), trials=trials)


def _divided(trial: TrialRecord, machines: Machines, rng: np.random.Generator) -> TrialRecord:
    count, clients = len(machines.names), trial.load_step.clients
    parts = [clients * (i + 1) // count - clients * i // count for i in range(count)]
    odd = machines.of(trial)
    speeds = [machines.speed.get(name, 1.0) if odd else 1.0 for name in machines.names]
    wanted = np.repeat(speeds, parts) * rng.normal(1.0, machines.spread, clients)
    done = np.floor(wanted / wanted.sum() * trial.operations).astype(int)
    done[0] += trial.operations - done.sum()
    ends = np.cumsum(parts)
    shares, marks = [], list(trial.marks)
    for name, part, end in zip(machines.names, parts, ends, strict=True):
        if part:
            one = _share(trial, name, int(part), int(done[end - part : end].sum()), machines if odd else Machines())
            shares.append(one)
            marks += ["generator-limited"] if one.cpu_share > 0.9 else []
            marks += ["link-limited"] if any((link.share or 0.0) > 0.9 for link in one.links) else []
    per_client = tuple(replace(one, operations=int(n)) for one, n in zip(trial.per_client, done, strict=True))
    return replace(trial, per_agent=tuple(shares), per_client=per_client, marks=tuple(dict.fromkeys(marks)))


def _share(trial: TrialRecord, name: str, clients: int, operations: int, machines: Machines) -> AgentResultRecord:
    full = machines.link.get(name, 0.2)
    return share(
        agent=name, clients=clients, operations=operations, window_s=trial.window_s, errors={},
        service=replace(trial.service, count=operations), cpu_share=machines.cpu.get(name, 0.4),
        cpu_us_per_operation=20.0, run_delay_share=0.001, late_start_p99_ns=400_000, lag_p99_ns=30_000,
        start_offset_ns=150_000 * machines.names.index(name),
        disturbances={"clock_error_ns": 100_000 + 50_000 * machines.names.index(name)},
        links=(LinkRecord("eth0", 10**9, "", trial.window_s, int(full * trial.window_s * 125e6), 1000, 0, 0),),
    )  # fmt: skip


def without(record: RunRecord, agent: str, from_order: int) -> RunRecord:
    """The same when a machine is lost in one trial, and the others go on without it."""
    trials = []
    for trial in record.trials:
        shares = trial.per_agent
        if trial.order == from_order:
            lost = [replace(s, lost="the cable was cut", operations=0) if s.agent == agent else s for s in shares]
            reason = f"agent {agent} was lost: the cable was cut"
            trial = replace(trial, state="voided", reason=reason, per_agent=tuple(lost))
        elif trial.order > from_order:
            rest = [s for s in shares if s.agent != agent]
            trial = replace(trial, per_agent=tuple(rest))
        trials.append(trial)
    return replace(record, trials=tuple(trials))
