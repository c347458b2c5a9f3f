"""The part of file-mix for runs."""

from collections.abc import Sequence

from bakeoff.kinds.file_mix.plan import workload
from bakeoff.kinds.file_mix.spec import FileMixWorkload
from bakeoff.kinds.files.run import FolderCheck
from bakeoff.plan.model import Contender
from bakeoff.run.kind import RunPart


class FileMixCheck(FolderCheck):
    """See FolderCheck."""

    def workload(self, contender: Contender, addresses: Sequence[str]) -> FileMixWorkload:
        """See Check."""
        return workload(self.plan, contender)


PART = RunPart(FileMixCheck)
