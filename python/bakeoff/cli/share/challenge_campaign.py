"""`bakeoff challenge` of a report on a campaign: all suites again for which the challenger has an address."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.agents.make import make_agents
from bakeoff.cli.measure.campaign import start
from bakeoff.cli.measure.run import make_observer
from bakeoff.cli.share.challenge import print_rerun
from bakeoff.cli.share.challenge_source import Source, agree
from bakeoff.run.modes.challenge import Challenger, chosen
from bakeoff.run.modes.challenge_campaign import (
    campaign_of,
    campaign_to_challenge,
    challenged_of,
    rerun_plans,
    reruns_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def challenge_campaign(
    source: Source, own: Challenger, words: Sequence[str], trust: bool, cluster: str | None, output: Path
) -> None:
    """Measure the challenger by the plans of a campaign's report into a new campaign, when the user agrees to them."""
    to_challenge = campaign_to_challenge(source.data, own, str(source.path), source.stored)
    wanted = chosen(to_challenge.contenders, words)
    agree(source, rerun_plans(to_challenge, wanted), [mine for _, _, mine in to_challenge.again], trust)
    agents = partial(make_agents, cluster=cluster)
    found = reruns_of(to_challenge, wanted, None if words else agents)
    for suite in to_challenge.suites:
        if suite.left_out:
            typer.echo(f"{suite.reported.name} is left out: {suite.left_out}", err=True)
        else:
            print_rerun(own.name, found[suite.reported.name], suite.reported.name)
    challenged = challenged_of(to_challenge, own, found, source.path.name, source.sha256)
    start(campaign_of(to_challenge, own, found), output, cluster, make_observer(), challenged)
