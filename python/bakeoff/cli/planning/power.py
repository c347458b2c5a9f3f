"""What `bakeoff plan … --power PILOT.bakeoff` prints: how many blocks, and hours, an answer takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from bakeoff.cli.console import make_console, print_line
from bakeoff.core.errors import PlanError
from bakeoff.core.thresholds import MINIMUM_BLOCKS
from bakeoff.plan.campaign import Campaign
from bakeoff.plan.design.durations import ExpectedDuration
from bakeoff.run.observe.observer import short_duration
from bakeoff.store.collections.campaign import is_campaign_folder, read_campaign_folder
from bakeoff.store.sqlite.read import read_run

if TYPE_CHECKING:
    from bakeoff.compare.planning.power import Need, Power, Series
    from bakeoff.compare.planning.power_suites import CampaignNeed, CampaignPower, Pilot


def print_power(
    paths: Sequence[Path],
    campaign: Campaign,
    as_json: bool,
    expected: Mapping[str, ExpectedDuration] = MappingProxyType({}),
) -> None:
    """The answer over all suites where there are several, then for each, or as JSON. Raises PlanError."""
    from bakeoff.compare.planning.power_suites import power_of_suites  # NumPy and SciPy take a moment
    from bakeoff.report.narrate.document import plain
    from bakeoff.report.narrate.sentences import sentence

    if any(not suite_run.plan.shape.steps for suite_run in campaign.suite_runs):
        raise PlanError("--power needs endpoints with verdicts: plan the suite without a search for capacities")
    found = power_of_suites(_read_pilots(paths), campaign, expected)
    why_not = [(suite.name, sentence(suite.why_not)) for suite in found.suites if suite.why_not is not None]
    if len(why_not) == len(found.suites):
        raise PlanError("; ".join(f"{name}: {why}" if name else why for name, why in why_not))
    if as_json:
        power = found.suites[0].power if campaign.is_one else found
        typer.echo(json.dumps(plain(power), indent=2, ensure_ascii=False))
        return
    _print(found, campaign, make_console())


def _print(found: CampaignPower, campaign: Campaign, console: Console) -> None:
    from bakeoff.report.narrate import wording
    from bakeoff.report.narrate.sentences import sentence

    def say(line: str) -> None:
        print_line(console, line)

    known = [(suite.name, suite.power) for suite in found.suites if suite.power is not None]
    pilots = dict.fromkeys(f"{power.pilot} ({power.pilot_created_at[:10]})" for _, power in known)
    say(f"How many blocks {campaign.title} needs, by the spread of {wording.names(list(pilots))}:")
    if not campaign.is_one:
        _print_all(found, max(power.delta for _, power in known), console)
    for name, power in known:
        for series in power.series[: None if campaign.is_one else 1]:
            say(f"\n{f'{name}: ' if name else ''}{_spread(series)}")
            console.print(_table_of(series.needs, power.delta))
        for line in _rests_on(power):
            say(line)
    say("")
    for suite in found.suites:
        if suite.why_not is not None:
            say(
                f"{suite.name}: {sentence(suite.why_not)}, so it has no forecast; in the hours of all it has as many "
                f"blocks as the others (a block takes {_time_of(suite.block_s, suite.block_by)})."
            )
    say(_judged(found, campaign, [power for _, power in known]))
    for line in dict.fromkeys(line for _, power in known for line in _below_delta(power)):
        say(line)
    say("The range follows the pilot's spread (80 %): take its upper end to be sure of an answer.")
    if not campaign.is_one:
        say("Suites have blocks of their own by `blocks` in their [[suite]], all of them by `blocks` in [campaign].")


def _print_all(found: CampaignPower, delta: float, console: Console) -> None:
    """What it takes in every suite."""
    print_line(console, "\nIn each suite, with as many blocks in all of them:")
    console.print(_table_of(found.needs, delta))
    if sum(suite.power is not None for suite in found.suites) > 1:
        most = {need.suite for need in found.needs}
        who = f"{found.needs[0].suite} needs the most. " if len(most) == 1 else ""
        print_line(console, f"{who}Own: where each suite has the blocks that it needs by itself.")


def _rests_on(power: Power) -> Iterator[str]:
    """What the blocks of a plan show as it stands, how long one takes, and what is assumed."""
    from bakeoff.report.narrate import wording
    from bakeoff.report.narrate.sentences import sentence

    if power.plan_blocks >= MINIMUM_BLOCKS:
        often, surely = (wording.percent(share) for share in power.series[0].shown)
        yield (
            f"The {power.plan_blocks} blocks of this plan see a difference of {often} in 80 % of runs, of {surely} in "
            "90 %."
        )
    yield f"A block takes {_time_of(power.block_s, power.block_by)}."
    yield from (f"(assumed) {sentence(one)}" for one in power.assumed)


def _below_delta(power: Power) -> Iterator[str]:
    """That differences below δ are seen, and have no winner."""
    from bakeoff.report.narrate import wording

    needs = power.series[0].needs
    if smaller := [need.difference for need in needs if need.difference and need.difference <= power.delta]:
        delta, least = wording.percent(power.delta), wording.percent(min(smaller))
        yield (
            f"With δ = {delta} a true difference up to {delta} is mostly called “faster; whether by more than {delta} "
            f"is open”: with a --delta below {least} all of these have a winner."
        )


def _read_pilots(paths: Sequence[Path]) -> list[Pilot]:
    """The runs of files and of folders of campaigns. Raises RunFileError."""
    from bakeoff.compare.planning.power_suites import pilots_of

    found: list[Pilot] = []
    for path in paths:
        found += pilots_of(read_campaign_folder(path).runs if is_campaign_folder(path) else {"": read_run(path)})
    return found


def _table_of(needs: Sequence[Need] | Sequence[CampaignNeed], delta: float) -> Table:
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


def _spread(series: Series) -> str:
    """By how much the ratios of blocks varied, and at which level is tested."""
    from bakeoff.report.narrate import wording

    low, high = (wording.percent(end) for end in (series.log_sd_low, series.log_sd_high))
    return (
        f"{series.title}: ratios of blocks spread by {wording.percent(series.log_sd)} ({low} to {high}, of "
        f"{wording.plural(series.blocks, 'block')}); tests at {100.0 * series.alpha:.3g} %"
    )


def _time_of(block_s: float, by: str) -> str:
    """ "31 s, as in the pilot"."""
    return f"{short_duration(block_s)}, {'as in the pilot' if by == 'pilot' else 'by the forecast of the plan'}"


def _judged(found: CampaignPower, campaign: Campaign, known: Sequence[Power]) -> str:
    """At which level verdicts are judged, and why."""
    parts = ["0.5 of the 5 % of false calls are kept for blocks added later"]
    if interim := next((power.interim_analyses for power in known if power.interim_analyses), ()):
        parts.append(
            f"interim analyses after {', '.join(map(str, interim))} blocks spend theirs (the blocks above are those at "
            "the last)"
        )
    if found.family > 1:
        pairs = f"{found.family} pairs" if campaign.is_one else f"the {found.family} pairs of all suites"
        parts.append(f"Holm over {pairs}, by its strictest step")
    if campaign.is_one and (load_steps := len(known[0].series) - 1):
        parts.append(f"single load steps are judged all {load_steps} together")
    return f"Judged as verdicts are: {'; '.join(parts)}. Six blocks are the fewest for a verdict (sign-flip test)."
