"""The JSON of comparisons of every kind, load and form fits the schema that is printed of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.json_schema import json_schema
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.fleets import Machines, divided
from tests.unit.compare.synthetic import FAST, SLOW, Server, at_rates, run
from tests.unit.compare.synthetic_cells import blocks_run, matrix_run
from tests.unit.compare.test_soak import hours, soaked
from tests.unit.store.test_figures import SAMPLES, record_of

WHOLE = json_schema()


def fits(record: RunRecord) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(to_json(compare_run(record)))
    Draft202012Validator(WHOLE).validate(document)
    return document


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind: str) -> None:
    document = fits(record_of(kind, SAMPLES[kind]))
    assert (document["matrix"] is not None) == ("cells" in SAMPLES[kind])


def test_rates_machines_soaks_and_three_contenders() -> None:
    assert fits(at_rates(run(load_steps=(4, 8), blocks=6)))["overload_points"]
    assert fits(divided(Machines()))["machines"]["agents"]
    assert fits(soaked(hours(28)))["soak"]["contenders"]
    third = Server("lighttpd", 36_000.0, 0.1)
    assert len(fits(run((FAST, SLOW, third), load_steps=(4,), blocks=6))["ranking"]) == 3


def test_cells_and_trials_that_are_lost() -> None:
    for record in (matrix_run(lambda *_: 1.2, tests=("read",)), blocks_run(lambda *_: 1.2)):
        pair = fits(record)["matrix"]["pairs"][0]
        assert len(pair["cells"]["columns"]) == len(pair["cells"]["rows"][0])
    record = run(load_steps=(4,), blocks=6)
    dead = tuple(replace(t, state="failed", reason="dead", operations=0) for t in record.trials[:3])
    assert fits(replace(record, trials=(*dead, *record.trials[3:])))["forfeited"]


def test_what_is_unknown_or_missing_does_not_fit() -> None:
    document = fits(run(load_steps=(4,), blocks=6))
    Draft202012Validator.check_schema(WHOLE)
    for spoilt in ({**document, "more": 1}, {k: v for k, v in document.items() if k != "pairs"}):
        assert not Draft202012Validator(WHOLE).is_valid(spoilt)
    document["pairs"][0]["primary"]["ratio"] = "1.2"
    assert not Draft202012Validator(WHOLE).is_valid(document)


def test_the_command_prints_it_without_a_run() -> None:
    assert json.loads(CliRunner().invoke(app, ["compare", "--json-schema"]).stdout) == WHOLE
    assert isinstance(CliRunner().invoke(app, ["compare"]).exception, PlanError)
