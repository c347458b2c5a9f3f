"""What the engine is told of application work."""

from typing import Literal

from pydantic import Field

from bakeoff.kinds.spec import NullCalibration, Spec, Workload

# The server that does nothing holds a download for each connection: larger ones are not asked of it.
MOST_DOWNLOAD_BYTES = 1 << 20
# So many results it has to know beforehand.
NULL_SEEDS = 64


class ClassSpec(Spec):
    """A kind of request of the app server and its relative weight."""

    name: Literal["upload", "download", "processor", "read", "write"]
    weight: float


class AppWorkload(Workload):
    """Clients of `bakeoff serve app`. `addresses` are numeric, the first is used unless `unix` is set. Processor work
    has so many different `seeds`, a fresh one each time with 0; with `look_again` what was written is read again after
    the trial, and a sample of answers is worked out again.
    """

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
    seeds: int = Field(default=0, ge=0)
    look_again: bool = True

    @property
    def null_calibration(self) -> NullCalibration | None:
        """See Workload: the requests as they are, of a server that knows each result before."""
        if self.download_bytes > MOST_DOWNLOAD_BYTES:
            return None
        few = {"seeds": NULL_SEEDS, "look_again": False}
        asked = self.model_copy(update={"addresses": (), "unix": None, "source_addresses": (), **few})
        words = "kept connections, the plan's own requests, each answered at once with what was known before"
        return NullCalibration(asked=asked, server={"kind": "null", "speaks": "app"}, words=words)

    @property
    def peers(self) -> tuple[str, ...]:
        return () if self.unix else self.addresses[:1]

    @property
    def sources(self) -> tuple[str, ...]:
        return self.source_addresses


PART = AppWorkload
