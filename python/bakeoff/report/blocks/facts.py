"""Facts of whatever depth as lines to read."""

from __future__ import annotations

import math
from typing import Any

from bakeoff.compare.model.comparison import ContenderSummary
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.validity.run_advice import outages_words


def leaves(tree: dict[str, Any], prefix: str) -> list[tuple[str, str]]:
    """Each leaf of a tree with the way to it."""
    lines = []
    for name, value in tree.items():
        path = f"{prefix}{name}"
        lines += leaves(value, f"{path} · ") if isinstance(value, dict) else [(path, value_of(value))]
    return lines


def value_of(value: Any) -> str:
    """A value in words."""
    if value is None or value == "":
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {value_of(inner)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(value_of(item) for item in value) or "none"
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def failures(c: ContenderSummary) -> str:
    """What failed, for a card: trials first. Who is dead is asked little: a share of operations says nothing."""
    total = sum(c.errors.values())
    share = "" if c.trials_dead else f" ({wording.percent(c.error_share)})"
    # Where nobody counted failures, that there were none is no fact.
    nobody = c.trials_ok > 0 and math.isnan(c.error_share) and not c.trials_failed
    operations = f"{total:,}{share}" if total else "not stated" if nobody else "none"
    return f"{outages_words(c)}; operations: {operations}" if c.trials_failed else operations
