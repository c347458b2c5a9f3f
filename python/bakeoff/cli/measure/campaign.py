"""What the verbs do with a campaign: a file with several suites, and the folder in which it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import typer

from bakeoff.agents.make import make_agents
from bakeoff.cli.console import make_console, print_line
from bakeoff.cli.measure.prompts import make_prompts
from bakeoff.cli.measure.result import (
    EXIT_CONTENDER_FAILED,
    EXIT_INTERRUPTED,
    EXIT_NOTHING_COMPARABLE,
    end_by_objectives,
    failed_contenders,
)
from bakeoff.cli.planning.reach import campaign_advice
from bakeoff.core.errors import PlanError
from bakeoff.noise_floors import noise_for
from bakeoff.plan.campaign import Campaign, read_campaign
from bakeoff.plan.design.durations import expected_duration
from bakeoff.plan.load import PlanInput
from bakeoff.run.driver import RunInterruptedError
from bakeoff.run.modes.campaign import resume_campaign, start_campaign
from bakeoff.run.observe.observer import Observer, short_duration
from bakeoff.store.collections.campaign import read_campaign_folder
from bakeoff.store.collections.challenged import ChallengedCampaign


def planned(given: PlanInput) -> Campaign:
    """The campaign of a plan file. Raises PlanError, also where flags stand beside it."""
    assert given.campaign is not None
    if given.plan or given.settings or given.contenders or given.capacity is not None or given.fleet or given.factors:
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
    start(campaign, path, cluster, observer)
    print_campaign(path)


def start(
    campaign: Campaign,
    path: Path,
    cluster: str | None,
    observer: Observer,
    challenges: ChallengedCampaign | None = None,
) -> None:
    """Measure a campaign into its folder, with what it challenges. Exits with 130 on Ctrl-C."""
    agents = partial(make_agents, cluster=cluster)
    try:
        start_campaign(campaign, path, agents, observer, _say, make_prompts(), challenges)
    except RunInterruptedError:
        _interrupted(path)


def go_on(path: Path, cluster: str | None, trust: bool, observer: Observer) -> None:
    """Go on with a campaign and print the result."""
    try:
        resume_campaign(path, partial(make_agents, cluster=cluster), observer, _say, trust, make_prompts())
    except RunInterruptedError:
        _interrupted(path)
    print_campaign(path)


def _interrupted(path: Path) -> None:
    typer.echo(f"bakeoff: interrupted; what was measured is in {path}. Go on with: bakeoff resume {path}", err=True)
    raise typer.Exit(EXIT_INTERRUPTED)


def _say(text: str) -> None:
    typer.echo(text, err=True)


def plan_campaign(given: PlanInput, pilots: Sequence[Path] = (), as_json: bool = False) -> None:
    """What a campaign would do, or by `pilots` how many blocks it needs."""
    campaign = planned(given)
    if not pilots:
        _print_plan(campaign)
        return
    from bakeoff.cli.planning.power import print_power

    print_power(pilots, campaign, as_json)


def _print_plan(campaign: Campaign) -> None:
    console = make_console()
    whole_s = sum(expected_duration(suite_run.plan).run_s for suite_run in campaign.suite_runs)
    console.print(f"{campaign.title}: {len(campaign.suite_runs)} suites, about {short_duration(whole_s)}", markup=False)
    for suite_run in campaign.suite_runs:
        names = ", ".join(contender.name for contender in suite_run.plan.contenders)
        length = short_duration(expected_duration(suite_run.plan).run_s)
        console.print(
            f"  {suite_run.name}: {suite_run.plan.size}, {suite_run.plan.blocks} blocks, {suite_run.plan.trials} "
            f"trials, about {length}; weight {suite_run.weight:g}; "
            f"{names}{f'; held to {suite_run.plan.objective}' if suite_run.plan.objective else ''}",
            markup=False,
            soft_wrap=True,
        )
    if campaign.factors:
        levels = " x ".join(f"{factor.name} ({', '.join(factor.levels)})" for factor in campaign.factors)
        print_line(console, f"Factors: {levels}")
    for line in campaign_advice(campaign):
        print_line(console, line)
    console.print("Order of blocks, round by round:")
    for number, suite_runs in enumerate(campaign.rounds(), 1):
        text = ", ".join(f"{suite_run.name} {block}" for suite_run, block in suite_runs)
        print_line(console, f"  {number}: {text}")


def print_campaign(path: Path, aa: Sequence[Path] | None = None) -> None:
    """The result over all suites and what to do next. Exits with 99 where an objective is missed in some suite, with 5
    where one is not decided, with 3 where nothing is comparable, with 4 where a suite could not be carried out, or a
    contender failed or is missing.
    """
    from bakeoff.compare.collections.campaign import compare_folder  # NumPy and SciPy take a moment
    from bakeoff.report.collections.campaign import compose_campaign, facts_of
    from bakeoff.report.layout.detail import Detail
    from bakeoff.report.renderers.terminal import show

    folder = read_campaign_folder(path)
    made = compare_folder(folder, noise=noise_for([path], aa, folder))
    console = make_console()
    show(compose_campaign(made, folder, facts_of(folder), detail=Detail.SUMMARY), console, Detail.SUMMARY)
    console.print(
        f"\nCampaign: {path}\nNext: bakeoff compare {path}   |   bakeoff report {path} -o paper.pdf",
        markup=False,
        soft_wrap=True,
    )
    failed = [
        f"{suite.name}: {who}"
        for suite in made.suites
        if suite.comparison is not None and (who := failed_contenders(folder.runs[suite.name], suite.comparison))
    ]
    for text in failed:
        typer.echo(f"bakeoff: {text}", err=True)
    end_by_objectives((suite.name, suite.comparison.objective) for suite in made.suites if suite.comparison)
    if not made.verdicts and (len(made.contenders) > 1 or not folder.runs):
        raise typer.Exit(EXIT_NOTHING_COMPARABLE)
    if failed or any(suite.dead or (suite.is_missing and suite.name not in folder.left_out) for suite in made.suites):
        raise typer.Exit(EXIT_CONTENDER_FAILED)
