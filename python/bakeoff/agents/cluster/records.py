"""What of a cluster runs on this machine for this user: a small file for each, locked as long as it runs."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bakeoff.core.errors import GeneratorError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.system.state_folder import state_folder


@dataclass(frozen=True)
class Record:
    """A head, whose name is empty, or an agent: the head's address as `10.0.0.1:6379`, its own, the process that keeps
    it, and whether it has joined. `folder` is Ray's, with its logs; `log` is what it said.
    """

    name: str
    cluster: str
    address: str
    pid: int
    token_file: str
    folder: str
    log: str
    joined: bool = False

    @property
    def title(self) -> str:
        """How it is called in sentences."""
        return f"agent {self.name}" if self.name else "the head"


class Claim:
    """The only process that keeps this head or agent, as long as it lives."""

    def __init__(self, record: Record, path: Path) -> None:
        self.record, self._path = record, path

    def tell(self, **changes: object) -> None:
        """Write what has changed."""
        self.record = replace(self.record, **changes)  # type: ignore[arg-type]
        write_whole(self._path, json.dumps(asdict(self.record)), advice="free some space")


def folder() -> Path:
    """Where the files are. Raises GeneratorError where there is no such place."""
    state = state_folder()
    if state is None:
        raise GeneratorError(
            "there is no home folder to remember in what runs here: set XDG_STATE_HOME to a folder of yours"
        )
    try:
        (state / "cluster").mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise GeneratorError(
            f"{state} cannot be used: {error.strerror}; set XDG_STATE_HOME to a folder of yours"
        ) from None
    return state / "cluster"


@contextmanager
def claim(record: Record) -> Iterator[Claim]:
    """Be the one that keeps it. Raises GeneratorError when another process does."""
    path = folder() / f"{f'agent-{record.name}' if record.name else 'head'}.json"
    with _locked(path) as mine:
        if not mine:
            other = _read(path)
            raise GeneratorError(
                f"{record.title} runs here already{f' (process {other.pid})' if other else ''}: end it first with "
                f"`bakeoff cluster stop{f' --name {record.name}' if record.name else ''}`"
                + (", or choose another --name" if record.name else "")
            )
        made = Claim(record, path)
        made.tell()
        try:
            yield made
        finally:
            path.unlink(missing_ok=True)


def records() -> list[Record]:
    """All that run now: agents by name, then the head."""
    found = []
    for path in sorted(folder().glob("*.json")):
        with _locked(path) as gone:
            record = None if gone else _read(path)
        if record is not None:
            found.append(record)
    return sorted(found, key=lambda record: (not record.name, record.name))


def runs(record: Record) -> bool:
    """Whether its process still keeps it."""
    return any(other.name == record.name and other.pid == record.pid for other in records())


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Whether nobody else had the lock of this file, which is then ours for a while."""
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False
    finally:
        os.close(descriptor)


def _read(path: Path) -> Record | None:
    with suppress(OSError, ValueError, TypeError):
        return Record(**json.loads(path.read_text()))
    return None
