"""The application server: the settings of the app suite and its workload."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Self

from pydantic import Field, model_validator

from bakeoff.core.units import format_duration
from bakeoff.kinds.app.spec import AppWorkload, ClassSpec
from bakeoff.plan.input.address import SocketAddress, parse_socket_address
from bakeoff.plan.kind import CLIENTS, LENGTH, RATE, PlanPart
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.classes import SuiteClass, reweighted
from bakeoff.plan.settings.fields import Share, Size, Weights, Whole
from bakeoff.plan.settings.network import SourceSettings
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.plan.suites import Suite

SECTOR_BYTES = 512
RECORD_BYTES_MAX = 1 << 20
PAYLOAD_BYTES_MAX = 64 << 20
RECORDS_MAX = 65_536
# Longest time for reading again what was written: as long as the trial, which was enough for the writing, and this.
LOOK_AGAIN_S = 15.0
_FORMS = "write host:port, [IPv6]:port or unix:/path/to/socket, as `bakeoff serve app` prints it"


class AppSettings(SourceSettings):
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

    @property
    def setup_teardown_s(self) -> float:
        return LOOK_AGAIN_S + self.length_s + self.reply_timeout_s

    @property
    def setup_teardown_text(self) -> str:
        return (
            f"reading again what was written takes {format_duration(self.setup_teardown_s)} at most after each trial; "
            "moments where the server is quick"
        )

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = dict(super().without_effect(addresses))
        if all(parse_app_address(address).unix for address in addresses):
            reasons["source_addresses"] = "a Unix socket has no addresses to connect from: leave it out"
        return reasons

    @model_validator(mode="after")
    def _app_consistent(self) -> Self:
        if self.virtual_users != 1:
            raise ValueError("virtual_users: a client of this suite has one request outstanding: raise clients instead")
        if self.record_bytes % SECTOR_BYTES:
            raise ValueError("record: give a multiple of 512 bytes, such as 4KiB")
        return self


class AppPlanPart(PlanPart):
    """The kind `app`."""

    settings = AppSettings
    address_kind = "app"
    placeholders = ("a.invalid:8090", "b.invalid:8090")
    endpoint = "transactions per second (unweighted harmonic mean over clients)"
    common_settings = MappingProxyType(
        {
            "clients": CLIENTS,
            "rate": RATE,
            "length": LENGTH,
            "weights": "Shares of the kinds of request.",
            "working_set": "Share of its data that a client uses.",
        }
    )
    leaves_behind = "records that a server read stay in its caches, and in turns others would drive them out"

    def check_address(self, address: str, settings: CommonSettings) -> None:
        parse_app_address(address)

    def classes(self, suite: Suite, settings: CommonSettings) -> Sequence[SuiteClass]:
        """See PlanPart. Weights are in percent of all transactions and sum to 100."""
        return reweighted(suite.classes, app_settings(settings).weights, "kind of request")


def workload(plan: Plan, contender: Contender, addresses: Sequence[str]) -> AppWorkload:
    """What the engine is told of a contender at its numeric `addresses`."""
    app = app_settings(plan.settings)
    return AppWorkload(
        addresses=tuple(addresses),
        unix=parse_app_address(contender.address).unix,
        source_addresses=app.source_addresses,
        classes=tuple(ClassSpec.model_validate({"name": c.name, "weight": c.weight}) for c in plan.classes),
        upload_bytes=app.upload_bytes,
        download_bytes=app.download_bytes,
        rounds=app.rounds,
        record_bytes=app.record_bytes,
        read_records=app.read_records,
        write_records=app.write_records,
        working_set=app.working_set,
    )


def app_settings(settings: CommonSettings) -> AppSettings:
    """The settings as those of app."""
    assert isinstance(settings, AppSettings)
    return settings


def parse_app_address(text: str) -> SocketAddress:
    """Where an app server listens. Raises PlanError with the accepted forms when `text` is none of them."""
    return parse_socket_address(text, "app", "an app server", _FORMS)


PART = AppPlanPart()
