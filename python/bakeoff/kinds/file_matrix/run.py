"""The part of file-matrix for runs."""

from bakeoff.kinds.files.run import FolderCheck
from bakeoff.run.kind import RunPart

PART = RunPart(FolderCheck)
