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
from bakeoff.plan.campaign import Campaign, SuiteRun
from bakeoff.plan.model import Plan
from bakeoff.run.checks.plan_origin import is_marked, mark
from bakeoff.run.checks.trust import acts
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.run.modes.challenge import with_contenders
from bakeoff.run.observe.deduplicating_observer import DeduplicatingObserver
from bakeoff.run.observe.observer import Observer
from bakeoff.run.prompts import NO_PROMPTS, Prompts
from bakeoff.store.collections.campaign import (
    CAMPAIGN,
    FORMAT,
    StoredCampaign,
    StoredSuiteRun,
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
    prompts: Prompts = NO_PROMPTS,
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
    _carry_on(campaign, path, agents, observer, say, prompts)


def resume_campaign(
    path: Path, agents: Agents, observer: Observer, say: Say, trust: bool = False, prompts: Prompts = NO_PROMPTS
) -> None:
    """Go on with a campaign: the suites that could not start are tried again.

    Raises RunFileError when its plan may not be acted on, RunInterruptedError on Ctrl-C.
    """
    stored = read_planned(path)
    campaign = planned_campaign(stored)
    if not trust and not is_marked(path / CAMPAIGN, stored.hash, read_mark(path)):
        lines = "".join(f"  {line}\n" for suite_run in campaign.suite_runs for line in acts(suite_run.plan))
        raise RunFileError(
            f"{path} was not started here by you, so nothing of its plan was done. To go on with it would:\n{lines}"
            f"If all of this may be done: bakeoff resume {path} --trust"
        )
    _carry_on(campaign, path, agents, observer, say, prompts)


def stored_campaign(campaign: Campaign, challenges: str = "") -> StoredCampaign:
    """What of a campaign is stored; `challenges` is the SHA-256 of what it challenges."""
    suite_runs = [
        StoredSuiteRun(
            name=suite_run.name,
            file=_file(number, suite_run.name),
            weight=suite_run.weight,
            plan=suite_run.plan.to_dict(),
        )
        for number, suite_run in enumerate(campaign.suite_runs, 1)
    ]
    return StoredCampaign(
        format=FORMAT,
        name=campaign.name,
        title=campaign.title,
        seed=campaign.seed,
        contenders=campaign.contenders,
        suite_runs=tuple(suite_runs),
        challenges=challenges,
    )


def planned_campaign(stored: StoredCampaign) -> Campaign:
    """The campaign that was stored."""
    suite_runs = tuple(
        SuiteRun(suite_run.name, Plan.from_dict(suite_run.plan), suite_run.weight) for suite_run in stored.suite_runs
    )
    return Campaign(stored.name, stored.title, stored.seed, stored.contenders, suite_runs)


def _file(number: int, name: str) -> str:
    return f"{number:02}-{name}.bakeoff"


def _carry_on(campaign: Campaign, path: Path, agents: Agents, observer: Observer, say: Say, prompts: Prompts) -> None:
    stored = read_planned(path)
    files = {suite_run.name: path / suite_run.file for suite_run in stored.suite_runs}
    challenged = read_challenged(path, stored)
    faults: dict[str, str] = {}
    write_faults(path, faults)
    observer = DeduplicatingObserver(observer)
    for suite_runs in campaign.rounds():
        for suite_run, block in suite_runs:
            if suite_run.name in faults:
                continue
            try:
                challenges = None if challenged is None else partial(challenged.of, suite_run.name, stored.challenges)
                _one_block(suite_run, block, files[suite_run.name], agents, observer, say, prompts, challenges)
            except RunInterruptedError:
                raise RunInterruptedError(path) from None
            except BakeoffError as error:
                faults[suite_run.name] = str(error)
                write_faults(path, faults)
                say(f"{suite_run.name} is put aside: {error}")
    if len(faults) == len(campaign.suite_runs):
        raise RunFileError(f"no suite of {path} could be carried out: put right what stands above")


def _one_block(
    suite_run: SuiteRun,
    block: int,
    file: Path,
    agents: Agents,
    observer: Observer,
    say: Say,
    prompts: Prompts,
    challenges: Callable[[], Mapping[str, Any]] | None,
) -> None:
    """Everything of a suite up to the end of this block that is not there yet. A new file holds what is challenged."""
    run = read_run(file) if file.exists() else None
    if run is None or any(trial.block <= block for trial in run.pending):
        say(f"{suite_run.name}, block {block} of {suite_run.plan.blocks}")
    if run is None:
        challenge = None if challenges is None else challenges()
        start_run(suite_run.plan, file, agents(suite_run.plan), observer, prompts, block, challenge, may_miss=True)
        return
    plan = _of_those_there(suite_run.plan, run)
    resume_run(file, lambda: agents(plan), observer, plan, prompts=prompts, until_block=block, may_miss=True)


def _of_those_there(plan: Plan, run: RunRecord) -> Plan:
    """The plan of the contenders that a suite was begun with."""
    names = [contender.name for contender in run.contenders]
    there = [contender for contender in plan.contenders if contender.name in names]
    return plan if len(there) == len(plan.contenders) else with_contenders(plan, there)
