"""Settings of a stored plan that the comparison needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bakeoff.plan.model import MIXES, VISITS


def stored(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The table `settings` of a resolved plan; empty when it has none."""
    settings = plan.get("settings")
    return settings if isinstance(settings, dict) else {}


def order(plan: Mapping[str, Any]) -> str:
    """In which order the trials of a block were done; plans of before there was another do not say it."""
    return MIXES if plan.get("order") == MIXES else VISITS


def flag(plan: dict[str, Any], name: str) -> bool:
    """Whether the yes/no setting `name` is on."""
    return stored(plan).get(name) is True


def text(plan: dict[str, Any], name: str) -> str:
    """The setting `name` as it is written; empty when it is none."""
    value = stored(plan).get(name)
    return value if isinstance(value, str) else ""


def of_contender(plan: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The settings that a contender was measured with: those of the run, but for what it has otherwise."""
    return {**stored(plan), **of_single(plan).get(name, {})}


def of_single(plan: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What contenders have otherwise than the run, by name; only of those that have something."""
    contenders = plan.get("contenders")
    tables = [one for one in contenders if isinstance(one, dict)] if isinstance(contenders, list) else []
    return {str(one.get("name")): own for one in tables if isinstance(own := one.get("settings"), dict) and own}


def common(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan with the settings in which all contenders are alike: what some have otherwise is not there, and what all
    have otherwise than the run holds.
    """
    contenders = plan.get("contenders")
    if not of_single(plan) or not isinstance(contenders, list):
        return plan
    own = [of_contender(plan, str(one.get("name"))) for one in contenders if isinstance(one, dict)]
    alike = {key: own[0].get(key) for key in own[0] if all(table.get(key) == own[0].get(key) for table in own)}
    return {**plan, "settings": alike}


def number(plan: dict[str, Any], name: str, default: float) -> float:
    """The setting `name` as a number: from the table `settings` of a resolved plan, or from its top."""
    for table in (stored(plan), plan):
        value = table.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    return default
