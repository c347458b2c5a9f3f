"""What the verbs do with a campaign: a file with several suites, and the folder in which it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.agents.base import Agent
from bakeoff.agents.make import make_agents
from bakeoff.cli.console import make_console
from bakeoff.cli.counsel import make_counsel
from bakeoff.cli.result import EXIT_CONTENDER_FAILED, EXIT_INTERRUPTED, EXIT_NOTHING_COMPARABLE
from bakeoff.errors import PlanError
from bakeoff.plan.campaign import Campaign, read_campaign
from bakeoff.plan.durations import expected
from bakeoff.plan.load import PlanInput
from bakeoff.plan.model import Plan
from bakeoff.run.campaign import resume_campaign, start_campaign
from bakeoff.run.driver import RunInterruptedError
from bakeoff.run.observer import Observer, short_duration
from bakeoff.store.campaign import CampaignFolder, read_campaign_folder

if TYPE_CHECKING:
    from bakeoff.compare.campaign_model import CampaignComparison


def planned(given: PlanInput) -> Campaign:
    """The campaign of a plan file. Raises PlanError, also where flags stand beside it."""
    assert given.campaign is not None
    if given.plan or given.settings or given.contenders or given.capacity is not None or given.fleet:
        named = [given.label(table)(key) for table, key in given.flags]
        raise PlanError(
            f"{given.campaign} is a campaign, whose suites have their settings in it: leave out "
            f"{', '.join(named) or 'what stands beside it'}"
        )
    return read_campaign(given.campaign)


def run_campaign(given: PlanInput, output: Path | None, cluster: str | None, observer: Observer) -> None:
    """Measure a campaign into its folder and print the result."""
    campaign = planned(given)
    path = output or Path(f"{campaign.name}-{datetime.now():%Y%m%d-%H%M%S}.bakeoff")

    def agents(plan: Plan) -> Sequence[Agent]:
        return make_agents(plan, cluster)

    try:
        start_campaign(campaign, path, agents, observer, _say, make_counsel())
    except RunInterruptedError:
        _interrupted(path)
    print_campaign(path)


def go_on(path: Path, cluster: str | None, trust: bool, observer: Observer) -> None:
    """Go on with a campaign and print the result."""

    def agents(plan: Plan) -> Sequence[Agent]:
        return make_agents(plan, cluster)

    try:
        resume_campaign(path, agents, observer, _say, trust, make_counsel())
    except RunInterruptedError:
        _interrupted(path)
    print_campaign(path)


def _interrupted(path: Path) -> None:
    typer.echo(f"bakeoff: interrupted; what was measured is in {path}. Go on with: bakeoff resume {path}", err=True)
    raise typer.Exit(EXIT_INTERRUPTED)


def _say(text: str) -> None:
    typer.echo(text, err=True)


def print_plan(given: PlanInput) -> None:
    """What a campaign would do."""
    campaign, console = planned(given), make_console()
    whole_s = sum(expected(leg.plan).run_s for leg in campaign.legs)
    console.print(f"{campaign.title}: {len(campaign.legs)} suites, about {short_duration(whole_s)}", markup=False)
    for leg in campaign.legs:
        names = ", ".join(contender.name for contender in leg.plan.contenders)
        length = short_duration(expected(leg.plan).run_s)
        console.print(
            f"  {leg.name}: {leg.plan.size}, {leg.plan.blocks} blocks, {leg.plan.trials} trials, about {length}; "
            f"weight {leg.weight:g}; {names}",
            markup=False,
            soft_wrap=True,
        )
    console.print("Order of blocks, round by round:")
    for number, legs in enumerate(campaign.rounds(), 1):
        text = ", ".join(f"{leg.name} {block}" for leg, block in legs)
        console.print(f"  {number}: {text}", markup=False, soft_wrap=True)


def compared(
    path: Path, baseline: str | None = None, delta: float | None = None
) -> tuple[CampaignFolder, CampaignComparison]:
    """A campaign and what the statistics say of it."""
    from bakeoff.compare.campaign import Measured, compare_campaign  # NumPy and SciPy take a moment

    folder = read_campaign_folder(path)
    campaign = folder.campaign
    if baseline is not None and baseline not in campaign.contenders:
        raise PlanError(f"there is no contender {baseline!r}: choose one of {', '.join(campaign.contenders)}")
    measured = [
        Measured(leg.name, leg.weight, folder.runs.get(leg.name), folder.faults.get(leg.name, ""))
        for leg in campaign.legs
    ]
    made = compare_campaign(campaign.name, campaign.title, campaign.contenders, measured, baseline, delta)
    return folder, made


def facts_of(folder: CampaignFolder) -> tuple[tuple[str, str], ...]:
    """What stands beside the result."""
    runs = list(folder.runs.values())
    blocks = ", ".join(
        f"{leg.name} {len({trial.block for trial in folder.runs[leg.name].trials})} of {leg.plan['blocks']}"
        if leg.name in folder.runs
        else f"{leg.name} none"
        for leg in folder.campaign.legs
    )
    return (
        ("Campaign", folder.campaign.name),
        ("Folder", folder.path.name),
        ("Started", min((run.created_at for run in runs), default="not yet")),
        ("Blocks begun", blocks),
        ("Plan", folder.campaign.hash[:12]),
        ("Bakeoff", runs[0].tool.get("version", "unknown version") if runs else "unknown version"),
    )


def print_campaign(path: Path) -> None:
    """The result over all suites and what to do next. Exits with 3 where nothing is comparable, with 4 where a suite
    could not be carried out.
    """
    from bakeoff.report.campaign import compose_campaign
    from bakeoff.report.depth import Depth
    from bakeoff.report.renderers.terminal import show

    folder, made = compared(path)
    console = make_console()
    show(compose_campaign(made, folder.runs, facts_of(folder), depth=Depth.SUMMARY), console, Depth.SUMMARY)
    console.print(
        f"\nCampaign: {path}\nNext: bakeoff compare {path}   |   bakeoff report {path} -o paper.pdf",
        markup=False,
        soft_wrap=True,
    )
    if not made.verdicts:
        raise typer.Exit(EXIT_NOTHING_COMPARABLE)
    if any(suite.missing for suite in made.suites):
        raise typer.Exit(EXIT_CONTENDER_FAILED)
