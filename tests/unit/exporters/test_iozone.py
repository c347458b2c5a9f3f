"""What is exported as IOzone prints it is read in again as the same cells."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import PlanError
from bakeoff.formats.exporters.iozone import IOZONE
from bakeoff.formats.foreign.table import ForeignTable
from bakeoff.formats.importers.as_run.cells import cell_samples
from bakeoff.formats.importers.as_run.write import Given, write_import
from bakeoff.load.load_step import Clients
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.unit.compare.synthetic import run
from tests.unit.importers.reading import table_of
from tests.unit.store.builders import stored

SAMPLES = Path(__file__).parents[2] / "data/iozone"
MATRICES = [path for path in sorted(SAMPLES.glob("*.txt")) if "throughput" not in path.name]


def read(text: str) -> ForeignTable:
    return table_of("iozone", text)


def cells_of(record: RunRecord) -> dict[tuple[str, int, str, Any, Any], float]:
    return {
        (trial.contender, trial.block, cell.test, cell.file_bytes, cell.record_bytes): cell.rate_kib_s or 0.0
        for trial in record.trials
        for cell in trial.figures(Figures).cells or ()
    }


@pytest.mark.parametrize("path", MATRICES, ids=lambda path: path.stem)
def test_a_matrix_of_iozone_goes_out_as_it_came_in(path: Path, tmp_path: Path) -> None:
    files = [Given(name, path, read(path.read_text())) for name in ("nfs", "smb", "nfs")]
    write_import(tmp_path / "x.bakeoff", files)
    record = read_run(tmp_path / "x.bakeoff")
    made = IOZONE.files(record)
    assert list(made) == ["nfs-1.txt", "smb-1.txt", "nfs-2.txt"]
    again = [
        Given(name.rpartition("-")[0], path, read(text if isinstance(text, str) else text.decode()))
        for name, text in made.items()
    ]
    write_import(tmp_path / "y.bakeoff", again)
    found, wanted = cells_of(read_run(tmp_path / "y.bakeoff")), cells_of(record)
    assert found == {key: int(rate) for key, rate in wanted.items()}


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.match(r" {8,15}\d+ +\d+ ", line)]


def test_its_rows_are_those_of_iozone(tmp_path: Path) -> None:
    path = SAMPLES / "auto-excel.txt"
    write_import(tmp_path / "x.bakeoff", [Given("a", path, read(path.read_text()))])
    text = IOZONE.content(read_run(tmp_path / "x.bakeoff"))
    assert (
        isinstance(text, str) and rows(text) == rows(path.read_text()) and "Exported from x.bakeoff: a, block 1" in text
    )


def matrix(cells: list[dict[str, Any]], clients: int = 1, **changes: Any) -> RunRecord:
    made = run(load_steps=(clients,), blocks=2)
    trials = tuple(replace(trial, workload={"cells": cells}) for trial in made.trials)
    return replace(made, kind="file-matrix", suite="file-matrix", trials=trials, **changes)


def cell(test: str, rate: float | None = 1000.9, **changes: Any) -> dict[str, Any]:
    base = {"test": test, "operation": f"{test}/65536/4096", "file_bytes": 65536, "record_bytes": 4096, "skipped": None}
    per_client = [(65536, 400.0), (32768, 600.0)]
    own = {"bytes": 98304, "elapsed_s": 0.5, "rate_kib_s": rate, "per_client": per_client, "last_done_s": 0.5}
    return {**base, **own, **changes}


def test_what_it_cannot_say_is_left_out_and_told() -> None:
    record = matrix([cell("write"), cell("mixed"), cell("read", None), cell("pread", skipped="no time")])
    record = replace(record, trials=(replace(record.trials[0], state="failed"), *record.trials[1:]))
    (text, *_), notes = [str(one) for one in IOZONE.files(record).values()], " ".join(IOZONE.notes(record))
    assert [c["test"] for c in cell_samples([("a", read(text))])[0].workload["cells"]] == ["write"]
    assert "1 of 4 trials did not end well" in notes and "mixed" in notes
    left = record.trials[0]
    assert f"={left.contender}-{left.block}.txt" not in notes and "bakeoff import" in notes
    with pytest.raises(PlanError, match="cannot hold"):
        IOZONE.files(matrix([cell("write", 1e9)]))
    with pytest.raises(PlanError, match="nothing to export"):
        IOZONE.files(matrix([]))
    with pytest.raises(PlanError, match="for runs of file-matrix, not of web-static"):
        IOZONE.files(run(blocks=1))


def test_several_clients_are_throughput_tests() -> None:
    made = IOZONE.files(matrix([cell("write"), cell("random_read")], clients=2, plan={"settings": {"direct": True}}))
    name, text = next(iter(made.items()))
    assert name.endswith("-1-2-clients.txt") and "O_DIRECT feature enabled" in text
    for line in (
        "\tThroughput test with 2 processes",
        "\tEach process writes a 64 kByte file in 4 kByte records",
        "\tChildren see throughput for  2 initial writers \t=    1000.00 kB/sec",
        "\tParent sees throughput for 2 random readers \t=     192.00 kB/sec",
        "\tMin xfer \t\t\t\t\t=      32.00 kB",
        "\tChild[1] xfer count =      32.00 kB, Throughput =     600.00 kB/sec",
    ):
        assert line in str(text).splitlines(), text
    write, read_ = read(str(text)).rows
    assert (write.part, write.load["clients"].value, write.values["throughput"].value) == ("write", 2, 1000 * 1024)
    assert read_.part == "random_read" and read_.values["slowest process"].value > 0


def test_the_verb_writes_a_folder_that_import_takes(tmp_path: Path) -> None:
    path = stored(matrix([cell("write"), cell("read", 2000.2)]), tmp_path / "x.bakeoff")
    done = CliRunner().invoke(app, ["export", str(path), "--to", "iozone"])
    assert done.exit_code == 0, done.exception
    files = sorted((tmp_path / "x.iozone").iterdir())
    assert len(files) == 4 and "bakeoff import" in done.output
    named = re.findall(r"(\S+)=\S+\.txt", done.output)
    assert named == [c.name for c in read_run(path).contenders for _ in range(2)], "the baseline first"
    words = [f"{file.stem.rpartition('-')[0]}={file}" for file in files]
    again = CliRunner().invoke(app, ["import", *words, "-o", str(tmp_path / "y.bakeoff")])
    assert again.exit_code == 0, again.exception
    wanted = {key: float(int(rate)) for key, rate in cells_of(read_run(path)).items()}
    assert cells_of(read_run(tmp_path / "y.bakeoff")) == wanted
    for more, why in (([], "already, with files"), (["-o", "-"], "4 files"), (["-o", str(files[0])], "no folder")):
        refused = CliRunner().invoke(app, ["export", str(path), "--to", "iozone", *more])
        assert isinstance(refused.exception, PlanError) and why in str(refused.exception)
    assert CliRunner().invoke(app, ["export", str(path), "--to", "iozone", "--force"]).exit_code == 0


@pytest.mark.parametrize("name", ["../../etc", "a b/c", "-rf", ".hidden", "é", "..."])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    record = matrix([cell("write")])
    record = replace(record, trials=tuple(replace(trial, contender=name) for trial in record.trials))
    for file in IOZONE.files(record):
        assert re.fullmatch(r"[A-Za-z0-9_+][A-Za-z0-9._+~-]*\.txt", file), file


def test_numbers_of_clients_are_named(tmp_path: Path) -> None:
    record = matrix([cell("write")], clients=8)
    assert {trial.load_step for trial in record.trials} == {Clients(8)}
    assert all(name.endswith("-8-clients.txt") for name in IOZONE.files(record))


def test_names_that_come_to_the_same_are_read_again_each_as_its_own(tmp_path: Path) -> None:
    path = SAMPLES / "auto-excel.txt"
    write_import(tmp_path / "x.bakeoff", [Given(name, path, read(path.read_text())) for name in ("a b", "a_b")])
    record = read_run(tmp_path / "x.bakeoff")
    assert list(IOZONE.files(record)) == ["a_b-1.txt", "a_b-1~2.txt"]
    assert "'a b=a_b-1.txt' 'a_b=a_b-1~2.txt'" in IOZONE.notes(record)[-1]
