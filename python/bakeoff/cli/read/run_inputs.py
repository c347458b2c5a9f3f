"""Several run files on one command line: which of them failed, and what is noted of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli.complete import run_files
from bakeoff.core.errors import PlanError
from bakeoff.store.collections.campaign import CampaignFolder, campaign_of, read_campaign_folder
from bakeoff.store.collections.join import Notes, join
from bakeoff.store.collections.suites import as_campaign
from bakeoff.store.sqlite.read import read_run

if TYPE_CHECKING:
    from bakeoff.store.records.run_records import RunRecord

RUN_FILES = (
    "Run file. Several (another day, network, client or contender) are told of together: blocks of one plan count "
    "together where the days agree, what differs is shown first, and what no file has both of is unpaired. Files of "
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
        help="Of several files one that failed and that another repeats: it counts no more, is shown beside its "
        "repetition, and needs a --note; repeatable.",
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


def folder_of(paths: Sequence[Path], failed: Sequence[str] = (), notes: Notes = ()) -> CampaignFolder | None:
    """The campaign that the words mean: its folder, or run files of different suites; None for those of one. Raises
    RunFileError and PlanError.
    """
    folder = campaign_of(paths)
    if folder is not None:
        refuse_for_campaigns(folder, notes, failed)
        return read_campaign_folder(folder)
    return suites_of([read_run(path) for path in paths], failed, notes) if len(paths) > 1 else None


def suites_of(runs: Sequence[RunRecord], failed: Sequence[str], notes: Notes) -> CampaignFolder | None:
    """Runs of different suites as a campaign; None for those of one. Raises PlanError."""
    found = as_campaign(runs)
    if found is not None and (failed or notes):
        raise PlanError(
            "run files of different suites have their notes in a paper (--paper): leave out --note, --failed-run"
        )
    return found


def read_several(paths: Sequence[Path], failed: Sequence[str] = (), notes: Notes = ()) -> RunRecord:
    """The run of these files. Raises RunFileError and PlanError."""
    from bakeoff.report.embed.redacted_rows import HiddenRows

    hide = HiddenRows()
    return join([hide.run(read_run(path)) for path in paths], failed, notes)


def refuse_for_campaigns(folder: Path, notes: Notes, failed: Sequence[str]) -> None:
    """A campaign has a paper for notes, and one run for each suite. Raises PlanError."""
    if notes or failed:
        raise PlanError(
            f"{folder} is a campaign, whose notes stand in a paper (--paper): leave out --note, --failed-run"
        )
