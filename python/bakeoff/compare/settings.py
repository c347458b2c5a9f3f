"""Settings of a stored plan that the comparison needs."""

from __future__ import annotations

from typing import Any


def flag(plan: dict[str, Any], name: str) -> bool:
    """Whether the yes/no setting ``name`` is on."""
    settings = plan.get("settings")
    return isinstance(settings, dict) and settings.get(name) is True


def only_heads(plan: dict[str, Any]) -> bool:
    """Whether the requests of a web plan are HEAD, whose replies have no body."""
    settings = plan.get("settings")
    return isinstance(settings, dict) and settings.get("method") == "HEAD"


def number(plan: dict[str, Any], name: str, default: float) -> float:
    """The setting ``name`` as a number: from the table ``settings`` of a resolved plan, or from its top."""
    settings = plan.get("settings")
    for table in (settings if isinstance(settings, dict) else {}, plan):
        value = table.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    return default
