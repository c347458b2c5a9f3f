"""What of a printed page stands side by side: drawings of half its width, narrow tables, files in columns."""

from __future__ import annotations

from typing import Any, Final

from bakeoff.report.blocks.print_columns import PAGE_PT

GUTTER_PT: Final = 16.0
MOST_ROWS_BESIDE: Final = 26
LONGEST_NOTE_BESIDE: Final = 160
"""Signs of a note under a table that stands beside another."""


def side_by_side(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbours that are narrow in one row: two drawings, or tables as many as fit."""
    rows: list[dict[str, Any]] = []
    for block in shown:
        last = rows[-1] if rows else {}
        if block.get("half") and last.get("half") and not block["folded"]:
            rows[-1] = {"kind": "row", "charts": [last, block]}
        elif block["kind"] == "listing":
            before = last["listings"] if last.get("kind") == "listings" else []
            rows[len(rows) - bool(before) :] = [{"kind": "listings", "listings": [*before, block]}]
        elif _fits_in_row(last, block):
            tables = [*last["tables"], block] if last["kind"] == "tables" else [last, block]
            rows[-1] = {
                "kind": "tables",
                "tables": tables,
                "width_pt": last["width_pt"] + GUTTER_PT + block["width_pt"],
            }
        else:
            rows.append(block)
    return rows


def _fits_in_row(last: dict[str, Any], block: dict[str, Any]) -> bool:
    """Whether two tables stand in one row: both as short, and narrow together."""
    if block["kind"] != "table" or last.get("kind") not in ("table", "tables"):
        return False
    first = last["tables"][0] if last["kind"] == "tables" else last
    heights = sorted((len(first["rows"]), len(block["rows"])))
    short = heights[1] <= MOST_ROWS_BESIDE and heights[1] <= heights[0] + 4
    narrow = last["width_pt"] + GUTTER_PT + block["width_pt"] <= PAGE_PT
    return short and narrow and max(len(one["note"]) for one in (first, block)) <= LONGEST_NOTE_BESIDE
