"""Can the contenders' folders be worked in, and what are they? Asked before timing."""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bakeoff.corpus.manifest import Manifest
from bakeoff.errors import TargetError
from bakeoff.mounts import Mount, mount_of
from bakeoff.patience import HangsError, answers
from bakeoff.patience import in_time as within
from bakeoff.plan.kinds import KINDS
from bakeoff.plan.kinds.file_common import FolderKind, check_folder_address
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.checks.base import Note

PREFIX = ".bakeoff-"
PATIENCE_S = 30.0
T = TypeVar("T")


class FolderCheck:
    """See bakeoff.run.checks.base.Check."""

    manifest: Manifest | None = None

    def __init__(self, plan: Plan) -> None:
        kind = KINDS[plan.kind]
        assert isinstance(kind, FolderKind)
        self._patience_s = min(PATIENCE_S, plan.settings.reply_timeout_s)
        self._needed = kind.space_bytes(plan.settings)
        kept = kind.kept_folder(plan)
        keep = getattr(plan.settings, "keep", False)
        self._remove = [] if kept is None or keep else [(c, Path(c.address) / kept) for c in plan.contenders]
        self._mounts: dict[str, Mount] = {}
        self._devices: dict[str, tuple[int, int]] = {}
        self._free: dict[str, int] = {}
        self._left: dict[str, list[str]] = {}

    def answers(self, contender: Contender) -> None:
        """See Check."""
        in_time(lambda: _try_out(contender), contender, self._patience_s)

    def examine(self, contender: Contender) -> None:
        """See Check."""
        check_folder_address(contender.address)
        self.answers(contender)
        name, folder = contender.name, Path(contender.address)
        facts = in_time(lambda: _facts(folder), contender, self._patience_s)
        self._devices[name], self._free[name], self._mounts[name], self._left[name] = facts
        if self._free[name] < self._needed:
            raise TargetError(
                f"{name}: {folder} has {self._free[name] / 1e6:.0f} MB free, the largest mix needs "
                f"{self._needed / 1e6:.0f} MB: free some space, or use smaller files or fewer clients"
            )

    def compare(self) -> Sequence[Note]:
        """See Check."""
        notes = [self._describe(name) for name in self._mounts]
        for name, left in self._left.items():
            if left:
                listed = ", ".join(left[:3]) + (" …" if len(left) > 3 else "")
                notes.append(Note("warning", f"{name}: left behind by an earlier run, remove it: {listed}"))
        names = list(self._devices)
        for position, one in enumerate(names):
            for other in names[position + 1 :]:
                if self._devices[one] == self._devices[other]:
                    notes.append(Note("warning", f"{one} and {other} are the same folder"))
                elif self._devices[one][0] == self._devices[other][0]:
                    notes.append(Note("info", f"{one} and {other} lie on the same file system"))
        return notes

    def _describe(self, name: str) -> Note:
        mount = self._mounts[name]
        return Note("info", f"{name}: {mount.type} from {mount.source or '?'}, mounted at {mount.point}")

    def addresses(self, contender: Contender) -> Sequence[str]:
        """See Check."""
        return (contender.address,)

    def facts(self) -> dict[str, Any]:
        """See Check."""
        contenders = {
            name: {
                "addresses": [mount.point],
                "server": mount.server,
                "file_system": mount.type,
                "source": mount.source,
                "mount_options": mount.options,
                "carrier": mount.carrier,
                "free_bytes": self._free[name],
            }
            for name, mount in self._mounts.items()
        }
        return {"corpus": None, "contenders": contenders}

    def ready(self, contender: Contender) -> None:
        """See Check: the mount is still there. Without it, the trial would measure what lies below its mount point."""
        was, folder = self._mounts[contender.name], Path(contender.address)
        now = in_time(lambda: mount_of(folder), contender, self._patience_s)
        if (now.point, now.type, now.source) != (was.point, was.type, was.source):
            raise TargetError(
                f"{contender.name}: {folder} has vanished: {was.type} from {was.source or '?'} is not mounted at "
                f"{was.point} any more; mount it again"
            )

    def close(self) -> None:
        """See Check."""
        for contender, folder in self._remove:
            with contextlib.suppress(TargetError):
                in_time(partial(_without_fault, folder), contender, self._patience_s)


def _without_fault(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if not folder.is_symlink():
            shutil.rmtree(folder)


def _facts(folder: Path) -> tuple[tuple[int, int], int, Mount, list[str]]:
    """Device and inode, free bytes, the mount, and what an earlier run has left."""
    found = folder.stat()
    left = sorted(path.name for path in folder.glob(PREFIX + "*"))
    return (found.st_dev, found.st_ino), shutil.disk_usage(folder).free, mount_of(folder), left


def in_time(work: Callable[[], T], contender: Contender, patience_s: float = PATIENCE_S) -> T:
    """What `work` returns. Raises TargetError when it hangs, as a share does whose server is gone."""
    try:
        if answers(contender.address, patience_s):
            return within(work, patience_s)
    except HangsError:
        pass  # told below
    raise TargetError(
        f"{contender.name}: {contender.address} does not answer for {patience_s:g} s: is the share's server up?"
    )


def _try_out(contender: Contender) -> None:
    """Make a folder, write a file, read it, remove both."""
    folder = Path(contender.address)
    trial = folder / f"{PREFIX}check-{os.getpid()}-{secrets.token_hex(4)}"
    where = f"{contender.name}: {folder}"
    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "does not exist"
        raise TargetError(f"{where} {fault}: make it, or mount the share")
    try:
        trial.mkdir(0o700)
        try:
            sample = secrets.token_bytes(4096)
            (trial / "sample").write_bytes(sample)
            if (trial / "sample").read_bytes() != sample:
                raise TargetError(f"{where} gives back other bytes than were written: it cannot be trusted")
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(trial)
    except OSError as error:
        raise TargetError(f"{where} cannot be written to ({error.strerror}): {_advice(error)}") from None


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
