"""Links of the machines that sent load, in words."""

from collections.abc import Iterable

from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import LinkRecord


def fullest(trials: Iterable[TrialRecord]) -> tuple[str, LinkRecord] | None:
    """The agent and the link that was fuller in one of these trials than any other was; None where none has a speed."""
    pairs = [(share.agent, link) for trial in trials for share in trial.per_agent for link in share.links]
    known = [pair for pair in pairs if pair[1].share is not None]
    return max(known, key=lambda pair: pair[1].share or 0.0, default=None)


def fullest_link(trial: TrialRecord) -> str:
    """`its link eth0 was 94 % full`; with several agents, whose it is."""
    found = fullest([trial])
    if found is None:
        return "its link was full"
    agent, link = found
    return f"{whose(agent, len(trial.per_agent))} link {link.name} was {link.share or 0.0:.0%} full"


def whose(agent: str, agents: int) -> str:
    """`agent b's` among several, else `its`."""
    return f"agent {agent}'s" if agents > 1 else "its"
