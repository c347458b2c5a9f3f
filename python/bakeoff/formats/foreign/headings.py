"""What headings of tables mean: a load, a metric, a contender's name, a number of a repeat."""

from __future__ import annotations

import re
from typing import Literal

from bakeoff.formats.foreign.table import (
    BLOCK_SIZE,
    BYTES,
    CLIENTS,
    DEPTH,
    DEVIATION,
    DURATION,
    ERRORS,
    FILE_SIZE,
    MAXIMUM,
    MEAN,
    MEDIAN,
    MINIMUM,
    OFFERED,
    OPERATIONS,
    RATE,
    RECORD_SIZE,
    REQUESTS,
    THROUGHPUT,
    Better,
    percentile,
)
from bakeoff.formats.foreign.units import BETTER, Unit

LOADS = {
    CLIENTS: (
        "client", "clients", "user", "users", "vu", "vus", "virtual users", "connection", "connections", "conns",
        "thread", "threads", "concurrency", "process", "processes", "concurrent connections", "concurrent users",
        "number of clients", "mix",
    ),
    OFFERED: ("offered", "offered load", "offered rate", "target rate", "rate offered", "rates", "demanded rate"),
    BLOCK_SIZE: ("block size", "blocksize", "bs", "request size", "transfer size", "i/o size", "io size", "size"),
    FILE_SIZE: ("file size", "file", "filesize", "kb", "file sizes"),
    RECORD_SIZE: ("record size", "record", "reclen", "recordsize", "records", "record sizes"),
    DEPTH: ("queue depth", "iodepth", "qd", "depth", "in flight", "outstanding", "outstanding i/os", "queuedepth"),
}  # fmt: skip
SIZES = (BLOCK_SIZE, FILE_SIZE, RECORD_SIZE)
CONTENDERS = ("contender", "server", "system", "name", "product", "configuration", "config", "system under test", "sut")
PARTS = ("test", "operation", "workload", "pattern", "benchmark", "access specification", "request", "op", "type")
REPEATS = ("run", "repeat", "repetition", "iteration", "trial", "sample", "#", "no", "no.")
METRICS = {
    THROUGHPUT: ("throughput", "bandwidth", "transfer rate", "bw"),
    RATE: ("rate", "requests per second", "request rate", "reply rate", "rps", "iops", "tps", "qps", "operations rate"),
    MEAN: ("mean", "avg", "average", "mean latency", "average latency", "avg latency", "mean response time",
           "average response time", "avg response time", "latency avg", "latency mean"),
    MEDIAN: ("median", "median latency", "median response time"),
    MINIMUM: ("min", "minimum", "min latency"),
    MAXIMUM: ("max", "maximum", "max latency", "maximum response time", "max response time"),
    DEVIATION: ("stddev", "stdev", "std dev", "standard deviation", "sd", "deviation"),
    ERRORS: ("errors", "failures", "failed", "failed requests", "timeouts"),
    REQUESTS: ("requests", "total requests"),
    OPERATIONS: ("operations", "replies", "responses", "completed", "complete requests"),
    BYTES: ("bytes", "bytes transferred", "transferred"),
    DURATION: ("duration", "test duration", "elapsed", "run time", "runtime"),
    "response time": ("response time", "latency", "time", "response"),
    "processor time": ("cpu", "cpu utilization", "cpu utilisation", "cpu usage", "processor time"),
}  # fmt: skip
# Ways that are good, where the quantity does not say.
WAYS: dict[str, Better] = {ERRORS: "lower", DEVIATION: "lower", "processor time": "lower"}
# What is counted in a run, which is no better for being more.
FACTS = (REQUESTS, OPERATIONS, BYTES, DURATION)
_SHARE = r"([0-9]{1,2}(?:[.,][0-9]{1,4})?)"
_PERCENTILES = (
    re.compile(rf"(?:latency |response time )?p ?{_SHARE}(?: latency| response time)?"),
    re.compile(rf"{_SHARE} ?(?:%|(?:st|nd|rd|th)? ?(?:percentile|pctl))(?: latency| response time)?"),
)
# What a column of figures calculated from two others is called, with `%` or `×`: by how much one is more, or less.
_CHANGES = re.compile(
    r"(?:.* )?(?:change|diff|difference|delta|Δ|improvement|overhead|speed-?up|slow-?down|gain|savings?|reduction|"
    r"increase|decrease)(?: %| (?:with|vs\.?|versus|over|to|from|of|against) .*)?"
)
_AVERAGE = re.compile(r"(?:avg|average|mean)\.? ")
# What a row of figures calculated from the others is called: a sum, a mean, or either.
Summary = Literal["sum", "mean", "overall"]
SUMMARIES: dict[Summary, tuple[str, ...]] = {
    "sum": ("total", "totals", "grand total", "sum", "gesamt", "insgesamt", "summe", "somme", "totale", "suma"),
    "mean": (
        "average", "averages", "avg", "avg.", "mean", "arithmetic mean", "geometric mean", "geomean", "geo mean",
        "harmonic mean", "durchschnitt", "mittel", "mittelwert", "moyenne", "media", "promedio",
    ),
    "overall": ("overall", "all", "alle"),
}  # fmt: skip
Role = Literal["contender", "part", "repeat", "load", "metric", "name"]


def _known(table: dict[str, tuple[str, ...]], words: str) -> str | None:
    return next((name for name, all_ in table.items() if words in all_), None)


def plain(heading: str) -> str:
    """In small letters, without underscores and marks around it."""
    return re.sub(r"[\s_]+", " ", heading).strip(" :*").lower()


def load_of(heading: str) -> str | None:
    """The load that a heading names; None for none."""
    return _known(LOADS, plain(heading))


def metric_of(heading: str, unit: Unit | None) -> str | None:
    """The metric that a heading names, or its unit alone; None where it may be the name of a contender."""
    words = plain(heading)
    for pattern in _PERCENTILES:
        if found := pattern.fullmatch(words):
            return percentile(float(found[1].replace(",", ".")))
    if known := _known(METRICS, words):
        # `Average IOPS` is a rate, and no time.
        return metric_of_quantity(unit) if known == MEAN and unit is not None and "/s" in unit.quantity else known
    if (known := _known(METRICS, _AVERAGE.sub("", words, count=1))) in (RATE, THROUGHPUT):
        return known  # which are averages of a run in any case
    if unit is not None and plain(unit.name) == words:
        return metric_of_quantity(unit)
    return None


def metric_of_quantity(unit: Unit) -> str:
    """What a number in a unit is of, where nothing else says: rate, throughput, response time."""
    names = {"bytes/s": THROUGHPUT, "operations/s": RATE, "time": "response time", "share": "share", "bytes": BYTES}
    return names.get(unit.quantity, "value")


def summary_of(label: str) -> Summary | None:
    """What the figures of a row are of those of the others, by its label; None for a row that was measured."""
    words = plain(label)
    return next((kind for kind, names in SUMMARIES.items() if words in names), None)


def is_change(heading: str, unit: Unit | None) -> bool:
    """Whether a column says how much more, or less, one number is than another, and not how much something is."""
    return (unit is None or unit.quantity == "share") and _CHANGES.fullmatch(plain(heading)) is not None


def way_of(metric: str, unit: Unit) -> Better | None:
    """Which way of a metric is good; None where nobody says."""
    return WAYS.get(metric) or BETTER.get(unit.quantity)


def role_of(heading: str) -> Role:
    """What a column holds, by its heading alone."""
    words = plain(heading)
    if words in CONTENDERS:
        return "contender"
    if words in PARTS:
        return "part"
    if words in REPEATS:
        return "repeat"
    return "load" if load_of(heading) else "name"
