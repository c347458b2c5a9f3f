"""Write a corpus to a folder. The manifest comes last, so a folder without one is not yet a corpus."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.testdata.corpus import dynamic
from bakeoff.testdata.corpus.content import MAKERS
from bakeoff.testdata.corpus.layout import LAYOUTS, Layout, PlannedFile
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME, Manifest, ManifestFile

UNFINISHED_NAME = ".bakeoff-corpus-unfinished.json"
Progress = Callable[[int, int], None]


def write_corpus(
    suite: str, folder: Path, seed: int, *, force: bool = False, progress: Progress | None = None
) -> Manifest:
    """Make the corpus of `suite` in `folder`; `progress` gets (bytes done, bytes in all).

    An empty or missing folder is filled; an unfinished corpus of the same suite and seed is finished; a
    finished one is checked and repaired. Raises PlanError for a folder with other content unless `force`,
    which adds the corpus to what is there; GeneratorError when the disk is full or the folder is not writable.
    """
    layout = LAYOUTS[suite](seed)
    _claim(folder, suite, seed, force)
    try:
        _write_marker(folder, suite, seed)
        manifest = _write_files(folder, suite, seed, layout, progress)
        if layout.cgi:
            _write_program(folder / dynamic.PATH)
        _write_if_changed(folder / MANIFEST_NAME, manifest.to_bytes())
        (folder / UNFINISHED_NAME).unlink(missing_ok=True)
    except OSError as error:
        raise GeneratorError(
            f"cannot write the corpus to {folder} ({error.strerror}): it needs about "
            f"{_need(layout) // 1_000_000} MB of "
            "free space and a writable folder; the same command goes on where it stopped"
        ) from None
    return manifest


def _need(layout: Layout) -> int:
    return sum(f.size for f in layout.files) + 4096 * len(layout.files)


def _claim(folder: Path, suite: str, seed: int, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise PlanError(f"{folder} is not a folder: give a new or empty one")
    if force or not folder.exists() or not any(folder.iterdir()):
        return
    for name in (UNFINISHED_NAME, MANIFEST_NAME):
        identity = _identity(folder / name)
        if identity == (suite, seed):
            return
        if identity is not None:
            raise PlanError(
                f"{folder} holds the corpus {identity[0]} of seed {identity[1]}: give an empty folder, or "
                f"--force to write over it"
            )
    raise PlanError(f"{folder} is not empty: give an empty folder, or --force to add the corpus to what is there")


def _identity(path: Path) -> tuple[str, int] | None:
    try:
        table = json.loads(path.read_bytes())
        return str(table["suite"]), int(table["seed"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_marker(folder: Path, suite: str, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / UNFINISHED_NAME).write_text(json.dumps({"suite": suite, "seed": seed}) + "\n")


def _write_files(folder: Path, suite: str, seed: int, layout: Layout, progress: Progress | None) -> Manifest:
    classes: dict[str, list[ManifestFile]] = defaultdict(list)
    total, done = sum(f.size for f in layout.files), 0
    for parent in sorted({(folder / f.path).parent for f in layout.files}):
        parent.mkdir(parents=True, exist_ok=True)
    for planned in layout.files:
        data = make(seed, planned)
        _write_if_changed(folder / planned.path, data)
        classes[planned.cls].append(
            ManifestFile(path=planned.path, size=planned.size, sha256=hashlib.sha256(data).hexdigest())
        )
        done += planned.size
        if progress is not None:
            progress(done, total)
    pages = tuple(
        ManifestFile(
            path=f"{dynamic.PATH}?n={n}&size={size}",
            size=size,
            sha256=hashlib.sha256(dynamic.body(n, size)).hexdigest(),
        )
        for n, size in layout.pages
    )
    return Manifest(
        format=1,
        suite=suite,
        seed=seed,
        files=len(layout.files),
        bytes_total=total,
        classes={name: tuple(files) for name, files in classes.items()},
        dynamic=pages,
    )


def make(seed: int, planned: PlannedFile) -> bytes:
    """The bytes of one file."""
    ending = planned.path[planned.path.rindex(".") :]
    data = MAKERS[ending](seed, planned.path, planned.size)
    assert len(data) == planned.size, planned
    return data


def _write_if_changed(path: Path, data: bytes) -> None:
    """Leave a right file alone: a repeated command then costs reading only, and times of change stay."""
    try:
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return
    except FileNotFoundError:
        pass
    path.write_bytes(data)


def _write_program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_if_changed(path, dynamic.CGI.encode())
    path.chmod(0o755)
