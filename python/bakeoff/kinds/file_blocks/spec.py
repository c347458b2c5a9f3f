"""What the engine is told of block work."""

from typing import Literal, Self

from pydantic import Field

from bakeoff.core.system.mounts import Carrier
from bakeoff.kinds.files.spec import Cache, FolderWorkload
from bakeoff.kinds.spec import Spec
from bakeoff.load.load_step import InFlight, LoadStep


class AccessLineSpec(Spec):
    """One line of an access specification: bytes, percent, ms."""

    size: int = Field(ge=1)
    share: float
    read: float
    random: float
    delay_ms: float
    burst: int = Field(ge=1)
    align: int
    reply: int


class BlockCellSpec(Spec):
    """What is timed on its own; `block_bytes` is None where sizes differ."""

    pattern: str
    block_bytes: int | None
    lines: tuple[AccessLineSpec, ...] = Field(min_length=1)


class FileBlocksWorkload(FolderWorkload):
    """Block sizes and access specifications on one large file; bytes and seconds."""

    kind: Literal["file-blocks"] = "file-blocks"
    region_bytes: int = Field(ge=1)
    outstanding: int = Field(ge=1, le=256)
    cells: tuple[BlockCellSpec, ...] = Field(min_length=1)
    cell_s: float = Field(gt=0)
    min_transfers: int = Field(ge=0)
    cell_limit_s: float = Field(ge=0)
    ramp_up_s: float = Field(ge=0)
    direct: bool
    dsync: bool
    verify: bool
    cache: Cache
    drop_caches: bool
    cold_command: str | None
    reuse: str | None
    keep: bool
    carrier: Carrier
    link_bytes_per_s: float | None
    stall_s: float = Field(gt=0)

    def under(self, load_step: LoadStep) -> Self:
        return (
            self.model_copy(update={"outstanding": load_step.outstanding}) if isinstance(load_step, InFlight) else self
        )


PART = FileBlocksWorkload
