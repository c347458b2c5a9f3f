"""Facts of contenders that checks find: those of the run stand in its environment, others with the trials that found
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.canonical import to_json

# Facts that are others at every moment.
MOMENTARY_FACTS = frozenset(
    {"load_average", "swap_used_bytes", "content", "mhz", "free_bytes", "checked_requests", "bodies"}
)


@dataclass(frozen=True)
class Changed:
    """A fact of a contender that was not the same in all trials: its values, each with how many trials have it, in the
    order in which they were found.
    """

    contender: str
    fact: str
    values: tuple[tuple[Any, int], ...]


def facts_of(environment: Mapping[str, Any], contender: str) -> dict[str, Any]:
    """What the checks found of a contender when the run began, as JSON values; empty where nothing was kept."""
    content = environment.get("content")
    contenders = content.get("contenders") if isinstance(content, dict) else None
    facts = contenders.get(contender) if isinstance(contenders, dict) else None
    return facts if isinstance(facts, dict) else {}


def found_otherwise(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any] | None:
    """The facts of `now` that are not those of `before`, None for one that is not there any more; None when all are."""
    names = [name for name in {**before, **now} if name not in MOMENTARY_FACTS]
    return {name: now.get(name) for name in names if now.get(name) != before.get(name)} or None


def changed_facts(run: RunRecord) -> tuple[Changed, ...]:
    """What differs among the trials of a run, by contender and fact."""
    changed = []
    for contender in run.contenders:
        begun = facts_of(run.environment, contender.name)
        trials = sorted((t for t in run.trials if t.contender == contender.name), key=lambda trial: trial.order)
        names = dict.fromkeys(name for trial in trials for name in trial.found or {})
        for name in names:
            values = [(trial.found or {}).get(name, begun.get(name)) for trial in trials]
            number = Counter(map(to_json, values))
            first = {to_json(value): value for value in reversed(values)}
            changes = tuple((first[text], number[text]) for text in dict.fromkeys(map(to_json, values)))
            changed.append(Changed(contender.name, name, changes))
    return tuple(changed)
