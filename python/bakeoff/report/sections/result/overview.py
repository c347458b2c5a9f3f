"""How it was tested, in prose: what a client does, how often, from which machine."""

from __future__ import annotations

from typing import Any

from bakeoff.compare.collections.joined_model import Joined
from bakeoff.core.errors import RunFileError
from bakeoff.core.units import format_binary, format_duration
from bakeoff.plan.input.stored import stored_plan
from bakeoff.report.blocks.block_order import in_each_block
from bakeoff.report.blocks.tree import Block, Section, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.validity.client_options import client_options_sentence
from bakeoff.store.records.run_records import RunRecord

FEW = 2
"""Departures that are told whole: more are named, and listed with the configuration."""
SAME_BLOCK_NOTE = "Verdicts come from trials of the same block alone."


@report_section("overview", ReportPart.OVERVIEW)
def section(context: Context) -> Section | None:
    """Nothing of an imported run, of which only the figures are known."""
    if context.run.imported_from is not None:
        return None
    first, *others = [*context.kind.narrative(context), ""]
    sentences = (
        f"{_suite(context)} {first}".strip(),
        *others,
        client_options_sentence(context.comparison),
        _repeated(context),
        _departs(context),
        _machine(context),
    )
    blocks: tuple[Block, ...] = tuple(Text(text) for text in sentences if text)
    return Section("How it was tested", blocks)


def _suite(context: Context) -> str:
    model = context.run.planned.modelled_on
    modelled = f", modelled on {model}" if model and not model.startswith("nothing") else ""
    return f"{context.run.planned.title or context.run.suite} (suite {context.run.suite}{modelled})."


def _repeated(context: Context) -> str:
    """Load steps, lengths and blocks."""
    if context.comparison.joined is not None:
        return _by_files(context.comparison.joined, context.run)
    load = context.shape.load(context, _each(context))
    number = len(context.run.contenders)
    who = "The contender" if number == 1 else f"Each of the {number} contenders"
    left = [
        f"{each.contender} was dead, and not asked any more from block {each.from_block} on."
        for each in context.comparison.run.left_out
    ]
    text = f"{who} went through {load}. {_blocks(context)} {in_each_block(context.run)}"
    return " ".join((text, *left, *([] if number == 1 else [SAME_BLOCK_NOTE])))


def _each(context: Context) -> str:
    """How long each load lasted, where the clock ended it."""
    settings = context.run.planned.settings
    length_s, ramps_s = settings.length_s, settings.clock.ramp_up_s + settings.clock.ramp_down_s
    if context.of_cells or length_s <= ramps_s or not _ends_by_the_clock(context.run):
        return ""
    counted = f", of which {format_duration(length_s - ramps_s)} count" if ramps_s else ""
    return f", each for {format_duration(length_s)}{counted}"


def _ends_by_the_clock(run: RunRecord) -> bool:
    """Whether the length of a plan is how long trials took, and no limit alone."""
    try:
        return not stored_plan(run).settings.ends_with_its_work
    except RunFileError:
        return True


def _blocks(context: Context) -> str:
    """How often all of it was done; of a run that is not whole how much of it there is."""
    info = context.comparison.run
    if info.blocks_measured < info.blocks_planned:
        of = wording.plural(info.blocks_measured, "block")
        return f"It was to be done {_times(info.blocks_planned)}; there are figures of {of}."
    return f"All of it was done {_times(info.blocks_planned)}."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _by_files(joined: Joined, run: RunRecord) -> str:
    """Which contenders were measured with which, and how often."""
    parts = [
        f"{file.label} ({file.file}) {wording.plural(1 + file.last_block - file.first_block, 'block')} of "
        f"{wording.names(list(file.contenders))}"
        for file in joined.files
        if not file.failed
    ]
    differ = "" if joined.same_work else " Their plans differ (see The run files): settings shown here are those of A."
    return (
        f"It was done in {wording.plural(len(parts), 'run')}: {'; '.join(parts)}. {in_each_block(run)} Trials of one "
        f"block are compared as pairs; different files have no block in common.{differ}"
    )


def _departs(context: Context) -> str:
    """That the suite was shortened or changed, as a reader who knows the publications must hear first."""
    plan = context.run.planned
    departs = plan.differences
    if not departs:
        return ""
    head = f"This is the size {plan.size or 'of its own'}, which is not the suite as published: "
    if len(departs) <= FEW:
        return f"{head}{'; '.join(map(_worded, departs))}."
    listed = wording.names([part.partition(": ")[0].replace("_", " ") for part in departs])
    return f"{head}it departs from it in {listed}, as listed with the configuration."


def _worded(part: str) -> str:
    """`ramp_up: 400ms, published 30s` with the setting in words."""
    name, sign, rest = part.partition(": ")
    return f"{name.replace('_', ' ')}{sign}{rest}"


def _machine(context: Context) -> str:
    """From where the load came."""
    if len(context.run.agents) > 1:
        return f"The load came from {len(context.run.agents)} machines together."
    joined = context.comparison.joined
    if joined is not None and len({(file.machine, file.kernel) for file in joined.files}) > 1:
        return f"The load came from {'; '.join(f'{f.machine}, Linux {f.kernel} ({f.label})' for f in joined.files)}."
    facts = context.run.environment
    cpu: Any = facts.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {}
    memory = facts.get("memory_bytes")
    known = (
        f"{cpu.get('available', cpu.get('cores', ''))} × {cpu['model']}".strip(" ×") if cpu.get("model") else "",
        format_binary(memory) + " of memory" if isinstance(memory, (int, float)) else "",
        f"{facts.get('os', '')}, Linux {facts['kernel']}".strip(", ") if facts.get("kernel") else "",
    )
    stated = ", ".join(filter(None, known))
    return f"The load came from one machine: {stated}." if stated else ""
