"""JMeter's results as CSV (.jtl), a line a sample. Files of any length are read in bounded memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of
from bakeoff.formats.foreign.samples import Samples
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable
from bakeoff.formats.foreign.units import BYTES, COUNT, MS, Unit
from bakeoff.formats.importers.base import Options, refuse

REQUESTS_PER_S = Unit("requests/s", "operations/s")
NEEDED = ("timeStamp", "elapsed", "label", "success")
# More labels than these are told together: names that carry a number are no parts of the work.
MOST_LABELS = 50
MISSING = ("how busy its machine was",)
LONGEST_MS = 10**12


class _Label:
    """What was done under one label, or under all."""

    def __init__(self) -> None:
        self.samples = Samples()
        self.failed = 0
        self.received = 0


def sniff(source: Source) -> bool:
    first = source.head.split("\n", 1)[0]
    return all(name in first for name in NEEDED) or "<testResults" in source.head[:2000]


def read(source: Source, options: Options) -> ForeignTable:
    if source.head.lstrip().startswith("<"):
        raise PlanError("it is JMeter's XML: have it save CSV (jmeter.save.saveservice.output_format=csv)")
    lines = _Lines(source)
    rows = csv.reader(lines, delimiter=_mark(source))
    try:
        columns = _columns(next(rows, []))
        return _read(rows, lines, columns)
    except csv.Error as error:
        raise refuse(lines.number, f"it is not CSV: {error}") from None


class _Lines:
    """The lines of the file, and the number of the last one."""

    def __init__(self, source: Source) -> None:
        self._lines = source.lines()
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            self.number = number
            yield line


def _mark(source: Source) -> str:
    first = source.head.split("\n", 1)[0]
    return next((mark for mark in "\t;|" if mark in first), ",")


def _columns(heading: Sequence[str]) -> dict[str, int]:
    places = {name: place for place, name in enumerate(heading)}
    missing = [name for name in NEEDED if name not in places]
    if missing:
        raise refuse(1, f"the heading has no column {missing[0]!r}: have JMeter save it")
    return places


def _read(rows: Iterator[list[str]], lines: _Lines, columns: dict[str, int]) -> ForeignTable:
    at, took, label, success = (columns[name] for name in NEEDED)
    received, threads = columns.get("bytes"), columns.get("allThreads")
    whole, labels, last = _Label(), dict[str, _Label](), ""
    begin, end, most, many = 0, 0, 0, False
    width = max(at, took, label, success, received or 0, threads or 0)
    own = _Label()
    for cells in rows:
        if len(cells) <= width:
            if not cells:
                continue
            raise refuse(lines.number, f"{width + 1} cells were expected, not {len(cells)}: is the file cut off?")
        try:
            moment, elapsed = int(cells[at]), int(cells[took])
            size = int(cells[received]) if received is not None else 0
            busy = int(cells[threads]) if threads is not None else 0
        except ValueError:
            raise refuse(lines.number, "timeStamp, elapsed, bytes and allThreads must be whole numbers") from None
        if not (0 <= elapsed < LONGEST_MS and 0 <= moment < LONGEST_MS * 10 and 0 <= size < 1 << 50):
            raise refuse(lines.number, "its timeStamp, elapsed or bytes are beyond all results")
        if cells[label] != last or not labels:
            last = cells[label]
            many = many or (len(labels) >= MOST_LABELS and last not in labels)
            if many:
                own = _Label()
            elif (known := labels.get(last[:200])) is not None:
                own = known
            else:
                own = labels[last[:200]] = _Label()
        failed = cells[success] != "true"
        for each in (whole, own):
            samples = each.samples
            samples.count += 1
            if elapsed in samples.counts:
                samples.counts[elapsed] += 1
            else:
                samples.new(elapsed)
            each.failed += failed
            each.received += size
        if moment < begin or not begin:
            begin = moment
        if moment + elapsed > end:
            end = moment + elapsed
        if busy > most:
            most = busy
    if not whole.samples.count:
        raise refuse(1, "no sample stands below this heading: is all of the file there?")
    length_ms = end - begin
    parts = [_row(name, one, length_ms, most) for name, one in labels.items()] if len(labels) > 1 and not many else []
    stated = {"labels": "more than 50, added up"} if many else {}
    return ForeignTable("jmeter", "JMeter", (_row("", whole, length_ms, most), *parts), stated=stated, missing=MISSING)


def _row(part: str, found: _Label, length_ms: int, threads: int) -> ForeignRow:
    row = RowMaker(part=part)
    row.values = found.samples.values(MS)
    row.values[table.OPERATIONS] = count_of(found.samples.count - found.failed, COUNT)
    row.values[table.ERRORS] = count_of(found.failed, COUNT)
    row.values[table.BYTES_IN] = count_of(found.received, BYTES)
    if length_ms > 0:
        row.values[table.DURATION] = count_of(length_ms, MS)
        row.values[table.RATE] = count_of(1000.0 * found.samples.count / length_ms, REQUESTS_PER_S)
    if threads:
        row.load[table.CLIENTS] = count_of(threads, COUNT, heading="most of allThreads")
    return row.made()
