"""What IOzone 3 printed (or `bakeoff iozone`, which prints the same): its matrix of files and records, the blocks for
spreadsheets (-R), and throughput mode (-t).

IOzone states a rate for each test of a file and a record size, in whole KiB a second, cut and not rounded. It states no
errors. Where the text matrix is there, the blocks for spreadsheets say the same again and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from bakeoff.compat.iozone.layout import BLANK_STREAMS, BLANKS, THROUGHPUT, TITLES, WIDTHS
from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.bulk.digits import NEW_LINE, ZERO, digits_of
from bakeoff.formats.foreign.bulk.figures import Stretch
from bakeoff.formats.foreign.bulk.rows import Block, BlockRows
from bakeoff.formats.foreign.printed import Printed, counted, printed
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import CLIENTS, FILE_SIZE, RECORD_SIZE, ForeignRow, ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import BYTES, COUNT, KIB_PER_S, PER_S, US, Unit
from bakeoff.formats.importers.base import Options, refuse

KIB = 1024
# Test, file size and record size.
_Key = tuple[str, int, int]
MOST_CELLS = 100_000
COLUMNS = tuple(WIDTHS)
STREAMS = ("fwrite", "refwrite", "fread", "refread")
EXTENDED = ("pwrite", "repwrite", "pread", "repread")
# Rows of figures and what ends them: the first ones are the matrix.
_MATRIX = re.compile(rb"^ *kB +reclen [^\n]*\n((?: *[0-9]+ +[0-9]+ [0-9 ]*\r?\n)+)", re.MULTILINE)
# Of rows: where the figures begin.
SIZES = 24
STATED = {
    "Command line used": "command line",
    "Time Resolution": "time resolution",
    "Processor cache size set to": "processor cache",
    "File stride size set to": "stride",
}
MISSING = ("times of single operations", "how many operations failed", "how busy its machine was")
_LABELS = {label: test for test, (label, *_) in THROUGHPUT.items()}
_TITLES = {title: test for test, title in TITLES.items()}
_SEEN = re.compile(
    r"(Children see|Parent sees) throughput for\s+(\d{1,6})\s+(.+?)\s*=\s*(\S+)\s+(kB|ops|usec)(?:/sec|/op)?"
)
_EACH = re.compile(r"(Min|Max|Avg) throughput per (?:process|thread)\s*=\s*(\S+)\s+(kB|ops|usec)(?:/sec|/op)?")
_SIZES = re.compile(r"Each (?:process|thread) writes a (\d{1,15}) kByte file in (\d{1,15}) kByte records")
_UNITS: dict[str, tuple[str, Unit]] = {
    "kB": (table.THROUGHPUT, KIB_PER_S),
    "ops": (table.RATE, PER_S),
    "usec": (table.MEAN, US),
}
_OTHERS = {"Parent sees": "throughput by the parent", "Min": "slowest process", "Max": "fastest process"}


@dataclass
class _Reader:
    """What was read so far. `unit` is that of figures: `kB` or `ops` a second, or `usec` for each operation."""

    unit: str = "kB"
    tool: str = "IOzone"
    began: str | None = None
    stated: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    streams: bool = True
    block: str = ""
    records: tuple[str, ...] = ()
    sizes: tuple[str, str] | None = None
    cells: dict[_Key, ForeignRow] = field(default_factory=dict)
    blocks: dict[_Key, ForeignRow] = field(default_factory=dict)
    throughput: list[ForeignRow] = field(default_factory=list)

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
        elif text.startswith('"'):
            self._of_block(number, text)
        elif sizes := re.match(
            r"Each (?:process|thread) writes a (\d{1,15}) kByte file in (\d{1,15}) kByte records", text
        ):
            self.sizes = (sizes[1], sizes[2])
        elif seen := _SEEN.match(text):
            self._seen(number, seen)
        elif (each := _EACH.match(text)) and self.throughput:
            self._each(number, each)
        else:
            self._statement(number, text)

    def _statement(self, number: int, text: str) -> None:
        name = next((name for name in STATED if text.startswith(name)), None)
        if name is not None:
            self.stated[STATED[name]] = text.removeprefix(name).strip(" :=.")[:500]
            self.lines[STATED[name]] = number

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
        figures = _figures(number, line.rstrip("\n"), self.columns, self.streams)
        sizes = _sizes(number, words[0], words[1])
        load = _load(*sizes, number)
        for place, (test, figure) in enumerate(figures, 3):
            self._cell(self.cells, number, (test, *sizes), figure, place, load)

    def _of_block(self, number: int, text: str) -> None:
        """A line of the blocks for spreadsheets: a title, the record sizes, or a file size with its figures."""
        if title := re.fullmatch(r'"(.{1,40}?) report"', text):
            self.block, self.records = _TITLES.get(title[1], ""), ()
            return
        found = re.findall(r'"(\d{1,15})"', text)
        if not self.block or not found:
            return
        if not self.records:
            self.records = tuple(found)
            return
        figures = text.partition('"' + found[0] + '"')[2].split()
        if len(figures) > len(self.records):
            raise refuse(number, f"it has {len(figures)} figures for {len(self.records)} record sizes")
        for place, (record, figure) in enumerate(zip(self.records, figures, strict=False), 2):
            if figure.strip("0"):  # what was not run is told as 0
                sizes = _sizes(number, found[0], record)
                self._cell(self.blocks, number, (self.block, *sizes), figure, place, _load(*sizes, number))

    def _cell(
        self,
        cells: dict[_Key, ForeignRow],
        number: int,
        key: tuple[str, int, int],
        figure: str,
        at: int,
        load: dict[str, ForeignValue],
    ) -> None:
        test, file, record = key
        if not (figure.isascii() and figure.isdigit() and len(figure) < 16):
            raise refuse(number, f"{figure[:30]!r} is no figure")
        if not int(figure):
            return  # a retest that was not wanted is told as 0
        if key in cells:
            where = f"{test} of {file // KIB} kB in {record // KIB} kB"
            raise refuse(number, f"{where} is there twice: give each run alone")
        if not 0 < record <= file:
            raise refuse(number, "records of this size do not make a file of that")
        if len(cells) >= MOST_CELLS:
            raise refuse(number, f"it has more than {MOST_CELLS:,} figures")
        metric, unit = _UNITS[self.unit]
        value = ForeignValue(printed(figure, rounding="down"), unit, number, at, test)
        cells[key] = ForeignRow("", load, {metric: value}, number, test)

    def _seen(self, number: int, seen: re.Match[str]) -> None:
        """What the children, or the parent, of a throughput test saw."""
        metric, unit = _UNITS[seen[5]]
        value = ForeignValue(_printed(number, seen[4]), unit, number, 0, seen[1])
        if seen[1] == "Parent sees":
            self._add(number, {_OTHERS["Parent sees"]: value})
            return
        if len(self.throughput) >= MOST_CELLS:
            raise refuse(number, f"it has more than {MOST_CELLS:,} figures")
        clients = Printed(seen[2], int(seen[2]), int(seen[2]), int(seen[2]))
        load = {CLIENTS: ForeignValue(clients, COUNT, number)}
        if self.sizes is not None:
            file, record = _sizes(number, *self.sizes)
            load |= _load(file, record, number)
        self.throughput.append(ForeignRow("", load, {metric: value}, number, _LABELS.get(seen[3], seen[3][:60])))

    def _each(self, number: int, each: re.Match[str]) -> None:
        if each[1] in _OTHERS:
            value = ForeignValue(_printed(number, each[2]), _UNITS[each[3]][1], number, 0, each[1])
            self._add(number, {_OTHERS[each[1]]: value})

    def _add(self, number: int, more: dict[str, ForeignValue]) -> None:
        """Figures of the throughput test that was told last."""
        if not self.throughput:
            raise refuse(number, "what the children see was expected before this")
        last = self.throughput[-1]
        self.throughput[-1] = ForeignRow("", last.load, {**last.values, **more}, last.line, last.part)


def sniff(source: Source) -> bool:
    head = source.head
    return "Iozone: Performance Test" in head or (
        bool(re.search(r"^\s*kB\s+reclen\s+write\s", head, re.MULTILINE))
        or ('"Writer report"' in head)
        or ("Command line used: " in head and "iozone" in head)
    )


def read(source: Source, options: Options) -> ForeignTable:
    return _read_matrix(source) or _read_lines(source)


def _read_lines(source: Source) -> ForeignTable:
    """The table, line by line."""
    reader, number = _Reader(), 1
    for number, line in source.short_lines():
        reader.line(number, line)
    rows = [*(reader.cells or reader.blocks).values(), *reader.throughput]
    if reader.throughput and len(rows) > len(reader.throughput):
        raise refuse(number, "it has a matrix and throughput tests: give each run alone")
    if not rows:
        raise refuse(number, "IOzone has printed no result until here: give the file that holds its output")
    return _table(reader, tuple(rows))


def _table(reader: _Reader, rows: Sequence[ForeignRow]) -> ForeignTable:
    return ForeignTable("iozone", reader.tool, rows, reader.began, reader.stated, reader.lines, missing=MISSING)


def _read_matrix(source: Source) -> ForeignTable | None:
    """The same of one matrix whose rows have all figures; None for anything else."""
    found = _MATRIX.search(source.data()) if source.is_small else None
    if found is None:
        return None
    reader, rows = _Reader(), None
    begin = found.string.count(b"\n", 0, found.start(1)) + 1
    end = begin + found[1].count(b"\n")
    for number, line in source.short_lines():
        if number == begin and not reader.cells:
            rows = _matrix_rows(found[1].replace(b"\r\n", b"\n"), begin, reader)
        if rows is None or number >= end:
            reader.line(number, line)
        if reader.cells:
            return None
    return _table(reader, rows) if rows and not reader.throughput else None


def _matrix_rows(text: bytes, begin: int, reader: _Reader) -> BlockRows | None:
    """Rows of one file and record size each; None where one of them has to be looked at by itself."""
    found, width = digits_of(text, b" "), len(reader.columns) + 2
    if found is None or not np.array_equal(found[1], np.arange(1, len(found[1]) + 1) * width):
        return None
    numbers, lines = found[0], np.arange(len(found[1])) + begin
    file, record = numbers[0::width], numbers[1::width]
    starts = np.append(0, np.flatnonzero(np.frombuffer(text, np.uint8) == NEW_LINE)[:-1] + 1)
    in_place = np.all(record.ends <= starts + SIZES) and np.all(numbers[2::width].begins >= starts + SIZES)
    sizes = set(zip(file.whole.tolist(), record.whole.tolist(), strict=True))
    as_printed = np.all(np.frombuffer(text, np.uint8)[np.append(file.begins, record.begins)] != ZERO)
    is_usual = in_place and as_printed and len(sizes) == len(lines) and not numbers.pointed.any()
    figures = np.count_nonzero(numbers.whole) - 2 * len(lines)
    if not is_usual or np.any(record.whole > file.whole) or figures > MOST_CELLS:
        return None
    metric, unit = _UNITS[reader.unit]
    blocks = []
    for at, test in enumerate(reader.columns, 2):
        own = numbers[at::width]
        kept = np.flatnonzero(own.whole)  # a retest that was not wanted is told as 0
        load = {FILE_SIZE: file, RECORD_SIZE: record}
        loads = {name: Stretch(one, lines, BYTES, rounding="exact", times=KIB).rows(kept) for name, one in load.items()}
        rates = Stretch(own, lines, unit, at + 1, test, "down").rows(kept)
        blocks.append(Block("", test, lines[kept], loads, {metric: rates}))
    return BlockRows(blocks)


def _sizes(number: int, file: str, record: str) -> tuple[int, int]:
    """File and record size in bytes, of kB as IOzone has them."""
    if max(len(file), len(record)) > 15:
        raise refuse(number, "these sizes are beyond all files")
    return int(file) * KIB, int(record) * KIB


def _load(file: int, record: int, number: int) -> dict[str, ForeignValue]:
    return {FILE_SIZE: _size(file, number), RECORD_SIZE: _size(record, number)}


def _size(size: int, number: int) -> ForeignValue:
    return ForeignValue(Printed(str(size // KIB), size, size, size), BYTES, number)


def _printed(number: int, text: str) -> Printed:
    try:
        found = printed(text)
    except ValueError as error:
        raise refuse(number, str(error)) from None
    return found if found.value >= 0 else counted(0.0)


def _figures(number: int, line: str, columns: tuple[str, ...], streams: bool) -> Iterator[tuple[str, str]]:
    """The figures of a row with their tests. Each has its place; where they run into each other nothing can be told."""
    words, at = line[SIZES:].split(), SIZES
    if len(words) == len(columns):
        yield from zip(columns, words, strict=True)
        return
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
    yield from places


def _moment(text: str) -> str | None:
    """`Sun Nov 22 04:59:00 2026`, in the time zone of this machine: IOzone does not state one."""
    try:
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").astimezone().isoformat(timespec="milliseconds")
    except ValueError:
        return None
