"""What wrk and wrk2 print. Their sizes are counted in 1,024; wrk2's times count from planned starts."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, value_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, percentile
from bakeoff.formats.foreign.units import COUNT, TIMES, Unit
from bakeoff.formats.importers.base import Options, refuse

REQUESTS_PER_S = Unit("requests/s", "operations/s")
SIZES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
MISSING = ("how busy its machine was", "how long it warmed up")
_BEGIN = re.compile(r"Running (\S+) test @ (\S+)")
_LOAD = re.compile(r"\s*(\d+) threads? and (\d+) connections?")
_LATENCY = re.compile(r"\s*Latency\s+([\d.]+)(us|ms|s|m|h)\s+([\d.]+)(us|ms|s|m|h)\s+([\d.]+)(us|ms|s|m|h)\s")
_SHARE = re.compile(r"\s*([\d.]{1,12})%\s+([\d.]+)(us|ms|s|m|h)\s*")
_TOTAL = re.compile(r"\s*(\d+) requests in ([\d.]+)(us|ms|s|m|h), ([\d.]+)(B|KB|MB|GB|TB) read")
_SOCKET = re.compile(r"\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_STATUS = re.compile(r"\s*Non-2xx or 3xx responses: (\d+)")
_TRANSFER = re.compile(r"Transfer/sec:\s+([\d.]+)(B|KB|MB|GB|TB)")


def sniff(source: Source) -> bool:
    return (_BEGIN.search(source.head[:4000]) is not None and "threads and" in source.head) or (
        "thread and" in source.head and "Requests/sec:" in source.head
    )


def read(source: Source, options: Options) -> ForeignTable:
    row, stated, failed, spectrum = RowMaker(), dict[str, str](), list[int](), False
    for number, line in source.short_lines():
        spectrum = spectrum or "Detailed Percentile spectrum" in line
        if spectrum and not line.startswith(("Requests/sec", "Transfer/sec", "  ")):
            continue
        if found := _BEGIN.search(line):
            if "asked for" in stated:
                raise refuse(number, "here begins a second run: give each run in a file of its own")
            stated |= {"asked for": f"{found[1]} of {found[2]}"}
            row.line = number
        elif found := _LOAD.fullmatch(line.rstrip()):
            stated["threads"] = found[1]
            row.under(table.CLIENTS, found[2], COUNT, number)
        elif found := _LATENCY.match(line):
            for name, place in ((table.MEAN, 1), (table.DEVIATION, 3), (table.MAXIMUM, 5)):
                row.put(name, found[place], TIMES[found[place + 1]], number)
        elif (found := _SHARE.fullmatch(line)) and not spectrum:
            share = float(value_of(found[1], COUNT, number).value)
            row.put(percentile(share) if share < 100 else table.MAXIMUM, found[2], TIMES[found[3]], number)
        elif found := _TOTAL.match(line):
            row.exactly(table.REQUESTS, found[1], COUNT, number)
            row.put(table.DURATION, found[2], TIMES[found[3]], number)
            row.put(table.BYTES_IN, found[4], Unit(found[5], "bytes", SIZES[found[5]]), number)
        elif found := _SOCKET.match(line):
            failed += [int(each[:18]) for each in found.groups()]
        elif found := _STATUS.match(line):
            failed.append(int(found[1][:18]))
            row.exactly("error replies", found[1], COUNT, number)
        elif line.startswith("Requests/sec:"):
            row.put(table.RATE, line.partition(":")[2], REQUESTS_PER_S, number)
        elif found := _TRANSFER.match(line):
            row.put(table.THROUGHPUT, found[1], Unit(f"{found[2]}/s", "bytes/s", SIZES[found[2]]), number)
    if table.RATE not in row.values:
        raise refuse(row.line, "wrk has printed no Requests/sec below this: is all of its output there?")
    if failed:
        row.values[table.ERRORS] = count_of(sum(failed), COUNT, row.line, "errors")
    is_wrk2 = "calibration" in source.head or "HdrHistogram" in source.head
    missing = MISSING if failed else ("how many requests failed (wrk prints it only if some did)", *MISSING)
    return ForeignTable("wrk", "wrk2" if is_wrk2 else "wrk", (row.made(),), stated=stated, missing=missing)
