"""The first process of a machine of the bench: makes its mounts, says so, and reaps whoever is left to it.

Run in namespaces of its own (mounts, network, processes, hostname). Arguments: hostname, then folders that stay visible
although they may lie below /tmp.
"""

import os
import signal
import socket
import subprocess
import sys


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def own_folders(keep: list[str]) -> None:
    """An empty /tmp (but for what is kept of the old one), an empty /dev/shm, and /sys of this network."""
    stage = "/mnt"
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", stage)
    for folder in keep:
        if folder.startswith("/tmp/"):
            inside = stage + folder.removeprefix("/tmp")
            os.makedirs(inside, exist_ok=True)
            mount("--bind", folder, inside)
    mount("--move", stage, "/tmp")
    os.makedirs("/tmp/home")
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm")
    os.makedirs("/tmp/.groups")
    mount("--rbind", "/sys/fs/cgroup", "/tmp/.groups")
    mount("-t", "sysfs", "sysfs", "/sys")
    if os.path.isdir("/sys/fs/cgroup"):
        mount("--move", "/tmp/.groups", "/sys/fs/cgroup")


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    name, *keep = sys.argv[1:]
    socket.sethostname(name)
    own_folders(keep)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    os.chdir("/tmp")
    print("ready", flush=True)
    while True:
        signal.sigwait({signal.SIGCHLD})
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


main()
