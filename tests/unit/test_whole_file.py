"""Files are there as a whole or not at all."""

import errno
from pathlib import Path

import pytest

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.system.atomic_write import write_whole


@pytest.mark.parametrize("replace", [True, False])
def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replace: bool
) -> None:
    target = tmp_path / "report.html"
    if replace:
        target.write_text("old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(GeneratorError, match="No space left"):
        write_whole(target, "new", replace=replace)
    assert [path.name for path in tmp_path.iterdir()] == (["report.html"] if replace else [])
    assert not replace or target.read_text() == "old"


def test_a_file_is_replaced_only_where_that_is_wanted(tmp_path: Path) -> None:
    target, link = tmp_path / "a", tmp_path / "link"
    link.symlink_to(target)
    write_whole(target, b"one", replace=False)
    with pytest.raises(PlanError, match="exists already"):
        write_whole(target, b"two", replace=False)
    assert target.read_bytes() == b"one"
    target.chmod(0o600)
    write_whole(link, b"two")
    assert target.read_bytes() == b"two" and link.is_symlink() and target.stat().st_mode & 0o777 == 0o600
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["folder", "missing/file", "x" * 300, "nul\0", "/dev/full", "loop"])
def test_places_that_cannot_be_written_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(GeneratorError, match="cannot be written"):
        write_whole(tmp_path / name, "page")
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "loop"}


def test_a_name_of_the_greatest_length_and_text_that_is_no_text(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    write_whole(target, "a\udcff")
    assert target.read_bytes() == b"a\\udcff"
