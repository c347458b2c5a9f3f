"""The JSON of an audit fits the schema that is printed of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from typer.testing import CliRunner

from bakeoff.audit.audit import audit
from bakeoff.cli.app import app
from bakeoff.report.audit.document import document
from bakeoff.report.audit.schema import json_schema
from tests.unit.importers.reading import table_of

WRONG = "clients,req/s,mean (ms),duration (s),operations\n1,100,10,60,6000\n8,800,10,60,84000\n64,9000,900,60,540000\n"


def made(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(document(audit([table_of("table", text)])), allow_nan=False))
    return found


def test_findings_repairs_and_what_is_shown_fit() -> None:
    found = made(WRONG)
    Draft202012Validator(json_schema()).validate(found)
    assert found["schema"] == json_schema()["$id"] and found["impossible"]
    assert any(one["repairs"] for one in found["findings"]) and any(one["shows"] for one in found["checks"])


@pytest.mark.parametrize("key", ["findings", "numbers", "schema"])
def test_what_is_left_out_or_added_does_not_fit(key: str) -> None:
    found = made(WRONG)
    for broken in ({name: value for name, value in found.items() if name != key}, {**found, "more": 1}):
        with pytest.raises(ValidationError):
            Draft202012Validator(json_schema()).validate(broken)


@pytest.mark.parametrize("verb", ["audit", "history"])
def test_the_command_prints_the_schema_without_a_file(verb: str) -> None:
    outcome = CliRunner().invoke(app, [verb, "--json-schema"], catch_exceptions=False)
    Draft202012Validator.check_schema(json.loads(outcome.output))
    assert outcome.exit_code == 0 and json.loads(outcome.output)["$id"] == f"bakeoff-{verb}/1"
