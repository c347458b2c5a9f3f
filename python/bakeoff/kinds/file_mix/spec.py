"""What the engine is told of the office mix, or of a loadfile."""

from typing import Literal

from pydantic import Field

from bakeoff.kinds.files.spec import FolderWorkload


class FileMixWorkload(FolderWorkload):
    """Office file operations, or a dbench loadfile; bytes and seconds."""

    kind: Literal["file-mix"] = "file-mix"
    loadfile: str | None
    once: bool
    resolve: bool
    workspace_bytes: int = Field(ge=1)
    flush: bool
    verify: bool
    reuse: str | None
    keep: bool
    iteration_bytes: int | None = Field(ge=1)
    iteration_pause_s: float = Field(ge=0)
    link_bytes_per_s: float | None
    stall_s: float = Field(gt=0)


PART = FileMixWorkload
