"""Real file servers on the loopback of a network namespace of their own: Samba, and NFS-Ganesha with its port mapper.

When the namespace ends, all of it ends. Needs root.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path

from tests.control import PATIENCE_S
from tests.files.mounts import need

ROOT = Path(__file__).resolve().parents[2]

PASSWORD = "quite-secret"
SMB_CONF = """[global]
server role = standalone server
interfaces = 127.0.0.1/8
bind interfaces only = yes
smb ports = 445
disable netbios = yes
load printers = no
printcap name = /dev/null
private dir = {state}
lock directory = {state}
state directory = {state}
cache directory = {state}
pid directory = {state}
ncalrpc dir = {state}
passdb backend = smbpasswd:{state}/smbpasswd
log file = {base}/smbd.log
map to guest = Bad User
[share]
path = {served}
read only = no
[read-only]
path = {served}
[sealed]
path = {served}
read only = no
smb encrypt = required
"""

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
printf '{password}\\n{password}\\n' | smbpasswd -c {base}/smb.conf -L -a -s root >/dev/null
printf 'another\\nanother\\n' | smbpasswd -c {base}/smb.conf -L -a -s daemon >/dev/null
smbd --foreground --no-process-group --configfile={base}/smb.conf </dev/null >/dev/null 2>&1 &
for port in 445 2049; do
  until (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.05; done
done
cd {top}
export BAKEOFF_SMB_PASSWORD={password}
exec {python} {words}
"""


def beside_servers(base: Path, *words: str) -> str:
    """What `python WORDS` says where `nfs://127.0.0.1BASE/served` and `smb://root@127.0.0.1/share` are one folder."""
    need("ganesha.nfsd", "rpcbind", "smbd", "smbpasswd", "ip", "unshare")
    served = base / "served"
    for folder in (served, base / "read-only", base / "state"):
        folder.mkdir(parents=True, exist_ok=True)
    names = {
        "base": base, "served": served, "state": base / "state", "password": PASSWORD, "top": ROOT,
        "python": sys.executable, "words": shlex.join(words),
    }  # fmt: skip
    (base / "ganesha.conf").write_text(GANESHA_CONF.format(**names))
    (base / "smb.conf").write_text(SMB_CONF.format(**names))
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


def run_beside_servers(base: Path, commands: list[list[str]]) -> str:
    """Run command lines of bakeoff there: what they said."""
    (base / "commands.json").write_text(json.dumps(commands))
    return beside_servers(base, "-m", "tests.files.several", str(base / "commands.json"))
