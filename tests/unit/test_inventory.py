"""Known trees: what is counted, what is not, and what is never touched."""

import os
from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.settings.file_weights import inventory_to_toml, read_weights
from bakeoff.testdata.inventory import class_of, take_inventory

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def share(tmp_path: Path) -> Path:
    folder = tmp_path / "share"
    sizes = {"a": 1, "b": KIB, "c": KIB + 1, "deep/d": 2 * KIB, "deep/er/e": MIB, "deep/er/f": 0}
    for name, size in sizes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"x" * 4 * MIB)
    (folder / "file-link").symlink_to(outside / "secret")
    (folder / "folder-link").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "a-again").hardlink_to(folder / "a")
    os.mkfifo(folder / "pipe")
    return folder


def test_a_known_tree_is_counted_by_size(share: Path) -> None:
    found = take_inventory(share, 100)
    assert found.sizes == {KIB: (2, 1 + KIB), 2 * KIB: (2, 3 * KIB + 1), MIB: (1, MIB)}
    assert (found.files, found.bytes, found.empty, found.folders) == (5, 4 * KIB + 2 + MIB, 1, 3)
    assert (found.links, found.special, found.again, found.errors, found.complete) == (3, 1, 1, 0, True)


def test_classes_double_and_hold_their_upper_end() -> None:
    assert [class_of(size) for size in (1, KIB, KIB + 1, 64 * KIB, 64 * KIB + 1)] == [
        KIB,
        KIB,
        2 * KIB,
        64 * KIB,
        128 * KIB,
    ]


def test_what_cannot_be_read_is_counted_and_named(share: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, real = str(share / "deep/er"), os.open

    def refuse(path: str, *rest: int) -> int:
        if path == gone:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    found = take_inventory(share, 100)
    assert (found.errors, found.named_errors) == (1, [f"{gone}: Permission denied"])
    assert MIB not in found.sizes


def test_a_walk_is_bounded_and_no_weights_come_from_a_part(share: Path, tmp_path: Path) -> None:
    found = take_inventory(share, 3)
    assert (found.names, found.complete) == (3, False)
    (tmp_path / "w.toml").write_text(inventory_to_toml(found))
    with pytest.raises(ValueError, match=r"stopped at its limit.*larger --limit"):
        read_weights(tmp_path / "w.toml")


def test_nothing_of_the_share_changes(share: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        paths = [share, *sorted(share.rglob("*"))]
        return [(str(p), (s := p.lstat()).st_mtime_ns, s.st_atime_ns) for p in paths if not p.is_symlink()]

    for path in (share, share / "deep"):
        os.utime(path, ns=(1, 2))  # an old time of access is what reading renews
    before = state()
    take_inventory(share, 100)
    assert state() == before


def test_the_folder_itself_is_no_link(share: Path) -> None:
    with pytest.raises(OSError):
        take_inventory(share / "folder-link", 100)


def test_weights_are_read_back(share: Path, tmp_path: Path) -> None:
    file = tmp_path / 'w".toml'
    file.write_text(inventory_to_toml(take_inventory(share, 100)))
    found = read_weights(file)
    assert found.folder == str(share)
    assert [(size.up_to_bytes, size.files, size.bytes) for size in found.sizes] == [
        (KIB, 2, KIB + 1),
        (2 * KIB, 2, 3 * KIB + 1),
        (MIB, 1, MIB),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "[inventory]\nfolder = 3\ncomplete = true\nerrors = 0\n[[size]]\nfiles = 1", "[inventory]\ncomplete = true",
     "[inventory]\nfolder='a'\ncomplete=true\nerrors=0\n[[size]]\nup_to_bytes=0\nfiles=1\nbytes=1", "inventory = 1"],
)  # fmt: skip
def test_other_files_are_refused_in_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "w").write_text(text)
    with pytest.raises((PlanError, ValueError)) as caught:
        read_weights(tmp_path / "w")
    assert "\n" not in str(caught.value) and str(tmp_path / "w") in str(caught.value)
