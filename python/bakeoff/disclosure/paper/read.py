"""A paper file to its tables."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.audited import Audited, with_files
from bakeoff.disclosure.paper.features import read_features
from bakeoff.disclosure.paper.model import (
    About,
    AuthorTable,
    Bed,
    Feature,
    OneBed,
    OwnChapter,
    Paper,
    PriceRules,
    Task,
    Words,
)
from bakeoff.disclosure.paper.part import StrictTable
from bakeoff.plan.input.messages import did_you_mean, explain
from bakeoff.plan.settings.fields import read_toml

P = TypeVar("P", bound=StrictTable)
TABLES = {
    "paper": "table",
    "price": "table",
    "testbed": "table",
    "testbeds": "table",
    "contenders": "table",
    "features": "rows",
    "administration": "rows",
    "tables": "rows",
    "chapter": "rows",
    "audit": "table",
}


def read_paper(path: Path, disclosed: bool = True) -> Paper:
    """The paper file at `path`, with the table of features, the files to audit and, where it is to be `disclosed`, the
    disclosure file that it names: who collects is about to write that one. Raises PlanError.
    """
    tables = _plain(read_toml(path, "paper file"))
    paper = paper_of(tables, str(path))
    words = paper.words
    if words.disclosure and disclosed:
        tables = joined(tables, _disclosed(path.parent / words.disclosure), str(path), words.disclosure)
    if words.features:
        if "features" in tables:
            raise PlanError(f"{path}: features stand in {words.features} and in [[features]]: keep one of them")
        tables = {**tables, "features": read_features(path.parent / words.features)}
    if paper.audited is not None:
        try:
            tables = {**tables, "audit": with_files(paper.audited, tables["audit"], path.parent)}
        except PlanError as error:
            raise PlanError(f"{path} [audit]: {error}") from None
    allowed = ("features", "disclosure")
    if "paper" in tables:
        tables = {**tables, "paper": {key: value for key, value in tables["paper"].items() if key not in allowed}}
    return paper_of(tables, str(path))


def _disclosed(path: Path) -> dict[str, Any]:
    """The tables of a disclosure file, which has nothing else. Raises PlanError."""
    tables: dict[str, Any] = _plain(read_toml(path, "disclosure file"))
    paper_of(tables, str(path))
    for key in tables:
        if key not in ("contenders", "testbed", "testbeds"):
            raise PlanError(
                f"{path}: [{key}] belongs in the paper file: a disclosure has contenders and test beds alone"
            )
    return tables


def joined(one: dict[str, Any], other: dict[str, Any], here: str, there: str) -> dict[str, Any]:
    """The tables of both. Raises PlanError where both say the same: who is right?"""
    both = dict(one)
    for key, value in other.items():
        if isinstance(both.get(key), dict) and isinstance(value, dict) and key != "collected":
            both[key] = joined(both[key], value, here, there)
        elif key in both:
            raise PlanError(f"{key} stands in {here} and in {there}: keep one of them")
        else:
            both[key] = value
    return both


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
        tuple(_part(AuthorTable, table, f"{origin} [[tables]]") for table in tables.get("tables", [])),
        _bed(tables.get("testbed", {}), origin, "testbed"),
        {name: _bed(table, origin, f"testbeds.{name}") for name, table in tables.get("testbeds", {}).items()},
        tuple(_part(OwnChapter, table, f"{origin} [[chapter]]") for table in tables.get("chapter", [])),
        _part(Audited, tables["audit"], f"{origin} [audit]") if "audit" in tables else None,
    )


def _bed(table: Any, origin: str, key: str) -> Bed:
    """A test bed, of which every link has two machines that there are. Of several each says what was measured on it."""
    bed = _part(OneBed, {"testbed": table}, origin).testbed
    if (key == "testbed") == bool(bed.measured):
        raise PlanError(
            f"{origin} [{key}] measured: stands in [testbeds.NAME] alone, where there are several"
            if bed.measured
            else f'{origin} [{key}] says not what was measured on it: add measured = ["SUITE"]'
        )
    names = [machine.name for machine in bed.machines]
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"{origin} [[{key}.machines]]: {name} stands there twice: give alike ones a count")
    for link in bed.links:
        for end in link.ends:
            if end not in names:
                raise PlanError(f"{origin} [[{key}.links]]: there is no machine {end!r}: {did_you_mean(end, names)}")
    return bed


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
