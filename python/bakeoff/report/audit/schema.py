"""The JSON Schema of an audit, as `document.document` writes it."""

from __future__ import annotations

from typing import get_args

from bakeoff.audit.finding import Grade, Sure
from bakeoff.audit.repairs import Repair
from bakeoff.audit.table import Place
from bakeoff.report.audit.document import SCHEMA
from bakeoff.report.narrate.json_schema import FACT, Schema, exactly, list_of, object_of, whole

TEXT, NUMBER = Schema(type="string"), Schema(type="integer")


def json_schema() -> Schema:
    """The whole schema, draft 2020-12. A bound that is not finite is null."""
    parts: dict[str, Schema] = {}
    place, repair = object_of(Place, parts), object_of(Repair, parts)
    finding = {**FACT["properties"], "data": {"type": "object"}, "text": TEXT}
    parts["Finding"] = exactly(
        {
            "check": TEXT,
            "grade": {"enum": list(get_args(Grade))},
            "sure": {"enum": list(get_args(Sure))},
            "place": place,
            "with": list_of(place),
            "repairs": list_of(repair),
            **finding,
        }
    )
    counts = {"comparisons": NUMBER, "impossible": NUMBER, "off": NUMBER}
    parts["Check"] = exactly({"check": TEXT, "file": TEXT, **counts, "shows": list_of(exactly(finding))})
    files = list_of(exactly({"path": TEXT, "format": TEXT, "rows": NUMBER}))
    findings, checks = ({"$ref": f"#/$defs/{name}"} for name in ("Finding", "Check"))
    root = {"files": files, "numbers": NUMBER, **counts, "findings": list_of(findings), "checks": list_of(checks)}
    return whole(SCHEMA, root, parts)
