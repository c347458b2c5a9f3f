"""`bakeoff-manifest.json`: what a corpus holds, by request class, with sizes and hashes."""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bakeoff.core.errors import PlanError
from bakeoff.core.system.bounded_read import MIB, read_bounded

MANIFEST_NAME = "bakeoff-manifest.json"
FORMAT = 1
MANIFEST_BYTES = 256 * MIB


class ManifestFile(BaseModel):
    """One file or computed page; `path` is relative to the root of the corpus, with its query if any."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    path: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/?=&-]*$")
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel):
    """`classes` maps a class name to its files; `dynamic` lists computed pages with their right bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: int = Field(FORMAT, le=FORMAT)
    suite: str
    seed: int
    files: int
    bytes_total: int
    classes: dict[str, tuple[ManifestFile, ...]]
    dynamic: tuple[ManifestFile, ...] = ()

    def to_bytes(self) -> bytes:
        """The file's content: JSON with one entry per line, so that it can be read and compared by eye."""
        return (self.model_dump_json(indent=1) + "\n").encode()

    @property
    def sha256(self) -> str:
        """Hash of the manifest, hence of the whole corpus."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def parse_manifest(data: bytes, origin: str) -> Manifest:
    """Raises PlanError that names `origin` when `data` is not a manifest that this version reads."""
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise PlanError(
            f"{origin} is not a corpus manifest of this version ({where}: {first['msg']}): "
            "make the corpus again with `bakeoff corpus`"
        ) from None


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a corpus folder. Raises PlanError with the command to make one when it is missing."""
    path = folder / MANIFEST_NAME
    try:
        return parse_manifest(read_bounded(path, MANIFEST_BYTES), str(path))
    except OSError as error:
        raise PlanError(
            f"no corpus in {folder} ({path.name}: {error.strerror}): make one with `bakeoff corpus web-static {folder}`"
        ) from None
