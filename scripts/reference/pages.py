"""The pages of docs/reference/ that are made: name to text."""

import json
from pathlib import Path
from typing import Any

from scripts.reference import (
    audits_page,
    commands_page,
    costs_table,
    csv_page,
    formats_page,
    json_page,
    run_file_page,
    settings_page,
)

from bakeoff.formats.exporters import document_model
from bakeoff.report.audit import schema as audit_schema
from bakeoff.report.collections import history_schema
from bakeoff.report.narrate import json_schema

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/reference"
MADE = "<!-- Made by `make docs` from the code: change it there. -->\n\n"


README = ROOT / "README.md"
COSTS = ("<!-- Sizes: made by `make docs` from the code. -->\n", "<!-- End of sizes. -->\n")


def readme() -> str:
    """README with the table of what each size costs as it must be now."""
    before, _, rest = README.read_text(encoding="utf-8").partition(COSTS[0])
    _, _, after = rest.partition(COSTS[1])
    return before + COSTS[0] + costs_table.text() + COSTS[1] + after


SCHEMAS = {"show": document_model, "compare": json_schema, "audit": audit_schema, "history": history_schema}


def _schema(made: dict[str, Any]) -> str:
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def pages() -> dict[str, str]:
    """Every page as it must be now."""
    return {
        "commands.md": MADE + commands_page.text(),
        "settings.md": MADE + settings_page.text(),
        "run-file.md": MADE + run_file_page.text(),
        "json.md": MADE + json_page.text(),
        **{f"{verb}.schema.json": _schema(made.json_schema()) for verb, made in SCHEMAS.items()},
        "csv.md": MADE + csv_page.text(),
        "audits.md": MADE + audits_page.text(),
        "formats.md": MADE + formats_page.text(),
    }
