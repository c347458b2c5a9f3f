"""A machine made of files: what the kernel would tell, and programs that answer as they would there."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

CPU = """\
processor\t: {number}
model name\t: Fake Xeon 6338
microcode\t: 0xd000
physical id\t: {socket}
core id\t\t: {core}
flags\t\t: fpu hypervisor

"""
FILES = {
    "/proc/cpuinfo": "".join(CPU.format(number=n, socket=n // 4, core=n % 2) for n in range(8)),
    "/proc/meminfo": "MemTotal:       67108864 kB\nMemFree: 1 kB\nSwapTotal: 0 kB\n",
    "/etc/os-release": 'NAME=Fake\nPRETTY_NAME="Fake Linux 7 (seven)"\n',
    "/proc/sys/kernel/osrelease": "6.6.6-fake\n",
    "/proc/cmdline": "quiet token=planted mitigations=off nohz_full=2-7 isolcpus=$(x) -- --join 10.0.0.1 mem=4G\n",
    "/proc/mounts": (
        "/dev/md0 / ext4 rw,noatime 0 0\nproc /proc proc rw 0 0\n/dev/sdc /srv/a\\040b xfs rw,logbsize=256k 0 0\n"
    ),
    "/proc/mdstat": (
        "Personalities : [raid1]\nmd0 : active raid1 sdb1[1] sda1[0]\n      976630464 blocks [2/2] [UU]\n\n"
        "unused devices:\n"
    ),
    "/proc/sys/net/core/somaxconn": "4096\n",
    "/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
    "/proc/sys/net/ipv4/tcp_syncookies": "1\n",
    "/sys/class/dmi/id/sys_vendor": "Fake Inc.\n",
    "/sys/class/dmi/id/product_name": "Server 9\n",
    "/sys/class/dmi/id/bios_version": "2.3\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3200000\n",
    "/sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
    "/sys/devices/system/cpu/cpu0/cache/index0/level": "1\n",
    "/sys/devices/system/cpu/cpu0/cache/index0/type": "Data\n",
    "/sys/devices/system/cpu/cpu0/cache/index0/size": "48K\n",
    "/sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected\n",
    "/sys/devices/system/cpu/vulnerabilities/spectre_v2": "Mitigation: Retpolines\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/block/sda/size": "1953525168\n",
    "/sys/block/sda/queue/rotational": "0\n",
    "/sys/block/sda/queue/scheduler": "[none] mq-deadline\n",
    "/sys/block/sda/queue/write_cache": "write back\n",
    "/sys/block/sda/device/model": "FAKE 960\n",
    "/sys/block/sdb/size": "1953525168\n",
    "/sys/block/sdb/queue/rotational": "0\n",
    "/sys/block/sdb/queue/scheduler": "[none] mq-deadline\n",
    "/sys/block/sdb/queue/write_cache": "write back\n",
    "/sys/block/sdb/device/model": "FAKE 960\n",
    "/sys/block/loop0/size": "99\n",
    "/sys/class/net/eth0/mtu": "9000\n",
    "/sys/class/net/eth0/operstate": "up\n",
    "/sys/class/net/eth0/speed": "10000\n",
    "/sys/class/net/eth0/duplex": "full\n",
    "/sys/class/net/eth0/type": "1\n",
    "/sys/class/net/veth1/mtu": "1500\n",
    "/sys/class/net/veth1/operstate": "up\n",
    "/sys/class/net/veth1/speed": "10000\n",
    "/sys/class/net/veth1/type": "1\n",
    "/etc/nginx/nginx.conf": "worker_processes 4;\n",
    "/etc/nginx/conf.d/site one.conf": "listen 80;",
}
PROGRAMS = {
    "lspci": (
        "00:1f.2 SATA controller: Fake SATA 6G (rev 05)\n03:00.0 Ethernet controller: Fake X710 (rev 02)\n"
        "04:00.0 RAID bus controller: Fake MegaRAID\n"
    ),
    "systemd-detect-virt": "kvm\n",
    "dmidecode": (
        "Memory Device\n\tSize: 32 GB\n\tType: DDR5\n\tConfigured Memory Speed: 4800 MT/s\n\tManufacturer: Fake\n\n"
        "Memory Device\n\tSize: 32 GB\n\tType: DDR5\n\tConfigured Memory Speed: 4800 MT/s\n\tManufacturer: Fake\n\n"
        "Memory Device\n\tSize: No Module Installed\n"
    ),
    "lldpctl": (
        "lldp.eth0.via=LLDP\n"
        "lldp.eth0.chassis.name=sw1\nlldp.eth0.chassis.descr=Fake 7050\nlldp.eth0.port.ifname=Et12\n"
    ),
    "dpkg-query": "nginx 1.22.1-9 ii \nnginx-doc 1.22.1-9 ii \nbash 5.2 ii \nsamba 4.17 rc \nlibssl3 3.0.19 ii \n",
    "nginx": "nginx version: nginx/1.22.1\n",
    "openssl": "OpenSSL 3.0.19 27 Jan 2026\n",
}
# What the script needs of a system.
NEEDED = ("sh", "sed", "head", "tr", "cat", "wc", "readlink", "printf", "env")


def machine(base: Path, files: Mapping[str, str | bytes] | None = None) -> Path:
    """The root of a fake machine below `base`, whose programs are in `base/bin`."""
    root = base / "root"
    for name, content in {**FILES, **(files or {})}.items():
        path = root / name.removeprefix("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    card = root / "sys/class/net/eth0"
    slot = root / "sys/devices/pci/0000:03:00.0"
    slot.mkdir(parents=True, exist_ok=True)
    (root / "drivers/i40e").mkdir(parents=True, exist_ok=True)
    if not (card / "device").exists():
        (card / "device").symlink_to(slot)
        (slot / "driver").symlink_to(root / "drivers/i40e")
    return root


def program(folder: Path, name: str, script: str) -> None:
    """An executable of one shell script."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def programs(folder: Path) -> str:
    """The PATH of a machine with nothing but what it needs, and its own programs."""
    for name, text in PROGRAMS.items():
        program(folder, name, f"cat <<'TOLD'\n{text}TOLD\n")
    # None of its programs hangs, and on a busy machine any of them may be slow.
    program(folder, "timeout", 'shift\nexec "$@"\n')
    for name in NEEDED:
        real = shutil.which(name)
        if real and not (folder / name).exists():
            (folder / name).symlink_to(real)
    return str(folder)
