"""Connections of web clients: how many were opened in the window, and how long connecting and receiving took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bakeoff.compare.cube.cube import why_unusable
from bakeoff.compare.estimate.intervals import shown
from bakeoff.compare.model.comparison import KindSummary
from bakeoff.core.times import ms_of
from bakeoff.load.load_step import Clients, InFlight, LoadStep
from bakeoff.stats import mean_interval
from bakeoff.store.records.run_records import RunRecord, TrialRecord

CONNECT, RECEIVE = "connect", "transfer"


@dataclass(frozen=True)
class ConnectionsAtLoadStep:
    """Connections of a contender at a load step: those `opened` in the windows of its usable trials for requests that
    ended well, as they were counted and not as requests imply them, `per_s` and of each client (`per_client_s`, mean
    over the blocks with its 95 % interval; null where a load has no fixed clients). `connect_ms` and `receive_ms`
    (first to last byte of a reply) are means. `failed` are connections that were not had, of whole trials with their
    ramps.
    """

    contender: str
    load_step: LoadStep
    blocks: int
    opened: int
    per_s: float
    per_client_s: float
    per_client_low: float
    per_client_high: float
    requests_each: float
    connect_ms: float
    receive_ms: float
    failed: int


@dataclass(frozen=True)
class WebSummary(KindSummary):
    """Connections at each load step; empty for runs that tell no steps of requests."""

    key: ClassVar[str] = "web"

    connections: tuple[ConnectionsAtLoadStep, ...]


def web_summary(run: RunRecord) -> WebSummary:
    """Of all usable trials."""
    usable = [trial for trial in run.trials if why_unusable(trial) is None and trial.steps]
    found = []
    for contender in run.contenders:
        for load_step in run.load_steps:
            if trials := [
                t for t in usable if t.contender == contender.name and t.load_step == load_step and t.window_s > 0.0
            ]:
                found.append(_at(contender.name, load_step, trials))
    return WebSummary(tuple(found))


def _at(name: str, load_step: LoadStep, trials: Sequence[TrialRecord]) -> ConnectionsAtLoadStep:
    rates = [_count(trial, CONNECT) / trial.window_s for trial in trials]
    clients = load_step.clients if isinstance(load_step, Clients | InFlight) else math.nan
    each = mean_interval([rate / clients for rate in rates])
    opened = sum(_count(trial, CONNECT) for trial in trials)
    return ConnectionsAtLoadStep(
        contender=name,
        load_step=load_step,
        blocks=len(trials),
        opened=opened,
        per_s=math.fsum(rates) / len(rates),
        per_client_s=each.centre,
        per_client_low=shown(each.low, each.blocks),
        per_client_high=shown(each.high, each.blocks),
        requests_each=sum(trial.operations for trial in trials) / opened if opened else math.nan,
        connect_ms=_mean_ms(trials, CONNECT),
        receive_ms=_mean_ms(trials, RECEIVE),
        failed=sum(trial.connections.get("failed", 0) for trial in trials),
    )


def _count(trial: TrialRecord, step: str) -> int:
    return sum(one.summary.count for one in trial.steps if one.name == step)


def _mean_ms(trials: Sequence[TrialRecord], step: str) -> float:
    """Over all that had the step; NaN where none had."""
    found = [one.summary for trial in trials for one in trial.steps if one.name == step and one.summary.count]
    count = sum(one.count for one in found)
    return ms_of(sum((one.mean_ns or 0.0) * one.count for one in found) / count) if count else math.nan
