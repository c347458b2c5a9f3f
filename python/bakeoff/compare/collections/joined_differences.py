"""In what several run files differ: plans, contenders, machines, software. What decides comes first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bakeoff.compare.collections.joined_model import DifferenceSort, FileDifference
from bakeoff.compare.failures.content import facts_of
from bakeoff.compare.model.settings import of_single
from bakeoff.plan.input.secrets import SECRET
from bakeoff.store.collections.join import work_of
from bakeoff.store.records.check_facts import MOMENTARY_FACTS
from bakeoff.store.records.run_records import JoinedFile

# Of a plan: each has its place elsewhere, or is text about other settings.
ELSEWHERE = frozenset({"contenders", "changed", "assumed", "differences"})
# What requests carry may be anything.
CARRIED = frozenset({"headers", "content", "body"})
MISSING = "–"
LONGEST = 120


def differences(files: Sequence[JoinedFile]) -> tuple[FileDifference, ...]:
    """All of them: what is measured, other parts of the plan, contenders, machine, software."""
    plans = [file.run.plan for file in files]
    works = [work_of(plan) for plan in plans]
    around = [
        {k: v for k, v in p.items() if k not in w and k not in ELSEWHERE} for p, w in zip(plans, works, strict=True)
    ]
    return (
        *_of("work", works),
        *_of("plan", around),
        *_of("contenders", _contenders(files)),
        *_of("environment", [_machines(file) for file in files]),
        *_of("software", [dict(file.run.tool) for file in files]),
    )


def _contenders(files: Sequence[JoinedFile]) -> list[dict[str, Any]]:
    """By the name in the file: where it is, how it is reset, and what was found of it; of one that not all files have
    only that it is there.
    """
    everywhere = set.intersection(*(set(file.names.values()) for file in files))
    tables: list[dict[str, Any]] = []
    for file in files:
        tree: dict[str, Any] = {}
        for one in file.run.contenders:
            found = {name: fact for name, fact in facts_of(file.run, one.name).items() if name != "addresses"}
            called = file.names[one.name]
            own = {"address": one.address, "reset": one.reset, "settings": _settings(file, called), **found}
            tree[called] = own if called in everywhere else "measured"
        tables.append(tree)
    return tables


def _settings(file: JoinedFile, name: str) -> dict[str, Any]:
    """What clients do with it otherwise than with others, in a plan where some have settings of their own."""
    return of_single(file.run.plan).get(name, {})


def _machines(file: JoinedFile) -> dict[str, Any]:
    if len(file.run.agents) < 2:
        return file.run.environment
    return {agent.name: agent.facts for agent in file.run.agents}


def _of(sort: DifferenceSort, trees: Sequence[Mapping[str, Any]]) -> Iterator[FileDifference]:
    flat = [dict(_leaves(tree)) for tree in trees]
    for item in dict.fromkeys(name for leaves in flat for name in leaves):
        values = [leaves.get(item, MISSING) for leaves in flat]
        if any(value != values[0] for value in values):
            yield FileDifference(sort, item, tuple(_shown(item, value) for value in values))


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in tree.items():
        if name in MOMENTARY_FACTS:
            continue
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{name} · ")
        else:
            yield f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown(item: str, value: str) -> str | None:
    """What may be told of a value, None for nothing; all are there to be told apart."""
    parts = item.lower().split(" · ")
    if value in (MISSING, "null", "[]", "{}", '""', ""):
        return "none" if value != MISSING else MISSING
    if any(secret in part for part in parts for secret in SECRET) or CARRIED.intersection(parts):
        return None
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 2]} …"
