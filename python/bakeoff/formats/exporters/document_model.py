"""The form of a run as one JSON document, made from the fields of its records: what `bakeoff show --json` prints, with
its JSON Schema.

Every key is always there; a value that is not available is null. Times in nanoseconds are shown in milliseconds, a load
step as the members that it is, records with a name by it. The number at the end of `SCHEMA` rises when a key is
renamed, leaves or changes its meaning; new keys may come without that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, make_dataclass
from functools import cache
from inspect import cleandoc
from types import GenericAlias
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter
from pydantic import Field as Described
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from bakeoff.core.redact import hidden
from bakeoff.core.times import ms_of
from bakeoff.kinds import KINDS
from bakeoff.load.load_step import InFlight, LoadStep, Rate, StatedLoad
from bakeoff.store.records.figure import Field, field_of, fields_of, is_record
from bakeoff.store.records.figures import Figures, figures_of
from bakeoff.store.records.run_records import (
    AROUND,
    AgentRecord,
    AmendmentRecord,
    ContenderRecord,
    EventRecord,
    RunRecord,
    SearchRecord,
    SoakIntervalRecord,
    TrialRecord,
)
from bakeoff.store.records.trial_parts import AgentResultRecord, OperationRecord, StepRecord, Summary, TermRecord
from bakeoff.telemetry.model import Telemetry

SCHEMA = "bakeoff-show/1"
# No other keys, no NaN.
FORM = ConfigDict(extra="forbid", allow_inf_nan=False)
Of = Callable[[Any], Any]
# What stands elsewhere in the document, or is the user's own.
NOT_OF_RUN = frozenset(
    {"path", "schema_version", "started_here", "joined", "notes", "pending"}
    | {"agents", "contenders", "events", "searches", "soak_intervals", "amendments", "earlier", "trials"}
)
# Records that stand under a name of theirs.
NAMES: dict[Any, str] = {OperationRecord: "name", StepRecord: "name", AgentResultRecord: "agent"}
LEFT_OUT = "left_out"
ELSEWHERE: dict[Any, frozenset[str]] = {RunRecord: NOT_OF_RUN, TrialRecord: frozenset({"workload", *AROUND})}
RENAMED = {(EventRecord, "trial_id"): "trial", (TrialRecord, "share"): "share_of_capacity"}


@dataclass(frozen=True)
class Load:
    """Of a rate: operations that begin each second, how the times between them are spread, and by how many connections
    at most.
    """

    per_s: float
    arrivals: dict[str, Any]
    most_connections: int


@dataclass(frozen=True)
class Member:
    """A key with its type, what it means, and what makes its value of a record."""

    key: str
    hint: Any
    text: str
    of: Of


def shown(record: Any) -> dict[str, Any]:
    """A record as JSON has it."""
    kind: Any = type(record)
    return {member.key: member.of(record) for member in members_of(kind)}


@cache
def form_of(record: Any) -> Any:
    """The dataclass of what is shown of a record: for the JSON Schema and the reference."""
    members = [
        (one.key, Annotated[one.hint, Described(description=one.text)] if one.text else one.hint)
        for one in members_of(record)
    ]
    return _made(record.__name__.removesuffix("Record"), record.__doc__, members)


def _made(name: str, about: str | None, members: list[tuple[str, Any]]) -> Any:
    made = make_dataclass(name, members, kw_only=True, namespace={"__pydantic_config__": FORM})
    made.__doc__ = cleandoc(about or "")
    return made


@cache
def members_of(record: Any) -> tuple[Member, ...]:
    """What is shown of a record: its fields, and the properties whose type says by a `Figure` what they mean."""
    left_out = ELSEWHERE.get(record) or {NAMES.get(record)}
    fields = [one for one in (*fields_of(record), *_properties(record)) if one.name not in left_out]
    return (*(member for one in fields for member in _members(record, one)), *MORE.get(record, ()))


def _properties(record: Any) -> Iterator[Field]:
    for name, made in vars(record).items():
        if isinstance(made, property) and made.fget is not None:
            one = field_of(name, get_type_hints(made.fget, include_extras=True)["return"])
            if one.figure is not None:
                yield one


def _members(record: Any, one: Field) -> Iterator[Member]:
    text = one.figure.text if one.figure else ""
    if one.hint == LoadStep:
        yield from LOAD_STEP
        return
    key = RENAMED.get((record, one.name), one.name)
    hint, make = SPECIAL.get((record, one.name)) or _as_json(one.hint)
    if one.name.endswith("_ns"):
        key, hint, make = f"{one.name.removesuffix('_ns')}{'' if record is Summary else '_ms'}", float, ms_of
    elif one.hint in (Summary, tuple[StepRecord, ...]):
        key = f"{key}_ms"
    yield Member(
        key,
        hint | None if one.optional else hint,
        text,
        of_term if record is TermRecord and key == "value" else _of(one.name, make),
    )


def of_term(term: TermRecord) -> float | None:
    """A share as it is; times of terms are stored in ns."""
    return term.value if term.is_share else ms_of(term.value)


def _of(name: str, make: Of) -> Of:
    def of(record: Any) -> Any:
        value = getattr(record, name)
        return None if value is None else make(value)

    return of


def _as_json(hint: Any) -> tuple[Any, Of]:
    """What a type is in JSON, and what makes a value that."""
    if is_record(hint):
        return form_of(hint), shown
    if hint is Telemetry:
        return hint, lambda seen: seen.model_dump()
    if get_origin(hint) is not tuple:
        return hint, lambda value: value
    inner = get_args(hint)[0]
    if inner in NAMES:
        name, step = NAMES[inner], inner is StepRecord
        within = GenericAlias(dict, (str, form_of(Summary if step else inner)))
        return within, lambda all_: {getattr(one, name): shown(one.summary if step else one) for one in all_}
    kind, make = (dict[str, Any], _load_step) if inner == LoadStep else _as_json(inner)
    return GenericAlias(tuple, (kind, ...)), lambda all_: [make(one) for one in all_]


def _load_step(load_step: LoadStep) -> Any:
    return load_step.to_json()


def _load(load_step: LoadStep) -> dict[str, Any] | None:
    found: dict[str, Any] | None = load_step.to_json()["rate"] if isinstance(load_step, Rate) else None
    return found


# A load step is the members that it is.
LOAD_STEP = (
    Member(
        "load_step_clients",
        int | None,
        "",
        lambda one: None if isinstance(one.load_step, Rate | StatedLoad) else one.load_step.clients,
    ),
    Member(
        "load_step_outstanding",
        int | None,
        "where several depths were measured",
        lambda one: one.load_step.outstanding if isinstance(one.load_step, InFlight) else None,
    ),
    Member("load_step_rate", Load | None, "", lambda one: _load(one.load_step)),
)
# What is shown of a field in another way: its type, and what makes its value.
SPECIAL: dict[tuple[Any, str], tuple[Any, Of]] = {
    (AgentRecord, "facts"): (dict[str, Any], hidden),
    (RunRecord, "plan"): (dict[str, Any], hidden),
    (RunRecord, "environment"): (dict[str, Any], hidden),
    (AgentResultRecord, "lost"): (str | None, lambda lost: lost or None),
}
# What is shown besides.
MORE: dict[Any, tuple[Member, ...]] = {
    RunRecord: (
        Member("file", str, "its name", lambda run: run.path.name),
        Member("version", int, "that of the run file", lambda run: run.schema_version),
    ),
    TrialRecord: (
        Member(
            "traffic_began_at",
            str | None,
            "when traffic began, ISO 8601 in UTC",
            lambda trial: trial.figures(Figures).began_at,
        ),
        Member(
            "workload",
            dict[str, Any],
            "figures of its kind, and of any trial",
            lambda trial: trial.all_figures,
        ),
        Member(LEFT_OUT, str | None, "why its figures are in no statistic; null where they count", lambda _: None),
    ),
}


def _document() -> Any:
    """A run file. Of each planned trial `trials` has the latest attempt, in the order of the run, and `earlier` those
    that failed or were voided, and were repeated.
    """
    lists = [(name, GenericAlias(tuple, (form_of(record), ...))) for name, record in LISTS.items()]
    members = [("schema", Literal["bakeoff-show/1"]), ("run", form_of(RunRecord)), *lists]
    return _made("Document", _document.__doc__, members)


LISTS = {
    "contenders": ContenderRecord,
    "agents": AgentRecord,
    "events": EventRecord,
    "searches": SearchRecord,
    "soak_intervals": SoakIntervalRecord,
    "amendments": AmendmentRecord,
    "earlier": TrialRecord,
    "trials": TrialRecord,
}
Document = _document()


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document; `$defs` has `workload-web` … for the figures of each kind."""
    figures = {kind: figures_of(kind) for kind in KINDS}
    wanted: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]] = [
        (model, "validation", TypeAdapter(model)) for model in dict.fromkeys(figures.values())
    ]
    refs, shared = TypeAdapter.json_schemas([(Document, "serialization", TypeAdapter(Document)), *wanted])
    parts = shared["$defs"]
    root = parts.pop(str(refs[Document, "serialization"]["$ref"]).rpartition("/")[2])
    parts |= {f"workload-{kind}": refs[model, "validation"] for kind, model in figures.items()}
    schema = {**root, "$defs": parts}
    whole: dict[str, Any] = _without_nan({"$schema": GenerateJsonSchema.schema_dialect, "$id": SCHEMA, **schema})
    return whole


def _without_nan(value: Any) -> Any:
    """Defaults that JSON cannot have are left out: such a key is null where it is not known."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items() if item == item}
    return [_without_nan(item) for item in value] if isinstance(value, list) else value
