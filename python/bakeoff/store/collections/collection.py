"""What is told of together: 1 … n runs, each under the name of its suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.store.collections.campaign import CampaignFolder, campaign_of, read_campaign_folder
from bakeoff.store.collections.join import Notes, join
from bakeoff.store.collections.suites import as_campaign
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run

THE_RUN = "run"
"""The name of the only run of a collection of one."""


@dataclass(frozen=True)
class Collection:
    """The `runs` of a campaign's folder, or run files of several suites as one, by the names of their suites: then it
    has that `folder`. A run file, or several of one suite that are joined, is a collection of one.
    """

    runs: Mapping[str, RunRecord]
    folder: CampaignFolder | None = None

    @property
    def contenders(self) -> tuple[str, ...]:
        """Their names in the order of the plan."""
        if self.folder is not None:
            return self.folder.campaign.contenders
        return tuple(contender.name for contender in self.runs[THE_RUN].contenders)

    @property
    def path(self) -> Path:
        """By what an error names it."""
        if self.folder is not None and self.folder.is_planned:
            return self.folder.path
        return next(run.path for run in self.runs.values())

    @property
    def failed(self) -> tuple[str, ...]:
        """The letters of the files that count no more, as others repeat them."""
        return tuple(file.label for run in self.runs.values() for file in run.joined if file.failed)


def collection_of(runs: Sequence[RunRecord], failed: Sequence[str] = (), notes: Notes = ()) -> Collection:
    """Runs of one suite joined, those of several as a campaign. Raises PlanError as `join` does."""
    found = as_campaign(runs)
    if found is None:
        return Collection({THE_RUN: join(runs, failed, notes)})
    if failed or notes:
        raise PlanError(
            "run files of different suites have their notes in a paper (--paper): leave out --note, --failed-run"
        )
    return Collection(found.runs, found)


def read_collection(
    paths: Sequence[Path],
    failed: Sequence[str] = (),
    notes: Notes = (),
    read: Callable[[Path], RunRecord] = read_run,
) -> Collection:
    """What the words mean: run files, or the folder of a campaign. Raises RunFileError and PlanError."""
    path = folder_of(paths, failed, notes)
    if path is None:
        return collection_of([read(each) for each in paths], failed, notes)
    folder = read_campaign_folder(path)
    return Collection(folder.runs, folder)


def folder_of(paths: Sequence[Path], failed: Sequence[str] = (), notes: Notes = ()) -> Path | None:
    """The folder of a campaign that the words mean, if they do: it has a paper for notes, and one run for each suite.
    Raises PlanError.
    """
    path = campaign_of(paths)
    if path is not None and (notes or failed):
        raise PlanError(f"{path} is a campaign, whose notes stand in a paper (--paper): leave out --note, --failed-run")
    return path
