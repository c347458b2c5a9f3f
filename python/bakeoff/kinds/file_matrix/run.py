"""The part of file-matrix for runs."""

from collections.abc import Iterator, Sequence

from bakeoff.kinds.file_matrix.plan import emptied_before, workload
from bakeoff.kinds.file_matrix.spec import FileMatrixWorkload
from bakeoff.kinds.files.foresee import CALIBRATION_BYTES, Sample, Trying, foresee
from bakeoff.kinds.files.run import FolderCheck
from bakeoff.kinds.spec import Workload
from bakeoff.plan.design.work import TrialWork
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Foreseen, RunPart


class FileMatrixCheck(FolderCheck):
    def workload(self, contender: Contender, addresses: Sequence[str]) -> FileMatrixWorkload:
        return workload(self.plan, contender)


def samples(workload: Workload, sessions: int) -> Iterator[Sample]:
    """Parts of a matrix in which its cells, its transfers and its bytes weigh differently; no more bytes than a
    calibration may write.
    """
    assert isinstance(workload, FileMatrixWorkload)
    largest = max(1, CALIBRATION_BYTES // sessions)
    pairs = [pair for pair in workload.pairs if pair[0] <= largest] or [min(workload.pairs)]
    file, smallest = max(pairs)[0], min(pairs)[0]
    records = [record for size, record in pairs if size == file]
    own = {"keep": False, "drop_caches": False, "cold_command": None}
    few = [pair for pair in pairs if pair[0] == smallest]
    middle = sorted(pairs)[: max(1, len(pairs) // 2)]
    for chosen in (few[:1], few * 2, [(file, max(records))], [(file, min(records))], middle):
        part = workload.model_copy(update={**own, "pairs": tuple(chosen)})
        times = len(workload.tests) * sessions
        yield Sample(
            part,
            TrialWork(
                cells=len(chosen) * len(workload.tests),
                bytes=sum(size for size, _ in chosen) * times,
                calls=sum(size // record for size, record in chosen) * times,
            ),
        )


def emptying(workload: Workload, sessions: int) -> Sample:
    """The least cell before which caches are emptied, with that."""
    assert isinstance(workload, FileMatrixWorkload)
    file, record = min(workload.pairs)
    tests = tuple(emptied_before(workload.tests)[:1])
    part = workload.model_copy(update={"keep": False, "pairs": ((file, record),), "tests": tests})
    moved = len(tests) * sessions
    return Sample(
        part, TrialWork(cells=len(tests), bytes=file * moved, calls=file // record * moved, cache_drops=len(tests))
    )


class FileMatrixRunPart(RunPart):
    def foresee(self, plan: Plan, calibrate: bool, acts: bool = False) -> Foreseen:
        return foresee(plan, Trying(samples, emptying if acts else None) if calibrate else None)


PART = FileMatrixRunPart(FileMatrixCheck)
