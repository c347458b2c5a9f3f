"""A run in small: two contenders, one of them with a fault, every suite under every load.

Plan, checks, specification, trial, judgement and comparison are those of a user's run; trials are real, on sockets and
files of this machine, and so is every count in them. Two things are not: one trial stands for all blocks, and times are
made up, since no outcome may depend on this machine's speed. The faulty contender is twice as fast as the good one at
whatever it answers, unless the fault is a delay that its times must show.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.compare import Comparison, compare_run
from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.contenders.prepared import PreparedContenders
from bakeoff.run.fleet.sessions import Fleet
from bakeoff.run.kind import run_part
from bakeoff.run.outcome.judge import to_record
from bakeoff.store.records.run_records import ContenderRecord, PlannedTrial, RunRecord, SearchRecord, TrialRecord
from bakeoff.store.records.trial_parts import EMPTY_SUMMARY, ClientRecord, Summary
from tests.control import PATIENCE_S

GOOD, EVIL = "good", "evil"
BLOCKS = 6
# Mean time of an operation, ns, and by which share it differs from one block to the next.
GOOD_NS, EVIL_NS, JITTER = 10e6, 5e6, 0.01
# By which the good one's time is multiplied beside a slow one, whose own times stay as they are: no machine's delays
# are shorter.
BRISK = 0.05


class RefusedError(Exception):
    """The checks before timing refused a contender."""


@dataclass(frozen=True)
class Measured:
    """What one trial of each contender gave."""

    plan: Plan
    environment: dict[str, Any]
    results: Mapping[str, TrialResult]


def plan_of(suite: str, load: Mapping[str, Any], addresses: Mapping[str, str]) -> Plan:
    """The plan of a cell: `load` has tables of a plan file. Raises PlanError where the suite has no such load."""
    plan = {"suite": suite, "blocks": BLOCKS, "seed": 1, **load.get("plan", {})}
    contenders = parse_contenders([f"{name}={address}" for name, address in addresses.items()])
    given = PlanInput("cell", plan, dict(load.get("settings", {})), contenders, {}, load.get("capacity"))
    return resolve_plan(replace(given, fleet=dict(load.get("fleet", {}))))


def measure(
    plan: Plan, agents: int, change: Callable[[TrialSpec], TrialSpec], known: Mapping[str, TrialResult]
) -> Measured:
    """One trial of each contender that has no `known` result. Raises RefusedError."""
    fleet = Fleet([LocalAgent(f"m{number}") for number in range(agents)])
    try:
        prepared = PreparedContenders(plan, fleet)
        specs = prepared.specs()
    except (PlanError, ContenderError) as error:
        raise RefusedError(str(error)) from None
    results = dict(known)
    load_step = plan.settings.load_steps[0]
    for contender in plan.contenders:
        if contender.name not in results:
            by_agent = {name: change(spec) for name, spec in specs.of(contender.name, load_step, plan.seed).items()}
            results[contender.name] = _served(fleet, by_agent)
    prepared.close()
    return Measured(plan, {"content": prepared.facts()}, results)


def _served(fleet: Fleet, specs: Mapping[str, TrialSpec]) -> TrialResult:
    """A trial; another one where a client had hardly a turn: a machine that held its thread up does so now and then, a
    fault each time.
    """
    for _ in range(TRIES):
        result = _trial(fleet, specs)
        counts = [client.operations for client in result.per_client]
        if result.starts is not None or not counts or 4 * min(counts) * len(counts) >= sum(counts):
            break
    return result


def _trial(fleet: Fleet, specs: Mapping[str, TrialSpec]) -> TrialResult:
    session, until = fleet.start(specs), time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        outcome = session.wait(1.0)
        if outcome is not None:
            assert outcome.whole is not None, outcome
            return outcome.whole.result
    raise AssertionError("the trial did not end")


def compared(measured: Measured, slow: bool) -> Comparison:
    """The comparison of a run all of whose blocks were as this one; the faulty contender of a `slow` fault keeps the
    times that it took.
    """
    trials = [
        record_of(measured, planned, measured.results[planned.contender], slow)
        for planned in order_trials(measured.plan)
    ]
    return compare_run(run_of(measured, trials, ()))


def mean_of(measured: Measured, contender: str, block: int, slow: bool) -> float:
    """The mean time of an operation in a block, ns."""
    factor = 1.0 + JITTER * (((block * 7919 + (contender == EVIL) * 31) % 13) / 6.0 - 1.0)
    measured_ns = measured.results[contender].service.mean_ns
    made_up_ns = GOOD_NS if contender == GOOD else EVIL_NS
    if slow and contender == GOOD:
        made_up_ns *= BRISK
    return factor * (measured_ns if slow and contender == EVIL and measured_ns else made_up_ns)


def record_of(measured: Measured, planned: PlannedTrial, result: TrialResult, slow: bool) -> TrialRecord:
    """The record of a trial of a block."""
    plan, mean_ns = measured.plan, mean_of(measured, planned.contender, planned.block, slow)
    queue = result.starts.queue if planned.purpose and result.starts is not None else None
    result = paced(result, mean_ns, planned.load_step.sessions(plan.settings.sessions_per_client), queue)
    record = to_record(planned, "2026-11-20T10:00:00.000+00:00", result, plan.error_limit, None, run_part(plan.kind))
    return replace(record, id=planned.order + 1, marks=tuple(m for m in record.marks if m not in OF_MACHINES))


def run_of(measured: Measured, trials: Sequence[TrialRecord], searches: Sequence[SearchRecord]) -> RunRecord:
    """The record of a run of these trials."""
    plan = measured.plan
    return RunRecord(
        path=Path("cell.bakeoff"),
        schema_version=1,
        name=plan.name,
        suite=plan.suite,
        kind=plan.kind,
        plan=plan.to_dict(),
        plan_hash=plan.hash,
        created_at="2026-11-20T10:00:00.000+00:00",
        finished_at="2026-11-20T12:00:00.000+00:00",
        tool={"version": "0"},
        environment=measured.environment,
        contenders=tuple(ContenderRecord(c.name, c.address, c.reset) for c in plan.contenders),
        load_steps=plan.load_steps,
        blocks_planned=plan.blocks,
        delta=plan.delta,
        null_operations_per_s=None,
        trials_planned=len(trials),
        trials=tuple(trials),
        events=(),
        searches=tuple(searches),
    )


# How often a trial is made in which a client was kept waiting.
TRIES = 4
# What trials are marked with because of this machine's speed.
OF_MACHINES = ("generator-limited", "generator-waited", "behind-schedule", "near-generator-capacity", "link-limited")


def paced(
    result: TrialResult, mean_ns: float, sessions: int | None, queue: tuple[int, ...] | None = None
) -> TrialResult:
    """A result with its counts, whose operations took `mean_ns` on average; `sessions` were always busy, where that is
    known. Of a rate every start was in time.
    """
    result = _in_time(result) if queue is None else result
    tried = result.operations + result.errors_total
    window_s = result.window_s if sessions is None or not tried else tried * mean_ns / 1e9 / sessions
    quiet = {"disturbances": None, "run_delay_share": 0.0, "cpu_share": 0.1, "busy_share": None, "late_start": NONE}
    return result.model_copy(
        update={
            "window_s": window_s,
            "elapsed_s": window_s,
            "service": _times(result.service, mean_ns),
            "response": None if result.response is None else _times(result.response, mean_ns),
            "per_operation": tuple(
                replace(part, service=_times(part.service, mean_ns)) for part in result.per_operation
            ),
            "steps": (),
            "others": None,
            "per_second": (),
            "per_client": _evenly(result.per_client, window_s),
            "workload": _lasting(result.workload, window_s, is_rate=result.starts is not None),
            "generator": result.generator.model_copy(update=quiet),
        }
    )


NONE = EMPTY_SUMMARY
# Figures of made-up times over their mean.
SHAPE = {"mean": 1.0, "min": 0.5, "p50": 0.9, "p95": 1.5, "p99": 2.0, "p999": 3.0, "max": 4.0}


def _times(times: Summary, mean_ns: float) -> Summary:
    if not times.count:
        return times
    return Summary(times.count, **{f"{name}_ns": round(mean_ns * factor) for name, factor in SHAPE.items()})


def _evenly(clients: Sequence[ClientRecord], window_s: float) -> tuple[ClientRecord, ...]:
    """What clients did in trials as short as these, as it would be in longer ones: who was served at all, was served
    like the others.
    """
    served = [one for one in clients if one.operations]
    counts = [sum(one.operations for one in served) + index for index in range(len(served))]
    shares = {one.client: count // len(served) for one, count in zip(served, counts, strict=True)}
    return tuple(replace(one, busy_s=window_s, operations=shares.get(one.client, 0)) for one in clients)


def _lasting(workload: dict[str, Any] | None, window_s: float, is_rate: bool) -> dict[str, Any] | None:
    """The kind's own figures with its own clock at the made-up time, and the flow of mail in it."""
    if not workload:
        return workload
    made_up: dict[str, Any] = {"test_duration_s": window_s} if "test_duration_s" in workload else {}
    if workload.get("flow") and not is_rate and window_s > 0.0:
        made_up["flow"] = {**workload["flow"], **_flow_in(workload, window_s)}
    return {**workload, **made_up}


def _flow_in(workload: Mapping[str, Any], window_s: float) -> dict[str, float]:
    """Messages a second where all were accepted evenly over the window: those that were not visible for so long, as
    that was measured, came after it.
    """
    flow, after = workload["flow"], workload["visible"]["after"]
    hidden_s = (after["p50_ns"] or 0) / 1e9
    in_time = max(0.0, 1.0 - hidden_s / window_s)
    return {
        "accepted_per_s": flow["accepted"] / window_s,
        "delivered_per_s": in_time * flow["delivered"] / window_s,
        "delivered_at_last_per_s": flow["delivered_at_last"] / window_s,
        "read_per_s": in_time * flow["read"] / window_s,
    }


def hurried(result: TrialResult, like: TrialResult) -> TrialResult:
    """A trial of mail in which twice as many messages are accepted a second as in another, and of these as many
    delivered as were; or in which every cell is twice as fast.
    """
    result = _cells_hurried(result, like)
    flow, other = ((one.workload or {}).get("flow") for one in (result, like))
    if not flow or not other or not flow.get("accepted_per_s"):
        return result
    factor = GOOD_NS / EVIL_NS * other["accepted_per_s"] / flow["accepted_per_s"]
    faster = {name: value * factor for name, value in flow.items() if name.endswith("_per_s") and value is not None}
    return result.model_copy(update={"workload": {**(result.workload or {}), "flow": {**flow, **faster}}})


def _doubled(cell: Mapping[str, Any], of: Mapping[str, Any]) -> dict[str, float]:
    """Twice the rates of a cell, as far as another has any."""
    names = [name for name in ("rate_kib_s", "ios_per_s") if of.get(name) and cell.get(name)]
    return {name: cell[name] * GOOD_NS / EVIL_NS for name in names}


def _cells_hurried(result: TrialResult, like: TrialResult) -> TrialResult:
    cells, others = ((one.workload or {}).get("cells") for one in (result, like))
    if not cells or not others:
        return result
    faster = [{**cell, **_doubled(other, cell)} for cell, other in zip(cells, others, strict=True)]
    return result.model_copy(update={"workload": {**(result.workload or {}), "cells": faster}})


def _in_time(result: TrialResult) -> TrialResult:
    if result.starts is None:
        return result
    offered = result.operations + result.errors_total
    starts = {"offered": offered, "started": offered, "never_started": 0, "answered": result.operations, "ran_out": 0}
    return result.model_copy(
        update={"starts": replace(result.starts, **{**starts, "queue": (), "fates": None, "late": NONE})}
    )
