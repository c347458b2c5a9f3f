"""The figures that a kind of suite tells of its trials, as far as no other section has them."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any

from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.store.records.figures import Figures

# What general sections tell, and what is no figure of the contender.
SHOWN_FOR_ALL = frozenset(Figures.model_fields) | {"complete"}
MOST_ROWS = 200
Value = bool | float | str


@report_section("figures", in_full=True)
def section(context: Context) -> Section | None:
    """A row for each of them, at the load step where the fastest contender peaks."""
    load_step = context.peak_load_step()
    if load_step is None:
        return None
    figures = {name: _values(context, name, load_step) for name in context.names}
    rows = list(dict.fromkeys(figure for values in figures.values() for figure in values))
    if not rows:
        return None
    columns = (Column("Figure", numeric=False), *(Column(name) for name in context.names))
    cells = tuple((row, *(_shown(figures[name].get(row, [])) for name in context.names)) for row in rows[:MOST_ROWS])
    note = f"The first {MOST_ROWS} of {len(rows):,}." if len(rows) > MOST_ROWS else ""
    title = f"Other figures at {load_step.words}"
    words = "From the load generator, for each trial: mean over the blocks, with the least and the most."
    return Section("Other figures", (Text(words, explains=True), Table(title, columns, cells, note, folded=True)))


def _values(context: Context, name: str, load_step: LoadStep) -> dict[str, list[Value]]:
    """Each figure with its value in every trial of a contender at a load step."""
    elsewhere = SHOWN_FOR_ALL | context.kind.figures_shown
    values: dict[str, list[Value]] = {}
    for trial in context.at(name, load_step):
        for figure, value in _leaves(
            {key: value for key, value in trial.all_figures.items() if key not in elsewhere}, ""
        ):
            values.setdefault(figure, []).append(value)
    return values


def _leaves(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, Value]]:
    for key, value in table.items():
        name = f"{prefix}{key.replace('_', ' ')}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{name} · ")
        elif isinstance(value, list):
            yield f"{name} · entries", float(len(value))
        elif value is not None:
            yield name, value


def _shown(values: list[Value]) -> str:
    numbers = [float(value) for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if numbers and len(numbers) == len(values):
        ends = wording.rate(min(numbers)), wording.rate(max(numbers))
        span = f" ({ends[0]} – {ends[1]})" if ends[0] != ends[1] else ""
        return f"{wording.rate(fmean(numbers))}{span}"
    words = {True: "yes", False: "no"}
    texts = list(dict.fromkeys(words[value] if isinstance(value, bool) else f"{value}" for value in values))
    return texts[0] if len(texts) == 1 else f"{len(texts)} different" if texts else wording.MISSING
