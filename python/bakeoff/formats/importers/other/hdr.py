"""Percentiles as HdrHistogram prints them (`Value Percentile TotalCount`), and its logs of compressed histograms."""

from __future__ import annotations

import base64
import binascii
import re
import zlib

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, value_of
from bakeoff.formats.foreign.samples import Samples
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, percentile
from bakeoff.formats.foreign.units import COUNT, SECONDS, TIMES, Unit, stated_unit
from bakeoff.formats.importers.base import Options, refuse

HEADING = re.compile(r"\s*Value(?:\((\w{1,10})\))?,?\s+\"?Percentile\"?,?\s+\"?TotalCount")
_ROW = re.compile(r"\s*([\d.]{1,30})\s+([01]\.\d{1,20})\s+(\d{1,18})\s+\S+\s*")
_MEAN = re.compile(r"#\[Mean\s+=\s+([\d.]+), StdDeviation\s+=\s+([\d.]+)\]")
_MAX = re.compile(r"#\[Max\s+=\s+([\d.]+), Total count\s+=\s+(\d+)\]")
_LOG = re.compile(r"(?:Tag=[^,]{1,100},)?([\d.]{1,30}),([\d.]{1,30}),([\d.]{1,30}),(HIST[A-Za-z0-9+/=]{1,1000000})\s*")
SHARES = (50, 75, 90, 95, 99, 99.9, 99.99)
MOST_UNPACKED = 16 << 20
COMPRESSED, PLAIN = 0x1C849304, 0x1C849303
MISSING = ("the load", "how many operations failed")


def sniff(source: Source) -> bool:
    return (
        HEADING.search(source.head) is not None
        or '"StartTimestamp","Interval_Length"' in source.head
        or (",HIST" in source.head and _LOG.search(source.head) is not None)
    )


def read(source: Source, options: Options) -> ForeignTable:
    return _percentiles(source, options) if HEADING.search(source.head) else _log(source, options)


def _unit(name: str | None, options: Options) -> Unit:
    """Of values: as the heading or the user says."""
    if name and name.lower() in TIMES:
        return TIMES[name.lower()]
    if options.unit is None:
        raise PlanError("HdrHistogram does not state the unit of its values: give it with --unit, such as --unit ms")
    unit = stated_unit(options.unit)
    if unit.quantity != "time":
        raise PlanError(f"--unit {options.unit}: its values are times: write ns, µs, ms or s")
    return unit


def _percentiles(source: Source, options: Options) -> ForeignTable:
    row, unit, wanted = RowMaker(), None, list(SHARES)
    for number, line in source.short_lines():
        if unit is None and (heading := HEADING.match(line)):
            unit, row.line = _unit(heading[1], options), number
        elif unit is None:
            continue
        elif found := _ROW.fullmatch(line):
            # A value is printed for the first share at or above each: it bounds the percentile from above.
            while wanted and float(found[2]) * 100 >= wanted[0]:
                row.put(percentile(wanted.pop(0)), found[1], unit, number)
            row.values[table.OPERATIONS] = count_of(int(found[3]), COUNT, number)
            row.values[table.MAXIMUM] = value_of(found[1], unit, number, table.MAXIMUM)

        elif found := _MEAN.match(line):
            row.put(table.MEAN, found[1], unit, number)
            row.put(table.DEVIATION, found[2], unit, number)
    if table.MEDIAN not in row.values:
        raise refuse(row.line, "no percentiles stand below this heading: is all of the file there?")
    return ForeignTable("hdr", "HdrHistogram", (row.made(),), missing=MISSING)


def _log(source: Source, options: Options) -> ForeignTable:
    unit, samples, begin, end = _unit("", options), Samples(), None, 0.0
    for number, line in source.lines():
        found = _LOG.fullmatch(line)
        if found is None:
            continue
        start, length = (float(text) if text.count(".") < 2 else 0.0 for text in (found[1], found[2]))
        begin = start if begin is None else min(begin, start)
        end = max(end, start + length)
        for value, count in _histogram(number, found[4]):
            samples.count += count
            samples.counts[value] = samples.counts.get(value, 0) + count
    row = RowMaker()
    row.values = samples.values(unit)
    if begin is None or not row.values:
        raise refuse(1, "no line of it holds a histogram with values: is all of the log there?")
    row.values[table.OPERATIONS] = count_of(samples.count, COUNT)
    if end > begin:
        row.values[table.DURATION] = count_of(end - begin, SECONDS)
        row.values[table.RATE] = count_of(samples.count / (end - begin), Unit("operations/s", "operations/s"))
    return ForeignTable("hdr", "HdrHistogram", (row.made(),), missing=MISSING)


def _histogram(number: int, text: str) -> list[tuple[int, int]]:
    """The values of an encoded histogram, in the middle of their buckets, with their counts."""
    try:
        raw = base64.b64decode(text, validate=True)
        if int.from_bytes(raw[:4]) & ~0xF0 != COMPRESSED & ~0xF0:
            raise refuse(number, "its histogram is not of the second compressed form (V2)")
        engine = zlib.decompressobj()
        data = engine.decompress(raw[8:], MOST_UNPACKED)
        if engine.unconsumed_tail:
            raise refuse(number, "its histogram unpacks to more than 16 MiB: it is no result")
    except (binascii.Error, zlib.error) as error:
        raise refuse(number, f"its histogram is damaged ({error})") from None
    if len(data) < 40 or int.from_bytes(data[:4]) & ~0xF0 != PLAIN & ~0xF0:
        raise refuse(number, "its histogram is damaged (no header)")
    digits, lowest = int.from_bytes(data[12:16]), max(1, int.from_bytes(data[16:24]))
    if not 0 <= digits <= 5:
        raise refuse(number, "its histogram is damaged (digits)")
    half = max(0, (2 * 10**digits - 1).bit_length() - 1)
    shift = lowest.bit_length() - 1
    found, index, place = list[tuple[int, int]](), 0, 40
    while place < len(data):
        count, place = _zigzag(data, place, number)
        if count < 0:
            index -= count
        else:
            if count:
                found.append((_middle(index, half, shift), count))
            index += 1
        if index > 1 << 26 or len(found) > 1 << 20:
            raise refuse(number, "its histogram is damaged (too many values)")
    return found


def _middle(index: int, half: int, shift: int) -> int:
    """The value in the middle of the bucket at an index of the counts; sub-buckets double from `half` bits on."""
    bucket = (index >> half) - 1
    inside = (index & ((1 << half) - 1)) + (1 << half)
    if bucket < 0:
        bucket, inside = 0, inside - (1 << half)
    bucket = min(bucket, 64)
    low = inside << (bucket + shift)
    return low + ((1 << (bucket + shift)) >> 1)


def _zigzag(data: bytes, place: int, number: int) -> tuple[int, int]:
    """A number of variable length: seven bits a byte, the ninth byte with all eight."""
    value = 0
    for byte in range(9):
        if place >= len(data):
            raise refuse(number, "its histogram is cut off")
        one = data[place]
        place += 1
        value |= one << 56 if byte == 8 else (one & 0x7F) << (7 * byte)
        if byte == 8 or not one & 0x80:
            break
    return (value >> 1) ^ -(value & 1), place
