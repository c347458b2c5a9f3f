"""IOzone's command line: which options there are, and what of them this program does."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.kinds.file_matrix.plan import CUT_OFF_RECORD, KIB, MIB

WITH_VALUE = set("bdfFgHijJklLmnPqrsStuUVXYy")
VALUED_PLUS = set("pmtxAqwyCk")
REFUSED = {
    "b": "binary workbooks (.xls): -R prints the same figures as text that spreadsheets open",
    "H": "POSIX AIO: use the suite file-blocks with outstanding I/Os",
    "k": "POSIX AIO: use the suite file-blocks with outstanding I/Os",
    "K": "jitter",
    "p": "purging the processor's cache",
    "Q": "offset and latency files: the run file of file-matrix has percentiles",
    "V": "all data are checked anyway, outside the measured time, with patterns of our own",
    "W": "locking the file",
    "X": "telemetry files",
    "Y": "telemetry files",
    "Z": "mixing mmap and file I/O",
}
RECORDS_ALL = (4 * KIB, 16 * MIB)
FILES_ALL = (64 * KIB, 512 * MIB)
CROSS_OVER = 16 * MIB
TESTS_OF = {
    0: ("write", "rewrite"),
    1: ("read", "reread"),
    2: ("random_read", "random_write"),
    3: ("backward_read",),
    4: ("record_rewrite",),
    5: ("stride_read",),
    6: ("fwrite", "refwrite"),
    7: ("fread", "refread"),
    8: ("mixed",),
    9: ("pwrite", "repwrite"),
    10: ("pread", "repread"),
}
RETESTS = ("rewrite", "reread", "refwrite", "refread", "repwrite", "repread")


@dataclass
class Options:
    """What was asked for; sizes in bytes. `splash` are the lines that the options print first."""

    words: list[str] = field(default_factory=list)
    auto: bool = False
    auto2: bool = False
    cross_over: bool = True
    tests: list[int] = field(default_factory=list)
    file_min: int | None = None
    file_max: int | None = None
    record_min: int | None = None
    record_max: int | None = None
    files: list[int] = field(default_factory=list)
    records: list[int] = field(default_factory=list)
    excel: bool = False
    names: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    count_min: int | None = None
    count_max: int | None = None
    threads: bool = False
    children: bool = False
    stonewall: bool = True
    fsync: bool = False
    close: bool = False
    direct: bool = False
    sync: bool = False
    dsync: bool = False
    mmap: bool = False
    extended: bool = False
    retest: bool = True
    keep: bool = False
    stride: int = 17
    mixed_percent: int | None = None
    think_s: float = 0.0
    unit: str = "kB"
    mount: str | None = None
    processor: int | None = None
    cache_kib: int = 1024
    line_bytes: int = 32
    pause_s: float = 0.0
    help: bool = False
    version: bool = False
    splash: list[str] = field(default_factory=list)

    @property
    def throughput(self) -> list[int]:
        """Numbers of clients of throughput mode; empty in the other modes."""
        if self.count_min is not None or self.count_max is not None:
            low = self.count_min or 1
            return list(range(low, (self.count_max or low) + 1))
        return self.counts

    @property
    def folder(self) -> Path:
        """The folder in which files are made."""
        parents = {Path(name).absolute().parent for name in self.names}
        if len(parents) > 1:
            raise PlanError("-F: name files in one folder: several folders are contenders of file-matrix")
        return parents.pop() if parents else Path.cwd()

    def columns(self) -> tuple[str, ...]:
        """The tests of the text matrix, in its order."""
        if self.auto2:
            return ("write", "rewrite", "read", "reread")
        numbers = [0, 1, 2, 3, 4, 5, *(() if self.mmap else (6, 7)), *((9, 10) if self.extended else ())]
        return tuple(test for number in numbers for test in TESTS_OF[number])

    def wanted(self) -> list[str]:
        """The tests that are run, in the order of their columns; without the retests when those are off."""
        chosen = set(self.tests) if self.tests else set(TESTS_OF)
        names = [test for number in sorted(chosen) for test in TESTS_OF[number]]
        return [test for test in names if self.retest or test not in RETESTS]

    def pairs(self) -> list[tuple[int, int]]:
        """(file, record) of each row, in bytes."""
        return [
            (file, record)
            for file in self.file_sizes()
            for record in self.record_sizes()
            if record <= file and not self.cut_off(file, record)
        ]

    def cut_off(self, file: int, record: int) -> bool:
        """Whether a small record of a large file is left out."""
        given = self.records or self.files or self.record_min is not None or self.record_max is not None
        return self.auto and self.cross_over and not given and file > CROSS_OVER and record < CUT_OFF_RECORD

    def file_sizes(self) -> list[int]:
        """All file sizes."""
        if self.files or not (self.auto or self.auto2):
            return self.files or [512 * KIB]
        return _doubling(self.file_min or FILES_ALL[0], self.file_max or FILES_ALL[1])

    def record_sizes(self) -> list[int]:
        """All record sizes; rows whose file is smaller leave the larger ones out."""
        if self.records or not (self.auto or self.auto2):
            return self.records or [4 * KIB]
        return _doubling(self.record_min or RECORDS_ALL[0], self.record_max or RECORDS_ALL[1])


def _doubling(first: int, last: int) -> list[int]:
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= 2
    return sizes


def size_of(option: str, text: str) -> int:
    """Bytes of `64` (kB), `64k`, `1m`, `2g`. Raises PlanError."""
    match = re.fullmatch(r"([0-9]{1,15})([kKmMgG]?)", text)
    if match is None or int(match[1]) == 0:
        raise PlanError(f"-{option} {text}: write a number of kB, or one with k, m or g, such as 64, 4k or 1g")
    return int(match[1]) * {"": KIB, "k": KIB, "m": MIB, "g": 1 << 30}[match[2].lower()]


def number_of(option: str, text: str, least: int = 0) -> int:
    """A whole number. Raises PlanError."""
    if not re.fullmatch("[0-9]{1,15}", text) or int(text) < least:
        raise PlanError(f"-{option} {text}: write a whole number of {least} or more")
    return int(text)


def parse(words: Sequence[str]) -> Options:
    """The options of a command line. Raises PlanError for one that is unknown or not done here."""
    options, rest = Options(words=list(words)), list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            raise PlanError(f"{word!r} is not an option: see `bakeoff iozone -h`")
        letters = word[1:] if word != "--help" else "h"
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter == "+":
                _plus(options, letters, rest)
                break
            if letter not in WITH_VALUE:
                _flag(options, letter)
                continue
            value = letters or (rest.pop(0) if rest else "")
            if not value:
                raise PlanError(f"-{letter} needs a value: see `bakeoff iozone -h`")
            _valued(options, letter, value, rest)
            break
    _consistent(options)
    return options


def _refuse(letter: str) -> None:
    what = REFUSED.get(letter)
    raise PlanError(
        f"-{letter} is not done here ({what})" if what else f"-{letter} is not an option: see `bakeoff iozone -h`"
    )


def _flag(options: Options, letter: str) -> None:
    """An option without value."""
    splash: dict[str, tuple[str, object, str | None]] = {
        "a": ("auto", True, "Auto Mode"),
        "A": ("auto2", True, "Auto Mode 2. This option is obsolete. Use -az -i0 -i1 "),
        "z": ("cross_over", False, "Cross over of record size disabled."),
        "B": ("mmap", True, "Using mmap files"),
        "c": ("close", True, "Include close in write timing"),
        "C": ("children", True, None),
        "E": ("extended", True, None),
        "e": ("fsync", True, "Include fsync in write timing"),
        "I": ("direct", True, "O_DIRECT feature enabled"),
        "o": ("sync", True, "SYNC Mode. "),
        "O": ("unit", "ops", "OPS Mode. Output is in operations per second."),
        "N": ("unit", "usec", "Microseconds/op Mode. Output is in microseconds per operation."),
        "R": ("excel", True, "Excel chart generation enabled"),
        "T": ("threads", True, None),
        "w": ("keep", True, "Setting no_unlink"),
        "x": ("stonewall", False, "Stonewall disabled"),
        "h": ("help", True, None),
        "v": ("version", True, None),
    }
    if letter == "M":
        facts = os.uname()
        machine = " ".join((facts.sysname, facts.nodename, facts.release, facts.version, facts.machine))
        options.splash += ["", f"Machine = {machine}"]
        return
    if letter not in splash:
        _refuse(letter)
    name, value, line = splash[letter]
    setattr(options, name, value)
    if line is not None:
        options.splash.append(line)


def _valued(options: Options, letter: str, value: str, rest: list[str]) -> None:
    """An option with a value; -F takes all words up to the next option."""
    size: dict[str, tuple[str, str]] = {
        "n": ("file_min", "Using minimum file size of {} kilobytes."),
        "g": ("file_max", "Using maximum file size of {} kilobytes."),
        "y": ("record_min", "Using Minimum Record Size {} kB"),
        "q": ("record_max", "Using Maximum Record Size {} kB"),
        "s": ("files", "File size set to {} kB"),
        "r": ("records", "Record Size {} kB"),
    }
    number: dict[str, tuple[str, int]] = {
        "j": ("stride", 1),
        "S": ("cache_kib", 1),
        "L": ("line_bytes", 1),
        "P": ("processor", 0),
        "l": ("count_min", 1),
        "u": ("count_max", 1),
    }
    lists: dict[str, Callable[[], list[int]]] = {"t": lambda: options.counts, "i": lambda: options.tests}
    if letter in size:
        name, line = size[letter]
        size_bytes = size_of(letter, value)
        options.splash.append(line.format(size_bytes // KIB))
        current = getattr(options, name)
        setattr(options, name, [*current, size_bytes] if isinstance(current, list) else size_bytes)
    elif letter in number:
        name, least = number[letter]
        setattr(options, name, number_of(letter, value, least))
        if letter == "P":
            options.splash.append(f"Binding of processors beginning with {options.processor} ")
    elif letter in lists:
        lists[letter]().append(number_of(letter, value, 1 if letter == "t" else 0))
    elif letter == "f":
        options.names = [value]
    elif letter == "F":
        options.names = [value]
        while rest and not rest[0].startswith("-"):
            options.names.append(rest.pop(0))
    elif letter == "J":
        options.think_s = number_of(letter, value) / 1000
    elif letter == "U":
        options.mount = value
    else:
        _refuse(letter)


def _plus(options: Options, letters: str, rest: list[str]) -> None:
    """An option of the second alphabet: -+n, -+p 30."""
    letter, value = letters[:1], letters[1:]
    if letter in VALUED_PLUS and not value:
        value = rest.pop(0) if rest else ""
    if letter == "n":
        options.retest = False
        options.splash.append("No retest option selected")
    elif letter == "p":
        options.mixed_percent = number_of("+p", value)
        if options.mixed_percent > 100:
            raise PlanError(f"-+p {value}: write a percentage")
    elif letter == "q":
        options.pause_s = float(number_of("+q", value))
    elif letter == "D":
        options.dsync = True
        options.splash.append(">>> O_DSYNC mode enabled. <<<")
    elif letter == "r":
        options.sync = True
        options.splash.append("Read & Write sync mode enabled.")
    elif letter == "d":
        raise PlanError("-+d is not done here (all data are checked anyway, outside the measured time): leave it out")
    else:
        raise PlanError(f"-+{letter} is not done here: see `bakeoff iozone -h`")


def _consistent(options: Options) -> None:
    for number in options.tests:
        if number not in TESTS_OF:
            raise PlanError(f"-i {number}: there are the tests 0 to {max(TESTS_OF)}")
    if options.unit == "usec" and options.throughput:
        raise PlanError("-N: microseconds are not possible in throughput mode: use -O")
    if options.mount is not None and options.throughput:
        raise PlanError("-U: throughput tests with unmount and remount are not possible: leave one out")
    if options.direct and options.mmap:
        raise PlanError("-I and -B exclude each other: leave one out")
    names = options.names if any(word.startswith("-F") for word in options.words) else []
    if names and options.throughput and len(names) < max(options.throughput):
        raise PlanError(f"-F: name {max(options.throughput)} files, one for each process")
    if not options.throughput and not options.pairs():
        least, most = min(options.record_sizes()) // KIB, max(options.file_sizes()) // KIB
        raise PlanError(
            f"records of {least} kB do not fit into files of {most} kB: give smaller records (-r) or larger files (-s)"
        )
