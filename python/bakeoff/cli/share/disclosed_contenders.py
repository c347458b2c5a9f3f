"""The contenders of a run, a campaign, a plan or a paper file, with what a paper file says of collecting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.model import Disclosed
from bakeoff.disclosure.paper.read import TABLES, read_paper
from bakeoff.plan.settings.fields import read_toml
from bakeoff.store.collections.campaign import campaign_of, read_campaign_folder
from bakeoff.store.sqlite.read import read_run

SUFFIX = ".toml"


def contenders_of(source: Path) -> Mapping[str, Disclosed]:
    """By name. Raises PlanError or RunFileError."""
    names = _of_toml(source) if source.suffix == SUFFIX else dict.fromkeys(_of_run(source), Disclosed())
    if not names:
        raise PlanError(f"{source} names no contender: give a run, its plan, or a paper file with [contenders.NAME]")
    return names


def _of_run(source: Path) -> list[str]:
    if campaign_of([source]):
        return list(read_campaign_folder(source).campaign.contenders)
    return [contender.name for contender in read_run(source).contenders]


def _of_toml(source: Path) -> Mapping[str, Disclosed]:
    tables = read_toml(source, "file")
    if set(tables) <= set(TABLES):
        return {name: about.disclosure for name, about in read_paper(source, disclosed=False).contenders.items()}
    listed: Any = tables.get("contender")
    rows = listed if isinstance(listed, list) else []
    names = [row["name"] for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str)]
    return dict.fromkeys(names, Disclosed())
