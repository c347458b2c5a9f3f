"""Small but complete records, so that each test names only what it is about."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from bakeoff.load.load_step import Clients
from bakeoff.store.records.run_records import (
    AgentRecord,
    AmendmentRecord,
    ContenderRecord,
    PlannedTrial,
    RunRecord,
    SoakIntervalRecord,
    TrialRecord,
)
from bakeoff.store.records.trial_parts import (
    AgentResultRecord,
    ClientRecord,
    LinkRecord,
    OperationRecord,
    SecondRecord,
    StartsRecord,
    StepRecord,
    Summary,
)
from bakeoff.store.sqlite.canonical import plan_hash
from bakeoff.store.sqlite.write import RunHeader, RunWriter
from bakeoff.telemetry.model import Cost, Gap, Telemetry

SUMMARY = Summary(100, 1500.5, 1400, 2000, 2500, 2600, 3000, 900)
PLAN = {"suite": "web-static", "seed": 1}
EMPTY = Summary(0, None, None, None, None, None, None, None)


def trial(**changes: Any) -> TrialRecord:
    """A good trial of contender `a` with 4 clients; `changes` replace single fields."""
    base = TrialRecord(
        id=0,
        contender="a",
        load_step=Clients(4),
        block=1,
        order=0,
        seed=42,
        state="ok",
        reason="",
        marks=("noisy",),
        started_at="2026-11-20T10:00:00.000+00:00",
        window_s=2.0,
        operations=100,
        operations_per_s=50.0,
        bytes_in=5000,
        bytes_out=700,
        bytes_per_s=2500.0,
        errors={"refused": 2},
        statuses={"2xx": 98, "4xx": 2},
        service=SUMMARY,
        per_operation=(
            OperationRecord("static/223", 90, {"refused": 2}, 4000, 600, SUMMARY),
            OperationRecord("dynamic", 10, {}, 1000, 100, EMPTY),
        ),
        steps=(StepRecord("connect", SUMMARY), StepRecord("first_byte", EMPTY)),
        per_second=(
            SecondRecord(0, "ramp_up", 5, 0, 100, SUMMARY),
            SecondRecord(1, "window", 95, 2, 4900, SUMMARY),
        ),
        per_client=(ClientRecord(0, 60, 1, 3000, 1.9), ClientRecord(1, 40, 1, 2000, 1.8)),
        connections={"opened": 102, "failed": 1},
        generator_cpu_share=0.5,
        generator_cpu_us_per_operation=20.25,
        generator_late_start=EMPTY,
        generator_lag=SUMMARY,
        generator_rss_bytes=1 << 20,
        fairness_jain=0.96,
        workload={"extra": [1, 2]},
    )
    return replace(base, **changes)


def share(**changes: Any) -> AgentResultRecord:
    """What the agent `local` did of a trial; `changes` replace single fields."""
    base = AgentResultRecord(
        agent="local", clients=4, lost="", window_s=2.0, operations=100, errors={"refused": 2}, bytes_in=5000,
        bytes_out=700, service=SUMMARY, cpu_share=0.5, cpu_us_per_operation=20.25, run_delay_share=0.125,
        rss_bytes=1 << 20, late_start_p99_ns=None, lag_p99_ns=2500, disturbances={},
    )  # fmt: skip
    return replace(base, **changes)


# What a share has besides where agents were told one start, with links that have a speed or none, at a rate.
OF_A_FLEET: dict[str, Any] = {
    "start_offset_ns": 120_000,
    "links": (
        LinkRecord("eth0", 1_000_000_000, "", 1.9, 20_000_000, 1_000_000, 20_000, 10_000),
        LinkRecord("lo", None, "a loopback", 1.9, 500, 500, 5, 5),
    ),
    "starts": StartsRecord(500, 490, 10, 489, 17, 8, replace(SUMMARY, count=7)),
    "response": replace(SUMMARY, p50_ns=2_000),
}


def seen(**changes: Any) -> Telemetry:
    """Two seconds of a contender, the first without its disk; `changes` replace single fields."""
    base = Telemetry(
        role="contender", name="a", source="pid:7", window_s=(0.5, 2.0), at_s=(0.0, 1.0), width_s=(1.0, 1.0),
        series={"own_user_s": (0.25, 0.5), "cpu_steal_s": (0.0, 0.0), "disk/sda/busy_s": (None, 0.125)},
        facts={"processors": 2}, gaps=(Gap(from_s=2.0, to_s=2.5, why="it is gone"),),
        processor_shares=(0.25, None, 1.0), busiest_share=1.0,
        cost=Cost(samples=3, cpu_s=0.01, remote_cpu_s=0.02, out_bytes=3, in_bytes=4000),
    )  # fmt: skip
    return base.model_copy(update=changes)


def soak_interval(**changes: Any) -> SoakIntervalRecord:
    """An hour of a soak of contender `a`; `changes` replace single fields."""
    base = SoakIntervalRecord(
        order=0, contender="a", load_step=Clients(4), block=1, segment=1, number=0,
        started_at="2026-11-20T10:00:00.000+00:00", length_s=3600.0, operations=100, errors={"refused": 2},
        bytes_in=5000, bytes_out=700, cpu_share=0.5, run_delay_share=0.125, stolen_s=0.25, rss_bytes=1 << 20,
        service=SUMMARY, response=None,
    )  # fmt: skip
    return replace(base, **changes)


def amendment(**changes: Any) -> AmendmentRecord:
    """A block that was added to one; `changes` replace single fields."""
    base = AmendmentRecord("2026-11-20T10:00:09.000+00:00", "blocks", "+1 blocks", 1, 1, 2, None, "0" * 64)
    return replace(base, **changes)


def planned(count: int = 4) -> list[PlannedTrial]:
    """`count` planned trials that alternate between contenders `a` and `b`."""
    return [PlannedTrial(i, "ab"[i % 2], Clients(4), i // 2 + 1, 42) for i in range(count)]


def header(**changes: Any) -> RunHeader:
    """A header for two contenders; `changes` replace single fields."""
    base = RunHeader(
        name="demo",
        suite="web-static",
        kind="web",
        plan=PLAN,
        plan_hash=plan_hash(PLAN),
        tool={"version": "0.1.0"},
        environment={"cpu": {"model": "test"}},
        agents=[AgentRecord("local", {})],
        contenders=[
            ContenderRecord("a", "http://127.0.0.1:1", None),
            ContenderRecord("b", "http://127.0.0.1:2", "true"),
        ],
        load_steps=[Clients(4)],
        blocks_planned=2,
        delta=0.05,
    )
    return replace(base, **changes)


def stored(record: RunRecord, path: Path, histogram: bytes | None = None) -> Path:
    """A made-up run as a run file; every trial gets `histogram` as that of its service times."""
    head = RunHeader(
        name=record.name, suite=record.suite, kind=record.kind, plan=record.plan, plan_hash=plan_hash(record.plan),
        tool=record.tool, environment=record.environment, contenders=record.contenders, load_steps=record.load_steps,
        blocks_planned=record.blocks_planned, delta=record.delta,
        agents=record.agents or [AgentRecord("local", {"kernel": "6"})],
    )  # fmt: skip
    plan = [PlannedTrial(t.order, t.contender, t.load_step, t.block, t.seed) for t in record.trials]
    with RunWriter.create(path, head, plan) as writer:
        writer.add_events(record.events)
        for one in record.trials:
            shares = one.per_agent or (share(operations=one.operations),)
            writer.add_trial(replace(one, per_agent=shares), {} if histogram is None else {"service": histogram})
        writer.finish()
    return path
