"""Settings of a stored plan by their names, where it is names that are told of: what contenders have otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def of_contender(plan: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The settings that a contender was measured with: those of the run, but for what it has otherwise."""
    return {**_stored(plan), **of_single(plan).get(name, {})}


def of_single(plan: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What contenders have otherwise than the run, by name; only of those that have something."""
    return {
        str(one.get("name")): own for one in _contenders(plan) if isinstance(own := one.get("settings"), dict) and own
    }


def common(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings in which all contenders are alike: what some have otherwise is not there, and what all have
    otherwise than the run holds.
    """
    if not of_single(plan):
        return _stored(plan)
    own = [of_contender(plan, str(one.get("name"))) for one in _contenders(plan)]
    return {key: own[0].get(key) for key in own[0] if all(table.get(key) == own[0].get(key) for table in own)}


def _stored(plan: Mapping[str, Any]) -> dict[str, Any]:
    settings = plan.get("settings")
    return settings if isinstance(settings, dict) else {}


def _contenders(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    contenders = plan.get("contenders")
    return [one for one in contenders if isinstance(one, dict)] if isinstance(contenders, list) else []
