"""The first process of a machine of the bench: makes its mounts, says so, and reaps whoever is left to it.

Run in namespaces of its own (mounts, network, processes, hostname). Arguments: hostname, then folders that stay visible
although they may lie below /tmp.
"""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def own_folders(keep: list[str]) -> None:
    """An empty /tmp (but for what is kept of the old one), an empty /dev/shm, and /sys of this network."""
    stage = "/mnt"
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", stage)
    for folder in keep:
        if folder.startswith("/tmp/"):
            inside = stage + folder.removeprefix("/tmp")
            Path(inside).mkdir(parents=True, exist_ok=True)
            mount("--bind", folder, inside)
    mount("--move", stage, "/tmp")
    Path("/tmp/home").mkdir()
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm")
    Path("/tmp/.groups").mkdir()
    mount("--rbind", "/sys/fs/cgroup", "/tmp/.groups")
    mount("-t", "sysfs", "sysfs", "/sys")
    if Path("/sys/fs/cgroup").is_dir():
        mount("--move", "/tmp/.groups", "/sys/fs/cgroup")


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    name, *keep = sys.argv[1:]
    socket.sethostname(name)
    own_folders(keep)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    os.chdir("/tmp")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        signal.sigwait({signal.SIGCHLD})
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


main()
