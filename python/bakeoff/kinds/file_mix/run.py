"""The part of file-mix for runs."""

from bakeoff.kinds.files.run import FolderCheck
from bakeoff.run.kind import RunPart

PART = RunPart(FolderCheck)
