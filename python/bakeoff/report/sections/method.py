"""What was run, in which order, on what machine: enough to repeat it."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

from bakeoff.compare import wording
from bakeoff.compare.settings import number
from bakeoff.report.blocks import Block, Bullets, Column, Listing, Section, Table, Text
from bakeoff.report.context import Context
from bakeoff.report.depth import Depth, shown_from
from bakeoff.report.facts import leaves, value_of
from bakeoff.report.redact import hidden
from bakeoff.store.records import ADDED, CLEAR, LEFT_OUT, RETRIED, RunRecord, TrialRecord
from bakeoff.units import format_binary

AMENDED = {
    ADDED: "blocks added",
    RETRIED: "trials repeated",
    CLEAR: "ended at a planned look",
    LEFT_OUT: "contender left out",
}
COUNTED = {
    "disk": "the counters of the disk, whoever used it",
    "mount": "the mount's counters of its server",
    "wire": "the bytes of all network interfaces",
    "memory": "nothing: memory has nothing behind it",
    "unknown": "nothing: the page cache alone was looked at",
}


@shown_from(Depth.COMPARISON)
def section(context: Context) -> Section:
    """Contenders, settings, assumed values, order, environment, and the plan itself."""
    if context.run.imported_from is not None:
        return _imported(context, context.run.imported_from)
    run, plan = context.run, context.run.plan
    modelled = f", modelled on {plan['modelled_on']}" if plan.get("modelled_on") else ""
    intro = (
        f"Suite {run.suite}{modelled}; {wording.mixes(context.comparison.run.mixes)}, "
        f"{wording.plural(run.blocks_wanted, 'block')}. In each block every contender is visited "
        "once, in random order and "
        f"with the same seed. Started {context.moment(run.created_at)}, "
        f"ended {context.moment(run.finished_at)}."
    )
    titles = ("Name", "Address", "Reset before each visit")
    rows = tuple((c.name, c.address, c.reset or "none") for c in run.contenders)
    contenders = Table("Contenders", tuple(Column(title, numeric=False) for title in titles), rows)
    if run.upgraded_from is not None:
        unsealed = "" if run.upgraded_from >= 3 else ", which had no seals: whether it is as written cannot be seen"
        intro += f" Read from run file version {run.upgraded_from}{unsealed}."
    if note := context.kind.method_note(context):
        intro += f" {note}"
    blocks: list[Block] = [Text(intro), _rules(context), *_amendments(context), contenders]
    blocks += _file_systems(run.environment)
    blocks += [*_weights(context), _settings(plan)]
    if buffers := _receive_buffer(context):
        blocks.append(Text(buffers))
    if plan.get("assumed"):
        blocks.append(Text("Assumed values: no public source fixes these settings of the suite.", "warning"))
        blocks.append(Bullets(_items(plan["assumed"])))
    if plan.get("differences"):
        blocks.append(Text("Not as published: where this run departs from the publications that the suite follows."))
        blocks.append(Bullets(_items(plan["differences"])))
    blocks += [
        _order(context),
        _environment(run),
        _flat("Tool", dict(run.tool)),
    ]
    blocks.append(Listing("The plan as it was run (JSON)", json.dumps(hidden(plan), indent=2, ensure_ascii=False)))
    return Section("method", "What was run", tuple(blocks))


def _imported(context: Context, tool: str) -> Section:
    """What is known of a run that Bakeoff did not measure: whose figures from which files, and what these state."""
    run = context.run
    intro = (
        f"Imported {context.moment(run.created_at)} from files of {tool}; Bakeoff measured nothing itself. Block n is "
        "the nth file of each contender. What is not in the files is not stated: no plan, no order, no machine."
    )
    titles = (Column("Name", numeric=False), Column("Files", numeric=False))
    files = Table("Contenders", titles, tuple((c.name, c.address) for c in run.contenders))
    stated = _flat("What the files state", run.environment.get("imported") or {})
    return Section("method", "What was imported", (Text(intro), _rules(context), files, stated))


def _rules(context: Context) -> Text:
    """By which plan was run, and by which rules judged."""
    info = context.comparison.run
    plan = f"Plan {info.plan_hash}" if context.run.imported_from is None else "No plan"
    judged = f"δ = {wording.percent(info.delta)}; intervals {wording.percent(info.level)}; baseline {info.baseline}."
    return Text(f"{plan}; {judged}", depth=Depth.COMPARISON)


def _amendments(context: Context) -> list[Block]:
    """What became of the plan while the run went on, with the hash that it had at first."""
    info = context.comparison.run
    if not info.amendments:
        return []
    titles = ("When", "What", "Why, or what was asked for", "Blocks seen", "Blocks since", "Plan before")
    rows = tuple(
        (
            context.moment(each.at),
            AMENDED[each.sort],
            f"{each.contender}: {each.text}" if each.contender else each.text,
            f"{each.blocks_seen} of {each.blocks_before}",
            f"{each.blocks}",
            each.plan_hash.removeprefix("sha256:")[:12],
        )
        for each in info.amendments
    )
    columns = tuple(Column(title, numeric=False) for title in titles)
    note = f"The run was started with plan {info.plan_hash_first}."
    return [Table("What became of the plan", columns, rows, note, depth=Depth.COMPARISON)]


def _file_systems(environment: dict[str, Any]) -> list[Table]:
    """What each folder was mounted from and how, where contenders are folders."""
    content = environment.get("content")
    contenders = content.get("contenders") if isinstance(content, dict) else None
    known = contenders if isinstance(contenders, dict) else {}
    folders = {name: facts for name, facts in known.items() if isinstance(facts, dict) and facts.get("file_system")}
    rows = []
    for name, facts in hidden(folders).items():
        free, options = facts.get("free_bytes"), value_of(facts.get("mount_options") or "unknown")
        rows.append(
            (
                name,
                value_of(facts["file_system"]),
                value_of(facts.get("source") or "unknown"),
                value_of(facts.get("addresses")),
                ", ".join(dict.fromkeys(options.split(","))),
                COUNTED.get(value_of(facts.get("carrier")), COUNTED["unknown"]),
                f"{free / 1e9:.1f} GB" if isinstance(free, (int, float)) else "unknown",
            )
        )
    titles = ("Name", "File system", "Source", "Mounted at", "Options", "Transfers counted by", "Free at the start")
    return [Table("File systems", tuple(Column(title, numeric=False) for title in titles), tuple(rows))] if rows else []


def _weights(context: Context) -> list[Block]:
    """What the means over cells are weighed by, where the plan says so."""
    compared = context.comparison.cells
    if compared is None or compared.weights is None:
        return []
    weights = compared.weights
    measured = {None if c.file_kib is None else round(c.file_kib * 1024) for c in compared.measured}
    rows = tuple((format_binary(size), wording.percent(share)) for size, share in weights.shares)
    note = "The weight of a file size is shared evenly by its cells. Curves and single cells are not weighted."
    table = Table("Weights of the file sizes", (Column("File size"), Column("Share of the files")), rows, note)
    return [Text(weights.sentence(measured)), table]


def _settings(plan: dict[str, Any]) -> Table:
    settings = plan.get("settings") if isinstance(plan.get("settings"), dict) else plan
    assert isinstance(settings, dict)
    changed = set(_items(plan.get("changed", ())))
    rows = tuple(
        (name, value_of(value), "changed" if name in changed or _bare(name) in changed else "")
        for name, value in sorted(hidden(settings).items())
    )
    columns = (
        Column("Setting", numeric=False),
        Column("Value", numeric=False),
        Column("Against the suite", numeric=False),
    )
    return Table("Settings", columns, rows, folded=True)


def _receive_buffer(context: Context) -> str:
    """What the kernel made of the receive buffer that the plan asks for; empty when it asks for none."""
    asked = number(context.run.plan, "receive_buffer_bytes", 0.0)
    sizes = sorted({size for t in context.run.trials if (size := t.connections.get("receive_buffer_bytes", 0))})
    if not asked or not sizes:
        return ""
    # The kernel doubles what it is asked for, as its own bookkeeping is in the buffer, too.
    made = " or ".join(f"{size:,}" for size in sizes)
    text = f"Receive buffer of the sockets: {asked:,.0f} bytes asked for, {made} bytes made of it by the kernel"
    if sizes[0] < 2 * asked:
        return f"{text}, which is less than twice as many: `sysctl -w net.core.rmem_max={asked:.0f}` allows it."
    return f"{text}, which doubles it for its own use. A server cannot send further ahead than that."


def _bare(name: str) -> str:
    return name.removesuffix("_bytes").removesuffix("_s")


def _order(context: Context) -> Table:
    rows = []
    trials = sorted(context.whole.trials, key=lambda trial: trial.order)
    for block, members in groupby(trials, key=lambda trial: trial.block):
        visits = [
            f"{name} ({_mixes(list(part))})" for name, part in groupby(members, key=lambda trial: trial.contender)
        ]
        seeds = sorted({trial.seed for trial in trials if trial.block == block})
        shown = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} … {seeds[-1]}"
        rows.append((f"{block}", "; ".join(visits), shown))
    columns = (Column("Block"), Column(f"Visits in order ({context.mix_unit})", numeric=False), Column("Seed"))
    return Table("Order of the trials", columns, tuple(rows), folded=True)


def _mixes(trials: list[TrialRecord]) -> str:
    return ", ".join(f"{trial.mix}" for trial in trials)


def _environment(run: RunRecord) -> Table:
    """What was found; of several machines each has its facts in a section of its own."""
    if len(run.agents) < 2:
        return _flat("Environment of the load generator", run.environment)
    own = {name: fact for name, fact in run.environment.items() if name not in run.agents[0].facts}
    return _flat("What was found of the contenders", own)


def _flat(title: str, tree: dict[str, Any]) -> Table:
    rows = tuple((name, value) for name, value in leaves(hidden(tree), ""))
    columns = (Column("Item", numeric=False), Column("Value", numeric=False))
    return Table(title, columns, rows or (("nothing was recorded", "not disclosed"),), folded=True)


def _items(value: Any) -> tuple[str, ...]:
    return tuple(map(value_of, value)) if isinstance(value, (list, tuple)) else (value_of(value),)
