"""Paths in plans: those that are relative become full ones, so that a plan means the same from any folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bakeoff.plan.kind import plan_part
from bakeoff.plan.settings.fields import extra_of, full_path
from bakeoff.plan.suites import load_suite, suite_names

# What may stand for a path.
NO_PATHS = ("", "auto", "none")


def full_paths(table: Mapping[str, Any], name: str, suite: object, base: Path) -> dict[str, Any]:
    """The table of this name (`plan`, `settings`) with full paths in place of those that are relative to `base`."""
    made = dict(table)
    for key, before in _paths(suite, name).items():
        value = made.get(key)
        if isinstance(value, str) and value.startswith(before) and value not in NO_PATHS:
            made[key] = before + full_path(value.removeprefix(before), base)
    return made


def full_address(contender: dict[str, Any], suite: object, base: Path) -> dict[str, Any]:
    """A contender, or a level of a factor, whose address, if it is a path, is a full one."""
    address = contender.get("address")
    if suite not in suite_names() or not isinstance(address, str) or not address or "\0" in address:
        return contender  # it will be refused
    part = plan_part(load_suite(str(suite)).suite.kind)
    return {**contender, "address": part.located(address, base)}


def _paths(suite: object, table: str) -> dict[str, str]:
    """The settings of a suite in this table that are paths, with what stands before the path: what is a path for one
    kind may be none for another.
    """
    if suite not in suite_names():
        return {}  # it will be refused
    model = plan_part(load_suite(str(suite)).suite.kind).settings
    fields = {field.alias or name: extra_of(field) for name, field in model.model_fields.items()}
    return {
        key: str(extra.get("after", ""))
        for key, extra in fields.items()
        if extra.get("path") and extra.get("table", "settings") == table
    }
