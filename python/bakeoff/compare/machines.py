"""The machines that sent load, in words: which of them was the limit, and what was full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bakeoff.compare import wording
from bakeoff.store.links import fullest, whose
from bakeoff.store.records import TrialRecord
from bakeoff.thresholds import BUSY_SHARE


def full_link(trials: Sequence[TrialRecord]) -> str:
    """`agent b's link eth0 was up to 94 % full`, of the fullest of all."""
    found = fullest(trials)
    if found is None:
        return "a link of the load generator was full"
    agent, link = found
    owner = whose(agent, _agents(trials)) if _agents(trials) > 1 else "the load generator's"
    return f"{owner} link {link.name} was up to {wording.percent(link.share or 0.0)} full"


def busiest(trials: Iterable[TrialRecord]) -> str:
    """Who of several had load threads without a pause: `the load generator`, with the names of up to three agents."""
    listed = list(trials)
    if _agents(listed) < 2:
        return "the load generator"
    busy = {s.agent: s.cpu_share for t in listed for s in t.per_agent if s.cpu_share > BUSY_SHARE}
    names = sorted(busy)
    if not names:
        return "the load generator"
    if len(names) == _agents(listed):
        return f"each of the {len(names)} load generators"
    if len(names) > 3:
        return f"the load generators {', '.join(names[:3])} and {len(names) - 3} more"
    return f"the load generator{'s' if len(names) > 1 else ''} {wording.names(names)}"


def _agents(trials: Iterable[TrialRecord]) -> int:
    return max((len(trial.per_agent) for trial in trials), default=0)
