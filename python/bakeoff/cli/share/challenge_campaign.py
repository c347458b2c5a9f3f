"""`bakeoff challenge` of a report on a campaign: all suites again for which the challenger has an address."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bakeoff.agents.make import make_agents
from bakeoff.cli.measure.campaign import start
from bakeoff.cli.measure.run import make_observer
from bakeoff.cli.share.challenge import tell_beside
from bakeoff.cli.share.challenge_source import Source, agree
from bakeoff.run.modes.challenge import Challenger, chosen
from bakeoff.run.modes.challenge_campaign import campaign_of, challenged_of, found_beside, held_campaign, plans_beside

if TYPE_CHECKING:
    from collections.abc import Sequence


def challenge_campaign(
    source: Source, own: Challenger, words: Sequence[str], trust: bool, cluster: str | None, output: Path
) -> None:
    """Measure the challenger by the plans of a campaign's report into a new campaign, when the user agrees to them."""
    held = held_campaign(source.data, own, str(source.path), source.stored)
    wanted = chosen(held.contenders, words)
    agree(source, plans_beside(held, wanted), [mine for _, _, mine in held.again], trust)
    agents = partial(make_agents, cluster=cluster)
    found = found_beside(held, wanted, None if words else agents)
    for suite in held.suites:
        if suite.left_out:
            typer.echo(f"{suite.then.name} is left out: {suite.left_out}", err=True)
        else:
            tell_beside(own.name, found[suite.then.name], suite.then.name)
    challenged = challenged_of(held, own, found, source.path.name, source.sha256)
    start(campaign_of(held, own, found), output, cluster, make_observer(), challenged)
