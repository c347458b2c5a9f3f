"""Can the contenders' folders be worked in, and what are they? Asked before timing."""

import contextlib
import errno
import os
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bakeoff.agents.engine import load_engine
from bakeoff.core.errors import ContenderError
from bakeoff.core.system.bounded_read import why_no_folder
from bakeoff.core.system.mounts import Mount, is_server, mount_at, mount_of
from bakeoff.core.timeouts import HangsError, answers
from bakeoff.core.timeouts import in_time as within
from bakeoff.kinds.files.plan import FolderPlanPart
from bakeoff.kinds.files.servers import Agreed, agreed_with, described, remove_folder
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Check, Note

PATIENCE_S = 30.0
REMOVALS, REMOVAL_PAUSE_S = 30, 0.1
# What is said of folders of other runs, by whose they are.
OTHERS = {
    "over": "left behind by an earlier run, remove it",
    "in_use": "another run works in this folder at the same time, so both measure each other",
    "elsewhere": "made by a run on another machine, or before this one was restarted; remove it if that run is over",
}
T = TypeVar("T")


class FolderCheck(Check):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        kind = plan_part(plan.kind)
        assert isinstance(kind, FolderPlanPart)
        self._needed = kind.space_bytes(plan.settings)
        self._what = kind.retained_folder(plan)
        name = None if self._what is None else load_engine().work_folder_name(self._what)
        self._kept: str | None = name
        keep = getattr(plan.settings, "keep", False)
        self._remove = [] if keep else list(plan.contenders)
        self._patience_s = min(PATIENCE_S, plan.settings.reply_timeout_s)
        self._places: dict[str, str] = {}
        self._mounts: dict[str, Mount] = {}
        self._agreed: dict[str, Agreed] = {}  # with servers that are met without a mount
        self._ids: dict[str, str | None] = {}  # of a disk's file system; others say none that lasts
        self._devices: dict[str, tuple[int, int]] = {}
        self._free: dict[str, int | None] = {}  # None: some FUSE file systems say that they have no space at all
        self._missing: dict[str, int] = {}  # bytes that a contender's folder has still to take
        self._others: dict[str, list[tuple[str, str]]] = {}  # whose it is, and its name

    def answers(self, contender: Contender) -> None:
        if is_server(contender.address):
            self._agreed[contender.name] = agreed_with(contender, self._patience_s)
            return
        in_time(lambda: _try_out(contender), contender, self._patience_s)

    def examine(self, contender: Contender) -> None:
        plan_part(self.plan.kind).check_address(contender.address, self.plan.settings)
        self.answers(contender)
        if contender.name in self._agreed:
            self._examine_server(contender, self._agreed[contender.name])
        else:
            self._examine_folder(contender)

    def _examine_server(self, contender: Contender, agreed: Agreed) -> None:
        name, mount = contender.name, mount_of(contender.address)
        self._mounts[name] = replace(mount, type=agreed.protocol, options=agreed.options)
        self._ids[name], self._free[name], self._others[name] = None, agreed.free_bytes, []
        self._missing[name] = self._needed
        if agreed.free_bytes is not None and agreed.free_bytes < self._needed:
            raise ContenderError(
                f"{name}: {contender.address} has {agreed.free_bytes / 1e6:.0f} MB free, the highest load step needs "
                f"{self._needed / 1e6:.0f} MB: free some space, or use smaller files or fewer clients"
            )

    def _examine_folder(self, contender: Contender) -> None:
        name, folder = contender.name, Path(contender.address)
        place, state, space, fsid, (there, names) = in_time(
            lambda: (
                os.path.realpath(folder),
                folder.stat(),
                shutil.disk_usage(folder),
                os.statvfs(folder).f_fsid,
                self._look(folder),
            ),
            contender,
            self._patience_s,
        )
        self._missing[name] = max(0, self._needed - there)
        self._places[name], mount = place, mount_at(place)
        self._ids[name] = f"{fsid:x}" if mount.carrier == "disk" else None
        self._devices[name] = (state.st_dev, state.st_ino)
        self._free[name], self._mounts[name] = space.free if space.total else None, mount
        self._others[name] = [
            (owner, other) for other in sorted(names) if (owner := load_engine().work_folder_owner(other))
        ]
        if space.total and space.free < self._missing[name]:
            raise ContenderError(
                f"{name}: {folder} has {space.free / 1e6:.0f} MB free, the highest load step needs "
                f"{self._missing[name] / 1e6:.0f} MB: free some space, or use smaller files or fewer clients"
                + "".join(f"; {note}" for note in self._notes_of_others(name, "over"))
            )

    def compare(self) -> Sequence[Note]:
        notes = [self._describe(name) for name in self._mounts]
        for name in self._others:
            notes += [Note("warning", f"{name}: {text}") for text in self._notes_of_others(name, *OTHERS)]
        names = list(self._devices)
        self._fit_together()
        for position, one in enumerate(names):
            for other in names[position + 1 :]:
                if self._devices[one] == self._devices[other]:
                    notes.append(Note("warning", f"{one} and {other} are the same folder"))
                elif self._devices[one][0] == self._devices[other][0]:
                    notes.append(Note("info", f"{one} and {other} lie on the same file system"))
        return notes

    def _look(self, folder: Path) -> tuple[int, list[str]]:
        """Bytes that what is kept takes already, which are not needed again, and the names of what is there.

        What a run of the same plan left behind is taken over, by its name: of two that try only one succeeds.
        """
        if self._kept is None:
            return 0, _names(folder)
        folder_name = folder / self._kept
        for name in _names(folder):
            left = name.startswith(f".bakeoff-{self._what}-") and load_engine().work_folder_owner(name) == "over"
            if left and not folder_name.exists() and not (folder / name).is_symlink():
                with contextlib.suppress(OSError):
                    (folder / name).rename(folder_name)
        there = 0 if folder_name.is_symlink() else sum(512 * path.lstat().st_blocks for path in folder_name.rglob("*"))
        return there, _names(folder)

    def _notes_of_others(self, name: str, *owners: str) -> list[str]:
        """A sentence for each kind of folders of other runs in a contender's folder."""
        notes = []
        for owner in owners:
            there = [other for whose, other in self._others[name] if whose == owner]
            if there:
                notes.append(f"{OTHERS[owner]}: {', '.join(there[:3])}{' …' if len(there) > 3 else ''}")
        return notes

    def _fit_together(self) -> None:
        """What stays for the whole run must fit for all contenders of a file system. Raises ContenderError."""
        if self._kept is None:
            return
        for device in {device for device, _ in self._devices.values()}:
            # By folder: two contenders may be the same one.
            folders = {place: name for name, place in self._devices.items() if place[0] == device}
            missing = sum(self._missing[name] for name in folders.values())
            free = min((free for name in folders.values() if (free := self._free[name]) is not None), default=None)
            if free is not None and free < missing:
                raise ContenderError(
                    f"{', '.join(folders.values())} lie on one file system with {free / 1e6:.0f} MB free; together "
                    f"they need {missing / 1e6:.0f} MB: free some space, or use a smaller region"
                )

    def _describe(self, name: str) -> Note:
        if name in self._agreed:
            return Note("info", described(name, self._agreed[name]))
        mount = self._mounts[name]
        return Note("info", f"{name}: {mount.type} from {mount.source or '?'}, mounted at {mount.point}")

    def addresses(self, contender: Contender) -> Sequence[str]:
        return (contender.address,)

    def facts(self) -> dict[str, Any]:
        contenders = {
            name: {
                "addresses": [mount.point],
                "server": mount.server,
                "file_system": mount.type,
                "file_system_id": self._ids[name],
                "source": mount.source,
                "mount_options": mount.options,
                "carrier": mount.carrier,
                "free_bytes": self._free[name],
            }
            for name, mount in self._mounts.items()
        }
        return {"corpus": None, "contenders": contenders}

    def unchanged(self, contender: Contender) -> None:
        """See Check: a share that fell off leaves a folder of the local disk in its place, which is another contender.

        Only the kernel's table is read: a share that hangs is found by the trial.
        """
        if contender.name in self._agreed:
            return
        was, now = self._mounts[contender.name], mount_at(self._places[contender.name])
        expired = now.type == "autofs"  # its first use mounts it again
        if not expired and (now.point, now.type, now.source) != (was.point, was.type, was.source):
            there = os.path.lexists(contender.address)
            instead = f"is now on {now.type} from {now.source or '?'}" if there else "is not there without it"
            raise ContenderError(
                f"{contender.name}: {was.source or was.type} is not mounted at {was.point} any more: "
                f"{contender.address} {instead}; mount it again"
            )
        if not expired:
            self._mounts[contender.name] = now

    def close(self) -> Sequence[Note]:
        """See Check: what could not be removed is told."""
        notes: list[Note] = []
        kept = self._kept
        for contender in () if kept is None else self._remove:
            folder = f"{contender.address}/{kept}"
            try:
                if is_server(contender.address):
                    if contender.name in self._agreed:
                        remove_folder(contender, str(kept), self._patience_s)
                    continue
                if contender.name in self._mounts:
                    self.unchanged(contender)
                in_time(partial(_remove, Path(folder)), contender, self._patience_s)
            except (ContenderError, OSError) as error:
                notes.append(Note("warning", f"{contender.name}: {folder} could not be removed ({error}): remove it"))
        return notes


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _remove(folder: Path) -> None:
    """Remove a folder of ours; raises OSError.

    Clients of network file systems keep a file that was removed for as long as the kernel holds it, which it does
    some time after a ring was closed: its folder is not empty until then.
    """
    for attempt in range(REMOVALS):
        if folder.is_symlink() or not folder.exists():
            return
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EBUSY) or attempt == REMOVALS - 1:
                raise
        time.sleep(REMOVAL_PAUSE_S)


def in_time(work: Callable[[], T], contender: Contender, patience_s: float = PATIENCE_S) -> T:
    """What `work` returns. Raises ContenderError when it hangs, as a share does whose server is gone."""
    try:
        if answers(contender.address, patience_s):
            return within(work, patience_s)
    except HangsError:
        pass  # told below
    raise ContenderError(
        f"{contender.name}: {contender.address} does not answer for {patience_s:g} s: is the server of the network "
        "folder up?"
    )


def _try_out(contender: Contender) -> None:
    """Make a folder, write a file, read it, remove both."""
    folder = Path(contender.address)
    trial = folder / load_engine().work_folder_name(f"check-{secrets.token_hex(4)}")
    where = f"{contender.name}: {folder}"
    if fault := why_no_folder(folder):
        raise ContenderError(f"{where} {fault}: make it, or mount the share")
    try:
        trial.mkdir(0o700)
        try:
            sample = secrets.token_bytes(4096)
            (trial / "sample").write_bytes(sample)
            if (trial / "sample").read_bytes() != sample:
                raise ContenderError(f"{where} gives back other bytes than were written: it cannot be trusted")
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(trial)
    except OSError as error:
        raise ContenderError(f"{where} cannot be written to ({error.strerror}): {_advice(error)}") from None


def _advice(error: OSError) -> str:
    advice = {
        errno.EROFS: "mount it for writing",
        errno.EACCES: "give yourself the right to write there",
        errno.EPERM: "give yourself the right to write there",
        errno.ENOSPC: "free some space",
        errno.EDQUOT: "your quota is used up",
        errno.ESTALE: "mount the share again",
        errno.ENOTCONN: "mount the share again",
        errno.EFBIG: "raise the file-size limit (ulimit -f)",
    }
    return advice.get(error.errno or 0, "check the mount")
