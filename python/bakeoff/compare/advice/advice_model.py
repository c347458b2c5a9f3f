"""What a reader must know besides the numbers: the sorts of it, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bakeoff.compare.cube.spread import RateSpread
from bakeoff.compare.estimate.interim import InterimAnalysis
from bakeoff.compare.failures.hung_model import Hung
from bakeoff.compare.model.fact import NARRATED, Fact
from bakeoff.compare.resources.fleet_model import BusyThreads, FleetChange, FullLink, MachineRange
from bakeoff.compare.validity.disturbances import Crowd
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.design.shared_addresses import AddressGroup


@dataclass(frozen=True)
class SomeClients:
    """These of so many clients, by number."""

    clients: tuple[int, ...]
    of: int


@dataclass(frozen=True)
class OfFile(Fact):
    """What a run file can go on from: its name, and the folder of a campaign that it lies in."""

    file: str
    folder: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class NotMeasuredHere(Fact):
    """The figures are those of another `tool`, of a `kind_of_suite`."""

    tool: str
    kind_of_suite: str


@dataclass(frozen=True)
class MeasuredApart(Fact):
    """Several `files` that no run paired; `settings` are those that differ in them."""

    files: tuple[str, ...]
    settings: tuple[str, ...]
    suite: str


@dataclass(frozen=True)
class StoppedTrials(Fact):
    """Contenders of several files whose trials have no figures, each with the reason."""

    trials: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class NotComplete(OfFile):
    """`missing` of the `planned` trials were not run; 0: the run did not end."""

    missing: int
    planned: int


@dataclass(frozen=True)
class FileNotComplete(Fact):
    """`missing` trials of one of several files were not run."""

    file: str
    missing: int


@dataclass(frozen=True)
class InterimAnalysesMade(Fact):
    """Where the end of the plan was not the only analysis."""

    interim: InterimAnalysis


@dataclass(frozen=True)
class TrialsRepeated(Fact):
    """`trials` of a contender that were in this `state` were repeated, most often for this `reason`."""

    contender: str
    state: str
    trials: int
    reason: str
    other_reasons: bool


@dataclass(frozen=True)
class WentOnWithout(OfFile):
    """A contender that the run went on without; `why` says how often it was dead."""

    contender: str
    why: str


@dataclass(frozen=True)
class Outages(Fact):
    """Of so many trials: in how many it answered nothing, in how many it failed, and in how many nobody asked it."""

    dead: int
    failed: int
    not_asked: int
    of: int


@dataclass(frozen=True)
class TrialsLeftOut(OfFile):
    """`trials` of a contender that are in no ratio, by their `state`. Their file does them `again`, or another run."""

    contender: str
    state: str
    trials: int
    again: Literal["file", "run"]


@dataclass(frozen=True)
class TrialsForfeited(OfFile):
    """Trials that a contender lost, most of them, `with_reason` where there are several, for this `reason`."""

    contender: str
    outages: Outages
    reason: Fact = field(metadata=NARRATED)
    with_reason: int | None
    refused: bool
    again: Literal["file", "run"]


@dataclass(frozen=True)
class UnresponsiveAtEnd(Fact):
    """A contender that did not answer when all was measured."""

    contender: str
    why: str


@dataclass(frozen=True)
class DeltaChosen(Fact):
    """The smallest difference that matters was chosen when the figures were there: not one of those `planned`."""

    chosen: float
    planned: tuple[float, ...]


@dataclass(frozen=True)
class FewBlocks(Fact):
    """Complete blocks, too few for a verdict, of these pairs (contender, baseline; none: of the only one), while
    `measured` were. Of a run that `is_imported` each block is a file.
    """

    blocks: int
    pairs: tuple[tuple[str, str], ...]
    measured: int
    is_imported: bool = False


@dataclass(frozen=True)
class SharedAddress(Fact):
    """Contenders that are one server by several names."""

    one: AddressGroup


@dataclass(frozen=True)
class UnpairedCells(Fact):
    """By contender how many of its cells it was tried in alone, and of how many."""

    alone: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class DifferentMounts(Fact):
    """By contender the mount options that not all have; of several `file_systems` those alone that all know."""

    options: Mapping[str, tuple[str, ...]]
    file_systems: tuple[str, ...]


@dataclass(frozen=True)
class OperationsHung(Fact):
    """Operations of a contender that never ended."""

    contender: str
    hung: Hung


@dataclass(frozen=True)
class Waited(Fact):
    """Up to which `share` of a window the generator waited for a processor, in `trials` of a contender's `of`."""

    contender: str
    share: float
    trials: int
    of: int


@dataclass(frozen=True)
class GeneratorWaited(Fact):
    """What else ran on its machine took time from the generator, whose threads may be `pinned` to cores."""

    contenders: tuple[Waited, ...]
    pinned: bool


@dataclass(frozen=True)
class OthersRan(Fact):
    """Others took processors of the machine that sent load in `trials` of `of`."""

    crowd: Crowd
    trials: int
    of: int


@dataclass(frozen=True)
class BeganLate(Fact):
    """The generator began late in `trials` of a contender's `of`; `late_p99_ms` is the worst, NaN where not known."""

    contender: str
    trials: int
    of: int
    late_p99_ms: float


@dataclass(frozen=True)
class OutOfConnections(Fact):
    """A contender kept all connections busy in `trials` of `of`: so many starts `waited`, and some to the end."""

    contender: str
    trials: int
    of: int
    waited: int
    never_started: int


@dataclass(frozen=True)
class GeneratorDisturbed(Fact):
    """The generator was stopped, or robbed of processors by a hypervisor, in trials that are not void for it."""

    how: Literal["stopped", "stolen"]
    trials: int


@dataclass(frozen=True)
class BlocksDiffer(Fact):
    """By contender how far its blocks are from each other, in operations that are called `work`."""

    spreads: Mapping[str, RateSpread]
    work: str


@dataclass(frozen=True)
class OperationsFailed(Fact):
    """Operations of a contender that failed, by class; `share` of all is None where whole trials were dead."""

    contender: str
    errors: Mapping[str, int]
    share: float | None
    kind_of_suite: str


@dataclass(frozen=True)
class LinkFull(Fact):
    """A link was full in `trials` of a contender's `of`, at `load_steps` (none: at all)."""

    contender: str
    link: FullLink
    trials: int
    of: int
    load_steps: tuple[LoadStep, ...]


@dataclass(frozen=True)
class GeneratorLimit(Fact):
    """Load threads were the limit in `trials` of a contender's `of`."""

    contender: str
    busy: BusyThreads
    trials: int
    of: int


@dataclass(frozen=True)
class Unfair(Fact):
    """By contender the lowest Jain index of what its clients got, the lowest first."""

    jain: Mapping[str, float]


@dataclass(frozen=True)
class NearGeneratorCapacity(Fact):
    """The peak of a contender is this share of what the generator asks of a server that does nothing."""

    contender: str
    share: float


@dataclass(frozen=True)
class FewOperations(Fact):
    """Trials with too few operations for a p99, and those with too few for a p95."""

    trials: int
    for_p95: int


@dataclass(frozen=True)
class AuditDoesNotHold(Fact):
    """An audit that trials do not pass."""

    audit: str
    deviating: int
    checked: int


@dataclass(frozen=True)
class WorkingSet(Fact):
    """All files of a trial fit into these memories, by whose they are; of a `quick` run that is no wonder."""

    largest_bytes: int
    memories: Mapping[str, int]
    quick: bool


@dataclass(frozen=True)
class NotCold(Fact):
    """By contender before how many of its cells the caches stayed full that were to be cold, and of how many; those of
    `emptied` were empty.
    """

    stayed: Mapping[str, tuple[int, int]]
    emptied: tuple[str, ...]


@dataclass(frozen=True)
class FleetChanged(Fact):
    """Fewer machines, or more again, sent load."""

    change: FleetChange


@dataclass(frozen=True)
class AgentSlow(Fact):
    """The clients of one agent did less than those of another, at `worst` most; so it was `with_contenders`, which are
    all or some of several.
    """

    worst: MachineRange
    with_contenders: tuple[str, ...]
    of_contenders: int


@dataclass(frozen=True)
class AgentsWeak(Fact):
    """Agents that ask less than the others of a server that does nothing: the least of them this share."""

    agents: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class QuantizedRates(Fact):
    """One more operation of each client is up to the share `step` of what these contenders did, and more than `delta`,
    which matters. Operations are called `work`.
    """

    contenders: tuple[str, ...]
    step: float
    delta: float
    work: str


@dataclass(frozen=True)
class StarvedTrial:
    """Clients that got (next to) `nothing` in a trial of a block, while others were served."""

    block: int
    clients: SomeClients
    nothing: bool


@dataclass(frozen=True)
class ClientsStarved(Fact):
    """A contender starved clients in these trials, of its `of`."""

    contender: str
    trials: tuple[StarvedTrial, ...]
    of: int


@dataclass(frozen=True)
class CellClients:
    """Some of the clients of a cell of a contender's trial."""

    cell: str
    contender: str
    block: int
    clients: SomeClients


@dataclass(frozen=True)
class StarvedInCells(Fact):
    """A contender gave clients (next to) nothing in these cells."""

    contender: str
    cells: tuple[CellClients, ...]


@dataclass(frozen=True)
class UnrunCell(CellClients):
    """Clients for which the generator did not run for up to a `share` of its time."""

    share: float


@dataclass(frozen=True)
class UnrunInCells(Fact):
    """The generator did not run for some clients in these cells."""

    cells: tuple[UnrunCell, ...]
