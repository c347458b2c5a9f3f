"""`bakeoff plan`: what a plan would do, without doing it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bakeoff.cli.complete import run_files
from bakeoff.cli.console import make_console, print_line
from bakeoff.cli.measure.run import Calibrate
from bakeoff.cli.options import with_plan_options
from bakeoff.cli.planning.reach import CELL_BLOCKS, advice, single_name, smallest_p
from bakeoff.cli.shapes import plan_words
from bakeoff.cli.suite_command import SuiteCommand
from bakeoff.core.errors import PlanError
from bakeoff.core.sanitize import sanitize
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.core.units import format_duration, format_size, plural
from bakeoff.load.load_step import LoadStep, Rate
from bakeoff.plan.design.differences import client_options_text
from bakeoff.plan.design.durations import ExpectedDuration, expected_duration
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.design.order_choice import WORDS, why
from bakeoff.plan.design.work import LINK_BYTES_PER_S
from bakeoff.plan.input.plan_file import masked_input, plan_to_toml
from bakeoff.plan.input.plan_input import plan_input_of
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, placed, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.plan.rules.capacity import LOADS
from bakeoff.plan.suites import BLOCKS, load_suite
from bakeoff.run.checks.trust import acting_settings, differences_of
from bakeoff.run.kind import Foreseen, run_part
from bakeoff.run.observe.observer import short_duration

DEFAULT_BLOCKS = BLOCKS["full"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("plan", cls=SuiteCommand)(with_plan_options(plan, searches=True))


def plan(
    given: PlanInput,
    as_toml: Annotated[bool, typer.Option("--toml", help="Print the plan as a plan file and nothing else.")] = False,
    calibrate: Calibrate = True,
    trials: Annotated[bool, typer.Option("--trials", help="List every trial in its order.")] = False,
    power: Annotated[
        list[Path] | None,
        typer.Option(
            "--power",
            metavar="PILOT.bakeoff",
            autocompletion=run_files,
            help="Say how many blocks, and hours, a difference of 5, 3 and 2 % takes, by the spread of this run; for a "
            "campaign that of a campaign, or of a run of one of its suites (repeatable).",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="What --power finds as JSON, and nothing else.")] = False,
) -> None:
    """Show trials, their order and duration; nothing is sent.

    In folders of file suites a small part of the work is tried for two seconds at most, for a forecast, and removed;
    not with --no-calibration. With --drop-caches or --cold-command typed here, not read from a file, so are these.

    Contenders may be left out; then two are assumed.
    """
    if as_json and not power:
        raise PlanError("--json prints what --power finds: give --power PILOT.bakeoff, or --toml for the plan")
    if given.campaign is not None:
        if as_toml or trials:
            what = "--toml" if as_toml else "--trials"
            raise PlanError(
                f"{what} is about one suite: name it with its contenders, or its run file, not the campaign"
            )
        from bakeoff.cli.measure.campaign import plan_campaign

        plan_campaign(given, power or (), as_json)
        return
    given = _objective_in_head(given)
    known = bool(given.contenders) or given.repeats is not None
    if not known:
        given = replace(given, contenders=_placeholders(given))
    resolved = resolve_plan(given)
    if as_toml:
        typer.echo(_as_toml(given, resolved), nl=False)
        _tell_secrets(given, resolved)
        return
    console = make_console()
    part, acts = run_part(resolved.kind), typed_acts(given, resolved)
    seen = part.foresee(resolved, calibrate, acts) if known else Foreseen(expected_duration(resolved))
    found = seen.expected
    if power:
        from bakeoff.cli.planning.power import print_power
        from bakeoff.plan.campaign import campaign_of_one

        print_power(power, campaign_of_one(resolved), as_json, {"": found})
        return
    for line in (*_lines(resolved, known, found), *seen.lines):
        print_line(console, line)
    if resolved.factors:
        console.print(_design(resolved))
    console.print(plan_words(resolved).blocks(resolved))
    if trials:
        console.print(_trials(resolved))
    console.print("\nWhat this many blocks can show (sign-flip test on pairs, two-sided):", markup=False)
    console.print(_blocks_table(resolved, found))
    print_line(console, advice(resolved))


def _as_toml(given: PlanInput, plan: Plan) -> str:
    """The plan file, for a run's plan one that means the same as far as this version can say it."""
    if given.repeats is None:
        return plan_to_toml(placed(given), plan)
    written = plan_input_of(plan, given.origin)
    other = resolve_plan(written)
    if other.hash != plan.hash:
        typer.echo(
            f"{given.origin} was made by another version: the meaning of this file differs in "
            f"{differences_of(plan, other)}; `bakeoff run {given.origin}` repeats it as it was",
            err=True,
        )
    return plan_to_toml(written, other)


def _tell_secrets(given: PlanInput, plan: Plan) -> None:
    written = given if given.repeats is None else plan_input_of(plan, given.origin)
    for name in masked_input(written, plan)[1]:
        typer.echo(f"{name} stands for a secret that the plan file omits: export it before the run", err=True)


def _placeholders(given: PlanInput) -> list[dict[str, str]]:
    """Contenders that fit the suite, where none are named."""
    suite = str(given.plan.get("suite"))
    addresses = plan_part(load_suite(suite).suite.kind).placeholders
    return [{"name": name, "address": address} for name, address in zip("AB", addresses, strict=True)]


def typed_acts(given: PlanInput, plan: Plan) -> bool:
    """Whether all that settings do to this machine was typed by flags: what a file asks for is only looked at."""
    acting = {field.alias or name for name, field in acting_settings(plan)}
    return given.repeats is None and all(("settings", key) in given.flags for key in acting)


def _objective_in_head(given: PlanInput) -> PlanInput:
    """--objective is that of a search, or beside loads what trials are held to, as `bakeoff run` has it."""
    typed = given.flags.get(("capacity", "objective"))
    if typed is None or given.capacity is None or given.capacity.keys() != {"objective"}:
        return given
    if not given.settings.keys() & set(LOADS):
        return given
    return replace(
        given,
        plan={**given.plan, **given.capacity},
        flags={**given.flags, ("plan", "objective"): typed},
        capacity=None,
    )


def _lines(plan: Plan, known: bool, found: ExpectedDuration) -> list[str]:
    s = plan.settings
    lines = [
        f"{plan.name}: suite {plan.suite} ({plan.title}), size {plan.size}, modelled on {plan.modelled_on}",
        f"plan {plan.hash[:12]}, seed {plan.seed}, smallest difference that matters {plan.delta:.1%}",
        *(_factors(plan) or _contenders(plan, known)),
        *_fleet(plan),
        *plan_words(plan).loads(plan),
        *([f"each trial is held to {plan.objective}"] if plan.objective else []),
    ]
    if s.clock.operations is not None:
        lines.append(f"each ends after {s.clock.operations:,} operations, or at the latest after {s.length_s:g} s")
    elif s.ends_with_its_work:
        counted = "" if s.counted_length_s is None else f" (about {short_duration(s.counted_length_s)})"
        lines.append(f"each ends when its work is done{counted}, or at the latest after {short_duration(s.length_s)}")
        lines += _work(plan)
    else:
        lines.append(
            f"each {s.length_s:g} s: ramp up {s.clock.ramp_up_s:g} s, measured {s.window_s:g} s, ramp down "
            f"{s.clock.ramp_down_s:g} s"
        )
    lines += _arrivals(s.load_steps, s.length_s)
    lines.append(f"order of a block: {plan.order} ({WORDS[plan.order]}), {why(plan)}")
    lines.append(f"what decides: {plan.primary}")
    if plan.interim_analyses:
        until = f", until {plan.until.replace('=', ' ')}" if plan.until else ""
        lines.append(f"interim analyses after {', '.join(map(str, plan.interim_analyses))} blocks{until}")
    resets = " and the resets" if any(c.reset for c in plan.contenders) else ""
    lines.append(f"duration: {_how_long(plan, found)}{resets}{_around(plan)}")
    lines += [f"(assumed) {text}" for text in plan.assumed]
    return lines + [f"(not as published) {text}" for text in plan.differences]


def _arrivals(load_steps: Sequence[LoadStep], length_s: float) -> list[str]:
    """How the operations of rates begin; nothing of clients, who begin when they were answered."""
    rates = [load_step for load_step in load_steps if isinstance(load_step, Rate)]
    if not rates:
        return []
    starts = [rate.arrivals.planned(rate.per_s, 0.0, length_s, length_s) for rate in rates]
    most = f"{max(starts):,.0f}" if len(starts) == 1 else f"{min(starts):,.0f} to {max(starts):,.0f}"
    return [
        f"open-loop load: operations begin {rates[0].arrivals.words}, about {most} in a trial, without waiting for "
        f"replies, on {rates[0].most_connections:,} connections at most, opened as they are needed"
    ]


def _work(plan: Plan) -> list[str]:
    """What a trial comes to that ends with its work, of the highest load step."""
    work = plan.settings.work(plan.settings.load_steps[-1])
    if work is None:
        return []
    moved = f", {format_size(work.bytes)} in {work.calls:,} transfers" if work.bytes else ""
    return [f"a trial has {work.cells:,} cells{moved}"]


def _how_long(plan: Plan, found: ExpectedDuration) -> str:
    """How long it takes, and how that is known; of searches also what they take that do not end as most do."""
    how = "at most" if found.how == "limit" else "about"
    if found.how == "measured":
        return f"{how} {short_duration(found.run_s)}, by a short try in each folder"
    speed = f" at {LINK_BYTES_PER_S / 1e6:g} MB/s, a network of 1 Gbit/s" if found.how == "speed" else ""
    most_s = found.setup_teardown_s + found.measuring_s * plan.most_trials / plan.trials
    most = "" if plan.most_trials == plan.trials else f", {short_duration(most_s)} at most"
    return f"{how} {short_duration(found.run_s)}{speed}{most}"


def _around(plan: Plan) -> str:
    """What comes on top for what is done before and after trials, in numbers: only servers decide how much."""
    each_s = plan.settings.setup_teardown_s
    if not each_s:
        return ""
    most = f"{plan.most_trials} x {format_duration(each_s)} = {short_duration(plan.most_trials * each_s)}"
    return f"; the servers add at most {most}: {plan.settings.setup_teardown_text}"


def _contenders(plan: Plan, known: bool) -> list[str]:
    part = plan_part(plan.kind)
    own = {c.name: f" ({client_options_text(part, c.settings)})" if c.settings else "" for c in plan.contenders}
    listed = ", ".join(f"{c.name} {c.address}{own[c.name]}" for c in plan.contenders)
    return [f"contenders: {listed}{'' if known else ' (assumed)'}"]


def _factors(plan: Plan) -> list[str]:
    """Which settings are tried at which levels, and what a comparison will tell of them: nothing of one that has the
    same level everywhere.
    """
    tried = sum(len(factor.levels) > 1 for factor in plan.factors)
    if not tried:
        return []
    levels = " x ".join(f"{factor.name} ({', '.join(factor.levels)})" for factor in plan.factors)
    having = [contender for contender in plan.contenders if contender.levels]
    number, whole = len(having), prod(len(factor.levels) for factor in plan.factors)
    of = f"{number} combinations" if number == whole else f"{number} of {whole} combinations"
    if without := len(plan.contenders) - number:
        of += f", and {plural(without, 'contender')} without a level"
    several = {factor.name for factor in plan.factors if len(factor.levels) > 1}
    # A contender that has three factors has three pairs of them, and the three together.
    joint = len(
        {
            chosen
            for contender in having
            for order in range(2, tried + 1)
            for chosen in combinations(sorted(several & set(contender.levels)), order)
        }
    )
    joined = f" and {plural(joint, 'interaction')} of them" if joint else ""
    effects = f"{plural(tried, 'main effect')}"
    return [f"factors: {levels}: {of}; tells {effects}{joined}, from pairs inside blocks"]


def _design(plan: Plan) -> Table:
    """What each contender is a combination of."""
    table = Table(box=None, pad_edge=False)
    part, differ = plan_part(plan.kind), len(plan.groups) > 1
    for column in ("contender", *(factor.name for factor in plan.factors), "address", "reset", *["settings"] * differ):
        table.add_column(Text(column), overflow="fold")
    for contender in plan.contenders:
        levels = (contender.levels.get(factor.name, "–") for factor in plan.factors)
        own = [client_options_text(part, contender.settings) or "those of the run"] * differ
        cells = (contender.name, *levels, contender.address, contender.reset or "-", *own)
        table.add_row(*(Text(sanitize(cell)) for cell in cells))
    return table


def _fleet(plan: Plan) -> list[str]:
    """The machines that send load, where these are several or one sees a contender elsewhere."""
    fleet = plan.fleet
    lines = []
    if fleet.agents > 1:
        least = fleet.agents if fleet.least is None else fleet.least
        lines.append(
            f"load machines: {fleet.agents}, which divide each load step among them and begin within "
            f"{format_duration(fleet.start_spread_s)} of each other; the run goes on with {least}"
        )
    for agent, addresses in fleet.addresses.items():
        lines.append(f"from {agent}: " + ", ".join(f"{name} {address}" for name, address in addresses.items()))
    lines += [f"warning: {text}" for text in fleet.one_sided([contender.name for contender in plan.contenders])]
    return lines


def _trials(plan: Plan) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("order", "block", "contender", plan.settings.load_steps[0].unit):
        table.add_column(column)
    for t in order_trials(plan):
        table.add_row(str(t.order), str(t.block), t.contender, str(t.load_step))
    return table


def _blocks_table(plan: Plan, found: ExpectedDuration) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("blocks", justify="right")
    table.add_column("smallest p", justify="right")
    table.add_column("at most" if found.how == "limit" else "duration", justify="right")
    table.add_column("")
    once_s, per_block_s = found.layout_s + found.setup_teardown_s, found.trials_s / plan.blocks
    for blocks in sorted({3, 4, 5, 6, 7, 8, 10, 13, plan.blocks}):
        notes = {
            MINIMUM_BLOCKS: "fewest for a verdict",
            DEFAULT_BLOCKS: "default",
            CELL_BLOCKS: f"for claims about single {single_name(plan)}",
        }
        note = notes.get(blocks, "no verdict" if blocks < MINIMUM_BLOCKS else "")
        if blocks == plan.blocks:
            note = ", ".join(part for part in ("this plan", note) if part)
        table.add_row(str(blocks), f"{smallest_p(blocks):.3g}", short_duration(once_s + per_block_s * blocks), note)
    return table
