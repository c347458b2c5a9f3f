"""The how-to on mail servers is followed as it stands, on ports that are free: Postfix, Exim, and both over TLS."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bakeoff.store.sqlite.read import read_run
from tests import forks
from tests.control import PATIENCE_S, went_well
from tests.ports import free_port
from tests.servers.conftest import need
from tests.servers.mail_servers import SERVERS

PAGE = Path(__file__).parents[2] / "docs/how-to/compare-mail-servers.md"
SHORT = "--blocks 1 --clients 1 --length 4s --ramp-up 0.2s --ramp-down 0.2s"


def blocks(section: str) -> str:
    """The shell blocks of a section."""
    text = PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    return "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


@pytest.fixture
def folder(public_folder: Callable[[str], Path]) -> Iterator[Path]:
    """Where the page is followed; what it started ends with the test, however that ends."""
    made = public_folder("mail")
    made.chmod(0o755)
    yield made
    for name in ("exim/exim.pid", "exim/run/master.pid", "server/run/master.pid"):
        path = made / name
        if path.exists():
            subprocess.run(["kill", path.read_text().strip()], check=False, capture_output=True)
    subprocess.run(
        [need("postfix"), "-c", str(made / "server/etc"), "stop"], check=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def test_both_servers_take_mail_over_tls(folder: Path) -> None:
    for program in ("postfix", "dovecot", "openssl"):
        need(program)
    exim = blocks("A second server: Exim")
    unpacked = SERVERS / "exim4-daemon-light"
    assert unpacked.exists(), "Exim is not there: run `make test`, which fetches it"
    exim, fetched = re.subn(r"apt-get download exim4-daemon-light && dpkg -x \S+ \.", f"cp -r {unpacked}/. .", exim)
    assert fetched == 1
    script = "bakeoff users new --count 40 --domain bakeoff.test -o users.csv\n"
    script += blocks("2. A server: Postfix and Dovecot") + exim
    tls, shortened = re.subn(r"--blocks 2", SHORT, blocks("4. Over TLS"))
    assert shortened == 2
    script += tls
    for port in sorted(set(re.findall(r"\b1[01](?:024|025|110|465|995)\b", script))):
        script = re.sub(rf"\b{port}\b", str(free_port()), script)
    # The command of the page is the patient one: other load of the machine decides nothing here.
    (folder / "bin").mkdir()
    (folder / "bin/bakeoff").write_text("#!/bin/sh\nexec " + shlex.join(forks.COMMAND) + ' "$@"\n')
    (folder / "bin/bakeoff").chmod(0o755)
    path = f"{folder / 'bin'}:{os.environ['PATH']}:/usr/sbin"
    with (folder / "output").open("w") as output:  # no pipe: the servers would keep it open
        done = subprocess.run(
            [need("bash"), "-euo", "pipefail", "-c", script], cwd=folder, env=os.environ | {"PATH": path},
            stdout=output, stderr=output, stdin=subprocess.DEVNULL, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    assert done.returncode == 0, (folder / "output").read_text()[-3_000:]
    for name in ("starttls", "smtps"):
        found = read_run(folder / f"{name}.bakeoff").trials
        assert [t.reason for t in found if not went_well(t.state, t.reason)] == [], name
        assert all(trial.operations > 0 for trial in found) and len(found) == 2
