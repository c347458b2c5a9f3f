"""A paper file to its tables."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bakeoff.errors import PlanError
from bakeoff.paper.features import read_features
from bakeoff.paper.model import About, Feature, Paper, Part, PriceRules, Task, TestBed, Words
from bakeoff.plan.fields import read_toml
from bakeoff.plan.messages import did_you_mean, explain

P = TypeVar("P", bound=Part)
TABLES = {
    "paper": "table",
    "price": "table",
    "testbed": "table",
    "contenders": "table",
    "features": "rows",
    "administration": "rows",
}


def read_paper(path: Path) -> Paper:
    """The paper file at `path`, with the table of features that it names. Raises PlanError."""
    tables = _plain(read_toml(path, "paper file"))
    paper = paper_of(tables, str(path))
    if not paper.words.features:
        return paper
    if "features" in tables:
        raise PlanError(f"{path}: features stand in {paper.words.features} and in [[features]]: keep one of them")
    features = read_features(path.parent / paper.words.features)
    own = {key: value for key, value in tables["paper"].items() if key != "features"}
    return paper_of({**tables, "paper": own, "features": features}, str(path))


def paper_of(tables: dict[str, Any], origin: str = "paper") -> Paper:
    """The paper of these tables, with days as text. Raises PlanError."""
    for key, table in tables.items():
        if key not in TABLES:
            raise PlanError(f"{origin}: unknown table [{key}]: {did_you_mean(key, TABLES)}")
        if not isinstance(table, dict if TABLES[key] == "table" else list):
            raise PlanError(f"{origin}: write [{key}] as a table" if TABLES[key] == "table" else _rows(origin, key))
    about = tables.get("contenders", {})
    return Paper(
        origin,
        _part(Words, tables.get("paper", {}), f"{origin} [paper]"),
        tables,
        _part(PriceRules, tables.get("price", {}), f"{origin} [price]"),
        {name: _part(About, table, f"{origin} [contenders.{name}]") for name, table in about.items()},
        tuple(_part(Feature, table, f"{origin} [[features]]") for table in tables.get("features", [])),
        tuple(_part(Task, table, f"{origin} [[administration]]") for table in tables.get("administration", [])),
        _part(TestBed, {"testbed": tables.get("testbed", {})}, origin).testbed,
    )


def _rows(origin: str, key: str) -> str:
    return f"{origin}: write each row as its own [[{key}]] table"


def _plain(value: Any) -> Any:
    """The same as JSON has it: days as text, numbers that it knows."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return f"{value}" if isinstance(value, float) and not math.isfinite(value) else value


def _part(model: type[P], table: Any, where: str) -> P:
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise explain(error, model, lambda key: f"{where} {key}".rstrip()) from None
