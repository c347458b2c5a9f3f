"""Was the load generator fast enough to be believed?"""

from __future__ import annotations

import math
from dataclasses import replace

from bakeoff.compare.cube.cells import cells_of
from bakeoff.compare.metrics.metrics import peak_operations
from bakeoff.compare.validity.generator_capacity import GeneratorCapacity, generator_capacities, unmeasured_capacities
from bakeoff.core.thresholds import CAPACITY_FRACTION
from bakeoff.core.times import ms_of
from bakeoff.report.blocks.tree import Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Amounts, Loads
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.theme import known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.validity.client_options import client_option_words
from bakeoff.stats import mean_interval
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.marks import CONTROL_BUSY, GENERATOR_LIMITED, GENERATOR_WAITED
from bakeoff.store.records.run_records import TrialRecord

CELLS_NOTE = (
    "CPU: of the busiest load thread, with the file system's own work in the calls: a busy thread limits nothing. "
    "Waited: the largest share of a window that a load thread was ready and waited for a processor. "
    "Control: processor time of the process beside its load threads, at most."
)
HEADS = ("CPU %", "waited %", "µs/operation", "p99 lag ms", "limited", "control ms/s")


@report_section("generator", ReportPart.AUDITS)
def section(context: Context) -> Section:
    """The generator capacity, its processor use at each load step, and how late it was."""
    if context.run.imported_from is not None:
        return Section("The load generator", (Text(_not_stated(context.run.imported_from)),))
    texts = _generator_capacities(context)
    spec_rows, table_rows = [], []
    for load_step in context.comparison.run.load_steps:
        cells = [f"{load_step}"]
        for name in context.names:
            trials = context.at(name, load_step)
            interval = mean_interval([trial.generator_cpu_share * 100.0 for trial in trials])
            spec_rows.append(
                {
                    "contender": name,
                    "load_step": load_step.x,
                    "value": known(interval.centre),
                    "low": known(interval.low),
                    "high": known(interval.high),
                }
            )
            cells += _cells(trials, interval.centre)
        table_rows.append(tuple(cells))
    spec = lines(
        [row for row in spec_rows if row["value"] is not None],
        context.names,
        Loads(context.comparison.run.load_steps),
        Amounts("% of a processor", far=True),
        ("Processor use of the generator", "busiest load thread, mean over blocks, bars: 95 % interval"),
    )
    columns = [Column(context.load_step_title)]
    for name in context.names:
        columns += [Column(title, group=name) for title in HEADS]
    table = Table(
        "The generator at each load step",
        tuple(columns),
        tuple(table_rows),
        "CPU: of the busiest load thread. Waited: the largest share of a window that a load thread was ready and "
        "waited for a processor. Control: processor time of the process apart from its load threads. Limited: trials "
        "in which the generator, not the server, was the bottleneck.",
    )
    if context.cells_alone:
        return Section(
            "The load generator",
            (
                *texts,
                *_cost(context),
                *_waited(context),
                *_control(context),
                *_late(context),
                *_checked(context),
                replace(table, note=CELLS_NOTE),
            ),
        )
    description = f"Processor use of the load generator in percent at each number of {context.load_step_axis}."
    chart = Chart("chart-generator", "Processor use of the generator", description, spec, table)
    return Section(
        "The load generator",
        (
            *texts,
            *_cost(context),
            *_polled(context),
            *_waited(context),
            *_control(context),
            *_late(context),
            *_checked(context),
            chart,
        ),
    )


def _generator_capacities(context: Context) -> list[Text]:
    """The generator capacity of each way in which contenders were asked, and whose was not measured."""
    by_way: dict[GeneratorCapacity, list[str]] = {}
    for name, capacity in generator_capacities(context.run).items():
        by_way.setdefault(capacity, []).append(name)
    unmeasured = {name: why for name, why in unmeasured_capacities(context.run).items() if name in context.names}
    named = {name for names in by_way.values() for name in names} | unmeasured.keys()
    rest = [name for name in context.names if name not in named]
    if not by_way and not unmeasured:
        return [
            Text(
                "The generator's capacity was not measured: Bakeoff has no null server for this work. The use of its "
                "processors shows how near it was to its limit.",
                explains=True,
            )
        ]
    whole = len(by_way) == 1 and not rest and not unmeasured
    texts = [_generator_capacity(context, capacity, None if whole else names) for capacity, names in by_way.items()]
    texts += [
        Text(f"The generator's capacity for {name} could not be measured on this machine: {why}.")
        for name, why in unmeasured.items()
    ]
    if rest:
        texts.append(
            Text(
                f"The generator's capacity for {wording.names(rest)} was not measured: Bakeoff has no null server for "
                "these client options. The use of its processors shows how near it was to its limit there."
            )
        )
    return texts


def _cost(context: Context) -> list[Text]:
    """That the generator works more for one way of asking than for another."""
    words = client_option_words(context.comparison.client_options, context.words, context.names)
    if not words:
        return []
    return [
        Text(
            f"{words}: what an operation costs the generator differs with that, too (column µs/operation). Where its "
            "processors were busy, that cost is in the rates."
        )
    ]


def _generator_capacity(context: Context, capacity: GeneratorCapacity, names: list[str] | None) -> Text:
    """How much more the generator could have asked than the fastest contender answered, of those with these `names`."""
    run, info = context.run, context.comparison.run
    peaks = {c.name: peak_operations(run, info, c) for c in context.comparison.contenders}
    known = {name: peak for name, peak in peaks.items() if peak > 0.0 and (names is None or name in names)}
    machines = "this machine" if len(run.agents) < 2 else "these machines"
    of = "" if names is None else f", as {wording.names(names)} {'is' if len(names) == 1 else 'are'} asked"
    here = "here" if names is None else "with these client options"
    measured = (
        f"{wording.count(capacity.operations_per_s)} operations/s: capacity measured at the start of the run, against "
        f"the null server on loopback ({capacity.words}{of})"
    )
    if capacity.is_floor:
        return _floor(capacity, measured, machines, here, known)
    if not known:
        return Text(f"The generator itself could have asked at most {measured}.")
    fastest = max(known, key=lambda name: known[name])
    factor = capacity.operations_per_s / known[fastest]
    if factor < 1.0:
        return Text(
            f"{fastest} answered more than the {measured}. That server shared the processors of {machines}; the use of "
            "its processors shows how near the generator was to its limit.",
            "warning",
        )
    near = factor * CAPACITY_FRACTION < 1.0
    often = wording.figures(factor, 2)
    return Text(
        f"The generator itself could have asked {often} times as often on {machines} as {fastest}, the fastest {here}, "
        f"answered ({measured}).{f' That is near: {fastest} may be faster than shown.' if near else ''}",
        "warning" if near else "plain",
    )


def _floor(capacity: GeneratorCapacity, measured: str, machines: str, here: str, known: dict[str, float]) -> Text:
    """The same where the generator had more to give while it was measured: that is less than its limit, which nothing
    can be near to.
    """
    waited = (
        f"Its load threads worked for {wording.percent(capacity.busy_share or 0.0)} of that time. For the rest they "
        f"waited for that server, or for a processor of {machines}, which both share. Its limit is therefore higher; "
        "the use of its processors shows how near it was."
    )
    fastest = max(known, key=lambda name: known[name], default=None)
    factor = 0.0 if fastest is None else capacity.operations_per_s / known[fastest]
    if fastest is None or factor < 1.0:
        return Text(f"The generator itself could have asked more than {measured}. {waited}")
    return Text(
        f"The generator itself could have asked at least {wording.figures(factor, 2)} times as often on {machines} as "
        f"{fastest}, the fastest {here}, answered ({measured}). {waited}"
    )


def _polled(context: Context) -> list[Text]:
    """That load threads polled for replies instead of sleeping, where they did."""
    shares = [trial.figures(Figures).polled_share or 0.0 for trial in context.usable]
    if not any(shares):
        return []
    share = wording.percent(max(shares))
    return [
        Text(
            "The load threads polled for replies instead of sleeping until they came, so that no server paid for "
            f"waking them: up to {share} of their time. It is in the processor use below; by itself it limits nothing."
        )
    ]


def _waited(context: Context) -> list[Text]:
    """A warning when others took its processor."""
    waited = [trial for trial in context.usable if GENERATOR_WAITED in trial.marks]
    if not waited:
        return []
    share = wording.percent(max(trial.generator_run_delay_share or 0.0 for trial in waited))
    trials = f"{len(waited)} of {wording.plural(len(context.usable), 'trial')}"
    return [Text(f"The load generator waited up to {share} of its time for a processor in {trials}.", "warning")]


def _control(context: Context) -> list[Text]:
    """What watching took of the processors while trials were measured."""
    shares = [t.control_cpu_share for t in context.usable if t.control_cpu_share is not None]
    longest = [t.control_longest_s for t in context.usable if t.control_longest_s is not None]
    if not shares or not longest:
        return []
    busy = sum(CONTROL_BUSY in trial.marks for trial in context.usable)
    words = (
        "Samples, telemetry and the live line took up to "
        f"{wording.figures(1e3 * max(shares), 2)} ms of processor time a second of the window, in pieces of up to "
        f"{wording.figures(1e3 * max(longest), 2)} ms."
    )
    if busy:
        words += f" That may have delayed the load in {busy} of {wording.plural(len(context.usable), 'trial')}."
    return [Text(words, "warning" if busy else "plain")]


def _late(context: Context) -> list[Text]:
    """How late clients began, against the plan's spread of their starts."""
    late = [t.generator_late_start.p99_ns for t in context.usable if t.generator_late_start.p99_ns is not None]
    if not late:
        return []
    # Percentiles of trials have no common percentile: the worst of them is what holds for each.
    return [Text(f"In every trial 99 % of the starts were at most {wording.figures(ms_of(max(late)), 3)} ms late.")]


def _checked(context: Context) -> list[Text]:
    """What checking contents took, and what it does to sums over several clients."""
    cells = [(trial.load_step.clients, cell) for trial in context.usable for cell in cells_of(trial)]
    checking_s = math.fsum(cell.verify_s or 0.0 for _, cell in cells)
    if checking_s == 0.0:
        return []
    working_s = math.fsum(clients * (cell.elapsed_s or 0.0) for clients, cell in cells)
    share = wording.percent(checking_s / (checking_s + working_s))
    words = f"Contents were stamped and checked between transfers, outside all clocks: {share} of the clients' time."
    if max(clients for clients, _ in cells) > 1:
        words += (
            " While one client checks, the others have the server to themselves. The sum over clients can be up to "
            f"{wording.percent(checking_s / working_s)} above the true rate. `--no-verify` leaves the checks out."
        )
    return [Text(words)]


def _not_stated(tool: str) -> str:
    return f"Not stated: {tool} says neither how busy its machine was, nor what it can do at most."


def _cells(trials: tuple[TrialRecord, ...], share: float) -> list[str]:
    if not trials:
        return [wording.MISSING] * len(HEADS)
    cost = sum(t.generator_cpu_us_per_operation * t.operations for t in trials) / sum(t.operations for t in trials)
    lags = [t.generator_lag.p99_ns for t in trials if t.generator_lag.p99_ns is not None]
    lag = wording.figures(ms_of(max(lags)), 3) if lags else wording.MISSING
    limited = sum(GENERATOR_LIMITED in t.marks for t in trials)
    delays = [t.generator_run_delay_share for t in trials if t.generator_run_delay_share is not None]
    waited = wording.figures(100.0 * max(delays), 3) if delays else wording.MISSING
    took = [1e3 * t.control_cpu_share for t in trials if t.control_cpu_share is not None]
    control = wording.figures(max(took), 2) if took else wording.MISSING
    return [wording.figures(share, 3), waited, wording.figures(cost, 3), lag, f"{limited} of {len(trials)}", control]
