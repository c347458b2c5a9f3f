"""The part of file-matrix for runs."""

from collections.abc import Sequence

from bakeoff.kinds.file_matrix.plan import workload
from bakeoff.kinds.file_matrix.spec import FileMatrixWorkload
from bakeoff.kinds.files.run import FolderCheck
from bakeoff.plan.model import Contender
from bakeoff.run.kind import RunPart


class FileMatrixCheck(FolderCheck):
    """See FolderCheck."""

    def workload(self, contender: Contender, addresses: Sequence[str]) -> FileMatrixWorkload:
        """See Check."""
        return workload(self.plan, contender)


PART = RunPart(FileMatrixCheck)
