"""What `bakeoff plan … --power PILOT.bakeoff` prints: how many blocks, and hours, an answer takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from bakeoff.cli.console import make_console, print_line
from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.plan.design.durations import ExpectedDuration
from bakeoff.plan.model import Plan
from bakeoff.run.observe.observer import short_duration
from bakeoff.store.collections.campaign import is_campaign_folder, read_campaign_folder
from bakeoff.store.sqlite.read import read_run

if TYPE_CHECKING:
    from bakeoff.compare.planning.power import Need, Power, Series
    from bakeoff.compare.planning.power_campaign import CampaignNeed, Pilot


def print_power(paths: Sequence[Path], plan: Plan, found: ExpectedDuration, as_json: bool) -> None:
    """The answer as a table with what it rests on, or as JSON. Raises PlanError."""
    from bakeoff.compare.planning.power import power_of  # NumPy and SciPy take a moment
    from bakeoff.compare.planning.power_time import block_time
    from bakeoff.report.narrate.document import plain
    from bakeoff.report.narrate.sentences import sentence

    if plan.capacity is not None:
        raise PlanError("--power tells of verdicts on endpoints: plan the suite without a search for capacities")
    pilot = _pilot_of(plan.suite, paths)
    block_s, by = block_time(pilot.run, pilot.blocks_s, plan, found)
    power = power_of(pilot.run, plan, block_s, found.layout_s, block_by=by)
    if as_json:
        typer.echo(json.dumps(plain(power), indent=2, ensure_ascii=False))
        return
    from bakeoff.report.narrate import wording

    console = make_console()

    def say(line: str) -> None:
        print_line(console, line)

    primary, *load_steps = power.series
    say(f"How many blocks {plan.name} needs, by the spread of {power.pilot} ({power.pilot_created_at[:10]}):")
    for each in power.series:
        say(f"\n{spread(each)}")
        console.print(table_of(each.needs, power.delta))
    say("")
    if shown := shown_by(power):
        say(f"The {power.plan_blocks} blocks of this plan see a difference of {shown}.")
    say(f"A block takes {time_of(power.block_s, power.block_by)}.")
    for line in (
        *_rules(power.pairs, len(load_steps), power.interim_analyses),
        *(f"(assumed) {sentence(one)}" for one in power.assumed),
    ):
        say(line)
    smaller = [need.difference for need in primary.needs if need.difference and need.difference <= power.delta]
    if smaller:
        delta, least = wording.percent(power.delta), wording.percent(min(smaller))
        say(
            f"With δ = {delta} a true difference up to {delta} is mostly called “faster; whether by more than {delta} "
            f"is open”: with a --delta below {least} all of these have a winner."
        )


def read_pilots(paths: Sequence[Path]) -> list[Pilot]:
    """The runs of files and of folders of campaigns. Raises RunFileError."""
    from bakeoff.compare.planning.power_campaign import pilots_of

    found: list[Pilot] = []
    for path in paths:
        found += pilots_of(read_campaign_folder(path).runs if is_campaign_folder(path) else {"": read_run(path)})
    return found


def _pilot_of(suite: str, paths: Sequence[Path]) -> Pilot:
    from bakeoff.compare.planning.power_campaign import chosen_pilot

    pilots = read_pilots(paths)
    if len(paths) == 1 and not is_campaign_folder(paths[0]):
        return pilots[0]
    chosen = chosen_pilot("", suite, pilots)
    if chosen is None:
        raise PlanError(f"--power: {', '.join(map(str, paths))} has no run of {suite}: name a run file of it")
    return chosen


def table_of(needs: Sequence[Need] | Sequence[CampaignNeed], delta: float) -> Table:
    """A line for each difference; for a campaign also how long it takes where each suite has its own blocks."""
    from bakeoff.report.narrate import wording

    drawn = Table(box=None, pad_edge=False)
    drawn.add_column("to see")
    own = ["own"] if any(hasattr(need, "own_duration_s") for need in needs) else []
    for share in sorted({need.power for need in needs}):
        for title in (f"in {share:.0%} of runs", "that is", "range", *own):
            drawn.add_column(title, justify="right")
    by_difference: dict[float | None, list[str]] = {}
    for need in needs:
        by_difference.setdefault(need.difference, []).extend(_cells(need))
    for difference, row in by_difference.items():
        equal = f"equal within ±{wording.percent(delta)}"
        drawn.add_row(equal if difference is None else f"{wording.percent(difference)} faster", *row)
    return drawn


def _cells(need: Need | CampaignNeed) -> list[str]:
    ends = _blocks(need.low) if need.low == need.high else f"{_blocks(need.low)} – {_blocks(need.high)}"
    own = [_duration(need.own_duration_s)] if hasattr(need, "own_duration_s") else []
    return [_blocks(need.blocks), _duration(need.duration_s), ends, *own]


def _blocks(number: int | None) -> str:
    return "> 10,000" if number is None else f"{number:,}"


def _duration(length_s: float | None) -> str:
    return "–" if length_s is None else short_duration(length_s)


def spread(series: Series) -> str:
    """By how much the ratios of blocks varied, and at which level is tested."""
    from bakeoff.report.narrate import wording

    low, high = (wording.percent(end) for end in (series.log_sd_low, series.log_sd_high))
    return (
        f"{series.title}: ratios of blocks spread by {wording.percent(series.log_sd)} ({low} to {high}, of "
        f"{wording.plural(series.blocks, 'block')}); tests at {100.0 * series.alpha:.3g} %"
    )


def shown_by(power: Power) -> str:
    """ "4.2 % in 80 % of runs, of 5 % in 90 %": what the blocks of the plan as it stands show; empty under six."""
    from bakeoff.report.narrate import wording

    if power.plan_blocks < MINIMUM_BLOCKS:
        return ""
    often, surely = (wording.percent(share) for share in power.series[0].shown)
    return f"{often} in 80 % of runs, of {surely} in 90 %"


def time_of(block_s: float, by: str) -> str:
    """ "31 s, as in the pilot"."""
    return f"{short_duration(block_s)}, {'as in the pilot' if by == 'pilot' else 'by the forecast of the plan'}"


def _rules(pairs: int, load_steps: int, interim_analyses: tuple[int, ...]) -> list[str]:
    """At which level it is judged, and why."""
    parts = [*rule_of(interim_analyses)]
    if pairs > 1:
        parts.append(f"Holm over {pairs} pairs, by its strictest step")
    if load_steps:
        parts.append(f"single load steps are judged all {load_steps} together")
    return [judged(parts), RANGE]


def rule_of(interim_analyses: tuple[int, ...]) -> list[str]:
    """What of the 5 % of false calls is kept, and for what."""
    parts = ["0.5 of the 5 % of false calls are kept for blocks added later"]
    if interim_analyses:
        parts.append(
            f"interim analyses after {', '.join(map(str, interim_analyses))} blocks spend theirs (the blocks above are "
            "those at the last)"
        )
    return parts


def judged(parts: Sequence[str]) -> str:
    """All of it in a sentence."""
    return f"Judged as verdicts are: {'; '.join(parts)}. Six blocks are the fewest for a verdict (sign-flip test)."


RANGE = "The range follows the pilot's spread (80 %): take its upper end to be sure of an answer."
