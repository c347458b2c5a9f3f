"""oha's JSON output. Requests that the end of its time (-z) cut off stand among its errors and in its rate; they are no
failures of the server, as in oha's own success rate, and are left out of both.
"""

from __future__ import annotations

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign import table
from bakeoff.formats.foreign.making import RowMaker, count_of, inner
from bakeoff.formats.foreign.source import Source
from bakeoff.formats.foreign.table import ForeignTable, percentile
from bakeoff.formats.foreign.units import BYTES, BYTES_PER_S, COUNT, SECONDS, Unit
from bakeoff.formats.importers.base import Options

REQUESTS_PER_S = Unit("requests/s", "operations/s")
SUMMARY = (
    (table.DURATION, "total", SECONDS),
    (table.RATE, "requestsPerSec", REQUESTS_PER_S),
    (table.MINIMUM, "fastest", SECONDS),
    (table.MAXIMUM, "slowest", SECONDS),
    (table.MEAN, "average", SECONDS),
    (table.BYTES_IN, "totalData", BYTES),
    (table.THROUGHPUT, "sizePerSec", BYTES_PER_S),
)
SHARES = ((50, "p50"), (75, "p75"), (90, "p90"), (95, "p95"), (99, "p99"), (99.9, "p99.9"), (99.99, "p99.99"))
CUT_OFF = "aborted due to deadline"
MISSING = ("how many connections it used", "how busy its machine was")


def sniff(source: Source) -> bool:
    return '"latencyPercentiles"' in source.head and '"requestsPerSec"' in source.head


def read(source: Source, options: Options) -> ForeignTable:
    found, row = source.json(), RowMaker()
    row.of_json(inner(found, "summary"), SUMMARY, "summary")
    names = [(percentile(share), key, SECONDS) for share, key in SHARES]
    row.of_json(inner(found, "latencyPercentiles"), names, "latencyPercentiles")
    if table.RATE not in row.values:
        raise PlanError("it has no summary.requestsPerSec: give the whole output of oha --output-format json")
    statuses = {key: n for key, n in inner(found, "statusCodeDistribution").items() if _is_count(n)}
    errors = {key: n for key, n in inner(found, "errorDistribution").items() if _is_count(n)}
    cut_off = errors.pop(CUT_OFF, 0)
    failed = sum(errors.values())
    refused = sum(n for key, n in statuses.items() if key[:1] in ("4", "5"))
    if statuses or failed:
        row.values[table.OPERATIONS] = count_of(sum(statuses.values()) - refused, COUNT, heading="replies below 400")
        row.values[table.ERRORS] = count_of(failed + refused, COUNT, heading="errors and replies from 400 on")
    length = row.values.get(table.DURATION)
    if cut_off and length is not None and length.value > 0:
        ended = sum(statuses.values()) + failed
        row.values[table.RATE] = count_of(ended / length.value, REQUESTS_PER_S, heading="ended requests by total")
    return ForeignTable("oha", "oha", (row.made(),), missing=MISSING)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
