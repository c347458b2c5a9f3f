"""Make the example report of SMB against NFS: Samba and NFS-Ganesha serve one folder under the load of NetBench 7.

    python -m scripts.file_servers [--to FOLDER] [--blocks 6] [--clients 1,12,24,36] [--length 12s]

Both servers run in a network namespace. Each client has a session of its own, without a mount. Needs root, and about
fifteen minutes on a machine that does nothing else.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tests.files.loopback import run_beside_servers

ROOT = Path(__file__).parents[1]
WORK = Path("/var/tmp/bakeoff-file-servers")
BAKEOFF = str(Path(sys.executable).with_name("bakeoff"))
# As the published sizes have it: a tenth at most, and a moment for every client to begin.
RAMPS = ("--ramp-up", "3s", "--ramp-down", "1s", "--stagger", "2s")


def main(to: Path, blocks: int, clients: str, length: str) -> None:
    """Measure, report, verify."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(mode=0o755)
    run = WORK / "file-servers.bakeoff"
    contenders = ["smb=smb://root@127.0.0.1/share", f"nfs=nfs://127.0.0.1{WORK}/served"]
    load = ["--size", "netbench7", "--clients", clients, "--length", length, *RAMPS, "--blocks", str(blocks)]
    sys.stdout.write(run_beside_servers(WORK, [["run", "file-mix", *contenders, *load, "-o", str(run)]]))
    to.mkdir(exist_ok=True)
    for ending in ("html", "pdf"):
        report = to / f"file-servers.{ending}"
        for words in (["report", run, "-o", report, "--force"], ["verify", report, run]):
            subprocess.run([BAKEOFF, *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "docs/examples", help="folder of the report")
    parser.add_argument("--blocks", type=int, default=6, help="fewer are for trying: they give no verdict")
    parser.add_argument("--clients", default="1,12,24,36", help="clients at each load step")
    parser.add_argument("--length", default="12s", help="length of a trial")
    chosen = parser.parse_args()
    main(chosen.to.resolve(), chosen.blocks, chosen.clients, chosen.length)
