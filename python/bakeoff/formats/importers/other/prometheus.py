"""Prometheus' text format and OpenMetrics of a finished run: counters, gauges, summaries and histograms with labels.

Of Bakeoff's own export each trial is a row. Of any other tool each set of labels is one: a counter is a count of
operations, of errors or of bytes by its name, a summary has quantiles, and a histogram mean and count. What lies
between the bounds of a histogram nobody knows, so that it gives no percentile.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, value_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, percentile
from bakeoff.formats.foreign.units import BYTES, BYTES_PER_S, COUNT, PER_S, SECONDS, Unit
from bakeoff.formats.importers.base import Options, refuse
from bakeoff.telemetry.readers.exposition import parts_of

MOST_SAMPLES = 100_000
OWN = "bakeoff_"
# Of Bakeoff's own export: the metric of each name, and its unit.
OWN_FIGURES = {
    "operations_per_second": (table.RATE, PER_S),
    "received_bytes_per_second": (table.THROUGHPUT, BYTES_PER_S),
    "operations": (table.OPERATIONS, COUNT),
    "errors": (table.ERRORS, COUNT),
    "service_mean_seconds": ("service mean", SECONDS),
    "service_p50_seconds": ("service p50", SECONDS),
    "service_p99_seconds": ("service p99", SECONDS),
    "response_p99_seconds": ("p99", SECONDS),
}
# Of other tools: by which word of a counter's name it is known, in this order; that of a size has one of SIZES, too.
COUNTERS: tuple[tuple[tuple[str, ...], str, Unit], ...] = (
    (("received", "in"), table.BYTES_IN, BYTES),
    (("sent", "out"), table.BYTES_OUT, BYTES),
    (("error", "errors", "failed", "failures"), table.ERRORS, COUNT),
    (("reqs", "requests", "operations", "iterations"), table.REQUESTS, COUNT),
)
SIZES = {"bytes", "data"}
# Times are those of operations only where a word of the name says so: pauses of a garbage collector are times as well.
TIMED = {"http", "rpc", "req", "reqs", "request", "requests", "response", "operation", "operations", "latency"}
# What a program tells of itself: scrapes of its metrics are no load.
OF_ITSELF = ("promhttp_", "go_", "process_")
TIMES = {"seconds": SECONDS, "milliseconds": Unit("ms", "time", 1e-3), "microseconds": Unit("µs", "time", 1e-6)}
# Labels that name the contender, and loads.
CONTENDERS = ("contender", "server", "instance")
CLIENTS = ("clients", "vus", "connections", "threads")
GAUGES = ("vus_max", "vus")
MISSING = ("the length of the measured time", "how busy its machine was")
_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]{0,199}"
_TYPE = re.compile(rf"#\s*TYPE\s+({_NAME})\s+(\w{{1,20}})\s*")
# Value, moment, and what OpenMetrics gives as an example.
_VALUE = re.compile(r"(\S{1,60})(?:\s+(-?[0-9]{1,20}(?:\.[0-9]{1,20})?))?(?:\s+#.*)?")


@dataclass(frozen=True)
class _Sample:
    name: str
    labels: Mapping[str, str]
    text: str
    line: int
    at: str


@dataclass
class _Reader:
    """What was read so far: the type of each metric, and the samples."""

    types: dict[str, str] = field(default_factory=dict)
    samples: list[_Sample] = field(default_factory=list)

    def line(self, number: int, text: str) -> None:
        """One line of the file."""
        if text.startswith("#"):
            if declared := _TYPE.fullmatch(text):
                self.types[declared[1]] = declared[2]
            return
        name, labels, rest = parts_of(text) or ("", {}, "")
        if labels is None:
            raise refuse(number, 'its labels are not NAME="VALUE" with commas between them')
        found = _VALUE.fullmatch(rest.strip())
        if not name or found is None:
            raise refuse(number, 'a sample was expected: NAME{LABEL="…"} VALUE')
        if len(self.samples) >= MOST_SAMPLES:
            raise refuse(number, f"it has more than {MOST_SAMPLES:,} samples: is it of one run?")
        self.samples.append(_Sample(name, labels, found[1], number, found[2] or ""))


def sniff(source: Source) -> bool:
    return source.is_text and re.search(rf"^# TYPE {_NAME} \w+\s*$", source.head, re.MULTILINE) is not None


def read(source: Source, options: Options) -> ForeignTable:
    reader = _Reader()
    for number, text in source.short_lines():
        if text.strip():
            reader.line(number, text.strip())
    own = [sample for sample in reader.samples if sample.name.startswith(OWN)]
    rows = list(_own_rows(own) if own else _rows(reader))
    if not rows:
        raise PlanError("no metric in it is one that Bakeoff reads: counters of requests, errors or bytes, or times")
    began = _moment(min((sample.at for sample in own if sample.at), key=float, default=""))
    tool = "Bakeoff's OpenMetrics" if own else "Prometheus text"
    return ForeignTable("prometheus", tool, tuple(rows), began, missing=MISSING)


def _own_rows(samples: list[_Sample]) -> Iterator[ForeignRow]:
    """A row for each trial: samples of one moment and the same labels."""
    rows: dict[tuple[str, ...], RowMaker] = {}
    for sample in samples:
        metric, unit = OWN_FIGURES.get(sample.name.removeprefix(OWN), ("", COUNT))
        if not metric or sample.labels.get("state", "ok") != "ok" or not _is_number(sample):
            continue
        key = (sample.at, *(f"{name}={value}" for name, value in sorted(sample.labels.items())))
        if key not in rows:
            rows[key] = _row(sample)
        row = rows[key]
        row.put(metric, sample.text, unit, sample.line, "exact" if unit is COUNT else "nearest")
    return (row.made() for row in rows.values())


def _rows(reader: _Reader) -> Iterator[ForeignRow]:
    """A row for each set of labels but those of quantiles and buckets."""
    rows: dict[tuple[tuple[str, str], ...], RowMaker] = {}
    sums: dict[tuple[tuple[tuple[str, str], ...], str], dict[str, _Sample]] = {}
    clients = next((one for name in GAUGES for one in reader.samples if one.name.endswith(name)), None)
    for sample in reader.samples:
        if not _is_number(sample) or sample.name.startswith(OF_ITSELF):
            continue
        labels = tuple(sorted((name, text) for name, text in sample.labels.items() if name not in ("quantile", "le")))
        base, _, last = sample.name.rpartition("_")
        kind = reader.types.get(sample.name) or reader.types.get(base, "")
        if labels not in rows:
            rows[labels] = _row(sample)
        row = rows[labels]
        if kind in ("summary", "histogram") and last in ("sum", "count") and sample.name not in reader.types:
            sums.setdefault((labels, base), {})[last] = sample
        elif kind == "summary" and (unit := _time(sample.name)) is not None:
            _quantile(row, sample, unit)
        elif kind == "counter":
            _counter(row, sample)
    for (labels, base), parts in sums.items():
        _mean(rows[labels], base, parts)
    for row in rows.values():
        if row.values:
            if clients is not None and not row.load and float(clients.text) >= 1:
                row.under(table.CLIENTS, clients.text, COUNT, clients.line)
            yield row.made()


def _row(sample: _Sample) -> RowMaker:
    labels = sample.labels
    contender = next((labels[name][:200] for name in CONTENDERS if labels.get(name)), "")
    row = RowMaker(sample.line, contender, part=_part(labels))
    for name, metric, unit in (
        *((name, table.CLIENTS, COUNT) for name in CLIENTS),
        ("offered_per_s", table.OFFERED, PER_S),
    ):
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", labels.get(name, "")) and not row.load:
            row.under(metric, labels[name], unit, sample.line)
    return row


def _part(labels: Mapping[str, str]) -> str:
    """What tells rows apart beside contender and load: the labels of other tools' metrics."""
    known = {*CONTENDERS, *CLIENTS, "offered_per_s", "quantile", "le", "job", "run", "suite", "block", "state"}
    return ", ".join(f"{name} {value}" for name, value in sorted(labels.items()) if name not in known)[:200]


def _counter(row: RowMaker, sample: _Sample) -> None:
    words = set(sample.name.removesuffix("_total").split("_"))
    for names, metric, unit in COUNTERS:
        if words.intersection(names) and bool(words & SIZES) == (unit is BYTES):
            row.put(metric, sample.text, unit, sample.line, "exact")
            return


def _quantile(row: RowMaker, sample: _Sample, unit: Unit) -> None:
    share = sample.labels.get("quantile", "")
    if not re.fullmatch(r"[01](\.[0-9]{1,8})?", share) or float(share) > 1:
        return
    names = {0.0: table.MINIMUM, 1.0: table.MAXIMUM}
    row.put(names.get(float(share)) or percentile(100 * float(share)), sample.text, unit, sample.line)


def _mean(row: RowMaker, base: str, parts: Mapping[str, _Sample]) -> None:
    """Sum ÷ count, and the count where no counter has it."""
    unit, count = _time(base), parts.get("count")
    if unit is None or count is None or "sum" not in parts or not float(count.text):
        return
    total = value_of(parts["sum"].text, unit, parts["sum"].line, base)
    row.values.setdefault(table.MEAN, count_of(total.number.value / float(count.text), unit, total.line, base))
    row.exactly(table.REQUESTS, count.text, COUNT, count.line)


def _time(name: str) -> Unit | None:
    """The unit of a metric of operations' times, by the end of its name; None of any other."""
    words = name.split("_")
    return TIMES.get(words[-1]) if TIMED.intersection(words) else None


def _is_number(sample: _Sample) -> bool:
    """Whether a sample has a value: NaN says that there was none. Raises PlanError for what is none of both."""
    try:
        return math.isfinite(float(sample.text))
    except ValueError:
        raise refuse(sample.line, f"{sample.text[:30]!r} is no value of a sample") from None


def _moment(text: str) -> str | None:
    try:
        return datetime.fromtimestamp(float(text), UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None
