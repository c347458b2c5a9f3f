"""Real file servers on the loopback of a network namespace of their own: Samba, and NFS-Ganesha with its port mapper.

When the namespace ends, all of it ends. Needs root.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.control import PATIENCE_S
from tests.files.mounts import need

ROOT = Path(__file__).resolve().parents[2]

GANESHA_CONF = """NFS_CORE_PARAM {{ Protocols = 3; MNT_Port = 20048; Enable_NLM = false; Enable_RQUOTA = false; }}
EXPORT {{ Export_Id = 1; Path = {served}; Pseudo = /share; Protocols = 3; Transports = TCP;
  Access_Type = RW; Squash = No_Root_Squash; SecType = sys; PrivilegedPort = true; FSAL {{ Name = VFS; }} }}
EXPORT {{ Export_Id = 2; Path = {base}/read-only; Pseudo = /read-only; Protocols = 3; Transports = TCP;
  Access_Type = RO; Squash = No_Root_Squash; SecType = sys; FSAL {{ Name = VFS; }} }}
"""

# The port mapper has a socket of the whole machine, whatever its network.
SCRIPT = """set -eu
ip link set lo up
mount -t tmpfs tmpfs /run
rpcbind
ganesha.nfsd -F -f {base}/ganesha.conf -L {base}/ganesha.log -p /run/ganesha.pid &
until (exec 3<>/dev/tcp/127.0.0.1/2049) 2>/dev/null; do sleep 0.05; done
cd {top}
exec {python} -m tests.files.several {base}/commands.json
"""


def run_beside_servers(base: Path, commands: list[list[str]]) -> str:
    """Run command lines of bakeoff where `nfs://127.0.0.1BASE/served` is: what they said."""
    need("ganesha.nfsd", "rpcbind", "ip", "unshare")
    served = base / "served"
    for folder in (served, base / "read-only"):
        folder.mkdir(parents=True, exist_ok=True)
    names = {"base": base, "served": served, "top": ROOT, "python": sys.executable}
    (base / "ganesha.conf").write_text(GANESHA_CONF.format(**names))
    (base / "commands.json").write_text(json.dumps(commands))
    own = ["unshare", "--net", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"]
    done = subprocess.run(
        [*own, "bash", "-c", SCRIPT.format(**names)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    log = base / "ganesha.log"
    said = done.stdout + done.stderr
    assert done.returncode == 0, said + (log.read_text()[-2000:] if log.exists() else "")
    return said
