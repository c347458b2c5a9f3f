"""vegeta's reports, as JSON and as text."""

from __future__ import annotations

import re

from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, inner, json_value, value_of
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import BYTES, COUNT, NS, TIMES, Unit
from bakeoff.formats.importers.base import Options, refuse

REQUESTS_PER_S = Unit("requests/s", "operations/s")
LATENCIES = {
    "min": table.MINIMUM, "mean": table.MEAN, "50th": "p50", "90th": "p90", "95th": "p95", "99th": "p99",
    "max": table.MAXIMUM,
}  # fmt: skip
MISSING = ("the rate that was asked for", "how busy its machine was")
_ROW = re.compile(r"(Requests|Duration|Latencies|Bytes In|Bytes Out|Success)\s+\[([^\]]{1,80})\]\s+(.*)")
_LENGTH = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:([\d.]{1,20})(ns|µs|us|ms|s))?")


def sniff(source: Source) -> bool:
    head = source.head
    return ('"latencies"' in head and '"status_codes"' in head) or (
        re.search(r"^Requests\s+\[total, rate", head, re.MULTILINE) is not None
    )


def read(source: Source, options: Options) -> ForeignTable:
    is_json = source.head.lstrip().startswith("{")
    row, success, began = _of_json(source) if is_json else (*_of_text(source), None)
    asked = row.values.get(table.REQUESTS)
    if asked is None or success is None:
        raise refuse(row.line, "vegeta's report has no requests and success: give all of `vegeta report`")
    # Counts follow from the share, which has all its digits in JSON alone.
    done = round(asked.value * success.value)
    if is_json or success.high - success.low < 0.5 / max(1.0, asked.value) or success.value in (0.0, 1.0):
        row.values[table.OPERATIONS] = count_of(done, COUNT, asked.line)
        row.values[table.ERRORS] = count_of(asked.value - done, COUNT, asked.line)
    return ForeignTable("vegeta", "vegeta", (row.made(),), began, missing=MISSING)


def _of_json(source: Source) -> tuple[RowMaker, ForeignValue | None, str | None]:
    found, row = source.json(), RowMaker()
    if not isinstance(found, dict):
        raise refuse(1, "an object was expected: give the output of `vegeta report -type=json`")
    row.of_json(inner(found, "latencies"), [(name, key, NS) for key, name in LATENCIES.items()], "latencies")
    row.of_json(
        found,
        (
            (table.REQUESTS, "requests", COUNT),
            ("request rate", "rate", REQUESTS_PER_S),
            (table.RATE, "throughput", REQUESTS_PER_S),
            (table.DURATION, "duration", NS),
        ),
    )
    row.of_json(inner(found, "bytes_in"), ((table.BYTES_IN, "total", BYTES),), "bytes_in")
    row.of_json(inner(found, "bytes_out"), ((table.BYTES_OUT, "total", BYTES),), "bytes_out")
    began = found.get("earliest")
    return row, json_value(found.get("success"), COUNT, "success"), began[:40] if isinstance(began, str) else None


def _of_text(source: Source) -> tuple[RowMaker, ForeignValue | None]:
    row, success = RowMaker(), None
    for number, line in source.short_lines():
        found = _ROW.match(line)
        if found is None:
            continue
        for key, text in zip(found[2].split(", "), found[3].split(", "), strict=False):
            if found[1] == "Requests":
                name = {"total": table.REQUESTS, "rate": "request rate", "throughput": table.RATE}.get(key)
                unit = COUNT if key == "total" else REQUESTS_PER_S
                if name:
                    row.put(name, text, unit, number, "exact" if key == "total" else "nearest")
            elif found[1] == "Latencies" and (name := LATENCIES.get(key) or LATENCIES.get(f"{key}th")):
                row.values[name] = _length(text, number)
            elif found[1] == "Duration" and key == "total":
                row.values[table.DURATION] = _length(text, number)
            elif found[1].startswith("Bytes") and key == "total":
                row.exactly(table.BYTES_IN if found[1] == "Bytes In" else table.BYTES_OUT, text, BYTES, number)
            elif found[1] == "Success":
                success = value_of(text.strip().removesuffix("%"), Unit("%", "share", 0.01), number, "success")
    return row, success


def _length(text: str, number: int) -> ForeignValue:
    """`70.031µs`, `1.996s`, `1m2.5s`."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None or not text.strip():
        raise refuse(number, f"a time was expected, not {text[:40]!r}")
    if not found[1] and not found[2]:
        return value_of(found[3], TIMES[found[4]], number)
    seconds = 3600.0 * int(found[1] or 0) + 60.0 * int(found[2] or 0)
    rest = value_of(found[3], TIMES[found[4]], number).value if found[3] else 0.0
    return count_of(seconds + rest, TIMES["s"], number)
