"""The part of file-blocks for runs."""

from collections.abc import Iterator, Sequence
from typing import Any

from bakeoff.agents.result import TrialResult
from bakeoff.kinds.file_blocks.figures import BlockFigures
from bakeoff.kinds.file_blocks.plan import workload
from bakeoff.kinds.file_blocks.spec import BlockCellSpec, FileBlocksWorkload
from bakeoff.kinds.files.foresee import CALIBRATION_BYTES, Sample, Trying, foresee
from bakeoff.kinds.files.run import FolderCheck
from bakeoff.kinds.spec import Workload
from bakeoff.plan.design.work import TrialWork
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Foreseen, RunPart, figures_of

CELL_S = 0.05
# What a try does otherwise than a trial.
OWN: dict[str, Any] = {"keep": False, "reuse": None, "ramp_up_s": 0.0, "min_transfers": 0}
OWN |= {"cell_s": CELL_S, "cell_limit_s": CELL_S}


class FileBlocksCheck(FolderCheck):
    def workload(self, contender: Contender, addresses: Sequence[str]) -> FileBlocksWorkload:
        return workload(self.plan, contender)


def samples(workload: Workload, sessions: int) -> Iterator[Sample]:
    """One or two of the cells with the smallest blocks, each for a moment, on regions of two sizes."""
    assert isinstance(workload, FileBlocksWorkload)
    cells = sorted(workload.cells, key=lambda cell: max(line.size + line.align for line in cell.lines))
    least = _least_bytes(cells[0], sessions)
    large = min(workload.region_bytes, max(CALIBRATION_BYTES, least))
    own = OWN | {"drop_caches": False, "cold_command": None}
    for count, region in ((1, max(least, large // 8)), (1, large), (3, max(least, large // 8)), (3, large)):
        part = workload.model_copy(update={**own, "cells": tuple(cells[:1]) * count, "region_bytes": region})
        yield Sample(part, TrialWork(cells=count, timed_s=count * CELL_S, layout_bytes=region))


def emptying(workload: Workload, sessions: int) -> Sample:
    """The cell with the smallest blocks for a moment, after caches were emptied."""
    assert isinstance(workload, FileBlocksWorkload)
    cell = min(workload.cells, key=lambda cell: max(line.size + line.align for line in cell.lines))
    region = _least_bytes(cell, sessions)
    part = workload.model_copy(update={**OWN, "cells": (cell,), "region_bytes": region})
    return Sample(part, TrialWork(cells=1, timed_s=CELL_S, layout_bytes=region, cache_drops=1))


def _least_bytes(cell: BlockCellSpec, sessions: int) -> int:
    return 4 * max(max(line.size, line.reply) + line.align for line in cell.lines) * sessions


# Of the time of a cell machines may begin it so much later than they were to, or by `start_spread`.
LATE_SHARE = 0.01


class FileBlocksRunPart(RunPart):
    def apart(self, result: TrialResult, start_spread_s: float) -> str | None:
        cells = figures_of(BlockFigures, result).cells or ()
        late = {cell.operation: (cell.late_s or 0.0, LATE_SHARE * (cell.elapsed_s or 0.0)) for cell in cells}
        over = {
            name: (late_s, most_s) for name, (late_s, most_s) in late.items() if late_s > max(start_spread_s, most_s)
        }
        if not over:
            return None
        name, (late_s, most_s) = max(over.items(), key=lambda item: item[1][0])
        return (
            f"the agents did not begin {name} together: one of them {late_s * 1e3:.1f} ms after the others, over the "
            f"limit of {max(start_spread_s, most_s) * 1e3:.3g} ms (see what else their machines do, and the network "
            "between them)"
        )

    def foresee(self, plan: Plan, calibrate: bool, acts: bool = False) -> Foreseen:
        return foresee(plan, Trying(samples, emptying if acts else None) if calibrate else None)


PART = FileBlocksRunPart(FileBlocksCheck)
