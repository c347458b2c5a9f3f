"""fio's JSON and JSON+ output, also with other text around it.

Times are those of whole transfers (`lat_ns`); percentiles are told of completions (`clat_ns`). Jobs of one group ran
together and are added up; groups (stonewall) ran one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, inner, json_value, objects
from bakeoff.formats.foreign.printed import Printed
from bakeoff.formats.foreign.sizes import binary_size
from bakeoff.formats.foreign.source import Source, parsed_json
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, ForeignValue, percentile
from bakeoff.formats.foreign.units import BYTES, BYTES_PER_S, COUNT, MS, NS, Unit
from bakeoff.formats.importers.base import Options, refuse

IOPS = Unit("IOPS", "operations/s")
DIRECTIONS = ("read", "write", "trim")
MOST_JOBS = 10_000
PERCENTILES = (50, 75, 90, 95, 99, 99.9, 99.99)
FIGURES = (
    (table.RATE, "iops", IOPS),
    (table.THROUGHPUT, "bw_bytes", BYTES_PER_S),
    (table.OPERATIONS, "total_ios", COUNT),
    (table.BYTES, "io_bytes", BYTES),
    (table.DURATION, "runtime", MS),
)
TIMES = (
    (table.MINIMUM, "min", NS),
    (table.MEAN, "mean", NS),
    (table.MAXIMUM, "max", NS),
    (table.DEVIATION, "stddev", NS),
)
ADDED = (table.RATE, table.THROUGHPUT, table.OPERATIONS, table.BYTES)
MISSING = ("what a cache had of it", "what the machine had to do besides")


def sniff(source: Source) -> bool:
    return '"fio version"' in source.head


def read(source: Source, options: Options) -> ForeignTable:
    text = source.text()
    begin = text.find("{")
    if begin < 0:
        raise refuse(1, "it holds no JSON: run fio with --output-format=json")
    found = parsed_json("\n" * text[:begin].count("\n") + text[begin : text.rfind("}") + 1])
    jobs = objects(found.get("jobs") if isinstance(found, dict) else None)
    if not jobs or len(jobs) > MOST_JOBS:
        raise PlanError(f"it has {len(jobs):,} jobs, where 1 to {MOST_JOBS:,} were expected: run fio to its end")
    common = inner(found, "global options")
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for place, job in enumerate(jobs):
        groups.setdefault(job.get("groupid", place), []).append(job)
    named = len({_pattern(common, group[0]) for group in groups.values()}) > 1
    rows = [row for group in groups.values() for row in _group(common, group, named)]
    stated = {str(key)[:60]: str(value)[:300] for key, value in list(common.items())[:100]}
    version = str(found.get("fio version", "fio"))[:40].replace("-", " ")
    return ForeignTable("fio", version, tuple(rows), stated=stated, missing=MISSING)


def _group(common: Mapping[str, Any], jobs: list[Mapping[str, Any]], named: bool) -> Iterable[ForeignRow]:
    """The rows of jobs that ran together: all of it, and by directions where there are several."""
    options = {**common, **inner(jobs[0], "job options")}
    pattern = _pattern(common, jobs[0]) if named else ""
    load = _load(options)
    parts = [part for job in jobs for part in _directions(job)]
    if not parts:
        raise PlanError(f"job {str(jobs[0].get('jobname'))[:40]!r} moved nothing: give the output of a whole run")
    failed = sum(int(job["error"] != 0) for job in jobs if isinstance(job.get("error"), int))
    several = list(dict.fromkeys(part.part for part in parts))
    for direction in several if len(several) > 1 else ():
        own = [part for part in parts if part.part == direction]
        made = own[0] if len(own) == 1 else _added(own)
        made.part, made.load = " ".join(filter(None, (pattern, direction))), load
        yield made.made()
    whole = parts[0] if len(parts) == 1 else _added(parts)
    whole.part, whole.load = pattern, load
    if failed:
        whole.values[table.ERRORS] = count_of(failed, COUNT, heading="jobs with an error")
    yield whole.made()


def _directions(job: Mapping[str, Any]) -> Iterable[RowMaker]:
    """Reads, writes and trims of a job, as far as there were any."""
    for direction in DIRECTIONS:
        own = inner(job, direction)
        if not own.get("total_ios"):
            continue
        row = RowMaker(part=direction)
        row.of_json(own, FIGURES, direction)
        row.of_json(inner(own, "lat_ns"), TIMES, f"{direction}.lat_ns")
        for kind, prefix in (("lat_ns", ""), ("clat_ns", "completion ")):
            shares = inner(own, kind, "percentile")
            for share in PERCENTILES:
                value = json_value(shares.get(f"{share:.6f}"), NS, f"{direction}.{kind}.percentile")
                if value is not None:
                    row.values[prefix + percentile(share)] = value
        row.of_json(inner(own, "clat_ns"), (("completion mean", "mean", NS),), f"{direction}.clat_ns")
        yield row


def _added(parts: list[RowMaker]) -> RowMaker:
    """The sums of what ran together; times of several cannot be put together from their figures."""
    row = RowMaker()
    for name in ADDED:
        values = [part.values[name] for part in parts if name in part.values]
        if len(values) == len(parts):
            ends = (sum(one.number.value for one in values), sum(one.number.low for one in values))
            number = Printed("", ends[0], ends[1], sum(one.number.high for one in values))
            row.values[name] = ForeignValue(number, values[0].unit, 0, 0, f"sum of {len(values)}")
    lengths = [part.values[table.DURATION] for part in parts if table.DURATION in part.values]
    if lengths:
        row.values[table.DURATION] = max(lengths, key=lambda one: one.value)
    return row


def _pattern(common: Mapping[str, Any], job: Mapping[str, Any]) -> str:
    options = {**common, **inner(job, "job options")}
    return str(options.get("rw") or options.get("readwrite") or "read")[:60]


def _load(options: Mapping[str, Any]) -> dict[str, ForeignValue]:
    """Block size, depth and jobs, as the options state them; fio's defaults where they are silent."""
    load = {}
    size = binary_size(str(options.get("bs") or options.get("blocksize") or "4k"))
    if size:
        load[table.BLOCK_SIZE] = _exact(size, BYTES)
    for name, key in ((table.DEPTH, "iodepth"), (table.CLIENTS, "numjobs")):
        text = str(options.get(key, "1"))
        if text.isdigit() and 0 < len(text) < 7 and int(text):
            load[name] = _exact(int(text), COUNT)
    return load


def _exact(number: int, unit: Unit) -> ForeignValue:
    return ForeignValue(Printed(str(number), number, number, number), unit, 0)
