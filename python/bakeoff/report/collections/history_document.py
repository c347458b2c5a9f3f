"""A history as JSON."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from bakeoff.compare.collections.history_model import History, LevelChange, PlanHistory, RunPoint, Series
from bakeoff.compare.model.fact import Fact
from bakeoff.report.narrate.collections.history import cause_sentence, change_sentence
from bakeoff.report.narrate.sentences import sentence

SCHEMA = "bakeoff-history/1"


def document(found: History) -> dict[str, Any]:
    """Plans with their runs, levels, ratios and changes; what is not known is null."""
    return {
        "schema": SCHEMA,
        "plans": [_plan(plan) for plan in found.plans],
        "left_out": [{"path": one.path, **_reason(one.reason)} for one in found.left_out],
    }


def _plan(plan: PlanHistory) -> dict[str, Any]:
    return {
        "suite": plan.suite,
        "name": plan.name,
        "loads": plan.loads,
        "metric": plan.metric,
        "title": plan.title,
        "unit": plan.unit,
        "higher_is_better": plan.higher_is_better,
        "runs": [dataclasses.asdict(run) for run in plan.runs],
        "levels": [_series(plan, one) for one in plan.levels],
        "ratios": [_series(plan, one) for one in plan.ratios],
    }


def _series(plan: PlanHistory, one: Series) -> dict[str, Any]:
    return {
        "contender": one.contender,
        "baseline": one.baseline or None,
        "points": [_point(point) for point in one.points],
        "changes": [_change(plan, one, change) for change in one.changes],
    }


def _point(point: RunPoint) -> dict[str, Any]:
    out = point.left_out
    return {
        "run": point.run,
        "blocks": point.blocks,
        "centre": _number(point.centre),
        "low": _number(point.low),
        "high": _number(point.high),
        "left_out": None if out is None else _reason(out),
    }


def _reason(fact: Fact) -> dict[str, str]:
    return {"kind": fact.kind, "text": sentence(fact)}


def _change(plan: PlanHistory, one: Series, change: LevelChange) -> dict[str, Any]:
    text = " ".join(filter(None, (change_sentence(plan, one, change), cause_sentence(plan, change))))
    return {**dataclasses.asdict(change), "differences": _differences(plan, change), "text": text}


def _differences(plan: PlanHistory, change: LevelChange) -> list[dict[str, Any]]:
    return [dataclasses.asdict(each) for each in plan.differences.get(change.run, ())]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
