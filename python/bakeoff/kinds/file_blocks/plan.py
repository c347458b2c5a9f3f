"""Block sizes and access specifications on one large file."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

import psutil
from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo, model_validator

from bakeoff.core.errors import BakeoffError, PlanError
from bakeoff.core.units import format_size
from bakeoff.formats.importers.file.icf import read_icf
from bakeoff.kinds.file_blocks.spec import AccessLineSpec, BlockCellSpec, FileBlocksWorkload
from bakeoff.kinds.files.plan import NO_PAGE_CACHE, FileSettings, FolderPlanPart, OptionalSizes, file_facts
from bakeoff.load.load_step import InFlight, LoadStep
from bakeoff.plan.design.work import TrialWork
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.kind import CLIENTS
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.access import MIB, PATTERNS, AccessSpec, find, pattern_spec, shipped
from bakeoff.plan.settings.fields import Duration, Metavar, Numbers, Whole, Words, is_resolved
from bakeoff.plan.settings.relative_size import RelativeSize
from bakeoff.plan.settings.shared import CommonSettings

OUTSTANDING_MAX = 256
SIZES = (*(512 << power for power in range(17)), 63 * MIB)


def _named(value: Any, info: ValidationInfo) -> Any:
    """Names of shipped specifications, to the specifications."""
    if value is None or is_resolved(info):
        return value
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ValueError("write names of access specifications, such as File server,Database")
    try:
        return tuple(find(name) for name in names if name.strip()) or None
    except PlanError as error:
        raise ValueError(str(error)) from None


def _icf(value: Any, info: ValidationInfo) -> Any:
    """Path of an Iometer file, to the specifications that it holds."""
    if value is None or is_resolved(info) or not isinstance(value, str):
        return value
    try:
        return read_icf(Path(value).expanduser()).used_specs()
    except BakeoffError as error:
        raise ValueError(str(error)) from None


Percent = Annotated[float, Metavar("PERCENT")]
Access = Annotated[tuple[AccessSpec, ...] | None, BeforeValidator(_named), Metavar("NAME,...")]
# One depth is stored as a number, as it was when there could not be several.
Depths = Annotated[Numbers, PlainSerializer(lambda depths: depths[0] if len(depths) == 1 else list(depths))]
Icf = Annotated[tuple[AccessSpec, ...] | None, BeforeValidator(_icf)]


class FileBlocksSettings(FileSettings):
    """Settings of file-blocks."""

    block_sizes: OptionalSizes = Field(SIZES, description="Block sizes: 512,4KiB,1MiB; 512 bytes to 63 MiB by default.")
    patterns: Words = Field(
        tuple(PATTERNS),
        description="Patterns: sequential_read,sequential_write,random_read,random_write,mixed.",
        json_schema_extra={"metavar": "PATTERN,...", "values": list(PATTERNS), "listed": True},
    )
    mixed_read: Percent = Field(50.0, ge=0, le=100, description="Reads of the mixed pattern, percent.")
    mixed_random: Percent = Field(50.0, ge=0, le=100, description="Random transfers of the mixed pattern, percent.")
    access: Access = Field(
        None,
        description="Named access specifications instead of sizes × patterns: File server,Database.",
        json_schema_extra={"values": list(shipped()), "listed": True},
    )
    icf: Icf = Field(
        None,
        description="Iometer file whose access specifications are used instead of sizes × patterns. Of the rest of it "
        "nothing is: give outstanding, cell_time, ramp_up and region yourself.",
        json_schema_extra={"path": "file"},
    )
    region: RelativeSize = Field(
        20 * 1000**3,
        ge=4096,
        description="File that all clients work on: 20GB, or 1.5x of server_memory. Of several agents each has a part.",
    )
    outstanding: Depths = Field(
        (1,),
        description="I/Os in flight per client; more than 1 uses io_uring. Several, such as 1,4,16, are measured one "
        "after the other with each of the load steps: I/O per second and response times against queue depth.",
    )
    cell_time_s: Duration = Field(
        30.0, alias="cell_time", gt=0, description="Measured time of each cell, after its ramp_up: 30s."
    )
    cell_ramp_s: Duration = Field(
        0.0, alias="ramp_up", ge=0, description="Start of each cell that runs but is not counted: 15s."
    )
    direct: bool = Field(False, description="Bypass the client's page cache (O_DIRECT).")
    min_transfers: Whole = Field(
        8,
        ge=0,
        le=1_000_000,
        description="A cell continues past its time until each client has made this many.",
    )
    cell_limit_s: Duration = Field(
        300.0,
        alias="cell_limit",
        ge=0,
        description="But no longer than this: what has none by then moved nothing.",
    )
    dsync: bool = Field(False, description="Each write waits until its data are stable (O_DSYNC).")
    cache: Literal["warm", "cold"] = Field(
        "warm", description="warm: as the cell before left it; cold: dropped before each cell, with proof."
    )
    drop_caches: bool = Field(
        False,
        description="With cache = cold, drop the caches of the whole machine, too (root).",
        json_schema_extra={"acts": "drop the caches of this machine"},
    )
    cold_command: str | None = Field(
        None,
        min_length=1,
        description="With cache = cold, shell command before each cell, such as one for the server.",
        json_schema_extra={"command": True},
    )

    DISPLACES: ClassVar[Mapping[str, Sequence[str]]] = {"access": ("block_sizes",), "icf": ("block_sizes",)}

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = dict(super().without_effect(addresses))
        if self.access or self.icf:
            why = "access and icf name all that is timed: leave it out"
            reasons |= dict.fromkeys(("block_sizes", "patterns", "mixed_read", "mixed_random"), why)
        elif "mixed" not in self.patterns:
            why = "belongs to the pattern mixed, which is not among the patterns: add it"
            reasons |= {"mixed_read": why, "mixed_random": why}
        return reasons

    @property
    def ends_with_its_work(self) -> bool:
        return True

    @property
    def counted_length_s(self) -> float:
        """See CommonSettings: its cells have a time of their own; slow transfers alone take longer."""
        return len(specs(self)) * (self.cell_time_s + self.cell_ramp_s)

    def work(self, load_step: LoadStep) -> TrialWork:
        cells = len(specs(self))
        cache_drops = cells if self.drop_caches or self.cold_command else 0
        return TrialWork(cells=cells, timed_s=self.counted_length_s, layout_bytes=self.region, cache_drops=cache_drops)

    @property
    def load_steps(self) -> tuple[LoadStep, ...]:
        """See CommonSettings: with several depths, each of them with each number of clients."""
        if len(self.outstanding) == 1:
            return super().load_steps
        made = (InFlight(n, depth) for n in self.clients for depth in self.outstanding)
        return tuple(sorted(made))

    @model_validator(mode="after")
    def _blocks_consistent(self) -> Self:
        depths = list(self.outstanding)
        if not depths or min(depths) < 1 or max(depths) > OUTSTANDING_MAX or depths != sorted(set(depths)):
            raise ValueError(f"outstanding: give different numbers of 1 to {OUTSTANDING_MAX}, rising: 1,4,16")
        for pattern in self.patterns:
            if pattern not in PATTERNS:
                nearest = did_you_mean(pattern, list(PATTERNS))
                raise ValueError(f"patterns: there is no pattern {pattern!r}: {nearest}")
        if not self.patterns or len(set(self.patterns)) != len(self.patterns):
            raise ValueError("patterns: name each pattern once, at least one")
        sizes = self.block_sizes or SIZES
        if len(set(sizes)) != len(sizes) or min(sizes) < 1 or max(sizes) > 1 << 30:
            raise ValueError("block_sizes: give different sizes of 1 byte to 1 GiB")
        ordered = [load_step for load_step in self.load_steps if isinstance(load_step, InFlight)]
        if duplicate := next(((a, b) for a, b in pairwise(ordered) if a.x == b.x), None):
            raise ValueError(
                f"outstanding: {duplicate[0]} and {duplicate[1]} (clients × outstanding) keep as many in flight, and "
                "no curve over it can tell them apart: leave one out"
            )
        if self.access and self.icf:
            raise ValueError("access and icf exclude each other: leave one out")
        names = [spec.name.casefold() for spec in self.access or self.icf or ()]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"access specifications: {twice!r} is there twice: name each once")
        if (self.drop_caches or self.cold_command) and self.cache != "cold":
            raise ValueError("drop_caches and cold_command belong to cache = cold: set that, too")
        largest = largest_transfer(self)
        if 2 * largest > self.region:
            raise ValueError(
                f"region: {format_size(self.region)} is too small for transfers of {format_size(largest)}: "
                "make it at least twice as large"
            )
        return self


def specs(settings: FileBlocksSettings) -> list[AccessSpec]:
    """The cells in their order; names of patterns stand for several sizes."""
    named = settings.access or settings.icf
    if named:
        return list(named)
    sizes = settings.block_sizes or SIZES
    return [
        pattern_spec(pattern, size, settings.mixed_read, settings.mixed_random)
        for pattern in settings.patterns
        for size in sizes
    ]


def largest_transfer(settings: FileBlocksSettings) -> int:
    """Bytes."""
    return max(max(line.size, line.reply) + line.align for spec in specs(settings) for line in spec.lines)


class FileBlocksPlanPart(FolderPlanPart):
    """The kind `file-blocks`."""

    settings = FileBlocksSettings
    client_options = ("direct", "dsync")
    endpoint = "the geometric means of the cells' MB/s"
    common_settings = MappingProxyType(
        {
            "block_sizes": "Block sizes: 4KiB,64KiB.",
            "patterns": "read, write, randread, randwrite and mixes.",
            "region": "Size of the file that all clients work on.",
            "outstanding": "I/Os in flight per client.",
            "cell_time": "Measured time of each cell.",
            "clients": CLIENTS,
            "direct": "Bypass the page cache (O_DIRECT).",
            "cache": "warm, or cold before each cell.",
            "icf": "Iometer file with access specifications.",
        }
    )

    def space_bytes(self, settings: CommonSettings) -> int:
        return block_settings(settings).region

    def needs_folder(self, settings: CommonSettings) -> str | None:
        return NO_PAGE_CACHE if block_settings(settings).direct else None

    def retained_folder(self, plan: Plan) -> str | None:
        """See FolderPlanPart: the region is written once for all trials of a run."""
        return f"blocks-{plan.hash[:12]}"


def workload(plan: Plan, contender: Contender) -> FileBlocksWorkload:
    """What the engine is told of a contender.

    Raises PlanError when the buffers of the highest load step do not fit this machine's memory.
    """
    s = block_settings(plan.settings_of(contender.name))
    facts = file_facts(contender, s)
    _check_memory(s)
    return FileBlocksWorkload(
        folder=facts.folder,
        region_bytes=s.region,
        outstanding=s.outstanding[0],  # of a load step that has another one: FileBlocksWorkload.under
        cells=tuple(_cell(spec) for spec in specs(s)),
        cell_s=s.cell_time_s,
        min_transfers=s.min_transfers,
        cell_limit_s=max(s.cell_limit_s, s.cell_time_s),
        ramp_up_s=s.cell_ramp_s,
        direct=s.direct,
        dsync=s.dsync,
        verify=s.verify,
        cache=s.cache,
        drop_caches=s.drop_caches,
        cold_command=s.cold_command,
        reuse=PART.retained_folder(plan),
        keep=s.keep,
        carrier=facts.carrier,
        link_bytes_per_s=facts.link_bytes_per_s,
        stall_s=s.reply_timeout_s,
    )


def _check_memory(s: FileBlocksSettings) -> None:
    clients, largest = max(s.clients_by_step) * s.virtual_users, largest_transfer(s)
    deepest = max(s.outstanding)
    needed = clients * deepest * largest
    memory = psutil.virtual_memory().total
    if needed > memory // 2:
        raise PlanError(
            f"{clients} clients with {deepest} I/Os of {format_size(largest)} need "
            f"{format_size(needed)} of buffers, this machine has {format_size(memory)} of memory: "
            "use fewer clients, fewer outstanding I/Os or smaller block_sizes"
        )


def _cell(spec: AccessSpec) -> BlockCellSpec:
    lines = tuple(AccessLineSpec(**line.model_dump()) for line in spec.lines)
    return BlockCellSpec(pattern=spec.name, block_bytes=spec.size if spec.name in PATTERNS else None, lines=lines)


def block_settings(settings: CommonSettings) -> FileBlocksSettings:
    """The settings as those of file-blocks."""
    assert isinstance(settings, FileBlocksSettings)
    return settings


PART = FileBlocksPlanPart()
