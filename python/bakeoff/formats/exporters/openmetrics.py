"""A run as OpenMetrics text, for Prometheus and its like: a sample for each trial, at the time when it began.

Names, units, labels and `# EOF` as in its specification, version 1.0: github.com/prometheus/OpenMetrics.
"""

from collections.abc import Iterator
from datetime import datetime

from bakeoff.formats.exporters.base import Exporter
from bakeoff.formats.exporters.csv_text import Value
from bakeoff.formats.exporters.tables import Row, table_of
from bakeoff.store.records.run_records import RunRecord

# Of the table of trials: the column, the name of the metric, its unit, what it is, and by what the column is divided.
METRICS = (
    ("operations_per_s", "bakeoff_operations_per_second", "", "Operations a second in the window.", 1.0),
    ("in_bytes_per_s", "bakeoff_received_bytes_per_second", "", "Bytes received a second in the window.", 1.0),
    ("operations", "bakeoff_operations", "", "Operations in the window.", 1.0),
    ("errors", "bakeoff_errors", "", "Operations of the window that failed.", 1.0),
    ("service_mean_ms", "bakeoff_service_mean_seconds", "seconds", "Mean service time.", 1e3),
    ("service_p50_ms", "bakeoff_service_p50_seconds", "seconds", "Median service time.", 1e3),
    ("service_p99_ms", "bakeoff_service_p99_seconds", "seconds", "99th percentile of service time.", 1e3),
    ("response_p99_ms", "bakeoff_response_p99_seconds", "seconds", "99th percentile from the planned start.", 1e3),
    (
        "contender_cpu_s_per_1000",
        "bakeoff_contender_cpu_seconds",
        "seconds",
        "Processor time of the contender for an operation, where it was watched.",
        1e3,
    ),
    ("contender_memory_bytes", "bakeoff_contender_memory_bytes", "bytes", "Memory of the contender.", 1.0),
    ("generator_cpu_share", "bakeoff_generator_cpu_ratio", "ratio", "Use of the load generator's cores.", 1.0),
)
LABELS = ("contender", "clients", "offered_per_s", "block", "state")


class OpenMetrics(Exporter):
    name = "openmetrics"
    suffix = ".om"
    summary = "gauges for Prometheus and its like, a sample for each trial"

    def content(self, run: RunRecord, table: str | None = None) -> str:
        made = table_of(run, "trials")
        rows = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
        lines = [line for metric in METRICS for line in _family(run, rows, *metric)]
        return "\n".join([*lines, "# EOF", ""])

    def notes(self, run: RunRecord) -> tuple[str, ...]:
        return ("trials that failed or were voided have samples, too: see the label state",)


def _family(run: RunRecord, rows: list[Row], column: str, name: str, unit: str, text: str, by: float) -> Iterator[str]:
    known = [row for row in rows if isinstance(row.get(column), int | float)]
    if not known:
        return
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {text}"
    for row in known:
        labels = {"run": run.name, "suite": run.suite, **{label: row.get(label) for label in LABELS}}
        shown = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items() if value is not None)
        value = row[column]
        assert isinstance(value, int | float)
        at = datetime.fromisoformat(str(row["started_at"])).timestamp()
        yield f"{name}{{{shown}}} {value / by:.9g} {at:.3f}"


def _escaped(value: Value) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


OPENMETRICS = OpenMetrics()
