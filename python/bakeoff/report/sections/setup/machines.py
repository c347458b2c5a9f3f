"""The machines that sent the load together: what each did, how alike they were, and in what they differ."""

from __future__ import annotations

import math
from collections import defaultdict

from bakeoff.compare.resources.fleet_model import Machine, MachineRange, Machines
from bakeoff.core.redact import hidden
from bakeoff.core.thresholds import BUSY_SHARE
from bakeoff.report.blocks.facts import leaves
from bakeoff.report.blocks.tree import Block, Chart, Column, Section, SeverityText, Table, Text
from bakeoff.report.charts.axes import Shares, by_load_step
from bakeoff.report.charts.bars import bars
from bakeoff.report.charts.theme import known
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.fleet import change_text
from bakeoff.store.records.run_records import AgentRecord

MOST_COLUMNS = 6  # machines that have room beside each other in a table
# What differs on every machine and at any moment, and says nothing about a figure.
PASSING = ("hostname", "load_average", "swap_used_bytes", "cpu · mhz", "links")
NOTE = (
    "Share: of all operations. Capacity: operations per second of the null server on the machine's own loopback. CPU, "
    "waited, lag, late and link: the largest of all trials. Late is the p99 of its own starts. Link is the use of the "
    "link to a contender by all traffic of the machine in the window."
)
RANGES_NOTE = (
    "From the agent with the least to the one with the most. Rates are means over blocks, times geometric means{of}. "
    "Slowest ÷ fastest: operations per client. Jain: 1 is fair. Chance: probability that equal clients differ this "
    "much between agents, from the operations of each client in all blocks. CPU, late, link and start: the largest of "
    "all blocks; start is the time from the first agent's begin to the last's."
)


@report_section("machines", ReportPart.CONFIGURATION, Detail.COMPARISON)
def section(context: Context) -> Section | None:
    """Nothing where one machine did it all."""
    machines = context.comparison.machines
    if machines is None:
        return None
    blocks: list[Block] = [
        Text(_together(machines)),
        *(Text(change_text(change), "warning") for change in machines.changes),
        _agents(context, machines),
        *_lost(context),
        _ranges(context, machines),
        *_fairness(context, machines),
        *_facts(context.run.agents),
    ]
    return Section("The machines that sent the load", tuple(blocks))


def _together(machines: Machines) -> str:
    spreads = [one.start_spread_ms for one in machines.ranges if math.isfinite(one.start_spread_ms)]
    text = f"{len(machines.agents)} agents sent the load together, each an equal part of every load step."
    if not spreads:
        return text
    errors = [one.start_error_ms for one in machines.ranges if math.isfinite(one.start_error_ms)]
    error = f" (± {wording.figures(max(errors), 2)} ms, as far as their clocks are known)" if errors else ""
    within = f"{wording.figures(max(spreads), 2)} ms"
    return f"{text} They began within {within} of each other{error} in all trials that count."


def _agents(context: Context, machines: Machines) -> Table:
    columns = (
        Column("Agent", numeric=False),
        Column("Processor", numeric=False, spare=4),
        Column("Trials"),
        Column("lost"),
        Column("clients", spare=2),
        Column("share %"),
        Column("capacity /s", spare=3),
        Column("CPU %"),
        Column("waited %", spare=1),
        Column("µs/operation", spare=2),
        Column("p99 lag ms", spare=3),
        Column("late ms", spare=2),
        Column("Link", numeric=False, spare=3),
        Column("link %"),
    )
    facts = {agent.name: agent for agent in context.run.agents}
    rows = tuple(_agent(one, facts[one.name]) for one in machines.agents)
    return Table("The agents", columns, rows, NOTE, detail=Detail.COMPARISON)


def _agent(one: Machine, facts: AgentRecord) -> tuple[str, ...]:
    return (
        one.name,
        _machine(facts),
        f"{one.trials}",
        SeverityText(f"{one.lost}", "bad") if one.lost else "0",
        f"{one.clients}",
        _figure(100.0 * one.operations_share),
        wording.count(one.null_operations_per_s) if math.isfinite(one.null_operations_per_s) else wording.MISSING,
        _share(one.cpu_share),
        _figure(100.0 * one.waited_share),
        _figure(one.us_per_operation),
        _figure(one.lag_p99_ms),
        _figure(one.late_p99_ms),
        f"{one.link} ({one.unjudged})" if one.unjudged else one.link or wording.MISSING,
        _share(one.link_share),
    )


def _machine(agent: AgentRecord) -> str:
    """`64 × AMD EPYC 7543, Linux 6.1`, as far as it is known."""
    cpu = agent.facts.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {}
    words = [f"{cpu['available']} ×" if cpu.get("available") else "", str(cpu.get("model") or "")]
    kernel = agent.facts.get("kernel")
    named = " ".join(filter(None, words))
    return ", ".join(filter(None, (named, f"Linux {kernel}" if kernel else ""))) or wording.MISSING


def _lost(context: Context) -> list[Table]:
    """In which trials machines were lost."""
    rows = tuple(
        (f"{t.id}", t.contender, f"{t.load_step}", f"{t.block}", share.agent, SeverityText(share.lost, "bad"))
        for t in context.whole.trials
        for share in t.per_agent
        if share.lost
    )
    columns = (
        Column("Trial"),
        Column("Contender", numeric=False),
        Column(context.load_step_title),
        Column("Block"),
        Column("Agent", numeric=False),
        Column("Why", numeric=False),
    )
    note = "Such a trial is void for all of them: a smaller load is another trial."
    return [Table("Agents lost in a trial", columns, rows, note, detail=Detail.COMPARISON)] if rows else []


def _ranges(context: Context, machines: Machines) -> Table:
    columns = (
        Column("Contender", numeric=False),
        Column(context.load_step_title),
        Column("Agents", spare=3),
        Column("operations/s each"),
        Column("p50 ms", spare=3),
        Column("p99 ms"),
        Column("Slowest ÷ fastest"),
        Column("Jain", spare=1),
        Column("Chance", spare=1),
        Column("CPU %"),
        Column("late ms", spare=2),
        Column("link %"),
        Column("start ms", spare=2),
    )
    rows = tuple(_range(one) for one in machines.ranges if one.trials)
    note = RANGES_NOTE.format(of=" of response times, from planned starts" if context.is_open_loop else "")
    return Table("Over agents, at each load step", columns, rows, note, detail=Detail.COMPARISON)


def _range(one: MachineRange) -> tuple[str, ...]:
    fair = f"{one.ratio:.3f}" if math.isfinite(one.ratio) else wording.MISSING
    return (
        one.contender,
        f"{one.load_step}",
        f"{one.agents}",
        _span(one.rate_low, one.rate_high),
        _span(one.p50_low_ms, one.p50_high_ms),
        _span(one.p99_low_ms, one.p99_high_ms),
        SeverityText(f"{fair} ({one.slowest})", "bad") if one.unfair else fair,
        f"{one.jain:.4f}" if math.isfinite(one.jain) else wording.MISSING,
        wording.probability(one.probability),
        _busy_span(one),
        _figure(one.late_ms),
        _share(one.link_share),
        _figure(one.start_spread_ms),
    )


def _busy_span(one: MachineRange) -> str:
    text = _span(100.0 * one.cpu_share_low, 100.0 * one.cpu_share_high)
    return SeverityText(text, "bad") if one.cpu_share_high > BUSY_SHARE else text


def _fairness(context: Context, machines: Machines) -> list[Chart]:
    """The slowest and the fastest machine of each load step, relative to the mean client."""
    judged = [one for one in machines.ranges if math.isfinite(one.ratio)]
    if not judged:
        return []
    rows, cells = [], []
    for one in judged:
        per_client = _relative(context, one)
        low, high = min(per_client.values()), max(per_client.values())
        rows.append(
            {"contender": one.contender, "load_step": str(one.load_step), "low": known(low), "high": known(high)}
        )
        cells.append((one.contender, f"{one.load_step}", one.slowest, f"{low:.1%}", one.fastest, f"{high:.1%}"))
    spec = bars(
        rows,
        context.names,
        by_load_step(context.comparison.run.load_steps),
        Shares("operations per client, mean = 100 %"),
        ("Slowest and fastest agent", "relative to the mean over agents; means over blocks"),
    )
    titles = ("Contender", "", "Slowest", "its clients", "Fastest", "its clients")
    columns = tuple(
        Column(title or context.load_step_title, numeric=place in (1, 3, 5)) for place, title in enumerate(titles)
    )
    table = Table("Operations per client of each agent, relative to the mean", columns, tuple(cells))
    description = "Range over agents of the operations per client, relative to the mean, at each load step."
    return [Chart("chart-machines", "Fairness over agents", description, spec, table, wide=True)]


def _relative(context: Context, one: MachineRange) -> dict[str, float]:
    """Operations per second and client of each machine, over their mean."""
    rates: dict[str, list[float]] = defaultdict(list)
    for trial in context.at(one.contender, one.load_step):
        for share in trial.per_agent:
            if share.clients:
                rates[share.agent].append(share.operations_per_s / share.clients)
    means = {agent: sum(values) / len(values) for agent, values in rates.items()}
    mean = sum(means.values()) / len(means)
    return {agent: value / mean for agent, value in means.items()}


def _facts(agents: tuple[AgentRecord, ...]) -> list[Table]:
    """Differences first; what is alike is folded away."""
    by_agent = {agent.name: dict(leaves(hidden(_lasting(agent)), "")) for agent in agents}
    items = list(dict.fromkeys(item for facts in by_agent.values() for item in facts))
    items = [item for item in items if not item.startswith(PASSING)]
    values = {item: {name: facts.get(item, "not told") for name, facts in by_agent.items()} for item in items}
    differing = [item for item in items if len(set(values[item].values())) > 1]
    same = tuple((item, next(iter(values[item].values()))) for item in items if item not in differing)
    columns = (Column("Item", numeric=False), Column("Value", numeric=False))
    tables = [Table("Alike on all machines", columns, same, folded=True)] if same else []
    if not differing:
        return tables
    return [_side_by_side(differing, values) if len(agents) <= MOST_COLUMNS else _grouped(differing, values), *tables]


def _lasting(agent: AgentRecord) -> dict[str, object]:
    """Its facts, of links the speed by name."""
    links = agent.facts.get("links")
    speeds = {str(link.get("name")): link.get("speed") for link in (links if isinstance(links, list) else [])}
    return {**{name: fact for name, fact in agent.facts.items() if name != "links"}, "link": speeds}


def _side_by_side(differing: list[str], values: dict[str, dict[str, str]]) -> Table:
    names = list(values[differing[0]])
    columns = (Column("Item", numeric=False), *(Column(name, numeric=False) for name in names))
    rows = tuple((item, *(values[item][name] for name in names)) for item in differing)
    return Table("In what the machines differ", columns, rows)


def _grouped(differing: list[str], values: dict[str, dict[str, str]]) -> Table:
    rows = []
    for item in differing:
        by_value: dict[str, list[str]] = defaultdict(list)
        for name, value in values[item].items():
            by_value[value].append(name)
        for value, names in sorted(by_value.items(), key=lambda pair: -len(pair[1])):
            some = ", ".join(names[:MOST_COLUMNS]) + (" …" if len(names) > MOST_COLUMNS else "")
            rows.append((item, value, f"{len(names)}", some))
    columns = (
        Column("Item", numeric=False),
        Column("Value", numeric=False),
        Column("Machines"),
        Column("Which", numeric=False),
    )
    return Table("In what the machines differ", columns, tuple(rows))


def _span(low: float, high: float) -> str:
    """`12 – 13`; one figure where both are alike."""
    one, other = wording.figures(low, 3), wording.figures(high, 3)
    return one if one == other else f"{one} – {other}"


def _figure(value: float) -> str:
    return wording.figures(value, 3) if math.isfinite(value) else wording.MISSING


def _share(share: float) -> str:
    """In percent, standing out where it is the limit itself."""
    text = _figure(100.0 * share)
    return SeverityText(text, "bad") if math.isfinite(share) and share > BUSY_SHARE else text
