"""One small server: its web server, its share and its mail server, children of this process so that watching it sees
them all.

    python -m scripts.paper.box NAME FOLDER CORPUS USERS.csv

Prints its addresses as one line of JSON when all of them answer, and ends with its standard input.
"""

import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port
from tests.servers.conftest import KINDS, wait_until_open
from tests.servers.mail_servers import start_exim, start_postfix

from bakeoff.testdata.mail.accounts import Account

MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Made:
    """What a box is made of; None where it has no such server."""

    web: str
    share: str | None
    mail: str | None


BOXES = {
    "Alder": Made("nginx", "disk", "postfix"),
    "Birch": Made("apache", "memory", "exim"),
    "Cedar": Made("lighttpd", None, None),
}


@contextlib.contextmanager
def web(kind: str, folder: Path, corpus: Path) -> Iterator[str]:
    """A web server of this kind; its address."""
    folder.mkdir()
    port, log = free_port(), folder / "output"
    command, helpers = KINDS[kind](folder, corpus, port, "http")
    started: list[subprocess.Popen[bytes]] = []
    try:
        for line in (*helpers, command):
            with log.open("ab") as out:
                started.append(subprocess.Popen(line, stdout=out, stderr=out, start_new_session=True))
        wait_until_open(port, started[-1], log)
        yield f"http://localhost:{port}"
    finally:
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            process.wait(60)


@contextlib.contextmanager
def share(kind: str, folder: Path) -> Iterator[str]:
    """A folder on the disk, or in memory; its path."""
    if kind == "disk":
        folder.mkdir()
        yield str(folder)
        return
    with tempfile.TemporaryDirectory(prefix="bakeoff-paper-", dir=MEMORY) as made:
        yield made


@contextlib.contextmanager
def mail(kind: str, folder: Path, users: Path) -> Iterator[str]:
    """A mail server with Dovecot behind it; its addresses."""
    with users.open(newline="") as lines:
        accounts = [Account(row["user"], row["password"], row["domain"]) for row in csv.DictReader(lines)]
    server = {"postfix": start_postfix, "exim": start_exim}[kind](folder, accounts)
    try:
        yield server.address
    finally:
        server.stop()


def main(name: str, folder: Path, corpus: Path, users: Path) -> None:
    """Start it all, say where, and end it when nobody listens any more."""
    made = BOXES[name]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    with contextlib.ExitStack() as stack:
        addresses = {"web": stack.enter_context(web(made.web, folder / made.web, corpus))}
        if made.share:
            addresses["files"] = stack.enter_context(share(made.share, folder / "share"))
        if made.mail:
            addresses["mail"] = stack.enter_context(mail(made.mail, folder / made.mail, users))
        sys.stdout.write(f"{json.dumps(addresses)}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:5]))
