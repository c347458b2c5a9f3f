"""What a report holds of the file that it tells of: the seal by which the file is known, and who measured what."""

from __future__ import annotations

from typing import Any

from bakeoff.store.collections.challenged import corpus_of
from bakeoff.store.records.run_records import RunRecord

MEASURED = "measured"


def measured(run: RunRecord) -> dict[str, Any]:
    """The seal of the file, the version that wrote it, what the contenders served, and the machines that sent load."""
    return {
        "seal": run.seal,
        "version": run.tool.get("version", ""),
        "corpus": corpus_of(run),
        "machines": [{"name": agent.name, **_machine(agent.facts)} for agent in run.agents],
    }


def _machine(facts: dict[str, Any]) -> dict[str, Any]:
    cpu = facts.get("cpu")
    return {"cpu": cpu.get("model") if isinstance(cpu, dict) else None, "kernel": facts.get("kernel")}
