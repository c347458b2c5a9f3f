"""What the system knows of listening sockets on this machine."""

import shutil
import subprocess


def backlog(address: str) -> int | None:
    """The accept queue of the listener at a numeric `host:port` of this machine; None when there is none to see."""
    program = shutil.which("ss") or shutil.which("ss", path="/usr/bin:/usr/sbin:/bin:/sbin")
    host, _, port = address.rpartition(":")
    if program is None:
        return None
    try:
        listing = subprocess.run(
            [program, "-ltnH", f"sport = :{port}"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    for line in listing.stdout.splitlines():
        words = line.split()
        if len(words) >= 4 and words[3].rpartition(":")[0] in (host, "0.0.0.0", "*", "[::]") and _local(host):
            return int(words[2])
    return None


def _local(host: str) -> bool:
    return host.startswith("127.") or host == "[::1]"
