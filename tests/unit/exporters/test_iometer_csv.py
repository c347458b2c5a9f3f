"""Results as Iometer writes them: the header to the letter, figures from the cells."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.csv_table import CSV
from bakeoff.formats.exporters.iometer_csv import HEADER, IOMETER_CSV
from bakeoff.load.load_step import Clients
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.store.records.run_records import ContenderRecord, RunRecord
from tests.unit.store import builders

TEXT = (
    "'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,"
    "Write IOps,MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal),"
    "Read MBps (Decimal),Write MBps (Decimal),Transactions per Second,Connections per Second,"
    "Average Response Time,Average Read Response Time,Average Write Response Time,"
    "Average Transaction Time,Average Connection Time,Maximum Response Time,Maximum Read Response Time,"
    "Maximum Write Response Time,Maximum Transaction Time,Maximum Connection Time,Errors,Read Errors,"
    "Write Errors,Bytes Read,Bytes Written,Read I/Os,Write I/Os,Connections,"
    "Transactions per Connection,Total Raw Read Response Time,Total Raw Write Response Time,"
    "Total Raw Transaction Time,Total Raw Connection Time,Maximum Raw Read Response Time,"
    "Maximum Raw Write Response Time,Maximum Raw Transaction Time,Maximum Raw Connection Time,"
    "Total Raw Run Time,Starting Sector,Maximum Size,Queue Depth,% CPU Utilization,% User Time,"
    "% Privileged Time,% DPC Time,% Interrupt Time,Processor Speed,Interrupts per Second,"
    "CPU Effectiveness,Packets/Second,Packet Errors,Segments Retransmitted/Second,0 to 50 uS,"
    "50 to 100 uS,100 to 200 uS,200 to 500 uS,0.5 to 1 mS,1 to 2 mS,2 to 5 mS,5 to 10 mS,10 to 15 mS,"
    "15 to 20 mS,20 to 30 mS,30 to 50 mS,50 to 100 mS,100 to 200 mS,200 to 500 mS,0.5 to 1 S,1 to 2 s,"
    "2 to 4.7 s,4.7 to 5 s,5 to 10 s, >= 10 s"
)


def cell(**changes: Any) -> dict[str, Any]:
    side = {"ios": 100, "bytes": 409_600, "errors": 1, "total_ns": 50_000_000, "max_ns": 2_000_000}
    base = {
        "operation": "mixed/4K",
        "skipped": None,
        "file_bytes": 1 << 30,
        "record_bytes": 4096,
        "per_client": [(400_000, 200.0)] * 4,
        "outstanding": 8,
        "elapsed_s": 2.0,
        "ios_per_s": 200.0,
        "rate_kib_s": 800.0,
        "cpu_us_per_io": 5.0,
        "reads": {**side, "ios": 300, "bytes": 1_228_800},
        "writes": side,
        "transactions": {"count": 0, "total_ns": 0, "max_ns": 0},
        "bins": [400, *[0] * 20],
    }
    return {**base, **changes}


def run(tmp_path: Path, cells: list[dict[str, Any]], kind: str = "file-blocks") -> RunRecord:
    given = PlanInput("test", {"suite": "file-blocks"}, {}, [{"name": "a", "address": str(tmp_path)}])
    plan = resolve_plan(given).to_dict()
    return RunRecord(
        path=tmp_path / "x.bakeoff",
        schema_version=1,
        name="night, run",
        suite=kind,
        kind=kind,
        plan=plan,
        plan_hash="0",
        created_at="2026-11-20T10:00:00+00:00",
        finished_at=None,
        tool={},
        environment={},
        contenders=(ContenderRecord("a", str(tmp_path), None),),
        load_steps=(Clients(4),),
        blocks_planned=1,
        delta=0.05,
        null_operations_per_s=None,
        trials_planned=1,
        trials=(builders.trial(workload={"cells": cells}),),
        events=(),
    )


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_the_header_is_the_known_one_of_eighty_columns() -> None:
    assert len(HEADER) == 80
    assert ",".join(HEADER) == TEXT


def test_rows_hold_the_figures_of_the_cell(tmp_path: Path) -> None:
    text = IOMETER_CSV.content(run(tmp_path, [cell(), cell(operation="x", skipped="why")]))
    found = rows(text)
    assert found[:4] == [["'Test Type", "Test Description"], ["0", "night, run"], ["'Version"], ["1.1.0"]]
    assert ["2026-11-20 10:00:00:000"] in found
    everything = {row[0]: dict(zip(HEADER, row, strict=True)) for row in found if len(row) == 80}
    assert set(everything) == {HEADER[0], "ALL", "MANAGER", "PROCESSOR", "WORKER", "DISK"}
    total, disk = everything["ALL"], everything["DISK"]
    rates = [total[name] for name in ("IOps", "Read IOps", "Write IOps")]
    assert rates == ["200.000000", "150.000000", "50.000000"]
    assert total["MBps (Decimal)"] == "0.819200" and total["MiBps (Binary)"] == "0.781250"
    assert total["Average Response Time"] == "0.250000" and total["Maximum Response Time"] == "2.000000"
    assert (total["Errors"], total["Read I/Os"], total["Bytes Read"]) == ("2", "300", "1228800")
    assert (total["Queue Depth"], total["Maximum Size"], total["# Workers"]) == (
        "8",
        "2097152",
        "4",
    )
    assert (total["% CPU Utilization"], total["CPU Effectiveness"]) == ("0.100000", "2000.000000")
    blank = [name for name in HEADER if "Raw" in name or name == "Processor Speed"]
    assert len(blank) == 10 and all(total[name] == "" for name in blank)
    assert (disk["Target Name"], disk["Total Raw Run Time"]) == ("a", "2000000000")
    assert total["0 to 50 uS"] == "400" and total[" >= 10 s"] == "0"
    assert text.count("'Results\n") == 1


def test_a_cell_in_whose_window_nothing_ended_keeps_the_rate_of_all_its_transfers(tmp_path: Path) -> None:
    nothing = {"ios": 0, "bytes": 0, "errors": 0, "total_ns": 0, "max_ns": 0}
    found = rows(IOMETER_CSV.content(run(tmp_path, [cell(reads=nothing, writes=nothing)])))
    total = next(dict(zip(HEADER, row, strict=True)) for row in found if row[0] == "ALL")
    assert (total["IOps"], total["MiBps (Binary)"], total["Read I/Os"]) == ("200.000000", "0.781250", "0")


def test_each_session_has_a_row_as_worker_and_the_processors_have_one(tmp_path: Path) -> None:
    found = rows(IOMETER_CSV.content(run(tmp_path, [cell()])))
    table = [dict(zip(HEADER, row, strict=True)) for row in found if len(row) == 80]
    workers = [row for row in table if row[HEADER[0]] == "WORKER"]
    total = next(row for row in table if row[HEADER[0]] == "ALL")
    assert [row["Target Name"] for row in workers] == ["Worker 1", "Worker 2", "Worker 3", "Worker 4"]
    assert sum(float(row["MBps (Decimal)"]) for row in workers) == pytest.approx(float(total["MBps (Decimal)"]))
    assert sum(float(row["IOps"]) for row in workers) == pytest.approx(float(total["IOps"]))
    assert all(row["Average Response Time"] == "" for row in workers), "it is not kept for each"
    processor = next(row for row in table if row[HEADER[0]] == "PROCESSOR")
    assert (processor["% CPU Utilization"], processor["IOps"]) == (total["% CPU Utilization"], "")


def test_specifications_stand_before_the_results(tmp_path: Path) -> None:
    found = rows(IOMETER_CSV.content(run(tmp_path, [cell()])))
    begin, end = found.index(["'Access specifications"]), found.index(["'End access specifications"])
    assert ["sequential_read/4096", "NONE"] in found[begin:end]
    assert ["4096", "100", "50", "50", "0", "1", "4096", "0"] in found[begin:end]


def test_other_runs_and_runs_without_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="file-blocks"):
        IOMETER_CSV.content(run(tmp_path, [cell()], kind="web"))
    empty = run(tmp_path, [cell()])
    failed = replace(empty, trials=tuple(replace(trial, state="failed") for trial in empty.trials))
    with pytest.raises(PlanError, match="nothing to export"):
        IOMETER_CSV.content(failed)


def test_it_does_not_take_the_name_of_the_table_of_cells() -> None:
    """Seen: "b.csv is there already", which was another format."""
    assert CSV.suffix != IOMETER_CSV.suffix
