"""What the engine is told of application work."""

from typing import Literal

from pydantic import Field

from bakeoff.kinds.spec import OfNothing, Spec, Workload

# The server that does nothing holds a download for each connection: larger ones are not asked of it.
MOST_DOWNLOAD_BYTES = 1 << 20


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
    def of_nothing(self) -> OfNothing | None:
        """See Workload: the requests as they are, of a server that knows each result before."""
        if self.download_bytes > MOST_DOWNLOAD_BYTES:
            return None
        asked = self.model_copy(update={"addresses": (), "unix": None, "source_addresses": ()})
        words = "kept connections, the plan's own requests, each answered at once with what was known before"
        return OfNothing(asked=asked, server={"kind": "null", "speaks": "app"}, words=words)

    @property
    def peers(self) -> tuple[str, ...]:
        """See Workload."""
        return () if self.unix else self.addresses[:1]

    @property
    def sources(self) -> tuple[str, ...]:
        """See Workload."""
        return self.source_addresses


PART = AppWorkload
