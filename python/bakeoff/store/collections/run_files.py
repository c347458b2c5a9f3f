"""Run files in folders: which there are, and what of them can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run

PATTERN = "*.bakeoff"
MOST = 10_000


@dataclass(frozen=True)
class Unread:
    """A file that is no part of what is shown, with the reason."""

    path: Path
    reason: str


def run_files(paths: Sequence[Path]) -> list[Path]:
    """The run files that are named, and all in the folders that are named, in the order of their names. Raises
    PlanError for a path that is not there, folders without any and more than MOST.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise PlanError(f"{path} does not exist: name run files, or folders that hold some")
        found += sorted(each for each in path.rglob(PATTERN) if each.is_file()) if path.is_dir() else [path]
    if not found:
        raise PlanError(f"no run file ({PATTERN}) in {', '.join(map(str, paths))}: name run files, or their folder")
    if len(found) > MOST:
        raise PlanError(f"{len(found):,} run files are too many: at most {MOST:,}")
    return list(dict.fromkeys(found))


def read_all(paths: Sequence[Path]) -> Iterator[RunRecord | Unread]:
    """Each of them, one at a time: a long history need not fit into memory."""
    for path in paths:
        try:
            yield read_run(path)
        except RunFileError as error:
            yield Unread(path, str(error))
