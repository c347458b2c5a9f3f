"""The units of results, from the words in which files state them.

A unit has a quantity and a factor to its base: bytes a second, operations a second, seconds, bytes, shares, counts.
`MB/s` is 10⁶ bytes a second or 2²⁰; `readings` has all that a tool may have meant, the likely one first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bakeoff.core.errors import PlanError

Quantity = Literal["bytes/s", "operations/s", "time", "bytes", "share", "count", "none"]
# What each quantity is told in here: the unit whose factor is 1.
BASES: dict[Quantity, str] = {
    "bytes/s": "B/s",
    "operations/s": "/s",
    "time": "s",
    "bytes": "B",
    "share": "",
    "count": "",
    "none": "",
}
# Of a quantity with one way that is good in all tools; of the others a file or its reader says.
BETTER: dict[Quantity, Literal["higher", "lower"]] = {"bytes/s": "higher", "operations/s": "higher", "time": "lower"}
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_TIMES = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "usecs": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
    "ns": 1e-9, "nsec": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
    "min": 60.0, "mins": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0,
}  # fmt: skip
_OPERATIONS = (
    "req", "reqs", "request", "requests", "rps", "qps", "iops", "io", "ios", "i/o", "i/os", "op", "ops", "operation",
    "operations", "replies", "reply", "response", "responses", "conn", "connections", "transactions", "trans", "tps",
    "msg", "msgs", "message", "messages", "mails", "files", "hits", "queries", "calls", "events", "sessions", "pages",
)  # fmt: skip
_COUNTS = ("clients", "threads", "connections", "users", "vus", "processes", "requests", "replies", "errors", "count")
_PER_SECOND = r"(?:/|\s*per\s*|p)(?:s|sec|secs|second)"


@dataclass(frozen=True)
class Unit:
    """`name` as it is written, times `factor` in the base of its quantity. `readings` are all factors that `name` may
    stand for.
    """

    name: str
    quantity: Quantity
    factor: float = 1.0
    readings: tuple[float, ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether the name has one meaning alone."""
        return len(self.readings) < 2


NO_UNIT = Unit("", "none")
SECONDS, MS, US, NS = (Unit(name, "time", _TIMES[name]) for name in ("s", "ms", "µs", "ns"))
BYTES = Unit("B", "bytes")
BYTES_PER_S = Unit("B/s", "bytes/s")
KIB_PER_S, MIB_PER_S = Unit("KiB/s", "bytes/s", 2.0**10), Unit("MiB/s", "bytes/s", 2.0**20)
KB_PER_S, MB_PER_S = Unit("kB/s", "bytes/s", 1e3), Unit("MB/s", "bytes/s", 1e6)
MBIT_PER_S = Unit("Mbit/s", "bytes/s", 125e3)
PER_S = Unit("/s", "operations/s")
COUNT = Unit("", "count")
# The times of tools that write `12.3ms` and `1.2us`.
TIMES: dict[str, Unit] = {name: Unit(name, "time", _TIMES[name]) for name in ("ns", "us", "µs", "ms", "s", "h")}
TIMES["m"] = Unit("min", "time", 60.0)
PERCENT = Unit("%", "share", 0.01)
SHARE = Unit("", "share")
TIMES_AS_MUCH = Unit("×", "none")


def unit_of(text: str) -> Unit | None:
    """The unit that `text` is, such as `MB/s`, `KiB per second`, `Mbit/s`, `req/s`, `IOPS`, `ms` or `%`, if any."""
    word = re.sub(r"\s+", " ", text.strip().strip("[]()").strip())
    if not word or len(word) > 40:
        return None
    low = word.lower()
    if low in ("%", "percent", "per cent"):
        return Unit(word, "share", 0.01)
    if low in _TIMES:
        return Unit(word, "time", _TIMES[low])
    if low in ("rps", "qps", "iops", "tps", "/s", "1/s", "per second", "per sec"):
        return Unit(word, "operations/s")
    if found := re.fullmatch(rf"(.+?){_PER_SECOND}", low):
        return _per_second(word, found[1].strip())
    size = _size(word)
    if size is not None:
        return Unit(word, "bytes", size[0], size)
    return Unit(word, "count") if low in _COUNTS else None


def _per_second(word: str, what: str) -> Unit | None:
    """Of what follows `per second`: bytes, bits or operations."""
    if what in _OPERATIONS:
        return Unit(word, "operations/s")
    if found := re.fullmatch(r"([km]?)(?:req|ops|iops|io)s?", what):
        return Unit(word, "operations/s", float(_DECIMAL[found[1]]))
    if found := re.fullmatch(r"([kmgt]?)(i?)(?:bit|bits|b)", what):
        # `Mbit`, `Mb/s`, `Mbps` and `MBps` differ by the capital alone.
        letters = word[: len(what)]
        if what.endswith(("bit", "bits")) or letters.endswith("b"):
            return Unit(word, "bytes/s", (_BINARY if found[2] else _DECIMAL)[found[1]] / 8)
    size = _size(word[: len(what)])
    return None if size is None else Unit(word, "bytes/s", size[0], size)


def _size(word: str) -> tuple[float, ...] | None:
    """All factors to bytes that a size unit may have; None for none."""
    found = re.fullmatch(r"([kKmMgGtT]?)(i?)(?:[bB]|[bB]ytes?)", word.strip())
    if found is None or word.strip() in ("b",):
        return None
    prefix = found[1].lower()
    if found[2] and prefix:
        return (float(_BINARY[prefix]),)
    if found[2]:
        return None
    decimal, binary = float(_DECIMAL[prefix]), float(_BINARY[prefix])
    # Tools and papers write `MB` for both; the odd one is thousands of KiB.
    return (decimal,) if not prefix else tuple(dict.fromkeys((decimal, binary, *((1024e3,) if prefix == "m" else ()))))


def split_heading(heading: str) -> tuple[str, Unit | None]:
    """The name and the unit of `nginx (MB/s)`, `latency [ms]`, `Throughput, KB/s`, `p99 ms`; no unit where none is."""
    text = re.sub(r"\s+", " ", heading.strip())
    for pattern in (r"(.*?)\s*\(([^()]{1,40})\)\s*$", r"(.*?)\s*\[([^\[\]]{1,40})\]\s*$", r"(.*?),\s*([^,]{1,40})$"):
        found = re.fullmatch(pattern, text)
        if found and (unit := unit_of(found[2])):
            return found[1].strip(), unit
    name, _, last = text.rpartition(" ")
    if name and (unit := _bare(last)):
        return name.strip(" :,"), unit
    if found := re.fullmatch(r"(.+)_(ms|us|ns|s|mbps|kbps|rps|iops)", text, re.IGNORECASE):
        return found[1], unit_of(found[2])
    return text, _bare(text)


def _bare(text: str) -> Unit | None:
    """The unit of a word without brackets; `B` and `s` are names as well."""
    unit = unit_of(text)
    return None if unit is None or unit.quantity in ("count", "bytes") or (len(text) < 2 and text != "%") else unit


def stated_unit(text: str) -> Unit:
    """The unit that a user named. Raises PlanError with the units that are known."""
    unit = unit_of(text)
    if unit is None:
        known = "MB/s, MiB/s, KB/s, Mbit/s, req/s, IOPS, ms, µs, s or %"
        raise PlanError(f"{text[:40]!r} is no unit that Bakeoff knows: write {known}")
    return unit
