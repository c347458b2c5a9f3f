"""The story of a campaign: block after block of each of its suites, in an order that lets drift hit all alike.

Each suite is a run of its own, which is gone on with block by block. A contender that is not there when a suite begins
is missing from it; one that is gone later loses its trials. A suite that cannot start, or all of whose servers are
gone, is put aside with its reason. Everything else goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bakeoff.agents.base import Agent
from bakeoff.core.errors import BakeoffError, RunFileError
from bakeoff.plan.campaign import Campaign, Leg
from bakeoff.plan.model import Plan
from bakeoff.run.checks.plan_origin import is_marked, mark
from bakeoff.run.checks.trust import acts
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.run.modes.challenge import with_contenders
from bakeoff.run.observe.deduplicating_observer import ToldOnce
from bakeoff.run.observe.observer import Observer
from bakeoff.run.prompts import NOBODY, Counsel
from bakeoff.store.collections.campaign import (
    CAMPAIGN,
    FORMAT,
    StoredCampaign,
    StoredLeg,
    read_challenged,
    read_mark,
    read_planned,
    write_campaign,
    write_challenged,
    write_faults,
    write_mark,
)
from bakeoff.store.collections.challenged import ChallengedCampaign
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run

Agents = Callable[[Plan], Sequence[Agent]]
Say = Callable[[str], None]


def start_campaign(
    campaign: Campaign,
    path: Path,
    agents: Agents,
    observer: Observer,
    say: Say,
    counsel: Counsel = NOBODY,
    challenges: ChallengedCampaign | None = None,
) -> None:
    """Run a campaign into the new folder `path`, with what it challenges there. Raises as `resume_campaign`."""
    try:
        path.mkdir()
    except FileExistsError:
        raise RunFileError(
            f"{path} exists already: choose another name with -o, or go on with it by `bakeoff resume {path}`"
        ) from None
    except OSError as error:
        raise RunFileError(f"{path} cannot be made ({error.strerror}): choose another name with -o") from None
    stored = stored_campaign(campaign, "" if challenges is None else write_challenged(path, challenges))
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


def stored_campaign(campaign: Campaign, challenges: str = "") -> StoredCampaign:
    """What of a campaign is stored; `challenges` is the SHA-256 of what it challenges."""
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
        challenges=challenges,
    )


def planned_campaign(stored: StoredCampaign) -> Campaign:
    """The campaign that was stored."""
    legs = tuple(Leg(leg.name, Plan.from_dict(leg.plan), leg.weight) for leg in stored.legs)
    return Campaign(stored.name, stored.title, stored.seed, stored.contenders, legs)


def _file(number: int, name: str) -> str:
    return f"{number:02}-{name}.bakeoff"


def _carry_on(campaign: Campaign, path: Path, agents: Agents, observer: Observer, say: Say, counsel: Counsel) -> None:
    stored = read_planned(path)
    files = {leg.name: path / leg.file for leg in stored.legs}
    challenged = read_challenged(path, stored)
    faults: dict[str, str] = {}
    write_faults(path, faults)
    observer = ToldOnce(observer)
    for legs in campaign.rounds():
        for leg, block in legs:
            if leg.name in faults:
                continue
            try:
                challenges = None if challenged is None else partial(challenged.of, leg.name, stored.challenges)
                _one_block(leg, block, files[leg.name], agents, observer, say, counsel, challenges)
            except RunInterruptedError:
                raise RunInterruptedError(path) from None
            except BakeoffError as error:
                faults[leg.name] = str(error)
                write_faults(path, faults)
                say(f"{leg.name} is put aside: {error}")
    if len(faults) == len(campaign.legs):
        raise RunFileError(f"no suite of {path} could be carried out: put right what stands above")


def _one_block(
    leg: Leg,
    block: int,
    file: Path,
    agents: Agents,
    observer: Observer,
    say: Say,
    counsel: Counsel,
    challenges: Callable[[], Mapping[str, Any]] | None,
) -> None:
    """Everything of a suite up to the end of this block that is not there yet. A new file holds what is challenged."""
    run = read_run(file) if file.exists() else None
    if run is None or any(trial.block <= block for trial in run.pending):
        say(f"{leg.name}, block {block} of {leg.plan.blocks}")
    if run is None:
        held = None if challenges is None else challenges()
        start_run(leg.plan, file, agents(leg.plan), observer, counsel, block, held, may_miss=True)
        return
    plan = _of_those_there(leg.plan, run)
    resume_run(file, lambda: agents(plan), observer, plan, counsel=counsel, until_block=block, may_miss=True)


def _of_those_there(plan: Plan, run: RunRecord) -> Plan:
    """The plan of the contenders that a suite was begun with."""
    names = [contender.name for contender in run.contenders]
    there = [contender for contender in plan.contenders if contender.name in names]
    return plan if len(there) == len(plan.contenders) else with_contenders(plan, there)
