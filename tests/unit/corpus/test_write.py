import errno
import hashlib
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.testdata.corpus import write as writer
from bakeoff.testdata.corpus.dynamic import body
from bakeoff.testdata.corpus.layout import web_dynamic, web_static
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME, parse_manifest, read_manifest
from bakeoff.testdata.corpus.write import UNFINISHED_NAME, make, write_corpus

# What seed 1 gives, on every machine and for ever: contenders' copies and stored runs depend on it.
GOLDEN = {
    "web-static": "a1e43bb47f0b",
    "web-dynamic": "cd4e013dd24c",
}


def test_web_static_is_the_published_corpus() -> None:
    files = web_static(1).files
    sizes = [f.size for f in files]
    assert len(files) == 6011 and len({f.path for f in files}) == 6011
    assert (min(sizes), max(sizes)) == (223, 550_000)
    assert 55e6 < sum(sizes) < 65e6
    assert len({f.path.split("/")[0] for f in files}) == 61
    counts = Counter(f.cls for f in files)
    assert set(counts) == {"223", "735", "1522", "2895", "6040", "11426", "22132", "large"}
    assert all(f.size == int(f.cls) for f in files if f.cls != "large")
    assert all(f.size >= 24_000 for f in files if f.cls == "large")


def test_web_dynamic_has_the_published_folders() -> None:
    layout = web_dynamic(1)
    folders = {f.path.rpartition("/")[0] for f in layout.files}
    assert folders == {"", *(f"dir{i:02d}" for i in range(1, 11)), "dir10/sub1", "dir10/sub1/sub2"}
    assert {f.size for f in layout.files} == {256 << k for k in range(10)}
    assert len(layout.pages) == 200 and all(1024 <= size <= 16384 for _, size in layout.pages)


@pytest.mark.parametrize("suite", sorted(GOLDEN))
def test_the_same_bytes_on_every_machine(tmp_path: Path, suite: str) -> None:
    seen: list[tuple[int, int]] = []
    manifest = write_corpus(suite, tmp_path, 1, progress=lambda *pair: seen.append(pair))
    assert manifest.sha256.startswith(GOLDEN[suite])
    assert read_manifest(tmp_path) == manifest
    for files in manifest.classes.values():
        for f in files[::17]:
            data = (tmp_path / f.path).read_bytes()
            assert (len(data), hashlib.sha256(data).hexdigest()) == (f.size, f.sha256)
    assert seen[-1] == (manifest.bytes_total, manifest.bytes_total)
    on_disk = sum(len(files) for _, _, files in os.walk(tmp_path))
    assert on_disk == manifest.files + 1 + (suite == "web-dynamic")
    assert not (tmp_path / UNFINISHED_NAME).exists()


def test_another_seed_gives_other_bytes_of_the_same_sizes() -> None:
    one, two = web_static(1), web_static(2)
    assert sorted(f.size for f in one.files) == sorted(f.size for f in two.files)
    assert make(1, one.files[0]) != make(2, one.files[0])


def test_dynamic_pages_are_listed_with_their_bytes_and_the_program_is_executable(tmp_path: Path) -> None:
    manifest = write_corpus("web-dynamic", tmp_path, 1)
    page = manifest.dynamic[3]
    n, size = 3, page.size
    assert page.path == f"cgi-bin/bakeoff.cgi?n={n}&size={size}"
    assert page.sha256 == hashlib.sha256(body(n, size)).hexdigest()
    assert (tmp_path / "cgi-bin/bakeoff.cgi").stat().st_mode & 0o111 == 0o111


def test_a_folder_with_other_content_is_refused_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(PlanError, match="is not empty: give an empty folder, or --force"):
        write_corpus("web-dynamic", tmp_path, 1)
    assert [p.name for p in tmp_path.iterdir()] == ["precious.txt"]
    write_corpus("web-dynamic", tmp_path, 1, force=True)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_another_corpus_is_refused(tmp_path: Path) -> None:
    write_corpus("web-dynamic", tmp_path, 1)
    with pytest.raises(PlanError, match="holds the corpus web-dynamic of seed 1"):
        write_corpus("web-dynamic", tmp_path, 2)


def test_an_interrupted_corpus_is_finished_and_a_damaged_one_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    real = writer.make

    def stops(seed: int, planned: Any) -> bytes:
        nonlocal calls
        calls += 1
        if calls == 100:
            raise KeyboardInterrupt
        return real(seed, planned)

    monkeypatch.setattr(writer, "make", stops)
    with pytest.raises(KeyboardInterrupt):
        write_corpus("web-dynamic", tmp_path, 1)
    assert not (tmp_path / MANIFEST_NAME).exists()
    write_corpus("web-dynamic", tmp_path, 1)
    kept, damaged = tmp_path / "page-256-0.html", tmp_path / "page-256-1.html"
    right, changed = damaged.read_bytes(), kept.stat().st_mtime_ns
    damaged.write_bytes(b"x" * 256)
    write_corpus("web-dynamic", tmp_path, 1)
    assert damaged.read_bytes() == right and kept.stat().st_mtime_ns == changed


def test_a_full_disk_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: Path, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer, "_write_if_changed", full)
    with pytest.raises(GeneratorError, match=r"No space left on device.*needs about 15 MB of free space"):
        write_corpus("web-dynamic", tmp_path, 1)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(PlanError, match="is not a folder"):
        write_corpus("web-dynamic", path, 1)


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"format": 99}', b"<html>"])
def test_what_is_not_a_manifest(data: bytes) -> None:
    with pytest.raises(PlanError, match="nginx: /x is not a corpus manifest of this version"):
        parse_manifest(data, "nginx: /x")


def test_a_manifest_cannot_lead_out_of_the_corpus(tmp_path: Path) -> None:
    text = write_corpus("web-dynamic", tmp_path, 1).to_bytes()
    with pytest.raises(PlanError, match="not a corpus manifest"):
        parse_manifest(text.replace(b'"page-256-0.html"', b'"/etc/passwd"'), "x")


def test_a_missing_corpus_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="make one with `bakeoff corpus web-static"):
        read_manifest(tmp_path)
