"""Iometer configuration files (.icf), of all versions, read and written.

A file is a list of `'Keyword` lines, each followed by its values, one a line, indented. Capitals of keywords
do not matter, unknown ones are comments, older versions have fewer fields.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from bakeoff.core.errors import PlanError
from bakeoff.plan.settings.access import FIELDS, LINES_MAX, AccessLine, AccessSpec, spec_of

BYTES_MAX = 16 << 20
VERSION = "1.1.0"
ASSIGNMENTS = ("NONE", "ALL", "DISK", "NET")
STEPS = ("LINEAR", "EXPONENTIAL")
TEST_TYPES = (
    "NORMAL", "CYCLE_TARGETS", "CYCLE_WORKERS", "INCREMENT_TARGETS_PARALLEL", "INCREMENT_TARGETS_SERIAL",
    "CYCLE_WORKERS_AND_TARGETS", "CYCLE_OUTSTANDING_IOS", "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
)  # fmt: skip


@dataclass(frozen=True)
class Cycling:
    """Rising numbers: from `start` (to `end`, where there is one) by `step`, added or multiplied."""

    start: int = 1
    end: int | None = None
    step: int = 1
    kind: str = "LINEAR"


@dataclass(frozen=True)
class Worker:
    """One thread of a manager and what it works on."""

    name: str
    type: str = "DISK"
    outstanding: int = 1
    connection_rate: bool = False
    transactions: int = 1
    fixed_seed: bool = False
    seed: int = 0
    maximum_sectors: int = 0
    starting_sector: int = 0
    data_pattern: int = 0
    specs: tuple[str, ...] = ()
    targets: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Manager:
    """One machine that generates load."""

    id: int
    name: str
    address: str = ""
    workers: tuple[Worker, ...] = ()


@dataclass(frozen=True)
class Icf:
    """A configuration. Times in seconds; `specs` are (specification, default assignment)."""

    version: str = VERSION
    description: str = ""
    run_time_s: int = 0
    ramp_up_s: int = 0
    disk_workers: str = "NUMBER_OF_CPUS"
    network_workers: str = "0"
    record: str = "ALL"
    worker_cycling: Cycling = field(default_factory=Cycling)
    disk_cycling: Cycling = field(default_factory=Cycling)
    queue_cycling: Cycling = field(default_factory=lambda: Cycling(1, 32, 2, "EXPONENTIAL"))
    test_type: str = "NORMAL"
    specs: tuple[tuple[AccessSpec, str], ...] = ()
    managers: tuple[Manager, ...] = ()

    def used_specs(self) -> tuple[AccessSpec, ...]:
        """The specifications that workers are to run, in their order; all of them when none is assigned."""
        disks = [worker for manager in self.managers for worker in manager.workers if worker.type == "DISK"]
        wanted = dict.fromkeys(name for worker in disks for name in worker.specs)
        wanted |= dict.fromkeys(spec.name for spec, assigned in self.specs if assigned in ("ALL", "DISK"))
        known = {spec.name: spec for spec, _ in self.specs}
        used = tuple(known[name] for name in wanted if name in known)
        if not known:
            raise PlanError("the Iometer file holds no access specification: add one")
        return used or tuple(spec for spec, _ in self.specs)


def read_icf(path: Path) -> Icf:
    """A file. Raises PlanError with the line at fault."""
    try:
        with path.open("rb") as file:
            raw = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise PlanError(f"{path} cannot be read ({error.strerror}): check the path") from None
    if len(raw) > BYTES_MAX:
        raise PlanError(f"{path} is larger than 16 MiB: it is no Iometer configuration")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    try:
        return parse_icf(text)
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from None


def parse_icf(text: str) -> Icf:
    """A file's text. Raises PlanError with the line at fault."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        reader.number = number
        try:
            reader.line(line)
        except (ValueError, IndexError, ValidationError) as error:
            raise PlanError(f"line {number}: {_reason(error)}") from None
    if not reader.version:
        raise PlanError("it does not begin with a `Version` line: is it an Iometer configuration?")
    try:
        reader.end_spec()
    except (ValueError, ValidationError) as error:
        raise PlanError(f"at its end: {_reason(error)}") from None
    return reader.result()


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "lines")
        return f"{where}: {first['msg']}".removeprefix(": ")
    return str(error)


def _whole(text: str) -> int:
    try:
        number = int(text.strip())
    except ValueError:
        raise ValueError(f"{text.strip()[:40]!r} is not a whole number") from None
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{text.strip()[:40]!r} is out of range")
    return number


def _commas(line: str) -> list[str]:
    return [part.strip() for part in line.split(",")]


def _cycling(words: Sequence[str]) -> Cycling:
    kind = words[-1].upper()
    if kind not in STEPS or len(words) not in (3, 4):
        raise ValueError(f"{' '.join(words)[:80]!r} is not start, step and LINEAR or EXPONENTIAL")
    numbers = [_whole(word) for word in words[:-1]]
    end = numbers[1] if len(numbers) == 3 else None
    return Cycling(numbers[0], end, numbers[-1], kind)


def _assignment(word: str) -> str:
    """Older files have digits."""
    if word.isdigit():
        return ASSIGNMENTS[min(int(word), len(ASSIGNMENTS) - 1)]
    return word.upper() if word.upper() in ASSIGNMENTS else "NONE"


class _Reader:
    """Takes lines, keeps what they say."""

    def __init__(self) -> None:
        self.number = 0
        self.version = ""
        self._section = ""
        self._keyword = ""
        self._head: dict[str, str] = {}
        self._description: list[str] = []
        self._cycling: dict[str, Cycling] = {}
        self._specs: list[tuple[AccessSpec, str]] = []
        self._spec: tuple[str, str] | None = None
        self._rows: list[list[int]] = []
        self._managers: list[Manager] = []
        self._workers: list[Worker] = []
        self._assigned: list[str] = []
        self._targets: list[tuple[str, str]] = []

    def line(self, line: str) -> None:
        """One line of the file."""
        text = line.strip()
        if not text:
            return
        if text.startswith("'"):
            self._key(" ".join(text[1:].lower().split()))
        elif text.lower().startswith("version") and not line[:1].isspace():
            self.version = text[len("version") :].strip() or "unknown"
        elif self._section == "setup":
            self._setup(text)
        elif self._section == "specs":
            self._access(text)
        elif self._section == "managers":
            self._manager(text)

    def _key(self, keyword: str) -> None:
        name = keyword.rstrip("= ")
        sections = {
            "test setup": "setup",
            "results display": "display",
            "access specifications": "specs",
            "manager list": "managers",
        }
        for title, section in sections.items():
            if name == title:
                self._section, self._keyword = section, ""
                return
            if name == f"end {title}":
                self.end_spec()
                self._section, self._keyword = "", ""
                return
        if name in _KEYWORDS:
            self._keyword = name
        else:
            prefix = next((known for known in _PREFIXES if name.startswith(known)), None)
            self._keyword = prefix or self._keyword
        if name.startswith("access specification name"):
            self.end_spec()

    def _setup(self, text: str) -> None:
        key = self._keyword
        if key == "test description":
            self._description.append(text)
        elif key in ("worker cycling", "disk cycling", "queue depth cycling"):
            self._cycling[key] = _cycling(text.split())
        elif key == "run time":
            hours, minutes, seconds = (_whole(word) for word in text.split())
            self._head[key] = str(hours * 3600 + minutes * 60 + seconds)
        elif key == "ramp up time":
            self._head[key] = str(_whole(text.split()[0]))
        elif key == "test type":
            if text.upper() not in TEST_TYPES:
                raise ValueError(f"{text[:40]!r} is no test type")
            self._head[key] = text.upper()
        elif key:
            self._head[key] = text.upper()

    def _access(self, text: str) -> None:
        if self._keyword == "access specification name":
            self.end_spec()
            fields = _commas(text)
            self._spec = (fields[0], _assignment(fields[1]) if len(fields) > 1 else "NONE")
            self._rows = []
            self._keyword = "size"
        elif self._keyword == "size" and self._spec is not None:
            if len(self._rows) >= LINES_MAX:
                raise ValueError(f"a specification has {LINES_MAX} lines at most")
            fields = _commas(text)
            if len(fields) not in (6, 7, 8):
                raise ValueError(f"{text[:80]!r} has not 8 fields: size, share, reads, random, delay and so on")
            row = [_whole(value) for value in fields]
            AccessLine.model_validate(dict(zip(FIELDS, row, strict=False)))
            self._rows.append(row)

    def end_spec(self) -> None:
        """The specification that is being read is complete."""
        if self._spec is not None:
            name, assigned = self._spec
            self._spec = None
            self._specs.append((spec_of(name, self._rows), assigned))

    def _manager(self, text: str) -> None:
        key = self._keyword
        if key == "manager id":
            number, _, name = text.partition(",")
            self._end_manager()
            self._managers.append(Manager(_whole(number), name.strip()))
        elif not self._managers:
            return
        elif key == "manager network address":
            self._managers[-1] = replace(self._managers[-1], address=text)
        elif key == "worker":
            self._end_worker()
            self._workers.append(Worker(text))
        elif self._workers:
            self._worker(key, text)

    def _worker(self, key: str, text: str) -> None:
        worker = self._workers[-1]
        changes: dict[str, object] = {}
        if key == "worker type":
            changes = {"type": ",".join(_commas(text.upper()))}
        elif key == "number of outstanding ios":
            names = ("outstanding", "connection_rate", "transactions", "fixed_seed", "seed")
            changes = dict(zip(names, (_flag_or_number(word) for word in _commas(text)), strict=False))
            flags = ("connection_rate", "fixed_seed")
            changes |= {name: bool(changes[name]) for name in flags if name in changes}
        elif key == "disk maximum size":
            sizes = ("maximum_sectors", "starting_sector", "data_pattern")
            changes = dict(zip(sizes, (_whole(word) for word in _commas(text)), strict=False))
        elif key == "assigned access specs":
            self._assigned.append(text)
        elif key == "target":
            self._targets.append((text, "DISK"))
        elif key == "target type" and self._targets:
            self._targets[-1] = (self._targets[-1][0], ",".join(_commas(text.upper())))
        if changes:
            self._workers[-1] = Worker(**{**vars(worker), **changes})

    def _end_worker(self) -> None:
        if self._workers:
            last = self._workers[-1]
            self._workers[-1] = replace(last, specs=tuple(self._assigned), targets=tuple(self._targets))
        self._assigned, self._targets = [], []

    def _end_manager(self) -> None:
        self._end_worker()
        if self._managers:
            self._managers[-1] = replace(self._managers[-1], workers=tuple(self._workers))
        self._workers = []

    def result(self) -> Icf:
        """All of it."""
        self._end_manager()
        plain = Icf()
        head = self._head
        return Icf(
            version=self.version,
            description=" ".join(self._description),
            run_time_s=int(head.get("run time", 0)),
            ramp_up_s=int(head.get("ramp up time", 0)),
            disk_workers=head.get("default disk workers to spawn", plain.disk_workers),
            network_workers=head.get("default network workers to spawn", plain.network_workers),
            record=head.get("record results", plain.record),
            worker_cycling=self._cycling.get("worker cycling", plain.worker_cycling),
            disk_cycling=self._cycling.get("disk cycling", plain.disk_cycling),
            queue_cycling=self._cycling.get("queue depth cycling", plain.queue_cycling),
            test_type=head.get("test type", plain.test_type),
            specs=tuple(self._specs),
            managers=tuple(self._managers),
        )


def _flag_or_number(word: str) -> int:
    flag = {"DISABLED": 0, "ENABLED": 1}.get(word.upper())
    return _whole(word) if flag is None else flag


_KEYWORDS = {
    "test description", "run time", "default disk workers to spawn", "default network workers to spawn",
    "record results", "worker cycling", "disk cycling", "queue depth cycling", "test type", "worker",
    "worker type", "manager network address", "assigned access specs", "target", "target type",
}  # fmt: skip
_PREFIXES = (
    "ramp up time", "access specification name", "number of outstanding ios", "disk maximum size",
    "manager id",
)  # fmt: skip


def write_icf(icf: Icf) -> str:
    """The text of a file of version 1.1.0."""
    return "\n".join(_lines(icf)) + "\n"


def _section(title: str) -> str:
    return f"'{title} ".ljust(80, "=")


def _lines(icf: Icf) -> Iterator[str]:
    yield f"Version {VERSION} "
    yield from _setup_lines(icf)
    yield _section("RESULTS DISPLAY")
    yield "'Record Last Update Results,Update Frequency,Update Type"
    yield "\tDISABLED,0,WHOLE_TEST"
    yield "'END results display"
    yield _section("ACCESS SPECIFICATIONS")
    for spec, assigned in icf.specs:
        yield "'Access specification name,default assignment"
        yield f"\t{spec.name},{assigned}"
        yield "'size,% of size,% reads,% random,delay,burst,align,reply"
        for line in spec.lines:
            yield "\t" + ",".join(str(round(number)) for number in line.row())
    yield "'END access specifications"
    yield _section("MANAGER LIST")
    for manager in icf.managers:
        yield from _manager_lines(manager)
    yield "'END manager list"
    yield f"Version {VERSION} "


def _setup_lines(icf: Icf) -> Iterator[str]:
    hours, rest = divmod(icf.run_time_s, 3600)
    queue = icf.queue_cycling
    yield _section("TEST SETUP")
    yield from ("'Test Description", f"\t{icf.description}")
    yield from ("'Run Time", "'\thours      minutes    seconds")
    yield f"\t{hours:<10} {rest // 60:<10} {rest % 60}"
    yield from ("'Ramp Up Time (s)", f"\t{icf.ramp_up_s}")
    yield from ("'Default Disk Workers to Spawn", f"\t{icf.disk_workers}")
    yield from ("'Default Network Workers to Spawn", f"\t{icf.network_workers}")
    yield from ("'Record Results", f"\t{icf.record}")
    for title, cycling in (("Worker", icf.worker_cycling), ("Disk", icf.disk_cycling)):
        yield from (f"'{title} Cycling", "'	start      step       step type")
        yield f"\t{cycling.start:<10} {cycling.step:<10} {cycling.kind}"
    yield from ("'Queue Depth Cycling", "'	start      end        step       step type")
    yield f"\t{queue.start:<10} {queue.end or queue.start:<10} {queue.step:<10} {queue.kind}"
    yield from ("'Test Type", f"\t{icf.test_type}", "'END test setup")


def _manager_lines(manager: Manager) -> Iterator[str]:
    yield from ("'Manager ID, manager name", f"\t{manager.id},{manager.name}")
    yield from ("'Manager network address", f"\t{manager.address}")
    for worker in manager.workers:
        yield from ("'Worker", f"\t{worker.name}", "'Worker type", f"\t{worker.type}")
        yield "'Default target settings for worker"
        yield (
            "'Number of outstanding IOs,test connection rate,transactions per connection,"
            "use fixed seed,fixed seed value"
        )
        rate, seed = (("ENABLED" if on else "DISABLED") for on in (worker.connection_rate, worker.fixed_seed))
        yield f"\t{worker.outstanding},{rate},{worker.transactions},{seed},{worker.seed}"
        yield "'Disk maximum size,starting sector,Data pattern"
        yield f"\t{worker.maximum_sectors},{worker.starting_sector},{worker.data_pattern}"
        yield "'End default target settings for worker"
        yield "'Assigned access specs"
        yield from (f"\t{name}" for name in worker.specs)
        yield from ("'End assigned access specs", "'Target assignments")
        for name, kind in worker.targets:
            yield from ("'Target", f"\t{name}", "'Target type", f"\t{kind}", "'End target")
        yield from ("'End target assignments", "'End worker")
    yield "'End manager"
