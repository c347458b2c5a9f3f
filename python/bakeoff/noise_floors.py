"""Where the noise floors that comparisons quote come from: A/A runs that are named, or ones beside what is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.core.errors import BakeoffError, PlanError
from bakeoff.store.collections.campaign import campaign_of, is_campaign_folder, read_campaign_folder
from bakeoff.store.collections.collection import THE_RUN
from bakeoff.store.collections.suites import as_campaign
from bakeoff.store.sqlite.read import read_run

if TYPE_CHECKING:
    from bakeoff.compare.planning.noise_model import NoiseFloor
    from bakeoff.store.collections.campaign import CampaignFolder
    from bakeoff.store.records.run_records import RunRecord

# What `bakeoff aa` calls its files; so many of them in a folder, the newest, are looked at.
PATTERN, MOST = "aa-*.bakeoff", 8


@dataclass(frozen=True)
class Quoted:
    """What an A/A run has shown, and the file that it is."""

    path: Path
    floor: NoiseFloor


def noise_for(
    paths: Sequence[Path], named: Sequence[Path] | None = None, embedded: CampaignFolder | None = None
) -> dict[str, NoiseFloor]:
    """The noise floors to quote by the names of runs in their collection: of run files, or of a campaign, which a
    report has `embedded`. Raises PlanError for a named file that is no A/A run, or not of what is
    compared.
    """
    return {name: found.floor for name, found in floors_for(paths, named, embedded).items()}


def floors_for(
    paths: Sequence[Path], named: Sequence[Path] | None = None, embedded: CampaignFolder | None = None
) -> dict[str, Quoted]:
    """The same, with their files."""
    if embedded is not None or len(paths) > 1 or campaign_of(paths) is not None:
        newest = [] if named else _near(paths)
        if not named and not newest:
            return {}
        folder = embedded or _folder_of(paths)
        if folder is not None:
            return _named_for(folder, named) if named else _quotable(newest, folder.runs)
    if not named:
        return _nearby(paths)
    if len(named) > 1:
        raise PlanError("a run quotes one noise floor: name one A/A run")
    return {THE_RUN: _measured(named[0])}


def _folder_of(paths: Sequence[Path]) -> CampaignFolder | None:
    """The campaign that these are, if they are one."""
    folder = campaign_of(paths)
    return as_campaign([read_run(path) for path in paths]) if folder is None else read_campaign_folder(folder)


def _measured(path: Path) -> Quoted:
    """What a named A/A run has shown."""
    from bakeoff.compare.planning.noise import noise_of  # NumPy takes a moment to load

    found = noise_of(read_run(path))
    if found is None:
        raise PlanError(f"{path} is no A/A run of six whole blocks: measure one with `bakeoff aa NAME=ADDRESS`")
    return Quoted(path, found)


def _named_for(folder: CampaignFolder, named: Sequence[Path]) -> dict[str, Quoted]:
    runs = folder.runs
    suites = list(dict.fromkeys(run.suite for run in runs.values()))
    by_suite: dict[str, Quoted] = {}
    for path in named:
        found = _measured(path)
        suite = found.floor.suite
        if suite not in suites:
            raise PlanError(f"{path} is of {suite}, and these are of {', '.join(suites)}: leave it out")
        if suite in by_suite:
            raise PlanError(f"{path} is a second noise floor of {suite}: name one for each suite")
        by_suite[suite] = found
    return {name: by_suite[run.suite] for name, run in runs.items() if run.suite in by_suite}


def _nearby(paths: Sequence[Path]) -> dict[str, Quoted]:
    """The newest of the same set-up in the folder of a run."""
    if len(paths) != 1 or not paths[0].is_file():
        return {}
    newest = _newest(paths[0].parent, but=paths[0])
    return _quotable(newest, {THE_RUN: read_run(paths[0])}) if newest else {}


def _near(paths: Sequence[Path]) -> list[Path]:
    """The newest of each folder in which run files lie, or a campaign: in that of the campaign, too."""
    inside = [path for path in paths if is_campaign_folder(path)]
    folders = [*inside, *(path.absolute().parent for path in paths)]
    return [path for folder in dict.fromkeys(folders) for path in _newest(folder)]


def _newest(folder: Path, but: Path | None = None) -> list[Path]:
    try:
        found = [path for path in folder.glob(PATTERN) if path.is_file() and not (but and path.samefile(but))]
        return sorted(found, key=lambda path: (path.stat().st_mtime, path.name), reverse=True)[:MOST]
    except OSError:
        return []


def _quotable(paths: Sequence[Path], runs: Mapping[str, RunRecord]) -> dict[str, Quoted]:
    """By name of a run the first of these files that is of its set-up."""
    from bakeoff.compare.planning.noise import same_setup

    found: dict[str, Quoted] = {}
    for each in _floors(paths):
        found |= {name: each for name, run in runs.items() if name not in found and same_setup(each.floor, run)}
        if len(found) == len(runs):
            break
    return {name: found[name] for name in runs if name in found}


def _floors(paths: Sequence[Path]) -> Iterator[Quoted]:
    from bakeoff.compare.planning.noise import noise_of

    for path in paths:
        try:
            found = noise_of(read_run(path))
        except BakeoffError:  # not one that can be read: it is not named, so nobody misses it
            continue
        if found is not None:
            yield Quoted(path, found)
