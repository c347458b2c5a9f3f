"""Several run files on one command line: which of them failed, and what is noted of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import run_files
from bakeoff.core.errors import PlanError
from bakeoff.store.collections.collection import Collection, read_collection
from bakeoff.store.collections.join import Notes
from bakeoff.store.sqlite.read import read_run

RUN_FILES = (
    "Run file. Several files (another day, network, client or contender) make one report. Blocks of one plan count "
    "together where the days agree. Differences come first; contenders of different files are unpaired. Files of "
    "different suites become the suites of one report."
)
MOST, LONGEST = 50, 500
_NOTE = re.compile(r"\s*(\d{4}-\d{2}-\d{2})\s*:\s*(\S.*)", re.DOTALL)

NoteOption = Annotated[
    list[str] | None,
    typer.Option(
        "--note",
        metavar="DAY:TEXT",
        help="A dated note for the report: '2026-11-21: failed at 8 clients, new driver, run again'; repeatable.",
    ),
]
FailedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--failed-run",
        metavar="RUN.bakeoff",
        help="A failed file that another one repeats: it does not count, is shown next to its repetition, and needs a "
        "--note; repeatable.",
        autocompletion=run_files,
    ),
]


def notes_of(given: Sequence[str] | None) -> Notes:
    """Day and text of each note, without secrets. Raises PlanError."""
    from bakeoff.core.redact import without_secrets

    if given and len(given) > MOST:
        raise PlanError(f"{len(given)} notes are too many for one report: at most {MOST}; write a paper (--paper)")
    return tuple((day, without_secrets(text)) for day, text in map(_note, given or ()))


def _note(given: str) -> tuple[str, str]:
    found = _NOTE.fullmatch(given)
    try:
        if found is None:
            raise ValueError
        day = date.fromisoformat(found[1]).isoformat()
    except ValueError:
        raise PlanError(f"--note {given!r} has no day: write it as '2026-11-21: what happened'") from None
    text = " ".join(found[2].split())
    if len(text) > LONGEST:
        raise PlanError(f"a note of {len(text):,} signs is too long: at most {LONGEST}; write a paper (--paper)")
    return day, text


def read_inputs(paths: Sequence[Path], failed: Sequence[str], notes: Notes) -> Collection:
    """What the words mean, without secrets. Raises RunFileError and PlanError."""
    from bakeoff.report.embed.redacted_rows import HiddenRows

    hide = HiddenRows()
    return read_collection(paths, failed, notes, lambda path: hide.run(read_run(path)))
