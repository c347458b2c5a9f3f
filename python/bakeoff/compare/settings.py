"""Settings of a stored plan that the comparison needs."""

from __future__ import annotations

from typing import Any


def flag(plan: dict[str, Any], name: str) -> bool:
    """Whether the yes/no setting `name` is on."""
    settings = plan.get("settings")
    return isinstance(settings, dict) and settings.get(name) is True


def text(plan: dict[str, Any], name: str) -> str:
    """The setting `name` as it is written; empty when it is none."""
    settings = plan.get("settings")
    value = settings.get(name) if isinstance(settings, dict) else None
    return value if isinstance(value, str) else ""


def number(plan: dict[str, Any], name: str, default: float) -> float:
    """The setting `name` as a number: from the table `settings` of a resolved plan, or from its top."""
    settings = plan.get("settings")
    for table in (settings if isinstance(settings, dict) else {}, plan):
        value = table.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    return default
