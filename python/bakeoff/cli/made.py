"""The report of run files or of a campaign, as it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.errors import PlanError
from bakeoff.kinds import KINDS, compare_part
from bakeoff.store.campaign import campaign_of
from bakeoff.store.join import join
from bakeoff.store.read import read_run

if TYPE_CHECKING:
    from bakeoff.report.blocks import Report
    from bakeoff.report.edition import Edition


def make_report(paths: Sequence[Path], edition: Edition) -> tuple[Report, Sequence[str]]:
    """The report, and its result in sentences. Raises PlanError where it cannot be made like this."""
    from bakeoff.report.brief import brief  # these take a moment to load
    from bakeoff.report.edition import KEY

    made, result = _of_campaign(paths, edition) if campaign_of(paths) else _of_runs(paths, edition)
    made = replace(made, embedded={**made.embedded, KEY: edition.model_dump()})
    return (brief(made) if edition.short else made), result


def _of_campaign(paths: Sequence[Path], edition: Edition) -> tuple[Report, Sequence[str]]:
    from bakeoff.cli.campaign import compared, facts_of
    from bakeoff.report.campaign import compose_campaign

    folder, comparison = compared(paths[0], edition.baseline, edition.delta)
    return compose_campaign(comparison, folder.runs, facts_of(folder), edition.surfaces), comparison.headline[:1]


def _of_runs(paths: Sequence[Path], edition: Edition) -> tuple[Report, Sequence[str]]:
    from bakeoff.compare import compare_run
    from bakeoff.report.compose import compose

    run = join([read_run(path) for path in paths])
    if edition.surfaces and not _has_surfaces(run.kind):
        drawn = ", ".join(filter(_has_surfaces, KINDS))
        raise PlanError(f"--surfaces draws runs of {drawn}, {paths[0]} is one of {run.kind}: leave it out")
    comparison = compare_run(run, edition.baseline, edition.delta)
    return compose(run, comparison, edition.surfaces), comparison.result()


def _has_surfaces(kind: str) -> bool:
    """Whether the cells of a kind differ by two sizes."""
    cells = compare_part(kind).cells
    return cells is not None and len(cells.axes) == 2
