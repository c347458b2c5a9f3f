"""Real NFS and SMB mounts for machines whose kernel has no client for them.

An emulated machine runs the distribution's kernel (scripts/guest-kernel.sh), whose root is this machine's root,
read-only: what is installed here runs there, too. It and both servers (Samba, NFS-Ganesha) live in a network and
process namespace of their own: when that ends, all of it ends. It is slow, and its clock is coarse: what happens in
it is counted and compared, never timed. Needs root.
"""

import compileall
import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.control import PATIENCE_S
from tests.files.mounts import need

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / ".servers/guest"
HERE, GUEST = "10.213.9.1", "10.213.9.2"
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
  until (exec 3<>/dev/tcp/{here}/$port) 2>/dev/null; do sleep 0.05; done
done
exec qemu-system-x86_64 -accel tcg -cpu max -smp 1 -m 1024 -display none -monitor none -serial stdio -no-reboot \\
  -kernel {kernel}/vmlinuz -initrd {kernel}/initrd -append 'console=ttyS0 quiet panic=-1 no_timer_check work={base}' \\
  -netdev tap,id=net,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net,romfile= \\
  -fsdev local,id=host,path=/,security_model=none,multidevs=remap,readonly=on \\
  -device virtio-9p-pci,fsdev=host,mount_tag=host \\
  -fsdev local,id=work,path={base},security_model=none,multidevs=remap \\
  -device virtio-9p-pci,fsdev=work,mount_tag=work </dev/null
"""

# Run files are written in memory and copied: the shared folder has no locks and no shared mappings.
INSIDE = """cd {top}
export PATH={path}:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run LANG=C.UTF-8 TMPDIR=/run PYTHONDONTWRITEBYTECODE=1
(
  set -eux
  ip link set lo up
  ip addr add {guest}/24 dev eth0
  ip link set eth0 up
  mkdir /run/runs
  mount -i -t cifs -o 'ip={here},unc=\\\\{here}\\share,vers=3.1.1,username=root,password={password}' \\
    //{here}/share {base}/smb
  mount -i -t nfs4 -o addr={here},clientaddr={guest},vers=4.2 {here}:/share {base}/nfs
  {python} -m tests.files.several {base}/commands.json
  umount {base}/smb {base}/nfs
  cp /run/runs/* {base}/runs
) >{base}/said 2>&1 </dev/null
echo $? >{base}/ended
"""


@dataclass(frozen=True)
class Said:
    """What the script in the guest said, and what its servers hold afterwards."""

    text: str
    left_on_nfs: list[str]
    left_on_smb: list[str]


def run_in_guest(base: Path, commands: list[list[str]], patience_s: float) -> Said:
    """Run command lines of bakeoff in a kernel that has an SMB share at BASE/smb and an NFS share at BASE/nfs.

    What they write to /run/runs is in BASE/runs afterwards.
    """
    need("qemu-system-x86_64", "smbd", "smbpasswd", "ganesha.nfsd", "ip", "unshare")
    assert (KERNEL / "initrd").exists(), "run scripts/install-packages.sh: the guest's kernel is missing"
    for folder in ("smb", "nfs", "on-smb", "on-nfs", "state", "runs"):
        (base / folder).mkdir(parents=True)
    names = {
        "here": HERE, "guest": GUEST, "base": base, "state": base / "state", "password": PASSWORD, "top": ROOT,
        "python": sys.executable, "path": Path(sys.executable).parent, "kernel": KERNEL,
    }  # fmt: skip
    (base / "smb.conf").write_text(SMB_CONF.format(**names, served=base / "on-smb"))
    (base / "ganesha.conf").write_text(GANESHA_CONF.format(**names, served=base / "on-nfs"))
    (base / "inside.sh").write_text(INSIDE.format(**names))
    (base / "commands.json").write_text(json.dumps(commands))
    compileall.compile_dir(ROOT / "python", quiet=2)  # what is installed is compiled; the guest cannot write it
    words = ["smbpasswd", "-c", str(base / "smb.conf"), "-L", "-a", "-s", "root"]
    subprocess.run(
        words, input=f"{PASSWORD}\n{PASSWORD}\n", check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )
    own = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    with (base / "outside.log").open("wb") as log:
        outside = subprocess.Popen([*own, "bash", "-c", OUTSIDE.format(**names)], stdout=log, stderr=log)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):  # told below, with all that is known
                outside.wait(patience_s)
        finally:
            outside.kill()
            outside.wait(PATIENCE_S)
    said = base / "said"
    text = said.read_text() if said.exists() else "the guest did not start"
    ended = (base / "ended").read_text().strip() if (base / "ended").exists() else f"after {patience_s:g} s"
    assert ended == "0", f"guest ended {ended}: {text[-2000:]}\n{(base / 'outside.log').read_text()[-2000:]}"
    return Said(text, left(base / "on-nfs"), left(base / "on-smb"))


def left(folder: Path) -> list[str]:
    """Names in a folder."""
    return sorted(path.name for path in folder.iterdir())
