"""Real NFS and SMB mounts for machines whose kernel has no client for them.

User-mode Linux is a Linux kernel that runs as a process; Debian's has the clients as modules. Its root is this
machine's root, so that what is installed here runs there, too. It and both servers (Samba, NFS-Ganesha) live in a
network and process namespace of their own: when that ends, all of it ends. Needs root.
"""

import contextlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.files.mounts import need

HERE, GUEST = "10.213.9.1", "10.213.9.2"
MODULES = Path("/usr/lib/uml/modules")
PASSWORD = "quite-secret"

SMB_CONF = """[global]
server role = standalone server
interfaces = {here}/24
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
log file = {state}/smbd.log
[share]
path = {served}
read only = no
"""

# NFS 4 alone: version 3 would need a port mapper of the whole machine.
GANESHA_CONF = """NFS_CORE_PARAM {{ Protocols = 4; Bind_addr = {here}; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSV4 {{ Graceless = true; RecoveryBackend = fs; RecoveryRoot = {state}; }}
EXPORT {{ Export_Id = 1; Path = {served}; Pseudo = /share; Protocols = 4; Transports = TCP;
  Access_Type = RW; Squash = No_Root_Squash; SecType = sys; FSAL {{ Name = VFS; }} }}
"""

OUTSIDE = """set -eu
ip link set lo up
ip tuntap add tap0 mode tap
ip addr add {here}/24 dev tap0
ip link set tap0 up
smbd --foreground --no-process-group --configfile={base}/smb.conf </dev/null &
ganesha.nfsd -F -f {base}/ganesha.conf -L {base}/ganesha.log -p {base}/ganesha.pid &
for port in 445 2049; do
  for attempt in $(seq 200); do
    (exec 3<>/dev/tcp/{here}/$port) 2>/dev/null && break
    sleep 0.05
  done
done
linux.uml mem=1G root=/dev/root rootfstype=hostfs rootflags=/ rw init={base}/inside.sh uml_dir={base} \\
  con=null con0=null,fd:1 con1=null ssl=null vec0:transport=tap,ifname=tap0,depth=128,gro=1 </dev/null
"""

INSIDE = """#!/bin/sh
cd {base}
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME={base} LANG=C.UTF-8
script() {{
  set -eu
  mount -t proc proc /proc
  mount -t sysfs sysfs /sys
  mount -t tmpfs tmpfs /run
  mkdir /dev/shm
  mount -t tmpfs tmpfs /dev/shm
  printf '#!/bin/sh\\nexec modprobe -d {base}/kernel "$@"\\n' >/run/modprobe
  chmod +x /run/modprobe
  echo /run/modprobe >/proc/sys/kernel/modprobe
  for module in cifs nfsv4; do /run/modprobe $module; done
  ip link set lo up
  ip addr add {guest}/24 dev vec0
  ip link set vec0 up
  mount -i -t cifs -o 'ip={here},unc=\\\\{here}\\share,vers=3.1.1,username=root,password={password}' \\
    //{here}/share {base}/smb
  mount -i -t nfs4 -o addr={here},clientaddr={guest},vers=4.2 {here}:/share {base}/nfs
  . {base}/script.sh
  umount {base}/smb {base}/nfs
}}
( script ) >{base}/said 2>&1 </dev/null
echo $? >{base}/ended
echo o >/proc/sysrq-trigger
sleep 9
"""


@dataclass(frozen=True)
class Said:
    """What the script in the guest said, and what its servers hold afterwards."""

    text: str
    left_on_nfs: list[str]
    left_on_smb: list[str]


def run_in_guest(base: Path, script: str, patience_s: float = 100.0) -> Said:
    """Run lines of shell in a kernel that has an SMB share at BASE/smb and an NFS share at BASE/nfs."""
    need("linux.uml", "smbd", "smbpasswd", "ganesha.nfsd", "modprobe", "ip", "unshare")
    for folder in ("smb", "nfs", "on-smb", "on-nfs", "state", "kernel/lib"):
        (base / folder).mkdir(parents=True)
    (base / "kernel/lib/modules").symlink_to(MODULES)
    names = {"here": HERE, "guest": GUEST, "base": base, "state": base / "state", "password": PASSWORD}
    (base / "smb.conf").write_text(SMB_CONF.format(**names, served=base / "on-smb"))
    (base / "ganesha.conf").write_text(GANESHA_CONF.format(**names, served=base / "on-nfs"))
    (base / "inside.sh").write_text(INSIDE.format(**names))
    (base / "inside.sh").chmod(0o755)
    (base / "script.sh").write_text(script)
    words = ["smbpasswd", "-c", str(base / "smb.conf"), "-L", "-a", "-s", "root"]
    subprocess.run(words, input=f"{PASSWORD}\n{PASSWORD}\n", check=True, capture_output=True, text=True, timeout=30)
    own = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    with (base / "outside.log").open("wb") as log:
        outside = subprocess.Popen([*own, "bash", "-c", OUTSIDE.format(**names)], stdout=log, stderr=log)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):  # told below, with all that is known
                outside.wait(patience_s)
        finally:
            outside.kill()
            outside.wait(10)
    said = base / "said"
    text = said.read_text() if said.exists() else "the guest did not start"
    ended = (base / "ended").read_text().strip() if (base / "ended").exists() else f"after {patience_s:g} s"
    assert ended == "0", f"guest ended {ended}: {text[-2000:]}\n{(base / 'outside.log').read_text()[-2000:]}"
    return Said(text, left(base / "on-nfs"), left(base / "on-smb"))


def left(folder: Path) -> list[str]:
    """Names in a folder."""
    return sorted(path.name for path in folder.iterdir())
