"""Each step of SMTP and POP3 with its percentiles, part of the mail section."""

from __future__ import annotations

from bakeoff.core.times import ms_of
from bakeoff.report.blocks.tree import Block, Column, Table
from bakeoff.report.layout.context import Context, geometric_mean
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import Summary

PARTS = {
    "connect": "until connected",
    "tls": "TLS handshake",
    "written": "until written",
    "first_byte": "to first byte",
    "transfer": "the rest",
}
# Of a body, the wait after its last byte is that for the server's word that it has the message.
REPLIES = {"smtp-body/first_byte": "final reply", "lmtp-body/first_byte": "first final reply"}


def steps_of_mail(context: Context) -> list[Block]:
    """One table, at the load step where the fastest contender peaks."""
    load_step = context.peak_load_step()
    if load_step is None:
        return []
    columns = [Column("Step", numeric=False)]
    titles = ("times", "mean ms", "p50 ms", "p95 ms", "p99 ms")
    columns += [Column(title, group=name) for name in context.names for title in titles]
    by_name = [_summaries(context.at(name, load_step)) for name in context.names]
    order = dict.fromkeys(step for summaries in by_name for step in summaries)
    rows = [
        (_title(step), *(cell for summaries in by_name for cell in _cells(summaries.get(step, [])))) for step in order
    ]
    title = f"Steps at {load_step.words}"
    note = "Successful steps in the windows of all blocks. Percentiles: geometric mean over the blocks."
    return [Table(title, tuple(columns), tuple(rows), note, folded=True)]


def _summaries(trials: tuple[TrialRecord, ...]) -> dict[str, list[Summary]]:
    """Summaries of each step that was done, each followed by those of its parts."""
    summaries: dict[str, list[Summary]] = {}
    for operation in (operation for trial in trials for operation in trial.per_operation):
        if operation.service.count:
            summaries.setdefault(operation.name, []).append(operation.service)
    for step in (step for trial in trials for step in trial.steps):
        if "/" in step.name and step.summary.max_ns:
            summaries.setdefault(step.name, []).append(step.summary)
    order = list(summaries)
    return dict(sorted(summaries.items(), key=lambda item: (_place(item[0], order), order.index(item[0]))))


def _place(name: str, order: list[str]) -> int:
    step = name.partition("/")[0]
    return order.index(step) if step in order else len(order)


def _title(name: str) -> str:
    step, _, part = name.partition("/")
    return f"{step}: {REPLIES.get(name) or PARTS.get(part, part)}" if part else step


def _cells(summaries: list[Summary]) -> list[str]:
    count = sum(summary.count for summary in summaries)
    if not count:
        return [wording.MISSING] * 5
    mean_ns = sum((summary.mean_ns or 0.0) * summary.count for summary in summaries) / count
    percentiles = [[getattr(s, key) for s in summaries] for key in ("p50_ns", "p95_ns", "p99_ns")]
    return [f"{count:,}", *(wording.figures(ms_of(value)) for value in (mean_ns, *map(geometric_mean, percentiles)))]
