"""The mount of a folder, from lines that kernels print."""

import pytest

from bakeoff.core.system.mounts import Mount, carrier_of, mount_at

TABLE = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 27 0:33 / /mnt rw - tmpfs tmpfs rw,size=1k
31 30 0:34 / /mnt/nfs\\040share rw,relatime - nfs4 filer.example:/export rw,vers=4.2,nconnect=4
32 30 0:35 / /mnt/cifs rw shared:7 master:2 - cifs //filer.example/share rw,vers=3.1.1,username=who
33 30 0:36 / /mnt/six rw - nfs4 [2001:db8::7]:/export rw
34 30 0:37 / /mnt/ssh rw - fuse.sshfs who@filer.example:/srv rw,user_id=0
35 30 0:38 / /mnt/auto rw - autofs systemd-1 rw,fd=9
36 35 0:39 / /mnt/auto rw - nfs4 filer.example:/home rw
broken line
"""


def test_the_innermost_mount_holds_the_path() -> None:
    assert mount_at("/mnt/nfs share/a/b", TABLE) == Mount(
        "/mnt/nfs share", "nfs4", "filer.example:/export", "rw,relatime,rw,vers=4.2,nconnect=4", "mount"
    )
    assert mount_at("/mnt/nfs", TABLE).point == "/mnt"
    assert mount_at("/home/who", TABLE).source == "/dev/vda"
    assert mount_at("/mnt/auto/x", TABLE).type == "nfs4"
    assert mount_at("/x", "").type == "unknown"


@pytest.mark.parametrize(
    ("path", "server"),
    [
        ("/mnt/nfs share", "filer.example"),
        ("/mnt/cifs", "filer.example"),
        ("/mnt/ssh", "filer.example"),
        ("/mnt/six", "2001:db8::7"),
        ("/", None),
        ("/mnt", None),
    ],
)
def test_the_server_of_a_network_mount_is_named(path: str, server: str | None) -> None:
    assert mount_at(path, TABLE).server == server


@pytest.mark.parametrize(
    ("kind", "source", "carrier"),
    [
        ("xfs", "/dev/sda1", "disk"),
        ("tmpfs", "tmpfs", "memory"),
        ("nfs", "filer:/x", "mount"),
        ("cifs", "//filer/x", "wire"),
        ("fuse.rclone", "s:share", "wire"),
        ("fuse", "https://filer/dav", "wire"),  # davfs2 gives no subtype
        ("fuseblk", "/dev/sdb1", "unknown"),  # its daemon reads the disk, not this process
        ("fuse.bindfs", "/srv", "unknown"),
        ("zfs", "tank/home", "unknown"),
    ],
)
def test_what_counts_the_bytes_of_a_file_system(kind: str, source: str, carrier: str) -> None:
    assert carrier_of(kind, source) == carrier
