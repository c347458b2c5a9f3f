"""A table of features as CSV: `feature`, `group`, a column for each contender, `NAME evidence` and `NAME note`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.core.system.bounded_read import MIB, read_text_bounded

OWN = ("feature", "group")
EXTRAS = ("evidence", "note")


def read_features(path: Path) -> list[dict[str, Any]]:
    """The rows as tables of a paper file; what is empty is unknown. Raises PlanError."""
    try:
        rows = list(csv.reader(read_text_bounded(path, MIB).lstrip("\ufeff").splitlines(), strict=True))
    except OSError as error:
        raise PlanError(f"table of features {path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise PlanError(f"table of features {path} is not CSV in UTF-8: {error}") from None
    head = [title.strip() for title in rows[0]] if rows else []
    if "feature" not in head or len(set(head)) != len(head):
        raise PlanError(f"{path}: name the columns in the first line, each once: feature, and one for each contender")
    found = []
    for number, row in enumerate(rows[1:], 2):
        if len(row) > len(head):
            raise PlanError(f"{path}, line {number}: has {len(row)} cells under {len(head)} titles: quote commas")
        if any(row):
            found.append(_feature({title: cell.strip() for title, cell in zip(head, row, strict=False)}))
    return found


def _feature(cells: dict[str, str]) -> dict[str, Any]:
    names = [title for title in cells if title not in OWN and not _extra(title, cells)]
    answers = {
        name: {"answer": cells[name].lower() or "unknown"}
        | {key: cells[f"{name} {key}"] for key in EXTRAS if cells.get(f"{name} {key}")}
        for name in names
    }
    return {**{key: cells[key] for key in OWN if key in cells}, "answers": answers}


def _extra(title: str, cells: dict[str, str]) -> bool:
    name, _, key = title.rpartition(" ")
    return key in EXTRAS and name in cells
