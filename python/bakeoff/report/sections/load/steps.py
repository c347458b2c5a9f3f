"""Where the time of an operation goes."""

from __future__ import annotations

from bakeoff.compare.metrics.time_breakdown import CLOSE, OTHER
from bakeoff.core.times import ms_of
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Chart, Column, Section, Table, Text
from bakeoff.report.charts.panels import shares
from bakeoff.report.charts.theme import Row
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import TrialRecord

TITLES = {
    "connect": "connect",
    "tls": "TLS handshake",
    "stream": "wait for a stream",
    "first_byte": "to first byte",
    "transfer": "transfer",
}
ORDER = tuple(TITLES)
# A remainder below this share of the mean gets no colour of its own.
SMALL = 0.005


@report_section("steps", fits=lambda context: not context.kind.splits_time(context))
def section(context: Context) -> Section | None:
    """Mean time of each step per operation, as shares of the whole, at each load step."""
    by_load_step = {
        (name, load_step): _means(context, context.at(name, load_step))
        for name in context.names
        for load_step in context.comparison.run.load_steps
    }
    steps = sorted({step for means in by_load_step.values() for step in means}, key=_rank)
    if not steps:
        return None
    rows: list[Row] = []
    for (name, load_step), means in by_load_step.items():
        whole = sum(means.values())
        for step, value in means.items():
            if whole > 0.0:
                rows.append(
                    {
                        "contender": name,
                        "load_step": str(load_step),
                        "step": _title(step),
                        "share": round(value / whole, 5),
                        "order": steps.index(step),
                    }
                )
    titles = [_title(step) for step in steps]
    spec = shares(
        rows,
        context.names,
        titles,
        context.comparison.run.load_steps,
        "share of the mean time",
        ("Where the time goes", "mean response time, mean over all blocks; milliseconds in the table"),
    )
    description = "Share of each step in the mean response time at each load step, one panel for each contender."
    chart = Chart(
        "chart-steps", "Where the time goes", description, spec, _table(context, by_load_step, steps), wide=True
    )
    return Section("Where the time goes", (Text(_note(context), explains=True), chart))


def _note(context: Context) -> str:
    if not context.run.planned.settings.keeps_connections:
        return (
            "Mean time per operation of each step. Every operation has a connection of its own: it begins with the "
            "connect and ends when the announced reply is complete. The disconnect follows aside and is in no response "
            "time and no rate" + _closes(context) + "."
        )
    return (
        "Mean time per operation of each step. With connections kept open, connecting is shared out over all the "
        "operations of a connection."
    )


def _closes(context: Context) -> str:
    """How long servers took to close as they had announced, where that was measured."""
    texts = []
    for name in context.names:
        steps = [s.summary for t in context.usable if t.contender == name for s in t.steps if s.name == CLOSE]
        count = sum(s.count for s in steps)
        if count:
            mean_ms = ms_of(sum((s.mean_ns or 0.0) * s.count for s in steps) / count)
            texts.append(f"{name} {wording.figures(mean_ms)} ms")
    return f"; from there to the server's close: {', '.join(texts)} on average" if texts else ""


def _rank(step: str) -> tuple[int, str]:
    return (ORDER.index(step) if step in ORDER else len(ORDER) + (step == OTHER), step)


def _title(step: str) -> str:
    return TITLES.get(step, step.replace("_", " "))


def _means(context: Context, trials: tuple[TrialRecord, ...]) -> dict[str, float]:
    """Milliseconds per operation of each step over `trials`, and the rest of the mean as "other"."""
    operations = sum(trial.operations for trial in trials)
    parts = next(iter(context.compared.time_breakdown(trials).values()), {})
    if not operations or not parts:
        return {}
    small = SMALL * sum(parts.values())
    return {name: ms_of(time_ns / operations) for name, time_ns in parts.items() if name != OTHER or time_ns > small}


def _table(context: Context, by_load_step: dict[tuple[str, LoadStep], dict[str, float]], steps: list[str]) -> Table:
    columns = (
        Column(context.load_step_title),
        *(Column(_title(step), group=name) for name in context.names for step in steps),
    )
    rows = tuple(
        (
            f"{load_step}",
            *(
                wording.figures(by_load_step[name, load_step].get(step, 0.0))
                for name in context.names
                for step in steps
            ),
        )
        for load_step in context.comparison.run.load_steps
    )
    return Table("Milliseconds per operation", columns, rows)
