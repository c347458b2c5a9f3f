"""Results of block work as Iometer 1.1.0 writes them: 80 columns, one test per trial and cell.

Contenders stand as disks, sessions as the workers; rows are ALL (of the test), MANAGER (this machine), PROCESSOR (what
this process used of all of them together), WORKER and DISK. Percentages of CPU are those of this process over the time
of the cell. What Bakeoff does not measure (interrupts, packets) is 0, as it is where Iometer cannot tell; what it does
not keep for each worker (response times, directions) is blank.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.core.times import ms_of, ns_of
from bakeoff.formats.exporters.base import Exporter
from bakeoff.kinds.file_blocks.figures import BlockCell, BlockFigures
from bakeoff.plan.settings.access import AccessSpec
from bakeoff.store.records.run_records import OK, RunRecord, TrialRecord

VERSION = "1.1.0"
BINS = (
    "0 to 50 uS", "50 to 100 uS", "100 to 200 uS", "200 to 500 uS", "0.5 to 1 mS", "1 to 2 mS", "2 to 5 mS",
    "5 to 10 mS", "10 to 15 mS", "15 to 20 mS", "20 to 30 mS", "30 to 50 mS", "50 to 100 mS", "100 to 200 mS",
    "200 to 500 mS", "0.5 to 1 S", "1 to 2 s", "2 to 4.7 s", "4.7 to 5 s", "5 to 10 s", " >= 10 s",
)  # fmt: skip
HEADER = (
    "'Target Type", "Target Name", "Access Specification Name", "# Managers", "# Workers", "# Disks", "IOps",
    "Read IOps", "Write IOps", "MiBps (Binary)", "Read MiBps (Binary)", "Write MiBps (Binary)",
    "MBps (Decimal)",
    "Read MBps (Decimal)", "Write MBps (Decimal)", "Transactions per Second", "Connections per Second",
    "Average Response Time", "Average Read Response Time", "Average Write Response Time",
    "Average Transaction Time", "Average Connection Time", "Maximum Response Time",
    "Maximum Read Response Time", "Maximum Write Response Time", "Maximum Transaction Time",
    "Maximum Connection Time", "Errors", "Read Errors", "Write Errors", "Bytes Read", "Bytes Written",
    "Read I/Os", "Write I/Os", "Connections", "Transactions per Connection", "Total Raw Read Response Time",
    "Total Raw Write Response Time", "Total Raw Transaction Time", "Total Raw Connection Time",
    "Maximum Raw Read Response Time", "Maximum Raw Write Response Time", "Maximum Raw Transaction Time",
    "Maximum Raw Connection Time", "Total Raw Run Time", "Starting Sector", "Maximum Size", "Queue Depth",
    "% CPU Utilization", "% User Time", "% Privileged Time", "% DPC Time", "% Interrupt Time",
    "Processor Speed",
    "Interrupts per Second", "CPU Effectiveness", "Packets/Second", "Packet Errors",
    "Segments Retransmitted/Second", *BINS,
)  # fmt: skip
SECTOR, MIB, MB = 512, 1 << 20, 1e6


def _row(
    kind: str, name: str, spec: str, counts: tuple[str, str, str], values: Mapping[str, Any], unknown: Any = 0
) -> list[str]:
    """One row: what `values` does not name is `unknown`."""
    head = dict(zip(HEADER, (kind, name, spec, *counts), strict=False))
    cells = []
    for column in HEADER:
        value = head.get(column, values.get(column, unknown))
        cells.append(f"{value:.6f}" if isinstance(value, float) else str(value))
    return cells


def _figures(cell: BlockCell, raw: bool) -> dict[str, Any]:
    reads, writes, transactions = cell.reads, cell.writes, cell.transactions
    ios, seconds = reads.ios + writes.ios, cell.elapsed_s or 0.0
    rate = cell.ios_per_s / ios if ios else 0.0

    def per_s(count: float) -> float:
        return float(count * rate)

    def mean_ms(total_ns: int, count: int) -> float:
        return ms_of(total_ns / count) if count else 0.0

    bytes_all = reads.bytes + writes.bytes
    columns: dict[str, Any] = {}
    for prefix, count, moved in (
        ("", ios, bytes_all),
        ("Read ", reads.ios, reads.bytes),
        ("Write ", writes.ios, writes.bytes),
    ):
        columns[f"{prefix}IOps"] = per_s(count)
        columns[f"{prefix}MiBps (Binary)"] = per_s(moved) / MIB
        columns[f"{prefix}MBps (Decimal)"] = per_s(moved) / MB
    # A cell of few, long transfers has its rate from all of them, though none may have ended in its window.
    columns["IOps"], bytes_per_s = cell.ios_per_s, (cell.rate_kib_s or 0.0) * 1024.0
    columns["MiBps (Binary)"], columns["MBps (Decimal)"] = bytes_per_s / MIB, bytes_per_s / MB
    exchanges = transactions.count or ios
    total = reads.total_ns + writes.total_ns
    exchange_ns = transactions.total_ns or total
    longest = max(reads.max_ns, writes.max_ns)
    cpu_percent = (cell.cpu_us_per_io or 0.0) * cell.ios_per_s / 1e4
    columns |= {
        "Transactions per Second": per_s(exchanges),
        "Connections per Second": 0.0,
        "Average Response Time": mean_ms(total, ios),
        "Average Read Response Time": mean_ms(reads.total_ns, reads.ios),
        "Average Write Response Time": mean_ms(writes.total_ns, writes.ios),
        "Average Transaction Time": mean_ms(exchange_ns, exchanges),
        "Average Connection Time": 0.0,
        "Maximum Response Time": ms_of(longest),
        "Maximum Read Response Time": ms_of(reads.max_ns),
        "Maximum Write Response Time": ms_of(writes.max_ns),
        "Maximum Transaction Time": ms_of(transactions.max_ns or longest),
        "Maximum Connection Time": 0.0,
        "Errors": reads.errors + writes.errors,
        "Read Errors": reads.errors,
        "Write Errors": writes.errors,
        "Bytes Read": reads.bytes,
        "Bytes Written": writes.bytes,
        "Read I/Os": reads.ios,
        "Write I/Os": writes.ios,
        "Maximum Size": (cell.file_bytes or 0) // SECTOR,
        "Queue Depth": cell.outstanding,
        "% CPU Utilization": cpu_percent,
        "CPU Effectiveness": cell.ios_per_s / cpu_percent if cpu_percent else 0.0,
    }
    raw_columns = {
        "Total Raw Read Response Time": reads.total_ns,
        "Total Raw Write Response Time": writes.total_ns,
        "Total Raw Transaction Time": exchange_ns,
        "Maximum Raw Read Response Time": reads.max_ns,
        "Maximum Raw Write Response Time": writes.max_ns,
        "Maximum Raw Transaction Time": transactions.max_ns or longest,
        "Total Raw Run Time": round(ns_of(seconds)),  # raw times are in ns,
    }
    blank = [*raw_columns, "Total Raw Connection Time", "Maximum Raw Connection Time", "Processor Speed"]
    columns |= raw_columns if raw else dict.fromkeys(blank, "")
    unknown = ("% User Time", "% Privileged Time", "% DPC Time", "% Interrupt Time", "Interrupts per Second")
    columns |= dict.fromkeys(unknown, 0.0)
    return columns | dict(zip(BINS, (*cell.bins, *[0] * len(BINS)), strict=False))


def _processor(cell: BlockCell) -> dict[str, Any]:
    """The columns of processors."""
    all_figures = _figures(cell, raw=False)
    return {name: all_figures[name] for name in ("% CPU Utilization", "CPU Effectiveness")}


def _worker(cell: BlockCell, moved_bytes: int, rate_kib_s: float) -> dict[str, Any]:
    """What is kept of one session: its bytes per second, and its transfers where all have one size."""
    bytes_per_s = rate_kib_s * 1024.0
    columns: dict[str, Any] = {"MiBps (Binary)": bytes_per_s / MIB, "MBps (Decimal)": bytes_per_s / MB}
    columns |= {"Queue Depth": cell.outstanding, "Maximum Size": (cell.file_bytes or 0) // SECTOR}
    if size := cell.record_bytes:
        columns["IOps"] = bytes_per_s / size
    reads, writes = cell.reads.bytes, cell.writes.bytes
    for name, only, other in (("Read", reads, writes), ("Write", writes, reads)):
        if only and not other:
            columns[f"{name} MiBps (Binary)"], columns[f"{name} MBps (Decimal)"] = bytes_per_s / MIB, bytes_per_s / MB
            columns["Bytes Read" if name == "Read" else "Bytes Written"] = moved_bytes
    return columns


def _stamp(started_at: str) -> str:
    moment = datetime.fromisoformat(started_at)
    return f"{moment:%Y-%m-%d %H:%M:%S}:{moment.microsecond // 1000:03d}"


class IometerCsv(Exporter):
    name = "iometer-csv"
    suffix = ".iometer.csv"  # beside the table of cells, which is another file
    summary = "results of file-blocks as Iometer 1.1.0 writes them (80 columns)"

    def content(self, run: RunRecord, table: str | None = None) -> str:
        if run.kind != "file-blocks":
            raise PlanError(f"iometer-csv is for runs of file-blocks, not of {run.suite}: choose another format")
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        trials = [trial for trial in run.trials if trial.state == OK and trial.figures(BlockFigures).cells]
        if not trials:
            raise PlanError("the run has no trial that ended well: there is nothing to export")
        writer.writerow(["'Test Type", "Test Description"])
        writer.writerow([0, run.name])
        writer.writerow(["'Version"])
        writer.writerow([VERSION])
        for line in self._preamble(run, trials[0]):
            writer.writerow(line)
        for trial in trials:
            for cell in trial.figures(BlockFigures).cells or ():
                if cell.skipped is None:
                    self._test(writer, trial, cell)
        return out.getvalue()

    def _preamble(self, run: RunRecord, first: TrialRecord) -> Iterator[list[Any]]:
        yield ["'Time Stamp"]
        yield [_stamp(first.started_at)]
        yield ["'Access specifications"]
        for spec in _specs(run):
            yield ["'Access specification name", "default assignment"]
            yield [spec.name, "NONE"]
            yield ["'size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply"]
            for line in spec.lines:
                yield [round(number) for number in line.row()]
        yield ["'End access specifications"]

    def _test(self, writer: Any, trial: TrialRecord, cell: BlockCell) -> None:
        stamp = _stamp(trial.started_at)
        workers = str(len(cell.per_client))
        writer.writerow(["'Results"])
        writer.writerow(HEADER)
        spec = cell.operation
        summed, raw = _figures(cell, raw=False), _figures(cell, raw=True)
        writer.writerow(_row("ALL", "All", spec, ("1", workers, "1"), summed))
        writer.writerow(_row("MANAGER", "bakeoff", spec, ("", workers, "1"), raw))
        writer.writerow(_row("PROCESSOR", "all CPUs", spec, ("", "", ""), _processor(cell), unknown=""))
        for number, (moved_bytes, rate_kib_s) in enumerate(cell.per_client, 1):
            own = _worker(cell, moved_bytes, rate_kib_s)
            writer.writerow(_row("WORKER", f"Worker {number}", spec, ("", "", "1"), own, unknown=""))
        writer.writerow(_row("DISK", trial.contender, spec, ("", "", ""), raw))
        writer.writerow(["'Time Stamp"])
        writer.writerow([stamp])


def _specs(run: RunRecord) -> list[AccessSpec]:
    from bakeoff.kinds.file_blocks.plan import FileBlocksSettings, specs
    from bakeoff.plan.input.stored import stored_plan

    settings = stored_plan(run).settings
    assert isinstance(settings, FileBlocksSettings)
    named = settings.access or settings.icf
    if named:
        return list(named)
    return [AccessSpec(name=f"{spec.name}/{spec.size}", lines=spec.lines) for spec in specs(settings)]


IOMETER_CSV = IometerCsv()
