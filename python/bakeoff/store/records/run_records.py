"""The values that a run file holds, as immutable records.

Times are in nanoseconds where the name ends in `_ns`, seconds where it ends in `_s`; byte counts are of
bodies and headers together, as received. Nothing here is computed from several trials: that is the work of
`bakeoff.compare`.
"""

from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.figure import (
    At,
    Began,
    Block,
    BytesIn,
    BytesOut,
    CpuPerOperation,
    CpuShare,
    ErrorCount,
    Errors,
    Figure,
    Memory,
    Operations,
    PerSecond,
    RunDelayShare,
    Window,
)
from bakeoff.store.records.figures import F, Figures, parsed
from bakeoff.store.records.trial_parts import (
    EMPTY_SUMMARY,
    AgentResultRecord,
    ClientRecord,
    Judged,
    OperationRecord,
    Response,
    SecondRecord,
    Service,
    Starts,
    StepRecord,
    Summary,
)
from bakeoff.telemetry.model import Telemetry

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan

OK = "ok"
FAILED = "failed"
VOIDED = "voided"
INTERRUPTED = "interrupted"
# Where the environment of a run says how often the generator asks a server that does nothing: by contender how that was
# asked (`words`), `operations_per_s`, of that by `agents`, and how much of the time its load threads worked
# (`busy_share`); or, of whom it could not be measured, the reason alone.
GENERATOR_CAPACITIES = "generator_capacities"
CAPACITY_WHY_NOT = "why_not"
STATES = (OK, FAILED, VOIDED, INTERRUPTED)
# What a trial of a search for the capacity is for: to find it, or to be measured at a share of it.
SEARCH = "search"
SHARE = "share"
PURPOSES = ("", SEARCH, SHARE)
# How a search for the capacity ended.
FOUND = "found"
AT_LEAST = "at_least"
NONE = "none"
DIED = "died"
UNSETTLED = "unsettled"
OUTCOMES = (FOUND, AT_LEAST, NONE, DIED, UNSETTLED)
# What became of a plan while its run went on.
ADDED = "blocks"
RETRIED = "retry"
CLEAR = "clear"
LEFT_OUT = "left_out"
AMENDMENTS = (ADDED, RETRIED, CLEAR, LEFT_OUT)
# What a reason is about where something is decided by it: of a trial or a search that was not even begun, as the run
# went on without its contender, that it was left out.
REASON_CODES = ("", LEFT_OUT)
# The same of events: a contender did not answer after its last trial.
UNRESPONSIVE = "silent"
EVENT_CODES = ("", UNRESPONSIVE)
CONTENDER_KEY, PLANNED_KEY = "REFERENCES contenders(name)", "REFERENCES planned(position)"
Code = Annotated[
    str,
    Figure(
        "`left_out`: it was not even begun, as the run went on without its contender; empty otherwise",
        words=REASON_CODES,
    ),
]
# In the tool of a run that Bakeoff did not measure: who did.
IMPORTED_FROM = "imported_from"


# What is told of any trial beside its figures, where there is something: as JSON has it, under `workload`.
AROUND = ("began_at", "outside", "polled_share", "lost_share", "disturbances", "machines", "others", "soak")


@dataclass(frozen=True)
class OutsideRecord:
    """What ended before or after the measured window."""

    operations: Operations
    errors: ErrorCount


@dataclass(frozen=True)
class TrialRecord:
    """One contender at one load step in one block.

    `id` is the row in the run file, `order` the position in the run from 0. `state` is one of `STATES`,
    `reason` is empty when `state` is `ok`, `code` one of `REASON_CODES`; `marks` are warnings that do not change it.
    `generator_run_delay_share` is the share of the window that the load thread which waited longest spent
    waiting for a processor. `control_cpu_share` is the share of a processor that the other threads of the generator's
    process took in the window, and no piece of their work was longer than `control_longest_s`; None where nobody
    measured it, and of several machines those of the one where it was most. `workload` is what the kind of suite tells
    of the trial; `figures` gives it typed.
    `per_agent` is empty when the trial has no result. `service` times count from the start of an operation, `response`
    times from the planned start of an iteration to its end, for iterations that were not over when the window ended as
    far as they had waited: they and `starts` are there where a rate plans it. `tried` are the percentiles of these
    times (of `service` in a closed loop) over all that was tried, where something failed: what failed lies beyond all
    answers, and a percentile among the failed ones is None. `purpose` is one of `PURPOSES`, empty but in a search for
    the capacity, of which `share` is; `judged` is there in those. `telemetry` is what the generator's machines had to
    do meanwhile, and the contender where it was watched. `found` are the facts of the contender that were others than
    when the run began (bakeoff.store.records.check_facts); None where none was.
    """

    id: int
    contender: str
    load_step: LoadStep
    block: int
    order: int
    seed: int
    state: Annotated[
        str,
        Figure(
            "`ok`, `failed` (the contender's fault), `voided` (the laboratory's fault) or `interrupted`",
            words=STATES,
        ),
    ]
    reason: Annotated[str, Figure("why it is not `ok`, in a sentence; empty otherwise")]
    marks: Annotated[tuple[str, ...], Figure("warnings that do not change the state, JSON array")]
    started_at: Began
    window_s: Window = 0.0
    operations: Operations = 0
    operations_per_s: Annotated[float, Figure("operations that ended well within the window, by its length")] = 0.0
    bytes_in: BytesIn = 0
    bytes_out: BytesOut = 0
    bytes_per_s: Annotated[float, Figure("bytes received, by the length of the window")] = 0.0
    errors: Errors = field(default_factory=dict)
    statuses: Annotated[dict[str, int], Figure("replies by status, JSON object")] = field(default_factory=dict)
    service: Service = EMPTY_SUMMARY
    per_operation: tuple[OperationRecord, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    per_second: tuple[SecondRecord, ...] = ()
    per_client: tuple[ClientRecord, ...] = ()
    connections: Annotated[dict[str, int], Figure("what became of connections, JSON object of counts")] = field(
        default_factory=dict
    )
    generator_cpu_share: CpuShare = 0.0
    generator_cpu_us_per_operation: CpuPerOperation = 0.0
    generator_late_start: Annotated[Summary, Figure("how late clients began")] = EMPTY_SUMMARY
    generator_lag: Annotated[Summary, Figure("how long finished operations waited for the generator to take them")] = (
        EMPTY_SUMMARY
    )
    generator_rss_bytes: Memory = 0
    fairness_jain: Annotated[float, Figure("Jain's index of the clients' operations: 1 is fair")] = 1.0
    workload: Annotated[dict[str, Any], Figure("what its kind reports beside, JSON object")] = field(
        default_factory=dict
    )
    generator_run_delay_share: RunDelayShare | None = None
    control_cpu_share: Annotated[
        float | None,
        Figure(
            "share of a processor that the generator's process took in the window beside its load threads: samples, "
            "telemetry, the live line; NULL where it was not measured"
        ),
    ] = None
    control_longest_s: Annotated[
        float | None,
        Figure(
            "the most processor time that one of these threads took between two samples, a second or less apart; NULL "
            "where it was not measured"
        ),
    ] = None
    response: Response | None = None
    starts: Starts | None = None
    tried: Annotated[
        Summary | None,
        Figure("where operations failed: percentiles over all that was tried, in which a failed one is the slowest"),
    ] = None
    per_agent: tuple[AgentResultRecord, ...] = ()
    purpose: str = ""
    share: float | None = None
    judged: Judged | None = None
    telemetry: tuple[Telemetry, ...] = ()
    found: Annotated[
        dict[str, Any] | None,
        Figure(
            "facts of its contender that were others than when the run began (file system, server, options), JSON; "
            "NULL: none was"
        ),
    ] = None
    code: Code = ""
    began_at: Annotated[str | None, Figure("when traffic began, ISO 8601 in UTC; NULL where unknown", moment=True)] = (
        None
    )
    outside: Annotated[OutsideRecord | None, Figure("what ended before or after the window")] = None
    polled_share: Annotated[
        float | None, Figure("share of the window that load threads polled for replies in vain; NULL: none did")
    ] = None
    lost_share: Annotated[
        float | None, Figure("share of the window in which the generator was stopped; NULL: nothing stopped it")
    ] = None
    disturbances: Annotated[
        dict[str, Any] | None,
        Figure("stops, suspends, steps of the clock and stolen time of the machine; NULL without any, JSON object"),
    ] = None
    machines: Annotated[dict[str, Any] | None, Figure("of a soak: `disturbances` of each machine, JSON object")] = None
    others: Annotated[
        dict[str, Any] | None, Figure("what others took of the machine; NULL where unknown, JSON object")
    ] = None
    soak: Annotated[
        dict[str, Any] | None,
        Figure("of a soak: its segments, what stopped it and which intervals are void, JSON object; else NULL"),
    ] = None
    _figures: list[Figures] = field(default_factory=list, init=False, repr=False, compare=False)

    def figures(self, model: type[F]) -> F:
        """The trial's own figures as `model`, parsed once. Raises RunFileError when they do not fit it."""
        for known in self._figures:
            if isinstance(known, model):
                return known
        figures = parsed(model, self.all_figures, f"the figures of trial {self.id}")
        self._figures.append(figures)
        return figures

    @property
    def all_figures(self) -> dict[str, Any]:
        """What its kind tells of it, and what is told of any trial, where there is something."""
        around = {name: getattr(self, name) for name in AROUND}
        around["outside"] = None if self.outside is None else asdict(self.outside)
        return {**self.workload, **{name: value for name, value in around.items() if value is not None}}

    @property
    def is_empty(self) -> bool:
        """Whether nothing succeeded in it. Where another tool's file states figures, these are a result."""
        return self.operations == 0 and not self.figures(Figures).stated

    @property
    def errors_total(self) -> int:
        """Failed operations inside the window, all classes together."""
        return sum(self.errors.values())


@dataclass(frozen=True)
class SoakIntervalRecord:
    """What was done in one interval of a soak: `length_s` seconds from `started_at` on.

    `order`, `contender`, `load_step` and `block` are those of the planned trial that it is a part of. `number` counts
    from 0 over all segments of the soak, `segment` from 1: a soak that was broken off goes on in another. `response`
    times are there where the load plans its starts, and so may be how many of them were `offered`, `started` and
    `never_started` in the row; `rss_bytes` is the memory of the generator at the row's end, and `stopped_s` how long it
    did not run.
    """

    order: int
    contender: str
    load_step: LoadStep
    block: int
    segment: Annotated[int, Figure("from 1; a soak that was broken off and resumed has several", least=1)]
    number: Annotated[int, Figure("which interval of the soak, from 0 over all its segments")]
    started_at: Began
    length_s: Annotated[float, Figure("its length; less than the plan's where a segment ended")]
    operations: Operations
    errors: Errors
    bytes_in: BytesIn
    bytes_out: BytesOut
    cpu_share: CpuShare
    run_delay_share: RunDelayShare | None
    stolen_s: Annotated[float | None, Figure("time that the hypervisor gave to others, a mean over the processors")]
    rss_bytes: Memory
    service: Service
    response: Response | None
    offered: Annotated[
        int | None, Figure("starts that a rate planned; NULL where none did, or they were not counted")
    ] = None
    started: Annotated[int | None, Figure("how many of them began; NULL as `offered`")] = None
    never_started: Annotated[int | None, Figure("how many of them never did; NULL as `offered`")] = None
    stopped_s: Annotated[
        float | None,
        Figure(
            "time in which the load generator did not run (stopped, starved, throttled, its machine suspended or "
            "paused, or its clock set); NULL where not measured"
        ),
    ] = None

    @property
    def operations_per_s(self) -> PerSecond:
        """Operations that ended well, by its length."""
        return self.operations / self.length_s if self.length_s > 0 else 0.0

    @property
    def errors_total(self) -> int:
        """Failed operations, all classes together."""
        return sum(self.errors.values())

    @property
    def error_share(self) -> Annotated[float, Figure("share of the ended operations that failed")]:
        """Of all operations that ended, those that failed; 0 where none ended."""
        return self.errors_total / max(1, self.operations + self.errors_total)

    @property
    def times(self) -> Summary:
        """What a user waited: from planned starts where there are any, else from the start."""
        return self.service if self.response is None else self.response


@dataclass(frozen=True)
class AgentRecord:
    """A machine that sent load; `facts` are its processor, memory, kernel, limits and links. It did
    `null_operations_per_s` is what it asks of the null server on its loopback, None until that is measured.
    """

    name: Annotated[str, Figure("name of the agent", sql="UNIQUE")]
    facts: Annotated[dict[str, Any], Figure("processor, memory, kernel, limits and links of its machine, JSON object")]
    null_operations_per_s: Annotated[float | None, Figure("as that of the run, of its machine")] = None


@dataclass(frozen=True)
class ContenderRecord:
    """A server under test as the plan names it."""

    name: Annotated[str, Figure("name of the contender", sql="UNIQUE")]
    address: Annotated[str, Figure("where it is")]
    reset: Annotated[str | None, Figure("shell command that restores it before each block")]


@dataclass(frozen=True)
class EventRecord:
    """Something worth knowing that happened at `at` (ISO, UTC); `level` is `info` or `warning`. Where something is
    decided by it, `code` is one of `EVENT_CODES`, with the `contender` that it is about and the `reason`.
    """

    at: At
    level: Annotated[str, Figure("`info` or `warning`")]
    text: Annotated[str, Figure("what happened")]
    trial_id: Annotated[int | None, Figure("the attempt that it belongs to", sql="REFERENCES trials(id)")]
    code: Annotated[
        str,
        Figure(
            "`silent`: a contender did not answer after its last trial; empty where nothing is decided by it",
            words=EVENT_CODES,
        ),
    ] = ""
    contender: Annotated[str | None, Figure("the contender that the code is about; else NULL", sql=CONTENDER_KEY)] = (
        None
    )
    reason: Annotated[str, Figure("why, for the code, in words; empty without one")] = ""


@dataclass(frozen=True)
class PlannedTrial:
    """A trial as the plan, or a search, orders it, before it runs. `order` counts from 0, `block` from 1. `purpose` is
    one of `PURPOSES`; `share` of the capacity found it has when that is to be measured.
    """

    order: Annotated[int, Figure("place in the run, from 0", column="position", sql="PRIMARY KEY")]
    contender: Annotated[str, Figure("name of the contender", sql=CONTENDER_KEY)]
    load_step: Annotated[
        LoadStep, Figure('the load, JSON: {"clients": number}, or {"rate": {"per_s", "arrivals", "most_connections"}}')
    ]
    block: Block
    seed: Annotated[int, Figure("seed of the trial: the same for all contenders of a block")]
    purpose: Annotated[
        str,
        Figure(
            "empty; where capacities are searched `search`, a probe, or `share`, a share of what was found",
            words=PURPOSES,
        ),
    ] = ""
    share: Annotated[float | None, Figure("the share of the capacity that its load is; else NULL")] = None


@dataclass(frozen=True)
class SearchRecord:
    """How a search for the capacity of a contender ended in a block. `outcome` is one of `OUTCOMES`, `reason` says why
    it is not `found`, with a code of `REASON_CODES`. `met` is the order of the trial with the highest load that
    met the objective, `missed` of that with the lowest load above it that did not; None where there is none.
    """

    contender: Annotated[str, Figure("name of the contender", sql=CONTENDER_KEY)]
    block: Block
    outcome: Annotated[
        str,
        Figure(
            "`found`, `at_least` (a limit hid the rest), `none` (no load met the objective), `died` (the contender did "
            "not come back) or `unsettled` (too few probes, or the generator was the limit even at the least load)",
            words=OUTCOMES,
        ),
    ]
    reason: Annotated[str, Figure("why it is not `found`, in words; empty otherwise")]
    met: Annotated[
        int | None, Figure("the planned trial with the highest load that met the objective", sql=PLANNED_KEY)
    ]
    missed: Annotated[
        int | None, Figure("the planned trial with the lowest load above it that did not", sql=PLANNED_KEY)
    ]
    code: Code = ""


@dataclass(frozen=True)
class AmendmentRecord:
    """What became of the plan of a run at `at`: `sort` is one of `AMENDMENTS`, `text` what was asked for, or why.

    `blocks_seen` were whole by then, and so could be analysed; the run had `blocks_before` and has `blocks` since.
    `contender` is the one that was left out. `plan_hash` is that of the plan before.
    """

    at: At
    sort: Annotated[
        str,
        Figure(
            "`blocks` (added), `retry` (of failed and voided trials), `clear` (ended at a planned interim analysis) or "
            "`left_out` (a dead contender)",
            words=AMENDMENTS,
        ),
    ]
    text: Annotated[str, Figure("what was asked for, or why, in words")]
    blocks_seen: Annotated[int, Figure("how many blocks were whole at that time")]
    blocks_before: Annotated[int, Figure("how many blocks the run had before", least=1)]
    blocks: Annotated[int, Figure("how many blocks the run has since", least=1)]
    contender: Annotated[str | None, Figure("the contender that was left out; else NULL", sql=CONTENDER_KEY)]
    plan_hash: Annotated[str, Figure("hash of the plan before it")]


@dataclass(frozen=True)
class RunRecord:
    """A whole run file. `trials` holds the latest attempt of each planned trial, by `order`; `earlier` the failed and
    voided ones that were repeated, `pending` what is planned and not done; `soak_intervals` the intervals of soaks as
    they came, also of trials that have not ended. `amendments` say what became of the plan, which is held as it is
    since. A search for capacities has no `load_steps` of its own, and `searches` hold what it found so far.

    `started_here` is the mark by which the user who started the run knows its plan (bakeoff.run.checks.trust).
    `environment` is what was found of the contenders (`content`) and the facts of the first agent. `schema_version` is
    that of the file. A run with `imported_from` was measured by another tool (`formats/importers/`): it has no plan,
    and its trials have no histograms and no figures of a generator but where that tool states them. `joined` are the
    files of which this is made (`collections/join.py`), empty for a run file by itself; `notes` are what their user
    noted: day and text. `seal` is that of everything in the file (`sqlite/seal.py`).
    """

    path: Path
    schema_version: int
    name: Annotated[str, Figure("name of the run in reports")]
    suite: Annotated[str, Figure("name of the suite")]
    kind: Annotated[str, Figure("kind of the suite")]
    plan: Annotated[dict[str, Any], Figure("the resolved plan, JSON; with the blocks that were added")]
    plan_hash: Annotated[str, Figure("SHA-256 of the plan's canonical JSON")]
    created_at: Annotated[str, Figure("when the file was made, ISO 8601 in UTC", moment=True)]
    finished_at: Annotated[
        str, Figure("when the last planned trial was stored, ISO 8601 in UTC; NULL until then", moment=True)
    ] | None  # fmt: skip
    tool: Annotated[dict[str, str], Figure("which Bakeoff wrote it, with the build of its engine, JSON")]
    environment: Annotated[
        dict[str, Any],
        Figure(
            "what was found of the contenders, and by `generator_capacities` how often the generator asks the null "
            "server, in the way of each, JSON"
        ),
    ]
    contenders: tuple[ContenderRecord, ...]
    load_steps: Annotated[
        tuple[LoadStep, ...],
        Figure("the load steps, JSON array of what planned.load_step holds; empty where capacities are searched"),
    ]
    blocks_planned: Annotated[
        int, Figure("how often every contender is visited, with the blocks that were added", least=1)
    ]
    delta: Annotated[float, Figure("smallest difference that matters, as a share", above_zero=True, below=1.0)]
    null_operations_per_s: Annotated[
        float | None,
        Figure(
            "what the generator asks of the null server on loopback, where `environment` has "
            "`generator_capacities` and "
            "all contenders are asked in one way; NULL elsewhere",
            above_zero=True,
        ),
    ]
    trials_planned: int
    trials: tuple[TrialRecord, ...]
    events: tuple[EventRecord, ...]
    started_here: Annotated[str | None, Figure("mark by which the user who started the run knows its plan")] = None
    agents: tuple[AgentRecord, ...] = ()
    joined: "tuple[JoinedFile, ...]" = ()
    notes: tuple[tuple[str, str], ...] = ()
    searches: tuple[SearchRecord, ...] = ()
    soak_intervals: tuple[SoakIntervalRecord, ...] = ()
    amendments: tuple[AmendmentRecord, ...] = ()
    earlier: tuple[TrialRecord, ...] = ()
    pending: tuple[PlannedTrial, ...] = ()
    seal: str = ""

    @cached_property
    def planned(self) -> "Plan":
        """The plan as it is read, whatever is stored of it; `plan` is its stored form, for texts and hashes."""
        from bakeoff.plan.reported import lenient_plan  # plans know the records of a run

        return lenient_plan(self.plan, self.kind)

    @property
    def files(self) -> "tuple[JoinedFile, ...]":
        """The run files that count: those that are joined, or a run by itself as the only one, without a letter."""
        counted = tuple(file for file in self.joined if not file.failed)
        names = {contender.name: contender.name for contender in self.contenders}
        return counted or (JoinedFile("", self, names, 0, 0, failed=False),)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do. A search plans as it goes: it is over when it says so."""
        return not self.pending and (self.finished_at is not None or bool(self.load_steps))

    @property
    def blocks_wanted(self) -> int:
        """How many blocks the run has: all that are planned, or those up to the analysis at which it ended."""
        ends = self.amended(CLEAR)
        return ends[-1].blocks if ends else self.blocks_planned

    @property
    def blocks_whole(self) -> int:
        """How many of them are done."""
        if not self.load_steps:
            ended = Counter(search.block for search in self.searches)
            return sum(number == len(self.contenders) for number in ended.values())
        return self.blocks_wanted - len({trial.block for trial in self.pending})

    @property
    def first_plan_hash(self) -> str:
        """The hash of the plan that the run was started with."""
        return self.amendments[0].plan_hash if self.amendments else self.plan_hash

    def amended(self, sort: str) -> tuple[AmendmentRecord, ...]:
        """What became of the plan in one way, in the order in which it did."""
        return tuple(each for each in self.amendments if each.sort == sort)

    @property
    def imported_from(self) -> Annotated[str | None, Figure("the tool that measured this run, unless Bakeoff did")]:
        """The tool that measured this run, unless Bakeoff did."""
        return self.tool.get(IMPORTED_FROM)


@dataclass(frozen=True)
class JoinedFile:
    """One of several run files that are told of together. `label` is its letter; `run` is what it holds, its contenders
    called as they are beside the others, and `names` what each of them is called in the file itself. Of the blocks of
    all, its own follow the first `before`. `plan` is the same number for files whose plans ask for the same work. What
    has `failed` is repeated by another file, and counts no more.
    """

    label: str
    run: RunRecord
    names: dict[str, str]
    before: int
    plan: int
    failed: bool

    @property
    def blocks(self) -> range:
        """Its blocks among those of all; empty when it does not count."""
        return range(0) if self.failed else range(self.before + 1, self.before + self.run.blocks_wanted + 1)

    def identity(self, contender: str) -> tuple[str, str]:
        """By what a contender is known in every file: its name there, and its address."""
        address = next(one.address for one in self.run.contenders if one.name == contender)
        return self.names[contender], address
