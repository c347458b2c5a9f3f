"""An audit as JSON."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from bakeoff.audit.audit import Audit
from bakeoff.audit.finding import Finding, Outcome
from bakeoff.compare.model.fact import Fact
from bakeoff.report.narrate.audit.findings import finding_text
from bakeoff.report.narrate.sentences import sentence

SCHEMA = "bakeoff-audit/1"


def document(audit: Audit) -> dict[str, Any]:
    """Files, findings and checks. Infinite bounds are null."""
    return {
        "schema": SCHEMA,
        "files": [{"path": file.path, "format": file.format, "rows": file.rows} for file in audit.files],
        "numbers": audit.numbers,
        "comparisons": audit.checked,
        "impossible": audit.impossible,
        "off": audit.off,
        "findings": [_finding(finding) for finding in audit.findings],
        "checks": [_outcome(outcome) for outcome in audit.outcomes],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    first, *others = (dataclasses.asdict(place) for place in finding.places)
    return {
        "check": finding.check,
        "grade": finding.grade,
        "sure": finding.sure,
        "place": first,
        "with": others,
        "repairs": [dataclasses.asdict(repair) for repair in finding.repairs],
        **_fact(finding.fact),
        "text": finding_text(finding),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "check": outcome.check,
        "file": outcome.table,
        "comparisons": outcome.checked,
        "impossible": sum(finding.grade == "impossible" for finding in outcome.findings),
        "off": sum(finding.grade == "off" for finding in outcome.findings),
        "shows": [{**_fact(fact), "text": sentence(fact)} for fact in outcome.shows],
    }


def _fact(fact: Fact) -> dict[str, Any]:
    assert dataclasses.is_dataclass(fact)
    return {"kind": fact.kind, "data": _finite(dataclasses.asdict(fact))}


def _finite(value: Any) -> Any:
    """Without what JSON has no number for."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
