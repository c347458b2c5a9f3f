"""The folder of a campaign: what was planned, and an ordinary run file for each suite.

    lab.bakeoff/
      campaign.json        the campaign: names, weights, the plan of each suite
      faults.json          why a suite could not start, by its name
      started-here         the mark of who started it, see bakeoff.run.started_here
      01-web-static.bakeoff

Each run file can be read by itself; `campaign.json` says by its plan's hash which one belongs there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bakeoff.bounded_file import MIB, read_text_bounded
from bakeoff.errors import PlanError, RunFileError
from bakeoff.store.canonical import plan_hash
from bakeoff.store.read import read_run
from bakeoff.store.records import RunRecord
from bakeoff.whole_file import write_whole

CAMPAIGN, FAULTS, STARTED = "campaign.json", "faults.json", "started-here"
FORMAT = 1
MOST_BYTES, MARK_BYTES = 64 * MIB, 1024


class StoredLeg(BaseModel):
    """A suite of a campaign as it is stored; `file` is its run file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    file: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}\.bakeoff$")
    weight: float
    plan: dict[str, Any]

    @property
    def plan_hash(self) -> str:
        """Of the plan that the run file must have."""
        return plan_hash(self.plan)


class StoredCampaign(BaseModel):
    """A campaign as it is stored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    name: str
    title: str
    seed: int
    contenders: tuple[str, ...]
    legs: tuple[StoredLeg, ...]

    @property
    def hash(self) -> str:
        """SHA-256 of what was planned, in hex."""
        return plan_hash(self.model_dump(mode="json"))


@dataclass(frozen=True)
class CampaignFolder:
    """A campaign and what was measured of it: `runs` by the name of the suite, and why others could not start."""

    path: Path
    campaign: StoredCampaign
    runs: Mapping[str, RunRecord]
    faults: Mapping[str, str]


def is_campaign_folder(path: Path) -> bool:
    """Whether this is the folder of a campaign."""
    return (path / CAMPAIGN).is_file()


def campaign_of(paths: Sequence[Path]) -> Path | None:
    """The folder of a campaign that the words mean, if they do. Raises PlanError where something stands beside it."""
    folders = [path for path in paths if is_campaign_folder(path)]
    if folders and len(paths) > 1:
        raise PlanError(f"{folders[0]} is a campaign: name it alone")
    return folders[0] if folders else None


def write_campaign(path: Path, campaign: StoredCampaign) -> None:
    """Write what is planned. Raises LabError."""
    write_whole(path / CAMPAIGN, json.dumps(campaign.model_dump(mode="json"), indent=1, ensure_ascii=False))


def write_mark(path: Path, mark: str | None) -> None:
    """Write the mark of who started a campaign. Raises LabError."""
    write_whole(path / STARTED, mark or "")


def read_mark(path: Path) -> str | None:
    """The mark of who started a campaign, if there is one."""
    try:
        return read_text_bounded(path / STARTED, MARK_BYTES).strip() or None
    except (OSError, ValueError):
        return None


def write_faults(path: Path, faults: Mapping[str, str]) -> None:
    """Write why suites could not start. Raises LabError."""
    write_whole(path / FAULTS, json.dumps(dict(faults), indent=1, ensure_ascii=False))


def read_campaign_folder(path: Path) -> CampaignFolder:
    """A campaign with its runs. Raises RunFileError for what is damaged, of another version, or put together from
    several.
    """
    campaign = read_planned(path)
    runs = {}
    for leg in campaign.legs:
        file = path / leg.file
        if file.exists():
            runs[leg.name] = run = read_run(file)
            if run.first_plan_hash != leg.plan_hash:
                raise RunFileError(f"{file} is not the run that {path} planned: put back the one that was there")
    return CampaignFolder(path, campaign, runs, _faults(path, campaign))


def read_planned(path: Path) -> StoredCampaign:
    """What a campaign planned. Raises RunFileError."""
    text = _text(path / CAMPAIGN)
    try:
        campaign = StoredCampaign.model_validate_json(text)
    except ValidationError as error:
        if _format_of(text) > FORMAT:
            raise RunFileError(f"{path} was written by a later version of Bakeoff: install that one") from None
        raise RunFileError(
            f"{path / CAMPAIGN} is damaged ({error.errors()[0]['msg']}): run the campaign again"
        ) from None
    names = [leg.name for leg in campaign.legs]
    if (
        campaign.format != FORMAT
        or len(set(names)) != len(names)
        or len({leg.file for leg in campaign.legs}) < len(names)
    ):
        raise RunFileError(f"{path / CAMPAIGN} is damaged or of another version: run the campaign again")
    return campaign


def _format_of(text: str) -> int:
    try:
        found = json.loads(text)
    except ValueError:
        return 0
    known = found.get("format") if isinstance(found, dict) else 0
    return known if isinstance(known, int) else 0


def _faults(path: Path, campaign: StoredCampaign) -> Mapping[str, str]:
    if not (path / FAULTS).exists():
        return {}
    try:
        found = json.loads(_text(path / FAULTS))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise RunFileError(f"{path / FAULTS} is damaged: remove it, then `bakeoff resume {path}`")
    return {leg.name: str(found[leg.name]) for leg in campaign.legs if leg.name in found}


def _text(path: Path) -> str:
    try:
        return read_text_bounded(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise RunFileError(f"{path} cannot be read ({why}): check the path") from None
