"""The mark by which a user knows a plan again that was started on this machine.

It is a keyed hash of the plan, this machine and the run file's inode; the key lies in the user's state folder, outside
of every run file. So the mark of a file that was edited, copied, or came from another user or machine does not fit.
"""

import hashlib
import hmac
import os
import secrets
import socket
import stat
from contextlib import suppress
from pathlib import Path

from bakeoff.core.system.state_folder import state_folder

KEY_BYTES = 32


def mark(run_file: Path, plan_hash: str) -> str | None:
    """The mark of a plan in this run file; None where the user has no place for a key of their own."""
    key = _key(make=True)
    return None if key is None else _mark(key, run_file, plan_hash)


def is_marked(run_file: Path, plan_hash: str, stored_mark: str | None) -> bool:
    """Whether `stored_mark` is the mark that this user gave this plan in this run file on this machine."""
    key = None if stored_mark is None else _key(make=False)
    if key is None or stored_mark is None:
        return False
    right = _mark(key, run_file, plan_hash)
    return right is not None and hmac.compare_digest(right.encode(), stored_mark.encode())


def _mark(key: bytes, run_file: Path, plan_hash: str) -> str | None:
    try:
        inode = run_file.stat().st_ino
    except OSError:
        return None
    text = "\n".join(["bakeoff started here", _machine(), str(inode), plan_hash])
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _machine() -> str:
    with suppress(OSError, UnicodeDecodeError):
        if name := Path("/etc/machine-id").read_text(encoding="ascii").strip():
            return name
    return socket.gethostname()


def _key(make: bool) -> bytes | None:
    """The user's key, made when there is none yet; None when it could be anybody else's, too."""
    folder = state_folder()
    if folder is None:
        return None
    try:
        if make:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_key(folder)
        if not _is_own(folder.stat(), others=0o022):
            return None
        descriptor = os.open(folder / "key", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            key = file.read(KEY_BYTES) if stat.S_ISREG(state.st_mode) and _is_own(state, others=0o077) else b""
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def _is_own(state: os.stat_result, others: int) -> bool:
    return state.st_uid == os.geteuid() and not state.st_mode & others


def _make_key(folder: Path) -> None:
    """Written aside and linked to its name: two that start at once end up with the same key, and a whole one."""
    if (folder / "key").exists():
        return
    temporary = folder / f".key-{secrets.token_hex(8)}"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(secrets.token_bytes(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    try:
        with suppress(FileExistsError):
            os.link(temporary, folder / "key")
    finally:
        temporary.unlink()
