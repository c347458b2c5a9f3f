"""Did all clients get their share?"""

from __future__ import annotations

from collections.abc import Callable

from bakeoff.compare import wording
from bakeoff.report.blocks import Chart, Column, Section, Table, Text
from bakeoff.report.charts import Row, known, ranges_by_mix
from bakeoff.report.context import Context
from bakeoff.store.records import TrialRecord


def section(context: Context) -> Section | None:
    """The least and the most served client of any trial, relative to the mean client of that trial; nothing for a
    client alone.
    """
    if context.comparison.run.mixes == (1,):
        return None
    rows: list[Row] = []
    cells = []
    for mix in context.comparison.run.mixes:
        line = [f"{mix}"]
        for name in context.names:
            trials = [trial for trial in context.at(name, mix) if trial.per_client and trial.operations]
            if not trials:
                line += [wording.MISSING] * 3
                continue
            low, high = min(_extreme(t, min) for t in trials), max(_extreme(t, max) for t in trials)
            jain = min(trial.fairness_jain for trial in trials)
            rows.append({"contender": name, "clients": str(mix), "low": known(low), "high": known(high)})
            line += [f"{low:.0%}", f"{high:.0%}", f"{jain:.4f}"]
        cells.append(tuple(line))
    if not rows:
        return None
    columns = [Column("Clients")]
    for name in context.names:
        columns += [
            Column("least", group=name),
            Column("most", group=name),
            Column("lowest Jain index", group=name),
        ]
    table = Table("Operations of a client, relative to the mean client of its trial", tuple(columns), tuple(cells))
    spec = ranges_by_mix(
        rows,
        context.names,
        context.comparison.run.mixes,
        "Least and most served client",
        "operations relative to the mean client; worst block",
    )
    description = "Range of operations over the clients of a trial, relative to the mean, at each mix."
    note = Text("A server can look fast by serving some clients and starving others. 100 % is an equal share.")
    chart = Chart("chart-fairness", "Fairness over clients", description, spec, table, wide=True)
    return Section("fairness", "Fairness", (note, chart))


def _extreme(trial: TrialRecord, pick: Callable[[list[int]], int]) -> float:
    counts = [client.operations for client in trial.per_client]
    mean = sum(counts) / len(counts)
    return float(pick(counts)) / mean if mean else 0.0
