"""What IOzone 3 printed (or `bakeoff iozone`, which prints the same): its matrix of files and records.

IOzone states a rate for each test of a file and a record size. Each test moves the whole file: bytes, operations and
times follow from that. It states no errors. Throughput mode does not state
what was moved before the slower clients were stopped, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bakeoff.compat.iozone.layout import BLANK_STREAMS, BLANKS, WIDTHS
from bakeoff.core.times import s_of_us
from bakeoff.formats.importers.base import Foreign, Sample, refuse

KIB = 1024
MOST_CELLS = 100_000
COLUMNS = tuple(WIDTHS)
STREAMS = ("fwrite", "refwrite", "fread", "refread")
EXTENDED = ("pwrite", "repwrite", "pread", "repread")
# Of rows: where the figures begin.
SIZES = 24
READS = ("read", "reread", "random_read", "backward_read", "stride_read", "fread", "refread", "pread", "repread")
STATED = {
    "Command line used": "command line",
    "Time Resolution": "time resolution",
    "Processor cache size set to": "processor cache",
    "File stride size set to": "stride",
}


@dataclass
class _Reader:
    """What was read so far. `unit` is that of figures: `kB` or `ops` a second, or `usec` for each operation."""

    unit: str = "kB"
    tool: str = "IOzone"
    began: str | None = None
    stated: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    streams: bool = True
    cells: dict[tuple[str, int, int], float] = field(default_factory=dict)

    def line(self, number: int, line: str) -> None:
        """One line of the file."""
        text = line.strip()
        if version := re.match(r"Version (?:\$Revision: *([\d.]{1,20})|bakeoff (\S{1,40}))", text):
            self.tool = f"IOzone {version[1]}" if version[1] else f"bakeoff iozone {version[2]}"
        elif text.startswith("Run began:"):
            self.began = _moment(text.removeprefix("Run began:").strip())
        elif text.startswith(("OPS Mode.", "Output is in operations")):
            self.unit = "ops"
        elif text.startswith("Microseconds/op Mode."):
            self.unit = "usec"
        elif re.match(r"kB\s+reclen\s", text):
            self._heading(number, text)
        elif self.columns and re.match(r" *\d+ +\d+ ", line):
            self._row(number, line)
        elif text.startswith("Throughput test with"):
            raise refuse(number, "throughput mode does not state what was moved: give a matrix (-a, or -s and -r)")
        else:
            name = next((name for name in STATED if text.startswith(name)), None)
            if name is not None:
                self.stated[STATED[name]] = text.removeprefix(name).strip(" :=.")[:500]

    def _heading(self, number: int, text: str) -> None:
        names = text.split()[2:]
        self.streams = "fwrite" in names
        extended = "pwrite" in names
        base = len(names) - (4 if self.streams else 0) - (4 if extended else 0)
        if base not in (4, 9) or (base == 4 and len(names) > 4):
            raise refuse(number, "these columns are not IOzone's")
        self.columns = COLUMNS[:base] + (STREAMS if self.streams else ()) + (EXTENDED if extended else ())

    def _row(self, number: int, line: str) -> None:
        words = line.split()
        file, record = int(words[0]) * KIB, int(words[1]) * KIB
        for test, figure in _figures(number, line.rstrip("\n"), self.columns, self.streams):
            if figure:  # a retest that was not wanted is told as 0
                self._cell(number, (test, file, record), self._rate(figure, record))

    def _rate(self, figure: float, record: int) -> float:
        """KiB/s."""
        if self.unit == "kB":
            return figure
        return figure * record / KIB if self.unit == "ops" else record / KIB / s_of_us(figure)

    def _cell(self, number: int, key: tuple[str, int, int], rate: float) -> None:
        test, file, record = key
        if key in self.cells:
            where = f"{test} of {file // KIB} kB in {record // KIB} kB"
            raise refuse(number, f"{where} is there twice: give each run alone")
        if not 0 < record <= file:
            raise refuse(number, "records of this size do not make a file of that")
        if len(self.cells) >= MOST_CELLS:
            raise refuse(number, f"it has more than {MOST_CELLS:,} figures")
        self.cells[key] = rate


def read(text: str) -> Foreign:
    reader, number = _Reader(), 1
    for number, line in enumerate(text.splitlines(), 1):
        reader.line(number, line)
    if not reader.cells:
        raise refuse(number, "IOzone has printed no result until here: give the file that holds its output")
    return Foreign(reader.tool, "file-matrix", (_sample(reader.cells),), reader.began, reader.stated)


def _figures(number: int, line: str, columns: tuple[str, ...], streams: bool) -> Iterator[tuple[str, int]]:
    """The figures of a row with their tests. Each has its place; where they run into each other nothing can be told."""
    words, at = line[SIZES:].split(), SIZES
    if len(words) == len(columns):
        places = list(zip(columns, words, strict=True))
    else:
        places = []
        for test in columns:
            if test == "pwrite" and not streams:
                at += len(BLANK_STREAMS)
            word = line[at : at + WIDTHS[test]]
            at += WIDTHS[test] if word.strip() else BLANKS.get(test, WIDTHS[test])
            if word.strip():
                places.append((test, word.strip()))
        if [word for _, word in places] != words:
            raise refuse(number, "its figures do not stand in IOzone's columns")
    for test, word in places:
        if not re.fullmatch(r"\d{1,15}", word):
            raise refuse(number, f"{word[:30]!r} is no figure")
        yield test, int(word)


def _moment(text: str) -> str | None:
    """`Sun Nov 22 04:59:00 2026`, in the time zone of this machine: IOzone does not state one."""
    try:
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").astimezone().isoformat(timespec="milliseconds")
    except ValueError:
        return None


def _sample(cells: dict[tuple[str, int, int], float]) -> Sample:
    workload_cells = [_workload_cell(*key, rate) for key, rate in cells.items()]
    return Sample(
        clients=1,
        length_s=sum(cell["elapsed_s"] for cell in workload_cells),
        operations=sum(cell["operations"] for cell in workload_cells),
        bytes_in=sum(cell["bytes"] for cell in workload_cells if cell["test"] in READS),
        bytes_out=sum(cell["bytes"] for cell in workload_cells if cell["test"] not in READS),
        workload={"cells": workload_cells},
    )


def _workload_cell(test: str, file: int, record: int, rate: float) -> dict[str, Any]:
    """As the kind tells its cells. Whole records are moved, and what is left of the file is not."""
    moved = file // record * record
    return {
        "test": test,
        "operation": f"{test}/{file}/{record}",
        "file_bytes": file,
        "record_bytes": record,
        "bytes": moved,
        "operations": file // record,
        "elapsed_s": moved / KIB / rate,
        "rate_kib_s": rate,
    }
