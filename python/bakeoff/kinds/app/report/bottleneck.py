"""Where the bottleneck of an application server moves as clients are added."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bakeoff.compare.resources import telemetry_limits as limits
from bakeoff.core.times import ms_of
from bakeoff.kinds.app.compare.read_back import IMPOSSIBLE_SHARE
from bakeoff.kinds.app.figures import AppFigures, Server
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts.panels import shares
from bakeoff.report.charts.theme import Row
from bakeoff.report.layout.context import Context, geometric_mean
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures import telemetry
from bakeoff.store.records.run_records import TrialRecord

STEPS = ("network", "queue", "service")
KINDS = ("upload", "download", "processor", "read", "write")
STORAGE = ("read", "write")
# A step that takes more of the time than this decides.
MOST = 0.5
MEGABYTE = 1e6


@dataclass(frozen=True)
class _LoadStep:
    """Means over the trials of one contender at one load step: ms by step, what the server used, NaN where unknown."""

    steps: dict[str, float]
    cpu_share: float
    read_mb_per_s: float
    written_mb_per_s: float
    storage_share: float
    # Whether all processors of its machine were full, by whomever.
    is_full: bool

    @property
    def whole(self) -> float:
        return sum(self.steps.values())


@report_section("bottleneck", after="steps")
def section(context: Context) -> Section | None:
    """Network, queue and service time at each load step, and the server's processors and disk beside them."""
    load_steps = context.comparison.run.load_steps
    full = _full_processors(context)
    cells = [(name, load_step) for name in context.names for load_step in load_steps]
    by_cell = {cell: _load_step(context.at(*cell), cell in full) for cell in cells}
    known = {key: value for key, value in by_cell.items() if value is not None}
    if not known:
        return None
    rows: list[Row] = [
        {
            "contender": name,
            "load_step": str(load_step),
            "step": step,
            "share": round(value.steps[step] / value.whole, 5) if value.whole else 0.0,
            "order": order,
        }
        for (name, load_step), value in known.items()
        for order, step in enumerate(STEPS)
    ]
    spec = shares(
        rows,
        context.names,
        STEPS,
        load_steps,
        "share of the mean time",
        ("Where the time of a transaction goes", "as the server's replies account for it; milliseconds in the table"),
    )
    description = "Shares of network, queue and service time at each load step, one panel for each contender."
    chart = Chart(
        "chart-bottleneck", "Where the bottleneck moves", description, spec, _shares(context, rows), wide=True
    )
    blocks: list[Block] = [Text(text) for name in context.names if (text := _sentence(name, load_steps, known))]
    blocks += [chart, _table(context, known), *_kinds(context)]
    blocks.append(
        Text(
            "Queue: from the last byte of a request to the start of its service. Service: on a service thread. "
            "Network: the rest of what the client saw, with the time that requests wait unread in the server's "
            "sockets. Processors: as the server reports them for its own process. Disk: what the block device "
            "of its data segments really moved, for whomever; unknown behind memory and network file systems. Both "
            "inside the measured window."
        )
    )
    return Section("Where the bottleneck moves", tuple(blocks))


def _shares(context: Context, rows: list[Row]) -> Table:
    titles = ("Contender", context.load_step_title, "Step", "share")
    columns = tuple(Column(title, numeric=title in titles[1::2]) for title in titles)
    cells = tuple((row["contender"], row["load_step"], row["step"], f"{row['share']:.1%}") for row in rows)
    return Table("Shares of the mean time of a transaction", columns, cells)


def _full_processors(context: Context) -> set[tuple[str, LoadStep]]:
    """The contenders and load steps at which whoever watched the machine saw no processor time left."""
    resources = context.comparison.resources
    uses = resources.uses if resources is not None else ()
    return {(use.contender, use.load_step) for use in uses if use.bound in limits.FULL}


def _load_step(trials: tuple[TrialRecord, ...], is_full: bool) -> _LoadStep | None:
    steps = {step: _mean_ms(trials, step) for step in STEPS}
    if any(math.isnan(value) for value in steps.values()):
        return None
    if _unbelievable(trials):
        return None
    servers = [server for trial in trials if (server := trial.figures(AppFigures).server)]
    service = {kind: _total_ms(trials, f"{kind}/service") for kind in KINDS}
    whole = sum(service.values())
    return _LoadStep(
        steps=steps,
        cpu_share=_mean([s.cpu_share for s in servers]),
        read_mb_per_s=_mean([_rate(s, s.disk_read_bytes) for s in servers]),
        written_mb_per_s=_mean([_rate(s, s.disk_written_bytes) for s in servers]),
        storage_share=sum(service[kind] for kind in STORAGE) / whole if whole else 0.0,
        is_full=is_full,
    )


def _unbelievable(trials: tuple[TrialRecord, ...]) -> bool:
    """Whether the server's own times cannot be, in too many replies: what is left of them says nothing."""
    times = [trial.figures(AppFigures).times for trial in trials]
    return sum(one.impossible for one in times) > IMPOSSIBLE_SHARE * sum(one.told for one in times)


def _total_ms(trials: tuple[TrialRecord, ...], name: str) -> float:
    summaries = [step.summary for trial in trials for step in trial.steps if step.name == name]
    return ms_of(sum((s.mean_ns or 0.0) * s.count for s in summaries))


def _mean_ms(trials: tuple[TrialRecord, ...], name: str) -> float:
    """Mean over all transactions that tell the step; NaN when none does."""
    count = sum(step.summary.count for trial in trials for step in trial.steps if step.name == name)
    return _total_ms(trials, name) / count if count else math.nan


def _mean(values: list[float | None]) -> float:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else math.nan


def _rate(server: Server, moved_bytes: int | None) -> float | None:
    return moved_bytes / server.watched_s / MEGABYTE if server.watched_s and moved_bytes is not None else None


def _bound(load_step: _LoadStep) -> str:
    """What limits the rate at a load step, in words: by the rule for every suite as far as that goes, then by the step
    that takes most of the time.
    """
    if (
        what := limits.bound(load_step.cpu_share, math.nan, own_processors=load_step.cpu_share, processors=1)
    ) != limits.NOTHING:
        return telemetry.WORDS[what]
    stored = telemetry.WORDS[limits.DISK]
    if load_step.steps["queue"] >= MOST * load_step.whole:
        return stored if load_step.storage_share >= MOST else "bound by its service threads"
    if load_step.steps["service"] >= MOST * load_step.whole:
        return stored if load_step.storage_share >= MOST else "bound by its service time"
    if load_step.steps["network"] >= MOST * load_step.whole:
        # Who waits for a processor before it reads a request, or after it served one, does so in that step.
        return "bound by full processors, network or client" if load_step.is_full else "bound by network or client"
    return telemetry.WORDS[limits.NOTHING]


def _sentence(name: str, load_steps: tuple[LoadStep, ...], known: dict[tuple[str, LoadStep], _LoadStep]) -> str:
    """The way of the bottleneck over the load steps of one contender."""
    bounds = [
        (load_step, _bound(value)) for load_step in load_steps if (value := known.get((name, load_step))) is not None
    ]
    return telemetry.limit_sentence(name, bounds) if bounds else ""


def _table(context: Context, known: dict[tuple[str, LoadStep], _LoadStep]) -> Table:
    titles = (*(f"{step} ms" for step in STEPS), "processors %", "disk read MB/s", "disk written MB/s", "limit")
    columns = [Column(context.load_step_title)]
    columns += [Column(title, group=name) for name in context.names for title in titles]
    rows = []
    for load_step in context.comparison.run.load_steps:
        row = [f"{load_step}"]
        for name in context.names:
            value = known.get((name, load_step))
            row += _cells(value) if value is not None else [wording.MISSING] * len(titles)
        rows.append(tuple(row))
    return Table("Queue against service time, and what the server used", tuple(columns), tuple(rows))


def _cells(value: _LoadStep) -> list[str]:
    cells = [wording.figures(value.steps[step]) for step in STEPS]
    cells.append(wording.MISSING if math.isnan(value.cpu_share) else f"{value.cpu_share:.0%}")
    rates = (value.read_mb_per_s, value.written_mb_per_s)
    cells += [wording.MISSING if math.isnan(rate) else wording.figures(rate) for rate in rates]
    return [*cells, _bound(value)]


def _kinds(context: Context) -> list[Block]:
    """Each kind of request at the load step with the highest rate."""
    peak = context.peak_load_step()
    if peak is None:
        return []
    columns = [Column("Kind", numeric=False)]
    titles = ("1/s", "p50 ms", "p99 ms", "network ms", "queue ms", "service ms")
    columns += [Column(title, group=name) for name in context.names for title in titles]
    rows = []
    for kind in KINDS:
        cells = [cell for name in context.names for cell in _kind(context.at(name, peak), kind)]
        if any(cell != wording.MISSING for cell in cells):
            rows.append((kind, *cells))
    if not rows:
        return []
    return [Table(f"Kinds of request at {peak.words}", tuple(columns), tuple(rows))]


def _kind(trials: tuple[TrialRecord, ...], kind: str) -> list[str]:
    pairs = [(t, o) for t in trials for o in t.per_operation if o.name == kind and o.operations]
    if not pairs:
        return [wording.MISSING] * 6
    rate = sum(o.operations / t.window_s for t, o in pairs) / len(pairs)
    p50, p99 = (geometric_mean([getattr(o.service, name) for _, o in pairs]) for name in ("p50_ns", "p99_ns"))
    steps = [_mean_ms(trials, f"{kind}/{step}") for step in STEPS]
    return [wording.figures(value) for value in (rate, ms_of(p50), ms_of(p99), *steps)]
