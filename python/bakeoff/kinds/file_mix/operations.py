"""The file operations of the mix: how many there were of each, and how long they took at each contender."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bakeoff.core.thresholds import P99_OPERATIONS
from bakeoff.core.times import ms_of
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.blocks.zeros import without_zeros
from bakeoff.report.layout.context import Context, geometric_mean
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import Summary

HEADS = ("count", "mean ms", "p50 ms", "p99 ms", "failed")


@report_section("mix-operations", detail=Detail.COMPARISON, after="caches")
def section(context: Context) -> Section | None:
    """A table at the highest load in the open, those of the others folded."""
    loads = [load_step for load_step in reversed(context.comparison.run.load_steps) if _names(context, load_step)]
    if not loads:
        return None
    first, *others = loads
    blocks: list[Block] = [_table(context, first, folded=False)]
    if others:
        blocks.append(Text(f"The same at {wording.several(tuple(reversed(others)))} is in the full edition."))
        blocks += [_table(context, load_step, folded=True) for load_step in others]
    return Section("Operations of the mix", tuple(blocks))


def _names(context: Context, load_step: LoadStep) -> list[str]:
    """Those that any contender was asked for, the most frequent first."""
    counts: dict[str, int] = {}
    for name in context.names:
        for trial in context.at(name, load_step):
            for operation in trial.per_operation:
                counts[operation.name] = counts.get(operation.name, 0) + operation.operations
    return sorted(counts, key=lambda operation: -counts[operation])


def _table(context: Context, load_step: LoadStep, folded: bool) -> Table:
    columns = [Column("Operation", numeric=False)]
    for name in context.names:
        columns += [Column(head, group=name, spare=1 if head == "failed" else 0) for head in HEADS]
    rows = tuple(
        (operation, *(text for name in context.names for text in _figures(context.at(name, load_step), operation)))
        for operation in _names(context, load_step)
    )
    note = (
        "Count and mean of all blocks together; percentiles of each trial's own histogram, geometric mean over blocks. "
        f"With fewer than {P99_OPERATIONS} of an operation in some block there is no p99: `max` is the longest of all."
    )
    caption = f"Operations at {load_step.words}"
    detail = Detail.PAGE if folded else Detail.COMPARISON
    return without_zeros(Table(caption, tuple(columns), rows, note, folded, detail), ("failed",), "Of these operations")


def _figures(trials: Sequence[TrialRecord], name: str) -> tuple[str, ...]:
    measured = [operation for trial in trials for operation in trial.per_operation if operation.name == name]
    if not measured:
        return (wording.MISSING,) * len(HEADS)
    times = [operation.service for operation in measured]
    timed = sum(one.count for one in times)
    mean_ns = sum((one.mean_ns or 0.0) * one.count for one in times) / timed if timed else math.nan
    p50_ns = geometric_mean([one.p50_ns for one in times])
    failed = sum(sum(operation.errors.values()) for operation in measured)
    count = sum(operation.operations for operation in measured)
    return f"{count:,}", _ms(mean_ns), _ms(p50_ns), _p99(times), f"{failed:,}"


def _p99(times: Sequence[Summary]) -> str:
    if min(one.count for one in times) >= P99_OPERATIONS:
        return _ms(geometric_mean([one.p99_ns for one in times]))
    longest = max((one.max_ns or 0 for one in times), default=0)
    return f"max {_ms(longest)}" if longest else wording.MISSING


def _ms(time_ns: float) -> str:
    return wording.figures(ms_of(time_ns), 3)
