"""The application server: the settings of the app suite and its workload."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from bakeoff.corpus.manifest import Manifest
from bakeoff.errors import PlanError
from bakeoff.plan.address import WebAddress
from bakeoff.plan.fields import Share, Size, Weights, Whole, Words
from bakeoff.plan.messages import did_you_mean
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings import CommonSettings, NetworkSettings
from bakeoff.plan.suites import Suite, SuiteClass

SECTOR_BYTES = 512
RECORD_BYTES_MAX = 1 << 20
PAYLOAD_BYTES_MAX = 64 << 20
RECORDS_MAX = 65_536
_FORMS = "write host:port, [IPv6]:port or unix:/path/to/socket, as `bakeoff serve app` prints it"


class AppSettings(NetworkSettings):
    """Settings of the app suite."""

    weights: Weights = Field(
        {}, description="Shares of the kinds of request that replace those of the suite: read=3,processor=0."
    )
    upload_bytes: Size = Field(
        16384, alias="upload", ge=0, le=PAYLOAD_BYTES_MAX, description="Data of a client-to-server request: 16KiB."
    )
    download_bytes: Size = Field(
        16384, alias="download", ge=0, le=PAYLOAD_BYTES_MAX, description="Data of a server-to-client request: 16KiB."
    )
    rounds: Whole = Field(
        20_000, ge=1, le=100_000_000, description="Processor work of a request: dependent rounds of a 64-bit mix."
    )
    record_bytes: Size = Field(
        4096,
        alias="record",
        ge=SECTOR_BYTES,
        le=RECORD_BYTES_MAX,
        description="Record of a random read or write: 4KiB.",
    )
    read_records: Whole = Field(1, ge=1, le=RECORDS_MAX, description="Records of one random read.")
    write_records: Whole = Field(1, ge=1, le=RECORDS_MAX, description="Records of one random write.")
    working_set: Share = Field(1.0, gt=0, le=1, description="Share of its data segment that a client uses: 100%.")
    source_addresses: Words = Field((), description="Local addresses to connect from, in turn: 127.0.0.2,127.0.0.3.")

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        """See CommonSettings."""
        found = dict(super().without_effect(addresses))
        if all(parse_app_address(address).unix for address in addresses):
            found["source_addresses"] = "a Unix socket has no addresses to connect from: leave it out"
        return found

    @model_validator(mode="after")
    def _app_consistent(self) -> Self:
        if self.threads != 1:
            raise ValueError("threads: a client of this suite has one request outstanding: raise mixes instead")
        if self.record_bytes % SECTOR_BYTES:
            raise ValueError("record: give a multiple of 512 bytes, such as 4KiB")
        return self


class AppPlanPart:
    """The kind `app`."""

    name = "app"
    settings: type[CommonSettings] = AppSettings

    def check_address(self, address: str, settings: CommonSettings) -> None:
        """See PlanPart."""
        parse_app_address(address)

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[SuiteClass]:
        """See PlanPart. Weights are in percent of all transactions and sum to 100."""
        weights = {c.name: c.weight for c in suite.classes}
        for name, weight in _app(settings).weights.items():
            if name not in weights:
                raise PlanError(f"weights: there is no kind of request {name!r}: {did_you_mean(name, weights)}")
            weights[name] = weight
        total = sum(weights.values())
        if min(weights.values()) < 0 or total <= 0:
            raise PlanError("weights: give shares of 0 or more, not all of them 0")
        return [
            c.model_copy(update={"weight": 100 * weights[c.name] / total}) for c in suite.classes if weights[c.name] > 0
        ]

    def workload(
        self, plan: Plan, contender: Contender, addresses: Sequence[str], manifest: Manifest | None
    ) -> dict[str, Any]:
        """See PlanPart."""
        app = _app(plan.settings)
        return {
            "kind": "app",
            "addresses": list(addresses),
            "unix": parse_app_address(contender.address).unix,
            "source_addresses": list(app.source_addresses),
            "classes": [{"name": c.name, "weight": c.weight} for c in plan.classes],
            "upload_bytes": app.upload_bytes,
            "download_bytes": app.download_bytes,
            "rounds": app.rounds,
            "record_bytes": app.record_bytes,
            "read_records": app.read_records,
            "write_records": app.write_records,
            "working_set": app.working_set,
        }


def _app(settings: CommonSettings) -> AppSettings:
    assert isinstance(settings, AppSettings)
    return settings


def parse_app_address(text: str) -> WebAddress:
    """Where an app server listens. Raises PlanError with the accepted forms when `text` is none of them."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        if not path.startswith("/"):
            raise PlanError(f"address {text!r} needs the full path of a socket: unix:/path/to/socket")
        return WebAddress(text, "app", "localhost", 0, path, "")
    host, colon, port = text.removeprefix("app://").rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    numeric = len(port) < 6 and port.isascii() and port.isdigit() and 0 < int(port) < 65536
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not bare or not numeric or any(c in bare for c in "/@? ") or (":" in bare and not bracketed):
        raise PlanError(f"address {text!r} is not that of an app server: {_FORMS}")
    return WebAddress(text, "app", bare, int(port), None, "")


PART = AppPlanPart()
