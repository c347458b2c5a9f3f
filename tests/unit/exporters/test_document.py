"""What `bakeoff show --json` prints fits its schema for every kind of suite, and leaves nothing out."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from annotated_types import Le
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.document import document_lines
from bakeoff.formats.exporters.document_model import SCHEMA, json_schema
from bakeoff.kinds import KINDS
from bakeoff.load.arrivals import Constant
from bakeoff.load.load_step import Clients, Rate
from bakeoff.report.blocks.tree import Table
from bakeoff.report.compose import compose
from bakeoff.store.records.run_records import OK, AmendmentRecord, ContenderRecord, RunRecord, TrialRecord
from tests.unit.compare.synthetic import run
from tests.unit.store import builders
from tests.unit.store.builders import stored
from tests.unit.store.test_figures import SAMPLES, record_of

WHOLE = json_schema()


def valid(text: str) -> dict[str, Any]:
    """The document, which must fit the schema; its figures that of the kind."""
    document: dict[str, Any] = json.loads(text)
    Draft202012Validator(WHOLE).validate(document)
    own = {**WHOLE["$defs"][f"workload-{document['run']['kind']}"], "$defs": WHOLE["$defs"]}
    for trial in document["trials"]:
        Draft202012Validator(own).validate(trial["workload"])
    return document


def document_of(record: RunRecord) -> dict[str, Any]:
    return valid("\n".join(document_lines(record)))


def leaves(value: Any) -> Iterator[Any]:
    """Every single value inside."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    if inner is None:
        yield value
    else:
        for one in inner:
            yield from leaves(one)


def test_the_schema_is_one_and_names_every_kind() -> None:
    Draft202012Validator.check_schema(WHOLE)
    assert WHOLE["properties"]["schema"]["const"] == SCHEMA
    assert {f"workload-{kind}" for kind in KINDS} <= set(WHOLE["$defs"])
    for trial, wrong in (({"trials": [{}]}, "trials"), ({"schema": "bakeoff-show/2"}, "schema")):
        document = document_of(run(load_steps=(4,), blocks=1)) | trial
        assert not Draft202012Validator(WHOLE).is_valid(document), wrong


@pytest.mark.parametrize("kind", KINDS)
def test_the_document_of_every_kind_fits_and_has_what_its_report_shows(kind: str) -> None:
    failed = {"failed": {"requests": {"GET /x": {"404": 3}}, "others": 2}}
    sample = json.loads(json.dumps({**SAMPLES[kind], **failed, "began_at": "2026-11-20T10:00:00.000+00:00"}))
    record = record_of(kind, sample)
    record = replace(record, soak_intervals=(builders.soak_interval(contender="nginx"),))
    document = document_of(record)
    own = next(one for one in document["trials"] if one["contender"] == "nginx")
    assert own["workload"] == sample and own["traffic_began_at"] == sample["began_at"]
    # The table of all trials of the report, cell by cell.
    sections = compose(record, compare_run(record)).sections
    (table,) = (
        b
        for s in sections
        if s.id == "trials"
        for b in s.blocks
        if isinstance(b, Table) and b.columns[0].title == "Trial"
    )
    assert len(table.rows) == len(document["trials"])
    for row, one in zip(table.rows, document["trials"], strict=True):
        shown = (f"{one['order']}", f"{one['block']}", one["contender"], f"{one['load_step_clients']}", one["state"])
        assert row[1:6] == shown
        times = one["response_ms"] or one["service_ms"]
        if cells := one["workload"].get("cells"):
            measured = [cell for cell in cells if cell["skipped"] is None and cell["rate_kib_s"] > 0]
            assert row[6] == f"{len(measured)} of {len(cells)}"
        else:
            for text, value in zip(row[6:9], (one["operations_per_s"], times["mean"], times["p99"]), strict=True):
                assert float(text.replace(",", "")) == pytest.approx(value, rel=0.06)
        assert (row[-3], row[-1]) == (f"{sum(one['errors'].values()):,}", ", ".join(one["marks"]))


def made_of(made: Any, numbers: Iterator[int], found: list[Any]) -> Any:
    """A value of a type in which every number and every text is another one; all of them go to `found`."""
    origin, inner = get_origin(made), get_args(made)
    if dataclasses.is_dataclass(made) and isinstance(made, type):
        hints = get_type_hints(made)
        fields = [field for field in dataclasses.fields(made) if field.init]
        return made(**{field.name: made_of(hints[field.name], numbers, found) for field in fields})
    if isinstance(made, type) and issubclass(made, BaseModel):
        fields = {name: field.annotation for name, field in made.model_fields.items()}
        return made.model_construct(**{name: made_of(hint, numbers, found) for name, hint in fields.items()})
    if origin is Annotated:
        if any(isinstance(limit, Le) for one in inner[1:] for limit in getattr(one, "metadata", ())):  # a share
            found.append(next(numbers) / 1e7)
            return found[-1]
        return made_of(inner[0], numbers, found)
    if origin is Literal:
        return inner[0]
    if origin in (Union, UnionType):
        return made_of(next(part for part in inner if part is not NoneType), numbers, found)
    if origin is tuple:
        return tuple(made_of(part, numbers, found) for part in inner if part is not Ellipsis)
    if origin is dict:
        return {f"k{next(numbers)}": made_of(inner[1], numbers, found)}
    if made is bool:
        return True
    value = {int: int, float: lambda n: n + 0.5, str: lambda n: f"t{n}"}.get(made, lambda n: n)(next(numbers))
    found.append(value)
    return value


def test_no_value_of_a_trial_is_left_out() -> None:
    """Every field of the records, down to links and queues: one that is added and not shown fails."""
    numbers, found = count(1_000_003, 7), list[Any]()
    made = made_of(TrialRecord, numbers, found)
    rate = Rate(500.0, Constant(), 60)
    table = {made.contender, made.state, made.started_at, made.judged.terms[0].term}
    trial = replace(
        made, load_step=rate, contender="nginx", state=OK, block=1, order=0, workload={"x": 1},
        judged=replace(made.judged, terms=(replace(made.judged.terms[0], term="p99<=9ms"),)),
    )  # fmt: skip
    record = run(load_steps=(4,), blocks=1)
    record = replace(
        record, load_steps=(rate,), trials=(trial,), contenders=(ContenderRecord("nginx", "http://a", None),)
    )
    shown = set()
    for value in leaves(document_of(record)["trials"][0]):
        shown |= {value, round(value * 2e6) / 2 if isinstance(value, float) else value}
    names = set(document_of(record)["trials"][0]["per_operation"]) | set(document_of(record)["trials"][0]["steps_ms"])
    shown |= names | set(document_of(record)["trials"][0]["per_agent"])
    table |= {made.block, made.order, made.load_step.n if isinstance(made.load_step, Clients) else 0}
    missing = [one for one in found if one not in shown and one not in table]
    assert not [one for one in missing if one not in set(leaves(made.workload))], missing


def test_no_part_of_a_run_is_left_out() -> None:
    """What the records hold beside trials: amendments of the plan, and attempts that were repeated."""
    record = run(load_steps=(4,), blocks=1)
    failed = replace(record.trials[0], state="failed", reason="dead")
    amended = AmendmentRecord("2026-11-20T10:00:00+00:00", "blocks", "+7", 1, 1, 8, None, record.plan_hash)
    document = document_of(replace(record, earlier=(failed,), amendments=(amended,)))
    assert document["amendments"] == [dataclasses.asdict(amended)]
    assert [(one["state"], one["left_out"]) for one in document["earlier"]] == [("failed", "it was repeated")]
    table = {field.name for field in dataclasses.fields(RunRecord)} - set(document) - set(document["run"])
    renamed = {"path": "file", "schema_version": "version"}
    assert set(renamed.values()) <= set(document["run"])
    # Joined runs and their notes are never shown; what is pending is planned and not done; the mark is the user's own.
    assert table == {*renamed, "joined", "notes", "pending", "started_here"}


def test_rates_agents_and_secrets(tmp_path: Path) -> None:
    record = run(load_steps=(4,), blocks=1)
    share = builders.share(**builders.OF_A_FLEET)
    trials = (replace(record.trials[0], per_agent=(share,), state="voided", reason="why"), *record.trials[1:])
    plan = {**record.plan, "basic_auth": "me:secret", "cookie": "id=7"}
    document = document_of(replace(record, trials=trials, plan=plan))
    agent = document["trials"][0]["per_agent"]["local"]
    assert (agent["starts"]["queue"], agent["links"][0]["share"]) == ([], share.links[0].share)
    assert document["trials"][0]["left_out"] == "why" and document["trials"][1]["left_out"] is None
    assert "secret" not in json.dumps(document) and "id=7" not in json.dumps(document)


def test_the_command_prints_document_and_schema(tmp_path: Path) -> None:
    path = stored(run(load_steps=(4,), blocks=1), tmp_path / "x.bakeoff")
    assert valid(CliRunner().invoke(app, ["show", str(path), "--json"]).stdout)["schema"] == SCHEMA
    assert json.loads(CliRunner().invoke(app, ["show", "--json-schema"]).stdout) == WHOLE
    assert isinstance(CliRunner().invoke(app, ["show"]).exception, PlanError)
