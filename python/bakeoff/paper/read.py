"""A paper file to its tables."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bakeoff.errors import PlanError
from bakeoff.paper.model import Paper, Part, Words
from bakeoff.plan.fields import read_toml
from bakeoff.plan.messages import did_you_mean, explain

P = TypeVar("P", bound=Part)
TABLES = ("paper",)


def read_paper(path: Path) -> Paper:
    """The paper file at `path`. Raises PlanError, one sentence for each fault."""
    return paper_of(_plain(read_toml(path, "paper file")), str(path))


def paper_of(tables: dict[str, Any], origin: str = "paper") -> Paper:
    """The paper of these tables, with days as text. Raises PlanError."""
    for key, table in tables.items():
        if key not in TABLES:
            raise PlanError(f"{origin}: unknown table [{key}]: {did_you_mean(key, TABLES)}")
        if not isinstance(table, dict):
            raise PlanError(f"{origin}: write [{key}] as a table")
    return Paper(origin, _part(Words, tables.get("paper", {}), f"{origin} [paper]"), tables)


def _plain(value: Any) -> Any:
    """The same as JSON has it: days as text, numbers that it knows."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return f"{value}" if isinstance(value, float) and not math.isfinite(value) else value


def _part(model: type[P], table: dict[str, Any], where: str) -> P:
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise explain(error, model, lambda key: f"{where} {key}".rstrip()) from None
