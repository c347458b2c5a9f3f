"""Folders as contenders: what somebody else does to the files in them, and file systems without room."""

import contextlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.files.mounts import command, unmount


@contextmanager
def folder() -> Iterator[str]:
    """A folder in memory."""
    with TemporaryDirectory(dir="/dev/shm") as place:
        yield place


@contextmanager
def full() -> Iterator[str]:
    """A file system that has room for less than a trial writes."""
    with TemporaryDirectory() as place:
        command("mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", place)
        try:
            yield place
        finally:
            unmount(Path(place))


@contextmanager
def spoilt() -> Iterator[str]:
    """A folder in whose files bytes change that nobody wrote."""
    with folder() as place:
        stop = threading.Event()
        thread = threading.Thread(target=_spoil, args=(Path(place), stop), daemon=True)
        thread.start()
        try:
            yield place
        finally:
            stop.set()
            thread.join()


def _spoil(place: Path, stop: threading.Event) -> None:
    while not stop.wait(0.001):
        # Files and folders may be gone at any moment.
        paths = [Path(at, name) for at, _, names in os.walk(place) for name in names]
        for path in paths:
            with contextlib.suppress(OSError), path.open("r+b") as file:
                size = os.fstat(file.fileno()).st_size
                for at in range(64, size, 4096):
                    file.seek(at)
                    file.write(b"\xa5" * 16)
