"""k6's summary as JSON: of --summary-export, and of handleSummary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, inner, json_value
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, percentile
from bakeoff.formats.foreign.units import BYTES, COUNT, MS, Unit
from bakeoff.formats.importers.base import Options

REQUESTS_PER_S = Unit("requests/s", "operations/s")
TIMES = ((table.MEAN, "avg", MS), (table.MINIMUM, "min", MS), (table.MEDIAN, "med", MS), (table.MAXIMUM, "max", MS))
STEPS = {"connect": "http_req_connecting", "first byte": "http_req_waiting", "transfer": "http_req_receiving"}
MISSING = ("how busy its machine was", "the length of the measured time")


def sniff(source: Source) -> bool:
    head = source.head
    return (
        head.lstrip().startswith("{")
        and '"metrics"' in head
        and any(name in head for name in ('"http_req_duration', '"http_reqs"', '"iteration_duration"', '"vus_max"'))
    )


def read(source: Source, options: Options) -> ForeignTable:
    found = source.json()
    metrics = inner(found, "metrics")
    row = RowMaker()
    duration = _values(metrics, "http_req_duration")
    row.of_json(duration, TIMES, "http_req_duration")
    for key, number in list(duration.items())[:100]:
        share = str(key).removeprefix("p(").removesuffix(")")
        if str(key).startswith("p(") and share.replace(".", "", 1).isdigit() and len(share) < 8:
            value = json_value(number, MS, f"http_req_duration.{key}")
            if value is not None and 0 < float(share) < 100:
                row.values[percentile(float(share))] = value
    reqs = _values(metrics, "http_reqs")
    row.of_json(reqs, ((table.RATE, "rate", REQUESTS_PER_S), (table.REQUESTS, "count", COUNT)), "http_reqs")
    for name, key in STEPS.items():
        row.of_json(_values(metrics, key), ((f"{name} mean", "avg", MS),), key)
    row.of_json(_values(metrics, "data_received"), ((table.BYTES_IN, "count", BYTES),), "data_received")
    row.of_json(_values(metrics, "data_sent"), ((table.BYTES_OUT, "count", BYTES),), "data_sent")
    # Of this rate `passes` are those of which it is true that they failed.
    row.of_json(_values(metrics, "http_req_failed"), ((table.ERRORS, "passes", COUNT),), "http_req_failed")
    asked, failed = row.values.get(table.REQUESTS), row.values.get(table.ERRORS)
    if asked is not None and failed is not None and asked.value >= failed.value:
        row.values[table.OPERATIONS] = count_of(asked.value - failed.value, COUNT)
    row.of_json(inner(found, "state"), ((table.DURATION, "testRunDurationMs", MS),), "state")
    most = _values(metrics, "vus_max")
    users = json_value(most.get("max", most.get("value")), COUNT, "vus_max")
    if users is not None and users.value >= 1:
        row.load[table.CLIENTS] = users
    if table.RATE not in row.values and table.MEAN not in row.values:
        raise PlanError("it has neither http_reqs nor http_req_duration among its metrics: give k6's whole summary")
    return ForeignTable("k6", "k6", (row.made(),), missing=MISSING)


def _values(metrics: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The numbers of a metric, in both forms."""
    return inner(metrics, name, "values") or inner(metrics, name)
