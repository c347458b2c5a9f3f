"""What a trial tells of itself beside the counts that every trial has: typed, bounded, and believed only when it fits.

The engine's workload reports it as JSON. Each kind of suite has a model of its own (`kinds/NAME/figures.py`), which is
this one with more; JSON that does not fit is refused in one sentence. Names that a model does not know are left alone:
a newer engine may tell more.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

from bakeoff.core.errors import RunFileError
from bakeoff.kinds import load

# No time in ns, no rate and no sum of bytes is above this, and sums of so large numbers are still numbers.
MOST = 1e18
MOST_CELLS = 200_000
MOST_STATED = 1_000
MOST_CLIENTS = 1_000_000
# Each machine of a fleet tells a hundred.
MOST_REQUESTS = 100_000


def _or_nan(value: Any, number: ValidatorFunctionWrapHandler) -> Any:
    return math.nan if value is None else number(value)


Count = Annotated[int, Field(ge=0, le=2**64)]
Size = Annotated[int, Field(ge=1, le=2**63)]
Number = Annotated[float, Field(ge=0.0, le=MOST)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
# NaN where the engine knows none.
NumberOrNan = Annotated[
    Number, WrapValidator(_or_nan), WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]})
]


class Shape(BaseModel):
    """A JSON object of an engine's figures."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class CacheState(Shape):
    """How cold a cache was before a cell; `proved` when the kernel showed it empty."""

    asked: str = ""
    name: str = ""
    proved: bool | None = None


class ServiceTimes(Shape):
    """Times of single operations of a cell, ns."""

    mean_ns: Number | None = None
    p50_ns: Number | None = None
    p95_ns: Number | None = None
    p99_ns: Number | None = None
    max_ns: Number | None = None


class CellFigures(Shape):
    """One cell of a trial that is made of cells: a test at one file size and one record size, in bytes.

    A cell that was `skipped`, for the reason that this says, has no figures. `per_client` are bytes and KiB/s;
    `waited_shares` are, for the same clients, shares of the cell for which their threads were not awake yet or waited
    for a processor.
    """

    test: str = ""
    operation: str = ""
    file_bytes: Size | None = None
    record_bytes: Size | None = None
    skipped: str | None = None
    empty: bool | None = None
    stretched: bool | None = None
    bytes: Count | None = None
    operations: Count | None = None
    elapsed_s: Number | None = None
    rate_kib_s: Number | None = None
    ios_per_s: Number | None = None
    slowest_kib_s: Number | None = None
    fastest_kib_s: Number | None = None
    first_done_s: Number | None = None
    last_done_s: Number | None = None
    per_client: Annotated[tuple[tuple[Count, Number], ...], Field(max_length=MOST_CLIENTS)] = ()
    idle_clients: Count | None = None
    waited_shares: Annotated[tuple[Share, ...], Field(max_length=MOST_CLIENTS)] = ()
    damaged: Count | None = None
    verify_s: Number | None = None
    cache: CacheState | None = None
    cached: bool | None = None
    cached_reason: str | None = None
    carried_bytes: Number | None = None
    cpu_us_per_io: Number | None = None
    service: ServiceTimes | None = None

    @property
    def none_ended(self) -> bool:
        """Whether it was skipped as no transfer ended: so says the engine."""
        return (self.skipped or "").startswith("no transfer ended")


class Outside(Shape):
    """What ended before or after the measured window."""

    operations: Count = 0
    errors: Count = 0


class StatedFigure(Shape):
    """A figure that another tool's file states of a trial: the `name` of what it measures, its `value` in `unit`, and
    `of` which part of the work it is; empty for all of it. That with the lowest `place` decides. By its printed digits
    it may be off by a share `finest`.
    """

    name: Annotated[str, Field(max_length=200)]
    value: Number
    unit: Annotated[str, Field(max_length=40)] = ""
    higher_is_better: bool = True
    of: Annotated[str, Field(max_length=200)] = ""
    place: Count = 0
    finest: Number = 0.0


class SoakFigures(Shape):
    """What became of a soak: how many segments it took (the trial's own figures are those of the last one), the rule
    that stopped it, if one did, and the numbers of the rows that are `void`, as the generator did not run.
    """

    segments: Count = 1
    stopped_by: str | None = None
    void: Annotated[tuple[Count, ...], Field(max_length=MOST_REQUESTS)] = ()


class OtherProcess(Shape):
    """A process that took processors; see bakeoff.agents.result.OtherProcess."""

    name: Annotated[str, Field(max_length=100)]
    taken: Number


class OtherLoad(Shape):
    """What others took of the machine that sent load, in processors of its `cores`; see bakeoff.agents.result."""

    cores: Size = 1
    taken: Number = 0.0
    contender: Number | None = None
    processes: Annotated[tuple[OtherProcess, ...], Field(max_length=100)] = ()
    pressure_share: Number | None = None
    load_average: Number | None = None

    @property
    def share(self) -> float:
        """Of all processors."""
        return self.taken / self.cores


class Common(Shape):
    """What says of any kind whether a trial counts. `lost_share` is the share of the window in which the generator was
    stopped, 0 where nothing stopped it; `others` is what others took of its machine. `unsolicited` are replies that
    nobody had asked for; with `cpu_is_work` the generator's processor time is spent in the system under test;
    `beyond_link` says that more was moved than the network carries; without `errors_stated` nobody knows how many
    operations failed. `not_stated` names what a record of a trial holds as 0 because the file of another tool does not
    state it: nobody shows it.
    """

    unsolicited: Count = 0
    errors_stated: bool = True
    not_stated: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    cpu_is_work: bool = False
    beyond_link: bool = False
    lost_share: Number = 0.0
    others: OtherLoad | None = None


class Failed(Shape):
    """The requests that failed most in the window, by name, with how often by status or class of error; `others` are
    all other failures. `answered` says how often those succeeded, where that is counted for single requests.
    """

    requests: Annotated[
        dict[Annotated[str, Field(max_length=1_000)], Annotated[dict[str, Count], Field(max_length=600)]],
        Field(max_length=MOST_REQUESTS, default_factory=dict),
    ]
    others: Count = 0
    answered: Annotated[
        dict[Annotated[str, Field(max_length=1_000)], Count], Field(max_length=MOST_REQUESTS, default_factory=dict)
    ]


class Figures(Common):
    """What any kind may tell. `outside_s` is time that sessions spent between operations on filling and checking
    data; `stale_connections` are requests that were asked again, as the server had closed their kept connection;
    `put_back` those that it had put back unread, on a connection with streams; `failed` are those that failed.
    `soak` is there when the trial is one. `began_at` is the moment when traffic began (ISO, UTC). `stated` are the
    figures that the file of another tool states, by their keys.
    """

    began_at: Annotated[str, Field(max_length=40)] | None = None
    cells: Annotated[tuple[CellFigures, ...], Field(max_length=MOST_CELLS)] | None = None
    failed: Failed = Failed(requests={}, answered={})
    outside: Outside = Outside()
    outside_s: Number | None = None
    polled_share: Number | None = None
    put_back: Count | None = None
    stale_connections: Count | None = None
    soak: SoakFigures | None = None
    stated: Annotated[dict[str, StatedFigure], Field(max_length=MOST_STATED)] | None = None

    def working_set_bytes(self, clients: int) -> int:
        """The largest set of files that the clients of the trial went through together; 0 where it is not known."""
        return clients * max((cell.file_bytes or 0 for cell in self.cells or () if not cell.skipped), default=0)


F = TypeVar("F", bound=Figures)
S = TypeVar("S", bound=Shape)


def figures_of(name: str) -> type[Figures]:
    """The model of the figures of a kind's trials; the one of any kind for a kind without one, known or not."""
    model: type[Figures] = load(name, "figures", Figures)
    return model


def parsed(model: type[S], value: Any, whose: str) -> S:
    """A stored `value` as `model`. Raises RunFileError that says `whose` it is and which part is wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:200]
        raise RunFileError(f"{whose}: {where or 'it'} does not hold what it must") from error
