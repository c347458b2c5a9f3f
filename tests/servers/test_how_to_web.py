"""The how-to on web servers is run as it stands, on ports that are free."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.control import PATIENCE_S, went_well
from tests.forks import COMMAND
from tests.ports import free_port
from tests.servers.conftest import need

PAGE = Path(__file__).parents[2] / "docs/how-to/compare-web-servers.md"


def blocks() -> list[str]:
    """The shell blocks of the page, in their order."""
    return re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(public_folder: Callable[[str], Path]) -> Iterator[Path]:
    """Where the page is followed; what it started ends with the test, however that ends."""
    made = public_folder("how-to-web")
    made.chmod(0o755)
    yield made
    for name in ("nginx/pid", "apache/pid", "lighttpd.pid", "caddy/pid"):
        path = made / "web" / name
        if path.exists():
            subprocess.run(["kill", path.read_text().strip()], check=False, capture_output=True)


def trials(run_file: Path) -> list[dict[str, Any]]:
    """As programs get them."""
    command = [*COMMAND, "show", str(run_file), "--json"]
    found: list[dict[str, Any]] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["trials"]
    return found


def test_the_page_is_run_from_its_first_block_to_its_last(folder: Path) -> None:
    for program in ("nginx", "apache2", "lighttpd", "caddy", "curl", "openssl"):
        need(program)
    script = "set -euo pipefail\n" + "".join(f"echo 'block {n}' >&2\n{block}" for n, block in enumerate(blocks(), 1))
    ports = sorted(set(re.findall(r"\b8(?:08|44)[1-4]\b", script)))
    assert len(ports) == 8
    for port in ports:
        script = re.sub(rf"\b{port}\b", str(free_port()), script)
    (folder / "bin").mkdir()
    (folder / "bin/bakeoff").write_text("#!/bin/sh\nexec " + shlex.join(COMMAND) + ' "$@"\n')
    (folder / "bin/bakeoff").chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}:/usr/sbin"}
    done = subprocess.run(
        [need("bash"), "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    for name, contenders in (("web", 4), ("web-tls", 4), ("urls", 2), ("session", 2)):
        found = trials(folder / f"{name}.bakeoff")
        assert len({trial["contender"] for trial in found}) == contenders
        assert [t["reason"] for t in found if not went_well(t["state"], t["reason"]) or t["errors"]] == [], name
        assert all(trial["operations"] > 0 for trial in found)
        # WholeBlocks alike by all: nobody ends a connection for the number of its requests.
        assert {trial["connections"]["opened"] for trial in found} <= {1, 2, 4}, name
    assert (folder / "web.html").stat().st_size > 100_000
