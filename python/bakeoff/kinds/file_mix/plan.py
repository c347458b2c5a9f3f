"""File operations of office applications, or a recorded loadfile."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Self

from pydantic import Field, model_validator

from bakeoff.core.errors import PlanError
from bakeoff.core.system.bounded_read import why_no_file
from bakeoff.kinds.file_mix.spec import FileMixWorkload
from bakeoff.kinds.files.plan import FileSettings, FolderPlanPart, file_facts
from bakeoff.plan.kind import CLIENTS, LENGTH
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.settings.fields import Duration, OptionalPath, OptionalSize
from bakeoff.plan.settings.relative_size import RelativeSize
from bakeoff.plan.settings.shared import CommonSettings, RampSettings

APPLICATIONS = 9
DATA_PER_WORKSPACE = 1.3  # data set, and what a cycle makes and removes again, over the workspace


class FileMixSettings(FileSettings, RampSettings):
    """Settings of file-mix."""

    workspace: RelativeSize = Field(
        20 * 1000**2,
        ge=1000**2,
        description="Workspace of each client: 20MB, or 0.1x of server_memory; with 20MB its data set is 24 MB.",
    )
    loadfile: OptionalPath = Field(
        None,
        description="Replay this dbench loadfile (or .gz) instead of the measured mix.",
        json_schema_extra={"path": "file"},
    )
    once: bool = Field(False, description="With loadfile: go through it once, not until the time is over.")
    resolve: bool = Field(
        True,
        description="With loadfile: look names up first, as dbench and file servers for Windows do.",
        json_schema_extra={"off": "no-resolve"},
    )
    flush: bool = Field(
        True,
        description="Make data stable (fsync) where the recorded clients asked for it.",
        json_schema_extra={"off": "no-flush"},
    )

    def without_effect(self, addresses: Sequence[str]) -> Mapping[str, str]:
        reasons = dict(super().without_effect(addresses))
        if self.loadfile is None:
            reasons["resolve"] = "belongs to loadfile: name one, too"
            if self.iteration_bytes is None:
                reasons["iteration_pause"] = "belongs to iteration_bytes: give that, too"
        else:
            reasons["workspace"] = "a loadfile brings its own files: leave it out"
            reasons |= dict.fromkeys(
                ("iteration_bytes", "iteration_pause"), "a loadfile keeps its own pace: leave it out"
            )
            reasons["verify"] = "the data of a loadfile are not checked: leave it out"
        return reasons

    @property
    def ends_with_its_work(self) -> bool:
        return self.once or super().ends_with_its_work

    iteration_bytes: OptionalSize = Field(
        None,
        ge=1,
        description="Rest after this many bytes: 2MB. Response times then count per iteration; auto: no rests.",
    )
    iteration_pause_s: Duration = Field(
        0.0,
        alias="iteration_pause",
        ge=0,
        le=86_400,
        description="How long a client rests after each iteration: 2.36s.",
    )

    @model_validator(mode="after")
    def _load_step_consistent(self) -> Self:
        if self.once and self.loadfile is None:
            raise ValueError("once belongs to loadfile: name one, too")
        if self.loadfile is None and self.virtual_users > APPLICATIONS:
            raise ValueError(f"virtual_users: the applications of a client share {APPLICATIONS} virtual users at most")
        if self.iteration_bytes and not self.ends_with_its_work and self.window_s <= self.iteration_pause_s:
            raise ValueError(
                f"length: the window of {self.window_s:g} s is no longer than the rest after an iteration "
                f"({self.iteration_pause_s:g} s), so clients could rest all through: give a longer length"
            )
        return self


class FileMixPlanPart(FolderPlanPart):
    """The kind `file-mix`."""

    settings = FileMixSettings
    client_options = ("flush",)
    endpoint = "Mbit/s"
    common_settings = MappingProxyType(
        {
            "clients": CLIENTS,
            "length": LENGTH,
            "workspace": "Size of each client's files.",
            "loadfile": "Replay this dbench loadfile instead.",
        }
    )

    def space_bytes(self, settings: CommonSettings) -> int:
        s = file_mix_settings(settings)
        sessions = max(s.clients_by_step) * (s.virtual_users if s.loadfile else 1)
        return int(sessions * s.workspace * DATA_PER_WORKSPACE)

    def why_indivisible(self, settings: CommonSettings) -> str | None:
        if file_mix_settings(settings).loadfile is None:
            return None
        return (
            "the clients of a loadfile wait for each other at lines of it, in the middle of what is timed, and a word "
            "to another machine takes longer than most of what lies between: leave agents out, or leave loadfile out"
        )

    def retained_folder(self, plan: Plan) -> str | None:
        """See FolderPlanPart: workspaces are kept over the trials of a run; a loadfile makes its own."""
        return None if file_mix_settings(plan.settings).loadfile else f"mix-{plan.hash[:12]}"


def workload(plan: Plan, contender: Contender) -> FileMixWorkload:
    """What the engine is told of a contender. Raises PlanError when the loadfile is missing."""
    s = file_mix_settings(plan.settings_of(contender.name))
    if s.loadfile is not None and (fault := why_no_file(Path(s.loadfile))):
        raise PlanError(f"loadfile {s.loadfile} {fault}: Debian's dbench has /usr/share/dbench/client.txt")
    facts = file_facts(contender, s)
    return FileMixWorkload(
        folder=facts.folder,
        loadfile=s.loadfile,
        once=s.once,
        resolve=s.resolve,
        workspace_bytes=s.workspace,
        flush=s.flush,
        verify=s.verify and s.loadfile is None,
        reuse=PART.retained_folder(plan),
        keep=s.keep,
        iteration_bytes=s.iteration_bytes,
        iteration_pause_s=s.iteration_pause_s,
        link_bytes_per_s=facts.link_bytes_per_s,
        stall_s=s.reply_timeout_s,
    )


def file_mix_settings(settings: CommonSettings) -> FileMixSettings:
    """The settings as those of file-mix."""
    assert isinstance(settings, FileMixSettings)
    return settings


PART = FileMixPlanPart()
