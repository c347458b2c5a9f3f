"""What `bakeoff plan CAMPAIGN.toml --power PILOT.bakeoff` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from bakeoff.cli.console import make_console, print_line
from bakeoff.cli.planning.power import RANGE, judged, read_pilots, rule_of, shown_by, spread, table_of, time_of
from bakeoff.core.errors import PlanError
from bakeoff.plan.campaign import Campaign


def print_campaign_power(paths: Sequence[Path], campaign: Campaign, as_json: bool) -> None:
    """The answer over all suites, then for each, or as JSON. Raises PlanError."""
    from bakeoff.compare.planning.power_campaign import power_of_campaign
    from bakeoff.report.narrate import wording  # NumPy and SciPy take a moment
    from bakeoff.report.narrate.document import plain
    from bakeoff.report.narrate.sentences import sentence

    found = power_of_campaign(read_pilots(paths), campaign)
    why_not = {suite.name: sentence(suite.why_not) for suite in found.suites if suite.why_not is not None}
    if len(why_not) == len(found.suites):
        raise PlanError("; ".join(f"{name}: {why}" for name, why in why_not.items()))
    if as_json:
        typer.echo(json.dumps(plain(found), indent=2, ensure_ascii=False))
        return
    console = make_console()

    def say(line: str) -> None:
        print_line(console, line)

    known = [(suite, suite.power) for suite in found.suites if suite.power is not None]
    deltas = {power.delta for _, power in known}
    say(f"How many blocks {campaign.title} needs, by the spread of {wording.names([f'{path}' for path in paths])}:")
    say("\nIn each suite, with as many blocks in all of them:")
    console.print(table_of(found.needs, max(deltas)))
    if len(known) > 1:
        most = {need.suite for need in found.needs}
        who = f"{found.needs[0].suite} needs the most. " if len(most) == 1 else ""
        say(f"{who}Own: where each suite has the blocks that it needs by itself.")
    for suite, power in known:
        say(f"\n{suite.name}: {spread(power.series[0])}")
        console.print(table_of(power.series[0].needs, power.delta))
        if shown := shown_by(power):
            say(f"The {suite.blocks} blocks of this plan see a difference of {shown}.")
        say(f"A block takes {time_of(suite.block_s, suite.block_by)}.")
        for one in power.assumed:
            say(f"(assumed) {sentence(one)}")
    say("")
    for suite in found.suites:
        if suite.power is None:
            say(
                f"{suite.name}: {why_not[suite.name]}, so it has no forecast; in the hours of all it has as many "
                f"blocks as the others (a block takes {time_of(suite.block_s, suite.block_by)})."
            )
    parts = rule_of(next((power.interim_analyses for _, power in known if power.interim_analyses), ()))
    if found.family > 1:
        parts.append(f"Holm over the {found.family} pairs of all suites, by its strictest step")
    say(judged(parts))
    say(RANGE)
    say("Suites have blocks of their own by `blocks` in their [[suite]], all of them by `blocks` in [campaign].")
