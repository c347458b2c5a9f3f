"""Files that are there as a whole or not at all."""

import contextlib
import errno
import os
import secrets
from pathlib import Path

from bakeoff.core.errors import GeneratorError, PlanError

ANOTHER = "choose another with -o"


def write_whole(target: Path, content: str | bytes, replace: bool = True, advice: str = ANOTHER) -> None:
    """Write `content`: a full disk, a kill or a crash leaves no half file and no damaged old one.

    Without `replace` a file that is there stays. Raises PlanError or GeneratorError; `advice` is what to do then.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        target = Path(os.path.realpath(target)) if target.is_symlink() else target
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe: there is nothing to keep whole
            return
        _replace(target, data, replace)
    except FileExistsError:
        raise PlanError(f"{target} exists already: {advice}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise GeneratorError(f"{target} cannot be written ({why}): {advice}") from None


def _replace(target: Path, data: bytes, replace: bool) -> None:
    # The name of the new file must not grow with that of the old one: names have a limit.
    part = target.parent / f".bakeoff-{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            with contextlib.suppress(FileNotFoundError):
                part.chmod(target.stat().st_mode & 0o7777)
            part.replace(target)
        else:
            _link(part, target)
    finally:
        part.unlink(missing_ok=True)


def _link(part: Path, target: Path) -> None:
    """Give the file its name unless that is taken; some file systems have no links."""
    try:
        target.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:
        if target.exists():
            raise FileExistsError from None
        part.replace(target)
