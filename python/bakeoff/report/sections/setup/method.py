"""What was run, in which order, on what machine: enough to repeat it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from bakeoff.compare.model.settings import of_contender
from bakeoff.compare.validity.client_options import settings_by_name
from bakeoff.core.redact import hidden, without_secrets
from bakeoff.core.units import format_binary
from bakeoff.report.blocks.block_order import in_each_block, is_by_load_steps
from bakeoff.report.blocks.facts import leaves, value_of
from bakeoff.report.blocks.tree import Block, Bullets, Column, Listing, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.file_weights import weights_sentence
from bakeoff.report.narrate.validity.client_options import ways
from bakeoff.store.collections.challenged import CHALLENGES
from bakeoff.store.records.absent import ABSENT
from bakeoff.store.records.check_facts import facts_of
from bakeoff.store.records.run_records import ADDED, CLEAR, LEFT_OUT, RETRIED, RunRecord, TrialRecord
from bakeoff.store.sqlite.canonical import to_json

AMENDED = {
    ADDED: "blocks added",
    RETRIED: "trials repeated",
    CLEAR: "ended at a planned interim analysis",
    LEFT_OUT: "contender left out",
}
COUNTED = {
    "disk": "the counters of the disk, for all of its users",
    "mount": "the mount's counters of its server",
    "wire": "the bytes of all network interfaces",
    "memory": "nothing: memory has nothing behind it",
    "unknown": "nothing: the page cache alone was looked at",
}


@report_section("method", ReportPart.CONFIGURATION, Detail.COMPARISON)
def section(context: Context) -> Section:
    """Contenders, settings, assumed values, order, environment, and the plan itself."""
    if context.run.imported_from is not None:
        return _imported(context, context.run.imported_from)
    run, plan = context.run, context.run.planned
    modelled = f", modelled on {plan.modelled_on}" if plan.modelled_on else ""
    intro = (
        f"Suite {run.suite}{modelled}; {wording.load_steps(context.comparison.run.load_steps)}, "
        f"{wording.plural(run.blocks_wanted, 'block')}. {in_each_block(run)} "
        f"Started {context.moment(run.created_at)}, ended {context.moment(run.finished_at)}."
    )
    titles: tuple[str, ...] = ("Name", "Address", f"Reset before each {'trial' if is_by_load_steps(run) else 'block'}")
    client_options = ways(context.comparison.client_options, context.words, [c.name for c in run.contenders])
    titles += ("Measured",) if client_options else ()
    own = {c.name: (wording.sentence(client_options[c.name]),) if client_options else () for c in run.contenders}
    rows = tuple((c.name, c.address, without_secrets(c.reset or "none"), *own[c.name]) for c in run.contenders)
    contenders = Table("Contenders", tuple(Column(title, numeric=False) for title in titles), rows)
    blocks: list[Block] = [Text(intro), _rules(context), *_amendments(context), contenders]
    blocks += _file_systems(run)
    plans = _plans(run)
    blocks += [*_weights(context), *(_settings(each, of) for of, each in plans)]
    if buffers := _receive_buffer(context):
        blocks.append(Text(buffers))
    if plan.assumed:
        blocks.append(Text("Assumed values: no public source fixes these settings of the suite.", "warning"))
        blocks.append(Bullets(plan.assumed))
    if plan.differences:
        blocks.append(Text("Not as published: where this run departs from the publications that the suite follows."))
        blocks.append(Bullets(plan.differences))
    blocks += [
        _order(context),
        *_found(run),
    ]
    for of, each in plans:
        text = json.dumps(hidden(each), indent=2, ensure_ascii=False)
        blocks.append(Listing(f"The plan as it was run (JSON){of}", text))
    return Section("What was run", tuple(blocks))


def _plans(run: RunRecord) -> list[tuple[str, dict[str, Any]]]:
    """The plan; of several files each that is another one, with the letters of its files."""
    if not run.joined:
        return [("", run.plan)]
    hashes = {file.run.plan_hash: file.run.plan for file in run.joined}
    labels = {known: [file.label for file in run.joined if file.run.plan_hash == known] for known in hashes}
    return [(f" of {wording.names(labels[known])}", plan) for known, plan in hashes.items()]


def _found(run: RunRecord) -> list[Block]:
    """What was found of the machine and by what it was measured; of several files of each."""
    runs = [(f" of {file.label}", file.run) for file in run.joined] or [("", run)]
    return [table for of, one in runs for table in (_environment(one, of), _flat(f"Tool{of}", dict(one.tool)))]


def _imported(context: Context, tool: str) -> Section:
    """What is known of a run that Bakeoff did not measure: whose figures from which files, and what these state."""
    run = context.run
    intro = (
        f"Imported {context.moment(run.created_at)} from files of {tool}; Bakeoff measured nothing itself. Block n is "
        "the nth sample of a contender at a load. The files state no plan, no order and no machine."
    )
    titles = (Column("Name", numeric=False), Column("Files", numeric=False))
    files = Table("Contenders", titles, tuple((c.name, c.address) for c in run.contenders))
    stated = _flat("What the files state", run.environment.get("imported") or {})
    return Section("What was imported", (Text(intro), _rules(context), files, stated))


def _rules(context: Context) -> Text:
    """By which plan was run, and by which rules judged."""
    info = context.comparison.run
    plan = f"Plan {info.plan_hash}" if context.run.imported_from is None else "No plan"
    judged = f"δ = {wording.percent(info.delta)}; intervals {wording.percent(info.level)}; baseline {info.baseline}."
    return Text(f"{plan}; {judged}", detail=Detail.COMPARISON)


def _amendments(context: Context) -> list[Block]:
    """What became of the plan while the run went on, with the hash that it had at first."""
    info = context.comparison.run
    if not info.amendments:
        return []
    titles = ("When", "What", "Reason or request", "Blocks seen", "Blocks since", "Plan before")
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
    return [Table("What became of the plan", columns, rows, note, detail=Detail.COMPARISON)]


def _file_systems(run: RunRecord) -> list[Table]:
    """What each folder was mounted from and how, where contenders are folders; where trials differ, each with how many
    trials it had.
    """
    rows = []
    for contender in run.contenders:
        begun = facts_of(run.environment, contender.name)
        trials = [trial for trial in run.trials if trial.contender == contender.name]
        known = Counter(to_json(begun | (trial.found or {})) for trial in trials) or Counter([to_json(begun)])
        for text, times in known.items():
            facts = hidden(json.loads(text))
            if facts.get("file_system"):
                name = contender.name if len(known) == 1 else f"{contender.name}, {wording.plural(times, 'trial')}"
                rows.append(_file_system(name, facts))
    titles = ("Name", "File system", "Source", "Mounted at", "Options", "Transfers counted by", "Free at the start")
    return [Table("File systems", tuple(Column(title, numeric=False) for title in titles), tuple(rows))] if rows else []


def _file_system(name: str, facts: dict[str, Any]) -> tuple[str, ...]:
    free, options = facts.get("free_bytes"), value_of(facts.get("mount_options") or "unknown")
    return (
        name,
        value_of(facts["file_system"]),
        value_of(facts.get("source") or "unknown"),
        value_of(facts.get("addresses")),
        ", ".join(dict.fromkeys(options.split(","))),
        COUNTED.get(value_of(facts.get("carrier")), COUNTED["unknown"]),
        f"{free / 1e9:.1f} GB" if isinstance(free, (int, float)) else "unknown",
    )


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
    return [Text(weights_sentence(weights, measured)), table]


def _settings(plan: dict[str, Any], of: str) -> Table:
    """Those that contenders have differently come first, each with its value of each of them."""
    settings = plan.get("settings") if isinstance(plan.get("settings"), dict) else plan
    assert isinstance(settings, dict)
    changed = set(_items(plan.get("changed", ())))
    contenders = plan.get("contenders")
    names = [str(c.get("name")) for c in contenders if isinstance(c, dict)] if isinstance(contenders, list) else []
    own = {name: hidden(dict(of_contender(plan, name))) for name in names}
    rows, differ = [], []
    for name, value in sorted(hidden(settings).items()):
        values = {contender: value_of(table.get(name)) for contender, table in own.items()} or {"": value_of(value)}
        set_by = "the plan" if name in changed or _bare(name) in changed else f"size {plan.get('size', '')}".rstrip()
        if len(set(values.values())) > 1:
            by_contender = ", ".join(f"{each} ({contender})" for contender, each in values.items())
            differ.append((name, by_contender, "the plan, by contender"))
        else:
            rows.append((name, next(iter(values.values())), set_by))
    columns = (
        Column("Setting", numeric=False),
        Column("Value", numeric=False),
        Column("Set by", numeric=False),
    )
    return Table(f"Settings{of}", columns, (*differ, *rows), folded=True)


def _receive_buffer(context: Context) -> str:
    """What the kernel made of the receive buffer that the plan asks for; empty when it asks for none."""
    sizes = (_made_of(context, name, size) for name, size in _buffers(context).items())
    return " ".join(filter(None, sizes))


def _buffers(context: Context) -> dict[str, float]:
    """What is asked for, by contender, or for all of them where it is the same."""
    found = settings_by_name(context.run)
    asked = {name: table.get("receive_buffer_bytes") for name, table in found.items()}
    sizes = {name: float(size) if isinstance(size, int) else 0.0 for name, size in asked.items()}
    return sizes if len(set(sizes.values())) > 1 else {"": max(sizes.values(), default=0.0)}


def _made_of(context: Context, name: str, asked: float) -> str:
    trials = [trial for trial in context.run.trials if name in ("", trial.contender)]
    sizes = sorted({size for t in trials if (size := t.connections.get("receive_buffer_bytes", 0))})
    if not asked or not sizes:
        return ""
    # The kernel doubles what it is asked for, as its own bookkeeping is in the buffer, too.
    made = " or ".join(f"{size:,}" for size in sizes)
    whose = f" to {name}" if name else ""
    text = f"Receive buffer of the sockets{whose}: {asked:,.0f} bytes asked for, {made} bytes made of it by the kernel"
    if sizes[0] < 2 * asked:
        return f"{text}, which is less than twice as many: `sysctl -w net.core.rmem_max={asked:.0f}` allows it."
    return f"{text}, which doubles it for its own use. A server cannot send further ahead than that."


def _bare(name: str) -> str:
    return name.removesuffix("_bytes").removesuffix("_s")


def _order(context: Context) -> Table:
    """The order as it really was: by load steps the contenders of each load step, else the load steps of each slot."""
    rows, by_load_steps = [], is_by_load_steps(context.run)
    trials = sorted(context.whole.trials, key=lambda trial: trial.order)
    turns_of = _turns_by_load_step if by_load_steps else _turns_by_contender
    for block, members in groupby(trials, key=lambda trial: trial.block):
        turns = turns_of(members)
        seeds = sorted({trial.seed for trial in trials if trial.block == block})
        shown = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} … {seeds[-1]}"
        rows.append((f"{block}", "; ".join(turns), shown))
    what = "Contenders in order at each load step" if by_load_steps else "Visits in order"
    columns = (Column("Block"), Column(f"{what} ({context.load_step_unit})", numeric=False), Column("Seed"))
    return Table("Order of the trials", columns, tuple(rows), folded=True)


def _turns_by_contender(trials: Iterable[TrialRecord]) -> list[str]:
    turns = groupby(trials, key=lambda trial: trial.contender)
    return [f"{name} ({', '.join(f'{trial.load_step}' for trial in turn)})" for name, turn in turns]


def _turns_by_load_step(trials: Iterable[TrialRecord]) -> list[str]:
    turns = groupby(trials, key=lambda trial: trial.load_step)
    return [f"{load_step}: {', '.join(trial.contender for trial in turn)}" for load_step, turn in turns]


def _environment(run: RunRecord, of: str) -> Table:
    """What was found; of several machines each has its facts in a section of its own."""
    found = {name: fact for name, fact in run.environment.items() if name not in (ABSENT, CHALLENGES)}
    if len(run.agents) < 2:
        return _flat(f"Environment of the load generator{of}", found)
    own = {name: fact for name, fact in found.items() if name not in run.agents[0].facts}
    return _flat(f"What was found of the contenders{of}", own)


def _flat(title: str, tree: dict[str, Any]) -> Table:
    # Of several values a kernel's setting has tabs between, which no page shows.
    rows = tuple((name, " ".join(value.split("\t"))) for name, value in leaves(hidden(tree), ""))
    columns = (Column("Item", numeric=False), Column("Value", numeric=False))
    return Table(title, columns, rows or (("nothing was recorded", "not disclosed"),), folded=True)


def _items(value: Any) -> tuple[str, ...]:
    return tuple(map(value_of, value)) if isinstance(value, (list, tuple)) else (value_of(value),)
