"""The matrix of file sizes, record sizes and tests."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from bakeoff.kinds.file_matrix.spec import FileMatrixWorkload
from bakeoff.kinds.files.plan import NO_PAGE_CACHE, FileSettings, FolderPlanPart, OptionalSizes, file_facts
from bakeoff.load.load_step import LoadStep
from bakeoff.plan.design.work import TrialWork
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.kind import CLIENTS
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.fields import OptionalSize, OptionalWhole, Size, Whole, Words, is_resolved
from bakeoff.plan.settings.file_weights import FileWeights, OptionalFileWeights
from bakeoff.plan.settings.regions import SMALL_OFFICE, Region, Regions
from bakeoff.plan.settings.relative_size import LadderSize
from bakeoff.plan.settings.shared import CommonSettings

KIB, MIB = 1 << 10, 1 << 20
# By `fopen` and its like.
STREAMS = ("fwrite", "refwrite", "fread", "refread")
AUTOMATIC = (
    "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite",
    "stride_read", *STREAMS,
)  # fmt: skip
TESTS = (*AUTOMATIC, "mixed", "pwrite", "repwrite", "pread", "repread")
CUT_OFF_RECORD = 64 * KIB


def _tests(value: Any, info: ValidationInfo) -> Any:
    if is_resolved(info):
        return value
    return AUTOMATIC if value in ("all", ("all",), ["all"]) else value


class FileMatrixSettings(FileSettings):
    """Settings of file-matrix."""

    tests: Annotated[Words, BeforeValidator(_tests)] = Field(
        AUTOMATIC,
        description="Tests of each cell: write,rewrite,…; all = the 13 of the automatic mode.",
        json_schema_extra={"metavar": "TEST,...", "values": list(TESTS), "listed": True},
    )
    file_min: Size = Field(64 * KIB, ge=1, description="Smallest file: 64KiB.")
    file_max: LadderSize = Field(
        512 * MIB,
        ge=1,
        description="Largest file: 512MiB; sizes double. 2x: of server_memory, up to the next size of the doubling.",
    )
    record_min: Size = Field(4 * KIB, ge=1, description="Smallest record: 4KiB.")
    record_max: Size = Field(16 * MIB, ge=1, description="Largest record: 16MiB; sizes double.")
    file_sizes: OptionalSizes = Field(None, description="File sizes instead of file_min to file_max.")
    record_sizes: OptionalSizes = Field(
        None, description="Record sizes instead of record_min to record_max: 4KiB,64KiB."
    )
    cut_off: OptionalSize = Field(
        16 * MIB,
        description="Files larger than this are not done with records under 64KiB; auto: no cut.",
    )
    fsync: bool = Field(False, description="Make written data stable (fsync) inside the measured time.")
    close: bool = Field(
        False,
        description="Close the file inside the measured time.",
        json_schema_extra={"flag": "close-file", "off": "no-close-file", "also": "keep_alive"},
    )
    direct: bool = Field(False, description="Bypass the client's page cache (O_DIRECT).")
    dsync: bool = Field(False, description="Each write waits until its data are stable (O_DSYNC).")
    sync: bool = Field(False, description="Each write waits until data and metadata are stable (O_SYNC).")
    mmap: bool = Field(False, description="Read and write through memory-mapped files.")
    cache: Literal["warm", "cold"] = Field(
        "warm", description="warm: as the test before left it; cold: dropped before each test, with proof."
    )
    drop_caches: bool = Field(
        False,
        description="With cache = cold, drop the caches of the whole machine, too (root).",
        json_schema_extra={"acts": "drop the caches of this machine"},
    )
    cold_command: str | None = Field(
        None,
        min_length=1,
        description="With cache = cold, shell command before each test, such as a remount of the share.",
        json_schema_extra={"command": True},
    )
    stonewall: bool = Field(False, description="All clients stop a test when the first one is done with it.")
    mixed_read_percent: OptionalWhole = Field(
        None,
        ge=0,
        le=100,
        description="Percent of clients that read in mixed; auto: every second one.",
    )
    regions: Regions = Field(
        (SMALL_OFFICE,),
        description="Region reported apart: small-office=files<=2MiB,records<=32KiB; may be given more than once.",
        json_schema_extra={"repeat": True, "metavar": "NAME=LIMITS"},
    )
    weights: OptionalFileWeights = Field(
        None,
        description="File of `bakeoff inventory DIR -o FILE`: means over cells weigh each file size by the number of "
        "files that the share has of it, the nearest size for others.",
        json_schema_extra={"path": "file"},
    )
    stride: Whole = Field(17, ge=1, description="Records from one read of the stride test to the next.")

    DISPLACES: ClassVar[Mapping[str, Sequence[str]]] = {
        "file_min": ("file_sizes",),
        "file_max": ("file_sizes",),
        "record_min": ("record_sizes",),
        "record_max": ("record_sizes",),
    }

    @property
    def separate_regions(self) -> tuple[Region, ...]:
        return self.regions

    @property
    def file_weights(self) -> FileWeights | None:
        return self.weights

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = dict(super().without_effect(addresses))
        if self.file_sizes is not None:
            why = "file_sizes names the files one by one: leave one of the two out"
            reasons |= {"file_min": why, "file_max": why}
        if self.record_sizes is not None:
            why = "record_sizes names the records one by one: leave one of the two out"
            reasons |= {"record_min": why, "record_max": why}
            reasons["cut_off"] = "record_sizes names the records, none of which is cut off: leave one of the two out"
        if "stride_read" not in self.tests:
            reasons["stride"] = "belongs to the test stride_read, which is not among the tests: leave it out"
        if "mixed" not in self.tests:
            reasons["mixed_read_percent"] = "belongs to the test mixed, which is not among the tests: add it"
        if len({file for file, _ in pairs(self)}) == 1:
            reasons["weights"] = "there is one file size only, which has all the weight: leave it out"
        if max(self.clients) * self.virtual_users == 1:
            reasons["stonewall"] = "one client has no others to stop: give clients, such as 2,4"
        if all(test.endswith("read") for test in self.tests):
            why = "none of the tests writes: leave it out"
            reasons |= {"fsync": why, "dsync": why, "sync": why}
        return reasons

    @property
    def weighted(self) -> str:
        return f", weighted by the file sizes of {self.weights.folder}" if self.weights else ""

    @property
    def ends_with_its_work(self) -> bool:
        return True

    def work(self, load_step: LoadStep) -> TrialWork:
        """See CommonSettings: every test moves all of its file."""
        times = len(self.tests) * load_step.clients * self.virtual_users
        files = pairs(self)
        return TrialWork(
            cells=len(files) * len(self.tests),
            bytes=sum(file for file, _ in files) * times,
            calls=sum(file // record for file, record in files) * times,
            cache_drops=len(files) * len(emptied_before(self.tests)) if self.drop_caches or self.cold_command else 0,
        )

    @model_validator(mode="after")
    def _matrix_consistent(self) -> Self:
        for test in self.tests:
            if test not in TESTS:
                raise ValueError(f"tests: there is no test {test!r}: {did_you_mean(test, TESTS)}")
        if not self.tests or len(set(self.tests)) != len(self.tests):
            raise ValueError("tests: name each test once, at least one")
        if self.direct and self.mmap:
            raise ValueError("direct and mmap exclude each other: leave one out")
        if (self.drop_caches or self.cold_command) and self.cache != "cold":
            raise ValueError("drop_caches and cold_command belong to cache = cold: set that, too")
        if "mixed" in self.tests and max(self.clients) * self.virtual_users < 2:
            raise ValueError("tests: mixed needs at least two clients: give clients, such as 2,4")
        if not pairs(self):
            raise ValueError("no record size fits a file size: give smaller records or larger files")
        return self


def emptied_before(tests: Sequence[str]) -> list[str]:
    """The tests before which caches are made cold where that is asked for: not the one that makes its file."""
    return [test for test in tests if test != "write"]


def _doubling(first: int, last: int) -> Iterator[int]:
    size = first
    while size <= last:
        yield size
        size *= 2


def pairs(settings: FileMatrixSettings) -> list[tuple[int, int]]:
    """(file, record) in bytes, in the order in which they are worked through."""
    files = settings.file_sizes or tuple(_doubling(settings.file_min, settings.file_max))
    records = settings.record_sizes or tuple(_doubling(settings.record_min, settings.record_max))
    cut = settings.cut_off if settings.record_sizes is None else None
    return [
        (file, record)
        for file in files
        for record in records
        if record <= file and not (cut is not None and file > cut and record < CUT_OFF_RECORD)
    ]


class FileMatrixPlanPart(FolderPlanPart):
    """The kind `file-matrix`."""

    settings = FileMatrixSettings
    # Not `close`, which says what is within the measured time, nor the state of caches before it.
    client_options = ("direct", "dsync", "sync", "fsync", "mmap")
    endpoint = "the geometric means of the cells' MB/s"
    common_settings = MappingProxyType(
        {
            "file_max": "Largest file: 512MiB.",
            "record_max": "Largest record: 16MiB.",
            "tests": "Tests of each cell: write,read,…",
            "clients": CLIENTS,
            "cache": "warm, or cold before each test.",
            "direct": "Bypass the page cache (O_DIRECT).",
            "fsync": "Make data stable inside of the measured time.",
        }
    )

    def space_bytes(self, settings: CommonSettings) -> int:
        matrix = _matrix(settings)
        return max(file for file, _ in pairs(matrix)) * max(matrix.clients) * matrix.virtual_users

    def needs_folder(self, settings: CommonSettings) -> str | None:
        matrix = _matrix(settings)
        streams = [test for test in matrix.tests if test in STREAMS]
        if streams:
            left = ",".join(test for test in matrix.tests if test not in STREAMS)
            return f"{', '.join(streams)} are calls of the C library on a file of this machine: give --tests {left}"
        if matrix.mmap:
            return "mapped memory needs a file of this machine: leave mmap out"
        return NO_PAGE_CACHE if matrix.direct else None

    def why_indivisible(self, settings: CommonSettings) -> str:
        return (
            "a test of file-matrix ends when its file is through, a small one in less time than machines can begin "
            "within of each other, so that rates of tests that did not run together would be added: leave agents out, "
            "or use file-blocks, whose cells have a time of their own, or file-mix"
        )


def workload(plan: Plan, contender: Contender) -> FileMatrixWorkload:
    """What the engine is told of a contender."""
    s = _matrix(plan.settings_of(contender.name))
    facts = file_facts(contender, s)
    return FileMatrixWorkload(
        folder=facts.folder,
        pairs=tuple(pairs(s)),
        tests=s.tests,
        keep=s.keep,
        fsync=s.fsync,
        close=s.close,
        direct=s.direct,
        dsync=s.dsync,
        sync=s.sync,
        mmap=s.mmap,
        verify=s.verify,
        cache=s.cache,
        drop_caches=s.drop_caches,
        cold_command=s.cold_command,
        stonewall=s.stonewall,
        mixed_read_percent=s.mixed_read_percent,
        stride=s.stride,
        carrier=facts.carrier,
        link_bytes_per_s=facts.link_bytes_per_s,
        stall_s=s.reply_timeout_s,
    )


def _matrix(settings: CommonSettings) -> FileMatrixSettings:
    assert isinstance(settings, FileMatrixSettings)
    return settings


PART = FileMatrixPlanPart()
