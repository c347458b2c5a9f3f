"""Whether contenders answered the same before timing, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.failures.content import Bodies, ChangedFact
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@sentence.register
def why_not_embedded(bodies: Bodies) -> str:
    """Why not all are held; empty when they are."""
    whys = []
    one = bodies.pages == 1
    for count, alone, several in (
        (bodies.changing, "the page changes", "change"),
        (bodies.unsafe, "the request may change something", "are of requests that may change something"),
        (bodies.unknown, "the page was not asked for before", "were not asked for before"),
        (bodies.unchecked, "check_every is 0", "are not looked at, as check_every is 0"),
    ):
        if count:
            whys.append(alone if one else f"{count:,} of {bodies.pages:,} pages {several}")
    return wording.names(whys)


def bodies_sentence(bodies: Sequence[Bodies]) -> str:
    """ "Bodies were not compared: the page changes (a, b)."; empty where all were."""
    whys: dict[str, list[str]] = {}
    for each in bodies:
        if why := why_not_embedded(each):
            whys.setdefault(why, []).append(each.contender)
    parts = [f"{why} ({', '.join(names)})" for why, names in whys.items()]
    return f"Bodies were not compared: {'; '.join(parts)}." if parts else ""


def changed_sentences(changed: Sequence[ChangedFact]) -> list[str]:
    """What was not the same in all trials of a contender, one sentence for each contender."""
    parts: dict[str, list[str]] = {}
    for each in changed:
        values = [f"{one.value} in {wording.plural(one.trials, 'trial')}" for one in each.values]
        parts.setdefault(each.contender, []).append(f"{each.fact.replace('_', ' ')} {', '.join(values)}")
    return [f"{name} was not the same in all of its trials: {'; '.join(changes)}." for name, changes in parts.items()]
