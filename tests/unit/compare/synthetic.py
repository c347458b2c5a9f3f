"""Runs that never happened, built from a formula, so that their true answer is known.

A contender has a capacity (operations/s), a base time per operation, and a run-to-run spread; block effects
are shared. Counts, bytes and times of a trial agree with each other, as those of a real trial do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Clients, Rate
from bakeoff.store.records.run_records import GENERATOR_CAPACITIES, ContenderRecord, EventRecord, RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import (
    EMPTY_SUMMARY,
    ClientRecord,
    OperationRecord,
    SecondRecord,
    StartsRecord,
    StepRecord,
    Summary,
)

FULL_LOAD_STEPS = (1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60)
CLASSES = (
    ("223", 20, 223),
    ("735", 8, 735),
    ("1522", 12, 1522),
    ("2895", 20, 2895),
    ("6040", 14, 6040),
    ("11426", 16, 11426),
    ("22132", 7, 22132),
    ("large", 1, 300000),
    ("404", 2, 150),
)


@dataclass(frozen=True)
class Server:
    """A made-up contender: `decline` is the share of its rate lost per client beyond 30."""

    name: str
    capacity: float
    base_ms: float
    spread: float = 0.01
    decline: float = 0.0
    tail: float = 3.0
    errors_from: int | None = None


FAST = Server("nginx", 42_000.0, 0.09, decline=0.0008)
SLOW = Server("apache", 33_000.0, 0.11, spread=0.015, decline=0.004, tail=6.0)


def summary(count: int, mean_ms: float, tail: float = 3.0) -> Summary:
    """A right-skewed distribution with the given mean."""
    if count == 0:
        return EMPTY_SUMMARY
    scaled = [round(mean_ms * factor * 1e6) for factor in (0.8, 0.6 * tail, tail, 2.2 * tail, 6 * tail, 0.3)]
    return Summary(count, mean_ms * 1e6, *scaled)


def trial(
    server: Server,
    clients: int,
    block: int,
    order: int,
    window_s: float,
    random: np.random.Generator,
    shared: float,
) -> TrialRecord:
    """One trial of `server` with `shared` the log-effect of the block."""
    # A smooth corner between "each client as fast as it can" and "the server is full".
    rate = ((clients / server.base_ms * 1000.0) ** -4.0 + server.capacity**-4.0) ** -0.25
    rate *= math.exp(shared + random.normal(0.0, server.spread))
    rate *= max(0.2, 1.0 - server.decline * max(0, clients - 30))
    operations = int(rate * window_s)
    mean_ms = clients / (operations / window_s) * 1000.0
    weights = np.array([weight for _, weight, _ in CLASSES])
    counts = random.multinomial(operations, weights / weights.sum())
    failed = int(operations * 0.004 * random.uniform(0.8, 1.2)) if clients >= (server.errors_from or 10**9) else 0
    kinds = [
        OperationRecord(
            name,
            int(n),
            {"refused": failed} if name == "223" and failed else {},
            int(n) * size,
            int(n) * 120,
            summary(int(n), mean_ms * (0.9 + math.log10(size) * 0.03), server.tail),
        )
        for (name, _, size), n in zip(CLASSES, counts, strict=True)
    ]
    total = sum(kind.bytes_in for kind in kinds)
    per_client = _clients(clients, operations, total, window_s)
    return TrialRecord(
        id=order + 1,
        contender=server.name,
        load_step=Clients(clients),
        block=block,
        order=order,
        seed=1000 + block,
        state="ok",
        reason="",
        marks=(),
        started_at=f"2026-11-20T10:{order // 60 % 60:02d}:{order % 60:02d}.000+00:00",
        window_s=window_s,
        operations=operations,
        operations_per_s=operations / window_s,
        bytes_in=total,
        bytes_out=operations * 120,
        bytes_per_s=total / window_s,
        errors={"refused": failed} if failed else {},
        statuses={"2xx": operations - int(counts[-1]), "4xx": int(counts[-1])},
        service=summary(operations, mean_ms, server.tail),
        per_operation=tuple(kinds),
        steps=tuple(
            StepRecord(name, summary(operations, mean_ms * share, server.tail))
            for name, share in (("connect", 0.22), ("first_byte", 0.55), ("transfer", 0.23))
        ),
        per_second=_seconds(window_s, operations, total, mean_ms, server.tail, random),
        per_client=per_client,
        connections={"opened": operations},
        generator_cpu_share=min(0.97, rate / 60_000.0),
        generator_cpu_us_per_operation=16.7,
        generator_late_start=EMPTY_SUMMARY,
        generator_lag=EMPTY_SUMMARY,
        generator_rss_bytes=18 << 20,
        fairness_jain=0.998,
        workload={},
    )


def _clients(clients: int, operations: int, total: int, window_s: float) -> tuple[ClientRecord, ...]:
    shares = [operations // clients + (index < operations % clients) for index in range(clients)]
    bytes_in = [total // clients + (index < total % clients) for index in range(clients)]
    return tuple(ClientRecord(i, n, 0, b, window_s) for i, (n, b) in enumerate(zip(shares, bytes_in, strict=True)))


def _seconds(
    window_s: float, operations: int, total: int, mean_ms: float, tail: float, random: np.random.Generator
) -> tuple[SecondRecord, ...]:
    length = int(window_s) + 2
    found = []
    for second in range(length):
        phase = "ramp_up" if second == 0 else "ramp_down" if second == length - 1 else "window"
        n = round(operations / window_s * (0.6 if phase != "window" else random.normal(1.0, 0.01)))
        found.append(SecondRecord(second, phase, n, 0, round(total / window_s), summary(n, mean_ms, tail)))
    return tuple(found)


def run(
    servers: tuple[Server, ...] = (FAST, SLOW),
    load_steps: tuple[int, ...] = (1, 4, 8),
    blocks: int = 6,
    window_s: float = 8.0,
    seed: int = 1,
    block_spread: float = 0.03,
) -> RunRecord:
    """A complete run in random order of contenders inside each block."""
    random = np.random.default_rng(seed)
    trials = []
    for block in range(1, blocks + 1):
        shared = random.normal(0.0, block_spread)
        for server in random.permutation(np.array(servers, dtype=object)):
            trials += [
                trial(server, load_step, block, len(trials) + i, window_s, random, shared)
                for i, load_step in enumerate(load_steps)
            ]
    return RunRecord(
        path=Path("synthetic.bakeoff"),
        schema_version=1,
        name="synthetic",
        suite="web-static",
        kind="web",
        plan={
            "format": 1,
            "name": "synthetic",
            "suite": "web-static",
            "kind": "web",
            "title": "Static web files",
            "modelled_on": "WebBench 3.0 STATIC",
            "size": "quick",
            "blocks": blocks,
            "seed": seed,
            "delta": 0.05,
            "settings": {
                "clients": list(load_steps),
                "virtual_users": 1,
                "length_s": window_s + 2,
                "ramp_up_s": 1.0,
                "ramp_down_s": 1.0,
                "think_s": 0.0,
                "http": "1.0",
                "keep_alive": False,
            },
            "changed": ["length"],
            "assumed": ["Shares of the request classes: 20, 8, 12 %"],
            "contenders": [{"name": s.name} for s in servers],
        },
        plan_hash="sha256:" + "5f3c" * 16,
        created_at="2026-11-20T10:00:00.000+00:00",
        finished_at="2026-11-20T12:00:00.000+00:00",
        tool={"version": "0.1.0", "build": "release"},
        environment={
            "cpu": {"model": "Example CPU 3000", "cores": 2},
            "memory_bytes": 8 << 30,
            "kernel": "6.1.0",
            GENERATOR_CAPACITIES: {s.name: asked(254_000.0) for s in servers},
            "sysctl": {"net.ipv4.ip_local_port_range": "1024 65535"},
        },
        contenders=tuple(ContenderRecord(s.name, f"http://127.0.0.1:80{80 + i}", None) for i, s in enumerate(servers)),
        load_steps=tuple(map(Clients, load_steps)),
        blocks_planned=blocks,
        delta=0.05,
        null_operations_per_s=254_000.0,
        trials_planned=len(trials),
        trials=tuple(trials),
        events=(EventRecord("2026-11-20T10:00:00.000+00:00", "info", "content check passed", None),),
    )


def asked(per_s: float) -> dict[str, Any]:
    """How often the generator asks a server that does nothing, as an environment says it of a contender."""
    return {"words": "kept connections, replies of 1,024 bytes", "operations_per_s": per_s, "agents": {}}


def with_capacity(record: RunRecord, per_s: float | None) -> RunRecord:
    """The same run by a generator that asks so often at most; None where that was not measured."""
    told = {} if per_s is None else {contender.name: asked(per_s) for contender in record.contenders}
    return replace(record, environment={**record.environment, GENERATOR_CAPACITIES: told}, null_operations_per_s=per_s)


def at_rates(record: RunRecord) -> RunRecord:
    """The same run under rates of 1,000/s for each client that there was, kept to the unit."""
    rates = {
        load_step: Rate(1000.0 * load_step.clients, Constant(), load_step.clients) for load_step in record.load_steps
    }

    def planned(trial: TrialRecord) -> TrialRecord:
        rate = rates[trial.load_step]
        offered = round(rate.per_s * trial.window_s)
        starts = StartsRecord(offered, offered, 0, offered, 0, 1, EMPTY_SUMMARY)
        return replace(trial, load_step=rate, response=trial.service, starts=starts)

    return replace(record, load_steps=tuple(rates.values()), trials=tuple(map(planned, record.trials)))


def change(
    record: RunRecord, contender: str, clients: int | None, blocks: tuple[int, ...] | None, **fields: object
) -> RunRecord:
    """`record` with `fields` replaced in the trials named; None means all load steps or all blocks."""

    def chosen(t: TrialRecord) -> bool:
        at_load_step = clients is None or t.load_step.clients == clients
        return t.contender == contender and at_load_step and (blocks is None or t.block in blocks)

    changed = tuple(replace(t, **fields) if chosen(t) else t for t in record.trials)  # type: ignore[arg-type]
    return replace(record, trials=changed)
