"""The part of file-blocks for runs."""

from collections.abc import Sequence

from bakeoff.kinds.file_blocks.plan import workload
from bakeoff.kinds.file_blocks.spec import FileBlocksWorkload
from bakeoff.kinds.files.run import FolderCheck
from bakeoff.plan.model import Contender
from bakeoff.run.kind import RunPart


class FileBlocksCheck(FolderCheck):
    """See FolderCheck."""

    def workload(self, contender: Contender, addresses: Sequence[str]) -> FileBlocksWorkload:
        """See Check."""
        return workload(self.plan, contender)


PART = RunPart(FileBlocksCheck)
