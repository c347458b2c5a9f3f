"""What all kinds of file work share: contenders are folders, and the settings of any work on files."""

import os
import pwd
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.system.mounts import SERVERS, Carrier, is_server, link_bytes_per_s, mount_of
from bakeoff.core.timeouts import answers
from bakeoff.core.units import parse_link_speed, parse_size
from bakeoff.kinds.files.servers import check_server_address, with_identity
from bakeoff.plan.kind import PlanPart
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.fields import (
    Duration,
    Metavar,
    OptionalSize,
    SettingText,
    Strict,
    full_path,
    is_resolved,
    sizes_text,
)
from bakeoff.plan.settings.shared import CommonSettings

PATIENCE_S = 10.0
NO_PAGE_CACHE = "a session with a server has no page cache to bypass: leave direct out"


def _sizes(value: Any, info: ValidationInfo) -> Any:
    if value is None or value == "auto" or is_resolved(info):
        return None if value == "auto" else value
    words = value.split(",") if isinstance(value, str) else value
    if isinstance(words, int) and not isinstance(words, bool):
        words = [words]
    if not isinstance(words, (list, tuple)):
        return value
    return tuple(parse_size(str(word)) for word in words)


def _link(value: Any, info: ValidationInfo) -> Any:
    if value is None or value == "auto" or is_resolved(info):
        return None if value == "auto" else value
    return parse_link_speed(str(value))


OptionalSizes = Annotated[tuple[int, ...] | None, BeforeValidator(_sizes), Metavar("SIZE,..."), SettingText(sizes_text)]
OptionalLink = Annotated[float | None, BeforeValidator(_link), Metavar("SPEED")]


class FileSettings(CommonSettings):
    """Settings of every file suite."""

    reply_timeout_s: Duration = Field(
        60.0,
        alias="reply_timeout",
        gt=0,
        description="Give up a reply (a file call, in file suites) that makes no progress for this time.",
    )
    verify: bool = Field(
        True,
        description="Stamp all data and check what is read back, outside the measured time.",
        json_schema_extra={"flag": "verify-data", "off": "no-verify", "own": True},
    )
    keep: bool = Field(
        False, description="Leave the folder of each trial (.bakeoff-…) behind.", json_schema_extra={"own": True}
    )
    server_memory: OptionalSize = Field(
        None,
        ge=1,
        description="Memory of the server: 8GiB, the largest of several. The report says which working sets fit into "
        "it, and a size such as 2x is times it.",
        json_schema_extra={"own": True},
    )
    link_bytes_per_s: OptionalLink = Field(
        None,
        alias="link_speed",
        gt=0,
        description="Speed of the network: 1Gbit/s; what is faster is marked as cached. auto asks the system.",
        json_schema_extra={"own": True},
    )

    @property
    def servers_memory_bytes(self) -> int | None:
        return self.server_memory

    @model_validator(mode="after")
    def _one_thread_per_session(self) -> Self:
        if max(self.clients) * self.virtual_users > 4096:
            raise ValueError("clients: each virtual user is a thread of this machine: 4,096 at most")
        return self


class FileFacts(Strict):
    """What the workload of a trial says of the contender's folder, or of its server."""

    folder: str
    carrier: Carrier
    link_bytes_per_s: float | None


def homes() -> set[str]:
    """Home folders of people: root, ordinary users, and whoever runs this."""
    folders = {entry.pw_dir for entry in pwd.getpwall() if entry.pw_uid == 0 or entry.pw_uid >= 1000}
    return {os.path.realpath(home) for home in [*folders, str(Path.home()), "/home"] if home != "/nonexistent"}


def check_folder_address(address: str) -> None:
    """Raise PlanError unless `address` is the full path of a folder that may be worked in, and that answers."""
    if "://" in address:
        raise PlanError(f"address {address!r}: a file server's address begins with {' or '.join(SERVERS)}")
    if not address.startswith("/"):
        raise PlanError(f"address {address!r}: write the full path of a folder, such as /mnt/share")
    if "\0" in address:
        raise PlanError("an address holds a zero byte: write the full path of a folder")
    if not answers(address, PATIENCE_S):
        raise PlanError(f"{address} does not answer for {PATIENCE_S:g} s: is the server of the network folder up?")
    real = os.path.realpath(address)
    if real == "/":
        raise PlanError(f"address {address!r} is the root of this machine: make a subfolder and name that")
    if real in homes():
        raise PlanError(f"address {address!r} is a home folder: make a subfolder and name that")


def file_facts(contender: Contender, settings: FileSettings) -> FileFacts:
    """The folder and how its bytes can be counted."""
    mount = mount_of(contender.address)
    link = settings.link_bytes_per_s
    return FileFacts(
        folder=with_identity(contender.address),
        carrier=mount.carrier,
        link_bytes_per_s=link if link is not None else link_bytes_per_s(mount),
    )


class FolderPlanPart(PlanPart):
    """Base of the kinds whose contenders are folders, or servers that are met by their protocol."""

    address_kind = "files"
    placeholders = ("/mnt/a.invalid", "/mnt/b.invalid")
    acts_by = "write, read and remove files in"
    leaves_behind = "what a trial leaves in caches is its contender's, and in turns others would drive it out"

    def check_address(self, address: str, settings: CommonSettings) -> None:
        if not is_server(address):
            check_folder_address(address)
            return
        check_server_address(address)
        if why := self.needs_folder(settings):
            raise PlanError(f"address {address!r}: {why}")

    def needs_folder(self, settings: CommonSettings) -> str | None:
        """What of the settings can be done in a folder of this machine alone, and what to do about it."""
        return None

    def located(self, address: str, base: Path) -> str:
        """See PlanPart. What is no path at all is left to be refused."""
        return address if "://" in address or "\0" in address else full_path(address, base)

    def space_bytes(self, settings: CommonSettings) -> int:
        """Free space that the highest load step needs."""
        raise NotImplementedError

    def retained_folder(self, plan: Plan) -> str | None:
        """What the folder is called that a run's trials share in a contender's folder, if any.

        Its name (`.bakeoff-…`) says besides which process's it is; it is removed at the end of the run.
        """
        return None
