"""Runs over time as a report: for each plan its changes, a chart of levels, one of ratios, and its runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bakeoff.compare.collections.history_model import History, PlanHistory, RunPoint, Series
from bakeoff.report.blocks.tree import Block, Chart, Column, Report, Section, Severity, SeverityText, Table, Text
from bakeoff.report.charts.axes import Amounts, Moments, Ratios
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import Row, known
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.history import cause_sentence, change_sentence, day, summary, who
from bakeoff.report.narrate.sentences import sentence

ABSENT = wording.MISSING
# Of a plan with more runs the table has the newest.
MOST_ROWS = 200
RULE = (
    "A level changes where three runs or more differ from those before by Student's t test at 1 % after Bonferroni, "
    "and by 1 % or more; PELT proposes the places. Of 100 steady series about one shows a change. Runs that follow "
    "each other in mood, as on a shared machine, show one more often: look at the ratio of two contenders then."
)


def compose(found: History) -> Report:
    """The page of a history."""
    worse = any(not change.is_better for plan in found.plans for one in plan.levels for change in one.changes)
    changed = any(one.changes for plan in found.plans for one in (*plan.levels, *plan.ratios))
    severity: Severity = "warning" if worse else "good" if found.plans else "warning"
    return Report(
        title="History",
        subtitle=wording.names([plan.name for plan in found.plans[:3]]) or "no runs",
        verdict="Changed" if changed else "No change found" if found.plans else "No runs",
        severity=severity,
        headline=(summary(found),),
        severities=(severity,),
        sections=tuple(_sections(found)),
        facts=(("Runs", f"{sum(len(plan.runs) for plan in found.plans):,}"), ("Plans", f"{len(found.plans):,}")),
        contenders=tuple(dict.fromkeys(one.contender for plan in found.plans for one in plan.levels)),
    )


def _sections(found: History) -> Iterator[Section]:
    several = [plan for plan in found.plans if len(plan.runs) > 1]
    for at, plan in enumerate(several):
        yield Section(_title(plan), tuple(_plan(plan)), f"plan-{at + 1}")
    if single := [plan for plan in found.plans if len(plan.runs) == 1]:
        columns = (Column("Plan", False), Column("Began (UTC)", False), Column("File", False))
        rows = tuple((_title(plan), day(plan.runs[0].began_at), plan.runs[0].path) for plan in single)
        note = "Runs of one plan have the same suite, load and settings: bakeoff run RUN.bakeoff measures again by it."
        table = Table("Plans with one run", columns, rows, note, detail=Detail.SUMMARY)
        yield Section("Plans with one run", (table,), "single")
    if found.left_out:
        yield Section("Files left out", (_left_out(found),), "left-out")
    if found.plans:
        yield Section("How changes are found", (Text(RULE, explains=True),), "rule")


def _left_out(found: History) -> Table:
    columns = (Column("File", False), Column("Why it is left out", False))
    rows = tuple((one.path, sentence(one.reason)) for one in found.left_out)
    return Table("Files left out", columns, rows, detail=Detail.SUMMARY)


def _title(plan: PlanHistory) -> str:
    return f"{plan.name}, {wording.load_steps(plan.load_steps)}" if plan.load_steps else plan.name


def _plan(plan: PlanHistory) -> Iterator[Block]:
    for series in (*plan.levels, *plan.ratios):
        for change in series.changes:
            text = change_sentence(plan, series, change)
            advice = cause_sentence(plan, change)
            yield Text(text, "plain" if change.is_better else "warning", advice, detail=Detail.SUMMARY)
    yield _levels(plan)
    names = tuple(one.contender for one in plan.levels)
    yield _chart(plan, "levels", plan.levels, names)
    if plan.ratios:
        yield _chart(plan, "ratios", plan.ratios, names)
    yield _runs(plan)


def _chart(plan: PlanHistory, what: str, of: Sequence[Series], names: Sequence[str]) -> Chart:
    is_ratio = bool(of[0].baseline)
    title = f"{plan.title}, ratio to {of[0].baseline}" if is_ratio else plan.title
    rows = [row for one in of for row in _rows(plan, one, "ratio" if is_ratio else "value")]
    guides = {"changes": [{"at": plan.runs[change.run].began_at} for one in of for change in one.changes]}
    down = Ratios("ratio") if is_ratio else Amounts(plan.unit)
    note = "a point for each run; lines break where the level changed; hollow: left out of the level"
    drawing = lines(rows, names, Moments("UTC"), down, (title, note), guides=guides if guides["changes"] else None)
    return Chart(f"{what}-{plan.suite}", title, f"{title} over {len(plan.runs)} runs: {note}.", drawing, _runs(plan))


def _rows(plan: PlanHistory, series: Series, field: str) -> Iterator[Row]:
    ends = [change.run for change in series.changes]
    for point in series.points:
        if math.isnan(point.centre):
            continue
        yield {
            "contender": series.contender,
            "at": plan.runs[point.run].began_at,
            field: known(point.centre),
            "low": known(point.low),
            "high": known(point.high),
            "whole": point.left_out is None,
            "segment": f"{series.contender} {sum(end <= point.run for end in ends)}",
        }


def _levels(plan: PlanHistory) -> Table:
    """Where each contender stands now, against its first level."""
    unit = plan.unit
    columns = (
        Column("Contender", False),
        Column("Runs"),
        Column("Left out"),
        Column(f"Newest level, {unit}"),
        Column("Changes"),
        Column("Course", False),
    )
    rows = []
    for one in (*plan.levels, *plan.ratios):
        level = wording.ratio(one.level) if one.baseline else wording.figures(one.level)
        counts = (len(one.points) - len(one.counted), len(one.changes))
        out, changes = (f"{number:,}" if number else ABSENT for number in counts)
        rows.append((who(one), f"{len(one.points):,}", out, level, changes, _course(one.points)))
    first, last = plan.runs[0].began_at, plan.runs[-1].began_at
    title = f"{_title(plan)}: {len(plan.runs):,} runs, {day(first)[:10]} to {day(last)[:10]}"
    return Table(title, columns, tuple(rows), detail=Detail.SUMMARY)


def _course(points: Sequence[RunPoint]) -> str:
    """The last values as bars from the least to the greatest; a dot is a run without one."""
    bars = "▁▂▃▄▅▆▇█"
    last = points[-24:]
    logs = [math.log(p.centre) for p in last if p.left_out is None]
    if len(logs) < 2:
        return ABSENT
    low, span = min(logs), (max(logs) - min(logs)) or 1.0
    return "".join(
        "·" if p.left_out is not None else bars[min(7, int(8 * (math.log(p.centre) - low) / span))] for p in last
    )


def _runs(plan: PlanHistory) -> Table:
    columns = (
        Column("Began (UTC)", False),
        Column("Blocks"),
        Column("Failed or voided trials"),
        *(Column(f"{one.contender}, {plan.unit}") for one in plan.levels),
        *(Column(who(one)) for one in plan.ratios),
        Column("File", False, spare=1),
        Column("Left out of the level", False, spare=2),
    )
    series = (*plan.levels, *plan.ratios)
    by_run = [{point.run: point for point in one.points} for one in series]
    rows = []
    for at, run in list(enumerate(plan.runs))[-MOST_ROWS:]:
        cells = [
            _cell(points.get(at), at, one) for points, one in zip(by_run, (*plan.levels, *plan.ratios), strict=True)
        ]
        out = [
            f"{one.contender}: {sentence(point.left_out)}"
            for points, one in zip(by_run, plan.levels, strict=False)
            if (point := points.get(at)) is not None and point.left_out is not None
        ]
        bad = f"{run.trials_bad:,} of {run.trials:,}" if run.trials_bad else ABSENT
        rows.append((day(run.began_at), f"{run.blocks:,}", bad, *cells, run.path, "; ".join(out)))
    left = len(plan.runs) - len(rows)
    note = f"{wording.plural(left, 'older run')} not shown; --json has all." if left else ""
    return Table("Runs", columns, tuple(rows), note)


def _cell(point: RunPoint | None, at: int, of: Series) -> str:
    if point is None or math.isnan(point.centre):
        return ABSENT
    text = wording.ratio(point.centre) if of.baseline else wording.figures(point.centre)
    change = next((change for change in of.changes if change.run == at), None)
    if point.left_out is not None:
        return f"({text})"
    return text if change is None else SeverityText(text, "good" if change.is_better else "bad")
