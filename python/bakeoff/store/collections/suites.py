"""Run files of different suites as the suites of one campaign that nobody planned: on another day, another test bed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.store.collections.campaign import FORMAT, CampaignFolder, StoredCampaign, StoredSuiteRun
from bakeoff.store.collections.join import join
from bakeoff.store.records.run_records import RunRecord


def as_campaign(runs: Sequence[RunRecord]) -> CampaignFolder | None:
    """Each suite with its run, several files of it joined, all of one weight; None where all are of one suite. Raises
    PlanError where no contender is in two of them: there is nothing to tell together.
    """
    by_suite: dict[str, list[RunRecord]] = {}
    for run in runs:
        by_suite.setdefault(run.suite, []).append(run)
    if len(by_suite) < 2:
        return None
    joined = {suite: join(files) for suite, files in by_suite.items()}
    listed = [contender.name for run in joined.values() for contender in run.contenders]
    names = tuple(dict.fromkeys(listed))
    if len(names) == len(listed):
        raise PlanError(
            f"{', '.join(str(run.path) for run in runs)} have different suites and no contender in common: give equal "
            "contenders equal names, or report each file by itself"
        )
    suite_runs = tuple(
        StoredSuiteRun(name=suite, file=f"{place:02d}.bakeoff", weight=1.0, plan=run.plan)
        for place, (suite, run) in enumerate(joined.items(), 1)
    )
    title = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    stored = StoredCampaign(
        format=FORMAT, name=" + ".join(run.name for run in joined.values()), title=title, seed=0, contenders=names,
        suite_runs=suite_runs, challenges="",
    )  # fmt: skip
    return CampaignFolder(Path(), stored, joined, {})
