"""`[audit]`: results of others that a paper holds to their arithmetic, with all that their files hold."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.part import StrictTable
from bakeoff.formats.foreign.source import MIB, Source, SourceInMemory

MOST_BYTES = MIB
"""Of all files: a report carries them."""
RUN_FILE = ".bakeoff"
Name = Annotated[str, Field(min_length=1, max_length=300)]
Short = Annotated[str | None, Field(max_length=60)]


class EmbeddedFile(StrictTable):
    """A file as it was read, so that the report can be made again: its text, or what is none as base64."""

    name: Name
    text: str = Field("", max_length=2 * MOST_BYTES)
    packed: str = Field("", max_length=2 * MOST_BYTES)

    def source(self) -> Source:
        """What importers read. Raises PlanError."""
        try:
            content = base64.b64decode(self.packed, validate=True) if self.packed else self.text.encode()
        except (binascii.Error, ValueError):
            raise PlanError(f"{self.name}: the report does not hold it whole: make the report again") from None
        return SourceInMemory(Path(self.name), content)


class Audited(StrictTable):
    """`[audit]`: the files, in the folder of the paper, and what `bakeoff audit` may be told of them."""

    files: Annotated[tuple[Name, ...], Field(min_length=1, max_length=50)] = Field(
        strict=False, description="Tables that others published, or outputs of tools."
    )
    claims: str = Field("", max_length=300, description="A CSV file of claims.")
    text: str = Field("", max_length=300, description="A text whose percentages are claims.")
    format: Short = Field(None, description="The format of all files.")
    rows: Short = Field(None, description="What rows are: clients.")
    columns: Short = Field(None, description="What columns headed by numbers are.")
    unit: Short = Field(None, description="Unit of columns without one: MB/s.")
    better: Literal["higher", "lower"] | None = Field(None, description="Which is better.")
    decimal: Literal["point", "comma"] | None = Field(None, description="The mark before decimals.")
    link_speed: Short = Field(None, description="Speed of the network: 1Gbit/s.")
    bus_speed: Short = Field(None, description="Speed of the bus: 133MB/s.")
    memory_speed: Short = Field(None, description="Speed of the memory: 20GB/s.")
    memory: Short = Field(None, description="Memory of the machine: 64GiB.")
    embedded: tuple[EmbeddedFile, ...] = Field((), max_length=52, strict=False, description="")

    def source(self, name: str) -> Source:
        """A file that is named here. Raises PlanError for one that was not read."""
        found = next((file for file in self.embedded if file.name == name), None)
        if found is None:
            raise PlanError(f"{name}: the report does not hold it: make the report again")
        return found.source()


def with_files(audited: Audited, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """`table` with what its files in `folder` hold. Raises PlanError."""
    names = dict.fromkeys(name for name in (*audited.files, audited.claims, audited.text) if name)
    embedded, left = [], MOST_BYTES
    for name in names:
        if name.endswith(RUN_FILE):
            raise PlanError(f"{name} is a run file: audit it by `bakeoff audit`, or put it into the report")
        source = Source(folder / name)
        try:
            content = source.data()
            plain = source.text() if source.is_text else ""
        except PlanError as error:
            raise PlanError(f"{name}: {error}") from None
        left -= len(content)
        if left < 0:
            raise PlanError(f"files hold more than {MOST_BYTES // MIB} MiB: audit large ones by `bakeoff audit`")
        packed = "" if source.is_text else base64.b64encode(content).decode()
        embedded.append({"name": name, "text": plain, "packed": packed})
    return {**table, "embedded": embedded}
