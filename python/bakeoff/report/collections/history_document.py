"""A history as JSON."""

from __future__ import annotations

from typing import Any

from bakeoff.compare.collections.history_model import History, LeftOutFile, PlanHistory, Series
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.history import cause_sentence, change_sentence
from bakeoff.report.narrate.document import plain

SCHEMA = "bakeoff-history/1"


def document(found: History) -> dict[str, Any]:
    """Plans with their runs, levels, ratios and changes; what is not known is null."""
    return {
        "schema": SCHEMA,
        "plans": [_plan(plan) for plan in found.plans],
        "left_out": [_left_out(one) for one in found.left_out],
    }


def _left_out(one: LeftOutFile) -> dict[str, Any]:
    return {"path": one.path, **plain(one.reason)}


def _plan(plan: PlanHistory) -> dict[str, Any]:
    return {
        "suite": plan.suite,
        "name": plan.name,
        "loads": wording.load_steps(plan.load_steps) if plan.load_steps else "",
        "metric": plan.metric,
        "title": plan.title,
        "unit": plan.unit,
        "higher_is_better": plan.higher_is_better,
        "runs": [plain(run) for run in plan.runs],
        "levels": [_series(plan, one) for one in plan.levels],
        "ratios": [_series(plan, one) for one in plan.ratios],
    }


def _series(plan: PlanHistory, one: Series) -> dict[str, Any]:
    """The changes have their sentences, and what else differs there."""
    made = plain(one)
    for change, of in zip(made["changes"], one.changes, strict=True):
        change["differences"] = [plain(each) for each in plan.differences.get(of.run, ())]
        change["text"] = " ".join(filter(None, (change_sentence(plan, one, of), cause_sentence(plan, of))))
    return {**made, "baseline": one.baseline or None}
