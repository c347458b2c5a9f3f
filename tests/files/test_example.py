"""The script of the example report on file servers: Samba and NFS-Ganesha, one block, and a report that verifies."""

import subprocess
import sys
from pathlib import Path

from tests.control import PATIENCE_S

ROOT = Path(__file__).parents[2]


def test_the_report_on_file_servers_can_be_made(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.file_servers", "--to", str(tmp_path)]
    command += ["--blocks", "1", "--clients", "1,4", "--length", "8s"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("says what") == 2
    page = (tmp_path / "file-servers.html").read_text()
    for part in ("SMB 3.1.1", "NFS 3", "without a mount: no cache is between"):
        assert part in page, part
