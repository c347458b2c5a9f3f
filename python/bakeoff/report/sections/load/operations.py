"""Single operations: their figures at the peak, and what differs at single load steps (exploratory)."""

from __future__ import annotations

import math

from bakeoff.compare.model.pair import PairComparison
from bakeoff.core.times import ms_of
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.layout.context import Context, geometric_mean
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import TrialRecord

SHOWN = 24
# Operations in the table of all.
MOST = 200


@report_section("operations", in_full=True)
def section(context: Context) -> Section | None:
    """Each operation by itself at the load step where the fastest contender peaks, and the cells that stand out under
    Benjamini–Hochberg, largest first.
    """
    apart = _apart(context)
    pairs = [pair for pair in context.comparison.pairs if pair.exploratory.tested]
    if not pairs:
        return Section("Single operations", tuple(apart)) if apart else None
    blocks: list[Block] = [
        *apart,
        Text(
            f"Exploratory: mean and p99 of the {_time(context)} of every operation at every load step. Of the cells "
            "found, about one in twenty is "
            "expected to be chance (Benjamini–Hochberg, q = 0.05); the intervals allow for the picking."
        ),
    ]
    for pair in pairs:
        blocks += _pair(context, pair)
    return Section("Single operations (exploratory)", tuple(blocks))


def _apart(context: Context) -> list[Block]:
    """Rate, times and failures of each operation; nothing where another section has them, or there is only one."""
    load_step = context.peak_load_step()
    if load_step is None or context.kind.tells_operations or context.comparison.cells:
        return []
    trials = {name: context.at(name, load_step) for name in context.names}
    operations = list(dict.fromkeys(o.name for at_peak in trials.values() for t in at_peak for o in t.per_operation))
    if len(operations) < 2:
        return []
    titles = ("1/s", "mean ms", "p50 ms", "p99 ms", "failed")
    columns = [Column("Operation", numeric=False)]
    columns += [Column(title, group=name) for name in context.names for title in titles]
    rows = tuple(
        (operation, *(cell for name in context.names for cell in _cells(trials[name], operation)))
        for operation in operations[:MOST]
    )
    note = "All blocks together. Percentiles: geometric mean over the blocks."
    if context.is_open_loop:
        note += " Times are service times, from the sending on."
    if len(operations) > MOST:
        note = f"The first {MOST} of {len(operations):,}. {note}"
    return [Table(f"Operations at {load_step.words}", tuple(columns), rows, note, folded=True)]


def _time(context: Context) -> str:
    """What is measured of single operations: from the sending on, which at rates is not the response time."""
    return "service time" if context.is_open_loop else "response time"


def _cells(trials: tuple[TrialRecord, ...], operation: str) -> tuple[str, ...]:
    measured = [(t.window_s, o) for t in trials for o in t.per_operation if o.name == operation]
    if not measured:
        return (wording.MISSING,) * 5
    times = [o.service for _, o in measured]
    count, window_s = sum(o.operations for _, o in measured), sum(trial.window_s for trial in trials)
    timed = sum(one.count for one in times)
    mean_ns = sum((one.mean_ns or 0.0) * one.count for one in times) / timed if timed else math.nan
    percentiles = [geometric_mean([getattr(one, key) for one in times]) for key in ("p50_ns", "p99_ns")]
    failed = sum(sum(o.errors.values()) for _, o in measured)
    rate = count / window_s if window_s > 0.0 else math.nan
    return (wording.figures(rate), *(wording.figures(ms_of(ns)) for ns in (mean_ns, *percentiles)), f"{failed:,}")


def _pair(context: Context, pair: PairComparison) -> list[Block]:
    cells, tested = pair.exploratory.found, pair.exploratory.tested
    text = Text(f"{pair.contender} ÷ {pair.baseline}: {len(cells)} of {tested} cells differ.")
    if not cells:
        return [text]
    columns = (
        Column("Operation", numeric=False),
        Column(context.load_step_title),
        Column("Figure", numeric=False),
        Column("Ratio"),
        Column("Interval"),
        Column("Blocks"),
        Column("q"),
    )
    rows = tuple(
        (
            cell.operation,
            f"{cell.load_step}",
            f"{cell.metric} {_time(context)}",
            wording.ratio(cell.ratio, cell.low, cell.high),
            wording.interval(cell.low, cell.high),
            f"{cell.blocks}",
            wording.probability(cell.q),
        )
        for cell in cells[:SHOWN]
    )
    rest = (
        f"The {SHOWN} largest of {len(cells)}; all are in the data embedded in this page." if len(cells) > SHOWN else ""
    )
    return [
        text,
        Table(f"Largest differences, {pair.contender} ÷ {pair.baseline}", columns, rows, rest, folded=True),
    ]
