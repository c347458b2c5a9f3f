"""The office mix on a share: Mbit/s and mean response time against clients, and the working set touched."""

from __future__ import annotations

import math
from dataclasses import replace

from bakeoff.compare import wording
from bakeoff.kinds.file_mix import operations
from bakeoff.kinds.file_mix.compare import has_turns, mbit_per_s
from bakeoff.kinds.file_mix.figures import MixFigures, Spread, Turns
from bakeoff.mix import Mix
from bakeoff.report.blocks import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts import lines_with_intervals
from bakeoff.report.context import Context
from bakeoff.report.kind import ReportPart
from bakeoff.report.sections.curves import curve_chart, whole
from bakeoff.report.theme import known
from bakeoff.stats import MeanInterval, mean_interval, ratios_by_row
from bakeoff.store.marks import BEYOND_LINK
from bakeoff.store.records import TrialRecord
from bakeoff.units import format_duration


def section(context: Context) -> Section | None:
    """None without any usable trial."""
    if not context.usable:
        return None
    blocks: list[Block] = [_throughput(context), replace(curve_chart(context, "mean"), id="chart-mix-response")]
    turns = [turns for trial in context.usable if (turns := trial.figures(MixFigures).turns)]
    if turns:
        blocks.insert(0, Text(_turns(turns)))
    beyond = [trial for trial in context.usable if BEYOND_LINK in trial.marks]
    if beyond:
        blocks.insert(0, Text(_beyond(beyond), "warning"))
    if any(_touched(trial) is not None for trial in context.usable):
        blocks.append(_working_set(context))
    return Section("office-mix", "Throughput and response time of the mix", tuple(blocks))


def _turns(turns: list[Turns]) -> str:
    """What a turn is, and how long the rests really were."""
    rests = [turn.rest_ms for turn in turns if turn.rest_ms is not None]
    rested = f" (measured: {min(rests) / 1e3:.3g} – {max(rests) / 1e3:.3g} s)" if rests else ""
    size, pause = turns[0].bytes * 8 / 1e6, format_duration(turns[0].pause_s)
    return (
        f"Clients work in turns: calls of one application after another until {size:g} Mbit are moved, then a rest of "
        f"{pause}{rested}. Response times are those of turns, from the first call of one to its last; at each mix "
        "throughput × (response + rest) = size of a turn × clients, which Little's law audits."
    )


def _beyond(trials: list[TrialRecord]) -> str:
    """Which contenders cannot have sent what they delivered."""
    names = list(dict.fromkeys(trial.contender for trial in trials))
    link = max(trial.figures(MixFigures).link_bytes_per_s or 0.0 for trial in trials)
    return (
        f"In {wording.plural(len(trials), 'trial')} of {wording.names(names)} more was moved than the link carries "
        f"({8 * link / 1e6:,.0f} Mbit/s): a cache of the client served the rest, and its speed is not the server's."
    )


def _throughput(context: Context) -> Chart:
    mixes = context.comparison.run.mixes
    points = {(n, m): _mean(context, n, m) for n in context.names for m in mixes}
    rows = [
        {
            "contender": name,
            "mix": mix.x,
            "value": known(point.centre),
            "low": known(point.low),
            "high": known(point.high),
            "whole": whole(context, name, mix),
        }
        for (name, mix), point in points.items()
    ]
    most = max(point.blocks for point in points.values())
    interval = "bars: 95 % interval" if most > 1 else "one block: no interval"
    subtitle = f"mean over {wording.plural(most, 'block')}, {interval}"
    spec = lines_with_intervals(rows, context.names, mixes, "Mbit/s", "Throughput", subtitle)
    base = context.comparison.run.baseline
    others = [name for name in context.names if name != base]
    columns = [Column(context.mix_title), *(Column(f"{name}, Mbit/s") for name in context.names)]
    columns += [Column(f"{name} ÷ {base}") for name in others]
    lines = []
    for mix in mixes:
        cells = [_with_half(points[name, mix]) for name in context.names]
        lines.append((f"{mix}", *cells, *(_ratio(context, base, name, mix) for name in others)))
    table = Table(
        "Mbit/s (bytes read and written × 8 / 10⁶ / s), ± half of the 95 % interval", tuple(columns), tuple(lines)
    )
    text = f"Throughput in Mbit/s of {wording.names(list(context.names))} at each number of clients."
    return Chart("chart-mix-mbit", "Throughput", text, spec, table)


def _mean(context: Context, name: str, mix: Mix) -> MeanInterval:
    return mean_interval([mbit_per_s(trial) for trial in context.at(name, mix)])


def _with_half(point: MeanInterval) -> str:
    half = f" ± {wording.figures((point.high - point.low) / 2.0, 2)}" if point.blocks > 1 else ""
    return f"{wording.figures(point.centre)}{half}"


def _ratio(context: Context, base: str, name: str, mix: Mix) -> str:
    """Paired over the blocks that both have."""
    below = {trial.block: mbit_per_s(trial) for trial in context.at(base, mix)}
    logs = [
        math.log(mbit_per_s(trial) / below[trial.block])
        for trial in context.at(name, mix)
        if below.get(trial.block, 0.0) > 0.0 and mbit_per_s(trial) > 0.0
    ]
    if not logs:
        return wording.MISSING
    ratios = ratios_by_row([logs])
    ratio, low, high = float(ratios.ratio[0]), float(ratios.low[0]), float(ratios.high[0])
    return (
        f"{wording.ratio(ratio, low, high)} ({wording.interval(low, high)})" if len(logs) > 1 else wording.ratio(ratio)
    )


def _touched(trial: TrialRecord) -> Spread | None:
    spread = trial.figures(MixFigures).touched_bytes_per_client
    return spread if spread is not None and spread.mean is not None else None


def _working_set(context: Context) -> Table:
    """What a client touches must not depend on how many there are."""
    columns = [Column(context.mix_title)]
    for name in context.names:
        columns += [Column(title, group=name) for title in ("per client, MiB", "least – most", "in all, MiB")]
    rows = []
    for mix in context.comparison.run.mixes:
        cells = [f"{mix}"]
        for name in context.names:
            touched = [spread for trial in context.at(name, mix) if (spread := _touched(trial))]
            cells += _set(touched, mix)
        rows.append(tuple(cells))
    note = (
        "Distinct pages of files read or written in a trial, mean over blocks. It must not depend on the clients; in "
        "trials too short to go through the whole workspace, slower clients touch less of it."
    )
    return Table("Working set touched", tuple(columns), tuple(rows), note)


def _set(touched: list[Spread], mix: Mix) -> list[str]:
    if not touched:
        return [wording.MISSING] * 3
    mean = math.fsum(spread.mean or 0.0 for spread in touched) / len(touched) / 2**20
    least = min(spread.min or 0.0 for spread in touched) / 2**20
    most = max(spread.max or 0.0 for spread in touched) / 2**20
    return [
        wording.figures(mean),
        f"{wording.figures(least, 3)} – {wording.figures(most, 3)}",
        wording.figures(mean * mix.clients),
    ]


class FileMix(ReportPart):
    """See ReportPart. Its sections have the bytes and the operations already."""

    sections = (("caches", section), ("caches", operations.section))
    tells_operations = True
    rate_curves = ("operations",)
    figures_shown = frozenset({"turns", "link_bytes_per_s", "beyond_link", "touched_bytes", "touched_bytes_per_client"})

    def hides(self, context: Context) -> frozenset[str]:
        """A turn is many operations, and no part of one."""
        return frozenset({"steps"}) if any(has_turns(trial) for trial in context.usable) else frozenset()


PART = FileMix()
