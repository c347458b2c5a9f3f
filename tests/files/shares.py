"""Mounts that the tests make and take away again: tmpfs, and a share whose server can be stopped."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.control import PATIENCE_S

SFTP_SERVER = "/usr/lib/openssh/sftp-server"


@contextmanager
def tmpfs(place: Path, options: str) -> Iterator[Path]:
    """A tmpfs at `place`, unmounted at the end when it is still there."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "bakeoff-test", str(place)], check=True)
    try:
        yield place
    finally:
        if os.path.ismount(place):
            subprocess.run(["umount", "-l", str(place)], check=True)


class Share:
    """A folder mounted by sshfs from an SFTP server that is a process of ours, without a network."""

    def __init__(self, point: Path, behind: Path) -> None:
        self.point = point
        for folder in (point, behind):
            folder.mkdir(exist_ok=True)
        ours, theirs = socket.socketpair()
        self._server = subprocess.Popen([SFTP_SERVER], stdin=ours, stdout=ours)
        command = ["sshfs", "-f", "-o", "passive,cache=no", f"server:{behind}", str(point)]
        self._client = subprocess.Popen(command, stdin=theirs, stdout=theirs)
        ours.close()
        theirs.close()
        until = time.monotonic() + PATIENCE_S
        while not os.path.ismount(point):
            assert self._client.poll() is None and time.monotonic() < until, "sshfs did not mount"
            time.sleep(0.02)

    def stop(self) -> None:
        """The server hangs: no call on the share returns."""
        self._server.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """The server answers again."""
        self._server.send_signal(signal.SIGCONT)

    def die(self) -> None:
        """The server is gone for good: calls on the share fail."""
        self._server.kill()
        self._server.wait()

    def close(self) -> None:
        """Unmounted, and both processes ended."""
        self.go_on()
        subprocess.run(["fusermount3", "-uz", str(self.point)], check=False, stderr=subprocess.DEVNULL)
        for process in (self._client, self._server):
            process.kill()
            process.wait()


@contextmanager
def share(place: Path) -> Iterator[Share]:
    """A share at `place/share`, whose server keeps its files in `place/behind`, in memory: a disk could be busy for
    seconds with the work of others.
    """
    with tmpfs(place / "behind", "size=512m"):
        found = Share(place / "share", place / "behind")
        try:
            yield found
        finally:
            found.close()
