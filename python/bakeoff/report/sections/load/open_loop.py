"""Open-loop load: what was offered, what was answered, and how long it took, side by side."""

from __future__ import annotations

from functools import partial

from bakeoff.compare.metrics.overload import is_overloaded, offered_per_s
from bakeoff.compare.model.comparison import CurvePoint, OverloadPoint
from bakeoff.core.times import ms_of
from bakeoff.load import open_loop
from bakeoff.load.load_step import LoadStep, Rate
from bakeoff.report.blocks.severity import verdict_cell
from bakeoff.report.blocks.tree import Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Amounts, Loads, Logs
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import known
from bakeoff.report.layout.context import Context, geometric_mean
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.rates import reach
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.sections.load.curves import curve_rows, whole
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import StartsRecord

# A rate in the window that is this close to the one of the plan goes by its name.
AS_NAMED = 0.05


@report_section("offered", detail=Detail.SUMMARY)
def section(context: Context) -> Section | None:
    """Curves against offered load, overload points, and the starts of every rate."""
    if not context.is_open_loop:
        return None
    blocks = (
        Text(_explained(context), explains=True),
        _answered(context),
        _times(context),
        _overload_table(context.comparison.overload_points),
        _starts(context),
    )
    return Section("Open-loop load", blocks)


def _explained(context: Context) -> str:
    rate, responds = context.comparison.run.load_steps[0], context.compared.responds
    how = f"{rate.arrivals.words}, on {rate.most_connections:,} connections at most" if isinstance(rate, Rate) else ""
    rates = [load_step.per_s for load_step in context.run.load_steps if isinstance(load_step, Rate)]
    return (
        f"Operations began when they were due, {how}, whether or not earlier ones were answered. Response time counts "
        f"from the planned start{f' and is that of {responds}' if responds else ''}; service time counts from the "
        f"sending. A contender is overloaded when it answers less than {wording.percent(open_loop.SUSTAINED_SHARE)} of "
        "what was offered, apart from operations under way at the edges of the window. Its queue then grows all "
        "through the window; a pause is no overload. An operation still open at the end of the window counts with its "
        f"wait so far.{f' {units}' if (units := context.comparison.run.unit.sentence(rates)) else ''}"
    )


def _answered(context: Context) -> Chart:
    info = context.comparison.run
    rows = curve_rows(context, context.curves("rate"), partial(_offered_at, context))
    title = f"{info.rate_unit[0].upper()}{info.rate_unit[1:]} answered"
    subtitle = "mean over blocks, bars: 95 % interval; grey: all that is offered"
    most = max([load_step.x for load_step in info.load_steps] + [row["load_step"] for row in rows])
    guides = {"all": [{"at": at, "value": at} for at in (0.0, most)]}
    down = Amounts("answered a second")
    spec = lines(rows, context.names, Loads(info.load_steps), down, (title, subtitle), guides=guides)
    description = f"{title} of {', '.join(context.names)} against the offered load."
    table = context.curve_table("rate")
    return Chart("chart-answered", title, description, spec, table, plain=_summary(context), detail=Detail.SUMMARY)


def _offered_at(context: Context, contender: str, load_step: LoadStep) -> float:
    """The rate that was offered in the windows, which factors of ramps and steps may take away from the mean."""
    offered = [offered_per_s(trial) for trial in context.at(contender, load_step)]
    return sum(offered) / len(offered) if offered else load_step.x


def _times(context: Context) -> Chart:
    rows = [
        {
            "contender": curve.contender,
            "load_step": point.load_step.x,
            "value": known(point.centre),
            "time": time,
            "whole": whole(context, curve.contender, point.load_step),
        }
        for time, metric in (("response", "p99"), ("service", "service_p99"))
        for curve in context.curves(metric)
        for point in curve.points
    ]
    title = "p99 of response time and of service time"
    subtitle = "bold: response, from the planned start; thin, with small marks: service, from the sending"
    across = Loads(context.comparison.run.load_steps)
    spec = lines(rows, context.names, across, Logs("ms"), (title, subtitle), bold="response")
    description = f"{title} of {', '.join(context.names)} at each offered rate."
    return Chart("chart-times", title, description, spec, _times_table(context), detail=Detail.COMPARISON)


def _times_table(context: Context) -> Table:
    metrics = {
        "service p50": "service_p50",
        "response p50": "p50",
        "response p95": "p95",
        "service p99": "service_p99",
        "response p99": "p99",
    }
    columns = [Column(context.load_step_unit)]
    columns += [Column(title, group=name) for name in context.names for title in metrics]
    curves = [context.comparison.curve(metric, name) for name in context.names for metric in metrics.values()]
    rows = tuple(
        (str(load_step), *(wording.figures(curve.points[index].centre) for curve in curves))
        for index, load_step in enumerate(context.comparison.run.load_steps)
    )
    return Table("Service and response time, ms", tuple(columns), rows, folded=True)


def _overload_table(each: tuple[OverloadPoint, ...]) -> Table:
    columns = (
        Column("Contender", numeric=False),
        Column("Sustained rate"),
        Column("Overloaded from"),
        Column("95 % interval"),
        Column("Blocks"),
    )
    rows = tuple(
        (
            point.contender,
            wording.MISSING if point.sustained_load_step is None else point.sustained_load_step.number,
            "none" if point.overload_load_step is None else point.overload_load_step.number,
            _interval(point),
            str(point.blocks),
        )
        for point in each
    )
    note = (
        "Offered a second: the lowest rate at which a contender was overloaded, the median over blocks, and the rate "
        "before it. The interval is one of order statistics; it knows only the rates that were tried."
    )
    return Table("Overload point of each contender", columns, rows, note, detail=Detail.DETAILS)


def _interval(point: OverloadPoint) -> str:
    if not point.interval:
        return wording.MISSING
    low, high = (
        "above all" if load_step is None else load_step.number
        for load_step in (point.low_load_step, point.high_load_step)
    )
    return f"{low} – {high}"


_TIMES = {"answered/s": "rate", "p50 ms": "p50", "p95 ms": "p95", "p99 ms": "p99", "of service": "service_p99"}


def _summary(context: Context) -> Table:
    """A row for each rate: what each contender answered and how long it took, and who is ahead by what decides."""
    comparison = context.comparison
    columns = [Column(context.load_step_unit)]
    for name in context.names:
        columns += [Column(title, group=name) for title in _TIMES]
    against = [pair for pair in comparison.pairs if pair.baseline == comparison.run.baseline]
    for pair in against:
        columns += [Column(f"{pair.contender} ÷ {pair.baseline}"), Column("verdict", numeric=False)]
    rows = []
    for index, load_step in enumerate(comparison.run.load_steps):
        row = [str(load_step) + _in_the_window(context, load_step)]
        for name in context.names:
            answered, *times = (comparison.curve(metric, name).points[index] for metric in _TIMES.values())
            row += [_figure(answered) + _share_overloaded(context, name, load_step), *map(_figure, times)]
        for pair in against:
            at = pair.curves[0].points[index]
            row += [reach(at.ratio, at.low, at.high, at.all_forfeited), verdict_cell(at)]
        rows.append(tuple(row))
    title = "offered and answered a second, p50, p95 and p99 of response time, p99 of service time (mean over blocks)"
    if against:
        decides = against[0].primary.title
        title += f"; ratios: {decides[0].lower()}{decides[1:]}"
    return Table(title, tuple(columns), tuple(rows), detail=Detail.SUMMARY)


def _in_the_window(context: Context, load_step: LoadStep) -> str:
    """ " (33.3 in the window)", where a ramp, steps or pauses offered something else there; else empty."""
    offered = [offered_per_s(trial) for name in context.names for trial in context.at(name, load_step)]
    mean = sum(offered) / len(offered) if offered else load_step.x
    return "" if abs(mean / load_step.x - 1.0) <= AS_NAMED else f" ({wording.figures(mean, 3)} in the window)"


def _figure(point: CurvePoint) -> str:
    return wording.figures(point.centre)


def _share_overloaded(context: Context, name: str, load_step: LoadStep) -> str:
    """ " (overloaded in 6 of 6)"; empty where it was in none."""
    trials = context.at(name, load_step)
    overloaded = sum(is_overloaded(trial, context.compared) for trial in trials)
    return f" (overloaded in {overloaded} of {len(trials)})" if overloaded else ""


_STARTS = (
    Column("offered"),
    Column("answered"),
    Column("failed"),
    Column("still open", spare=1),
    Column("never started", spare=1),
    Column("no idle connection", spare=2),
    Column("p99 of their wait, ms", spare=3),
    Column("connections", spare=2),
    Column("generator late, p99 ms", spare=4),
)


def _starts(context: Context) -> Table:
    """The counts of all usable trials of each contender at each rate, added up."""
    rows = []
    for load_step in context.comparison.run.load_steps:
        for name in context.names:
            trials = [trial for trial in context.at(name, load_step) if trial.starts is not None]
            rows.append((f"{load_step}: {name}", *_counts(trials)))
    note = (
        "Starts planned for the window, over all blocks. Each was answered or failed in the window, was still open at "
        "its end, or never started. Late: all connections were busy at its moment. Never started: still waiting at "
        "the end of the trial. A start that the generator delayed, with a connection idle, is named: that delay is in "
        "the response time but is not the server's."
    )
    columns = (Column(context.load_step_unit, numeric=False), *_STARTS)
    return Table("Starts", columns, tuple(rows), note, folded=True, detail=Detail.COMPARISON)


def _fates(trials: list[TrialRecord], starts: list[StartsRecord]) -> tuple[str, str, str]:
    """Answered, failed and still open, by the planned start; by the end where that is all that is known."""
    fates = [s.fates for s in starts if s.fates is not None]
    if len(fates) < len(starts):
        answered, failed = sum(s.answered for s in starts), sum(trial.errors_total for trial in trials)
        return wording.count(answered), wording.count(failed), wording.MISSING
    return (
        wording.count(sum(f.answered for f in fates)),
        wording.count(sum(f.failed for f in fates)),
        wording.count(sum(f.open for f in fates)),
    )


def _counts(trials: list[TrialRecord]) -> tuple[str, ...]:
    starts = [trial.starts for trial in trials if trial.starts is not None]
    waits = max((s.late.p99_ns for s in starts if s.late.p99_ns is not None), default=None)
    late = geometric_mean([trial.generator_late_start.p99_ns for trial in trials])
    return (
        wording.count(sum(s.offered for s in starts)),
        *_fates(trials, starts),
        wording.count(sum(s.never_started for s in starts)),
        wording.count(sum(s.ran_out for s in starts)),
        wording.MISSING if waits is None else wording.figures(ms_of(waits)),
        wording.count(max((s.connections_used for s in starts), default=0)),
        wording.figures(ms_of(late), 3),
    )
