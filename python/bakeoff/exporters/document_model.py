"""The form of a run as one JSON document: what `bakeoff show --json` prints, with its JSON Schema.

Every key is always there; a value that is not available is null. The number at the end of `SCHEMA` rises when a key is
renamed, leaves or changes its meaning; new keys may come without that.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from bakeoff.kinds import KINDS
from bakeoff.store.figures import figures_of

SCHEMA = "bakeoff-show/1"
Counts = dict[str, int]


class Doc(BaseModel):
    """An object of the document: no other keys, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TimesMs(Doc):
    """A histogram in figures, milliseconds; all but the count are null when it is 0."""

    count: int
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float | None
    min: float | None


class Load(Doc):
    """Of a rate: operations that begin each second, how the times between them are spread, and by how many connections
    at most.
    """

    per_s: float
    arrivals: dict[str, Any]
    most_connections: int


class Operation(Doc):
    """One class of operations inside the measured window."""

    operations: int
    errors: Counts
    bytes_in: int
    bytes_out: int
    service_ms: TimesMs


class Second(Doc):
    """One row of a trial's series; `phase` is `ramp_up`, `window` or `ramp_down`, `width_s` its length."""

    second: int
    phase: str
    width_s: float
    operations: int
    errors: int
    bytes_in: int
    service_ms: TimesMs


class Client(Doc):
    """What one simulated client did inside the measured window."""

    client: int
    operations: int
    errors: int
    bytes_in: int
    busy_s: float


class Link(Doc):
    """What went over a link of an agent's machine while it measured; `share` is how full it was, null where nobody
    states its speed: `unjudged` says why.
    """

    name: str
    bits_per_s: int | None
    unjudged: str
    span_s: float
    bytes_in: int
    bytes_out: int
    packets_in: int
    packets_out: int
    share: float | None


class Fates(Doc):
    """What had become, at the window's end, of the starts that were planned for it: with those that never started they
    are all that were offered.
    """

    answered: int
    failed: int
    open: int


class Starts(Doc):
    """Starts that a rate planned for the window, how many of them began, never did or ended well (`answered`), and
    found all connections busy (`ran_out`); `queue` are the turns due and not over, from the begin of the window to its
    end; `late_ms` is how late those were that found every connection busy.
    """

    offered: int
    started: int
    never_started: int
    answered: int
    ran_out: int
    connections_used: int
    queue: tuple[int, ...]
    late_ms: TimesMs
    fates: Fates | None


class Share(Doc):
    """What one agent did of a trial; `lost` says why it was lost in the middle of it. `disturbances` are stops,
    suspends, steps of the clock and stolen time of its machine, where there were any.
    """

    clients: int
    lost: str | None
    window_s: float
    operations: int
    operations_per_s: float
    errors: Counts
    bytes_in: int
    bytes_out: int
    service_ms: TimesMs
    response_ms: TimesMs | None
    starts: Starts | None
    cpu_share: float
    cpu_us_per_operation: float
    run_delay_share: float | None
    rss_bytes: int
    late_start_p99_ms: float | None
    lag_p99_ms: float | None
    start_offset_ms: float | None
    clock_error_ms: float | None
    links: tuple[Link, ...]
    disturbances: dict[str, Any]


class Gap(Doc):
    """From when to when nothing is known, s after traffic began, and why."""

    from_s: float
    to_s: float
    why: str


class WatchingCost(Doc):
    """What looking took: processor time here and on the machine looked at, bytes sent and received for it."""

    looks: int
    cpu_s: float
    remote_cpu_s: float | None
    out_bytes: int
    in_bytes: int


class Watched(Doc):
    """What a machine that sent load had to do in a trial, or the contender where it was watched: `source` says how.

    Each interval begins `at_s` after traffic did and is `width_s` long; `series` have of what is counted its growth in
    the interval, of the rest the value at its end, null where it is not known. `window_s` is the measured window.
    `processor_shares` are those of it in which each processor worked, by number, null where nobody knows;
    `busiest_share` is that of whichever worked most in a second, mean over the seconds.
    """

    role: Literal["generator", "contender"]
    name: str
    source: str
    window_s: tuple[float, float]
    at_s: tuple[float, ...]
    width_s: tuple[float, ...]
    series: dict[str, tuple[float | None, ...]]
    facts: dict[str, Any]
    processor_shares: tuple[float | None, ...]
    busiest_share: float | None
    gaps: tuple[Gap, ...]
    cost: WatchingCost


class Term(Doc):
    """One term of an objective in one trial: what it came to (ms or a share), the share of the operations that it
    counts as lost, and whether it was met.
    """

    term: str
    value: float | None
    lost: float
    met: bool


class Judged(Doc):
    """A probe held against the objective of its search; `limit` says what limited the generator, where anything did."""

    met: bool
    lost: float
    limit: str
    terms: tuple[Term, ...]


class Trial(Doc):
    """One contender at one mix in one block: of `mix_clients`, `mix_rate` one is there, `mix_outstanding` where
    several depths were measured. Counts are those of the
    measured window, rates per second.

    `left_out` says why its figures are in no statistic of the comparison, and is null for those that count. `purpose`
    is `search` or `share` in a search for the capacity, else empty. `workload` are the figures of the kind of suite, by
    the model of its name; `fairness_jain` and what is of the generator is null in runs that another tool measured.
    `tried_ms` are percentiles over all that was tried, where something failed: a failed one is the slowest.
    """

    id: int
    contender: str
    mix_clients: int | None
    mix_outstanding: int | None
    mix_rate: Load | None
    share_of_capacity: float | None
    purpose: str
    block: int
    order: int
    seed: int | None
    state: Literal["ok", "failed", "voided", "interrupted"]
    reason: str
    code: str
    left_out: str | None
    marks: tuple[str, ...]
    started_at: str
    traffic_began_at: str | None
    window_s: float
    operations: int
    operations_per_s: float
    bytes_in: int
    bytes_out: int
    bytes_per_s: float
    errors: Counts
    statuses: Counts
    connections: Counts
    service_ms: TimesMs
    response_ms: TimesMs | None
    tried_ms: TimesMs | None
    starts: Starts | None
    per_operation: dict[str, Operation]
    steps_ms: dict[str, TimesMs]
    per_second: tuple[Second, ...]
    per_client: tuple[Client, ...]
    per_agent: dict[str, Share]
    fairness_jain: float | None
    generator_cpu_us_per_operation: float | None
    generator_cpu_share: float | None
    generator_run_delay_share: float | None
    generator_rss_bytes: int | None
    control_cpu_share: float | None
    control_longest_s: float | None
    generator_lag_ms: TimesMs | None
    generator_late_start_ms: TimesMs | None
    judged: Judged | None
    telemetry: tuple[Watched, ...]
    found: dict[str, Any] | None
    workload: dict[str, Any]


class StoredRow(Doc):
    """One row of a soak: `length_s` seconds from `started_at` on; `order` is that of its trial."""

    contender: str
    mix_clients: int | None
    mix_outstanding: int | None
    mix_rate: Load | None
    block: int
    order: int
    stretch: int
    number: int
    started_at: str
    length_s: float
    operations: int
    operations_per_s: float
    errors: Counts
    error_share: float
    bytes_in: int
    bytes_out: int
    service_ms: TimesMs
    response_ms: TimesMs | None
    offered: int | None
    started: int | None
    never_started: int | None
    cpu_share: float
    run_delay_share: float | None
    stolen_s: float | None
    stopped_s: float | None
    rss_bytes: int


class Search(Doc):
    """How a search for the capacity of a contender ended in a block; `met` and `missed` are the orders of the trials
    with the highest load that met the objective, and the lowest above it that did not.
    """

    contender: str
    block: int
    outcome: str
    reason: str
    code: str
    met: int | None
    missed: int | None


class Amendment(Doc):
    """What became of the plan while the run went on: `sort` is `blocks`, `retry`, `clear` or `left_out`, `text` what
    was asked for, or why. `blocks_seen` were whole by then; the run had `blocks_before` and has `blocks` since.
    """

    at: str
    sort: str
    text: str
    blocks_seen: int
    blocks_before: int
    blocks: int
    contender: str | None
    plan_hash: str


class Contender(Doc):
    """A server under test as the plan names it."""

    name: str
    address: str
    reset: str | None


class Agent(Doc):
    """A machine that sent load, and what it did when there was nothing to do."""

    name: str
    facts: dict[str, Any]
    null_operations_per_s: float | None


class Event(Doc):
    """Something worth knowing that happened; `level` is `info` or `warning`. A `code` says what it is where something
    is decided by it, of which `contender`, and the `reason` why.
    """

    at: str
    level: str
    text: str
    trial: int | None
    code: str
    contender: str | None
    reason: str


class Run(Doc):
    """What holds for all trials. `plan` is the plan with all its settings, `environment` what was found of contenders
    and machine; what looks like a secret is hidden in both. `mixes` is empty in a search for the capacity.
    """

    name: str
    suite: str
    kind: str
    file: str
    version: int
    imported_from: str | None
    plan_hash: str
    seal: str
    created_at: str
    finished_at: str | None
    blocks_planned: int
    trials_planned: int
    mixes: tuple[dict[str, Any], ...]
    delta: float
    null_operations_per_s: float | None
    tool: dict[str, str]
    plan: dict[str, Any]
    environment: dict[str, Any]


class Document(Doc):
    """A run file. Of each planned trial `trials` has the latest attempt, in the order of the run, and `earlier` those
    that failed or were voided, and were repeated.
    """

    schema_: Literal["bakeoff-show/1"] = Field("bakeoff-show/1", alias="schema")
    run: Run
    contenders: tuple[Contender, ...]
    agents: tuple[Agent, ...]
    events: tuple[Event, ...]
    searches: tuple[Search, ...]
    soak_rows: tuple[StoredRow, ...]
    amendments: tuple[Amendment, ...]
    earlier: tuple[Trial, ...]
    trials: tuple[Trial, ...]


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document; `$defs` has `workload-web` … for the figures of each kind."""
    figures = {kind: figures_of(kind) for kind in KINDS}
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [(Document, "serialization")]
    wanted += [(model, "validation") for model in dict.fromkeys(figures.values())]
    refs, shared = models_json_schema(wanted, by_alias=True)
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
