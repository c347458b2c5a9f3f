"""The part of file-mix for runs."""

from collections.abc import Sequence

from bakeoff.kinds.file_mix.plan import workload
from bakeoff.kinds.file_mix.spec import FileMixWorkload
from bakeoff.kinds.files.foresee import foresee
from bakeoff.kinds.files.run import FolderCheck
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Foreseen, RunPart


class FileMixCheck(FolderCheck):
    def workload(self, contender: Contender, addresses: Sequence[str]) -> FileMixWorkload:
        return workload(self.plan, contender)


class FileMixRunPart(RunPart):
    def foresee(self, plan: Plan, calibrate: bool, acts: bool = False) -> Foreseen:
        """See RunPart: time bounds its trials."""
        return foresee(plan, None)


PART = FileMixRunPart(FileMixCheck)
