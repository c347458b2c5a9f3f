"""Whether two contenders answered the same before timing, as the checks of the run found it."""

from __future__ import annotations

from typing import Any

from bakeoff.store.records import RunRecord

Differences = dict[frozenset[str], str]


def differences(run: RunRecord) -> Differences:
    """Pairs that did different work, so that neither is faster at the same; each with what differs."""
    content = run.environment.get("content")
    listed = content.get("differences") if isinstance(content, dict) else None
    texts: Differences = {}
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and entry.get("withhold") and isinstance(entry.get("between"), list):
            texts[frozenset(map(str, entry["between"]))] = str(entry.get("text", "they answer differently"))
    return texts


def facts_of(run: RunRecord, contender: str) -> dict[str, Any]:
    """What the checks of the run found of a contender, as JSON values; empty where nothing was kept."""
    content = run.environment.get("content")
    contenders = content.get("contenders") if isinstance(content, dict) else None
    facts = contenders.get(contender) if isinstance(contenders, dict) else None
    return facts if isinstance(facts, dict) else {}
