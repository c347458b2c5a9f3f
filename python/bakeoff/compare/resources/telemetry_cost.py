"""Processor time for the work done: whose it is, and whether two contenders' can be compared."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.cube.forfeits import PairLogs
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.resources.telemetry_model import NoProcessorTime
from bakeoff.compare.resources.telemetry_window import growth, of_contender, of_generators
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.telemetry import where

CPU = "cpu"
ITSELF, MACHINE = "itself", "machine"
OWN = ("own_user_s", "own_system_s")
# What a machine does for somebody; what waits, is idle or was stolen is nobody's work.
WORKING = ("cpu_user_s", "cpu_system_s", "cpu_irq_s", "cpu_softirq_s")
PER = 1_000
UNWAITED = "own_unwaited"
# From so many a second on of processes that were seen and end without anybody waiting for them, most of what a server
# used may have gone unseen: those that live between two samples leave nothing.
UNWAITED_PER_S = 0.1


def scopes(run: RunRecord) -> Mapping[str, tuple[str, NoProcessorTime | None]]:
    """Of each contender that was watched whose processor time is known, and else why it is not."""
    trials = {c.name: [trial for trial in run.trials if trial.contender == c.name] for c in run.contenders}
    return {name: _scope(own) for name, own in trials.items() if any(of_contender(trial) for trial in own)}


def shares_machine(trial: TrialRecord) -> bool:
    """Whether the contender's machine sends the load, too."""
    seen = of_contender(trial)
    if seen is None:
        return False
    return any(_same_machine(seen.facts, other.facts) for other in of_generators(trial)) or _is_here(seen.source)


def _scope(trials: list[TrialRecord]) -> tuple[str, NoProcessorTime | None]:
    for trial in trials:
        seen = of_contender(trial)
        if seen is None or not seen.at_s:
            continue
        if all(name in seen.series for name in OWN):
            return ("", NoProcessorTime("unwaited")) if _unwaited_per_s(trials) >= UNWAITED_PER_S else (ITSELF, None)
        return ("", NoProcessorTime("shared")) if shares_machine(trial) else (MACHINE, None)
    return "", NoProcessorTime("unseen")


def _unwaited_per_s(trials: list[TrialRecord]) -> float:
    """How many processes a second were seen to end that nobody waited for; 0 where nobody knows."""
    watched = [seen for trial in trials if (seen := of_contender(trial)) is not None]
    known = [(ended, seen) for seen in watched if math.isfinite(ended := growth(seen, (UNWAITED,)))]
    window_s = math.fsum(seen.window_s[1] - seen.window_s[0] for _, seen in known)
    return math.fsum(ended for ended, _ in known) / window_s if window_s > 0.0 else 0.0


def _same_machine(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """By the number that a kernel gives itself when it starts; where an exporter does not tell that, by the host name:
    who has the name of another has no figure rather than one that is not its own.
    """
    known = "boot_id" if "boot_id" in one and "boot_id" in other else "host"
    return known in one and one[known] == other.get(known)


def _is_here(source: str) -> bool:
    """Who is asked at a loopback address is this machine, whatever it is called in a container."""
    try:
        place = where.parse(source)
    except ValueError:
        return False
    host = place.what.removeprefix("http://").split("/")[0]
    return place.sort == where.HTTP and host.startswith(("127.", "localhost", "[::1]"))


def seconds_per_1000(trial: TrialRecord, scope: str) -> float:
    """Processor seconds for 1,000 operations; NaN where the window was not seen, or nothing was counted."""
    seen = of_contender(trial)
    if seen is None or not scope or trial.operations <= 0:
        return math.nan
    series = OWN if scope == ITSELF else [name for name in WORKING if name in seen.series]
    used_s = growth(seen, series) if series else math.nan
    return PER * used_s / trial.operations if used_s > 0 else math.nan


def cost_metrics(run: RunRecord, cube: Cube) -> tuple[Metric, ...]:
    """Processor time as a metric, where at least two contenders were watched alike."""
    known = {name: scope for name, (scope, _) in scopes(run).items() if scope}
    values = list(known.values())
    if not any(values.count(scope) > 1 for scope in values):
        return ()

    def extract(trial: TrialRecord) -> float:
        return seconds_per_1000(trial, known.get(trial.contender, ""))

    def paired(cube: Cube, baseline: str, contender: str) -> PairLogs:
        below, above = (cube.values(extract)[cube.index(name)] for name in (baseline, contender))
        same_source = known.get(baseline) == known.get(contender) is not None
        # What a contender lost it did not work for: there is no such ratio, and no loss either.
        logs = np.log(above) - np.log(below) if same_source else np.full(below.shape, math.nan)
        none = np.zeros(logs.shape, dtype=bool)
        return PairLogs(logs, none, (none, none), math.nan)

    short = f"processor time for {PER:,} {cube.kind.work}"
    return (Metric(CPU, f"{short[0].upper()}{short[1:]}", "s", False, "log", extract, short, paired=paired),)
