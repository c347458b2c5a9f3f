"""The folder of a campaign: what was planned, and an ordinary run file for each suite.

    lab.bakeoff/
      campaign.json        the campaign: names, weights, the plan of each suite
      faults.json          why a suite could not start, by its name
      challenged.json      the report that it challenges, if it does
      started-here         the mark of who started it, see bakeoff.run.checks.plan_origin
      01-web-static.bakeoff

Each run file can be read by itself; `campaign.json` says by its plan's hash which one belongs there. A run of a
suite may lack contenders that were not there when it began: see `records/absent.py`. What is challenged is known by its
SHA-256 in `campaign.json` and in each run file, so that none of it is exchanged unseen.
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.system.bounded_read import MIB, read_text_bounded
from bakeoff.store.collections.challenged import ChallengedCampaign, ChallengedSuite, challenged_campaign_of
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.canonical import plan_hash, to_json
from bakeoff.store.sqlite.read import read_run

CAMPAIGN, FAULTS, STARTED, CHALLENGED = "campaign.json", "faults.json", "started-here", "challenged.json"
FORMAT = 1
MOST_BYTES, MARK_BYTES = 64 * MIB, 1024


class StoredSuiteRun(BaseModel):
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
    suite_runs: tuple[StoredSuiteRun, ...]
    # The SHA-256 of what it challenges; the hash of a campaign that challenges nothing is what it was before.
    challenges: str = Field("", exclude_if=operator.not_)

    @property
    def hash(self) -> str:
        """SHA-256 of what was planned, in hex."""
        return plan_hash(self.model_dump(mode="json"))


@dataclass(frozen=True)
class CampaignFolder:
    """A campaign and what was measured of it: `runs` by the name of the suite, and why others could not start. Where it
    challenges a report, `challenged` is what that says.
    """

    path: Path
    campaign: StoredCampaign
    runs: Mapping[str, RunRecord]
    faults: Mapping[str, str]
    challenged: ChallengedCampaign | None = None
    stored_hash: str = ""
    """Of plans from which secrets were left out: the hash of what was planned."""

    @property
    def hash(self) -> str:
        """Of what was planned."""
        return self.stored_hash or self.campaign.hash

    @property
    def is_planned(self) -> bool:
        """Whether it was measured as a campaign: else it is made of run files of several suites."""
        return self.path != Path()

    @property
    def left_out(self) -> Mapping[str, ChallengedSuite]:
        """The suites of the report that is challenged that are not measured again, by name."""
        return {} if self.challenged is None else self.challenged.left_out

    @property
    def plans(self) -> Mapping[str, Mapping[str, Any]]:
        """The plan of each suite by its name: as it was run, or as it would have been."""
        plans = {name: suite.data["plan"] for name, suite in self.left_out.items() if suite.data.get("plan")}
        plans |= {suite_run.name: suite_run.plan for suite_run in self.campaign.suite_runs}
        return plans | {name: run.plan for name, run in self.runs.items()}


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
    """Write what is planned. Raises GeneratorError."""
    write_whole(path / CAMPAIGN, json.dumps(campaign.model_dump(mode="json"), indent=1, ensure_ascii=False))


def write_mark(path: Path, mark: str | None) -> None:
    """Write the mark of who started a campaign. Raises GeneratorError."""
    write_whole(path / STARTED, mark or "")


def read_mark(path: Path) -> str | None:
    """The mark of who started a campaign, if there is one."""
    try:
        return read_text_bounded(path / STARTED, MARK_BYTES).strip() or None
    except (OSError, ValueError):
        return None


def write_faults(path: Path, faults: Mapping[str, str]) -> None:
    """Write why suites could not start. Raises GeneratorError."""
    write_whole(path / FAULTS, json.dumps(dict(faults), indent=1, ensure_ascii=False))


def write_challenged(path: Path, challenged: ChallengedCampaign) -> str:
    """Write what a campaign challenges and give its SHA-256. Raises GeneratorError."""
    text = to_json(challenged.model_dump(mode="json"))
    write_whole(path / CHALLENGED, text)
    return _sha256(text)


def read_challenged(path: Path, campaign: StoredCampaign) -> ChallengedCampaign | None:
    """What a campaign challenges, if it does. Raises RunFileError where that is not what was written."""
    if not campaign.challenges:
        return None
    text = _text(path / CHALLENGED)
    try:
        if _sha256(text) != campaign.challenges:
            raise ValueError
        return challenged_by(campaign, ChallengedCampaign.model_validate_json(text))
    except ValueError:  # as pydantic's, too
        raise RunFileError(
            f"{path / CHALLENGED} is not what {path} challenged: put back the one that was there"
        ) from None


def challenged_by(campaign: StoredCampaign, read: ChallengedCampaign) -> ChallengedCampaign:
    """The same, when its suites are those of the campaign. Raises ValueError."""
    if [one.name for one in read.suites if not one.left_out] != [suite_run.name for suite_run in campaign.suite_runs]:
        raise ValueError("its suites differ from the campaign's")
    return read


def sha256_of(folder: CampaignFolder) -> str:
    """By what a campaign is known: the SHA-256 of what `sha256sum campaign.json 01-….bakeoff …` says of its files, in
    the order of its suites. Raises RunFileError.
    """
    names = [CAMPAIGN, *(suite_run.file for suite_run in folder.campaign.suite_runs if suite_run.name in folder.runs)]
    return _sha256("".join(f"{_digest(folder.path / name)}  {name}\n" for name in names))


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RunFileError(f"{path} cannot be read ({error.strerror}): check the path") from None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_campaign_folder(path: Path) -> CampaignFolder:
    """A campaign with its runs. Raises RunFileError for what is damaged, of another version, or put together from
    several.
    """
    campaign = read_planned(path)
    runs = {
        suite_run.name: read_run(path / suite_run.file)
        for suite_run in campaign.suite_runs
        if (path / suite_run.file).exists()
    }
    folder = CampaignFolder(path, campaign, runs, read_faults(path, campaign), read_challenged(path, campaign))
    check_runs(folder)
    return folder


def check_runs(folder: CampaignFolder) -> None:
    """Raises RunFileError where a run is not the one that was planned."""
    for suite_run in folder.campaign.suite_runs:
        run = folder.runs.get(suite_run.name)
        if run is None or (_is_of(run, suite_run) and challenged_campaign_of(run) == folder.campaign.challenges):
            continue
        raise RunFileError(f"{run.path} is not the run that {folder.path} planned: put back the one that was there")


def _is_of(run: RunRecord, suite_run: StoredSuiteRun) -> bool:
    """Whether a run is that of a suite, maybe without contenders that were not there when it began."""
    if run.first_plan_hash == suite_run.plan_hash:
        return True
    names = {contender.name for contender in run.contenders}
    return bool(names) and run.first_plan_hash == plan_hash(_plan_of(suite_run.plan, names))


def _plan_of(plan: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The plan of these contenders alone, as `bakeoff.run.modes.challenge.with_contenders` makes it."""
    contenders, fleet = plan.get("contenders"), plan.get("fleet")
    if not isinstance(contenders, list) or not isinstance(fleet, dict):
        return dict(plan)
    places = fleet.get("addresses")
    seen = {agent: _only(of, names) for agent, of in places.items()} if isinstance(places, dict) else {}
    there = [one for one in contenders if isinstance(one, dict) and one.get("name") in names]
    return {**plan, "contenders": there, "fleet": {**fleet, "addresses": {a: of for a, of in seen.items() if of}}}


def _only(of: Any, names: Collection[str]) -> dict[str, Any]:
    return {name: place for name, place in of.items() if name in names} if isinstance(of, dict) else {}


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
    names = [suite_run.name for suite_run in campaign.suite_runs]
    if (
        campaign.format != FORMAT
        or len(set(names)) != len(names)
        or len({suite_run.file for suite_run in campaign.suite_runs}) < len(names)
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


def read_faults(path: Path, campaign: StoredCampaign) -> Mapping[str, str]:
    """Why suites could not start, by name. Raises RunFileError."""
    if not (path / FAULTS).exists():
        return {}
    try:
        found = json.loads(_text(path / FAULTS))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise RunFileError(f"{path / FAULTS} is damaged: remove it, then `bakeoff resume {path}`")
    return {suite_run.name: str(found[suite_run.name]) for suite_run in campaign.suite_runs if suite_run.name in found}


def _text(path: Path) -> str:
    try:
        return read_text_bounded(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise RunFileError(f"{path} cannot be read ({why}): check the path") from None
