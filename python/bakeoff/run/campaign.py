"""The story of a campaign: block after block of each of its suites, in an order that lets drift hit all alike.

Each suite is a run of its own, which is gone on with block by block. One that cannot start, or whose servers are gone,
is put aside with its reason; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bakeoff.agents.base import Agent
from bakeoff.errors import BakeoffError, RunFileError
from bakeoff.plan.campaign import FORMAT, Campaign, Leg
from bakeoff.plan.model import Plan
from bakeoff.run.counsel import NOBODY, Counsel
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.run.observer import Observer
from bakeoff.run.started_here import is_marked, mark
from bakeoff.run.trust import acts
from bakeoff.store.campaign import (
    CAMPAIGN,
    StoredCampaign,
    StoredLeg,
    read_mark,
    read_planned,
    write_campaign,
    write_faults,
    write_mark,
)

Agents = Callable[[Plan], Sequence[Agent]]
Say = Callable[[str], None]


def start_campaign(
    campaign: Campaign, path: Path, agents: Agents, observer: Observer, say: Say, counsel: Counsel = NOBODY
) -> None:
    """Run a campaign into the new folder `path`. Raises as `resume_campaign`."""
    try:
        path.mkdir()
    except FileExistsError:
        raise RunFileError(
            f"{path} exists already: choose another name with -o, or go on with it by `bakeoff resume {path}`"
        ) from None
    except OSError as error:
        raise RunFileError(f"{path} cannot be made ({error.strerror}): choose another name with -o") from None
    stored = stored_campaign(campaign)
    write_campaign(path, stored)
    write_mark(path, mark(path / CAMPAIGN, stored.hash))
    _carry_on(campaign, path, agents, observer, say, counsel)


def resume_campaign(
    path: Path, agents: Agents, observer: Observer, say: Say, trust: bool = False, counsel: Counsel = NOBODY
) -> None:
    """Go on with a campaign: the suites that could not start are tried again.

    Raises RunFileError when its plan may not be acted on, RunInterruptedError on Ctrl-C.
    """
    stored = read_planned(path)
    campaign = planned_campaign(stored)
    if not trust and not is_marked(path / CAMPAIGN, stored.hash, read_mark(path)):
        lines = "".join(f"  {line}\n" for leg in campaign.legs for line in acts(leg.plan))
        raise RunFileError(
            f"{path} was not started here by you, so nothing of its plan was done. To go on with it would:\n{lines}"
            f"If all of this may be done: bakeoff resume {path} --trust"
        )
    _carry_on(campaign, path, agents, observer, say, counsel)


def stored_campaign(campaign: Campaign) -> StoredCampaign:
    """What of a campaign is stored."""
    legs = [
        StoredLeg(name=leg.name, file=_file(number, leg.name), weight=leg.weight, plan=leg.plan.to_dict())
        for number, leg in enumerate(campaign.legs, 1)
    ]
    return StoredCampaign(
        format=FORMAT,
        name=campaign.name,
        title=campaign.title,
        seed=campaign.seed,
        contenders=campaign.contenders,
        legs=tuple(legs),
    )


def planned_campaign(stored: StoredCampaign) -> Campaign:
    """The campaign that was stored."""
    legs = tuple(Leg(leg.name, Plan.from_dict(leg.plan), leg.weight) for leg in stored.legs)
    return Campaign(stored.name, stored.title, stored.seed, stored.contenders, legs)


def _file(number: int, name: str) -> str:
    return f"{number:02}-{name}.bakeoff"


def _carry_on(campaign: Campaign, path: Path, agents: Agents, observer: Observer, say: Say, counsel: Counsel) -> None:
    files = {leg.name: path / leg.file for leg in read_planned(path).legs}
    faults: dict[str, str] = {}
    write_faults(path, faults)
    for legs in campaign.rounds():
        for leg, block in legs:
            if leg.name in faults:
                continue
            try:
                _one_block(leg, block, files[leg.name], agents, observer, say, counsel)
            except RunInterruptedError:
                raise RunInterruptedError(path) from None
            except BakeoffError as error:
                faults[leg.name] = str(error)
                write_faults(path, faults)
                say(f"{leg.name} is put aside: {error}")
    if len(faults) == len(campaign.legs):
        raise RunFileError(f"no suite of {path} could be carried out: put right what stands above")


def _one_block(
    leg: Leg, block: int, file: Path, agents: Agents, observer: Observer, say: Say, counsel: Counsel
) -> None:
    """Everything of a suite up to the end of this block that is not there yet."""
    if not file.exists():
        say(f"{leg.name}, block {block} of {leg.plan.blocks}")
        start_run(leg.plan, file, agents(leg.plan), observer, counsel, until_block=block)
        return
    if resume_run(file, lambda: agents(leg.plan), observer, leg.plan, counsel=counsel, until_block=block):
        say(f"{leg.name}, block {block} of {leg.plan.blocks}: measured")
