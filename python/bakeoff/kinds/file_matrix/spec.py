"""What the engine is told of the file matrix."""

from typing import Literal

from pydantic import Field

from bakeoff.core.system.mounts import Carrier
from bakeoff.kinds.files.spec import Cache, FolderWorkload


class FileMatrixWorkload(FolderWorkload):
    """File sizes × record sizes × tests; sizes in bytes."""

    kind: Literal["file-matrix"] = "file-matrix"
    pairs: tuple[tuple[int, int], ...] = Field(min_length=1)
    tests: tuple[str, ...] = Field(min_length=1)
    keep: bool
    fsync: bool
    close: bool
    direct: bool
    dsync: bool
    sync: bool
    mmap: bool
    verify: bool
    cache: Cache
    drop_caches: bool
    cold_command: str | None
    stonewall: bool
    mixed_read_percent: int | None
    stride: int
    carrier: Carrier
    link_bytes_per_s: float | None
    stall_s: float = Field(gt=0)


PART = FileMatrixWorkload
