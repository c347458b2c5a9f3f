"""Tables over file and record sizes as trials that are made of cells, as IOzone's are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.table import (
    FILE_SIZE,
    MEAN,
    RATE,
    RECORD_SIZE,
    THROUGHPUT,
    ForeignRow,
    ForeignTable,
)
from bakeoff.formats.importers.as_run.sample import Sample
from bakeoff.load.load_step import Clients, LoadStep, StatedLoad

KIB = 1024
READS = ("read", "reread", "random_read", "backward_read", "stride_read", "fread", "refread", "pread", "repread")


def is_matrix(table: ForeignTable) -> bool:
    """Whether all rows of a table are transfer rates of a file and a record size."""
    return all(
        set(row.load) == {FILE_SIZE, RECORD_SIZE} and _bytes_per_s(row) is not None for row in table.rows
    ) and bool(table.rows)


def cell_samples(files: Sequence[tuple[str, ForeignTable]]) -> list[Sample]:
    """The sample of each contender in each file: one with all of its cells. Raises PlanError for a cell that is there
    twice.
    """
    samples = []
    for place, (name, table) in enumerate(files):
        cells: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for row in table.rows:
            made = _cell(row)
            own = cells[row.contender or name]
            if made["operation"] in own:
                raise PlanError(f"line {row.line}: {row.where()} is there twice: give each run alone")
            own[made["operation"]] = made
        # IOzone's matrix is the work of one process.
        step = Clients(1) if table.format == "iozone" else StatedLoad(1.0)
        samples += [_sample(contender, step, place, list(own.values())) for contender, own in cells.items()]
    return samples


def _bytes_per_s(row: ForeignRow) -> float | None:
    """The rate of a row, also of one that is told in operations or in the time of one."""
    if (value := row.values.get(THROUGHPUT)) is not None:
        return value.value
    record = row.load[RECORD_SIZE].value
    if (value := row.values.get(RATE)) is not None:
        return value.value * record
    value = row.values.get(MEAN)
    return None if value is None or value.value <= 0.0 else record / value.value


def _cell(row: ForeignRow) -> dict[str, Any]:
    """As the kind tells its cells. Whole records are moved, and what is left of the file is not."""
    file, record = round(row.load[FILE_SIZE].value), round(row.load[RECORD_SIZE].value)
    rate = _bytes_per_s(row)
    if not rate or not 0 < record <= file:
        raise PlanError(f"line {row.line}: {row.where()} has no rate, or its records are larger than the file")
    test = row.part or "transfer"
    moved = file // record * record
    return {
        "test": test,
        "operation": f"{test}/{file}/{record}",
        "file_bytes": file,
        "record_bytes": record,
        "bytes": moved,
        "operations": file // record,
        "elapsed_s": moved / rate,
        "rate_kib_s": rate / KIB,
    }


def _sample(contender: str, step: LoadStep, place: int, cells: list[dict[str, Any]]) -> Sample:
    return Sample(
        contender,
        step,
        place,
        length_s=sum(cell["elapsed_s"] for cell in cells),
        operations=sum(cell["operations"] for cell in cells),
        bytes_in=sum(cell["bytes"] for cell in cells if cell["test"] in READS),
        bytes_out=sum(cell["bytes"] for cell in cells if cell["test"] not in READS),
        workload={"cells": cells},
    )
