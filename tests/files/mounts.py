"""File systems mounted for a test and taken down after it: memory, disks in a file, a share over SSH.

All of it lies below one folder; nothing here listens anywhere but on 127.0.0.1. Needs root.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.control import PATIENCE_S
from tests.ports import free_port

IMAGE_MIB = 400  # mkfs.xfs refuses less than 300 MiB
SSHD = "/usr/sbin/sshd"


def command(*words: str | Path, check: bool = True) -> str:
    """Standard output of a command that has to work; what it complained of when it did not."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0 or not check, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def need(*programs: str) -> None:
    """Fail when a program of packages.txt is missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    assert not missing, f"install what packages.txt names: {missing} is missing"


def unmount(point: Path) -> None:
    """Unmount, even what hangs or is in use."""
    command("umount", point, check=False)
    if f" {point} " in Path("/proc/self/mountinfo").read_text():
        command("umount", "--lazy", point, check=False)


@contextlib.contextmanager
def tmpfs(base: Path) -> Iterator[Path]:
    """A file system in memory."""
    point = base / "tmpfs"
    point.mkdir()
    command("mount", "-t", "tmpfs", "-o", "size=512m", "tmpfs", point)
    try:
        yield point
    finally:
        unmount(point)


@contextlib.contextmanager
def memory_of(base: Path) -> Iterator[Path]:
    """A folder in memory that has room for sixty clients: the machine's own may be small."""
    with tmpfs(base) as point:
        place = point / "place"
        place.mkdir()
        yield place


@contextlib.contextmanager
def disk(base: Path, kind: str) -> Iterator[Path]:
    """A file system of its own in a file: `kind` is ext4 or xfs."""
    need(f"mkfs.{kind}", "losetup")
    image, point = base / f"{kind}.img", base / kind
    with image.open("wb") as file:
        file.truncate(IMAGE_MIB << 20)
    command(f"mkfs.{kind}", "-q", image)
    device = command("losetup", "--find", "--show", image).strip()
    try:
        point.mkdir()
        command("mount", device, point)
        try:
            yield point
        finally:
            unmount(point)
    finally:
        command("losetup", "--detach", device, check=False)
        image.unlink()


class LoopDisk:
    """An ext4 file system in a file, and the command that mounts it again after `umount`."""

    def __init__(self, place: Path) -> None:
        need("mkfs.ext4")
        self.point, self._image = place / "ext4", place / "ext4.image"
        self.point.mkdir()
        with self._image.open("wb") as image:
            image.truncate(96 << 20)
        command("mkfs.ext4", "-q", self._image)
        self.mount = f"mount -o loop {self._image} {self.point}"
        command(*self.mount.split())

    def close(self) -> None:
        """Unmount it: a ring that was closed keeps its files for a moment."""
        until = time.monotonic() + PATIENCE_S
        while subprocess.run(["umount", str(self.point)], capture_output=True, check=False).returncode:
            assert time.monotonic() < until, f"{self.point} stays busy"
            time.sleep(0.05)


@dataclass
class Share:
    """A folder mounted by sshfs from an sshd of this machine."""

    folder: Path
    served: Path
    server: subprocess.Popen[bytes]
    client: subprocess.Popen[bytes]
    log: Path

    def drop(self) -> None:
        """End the server and all of its sessions, as when a machine goes down."""
        for pid in [*descendants(self.server.pid), self.server.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)


def descendants(pid: int) -> list[int]:
    """Processes started by a process, and by those."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found += [*descendants(int(child)), int(child)]
    return found


@contextlib.contextmanager
def sshfs(base: Path, *options: str) -> Iterator[Share]:
    """A share over SSH, with keys, port and settings of its own. What it serves is in memory: a disk could be busy for
    seconds with the work of others.
    """
    need(SSHD, "sshfs", "ssh-keygen")
    place = base / "ssh"
    served, point = place / "served", base / "sshfs"
    for folder in (place, served, point):
        folder.mkdir()
    for key in ("host", "user"):
        command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / key)
    port = free_port()
    shutil.copy(place / "user.pub", place / "authorized")
    (place / "known").write_text(f"[127.0.0.1]:{port} {(place / 'host.pub').read_text()}")
    (place / "sshd.conf").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {place}/host\nAuthorizedKeysFile {place}/authorized\n"
        "PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n"
        "PasswordAuthentication no\nSubsystem sftp internal-sftp\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)  # sshd's empty folder for privilege separation
    log = place / "sshd.log"
    with contextlib.ExitStack() as stack:
        command("mount", "-t", "tmpfs", "-o", "size=512m", "tmpfs", served)
        stack.callback(unmount, served)
        server = start(log, SSHD, "-D", "-e", "-f", place / "sshd.conf")
        stack.callback(end, server)
        wait_for(lambda: listens(port), f"sshd: {log}")
        given = ("ssh_command=ssh -F none", f"IdentityFile={place}/user", f"UserKnownHostsFile={place}/known", *options)
        remote = f"root@127.0.0.1:{served}"
        client = start(place / "sshfs.log", "sshfs", "-f", "-p", str(port), "-o", ",".join(given), remote, point)
        stack.callback(unmount, point)
        stack.callback(end, client)  # first: what is stopped or without a server cannot be unmounted
        wait_for(lambda: os.path.ismount(point), f"sshfs: {place}/sshfs.log")
        yield Share(point, served, server, client, log)


def start(log: Path, *words: str | Path) -> subprocess.Popen[bytes]:
    """A process of its own, with all that it says in `log`."""
    with log.open("wb") as observed:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=observed, stderr=subprocess.STDOUT)


def listens(port: int) -> bool:
    """Whether something accepts connections there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(what: Callable[[], bool], name: str, patience_s: float = PATIENCE_S) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < ends, f"not up after {patience_s:g} s: {name}"
        time.sleep(0.02)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started, even one that is stopped."""
    for pid in [*descendants(process.pid), process.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
    process.wait(PATIENCE_S)
