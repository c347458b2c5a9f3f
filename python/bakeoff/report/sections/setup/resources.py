"""What the servers needed for their work, and what was at its limit."""

from __future__ import annotations

import math

from bakeoff.compare.resources.telemetry_cost import CPU, ITSELF, PER
from bakeoff.compare.resources.telemetry_model import (
    BusiestProcessor,
    LimitsSeen,
    MemoryPerConnection,
    Resources,
    ResourceUse,
    Swapped,
    WatchedContender,
)
from bakeoff.core.units import format_size
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, Table, Text
from bakeoff.report.charts.axes import Amounts, Loads
from bakeoff.report.charts.lines import lines
from bakeoff.report.charts.panels import shares
from bakeoff.report.charts.theme import Row
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.telemetry import WORDS, way
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.sections.setup.processors import processors_table

STATES = (
    ("user", "user_share"),
    ("system", "system_share"),
    ("interrupts", "irq_share"),
    ("waiting for a disk", "iowait_share"),
    ("stolen", "steal_share"),
)
# A disk that did less has no chart.
SHOWN_FROM = 0.05
NOTE = (
    "Means over the windows of trials. Processors, disk, network and pressure are those of the server's machine; own: "
    "processors that the server itself used. Busiest CPU: the one that worked most in a second, mean over the "
    "seconds, without time that a hypervisor took. Pressure: share of the time in which something waited for a "
    "processor, memory or a disk. Link: use of the fullest link, as a share of its stated speed, in the fuller "
    "direction. Overflows: connections of a trial that found the accept queue full. Processor time is time, not work: "
    "with hyperthreads a half-busy core does more in a second than a full one. Time that a hypervisor took is not "
    "counted. Interrupts that the kernel serves count for the machine alone."
)


@report_section("resources", detail=Detail.COMPARISON)
def section(context: Context) -> Section | None:
    """Sentences, charts of processors and disks over the load steps, the table, and what watching took."""
    found = context.comparison.resources
    if found is None:
        return None
    swapped: list[Block] = [_swapped(one) for one in found.swapped]
    if not found.watched:
        return Section("Resources", tuple(swapped)) if swapped else None
    blocks = [*swapped, *_limits(found), *_ratios(context), *_unavailable(context, found)]
    if found.uses:
        blocks += [
            _states(context, found),
            *_disks(context, found),
            *_tables(context, found),
            Text(sentence(found), explains=True),
        ]
    blocks += [Text(_memory(each)) for each in found.memory]
    blocks += [_watching(found), *_gaps(found)]
    return Section("Resources", tuple(blocks))


def _swapped(one: Swapped) -> Text:
    whose = f"The machine of {one.contender}" if one.contender else "A machine that sent load"
    pages = f"{one.in_pages:,.0f} pages read back, {one.out_pages:,.0f} written"
    windows = f"the windows of {one.trials} of {wording.plural(one.of, 'trial')}"
    text = f"{whose} swapped in {windows} ({pages}). A machine that swaps measures its disk."
    return Text(text, "warning", detail=Detail.COMPARISON)


def _limits(found: Resources) -> list[Block]:
    """What was at its limit of each contender, and how busy processors were at the load step where one was busiest."""
    busiest = {each.contender: each for each in found.processors}
    limits = {each.contender: each for each in found.limits}
    names = tuple(dict.fromkeys((*limits, *busiest)))
    if not names:
        return []
    rows = tuple((name, *_limit(limits.get(name)), *_busiest(busiest.get(name))) for name in names)
    titles = ("its own processor time", "busiest where", "busiest processor", "all processors", "highest mean of one")
    columns = (Column("Contender", False), Column("At its limit", False), *map(Column, titles))
    note = (
        "Its own: of all processor time, at most. Busiest processor: whichever worked most in a second, mean over the "
        "seconds; in each second another one may be the busiest."
    )
    if all(row[-1] == wording.MISSING for row in rows):
        rows, columns = tuple(row[:-1] for row in rows), columns[:-1]
    sharing = {name for name, one in limits.items() if one.shared}
    sharing |= {name for name, one in busiest.items() if one.shares_machine}
    shared = [name for name in names if name in sharing]
    if shared:
        note += f" {wording.names(shared)} {'shares' if len(shared) == 1 else 'share'} processors and disks with the "
        note += "load generator: what that needs is in these figures."
    return [Table("What is at its limit", columns, rows, note, detail=Detail.COMPARISON)]


def _limit(seen: LimitsSeen | None) -> tuple[str, str]:
    if seen is None:
        return wording.MISSING, wording.MISSING
    return way([(each.load_step, WORDS[each.bound]) for each in seen.bounds]), wording.percent(seen.own_share)


def _busiest(one: BusiestProcessor | None) -> tuple[str, ...]:
    if one is None:
        return (wording.MISSING,) * 4
    # The mean over all is no more than the highest of them: another share of time was told of it.
    highest = one.highest_share if one.highest_share >= one.processor_share else math.nan
    return one.load_step.words, *map(wording.percent, (one.share, one.processor_share, highest))


def _ratios(context: Context) -> list[Block]:
    """Processor time for the same work, pair by pair."""
    ends = [(pair, end) for pair in context.comparison.pairs for end in pair.secondary if end.metric == CPU]
    known = [(pair, end) for pair, end in ends if end.blocks]
    if not known:
        return []
    columns = (
        Column("Pair", numeric=False), Column("Ratio"), Column("95 % interval"), Column("Verdict", numeric=False),
        Column("Blocks"),
    )  # fmt: skip
    rows = tuple(
        (
            f"{pair.contender} ÷ {pair.baseline}",
            wording.ratio(end.ratio, end.low, end.high),
            wording.interval(end.low, end.high),
            sentence(end.verdict),
            f"{end.blocks}",
        )
        for pair, end in known
    )
    note = (
        "Below 1: the first needs less. Paired over blocks, mean over the load steps; only of contenders watched alike."
    )
    return [Table(known[0][1].title, columns, rows, note, detail=Detail.COMPARISON)]


def _unavailable(context: Context, found: Resources) -> list[Block]:
    """Whom nobody watched, whose figures cannot be compared, and who hides pressure."""
    watched = {each.contender: each for each in found.watched}
    unwatched = [name for name in context.names if name not in watched]
    scopes = {each.scope for each in found.watched if each.scope}
    texts = [
        f"No processor time is known of {each.contender}: {sentence(each.why_not)}."
        for each in found.watched
        if each.why_not is not None
    ]
    if unwatched:
        only = wording.names([name for name in context.names if name in watched])
        texts.append(f"Only {only} was watched: what {wording.names(unwatched)} needed is not known.")
    if len(scopes) > 1:
        own = wording.names([each.contender for each in found.watched if each.scope == ITSELF])
        texts.append(
            f"Processor time of {own} is that of its processes, of the others that of the whole machine: the two are "
            "not compared. Watch all in the same way."
        )
    blocks: list[Block] = [Text(text, "warning") for text in texts]
    if found.pressure_missing:
        names = wording.names(list(found.pressure_missing))
        blocks.append(
            Text(f"The machine of {names} has no figures of pressure: its kernel does not count it (CONFIG_PSI).")
        )
    return blocks


def _states(context: Context, found: Resources) -> Chart:
    rows: list[Row] = [
        {
            "contender": use.contender,
            "load_step": str(use.load_step),
            "step": state,
            "share": round(share, 5),
            "order": order,
        }
        for use in found.uses
        for order, (state, name) in enumerate(STATES)
        if math.isfinite(share := getattr(use, name))
    ]
    names, load_steps = context.names, context.comparison.run.load_steps
    steps = tuple(state for state, _ in STATES)
    title = "Processors by state"
    note = "of all processors of the machine, mean over trials; the rest to 100 % was idle"
    spec = shares(rows, names, steps, load_steps, "share of processor time", (title, note))
    columns = (
        Column("Contender", numeric=False),
        Column(context.load_step_title),
        *(Column(f"{step} %") for step in steps),
    )
    cells = tuple((use.contender, f"{use.load_step}", *(_state(use, name) for _, name in STATES)) for use in found.uses)
    description = "Shares of processor time by state at each load step, one panel for each contender."
    return Chart("chart-processors", title, description, spec, Table(title, columns, cells), wide=True)


def _state(use: ResourceUse, name: str) -> str:
    share: float = getattr(use, name)
    return f"{100.0 * share:.1f}" if math.isfinite(share) else wording.MISSING


BUSY_FROM = 0.5
"""Of the time: a disk that is never so busy is drawn in the full edition of a paper alone."""


def _disks(context: Context, found: Resources) -> list[Block]:
    """How busy the busiest disk was; nothing where no disk did anything."""
    rows: list[Row] = [
        {
            "contender": use.contender, "load_step": use.load_step.x, "value": round(100.0 * use.disk_share, 3),
            "low": None,
            "high": None,
        }
        for use in found.uses
        if math.isfinite(use.disk_share)
    ]  # fmt: skip
    if not any(use.disk_share >= SHOWN_FROM for use in found.uses):
        return []
    title = "The busiest disk"
    note = "share of the window in which it had something in flight, mean over trials"
    across = Loads(context.comparison.run.load_steps)
    spec = lines(rows, context.names, across, Amounts("% of the time", far=True), (title, note))
    columns = (Column(context.load_step_title), *(Column(name) for name in context.names))
    known = {(use.contender, use.load_step): use for use in found.uses}
    cells = tuple(
        (f"{load_step}", *(_disk(known.get((name, load_step))) for name in context.names))
        for load_step in context.comparison.run.load_steps
    )
    description = "Share of the time in which the busiest disk was busy, at each load step."
    table = Table(f"{title} (% of the time)", columns, cells)
    idle = not any(use.disk_share >= BUSY_FROM for use in found.uses)
    return [Chart("chart-disks", title, description, spec, table, in_full=idle)]


def _disk(use: ResourceUse | None) -> str:
    return wording.MISSING if use is None or not use.disk else f"{_share(use.disk_share)} ({use.disk})"


SERVER_COLUMNS = (f"CPU s for {PER:,}", "95 % interval", "own CPUs", "CPUs %", "busiest CPU %", "memory", "limit")
MACHINE_COLUMNS = (
    "run queue", "disk %", "disk MB/s", "network MB/s", "link %", "CPU pressure %", "memory pressure %",
    "disk pressure %", "major faults/s", "swapped pages/s", "overflows", "sent again",
)  # fmt: skip


def _tables(context: Context, found: Resources) -> list[Block]:
    """Tables for each contender: beside each other they would not fit."""
    blocks: list[Block] = []
    for name in context.names:
        uses = [use for use in found.uses if use.contender == name]
        if uses:
            note = NOTE if not blocks else ""
            blocks.append(
                _table(context, f"What {name} needed", SERVER_COLUMNS, [(use, _needed(use)) for use in uses], note)
            )
            blocks += processors_table(context, name, uses)
            blocks.append(_table(context, f"Around {name}", MACHINE_COLUMNS, [(use, _around(use)) for use in uses]))
    return blocks


def _table(
    context: Context,
    title: str,
    titles: tuple[str, ...],
    rows: list[tuple[ResourceUse, tuple[str, ...]]],
    note: str = "",
) -> Table:
    columns = (Column(context.load_step_title), *(Column(title, numeric=title != "limit") for title in titles))
    return Table(title, columns, tuple((f"{use.load_step}", *cells) for use, cells in rows), note)


def _needed(use: ResourceUse) -> tuple[str, ...]:
    return (
        _figure(use.cpu_s_per_1000),
        wording.span(use.cpu_low, use.cpu_high) if math.isfinite(use.cpu_low) else wording.MISSING,
        _figure(use.own_processors, 3),
        _share(use.processor_share),
        wording.MISSING if use.each_processor is None else _share(use.each_processor.busiest_share),
        format_size(round(use.memory_bytes)) if math.isfinite(use.memory_bytes) else wording.MISSING,
        WORDS[use.bound],
    )


def _around(use: ResourceUse) -> tuple[str, ...]:
    return (
        _figure(use.run_queue, 3),
        _share(use.disk_share),
        _figure(use.disk_bytes_per_s / 1e6, 3),
        _figure(use.network_bytes_per_s / 1e6, 3),
        _share(use.link_share),
        _share(use.pressure_cpu),
        _share(use.pressure_memory),
        _share(use.pressure_io),
        _figure(use.major_faults_per_s, 3),
        _figure(use.swapped_pages_per_s, 3),
        _figure(use.overflows, 3),
        _figure(use.retransmits, 3),
    )


def _figure(value: float, digits: int = 4) -> str:
    return wording.figures(value, digits) if math.isfinite(value) else wording.MISSING


def _share(value: float) -> str:
    return wording.figures(100.0 * value, 3) if math.isfinite(value) else wording.MISSING


def _memory(each: MemoryPerConnection) -> str:
    whole = f"at most {format_size(round(each.highest_bytes))} in all"
    if math.isfinite(each.bytes_each):
        low, high = (format_size(round(end)) for end in (each.low, each.high))
        return (
            f"Each further connection to {each.contender} takes {format_size(round(each.bytes_each))} of memory (how "
            f"memory rises over the load steps, 95 % interval {low} – {high}; {whole})."
        )
    return (
        f"Memory for each connection to {each.contender}: {wording.MISSING} (no certain rise over the load steps; that "
        f"needs 6 blocks and three numbers of connections; {whole})."
    )


def _watching(found: Resources) -> Text:
    """What it cost, told so that nobody need ask whether it was in the way."""
    parts = [f"{each.contender} by {each.source} ({_cost(each)})" for each in found.watched]
    cost = f"{wording.figures(found.generator_cpu_s, 3)} s of processor time in {found.generator_samples:,} samples"
    return Text(f"Watched: {'; '.join(parts)}. Watching the machine that sent the load took {cost}.")


def _cost(each: WatchedContender) -> str:
    there = f", {wording.figures(each.cost_remote_cpu_s, 3)} s there" if math.isfinite(each.cost_remote_cpu_s) else ""
    moved = f", {format_size(each.cost_bytes)} sent and received" if each.cost_bytes else ""
    return f"{wording.figures(each.cost_cpu_s, 3)} s of processor time{there}{moved}"


def _gaps(found: Resources) -> list[Block]:
    blocks: list[Block] = []
    for each in found.watched:
        missing = each.trials - each.trials_whole
        if missing or each.gaps:
            why = f" ({'; '.join(each.gaps)})" if each.gaps else ""
            of = wording.plural(each.trials, "trial")
            blocks.append(
                Text(f"The window of {each.contender} was not seen whole in {missing} of {of}{why}.", "warning")
                if missing
                else Text(f"Watching {each.contender} was broken off for moments{why}, within no window.")
            )
    return blocks
