"""Whether two contenders answered the same before timing, as the checks of the run found it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bakeoff.core.redact import hidden
from bakeoff.core.sanitize import sanitize
from bakeoff.store.records import check_facts
from bakeoff.store.records.run_records import RunRecord

LONGEST = 120

Differences = dict[frozenset[str], str]
"""By pair what differs, in the words of the check of the run; empty where it has none."""


@dataclass(frozen=True)
class Bodies:
    """Of a contender's `pages` so many were `held` to the bytes that they had before timing. Of the others bodies were
    not compared: `changing` ones are not the same twice, `unsafe` requests may change something, and are asked once;
    `unknown` ones were not asked for before, and `unchecked` ones are not to be looked at.
    """

    contender: str
    pages: int
    held: int
    changing: int
    unsafe: int
    unknown: int
    unchecked: int


def bodies_of(run: RunRecord) -> tuple[Bodies, ...]:
    """Of each contender whose checks told it."""
    listed = []
    for contender in run.contenders:
        stored = facts_of(run, contender.name).get("bodies")
        if isinstance(stored, dict):
            names = ("pages", "held", "changing", "unsafe", "unknown", "unchecked")
            counts = [count if isinstance(count := stored.get(name), int) and count > 0 else 0 for name in names]
            listed.append(Bodies(contender.name, *counts))
    return tuple(listed)


def differences(run: RunRecord) -> Differences:
    """Pairs that did different work, so that neither is faster at the same; each with what differs."""
    content = run.environment.get("content")
    listed = content.get("differences") if isinstance(content, dict) else None
    texts: Differences = {}
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and entry.get("withhold") and isinstance(entry.get("between"), list):
            texts[frozenset(map(str, entry["between"]))] = str(entry.get("text", ""))
    return texts


def facts_of(run: RunRecord, contender: str) -> dict[str, Any]:
    """What the checks found of a contender when the run began, as JSON values; empty where nothing was kept."""
    return check_facts.facts_of(run.environment, contender)


@dataclass(frozen=True)
class ChangedValue:
    """What a fact was in so many trials, on a line, without secrets."""

    value: str
    trials: int


@dataclass(frozen=True)
class ChangedFact:
    """A fact of a contender that was not the same in all of its trials."""

    contender: str
    fact: str
    values: tuple[ChangedValue, ...]


def changed_of(run: RunRecord) -> tuple[ChangedFact, ...]:
    """What was not the same in all trials of a contender."""
    return tuple(
        ChangedFact(
            each.contender,
            sanitize(each.fact)[:LONGEST],
            tuple(ChangedValue(_shown(each.fact, value), number) for value, number in each.values),
        )
        for each in check_facts.changed_facts(run)
    )


def _shown(fact: str, value: Any) -> str:
    """A value on a line, without secrets."""
    value = hidden({fact: value})[fact]
    text = value if isinstance(value, str) else "none" if value is None else json.dumps(value, ensure_ascii=False)
    text = sanitize(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"
