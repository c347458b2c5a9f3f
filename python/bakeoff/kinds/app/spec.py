"""What the engine is told of application work."""

from typing import Literal

from pydantic import Field

from bakeoff.kinds.spec import Spec, Workload


class ClassSpec(Spec):
    """A kind of request of the app server and its relative weight."""

    name: Literal["upload", "download", "processor", "read", "write"]
    weight: float


class AppWorkload(Workload):
    """Clients of `bakeoff serve app`. `addresses` are numeric, the first is used unless `unix` is set."""

    kind: Literal["app"] = "app"
    addresses: tuple[str, ...]
    unix: str | None
    source_addresses: tuple[str, ...]
    classes: tuple[ClassSpec, ...] = Field(min_length=1)
    upload_bytes: int
    download_bytes: int
    rounds: int
    record_bytes: int
    read_records: int
    write_records: int
    working_set: float

    @property
    def peers(self) -> tuple[str, ...]:
        """See Workload."""
        return () if self.unix else self.addresses[:1]

    @property
    def sources(self) -> tuple[str, ...]:
        """See Workload."""
        return self.source_addresses


PART = AppWorkload
