"""The runs that a report tells of, inside of it: their rows without histograms, and without what a report hides.

A report is made of these rows and of nothing else of a run, so that it can be made again from what it holds.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.core.units import format_size
from bakeoff.report.embed.embedded_data import MOST_VALUES, parsed, values_in
from bakeoff.report.embed.redacted_rows import HiddenRows
from bakeoff.store.collections.campaign import (
    CampaignFolder,
    StoredCampaign,
    campaign_of,
    challenged_by,
    check_runs,
    read_challenged,
    read_faults,
    read_planned,
)
from bakeoff.store.collections.challenged import ChallengedCampaign
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_tables, record_of
from bakeoff.store.sqlite.rows import TRIALS, VERSION, Tables
from bakeoff.store.sqlite.schema import damaged

RUNS, ABOUT = "runs", "embedded"
"""What a report holds under these names: the rows, packed, and what is said of them."""
FORMAT = 1
MOST_CHARACTERS = 850_000
"""Of a page: what is packed into more is left out, and the report needs its run files to be verified."""
MOST_UNPACKED = 32 << 20
MEMORY_BYTES = 64 << 20
MOST_FILES = 1_000
# One hundredth larger than the preset alone makes it, in half of the time.
FILTERS = ({"id": lzma.FILTER_LZMA2, "preset": 4, "depth": 4},)
NAME = r"[^/\x00-\x1f]{1,255}"


@dataclass(frozen=True)
class EmbeddedFile:
    """A run file by its rows. Of `path` reports tell the name."""

    path: Path
    tables: Tables

    @cached_property
    def record(self) -> RunRecord:
        """Raises RunFileError where the rows are none of a run."""
        return record_of(self.path, self.tables)

    @property
    def seal(self) -> str:
        """That of the run file."""
        return self.record.seal


@dataclass(frozen=True)
class EmbeddedCampaign:
    """The campaign that the files are of: its folder, what it planned, the hash of that, why suites did not start, and
    what it challenges.
    """

    path: Path
    stored: StoredCampaign
    plan_hash: str
    faults: Mapping[str, str]
    challenged: ChallengedCampaign | None = None


@dataclass(frozen=True)
class EmbeddedRuns:
    """What a report is made of. `why_not` says why a report cannot hold it, and is empty when it can. `aa` are the A/A
    runs whose noise floors it quotes, `aa_why_not` the same of these.
    """

    files: tuple[EmbeddedFile, ...]
    campaign: EmbeddedCampaign | None = None
    why_not: str = ""
    aa: tuple[EmbeddedFile, ...] = ()
    aa_why_not: str = ""

    @property
    def trials(self) -> int:
        """How many trials were stored."""
        return sum(len(file.tables[TRIALS]["id"]) for file in self.files)

    @property
    def folder(self) -> CampaignFolder:
        """The campaign with its runs. Raises RunFileError."""
        assert self.campaign is not None
        campaign = self.campaign
        by_name = {file.path.name: file for file in self.files}
        runs = {
            suite_run.name: by_name[suite_run.file].record
            for suite_run in campaign.stored.suite_runs
            if suite_run.file in by_name
        }
        return CampaignFolder(
            campaign.path, campaign.stored, runs, campaign.faults, campaign.challenged, campaign.plan_hash
        )


def embedded_from(paths: Sequence[Path], aa: Sequence[Path] = ()) -> EmbeddedRuns:
    """What of run files, or of a campaign, and of A/A runs may be told: without secrets. Raises RunFileError, also
    where a run is not the one that a campaign planned.
    """
    folder, hide = campaign_of(paths), HiddenRows()
    if folder is None:
        files = tuple(_embedded_file(path, hide) for path in paths)
        return _with_floors(EmbeddedRuns(files, None, hide.why_not), aa, hide)
    stored = read_planned(folder)
    faults, challenges = read_faults(folder, stored), read_challenged(folder, stored)
    files = tuple(
        _embedded_file(folder / suite_run.file, hide)
        for suite_run in stored.suite_runs
        if (folder / suite_run.file).exists()
    )
    suite_runs = tuple(
        suite_run.model_copy(update={"plan": hide.plan(suite_run.plan)}) for suite_run in stored.suite_runs
    )
    hidden_faults = {name: hide.text(text) for name, text in faults.items()}
    if challenges is not None:
        challenges = ChallengedCampaign.model_validate(hide.plan(challenges.model_dump(mode="json")))
    campaign = EmbeddedCampaign(
        folder, stored.model_copy(update={"suite_runs": suite_runs}), stored.hash, hidden_faults, challenges
    )
    embedded = _with_floors(EmbeddedRuns(files, campaign, hide.why_not), aa, hide)
    check_runs(replace(embedded.folder, campaign=stored))
    return embedded


def _with_floors(embedded: EmbeddedRuns, aa: Sequence[Path], hide: HiddenRows) -> EmbeddedRuns:
    """With A/A runs, which are told last: what cannot be hidden in them keeps them alone out."""
    floors = tuple(_embedded_file(path, hide) for path in aa)
    return replace(embedded, aa=floors, aa_why_not=hide.why_not)


def _embedded_file(path: Path, hide: HiddenRows) -> EmbeddedFile:
    tables = read_tables(path)
    try:
        return EmbeddedFile(path, hide.tables(tables))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:  # JSON that is none
        raise damaged(path, error) from error


@dataclass(frozen=True)
class Packed:
    """What a report holds of its runs: `rows` are empty when it holds none, for the reason that `about` tells."""

    rows: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        """For the data of a report, by name."""
        return {ABOUT: dict(self.about), **({RUNS: self.rows} if self.rows else {})}


NONE = Packed()


def packed(embedded: EmbeddedRuns) -> Packed:
    """As a report holds it: where it has no room for its A/A runs, or may not tell of these, without them."""
    if embedded.aa and not embedded.aa_why_not and (found := _compressed(embedded)).rows:
        return found
    return _compressed(replace(embedded, aa=()))


def _compressed(embedded: EmbeddedRuns) -> Packed:
    if embedded.why_not:
        return Packed(about={"missing": embedded.why_not})
    text = _text(embedded)
    if len(text) > MOST_UNPACKED:
        return Packed(about={"missing": f"they have {format_size(len(text))}, {format_size(MOST_UNPACKED)} at most"})
    if (values := values_in(text.decode())) > MOST_VALUES:
        return Packed(about={"missing": f"they have {values:,} values, {MOST_VALUES:,} at most"})
    rows = base64.b64encode(lzma.compress(text, filters=FILTERS)).decode()
    if len(rows) > MOST_CHARACTERS:
        missing = f"packed they have {format_size(len(rows))}, {format_size(MOST_CHARACTERS)} at most"
        return Packed(about={"missing": missing})
    return _with_digest(embedded, rows, text)


def repacked(embedded: EmbeddedRuns, rows: str) -> Packed:
    """The same of what a report holds already."""
    return _with_digest(embedded, rows, _unpacked(rows, "this report"))


def _with_digest(embedded: EmbeddedRuns, rows: str, text: bytes) -> Packed:
    return Packed(rows, {"trials": embedded.trials, "sha256": hashlib.sha256(text).hexdigest()})


def _text(embedded: EmbeddedRuns) -> bytes:
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "files": [{"name": file.path.name, "tables": file.tables} for file in embedded.files],
    }
    if embedded.aa:
        document["aa"] = [{"name": file.path.name, "tables": file.tables} for file in embedded.aa]
    if embedded.campaign is not None:
        campaign = embedded.campaign
        document["campaign"] = {
            "folder": campaign.path.name,
            "stored": campaign.stored.model_dump(mode="json"),
            "plan_hash": campaign.plan_hash,
            "faults": dict(campaign.faults),
            "challenged": None if campaign.challenged is None else campaign.challenged.model_dump(mode="json"),
        }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def digest(rows: str) -> str:
    """By what packed rows are known, however they are packed. Raises PlanError for what cannot be unpacked."""
    return hashlib.sha256(_unpacked(rows, "this report")).hexdigest()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=rf"^{NAME}$")
    tables: dict[str, Any]


class _Campaign(BaseModel):
    model_config = ConfigDict(extra="forbid")

    folder: str = Field(pattern=rf"^{NAME}$")
    stored: StoredCampaign
    plan_hash: str = Field(max_length=100)
    faults: dict[str, str]
    challenged: ChallengedCampaign | None = None


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: int
    version: int
    files: list[_File] = Field(max_length=MOST_FILES)
    campaign: _Campaign | None = None
    aa: list[_File] = Field(default=[], max_length=MOST_FILES)


def read_embedded(rows: str, named: str) -> EmbeddedRuns:
    """What the report `named` holds, from packed rows. Raises PlanError for what is damaged or of another version."""
    found = parsed(_unpacked(rows, named).decode("utf-8", "replace"), named)
    try:
        document = _Document.model_validate(found)
    except ValidationError as error:
        if isinstance(found, dict) and (found.get("format"), found.get("version")) != (FORMAT, VERSION):
            raise _other_version(named) from None
        where = ".".join(map(str, error.errors(include_url=False)[0]["loc"][:4]))
        raise _damaged(named, where) from None
    if (document.format, document.version) != (FORMAT, VERSION):
        raise _other_version(named)
    files, floors = (
        tuple(EmbeddedFile(Path(file.name), file.tables) for file in each) for each in (document.files, document.aa)
    )
    embedded = EmbeddedRuns(files, _campaign(document.campaign, named), aa=floors)
    if embedded.campaign is None and not embedded.files:
        raise _damaged(named, "there are none")
    return embedded


def _campaign(found: _Campaign | None, named: str) -> EmbeddedCampaign | None:
    if found is None:
        return None
    try:
        challenges = found.challenged and challenged_by(found.stored, found.challenged)
    except ValueError as error:
        raise _damaged(named, str(error)) from None
    return EmbeddedCampaign(Path(found.folder), found.stored, found.plan_hash, found.faults, challenges)


def checked(embedded: EmbeddedRuns, named: str) -> EmbeddedRuns:
    """The same, when all of its rows are those of runs. Raises PlanError."""
    try:
        for file in (*embedded.files, *embedded.aa):
            _ = file.record
    except RunFileError as error:
        raise _damaged(named, str(error.__cause__ or error)) from None
    return embedded


def _other_version(named: str) -> PlanError:
    return PlanError(
        f"the runs in {named} were put there by another version of Bakeoff: name the run file, or install that version"
    )


def _damaged(named: str, what: str) -> PlanError:
    return PlanError(f"the runs in {named} are damaged ({what}): get the report again from where it was made")


def _unpacked(rows: str, named: str) -> bytes:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY_BYTES)
    try:
        text = unpacker.decompress(base64.b64decode(rows, validate=True), MOST_UNPACKED)
    except (binascii.Error, ValueError, lzma.LZMAError) as error:
        raise _damaged(named, str(error)) from None
    if not unpacker.eof or unpacker.unused_data:
        raise _damaged(named, "cut off, or larger than any report's")
    return text
